"""Several predictions made into one: mean of scaled scores, rank position, Borda, Condorcet (Roitero 2020, §7.5.2).

Fusion takes a methods × runs array, more is better, and gives one score per run; `combined` applies it to each topic,
`combined_means` to the means over topics. On TREC data fusion does not beat the best single methods; it guards against
picking a bad one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.registry import Registry
from assay.data.scores import ScoreMatrix
from assay.nojudgments.predictors import scaled

FUSIONS: Registry[Callable[[Floats], Floats]] = Registry("fusion")


@FUSIONS.register("average", higher=True)
def average(scores: Floats) -> Floats:
    """Mean over methods of the scores brought to [0, 1]; a method whose scores are all equal adds 0.

    >>> average(np.array([[1.0, 3.0], [10.0, 20.0]])).tolist()
    [0.0, 1.0]
    """
    low, span = scores.min(axis=1, keepdims=True), np.ptp(scores, axis=1, keepdims=True)
    return np.asarray(((scores - low) / np.where(span > 0, span, 1)).mean(axis=0))


@FUSIONS.register("rank-position", higher=False)
def rank_position(scores: Floats) -> Floats:
    """1 / Σ 1/rank over methods: less is better.

    >>> rank_position(of_ranks([[1, 2], [2, 1], [3, 1]])).round(4).tolist()
    [0.5, 0.4]
    """
    return rank_position_of(ranks(scores))


@FUSIONS.register("borda", higher=True)
def borda(scores: Floats) -> Floats:
    """Σ (N − rank) over methods, N the number of runs.

    >>> borda(np.array([[0.9, 0.5, 0.1], [0.2, 0.8, 0.1]])).tolist()
    [3.0, 3.0, 0.0]
    """
    return borda_of(ranks(scores), scores.shape[1])


@FUSIONS.register("condorcet", higher=True)
def condorcet(scores: Floats) -> Floats:
    """Number of runs that come after it by wins, then fewest losses, in pairwise majorities over methods.

    >>> condorcet(np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [1.0, 3.0, 2.0]])).tolist()
    [2.0, 1.0, 0.0]
    """
    votes = majorities(scores)
    margin = np.sign(votes - votes.T)
    wins, losses = (margin > 0).sum(axis=1), (margin < 0).sum(axis=1)
    key = wins * (len(wins) + 1) - losses
    return np.asarray((key[:, None] > key[None, :]).sum(axis=1), dtype=np.float64)


def majorities(scores: Floats) -> Floats:
    """runs × runs: how many methods put the first above the second.

    >>> majorities(of_ranks([[1, 2], [2, 1], [3, 1]])).tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    return np.asarray((scores[:, :, None] > scores[:, None, :]).sum(axis=0), dtype=np.float64)


def rank_position_of(rank: Floats) -> Floats:
    """1 / Σ 1/rank, of ranks methods × runs.

    >>> rank_position_of(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 1.0]])).round(4).tolist()
    [0.5455, 0.4]
    """
    return np.asarray(1 / (1 / rank).sum(axis=0))


def borda_of(rank: Floats, candidates: int) -> Floats:
    """Σ (candidates − rank), of ranks methods × runs.

    >>> borda_of(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 1.0]]), 3).tolist()
    [3.0, 5.0]
    """
    return np.asarray((candidates - rank).sum(axis=0))


def ranks(scores: Floats) -> Floats:
    """Rank of each run within each method, 1 the best; tied runs share the mean of their ranks."""
    above = (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    level = (scores[:, None, :] == scores[:, :, None]).sum(axis=2)
    return np.asarray(above + (level + 1) / 2)


def of_ranks(rank: Sequence[Sequence[float]]) -> Floats:
    """Scores that give these ranks back."""
    return -np.array(rank, dtype=np.float64)


def combined(predictions: Sequence[ScoreMatrix], how: str = "average") -> ScoreMatrix:
    """The predictions fused topic by topic, more is better (rank position is negated).

    All must have the same runs and topics. `average` scales each prediction over the whole matrix first, so that the
    differences between topics stay.
    """
    first = _same_shape(predictions)
    entry, _ = FUSIONS.parse(how)
    if entry.name == "average":
        values = np.mean([scaled(p, "min-max").values for p in predictions], axis=0)
    else:
        stack = np.array([p.values for p in predictions])
        fused = np.column_stack([entry.function(stack[:, :, t]) for t in range(stack.shape[2])])
        values = fused if entry.facts["higher"] else -fused
    names = ", ".join(p.measure for p in predictions)
    return ScoreMatrix(first.runs, first.topics, values, f"combined-{entry.name}", f"{entry.name} of {names}")


def combined_means(predictions: Sequence[ScoreMatrix], how: str = "average") -> Floats:
    """The means over topics fused, one score per run, more is better.

    >>> a, b = ScoreMatrix.of([[1], [3]]), ScoreMatrix.of([[10], [20]])
    >>> combined_means([a, b], "borda").tolist()
    [0.0, 2.0]
    """
    _same_shape(predictions)
    entry, _ = FUSIONS.parse(how)
    # Means are rounded so that the order of adding cannot break a tie.
    means = np.array([p.means() for p in predictions])
    top = np.abs(means).max(axis=1, keepdims=True)
    fused = entry.function(np.round(means / np.where(top > 0, top, 1), 12))
    return fused if entry.facts["higher"] else -fused


def _same_shape(predictions: Sequence[ScoreMatrix]) -> ScoreMatrix:
    if not predictions:
        raise UsageError("no predictions to combine; give at least one")
    first = predictions[0]
    for other in predictions[1:]:
        if (other.runs, other.topics) != (first.runs, first.topics):
            raise UsageError(f"{other.measure} and {first.measure} have other runs or topics; predictions must match")
    return first
