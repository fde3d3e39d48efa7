from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from scipy.optimize import minimize, nnls

import assay
from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.similarity.drank import d_rank, d_rank_test
from tests.conftest import real_data

X = np.array([[0.50, 0.40, 0.30], [0.60, 0.62, 0.20], [0.40, 0.35, 0.38], [0.70, 0.50, 0.45], [0.55, 0.52, 0.30]])
SCORES = ScoreMatrix.of(X.T, runs=["1", "2", "3"])


@pytest.mark.parametrize(("order", "expected"), [("123", 0.0), ("213", 1.9284), ("132", 1.9408), ("321", 4.6252)])
def test_golden(order: str, expected: float) -> None:
    assert d_rank(SCORES, list(order)) == pytest.approx(expected, abs=5e-5)


def test_it_is_the_distance_by_non_negative_least_squares() -> None:
    """With S = LLᵀ the distance is ‖L⁻¹(θ − d)‖; also where nearly all neighbours are the wrong way round."""
    rng = np.random.default_rng(5)
    for runs in (3, 10, 40):
        values = rng.random((runs, 60)) + np.linspace(0, 0.3, runs)[:, None]
        order = rng.permutation(runs) if runs < 40 else np.arange(runs)
        differences = values[order[:-1]] - values[order[1:]]
        root = np.linalg.inv(np.linalg.cholesky(np.cov(differences)))
        expected = np.sqrt(60) * nnls(root, root @ differences.mean(axis=1))[1]
        scores = ScoreMatrix.of(values)
        assert d_rank(scores, [scores.runs[i] for i in order]) == pytest.approx(expected)


def test_it_is_the_minimum_of_its_quadratic_form() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((4, 30))
    scores = ScoreMatrix.of(values, runs=list("abcd"))
    order = [2, 0, 3, 1]
    differences = values[order[:-1]] - values[order[1:]]
    mean, inverse = differences.mean(axis=1), np.linalg.inv(np.cov(differences))

    def distance(theta: npt.NDArray[np.float64]) -> float:
        return float(30 * (theta - mean) @ inverse @ (theta - mean))

    found = minimize(distance, np.full(3, 0.1), bounds=[(0, None)] * 3, tol=1e-14)
    assert d_rank(scores, [scores.runs[i] for i in order]) == pytest.approx(np.sqrt(found.fun), abs=1e-5)


def test_swapping_alike_runs_costs_less_than_swapping_unlike_ones() -> None:
    rng = np.random.default_rng(1)
    base = rng.random(50)
    values = [
        base + 0.30 + rng.normal(0, 0.05, 50),
        base + 0.29 + rng.normal(0, 0.05, 50),
        base + rng.normal(0, 0.05, 50),
    ]
    scores = ScoreMatrix.of(values, runs=list("abc"))
    best = scores.by_average().runs
    near, far = [best[1], best[0], best[2]], [best[0], best[2], best[1]]
    assert 0 < d_rank(scores, near) < d_rank(scores, far)


def on_other_topics(values: npt.ArrayLike, runs: str, measure: str = "score") -> ScoreMatrix:
    array = np.asarray(values)
    return ScoreMatrix.of(array, runs=list(runs), topics=[f"o{i}" for i in range(array.shape[1])], measure=measure)


def test_p_says_whether_topics_explain_the_ranking() -> None:
    turned = on_other_topics(np.tile(X.T[::-1], 3) + np.random.default_rng(0).normal(0, 0.01, (3, 15)), "123")
    result = d_rank_test(SCORES, turned, resamples=199)
    assert result.d == pytest.approx(4.6252, abs=5e-5)
    assert result.p_value is not None
    assert result.p_value < 0.05
    assert d_rank_test(SCORES, on_other_topics(X.T, "123"), resamples=199).p_value == 1
    assert result == d_rank_test(SCORES, turned, resamples=199)
    assert "score: 3 runs, 5 topics" in result.table().caption
    assert list(result.table().notes) == [
        "p: share of 199 random splits of the pooled topics with a d_rank at least as large, (b+1)/(B+1), seed 0"
    ]


def test_a_ridge_is_said() -> None:
    rng = np.random.default_rng(4)
    many = ScoreMatrix.of(rng.random((6, 5)), measure="AP")
    assert d_rank_test(many, many, resamples=9).table().notes[1].startswith("1e-05 added to the variances")


def test_p_counts_deals_one_by_one() -> None:
    """Splits and swaps against loops over `d_rank`, on the same draws."""
    rng = np.random.default_rng(6)
    here = rng.random((4, 12))
    there = rng.random((4, 9))
    names = list("abcd")

    def distance(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
        ranking = [names[i] for i in np.argsort(-other.mean(axis=1))]
        return d_rank(ScoreMatrix.of(one, runs=names), ranking)

    draws = np.random.default_rng(3)
    pooled, as_far = np.hstack([here, there]), 0
    for _ in range(99):
        order = draws.permutation(21)
        as_far += distance(pooled[:, order[:12]], pooled[:, order[12:]]) >= distance(here, there) - 1e-12
    found = d_rank_test(ScoreMatrix.of(here, runs=names), on_other_topics(there, "abcd"), resamples=99, seed=3)
    assert found.p_value == (as_far + 1) / 100
    z = [stats.zscore(values, axis=0) for values in (here, rng.random((4, 12)) ** 3)]
    draws, as_far = np.random.default_rng(3), 0
    for _ in range(99):
        swap = draws.random(12) < 0.5
        swapped = [np.where(swap, z[1], z[0]), np.where(swap, z[0], z[1])]
        as_far += distance(*swapped) >= distance(*z) - 1e-12
    two = [ScoreMatrix.of(values, runs=names, measure=name) for values, name in zip(z, ("AP", "RR"), strict=True)]
    found = d_rank_test(two[0], two[1], resamples=99, seed=3)
    assert found.p_value == (as_far + 1) / 100
    assert "swaps of both score rows of a topic" in found.how
    assert found.how.endswith("of z-scores on each topic")


def test_no_p_without_topics_to_deal_out() -> None:
    means = ScoreMatrix.of([[0.3], [0.2], [0.1]], runs=["3", "2", "1"], topics=["mean"])
    for other, why in (
        (means, "no p: the second ranking has no scores of topics"),
        (SCORES.select(topics=SCORES.topics[:3]), "no p: 3 topics are in both and others are not"),
    ):
        found = d_rank_test(SCORES, other, resamples=9)
        assert found.p_value is None
        assert why in found.how
        assert found.table().rows[0][1] is None


@pytest.mark.parametrize("n", [10, 25])
def test_the_same_runs_on_other_topics_of_one_population_are_seldom_rejected(n: int) -> None:
    """Two disjoint sets of topics of Robust 2004: .05; redrawing those of the first ranking alone gave .30 to .50."""
    matrix = assay.read_scores(real_data("trec-score-matrices/named/robust2004_ap.csv"))[0]
    rng = np.random.default_rng(n)
    rejected, trials = 0, 60
    for trial in range(trials):
        runs = rng.choice(len(matrix.runs), 8, replace=False)
        topics = rng.permutation(matrix.shape[1])
        here, there = (matrix.values[np.ix_(runs, topics[i * n : (i + 1) * n])] for i in (0, 1))
        found = d_rank_test(
            ScoreMatrix.of(here, runs=list("abcdefgh")), on_other_topics(there, "abcdefgh"), resamples=99, seed=trial
        )
        rejected += found.p_value is not None and found.p_value <= 0.05
    assert rejected / trials <= 0.05 + 2.6 * 0.028


def test_swapped_measures_of_one_kind_are_seldom_rejected() -> None:
    rng = np.random.default_rng(9)
    rejected, trials = 0, 100
    for trial in range(trials):
        own = rng.normal([[0.0], [0.1], [0.2], [0.25], [0.4]], 0.3, (5, 20))
        here, there = (own + rng.normal(0, 0.3, (5, 20)) for _ in range(2))
        two = [ScoreMatrix.of(v, runs=list("abcde"), measure=m) for v, m in ((here, "AP"), (there, "RR"))]
        found = d_rank_test(two[0], two[1], resamples=99, seed=trial)
        rejected += found.p_value is not None and found.p_value <= 0.05
    assert rejected / trials <= 0.05 + 2.6 * 0.022


def test_more_runs_than_topics_and_equal_runs_have_a_value() -> None:
    rng = np.random.default_rng(3)
    many = ScoreMatrix.of(rng.random((6, 3)))
    assert np.isfinite(d_rank(many, many.runs[::-1]))
    same = ScoreMatrix.of([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]], runs=["a", "b"])
    assert d_rank(same, ["b", "a"]) == 0


def test_bad_rankings_are_refused() -> None:
    with pytest.raises(UsageError, match="each run once"):
        d_rank(SCORES, ["1", "2"])
    with pytest.raises(UsageError, match="each run once"):
        d_rank(SCORES, ["1", "2", "2"])
    with pytest.raises(UsageError, match="two topics"):
        d_rank(ScoreMatrix.of([[1.0], [2.0]], runs=["a", "b"]), ["a", "b"])
