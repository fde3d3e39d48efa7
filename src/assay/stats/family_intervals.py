"""Which intervals agree with the p of a family? mean ± c·S/√n with the c of its correction, and what a step adds.

The steps of max-t and Holm reject a little more than their intervals leave out: there an interval is cut at 0. Flips of
centred differences, which give c, may leave out 0 where p does not reject: there it is drawn out to 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.stats import joint_tests
from assay.stats.effect import Intervals
from assay.stats.resampling import percent

if TYPE_CHECKING:
    from assay.stats.pair_tests import PairsResult


def together_ends(tested: PairsResult) -> Intervals:
    """Intervals of all pairs, which hold at once where the correction allows it; bounds that are there already stay."""
    done = joint_tests.carried_out(tested.correction, tested.tests, tested.n)
    critical = tested.critical_t()
    deviation = np.zeros(len(tested)) if tested.deviation is None else tested.deviation
    half = critical * deviation / np.sqrt(tested.n)
    low, high = tested.difference - half, tested.difference + half
    of_bound = np.zeros(len(tested), dtype=bool)
    if tested.little is not None and tested.low is not None and tested.high is not None:
        of_bound = tested.little
        low, high = np.where(of_bound, tested.low, low), np.where(of_bound, tested.high, high)
    level = 1 - tested.alpha
    if tested.tests == 1 or not joint_tests.together(done):
        alone = "" if tested.tests == 1 else ", of each difference alone"
        return Intervals(low, high, level, f"{percent(level)} t interval, {tested.n - 1:,} degrees of freedom{alone}")
    recipe = f"simultaneous {percent(level)} intervals, difference ± {critical:.4g}·S/√n"
    if tested.alternative != "two-sided":
        return Intervals(low, high, level, recipe)
    # Flips of the runs and bounds of the mean are two methods; a sentence says so where they disagree.
    same_method = ~of_bound if done == joint_tests.MAX_T else ~np.isnan(low)
    low, high, changed = agreed(low, high, tested.significant(), same_method)
    return Intervals(low, high, level, recipe + changed)


def agreed(low: Floats, high: Floats, rejected: Bools, where: Bools) -> tuple[Floats, Floats, str]:
    """The intervals, such that 0 is inside exactly where p does not reject; and what was changed, in words.

    >>> rejected, every = np.array([True, False]), np.array([True, True])
    >>> low, high, said = agreed(np.array([-0.1, 0.1]), np.array([0.5, 0.3]), rejected, every)
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0], [0.5, 0.3])
    """
    inside = (low <= 0) & (high >= 0)
    cut_at_zero = where & rejected & inside
    drawn_out = where & ~rejected & ~inside
    positive = low + high > 0
    new_low = np.where((cut_at_zero & positive) | (drawn_out & (low > 0)), 0.0, low)
    new_high = np.where((cut_at_zero & ~positive) | (drawn_out & (high < 0)), 0.0, high)
    said = []
    if cut_at_zero.any():
        said.append("cut at 0 (open) where p rejects it")
    if drawn_out.any():
        said.append("drawn out to 0 where p does not")
    return new_low, new_high, f" ({' and '.join(said)})" if said else ""
