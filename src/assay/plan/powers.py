"""How likely is a true difference found, how many topics does that take, how small a difference can be found?

Power, topics, difference and effect size of a t test, any one from the others; the law is in `stats/t_power.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.stats.t_power import TTest, critical_effect, detectable_effect, positive, power_of, topics_needed, whole

SOLVED = {"δ": "delta", "σ": "sigma", "effect size": "effect"}
"""Keys of what a plan computes, where its name is not one already."""


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
    turns: float = 1.0
    """Turns of each topic, where topics are conversations; then `sigma` is that of the mean of a conversation."""
    icc: float = 0.0

    @property
    def unit(self) -> str:
        """Conversations where topics have several turns."""
        return "topic" if self.turns == 1 else "conversation"

    @property
    def significant_from(self) -> float:
        """The smallest observed difference that will be significant; in σ where that is not known."""
        return critical_effect(self.topics, self.test) * (1.0 if self.sigma is None else self.sigma)

    def table(self) -> Table:
        """One row."""
        row = (self.topics, self.delta, self.sigma, self.effect, self.power, self.significant_from)
        formats = {"topics": "d", "δ": ".4f", "σ": ".4f", "δ/σ": ".4f", "power": ".4f", "significant from": ".4f"}
        unit = ", in σ" if self.sigma is None else ""
        notes = [
            f"Computed: {self.solved}. {self.test.words().capitalize()}.",
            f"Significant from: the smallest observed difference with p < {self.test.alpha:g}{unit}.",
        ]
        if self.solved == "topics":
            notes.append(f"Topics before rounding up: {self.exact_topics:.2f}.")
        if self.turns != 1:
            notes.append(self._of_conversations())
        return Table.of(
            formats,
            [row],
            caption="Power of a comparison",
            notes=notes,
            keys={"δ/σ": "effect"},
        )

    def _of_conversations(self) -> str:
        """What a topic is where it has several turns."""
        effect = design_effect(self.turns, self.icc)
        total = math.ceil(self.topics * self.turns)
        return (
            f"Topics are conversations of {self.turns:g} turns with intraclass correlation {self.icc:g}: design effect "
            f"{effect:.2f}; σ is that of the mean of a conversation, {spread_of_group(self.turns, self.icc):.3f} of "
            f"that of a turn; {total} turns in all."
        )

    def record(self) -> dict[str, Any]:
        """The row, with what was computed, the topics before rounding up, and the test."""
        settings = {
            "solved": SOLVED.get(self.solved, self.solved),
            "exact_topics": self.exact_topics,
            "test": self.test.words(),
            "turns": self.turns,
            "icc": self.icc,
            "design_effect": design_effect(self.turns, self.icc),
        }
        return settings | super().record()


@dataclass(frozen=True, eq=False)
class PowerCurve(Result):
    """Detectable difference and power over numbers of topics, for one or several σ."""

    unit = "topic"

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


def power(
    *,
    topics: float | None = None,
    power: float | None = None,
    delta: float | None = None,
    sigma: float | None = None,
    effect: float | None = None,
    test: TTest | None = None,
    turns: float = 1.0,
    icc: float = 0.0,
) -> PowerPlan:
    """Whichever of topics, power, difference or σ is missing, from those that are given.

    Give the effect as `effect` or as `delta` and `sigma`. With topics and power the detectable effect is found, and
    from `sigma` the detectable `delta` (from `delta` the σ one can bear); without power and topics, power is .8.
    turns: topics are conversations of that many turns, whose differences have the intraclass correlation `icc`; sigma
    and effect given are those of turns.

    >>> plan = power(delta=0.03, sigma=0.13)
    >>> plan.topics, round(plan.exact_topics, 1)
    (150, 149.3)
    >>> power(delta=0.03, sigma=0.13, turns=8, icc=0.3).topics
    60
    """
    shrunk = spread_of_group(turns, icc)
    if effect is not None:
        effect = effect / shrunk
    if sigma is not None:
        sigma = positive("sigma", sigma) * shrunk
    plan = _solved(topics, power, delta, sigma, effect, test or TTest())
    return replace(plan, turns=turns, icc=icc)


def design_effect(turns: float, icc: float) -> float:
    """1 + (m − 1)ρ: how much larger the variance of a mean is because the m members of a group are alike (Kish 1965).

    >>> round(design_effect(8, 0.3), 4)
    3.1
    """
    if not turns >= 1:
        raise UsageError(f"turns: a conversation has at least one (got {turns:g})")
    if not 0 <= icc <= 1:
        raise UsageError(f"icc: an intraclass correlation lies between 0 and 1 here (got {icc:g})")
    return 1 + (turns - 1) * icc


def spread_of_group(turns: float, icc: float) -> float:
    """The sd of the mean of a group over that of a member: √(design effect / members).

    >>> spread_of_group(1, 0.3), spread_of_group(4, 0.0), spread_of_group(4, 1.0)
    (1.0, 0.5, 1.0)
    """
    return math.sqrt(design_effect(turns, icc) / turns)


def _solved(
    topics: float | None,
    power: float | None,
    delta: float | None,
    sigma: float | None,
    effect: float | None,
    test: TTest,
) -> PowerPlan:
    """The plan whose units are topics, or conversations."""
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
