"""What may be said of rows that show little? Tests and intervals where few topics differ from the commonest value.

A t interval of 25 equal differences has no width, and the p of two topics that are both won is 0. Such rows get the
Dirichlet bound of the range of the measure (bounded.py); if the range is not known, p by sign flips and no interval.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.stats.bounded import FEW, bounded_ends, p_at_least, p_at_most, p_two_sided, shows_little
from assay.stats.effect import INTERVALS, Intervals, checked_rows, mean_interval
from assay.stats.paired import TESTS, Outcome, outcome_of

Limits = tuple[float, float] | None
"""The least and the largest value that a row can have; None where that is not known."""
MOST_BOUNDS = 2_000
"""Of more different rows that show little only those get a bound that are significant without one."""


def little_rows(rows: Floats) -> Bools:
    """Which rows show little (bounded.shows_little), seen in most cases from neighbours that are not the same.

    >>> little_rows(np.array([[0.0, 0.0, 0.0, 0.1], [0.1, 0.2, 0.3, 0.4]])).tolist()
    [True, False]
    """
    topics = rows.shape[1]
    most_unlike = min(FEW, topics - 1) - 1
    same_neighbours = (rows[:, 1:] == rows[:, :-1]).sum(axis=1)
    may_be = same_neighbours >= topics - 1 - 2 * most_unlike
    little = np.zeros(len(rows), dtype=bool)
    if may_be.any():
        little[may_be] = shows_little(rows[may_be])
    return little


def outcome_within(
    rows: Floats, test: str, limits: Limits, *, alternative: str = "two-sided", alpha: float = 0.05, **drawing: Any
) -> tuple[Outcome, Bools]:
    """The outcome of a test of rows whose values lie within the limits, and which rows show little.

    Tests that stay valid then (flips, signs, ranks) are as they are; for the others p of those rows is the bound's.

    >>> outcome, little = outcome_within(np.array([[1.0, 1.0]]), "t", (-1.0, 1.0))
    >>> outcome.p.round(4).tolist(), little.tolist()
    ([0.5], [True])
    """
    array = checked_rows(rows)
    outcome = outcome_of(array, test, alternative=alternative, **drawing)
    little = little_rows(array)
    if not little.any() or not TESTS.entry(test).facts.get("spread"):
        return outcome, little
    p = outcome.p.copy()
    if limits is None:
        p[little] = outcome_of(array[little], "randomisation", alternative=alternative, **drawing).p
    else:
        p[little] = _bounded_p(array[little], p[little], limits, alternative, alpha)
    return replace(outcome, p=p), little


def _bounded_p(rows: Floats, p: Floats, limits: tuple[float, float], alternative: str, alpha: float) -> Floats:
    """p of the bound; of very many rows only where p was below α, which is all that a decision needs."""
    kinds, kind = np.unique(np.sort(rows, axis=1), axis=0, return_inverse=True)
    kind = kind.ravel()
    due = np.ones(len(kinds), dtype=bool)
    if len(kinds) > MOST_BOUNDS:
        due = np.zeros(len(kinds), dtype=bool)
        due[kind[p < alpha]] = True
    of_kind = np.full(len(kinds), np.nan)
    low, high = limits
    for at in np.flatnonzero(due).tolist():
        if alternative == "two-sided":
            of_kind[at] = p_two_sided(kinds[at], 0.0, limits)
        elif alternative == "greater":
            of_kind[at] = p_at_most(kinds[at], 0.0, low)
        else:
            of_kind[at] = p_at_least(kinds[at], 0.0, high)
    bounded = of_kind[kind]
    return np.where(np.isnan(bounded), p, bounded)


def interval_within(
    rows: Floats, kind: str, limits: Limits, *, level: float = 0.95, resamples: int, seed: int
) -> Intervals:
    """The interval of the mean of each row; where a row shows little the bound's, or none (NaN) without limits.

    >>> ends = interval_within(np.zeros((1, 12)), "t", (0.0, 1.0), resamples=1, seed=0)
    >>> float(ends.low[0]), round(float(ends.high[0]), 3)
    (0.0, 0.265)
    """
    array = checked_rows(rows)
    ends = mean_interval(array, kind, level=level, resamples=resamples, seed=seed)
    # bootstrap-t of few resampled values has no end
    little = little_rows(array) | ~(np.isfinite(ends.low) & np.isfinite(ends.high))
    low, high = bounded_or_none(array[little], level, limits)
    return with_ends(ends, little, low, high)


def bounded_or_none(rows: Floats, level: float, limits: Limits) -> tuple[Floats, Floats]:
    """Ends of the Dirichlet bound of each row; NaN where no finite limits are known."""
    if not len(rows) or limits is None or not np.isfinite(limits).all():
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    return bounded_ends(rows, level, limits)


def with_ends(ends: Intervals, where: Bools, low: Floats, high: Floats) -> Intervals:
    """The intervals, with other ends in some rows; the recipe says of how many."""
    if not where.any():
        return ends
    lows, highs = ends.low.copy(), ends.high.copy()
    lows[where], highs[where] = low, high
    return replace(ends, low=lows, high=highs, recipe=f"{ends.recipe}; {little_in_words(int(where.sum()), low)}")


def little_in_words(count: int, low: Floats) -> str:
    """What was done for rows that show little."""
    rows = "1 row shows" if count == 1 else f"{count:,} rows show"
    if np.isnan(low).any():
        return f"{rows} too few different values for an interval, and the range of the scores is not known"
    return f"{rows} too few different values for it: the Dirichlet bound"


def interval_of(test: str) -> str:
    """The kind of interval that goes with a test.

    >>> interval_of("t"), interval_of("bootstrap"), interval_of("wilcoxon")
    ('t', 'bootstrap-t', 't')
    """
    kind = str(TESTS.entry(test).facts.get("interval", "t"))
    return INTERVALS.entry(kind).name


def least_of_topics(test: str, topics: int, alternative: str = "two-sided") -> float:
    """The smallest p that a test of signs can give on this number of topics; 0 for other tests.

    >>> least_of_topics("sign", 5), least_of_topics("t", 5)
    (0.0625, 0.0)
    """
    if not TESTS.entry(test).facts.get("signs"):
        return 0.0
    return float(2.0 ** ((alternative == "two-sided") - topics))
