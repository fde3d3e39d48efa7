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
from assay.rankings import fusion, settled

FUSIONS: Registry[Callable[[Floats], Floats]] = Registry("fusion")


@FUSIONS.register("average", higher=True)
def average(scores: Floats) -> Floats:
    """Mean over methods of the scores brought to [0, 1]; a method whose scores are all equal adds 0.

    >>> average(np.array([[1.0, 3.0], [10.0, 20.0]])).tolist()
    [0.0, 1.0]
    """
    low = scores.min(axis=1, keepdims=True)
    span = np.ptp(scores, axis=1, keepdims=True)
    scaled_scores = (scores - low) / np.where(span > 0, span, 1)
    return np.asarray(scaled_scores.mean(axis=0))


@FUSIONS.register("rank-position", higher=False)
def rank_position(scores: Floats) -> Floats:
    """1 / Σ 1/rank over methods: less is better."""
    return fusion.rank_position(scores)


@FUSIONS.register("borda", higher=True)
def borda(scores: Floats) -> Floats:
    """Σ (N − rank) over methods, N the number of runs."""
    return fusion.borda(scores)


@FUSIONS.register("condorcet", higher=True)
def condorcet(scores: Floats) -> Floats:
    """Number of runs that come after it by wins, then fewest losses, in pairwise majorities over methods."""
    return fusion.condorcet(scores)


def combined(predictions: Sequence[ScoreMatrix], how: str = "average") -> ScoreMatrix:
    """The predictions fused topic by topic, more is better (rank position is negated).

    All must have the same runs and topics. `average` scales each prediction over the whole matrix first, so that the
    differences between topics stay.
    """
    first = _same_shape(predictions)
    entry = FUSIONS.entry(how)
    if entry.name == "average":
        unit_scores = [scaled(prediction, "min-max").values for prediction in predictions]
        values = np.mean(unit_scores, axis=0)
    else:
        by_method = np.array([prediction.values for prediction in predictions])
        by_topic = [_fused(how, by_method[:, :, t]) for t in range(len(first.topics))]
        values = np.column_stack(by_topic)
    names = ", ".join(prediction.measure for prediction in predictions)
    measure = f"combined-{entry.name}"
    return ScoreMatrix(first.runs, first.topics, values, measure, signature=f"{entry.name} of {names}")


def combined_means(predictions: Sequence[ScoreMatrix], how: str = "average") -> Floats:
    """The means over topics fused, one score per run, more is better.

    >>> a, b = ScoreMatrix.of([[1], [3]]), ScoreMatrix.of([[10], [20]])
    >>> combined_means([a, b], "borda").tolist()
    [0.0, 2.0]
    """
    _same_shape(predictions)
    means = np.array([prediction.averages() for prediction in predictions])
    return _fused(how, settled(means))


def _fused(how: str, scores: Floats) -> Floats:
    """One score per run, turned so that more is better."""
    fused: Floats = FUSIONS.call(how, scores)
    entry = FUSIONS.entry(how)
    return fused if entry.facts["higher"] else -fused


def _same_shape(predictions: Sequence[ScoreMatrix]) -> ScoreMatrix:
    if not predictions:
        raise UsageError("no predictions to combine; give at least one")
    first = predictions[0]
    for other in predictions[1:]:
        if (other.runs, other.topics) != (first.runs, first.topics):
            raise UsageError(f"{other.measure} and {first.measure} have other runs or topics; predictions must match")
    return first
