"""Is a mean over topics different from 0, and how sure is it? t, or bounds where few topics are unlike the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.data import ScoreMatrix
from assay.judges.topic_estimates import limits_of
from assay.stats.bounded import bounded_ends, p_two_sided, shows_little
from assay.stats.effect import mean_interval
from assay.stats.paired import outcome_of

Limits = tuple[float, float] | None


def gap_limits(human: ScoreMatrix, machine: ScoreMatrix) -> Limits:
    """The least and largest difference of two scores of one run; None where scores have no limits."""
    return limits_of(human, machine, "another")


def mean_ends(rows: npt.ArrayLike, level: float, limits: Limits) -> tuple[Floats, Floats]:
    """Ends of each row's mean, never of width 0: t, or Dirichlet bounds within the limits; NaN where there are none.

    >>> [round(float(end[0]), 3) for end in mean_ends(np.zeros((1, 12)), 0.95, (-1, 1))]
    [-0.265, 0.265]
    """
    array = np.atleast_2d(np.asarray(rows, dtype=np.float64))
    little = shows_little(array)
    ends = mean_interval(array, "t", level=level)
    low, high = ends.low.copy(), ends.high.copy()
    if little.any():
        low[little], high[little] = (np.nan, np.nan) if limits is None else bounded_ends(array[little], level, limits)
    return low, high


def mean_p(rows: npt.ArrayLike, limits: Limits) -> Floats:
    """p of each row's mean being 0, by the method of `mean_ends`; 1 where nothing can be shown."""
    array = np.atleast_2d(np.asarray(rows, dtype=np.float64))
    p = outcome_of(array, "t").p.copy()
    for row in np.flatnonzero(shows_little(array)).tolist():
        p[row] = 1.0 if limits is None else p_two_sided(array[row], 0.0, limits)
    return p
