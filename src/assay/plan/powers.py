"""How likely is a true difference found, how many topics does that take, how small a difference can be found?

The power of a t test by the noncentral t law (or its normal approximation): power, topics, difference and effect size,
any one from the others. The rest of `plan` stands on this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table

DESIGNS = ("paired", "two-sample")
LAWS = ("t", "normal")
MOST_TOPICS = 10_000_000
SOLVED = {"δ": "delta", "σ": "sigma", "effect size": "effect"}
"""Keys of what a plan computes, where its name is not one already."""


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


@dataclass(frozen=True)
class PowerPlan(Result):
    """Power, topics, difference, σ and effect size that belong together; `solved` names the one that was computed.

    `exact_topics` is the real number whose ceiling is `topics`.
    """

    power: float
    topics: int
    exact_topics: float
    effect: float
    delta: float | None
    sigma: float | None
    solved: str
    test: TTest

    def table(self) -> Table:
        """One row."""
        row = (self.topics, self.delta, self.sigma, self.effect, self.power)
        formats = {"topics": "d", "δ": ".4f", "σ": ".4f", "δ/σ": ".4f", "power": ".4f"}
        notes = [f"Computed: {self.solved}. {self.test.words().capitalize()}."]
        if self.solved == "topics":
            notes.append(f"Topics before rounding up: {self.exact_topics:.2f}.")
        return Table.of(
            formats,
            [row],
            caption="Power of a comparison",
            notes=notes,
            keys={"δ/σ": "effect"},
        )

    def record(self) -> dict[str, Any]:
        """The row, with what was computed, the topics before rounding up, and the test."""
        settings = {
            "solved": SOLVED.get(self.solved, self.solved),
            "exact_topics": self.exact_topics,
            "test": self.test.words(),
        }
        return settings | super().record()


@dataclass(frozen=True, eq=False)
class PowerCurve(Result):
    """Detectable difference and power over numbers of topics, for one or several σ."""

    topics: tuple[int, ...]
    sigmas: tuple[float, ...]
    detectable: Floats
    powers: Floats | None
    delta: float | None
    power: float
    test: TTest

    def table(self) -> Table:
        """One row per σ and number of topics."""
        columns = {"σ": ".4f", "topics": "d", "δ": ".4f"}
        if self.powers is not None:
            columns["power"] = ".4f"
        rows = []
        for j, sigma in enumerate(self.sigmas):
            for i, topics in enumerate(self.topics):
                delta = self.detectable[i, j]
                row: list[float] = [sigma, topics, delta]
                if self.powers is not None:
                    row.append(self.powers[i, j])
                rows.append(row)
        notes = [f"δ: difference found with power {self.power:g}. {self.test.words().capitalize()}."]
        if self.delta is not None:
            notes.append(f"Power is that of finding a true difference of {self.delta:g}.")
        return Table.of(columns, rows, caption="Power over the number of topics", notes=notes)


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


def power(
    *,
    topics: float | None = None,
    power: float | None = None,
    delta: float | None = None,
    sigma: float | None = None,
    effect: float | None = None,
    test: TTest | None = None,
) -> PowerPlan:
    """Whichever of topics, power, difference or σ is missing, from those that are given.

    Give the effect as `effect` or as `delta` and `sigma`. With topics and power the detectable effect is found, and
    from `sigma` the detectable `delta` (from `delta` the σ one can bear); without power and topics, power is .8.

    >>> plan = power(delta=0.03, sigma=0.13)
    >>> plan.topics, round(plan.exact_topics, 1)
    (150, 149.3)
    """
    test = test or TTest()
    if delta is not None:
        delta = positive("delta", abs(delta))
    if sigma is not None:
        sigma = positive("sigma", sigma)
    given_effect = _effect(delta, sigma, effect)
    wanted = 0.8 if power is None else power
    if given_effect is not None and topics is not None:
        reached = float(power_of(topics, given_effect, test))
        if power is not None and not math.isclose(power, reached, abs_tol=1e-9):
            raise UsageError(f"topics, power and effect are all given; with them power is {reached:.4f}: leave one out")
        return _plan(topics, reached, given_effect, delta, sigma, "power", test)
    if given_effect is not None:
        needed = topics_needed(given_effect, power=wanted, test=test)
        return _plan(needed, wanted, given_effect, delta, sigma, "topics", test)
    if topics is None:
        raise UsageError("give two of: topics, power, and the difference (effect, or delta with sigma)")
    least = detectable_effect(topics, power=wanted, test=test)
    if delta is not None:
        return _plan(topics, wanted, least, delta, delta / least, "σ", test)
    if sigma is not None:
        return _plan(topics, wanted, least, least * sigma, sigma, "δ", test)
    return _plan(topics, wanted, least, None, None, "effect size", test)


def power_curve(
    topics: Sequence[int],
    *,
    sigmas: Sequence[float],
    delta: float | None = None,
    power: float = 0.8,
    test: TTest | None = None,
) -> PowerCurve:
    """Over numbers of topics: the detectable difference for each σ and, with `delta`, the power to find it.

    >>> curve = power_curve([50, 100], sigmas=[0.13])
    >>> [round(d, 4) for d in curve.table().column("delta")]
    [0.0525, 0.0368]
    """
    test = test or TTest()
    sigma = np.array([positive("sigma", value) for value in sigmas])
    if not len(topics) or not len(sigma):
        raise UsageError("a curve needs at least one number of topics and one σ")
    least_effects = [detectable_effect(n, power=power, test=test) for n in topics]
    powers = None
    if delta is not None:
        column_of_topics = np.array(topics)[:, None]
        powers = power_of(column_of_topics, abs(delta) / sigma, test)
    return PowerCurve(
        topics=tuple(topics),
        sigmas=tuple(sigma.tolist()),
        detectable=np.outer(least_effects, sigma),
        powers=powers,
        delta=delta,
        power=power,
        test=test,
    )


def paired(test: TTest | None) -> TTest:
    """The test, by default a two-sided paired t; an error where two sets of topics are meant."""
    test = test or TTest()
    if test.design != "paired":
        raise UsageError(f"design: this plans a comparison on the same topics, not a {test.design} test")
    return test


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


def _effect(delta: float | None, sigma: float | None, effect: float | None) -> float | None:
    """The effect size as given, or δ/σ where both are; else None."""
    if effect is not None:
        if delta is not None or sigma is not None:
            raise UsageError("give the effect size, or delta and sigma, not both")
        return positive("effect", abs(effect))
    if delta is None or sigma is None:
        return None
    return delta / sigma


def _plan(
    n: float, power: float, effect: float, delta: float | None, sigma: float | None, solved: str, test: TTest
) -> PowerPlan:
    return PowerPlan(
        power=power,
        topics=whole(n),
        exact_topics=float(n),
        effect=effect,
        delta=delta,
        sigma=sigma,
        solved=solved,
        test=test,
    )


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
