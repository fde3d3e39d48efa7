"""Wu & Crestani, Aslam & Savell: a worked example, plain loops, and the defects of earlier code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data import Run
from assay.data.lists import Lists
from assay.nojudgments.basis import comparable
from assay.nojudgments.references import (
    aslam_savell,
    original_weight,
    reference_weight,
    wu_crestani,
    wu_crestani_v1,
    wu_crestani_v2,
    wu_crestani_v3,
    wu_crestani_v4,
)
from tests.oracles import nojudgments as plain

EXAMPLE = {"A": ["d1", "d2", "d3"], "B": ["d2", "d1", "d4"], "C": ["d2", "d5", "d1"]}
RANKINGS = st.lists(st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10), min_size=2, max_size=5)


def one_topic(rankings: dict[str, list[str]]) -> Lists:
    return comparable([Run.from_lists(n, {"1": docs}) for n, docs in rankings.items()])


def named(rankings: list[list[str]]) -> dict[str, list[str]]:
    return {f"r{i}": docs for i, docs in enumerate(rankings)}


@pytest.mark.parametrize(
    ("method", "expected", "digits"),
    [
        (wu_crestani, [4, 4, 4], 9),
        (wu_crestani_v1, [5997, 5997, 5998], 9),
        (wu_crestani_v2, [34.5121, 34.5121, 32.8455], 4),
        (wu_crestani_v3, [51738.55, 51743.55, 49251.76], 2),
    ],
)
def test_worked_example(method, expected: list[float], digits: int) -> None:  # type: ignore[no-untyped-def]
    """Three lists of three docs, computed by hand from the weights of the replication."""
    assert method(one_topic(EXAMPLE))[:, 0].round(digits).tolist() == expected


@pytest.mark.parametrize(
    ("rank", "weight"),
    [
        (1, 9.8780), (2, 7.3780), (5, 5.8780), (6, 5.2114), (10, 4.8780), (50, 3.0491), (100, 2.3303), (500, 0.7007),
        (1000, 0.0050),
    ],
)  # fmt: skip
def test_weights_of_originals(rank: int, weight: float) -> None:
    """Roitero et al.'s harmonic weights; their notebook adds 1 at ranks 1–5 (10.88 and 6.88), which is a bug."""
    assert round(float(original_weight(np.array([rank]))[0]), 4) == weight
    assert weight == pytest.approx(plain.original_weight(rank), abs=5e-5)


def test_first_five_ranks_continue_the_later_ones() -> None:
    """v(5m) = H_200 − H_{m−1} for every m, the first five ranks included."""
    harmonic = np.concatenate([[0], np.cumsum(1 / np.arange(1, 201))])
    m = np.arange(1, 201)
    np.testing.assert_allclose(original_weight(5 * m), harmonic[200] - harmonic[m - 1])


@given(RANKINGS.filter(lambda r: sum(map(bool, r)) > 1))
@settings(max_examples=50, deadline=None)
def test_against_plain_loops(rankings: list[list[str]]) -> None:
    runs = named(rankings)
    lists = one_topic(runs)
    weights = {"original": plain.original_weight, "reference": lambda r: 1501.0 - r}
    for method, used in (
        (wu_crestani, ()),
        (wu_crestani_v1, ("reference",)),
        (wu_crestani_v2, ("original",)),
        (wu_crestani_v3, ("original", "reference")),
    ):
        wanted = [plain.reference_count(runs, r, **{k: weights[k] for k in used}) for r in runs]
        np.testing.assert_allclose(method(lists)[:, 0], wanted, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(aslam_savell(lists)[:, 0], [plain.mean_jaccard(runs, r) for r in runs], atol=1e-12)


def test_weights_go_by_rank_not_by_the_order_of_a_dictionary() -> None:
    """A released notebook weighted originals by the order of a dictionary: the file's order, not the scores'."""
    backwards = {"A": {"d3": 1.0, "d2": 2.0, "d1": 3.0}, "B": {"d4": 1.0, "d1": 2.0, "d2": 3.0}}
    forwards = {n: dict(reversed(docs.items())) for n, docs in backwards.items()}
    results = [
        wu_crestani_v3(comparable([Run.from_dict(n, {"1": docs}) for n, docs in given.items()]))
        for given in (backwards, forwards)
    ]
    np.testing.assert_array_equal(results[0], results[1])
    assert results[0][:, 0] == pytest.approx(
        [
            original_weight(np.array([1]))[0] * 1499 + original_weight(np.array([2]))[0] * 1500,
            original_weight(np.array([1]))[0] * 1499 + original_weight(np.array([2]))[0] * 1500,
        ]
    )


def test_v4_weighs_originals_by_score_within_their_list() -> None:
    runs = [
        Run.from_dict("a", {"1": {"x": 30.0, "y": 20.0, "z": 10.0}}),
        Run.from_dict("b", {"1": {"y": 0.9, "z": 0.1}}),
        Run.from_dict("c", {"1": {"x": 5.0, "y": 5.0}}),
    ]
    lists = comparable(runs)
    u = reference_weight
    # a: x 1, y .5, z 0; b: y 1, z 0; c: equal scores count 1 each. c ranks y before x, by doc id.
    one, two = float(u(np.array([1]))[0]), float(u(np.array([2]))[0])
    wanted = [1 * two + 0.5 * (one + one), 1 * (two + one), 1 * (two + one) + 1 * one]
    assert wu_crestani_v4(lists)[:, 0] == pytest.approx(wanted)
    assert np.isfinite(wu_crestani_v4(lists, scores_of="references", scale="z")).all()
    with pytest.raises(UsageError, match="scores_of"):
        wu_crestani_v4(lists, scores_of="both")


def test_z_scores_of_equal_scores_are_zero() -> None:
    runs = [Run.from_dict(n, {"1": {"x": 5.0, "y": 5.0}}) for n in "ab"]
    assert wu_crestani_v4(comparable(runs), scale="z").tolist() == [[0.0], [0.0]]


def test_lists_are_cut_where_the_weights_end() -> None:
    docs = [f"d{i:05d}" for i in range(1600)]
    lists = comparable([Run.from_lists(n, {"1": docs}) for n in "ab"], depth=1600)
    assert wu_crestani(lists).tolist() == [[1000.0], [1000.0]]
    assert (wu_crestani_v1(lists) > 0).all()


def test_runs_that_share_nothing_score_nothing() -> None:
    lists = one_topic({"a": ["x"], "b": ["y"]})
    for method in (wu_crestani, wu_crestani_v1, wu_crestani_v2, wu_crestani_v3, wu_crestani_v4, aslam_savell):
        assert method(lists).tolist() == [[0.0], [0.0]]
