"""Whole numbers, scales, the choice of runs, and what is refused."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.topics import search_subsets
from assay.topics.archive import fingerprint
from assay.topics.criteria import CRITERIA
from assay.topics.problem import Problem, log_scores, logit_scores, problem, top_runs, whole_numbers
from tests.topics.released import made, trec8, trec8_top96, used


def test_decimals_are_whole_numbers_and_ties_are_ties() -> None:
    units, unit = whole_numbers(np.array([[0.1, 0.3], [0.2, 0.0]]))
    assert units.tolist() == [[1, 3], [2, 0]]
    assert unit == 0.1
    assert 0.1 + 0.2 != 0.3  # what floats make of the tie
    ready = problem(ScoreMatrix.of([[0.1, 0.2, 0.5], [0.3, 0.0, 0.1], [0.0, 0.0, 0.9]]))
    assert ready.units[:2].sum(axis=0)[0] == ready.units[:2].sum(axis=0)[1]


def test_other_scores_are_fixed_point_in_any_order() -> None:
    values = np.random.default_rng(0).random((30, 4)) / 3
    units, unit = whole_numbers(values)
    assert units.dtype == np.int64
    np.testing.assert_allclose(units * unit, values, atol=1e-13)
    assert np.abs(units.sum(axis=0)).max() < 2**53


def test_wide_decimals_take_64_bits() -> None:
    assert whole_numbers(np.full((3, 2), 2e9))[0].dtype == np.int64
    assert whole_numbers(np.full((3, 2), 0.25))[0].dtype == np.int32


def test_scales() -> None:
    matrix = made()
    assert log_scores(np.array([0.0])).tolist() == [np.log(1e-5)]
    assert log_scores(np.array([0.0]), epsilon=1e-4, add=True)[0] == pytest.approx(np.log(1e-4))
    assert logit_scores(np.array([0.0, 0.5]))[1] == 0
    topics = ["1", "4", "7"]
    chosen = matrix.select(topics=topics)
    logs = problem(matrix, criterion="pearson", scale="log")
    expected = stats.pearsonr(
        np.log(np.maximum(chosen.values, 1e-5)).mean(1), np.log(np.maximum(matrix.values, 1e-5)).mean(1)
    )
    assert logs.of_topics(topics) == pytest.approx(expected.statistic, abs=1e-9)
    gmap = problem(matrix, criterion="pearson", scale="gmap")
    means = stats.pearsonr(chosen.geometric_means(), matrix.geometric_means()).statistic
    assert gmap.of_topics(topics) == pytest.approx(means, abs=1e-9)
    ranked = problem(matrix, criterion="tau", scale="gmap")
    assert ranked.of_topics(topics) == pytest.approx(problem(matrix, scale="log").of_topics(topics))


def test_runs_kept() -> None:
    assert len(problem(made(12), top=0.75).matrix.runs) == 9
    for share in (0.0, 1.5):
        with pytest.raises(UsageError, match="share of runs"):
            top_runs(made(), share)


def test_the_published_selection_can_be_formed() -> None:
    assert trec8_top96().shape == (96, 50)
    assert trec8().by_average().runs.index("UT803") == 96


@pytest.mark.parametrize(
    ("name", "runs", "mean"), [("trec8-adhoc", 96, 0.2809), ("terabyte2006", 49, 0.3132), ("robust2004", 82, 0.2896)]
)
def test_grand_means_of_the_used_runs(name: str, runs: int, mean: float) -> None:
    """Table 4.3 of Roitero 2020; for TREC-8 with the published selection."""
    matrix = trec8_top96() if runs == 96 else used(name, runs)
    assert matrix.values.mean() == pytest.approx(mean, abs=6e-5)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.1, 0.2], [0.3, 0.4]], "2 runs; ranking by subsets needs at least 3"),
        ([[0.1], [0.2], [0.3]], "1 topic"),
        ([[0.1, 0.2], [0.2, 0.1], [0.1, 0.2]], "every run has the same mean"),
    ],
)
def test_too_little_is_refused(values: list[list[float]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        problem(ScoreMatrix.of(values))


def test_nan_never_gets_here() -> None:
    with pytest.raises(DataError, match="finite"):
        ScoreMatrix.of([[0.1, np.nan], [0.2, 0.1], [0.3, 0.1]])


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="did you mean pearson"):
        problem(made(), criterion="pearsn")
    with pytest.raises(UsageError, match="no scale"):
        problem(made(), scale="square")
    with pytest.raises(UsageError, match="no topic '99'"):
        problem(made()).of_topics(["99"])


def test_part_of_the_runs_keeps_the_question() -> None:
    ready = problem(made(), criterion="rbo(p=0.7)", scale="logit")
    part = ready.of_runs(list(ready.matrix.runs[:6]))
    assert isinstance(part, Problem)
    assert (part.criterion, part.parameters, len(part.matrix.runs)) == ("rbo", {"p": 0.7}, 6)


def test_huge_scores_stay_in_order_without_a_warning() -> None:
    """Whole numbers beyond 64 bits are kept in fixed point."""
    huge = ScoreMatrix.of([[1e30, 2e30], [3e30, 1e30], [5e30, 4e30]])
    assert problem(huge).full.argsort().tolist() == [0, 1, 2]


def test_a_number_of_runs_instead_of_a_share() -> None:
    matrix = made(12)
    assert problem(matrix, runs=9).matrix.runs == problem(matrix, top=0.75).matrix.runs
    with pytest.raises(UsageError, match="not both"):
        problem(matrix, runs=9, top=0.75)
    with pytest.raises(UsageError, match="the 13 best runs; there are 12"):
        problem(matrix, runs=13)


@pytest.mark.parametrize("criterion", ["tau", "pearson", "rbo"])
def test_subsets_against_a_truth_by_listing_all(criterion: str) -> None:
    """The best subset of predicted topics is that whose means rank the runs most as the judged means do."""
    predicted, judged = made(8, 7, seed=1), made(8, 9, seed=2)
    ready = problem(predicted, criterion=criterion, truth=judged)
    found = search_subsets(ready)
    function = CRITERIA[criterion].function
    full = np.round(judged.values.sum(axis=1), 9)
    for c in range(1, 7):
        values = []
        for subset in combinations(range(7), c):
            sums = np.round(predicted.values[:, list(subset)].sum(axis=1), 9)
            values.append(float(function(sums[None, :], full)[0]))
        assert found.values("best")[c - 1] == pytest.approx(max(values)), c
        assert found.values("worst")[c - 1] == pytest.approx(min(values)), c


def test_a_truth_must_have_the_runs() -> None:
    with pytest.raises(DataError, match="the truth, AP: no run"):
        problem(made(8), truth=made(5))
    same = problem(made(8), truth=made(8))
    assert same.full.tolist() == problem(made(8)).full.tolist()
    assert fingerprint(same) != fingerprint(problem(made(8)))
    flat = ScoreMatrix.of(np.full((8, 4), 0.5), runs=made(8).runs, measure="nDCG")
    with pytest.raises(DataError, match="the truth, nDCG: every run has the same mean"):
        problem(made(8), truth=flat)


def test_geometric_means_and_means_are_not_compared_unasked() -> None:
    arithmetic = made(8, seed=1)
    geometric = ScoreMatrix.of(made(8).values, runs=arithmetic.runs, measure="geometric(AP)")
    assert geometric.aggregate == "geometric"
    for one, other in ((arithmetic, geometric), (geometric, arithmetic)):
        with pytest.raises(DataError, match="only one of them is a geometric mean"):
            problem(one, truth=other)
        assert problem(one, truth=other, scale="gmap").full.shape == (8,)


def test_the_best_runs_are_those_of_the_truth() -> None:
    predicted, judged = made(9, seed=1), made(9, 1, seed=2)  # means over topics will do as a truth
    ready = problem(predicted, truth=judged, runs=5)
    assert ready.matrix.runs == top_runs(judged, 1, runs=5).runs
    assert ready.truth is not None
    assert ready.truth.runs == ready.matrix.runs
    half = ready.of_runs(list(ready.matrix.runs[:3]))
    assert half.full.tolist() == ready.full[:3].tolist()
