"""Which values can a mean take? Intervals of a bounded measure do not promise what cannot be.

An interval is centred on the mean with no thought of the measure's range, so that near an end it may reach beyond:
the upper end of a t interval of RR is 1.0075 where nearly every topic has 1. Such ends are cut to the range.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.core.errors import AssayError
from assay.data.scores import ScoreMatrix
from assay.stats.effect import Intervals

RANGES = {"unit": (0.0, 1.0), "nonneg": (0.0, np.inf), "count": (0.0, np.inf)}
"""The least and largest score by the range that a measure declares; a measure that declares none is a share."""


def possible_scores(matrix: ScoreMatrix) -> tuple[float, float] | None:
    """The least and largest score that the measure of a matrix allows; None where that is not known.

    Not known are names that are no measures, such as standardized ones, measures that may have any score, and a matrix
    with a score beyond the range of the measure that it names.

    >>> possible_scores(ScoreMatrix.of([[0.1, 0.2]], measure="RR"))
    (0.0, 1.0)
    >>> possible_scores(ScoreMatrix.of([[0.1, 1.2]], measure="RR"))
    """
    from assay.measures import parse

    try:
        measure = parse(matrix.measure)
    except AssayError:
        return None
    limits = RANGES.get(measure.entry.facts.get("range", "unit"))
    if limits is None or measure.form or matrix.values.size == 0:
        return None
    inside = limits[0] <= matrix.values.min() and matrix.values.max() <= limits[1]
    return limits if inside else None


def assumed_scores(matrix: ScoreMatrix) -> tuple[float, float] | None:
    """The range of the measure; of a name that is no measure of ours 0 to 1, if all scores that are seen lie there.

    >>> assumed_scores(ScoreMatrix.of([[0.0, 1.0]], measure="solved"))
    (0.0, 1.0)
    """
    limits = possible_scores(matrix)
    if limits is None and matrix.values.size and matrix.values.min() >= 0 and matrix.values.max() <= 1:
        return 0.0, 1.0
    return limits if limits is not None and np.isfinite(limits).all() else None


def assumed_differences(matrix: ScoreMatrix) -> tuple[float, float] | None:
    """The least and largest difference of two scores in the assumed range; None if there is none."""
    limits = assumed_scores(matrix)
    return None if limits is None else (limits[0] - limits[1], limits[1] - limits[0])


def possible_differences(matrix: ScoreMatrix) -> tuple[float, float] | None:
    """The least and largest difference of two scores of a matrix; None where that is not known.

    >>> possible_differences(ScoreMatrix.of([[0.1, 0.2]], measure="RR"))
    (-1.0, 1.0)
    """
    limits = possible_scores(matrix)
    if limits is None or not np.isfinite(limits).all():
        return None
    low, high = limits
    return low - high, high - low


def cut(ends: Intervals, limits: tuple[float, float] | None) -> Intervals:
    """The intervals within the limits; the recipe says where any was cut.

    >>> i = Intervals(np.array([-0.1, 0.2]), np.array([0.4, 0.5]), 0.95, "95 % t interval")
    >>> cut(i, (0.0, 1.0)).low.tolist(), cut(i, (0.0, 1.0)).recipe
    ([0.0, 0.2], "95 % t interval (cut at 0, the end of the measure's range)")
    """
    if limits is None:
        return ends
    low, high = limits
    reached = []
    if (ends.low < low).any():
        reached.append(f"{low:g}".replace("-", "−"))
    if (ends.high > high).any():
        reached.append(f"{high:g}")
    if not reached:
        return ends
    which = "the end" if len(reached) == 1 else "the ends"
    recipe = f"{ends.recipe} (cut at {' and '.join(reached)}, {which} of the measure's range)"
    return replace(ends, low=np.maximum(ends.low, low), high=np.minimum(ends.high, high), recipe=recipe)
