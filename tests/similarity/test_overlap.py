from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError, UsageError
from assay.similarity.overlap import (
    LIST_SIMILARITIES,
    anchor_map,
    average_overlap,
    bar_ilan,
    footrule_top_k,
    gamma_top_k,
    kendall_top_k,
    overlap,
)
from assay.similarity.shared_docs import average_overlap_value
from tests.oracles import similarity as plain

relaxed = settings(deadline=None, max_examples=80)
lists = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=7, unique=True)
S, T = list("abcdefg"), list("zcavwxy")


def test_average_overlap_of_fig_7_2() -> None:
    """Webber 2010, Fig. 7.2: it rises at depths 4 to 6, although every new item disagrees."""
    agreements = [overlap(S, T, k=k) for k in range(1, 8)]
    assert [round(a, 3) for a in agreements] == [0, 0, 0.667, 0.5, 0.4, 0.333, 0.286]
    means = [average_overlap(S, T, k=k) for k in range(1, 8)]
    # Depth 5 is 1.5667/5 = .31333, printed as .313; depth 6 .31667 as .317; depth 7 .31224 as .312.
    assert [round(m, 3) for m in means] == [0, 0, 0.222, 0.292, 0.313, 0.317, 0.312]


def test_rank_weights_of_average_overlap() -> None:
    printed = [0.2929, 0.1929, 0.1429, 0.1096, 0.0846, 0.0646, 0.0479, 0.0336, 0.0211, 0.0100]
    weights = average_overlap_value(10)(np.arange(1, 12))
    assert weights.round(4).tolist() == [*printed, 0.0]
    assert weights.sum() == pytest.approx(1)


@relaxed
@given(lists, lists, st.sampled_from([0.0, 0.5, 1.0]))
def test_top_k_kendall_and_gamma_are_the_case_by_case_count(a: list[str], b: list[str], penalty: float) -> None:
    n = min(len(a), len(b))
    a, b = a[:n], b[:n]
    cost, concordant, discordant = plain.kendall_top_k(a, b, penalty)
    largest = n * n + penalty * n * (n - 1)
    assert kendall_top_k(a, b, penalty=penalty) == pytest.approx(1 - 2 * cost / largest, abs=1e-12)
    if concordant + discordant:
        gamma = (concordant - discordant) / (concordant + discordant)
        assert gamma_top_k(a, b) == pytest.approx(gamma, abs=1e-12)


@relaxed
@given(lists, lists)
def test_kendall_of_uneven_lists_is_counted_too(a: list[str], b: list[str]) -> None:
    cost, _, _ = plain.kendall_top_k(a, b, 0.0)
    k = max(len(a), len(b))
    assert kendall_top_k(a, b, k=k) == pytest.approx(1 - 2 * cost / (len(a) * len(b)), abs=1e-12)


def test_ends_of_kendall() -> None:
    assert kendall_top_k(S, S) == 1
    assert kendall_top_k(S, [f"x{i}" for i in range(7)]) == -1
    assert kendall_top_k(S, S[::-1]) == pytest.approx(1 / 7)  # 1 − 2·C(k,2)/k² = 1/k: about 0
    assert kendall_top_k(S, [f"x{i}" for i in range(7)], penalty=1) == -1


@relaxed
@given(lists, lists)
def test_footrule_and_bar_ilan_are_their_sums(a: list[str], b: list[str]) -> None:
    k = min(len(a), len(b))
    a, b = a[:k], b[:k]
    rank = [{x: i for i, x in enumerate(items, start=1)} for items in (a, b)]
    union = set(a) | set(b)
    moved = sum(abs(rank[0].get(x, k + 1) - rank[1].get(x, k + 1)) for x in union)
    assert footrule_top_k(a, b) == pytest.approx(1 - moved / (k * (k + 1)), abs=1e-12)
    recip = sum(abs(1 / rank[0].get(x, k + 1) - 1 / rank[1].get(x, k + 1)) for x in union)
    largest = 2 * sum(1 / i - 1 / (k + 1) for i in range(1, k + 1))
    assert bar_ilan(a, b) == pytest.approx(1 - recip / largest, abs=1e-12)


def test_anchor_map_is_average_precision() -> None:
    assert anchor_map(["a", "b", "c", "d"], ["x", "a", "b", "y"], s=3) == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert anchor_map(["a", "b"], ["b", "a"]) == 1
    assert anchor_map(["a", "b"], ["x", "y", "a"], k=2) == 0


@pytest.mark.parametrize("entry", list(LIST_SIMILARITIES), ids=lambda e: e.name)
def test_laws_of_every_list_similarity(entry: object) -> None:
    similarity = entry.function  # type: ignore[attr-defined]
    assert similarity(S, S) == pytest.approx(1)
    low = {"kendall-top-k": -1, "gamma-top-k": -1}.get(entry.name, 0)  # type: ignore[attr-defined]
    assert similarity(S, [f"x{i}" for i in range(7)]) == pytest.approx(low)
    if entry.facts.get("symmetric", True):  # type: ignore[attr-defined]
        assert similarity(S, T) == pytest.approx(similarity(T, S))
    codes = np.arange(7)
    assert similarity(codes, codes[::-1]) == pytest.approx(similarity(S, S[::-1]))


@pytest.mark.parametrize("entry", list(LIST_SIMILARITIES), ids=lambda e: e.name)
def test_bad_lists_are_refused(entry: object) -> None:
    similarity = entry.function  # type: ignore[attr-defined]
    with pytest.raises(DataError, match="twice"):
        similarity(["a", "a"], ["a"])
    with pytest.raises(DataError, match="empty"):
        similarity(["a"], [])
    if entry.name != "rbo":  # type: ignore[attr-defined]
        with pytest.raises(UsageError, match="without ties"):
            similarity([{"a", "b"}], ["a"])


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="depth 1 or more"):
        overlap(["a"], ["a"], k=0)
    with pytest.raises(UsageError, match="between 0 and 1"):
        kendall_top_k(["a"], ["a"], penalty=2)
    with pytest.raises(UsageError, match="at least one item"):
        anchor_map(["a"], ["a"], s=0)
    with pytest.raises(DataError, match="no pair"):
        gamma_top_k(["a"], ["a"])


def test_one_item_lists() -> None:
    assert overlap(["a"], ["a"]) == average_overlap(["a"], ["a"]) == kendall_top_k(["a"], ["a"]) == 1
    assert bar_ilan(["a"], ["b"]) == footrule_top_k(["a"], ["b"]) == 0
