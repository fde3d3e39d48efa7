"""Is the drop within its margin, or beyond it? One-sided tests of all measures at once, with bounds that agree.

Everything works on rows, one for each measure: by how much the new run is above what is allowed, topic by topic. A row
passes where its mean is shown to be above 0 and fails where it is shown to be below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.errors import UsageError
from assay.stats.effect import standard_deviation
from assay.stats.multiple import corrected
from assay.stats.paired import TESTS, outcome_of

GATE_TESTS = ("t", "normal", "bootstrap", "bootstrap-t", "randomisation")
"""Tests of the mean. A max-drop is one of the mean, and says nothing of ranks and signs."""
GATE_CORRECTIONS = ("holm", "bonferroni", "none")
"""Corrections that have bounds which agree with their decisions."""
POINTS = 32
ROUNDS = 8
"""A bound is looked for among this many points, and again between two of them, this often: to twelve digits."""
NO_SPREAD = 1e-9
"""How far to look around a mean where all topics have the same difference."""


@dataclass(frozen=True, eq=False)
class OneSide:
    """One direction of the tests: corrected p, what is shown, and the bound of each mean that agrees with it."""

    p: Floats
    shown: Bools
    bound: Floats
    recipe: str
    least_p: float


def above_zero(rows: Floats, alpha: float, correction: str, test: str, **draws: Any) -> OneSide:
    """For each row whether its mean is shown to be above 0, and the lower bound of the mean.

    The bounds hold for all rows at once at level 1 − alpha, and lie above 0 exactly where that is shown. With Holm's
    correction they are those of Strassburger & Bretz 2008: while some rows are not shown to be above 0, nothing more is
    claimed of those that are, and their bound is 0.

    >>> side = above_zero(np.array([[0.2, 0.3, 0.4], [-0.1, 0.0, 0.3]]), 0.05, "holm", "t")
    >>> side.shown.tolist(), side.bound.round(3).tolist()
    ([True, False], [0.0, -0.284])
    """
    outcome = outcome_of(rows, test, alternative="greater", **draws)
    corrected_p, shown = decided(outcome.p, alpha, correction)
    level = _level(shown, alpha, correction)
    bound = lower_bounds(rows, level, test, **draws)
    # What is shown decides on which side of 0 a bound lies; a bound is looked for to twelve digits only.
    bound = np.where(shown, np.maximum(bound, 0.0), np.minimum(bound, 0.0))
    if correction == "holm" and not shown.all():
        bound = np.where(shown, 0.0, bound)
    return OneSide(corrected_p, shown, bound, outcome.recipe, outcome.least_p)


def decided(p: Floats, alpha: float, correction: str) -> tuple[Floats, Bools]:
    """Corrected p of each row, and whether it is below alpha.

    >>> decided(np.array([0.02, 0.04]), 0.05, "bonferroni")
    (array([0.04, 0.08]), array([ True, False]))
    """
    corrected_p = corrected(p, correction)
    return corrected_p, corrected_p < alpha


def below_zero(rows: Floats, alpha: float, correction: str, test: str, **draws: Any) -> OneSide:
    """As above_zero, for means below 0 and their upper bounds.

    >>> below_zero(-np.array([[0.2, 0.3, 0.4]]), 0.05, "holm", "t").bound.round(3).tolist()
    [-0.131]
    """
    side = above_zero(-rows, alpha, correction, test, **draws)
    return OneSide(side.p, side.shown, -side.bound, side.recipe, side.least_p)


def lower_bounds(rows: Floats, level: float, test: str = "t", **draws: Any) -> Floats:
    """For each row the largest value that the test still shows its mean to be above, at this significance level.

    The test is turned round: it is made of rows less c for many c at once, and between the last c that it rejects and
    the next again. −∞ where it rejects none.

    >>> lower_bounds(np.array([[1.0, 2, 3, 4, 5]]), 0.025).round(4)
    array([1.0368])
    """
    from scipy.special import stdtrit

    count, n = rows.shape
    error = np.maximum(standard_deviation(rows) / np.sqrt(n), NO_SPREAD)
    # Four times as far as the t test reaches, as resampled bounds of few topics may lie beyond it.
    reach = (10 + 4 * float(stdtrit(n - 1, 1 - level))) * error
    mean = rows.mean(axis=1)
    low = mean - reach
    high = mean + reach
    steps = np.linspace(0, 1, POINTS)
    lowest_rejected = np.ones(count, dtype=bool)
    for step in range(ROUNDS):
        points = low[:, None] + (high - low)[:, None] * steps
        shifted = (rows[:, None, :] - points[:, :, None]).reshape(count * POINTS, n)
        p = outcome_of(shifted, test, alternative="greater", **draws).p
        rejected = np.logical_and.accumulate(p.reshape(count, POINTS) < level, axis=1)
        if step == 0:
            lowest_rejected = rejected[:, 0]
        last = np.maximum(rejected.sum(axis=1) - 1, 0)
        following = np.minimum(last + 1, POINTS - 1)
        every_row = np.arange(count)
        low, high = points[every_row, last], points[every_row, following]
    return np.where(lowest_rejected, low, -np.inf)


def _level(shown: Bools, alpha: float, correction: str) -> float:
    """The significance level of each bound: α, or its share by Bonferroni, or by Holm among those not yet shown."""
    if correction == "none":
        return alpha
    left = shown.size - int(shown.sum())
    if correction == "holm" and left:
        return alpha / left
    return alpha / shown.size


def checked_test(test: str) -> str:
    """The test if it is one of GATE_TESTS, with or without parameters; else an error."""
    entry = TESTS.entry(test)
    if entry.name not in GATE_TESTS:
        known = ", ".join(GATE_TESTS)
        raise UsageError(
            f"test: {entry.name} does not test a mean, and max-drop is one of the mean; take one of {known}"
        )
    return test


def checked_correction(correction: str) -> str:
    """The correction if it is one of GATE_CORRECTIONS; else an error."""
    if correction not in GATE_CORRECTIONS:
        known = ", ".join(GATE_CORRECTIONS)
        raise UsageError(f"correction: {correction!r} has no bounds that agree with it; take one of {known}")
    return correction


def draws_resamples(test: str) -> bool:
    """Whether a test draws resamples, so that their number and the seed matter."""
    entry = TESTS.entry(test)
    return bool(entry.facts.get("resampled"))
