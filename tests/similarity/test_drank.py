from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.similarity.drank import d_rank, d_rank_test

X = np.array([[0.50, 0.40, 0.30], [0.60, 0.62, 0.20], [0.40, 0.35, 0.38], [0.70, 0.50, 0.45], [0.55, 0.52, 0.30]])
SCORES = ScoreMatrix.of(X.T, runs=["1", "2", "3"])


@pytest.mark.parametrize(("order", "expected"), [("123", 0.0), ("213", 1.9284), ("132", 1.9408), ("321", 4.6252)])
def test_golden(order: str, expected: float) -> None:
    assert d_rank(SCORES, list(order)) == pytest.approx(expected, abs=5e-5)


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


def test_p_says_whether_topics_explain_the_ranking() -> None:
    result = d_rank_test(SCORES, ["3", "2", "1"], resamples=200)
    assert result.p_value == pytest.approx(1 / 201)
    assert d_rank_test(SCORES, ["1", "2", "3"], resamples=200).p_value == 1
    assert result == d_rank_test(SCORES, ["3", "2", "1"], resamples=200)
    assert result.table().rows[0][0] == pytest.approx(4.6252, abs=5e-5)
    assert "score: 3 runs, 5 topics" in result.table().caption
    assert len(result.table().notes) == 1


def test_a_ridge_is_said() -> None:
    rng = np.random.default_rng(4)
    many = ScoreMatrix.of(rng.random((6, 5)), measure="AP")
    assert d_rank_test(many, many.runs, resamples=9).table().notes[1].startswith("1e-05 added to the variances")


def test_p_of_the_true_order_is_rarely_small() -> None:
    """Ranking by the means of other topics of the same kind: a tiny p must not be the rule."""
    rng = np.random.default_rng(2)
    effects = np.array([0.03, 0.02, 0.01, 0.0])[:, None]
    small = 0
    for _ in range(60):
        here, there = (effects + rng.normal(0, 0.1, (4, 40)) for _ in range(2))
        scores = ScoreMatrix.of(here, runs=list("abcd"))
        ranking = [scores.runs[i] for i in np.argsort(-there.mean(axis=1))]
        small += d_rank_test(scores, ranking, resamples=99).p_value < 0.01
    assert small <= 20


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
