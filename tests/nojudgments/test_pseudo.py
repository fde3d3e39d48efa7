"""Nuray & Can, Sakai & Lin: worked examples of fusion and bias, and plain loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data import Run
from assay.data.lists import Lists
from assay.nojudgments.basis import comparable
from assay.nojudgments.predictors import METHODS
from assay.nojudgments.pseudo import bias, borda, condorcet, most_biased, rank_position
from tests.oracles import nojudgments as plain

FOUR = {"A": list("abcd"), "B": list("adbe"), "C": list("cafe"), "D": list("bgef")}
RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), min_size=2, max_size=6).filter(
    lambda r: sum(map(bool, r)) > 1
)


def one_topic(rankings: dict[str, list[str]]) -> Lists:
    return comparable([Run.from_lists(n, {"1": docs}) for n, docs in rankings.items()])


def by_doc(lists: Lists, values: np.ndarray) -> dict[str, float]:
    return dict(zip(lists.docs.tolist(), values.tolist(), strict=True))


def test_rank_position_example() -> None:
    lists = one_topic(FOUR)
    found = by_doc(lists, rank_position(lists)[0].round(4))
    assert found == {"a": 0.4, "b": 0.5455, "c": 0.75, "d": 1.3333, "e": 1.2, "f": 1.7143, "g": 2.0}
    assert "".join(sorted(found, key=found.__getitem__)) == "abcedfg"


def test_borda_examples() -> None:
    lists = one_topic({"1": list("acbd"), "2": list("bcae"), "3": list("cabe")})
    assert by_doc(lists, -borda(lists)[0]) == {"a": 12, "b": 11, "c": 13, "d": 4, "e": 5}
    lists = one_topic(FOUR)
    assert by_doc(lists, -borda(lists)[0]) == {"a": 22, "b": 20, "c": 16, "d": 14, "e": 15, "f": 13, "g": 12}


def test_condorcet_example() -> None:
    """Voters a>b>c, a>c>b, a>(b=c), b>a, c>a: a doc that a voter does not rank comes after those it ranks."""
    lists = one_topic({"1": list("abc"), "2": list("acb"), "3": ["a"], "4": list("ba"), "5": list("ca")})
    minus_wins, losses = condorcet(lists)
    assert by_doc(lists, -minus_wins) == {"a": 2, "b": 0, "c": 0}
    assert by_doc(lists, losses) == {"a": 0, "b": 1, "c": 1}


def test_bias_example() -> None:
    """Mowshowitz & Kawaguchi: A and B on three queries, docs not told apart by query."""
    lists = comparable(
        [
            Run.from_lists("A", {"1": list("abcd"), "2": list("bacd"), "3": list("abce")}),
            Run.from_lists("B", {"1": list("bfce"), "2": list("bcfg"), "3": list("cfge")}),
        ]
    )
    assert bias(lists, by_topic=False).round(4).tolist() == [0.1159, 0.1242]
    assert bias(lists, by_topic=False, weighted=True).round(4).tolist() == [0.1059, 0.1272]
    assert (bias(lists) > bias(lists, by_topic=False)).all()


def test_bias_of_equal_runs_and_of_an_empty_one() -> None:
    lists = comparable(
        [Run.from_lists("a", {"1": ["x"]}), Run.from_lists("b", {"1": ["x"]}), Run.from_lists("c", {"1": []})]
    )
    assert bias(lists).round(12).tolist() == [0.0, 0.0, 1.0]
    assert most_biased(lists, 0.5).tolist() == [True, False, True]
    with pytest.raises(UsageError, match="chosen"):
        most_biased(lists, 0)


FUSED: dict[str, Callable[[dict[str, list[str]]], dict[str, tuple[float, ...]]]] = {
    "nuray-can-rank": lambda r: {d: (round(v, 12),) for d, v in plain.rank_positions(r).items()},
    "nuray-can-borda": lambda r: {d: (-round(v, 9),) for d, v in plain.borda_points(r).items()},
    "nuray-can-condorcet": lambda r: {d: (-w, lost) for d, (w, lost) in plain.condorcet_record(r).items()},
    "sakai-lin": lambda r: {
        d: (-sum(d in x for x in r.values()), sum(x.index(d) + 1 for x in r.values() if d in x))
        for d in {d for x in r.values() for d in x}
    },
}


@pytest.mark.parametrize("method", list(FUSED))
@given(rankings=RANKINGS, depth=st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_against_plain_loops(method: str, rankings: list[list[str]], depth: int) -> None:
    runs = {f"r{i}": docs for i, docs in enumerate(rankings)}
    relevant = plain.best_docs(FUSED[method]({n: docs[:depth] for n, docs in runs.items()}), 0.3)
    wanted = [plain.average_precision(docs, relevant) for docs in runs.values()]
    found = METHODS[method].function(one_topic(runs), depth=depth)
    np.testing.assert_allclose(found[:, 0], wanted, atol=1e-12)


@pytest.mark.parametrize("fusion", ["rank", "borda", "condorcet"])
@given(rankings=RANKINGS)
@settings(max_examples=30, deadline=None)
def test_bias_variants_fuse_the_most_biased_runs_only(fusion: str, rankings: list[list[str]]) -> None:
    runs = {f"r{i}": docs for i, docs in enumerate(rankings)}
    lists = one_topic(runs)
    chosen = {n: docs for (n, docs), taken in zip(runs.items(), most_biased(lists), strict=True) if taken}
    relevant = plain.best_docs(FUSED[f"nuray-can-{fusion}"](chosen), 0.3) if any(chosen.values()) else set()
    found = METHODS[f"nuray-can-bias-{fusion}"].function(lists)
    np.testing.assert_allclose(
        found[:, 0], [plain.average_precision(docs, relevant) for docs in runs.values()], atol=1e-12
    )
