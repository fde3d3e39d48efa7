"""How likely does a t test find a true difference, and how many topics does that take?

The power of a t test by the noncentral t law (or its normal approximation). Verdicts and everything in `plan` stand on
this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import UsageError

DESIGNS = ("paired", "two-sample")
LAWS = ("t", "normal")
MOST_TOPICS = 10_000_000


@dataclass(frozen=True)
class TTest:
    """The test that is planned: significance level, one- or two-sided, paired or two sets of n topics each.

    law `t` is exact for normal differences; `normal` is the large-sample approximation.

    >>> TTest(sides=1).words()
    'one-sided paired t test, α = 0.05, noncentral t'
    """

    alpha: float = 0.05
    sides: int = 2
    design: str = "paired"
    law: str = "t"

    def __post_init__(self) -> None:
        between("alpha", self.alpha)
        choices = (
            ("sides", self.sides, (1, 2)),
            ("design", self.design, DESIGNS),
            ("law", self.law, LAWS),
        )
        for name, value, known in choices:
            if value not in known:
                listed = ", ".join(map(str, known))
                raise UsageError(f"{name}: {value!r} is not known; take one of {listed}")

    def words(self) -> str:
        """The recipe in words."""
        sides = "two" if self.sides == 2 else "one"
        law = "noncentral t" if self.law == "t" else "normal approximation"
        each = "" if self.design == "paired" else ", topics of each of the two sets"
        return f"{sides}-sided {self.design} t test, α = {self.alpha:g}, {law}{each}"


def power_of(topics: npt.ArrayLike, effect: npt.ArrayLike, test: TTest | None = None) -> Floats:
    """The probability that the test finds a true standardized difference `effect` = δ/σ on n topics.

    Two-sided P(|T| ≥ t₁₋α/₂), one-sided P(T ≥ t₁₋α), T noncentral t with n − 1 degrees of freedom and noncentrality
    √n·δ/σ (two samples of n: 2n − 2 and √(n/2)·δ/σ). effect 0 gives α. Arrays are broadcast. n below 2 is an error.
    Webber 2010, §5.1; Cohen 1988.

    >>> one_sided = TTest(sides=1)
    >>> round(float(power_of(50, 0.05 / 0.16, one_sided)), 4)
    0.7034
    """
    test = test or TTest()
    n, d = np.broadcast_arrays(
        np.asarray(topics, dtype=np.float64),
        np.asarray(effect, dtype=np.float64),
    )
    enough = np.isfinite(n) & (n >= 2)
    if not enough.all():
        raise UsageError(f"topics: a t test needs at least two (got {n.min():g})")
    df, shift = _law_of(test, n, d)
    critical = _critical(test, df)
    power = _beyond(critical, test, df, shift)
    if test.sides == 2:
        # The tail below −critical is the upper tail of a difference of the other sign.
        power = power + _beyond(critical, test, df, -shift)
    return np.clip(power, 0.0, 1.0)


def topics_needed(effect: float, *, power: float = 0.8, test: TTest | None = None) -> float:
    """The number of topics, before rounding up, with which the test finds `effect` with the given power; at least 2.

    >>> import math
    >>> [math.ceil(topics_needed(d)) for d in (0.2, 0.3, 0.5)]
    [199, 90, 34]
    """
    test = test or TTest()
    above_alpha(power, test.alpha)
    if not np.isfinite(effect) or effect == 0:
        raise UsageError(f"effect size: no number of topics finds a difference of {effect:g}; give one above 0")

    def surplus(topics: float) -> float:
        reached = power_of(topics, abs(effect), test)
        return float(reached) - power

    return root(surplus, low=2.0, what="topics")


def detectable_effect(topics: float, *, power: float = 0.8, test: TTest | None = None) -> float:
    """The smallest standardized difference that the test finds on n topics with the given power.

    >>> round(0.16 * detectable_effect(249), 5)
    0.02852
    """
    test = test or TTest()
    above_alpha(power, test.alpha)

    def surplus(effect: float) -> float:
        reached = power_of(topics, effect, test)
        return float(reached) - power

    return root(surplus, low=0.0, what="effect size")


def findable_effect(
    topics: int, *, critical: float | None = None, alpha: float = 0.05, sides: int = 2, power: float = 0.8
) -> float:
    """The standardized difference that a t test with this critical value finds on n topics with the given power.

    critical: that of the family that decides; without one that of a single test at alpha. Two-sided it solves
    1 − F(c) + F(−c) = power for the noncentral t with n − 1 degrees of freedom and noncentrality √n·δ/σ.

    >>> round(0.1 * findable_effect(50), 5), round(0.1 * findable_effect(50, critical=2.82), 5)
    (0.04042, 0.05205)
    """
    test = TTest(alpha=alpha, sides=sides)
    df = np.asarray(topics - 1, dtype=np.float64)
    limit = _critical(test, df) if critical is None else np.asarray(critical, dtype=np.float64)

    def surplus(effect: float) -> float:
        shift = np.asarray(np.sqrt(topics) * effect)
        found = _upper_tail(df, shift, limit) + (_upper_tail(df, -shift, limit) if sides == 2 else 0.0)
        return float(found) - power

    return root(surplus, low=0.0, what="effect size")


def critical_effect(topics: float, test: TTest | None = None) -> float:
    """The smallest observed standardized difference that is significant on n topics: t₁₋α/₂/√n, two samples t·√(2/n).

    It is smaller than the true difference that has a power of .8: such a difference comes out smaller in half of the
    experiments (Webber 2010, Fig. 5.1).

    >>> round(0.16 * critical_effect(50, TTest(sides=1)), 5)
    0.03794
    """
    test = test or TTest()
    n = np.asarray(topics, dtype=np.float64)
    if not n >= 2:
        raise UsageError(f"topics: a t test needs at least two (got {topics:g})")
    df, shift_of_one = _law_of(test, n, np.ones(()))
    return float(_critical(test, df) / shift_of_one)


def between(name: str, value: float) -> float:
    """The value if it lies between 0 and 1, else an error that names it."""
    if not 0 < value < 1:
        raise UsageError(f"{name}: must lie between 0 and 1 (got {value:g})")
    return value


def above_alpha(power: float, alpha: float) -> float:
    """The power if it lies between α and 1, else an error: a difference of nothing is found as often as α."""
    if between("power", power) <= alpha:
        raise UsageError(f"power: {power:g} is not above α = {alpha:g}, the power with no difference at all")
    return power


def positive(name: str, value: float) -> float:
    """The value if it is finite and above 0, else an error that names it."""
    if not (np.isfinite(value) and value > 0):
        raise UsageError(f"{name}: must be above 0 (got {value:g})")
    return value


def root(gain: Callable[[float], float], *, low: float, what: str) -> float:
    """Where a rising function crosses 0: `low` if it has already done so there, an error if it never does."""
    if gain(low) >= 0:
        return low
    below = low
    above = max(1.0, 2 * low)
    while gain(above) < 0:
        below = above
        above = 2 * above
        if above > MOST_TOPICS:
            most = f"more than {MOST_TOPICS:,} would be needed"
            raise UsageError(f"{what}: {most}; ask for less power or a larger difference")
    from scipy.optimize import brentq

    return float(brentq(gain, below, above, xtol=1e-10, rtol=1e-13))


def whole(n: float) -> int:
    """A number of topics rounded up; 39.0000000001 is 39.

    >>> whole(38.2), whole(39.0000000001)
    (39, 39)
    """
    return math.ceil(n - 1e-6)


def _law_of(test: TTest, n: Floats, d: Floats) -> tuple[Floats, Floats]:
    """Degrees of freedom and noncentrality of the statistic."""
    if test.design == "paired":
        return n - 1, np.sqrt(n) * d
    return 2 * n - 2, np.sqrt(n / 2) * d


def _critical(test: TTest, df: Floats) -> Floats:
    """The upper critical value of the test."""
    from scipy.special import ndtri, stdtrit

    level = 1 - test.alpha / test.sides
    if test.law == "normal":
        return np.asarray(ndtri(level))
    return np.asarray(stdtrit(df, level), dtype=np.float64)


def _beyond(critical: Floats, test: TTest, df: Floats, shift: Floats) -> Floats:
    """The probability that the statistic lies above the critical value."""
    from scipy.special import ndtr

    if test.law == "normal":
        return np.asarray(ndtr(shift - critical))
    return _upper_tail(df, shift, critical)


def _upper_tail(df: Floats, shift: Floats, critical: Floats) -> Floats:
    """P(T ≥ critical) of the noncentral t; beyond the reach of the series the normal approximation to it."""
    from scipy.special import nctdtr, ndtr

    with np.errstate(all="ignore"):
        exact = 1 - nctdtr(df, shift, critical)
    # (critical·(1 − 1/4df) − shift)/√(1 + critical²/2df): within 1e-4 where the series gives up
    corrected = critical * (1 - 1 / (4 * df))
    error = np.sqrt(1 + critical**2 / (2 * df))
    z = (corrected - shift) / error
    far = 1 - ndtr(z)
    return np.where(np.isfinite(exact), exact, far)
