"""Fusion of predictions: the toy example of Roitero 2020, §7.5.2.2, and laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.nojudgments.combine import FUSIONS, borda, combined, combined_means, condorcet, rank_position
from assay.rankings.fusion import majorities, ranks

# s_i is 1st, 2nd, 3rd and s_j 2nd, 1st, 1st by three methods; the third candidate has the ranks that are left.
TOY = -np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [3.0, 1.0, 2.0]])
SCORES = arrays(np.float64, (3, 6), elements=st.integers(0, 5).map(float))


def test_toy_rank_position() -> None:
    assert rank_position(TOY)[:2].round(4).tolist() == [0.5455, 0.4]
    assert not FUSIONS["rank-position"].facts["higher"]


def test_toy_borda() -> None:
    assert borda(TOY)[:2].tolist() == [3, 5]


def test_toy_condorcet() -> None:
    votes = majorities(TOY)
    assert (votes[0, 1], votes[1, 0]) == (1, 2)
    assert condorcet(TOY[:, :2]).tolist() == [0, 1]


@given(SCORES)
@settings(max_examples=60, deadline=None)
def test_ranks_are_those_of_scipy(scores: np.ndarray) -> None:
    np.testing.assert_array_equal(ranks(scores), rankdata(-scores, axis=1))


@pytest.mark.parametrize("fusion", FUSIONS.names())
@given(scores=SCORES, seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_fusion_follows_its_runs_and_keeps_unanimity(fusion: str, scores: np.ndarray, seed: int) -> None:
    entry = FUSIONS[fusion]
    turn = 1 if entry.facts["higher"] else -1
    fused = turn * entry.function(scores)
    order = np.random.default_rng(seed).permutation(6)
    np.testing.assert_allclose(turn * entry.function(scores[:, order]), fused[order])
    better = (scores[:, :, None] > scores[:, None, :]).all(axis=0)
    assert (fused[:, None] - fused[None, :])[better].min(initial=1.0) > 0


@given(SCORES)
@settings(max_examples=40, deadline=None)
def test_condorcet_orders_by_wins_then_losses(scores: np.ndarray) -> None:
    votes = [[int((scores[:, a] > scores[:, b]).sum()) for b in range(6)] for a in range(6)]
    record = [
        (sum(votes[a][b] > votes[b][a] for b in range(6)), -sum(votes[a][b] < votes[b][a] for b in range(6)))
        for a in range(6)
    ]
    assert condorcet(scores).tolist() == [sum(other < mine for other in record) for mine in record]


def matrices() -> list[ScoreMatrix]:
    rng = np.random.default_rng(0)
    return [ScoreMatrix.of(rng.normal(size=(5, 4)), measure=f"m{i}") for i in range(3)]


@pytest.mark.parametrize("fusion", FUSIONS.names())
def test_combined_matrices_and_means(fusion: str) -> None:
    found = combined(matrices(), fusion)
    assert found.shape == (5, 4)
    assert found.measure == f"combined-{fusion}"
    same = combined([matrices()[0]] * 2, fusion)
    assert (np.argsort(same.values, axis=0) == np.argsort(matrices()[0].values, axis=0)).all()
    assert np.argsort(combined_means([matrices()[0]], fusion)).tolist() == np.argsort(matrices()[0].averages()).tolist()


def test_average_keeps_differences_between_topics() -> None:
    one = ScoreMatrix.of([[0.0, 10.0], [1.0, 11.0]])
    np.testing.assert_allclose(combined([one]).values, one.values / 11)


def test_a_constant_method_moves_nothing() -> None:
    a, b = ScoreMatrix.of([[1.0], [2.0], [4.0]]), ScoreMatrix.of([[7.0], [7.0], [7.0]])
    for fusion in FUSIONS.names():
        assert np.argsort(combined_means([a, b], fusion)).tolist() == [0, 1, 2]


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="no predictions"):
        combined([])
    with pytest.raises(UsageError, match="predictions must match"):
        combined([ScoreMatrix.of([[1.0]]), ScoreMatrix.of([[1.0, 2.0]])])
    with pytest.raises(UsageError, match="did you mean borda"):
        combined(matrices(), "brda")
