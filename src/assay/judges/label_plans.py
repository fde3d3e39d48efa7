"""How many human labels, and on what? From a pilot, the cheapest mix of human and machine topics that reaches a goal.

With λ*, n human and N machine topics estimate a mean with variance σ²/n·(1 − ρ²·N/(n + N)): σ of the human scores (or
differences), ρ their correlation with the machine's. Also where to judge within topics: Neyman's allocation of docs
over the machine's labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.io.column_names import Named
from assay.judges.labelled_pairs import Labelled, Scales, labelled
from assay.judges.listed import listed, one_measure
from assay.judges.topic_estimates import chosen_judge
from assay.judges.topic_estimators import quantile
from assay.measures import Measure
from assay.scoring import Policy
from assay.stats.pair_tests import every_pair, pairs_with

MOST_TOPICS = 20_000
LEAST_HUMAN = 4
"""Human topics that cross-fitting needs."""


@dataclass(frozen=True)
class Mix:
    """Human topics, machine topics beside them, what they cost, and the error they leave."""

    what: str
    human: int
    machine: int
    cost: float
    width: float


@dataclass(frozen=True, eq=False)
class LabelPlan(Result):
    """The cheapest mix that reaches the goal, beside people alone, and what a human topic is worth."""

    measure: str
    judge: str
    sigma: float
    correlation: float
    pilot: int
    goal: str
    mixes: tuple[Mix, ...]
    labels_per_topic: float
    strata: tuple[tuple[float, int, int, float, float], ...]
    """Machine label, docs with it, judged in the pilot, sd of their human grades, share of the human labels."""
    notes: tuple[str, ...]
    unit = "topic"

    @property
    def worth(self) -> float:
        """One human topic with very many machine topics is worth this many human-only topics: 1/(1 − ρ²)."""
        return 1 / max(1e-9, 1 - self.correlation**2)

    @property
    def best(self) -> Mix:
        """The cheapest mix."""
        return min(self.mixes, key=lambda mix: mix.cost)

    def table(self) -> Table:
        """People alone, the cheapest mix, and mixes around it."""
        columns = {"plan": "", "human topics": "d", "machine topics": "d", "cost": ",.0f", "width": ".4f"}
        rows = [(mix.what, mix.human, mix.machine, mix.cost, mix.width) for mix in self.mixes]
        notes = [
            f"goal: {self.goal}",
            f"pilot: {self.pilot} topics with both labels, σ = {self.sigma:.4f}, ρ = {self.correlation:.3f} between "
            f"human and machine scores; {self.labels_per_topic:.0f} labels per topic",
            f"one human topic is worth up to {self.worth:.2f} human-only topics with this judge (1/(1 − ρ²)); a pilot "
            "of few topics knows ρ only roughly",
            *self.notes,
        ]
        caption = f"{self.measure}: human labels that {self.judge} saves"
        return Table.of(columns, rows, caption=caption, notes=notes)

    def strata_table(self) -> Table:
        """Where to spend human labels within topics: Neyman's allocation over the machine's labels."""
        columns = {"machine label": "g", "docs": "d", "judged": "d", "sd of grades": ".3f", "share of labels": ".3f"}
        note = "share ∝ docs × sd (Neyman 1934): judge where the machine's label says least about the human grade"
        return Table.of(columns, self.strata, caption="Docs to judge by machine label", notes=[note])

    def tables(self) -> list[Table]:
        """The mixes, and the allocation over machine labels."""
        return [self.table(), self.strata_table()]


def plan_labels(
    human: Any,
    machine: Any,
    runs: Any,
    *,
    measure: str | Measure = "nDCG@10",
    judge: str | None = None,
    baseline: str | None = None,
    width: float | None = None,
    delta: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
    human_cost: float = 1.0,
    machine_cost: float = 0.01,
    scale: Scales = None,
    policy: Policy | None = None,
    columns: Named = None,
    jobs: int = 1,
) -> LabelPlan:
    """The cheapest numbers of human and machine topics for an interval of that width, or for that power to find delta.

    human, machine: a pilot, topics that both judged. The plan is for differences of two runs: from the baseline, or of
    any two, at the median over the pairs. human_cost, machine_cost: of one label. Give width or delta.

    >>> rng = np.random.default_rng(0)
    >>> grades = {str(t): {d: int(rng.integers(3)) for d in "abcdef"} for t in range(20)}
    >>> labels = {t: {d: {"gpt": min(2, g + 1)} for d, g in docs.items()} for t, docs in grades.items()}
    >>> runs = {r: {t: {d: float(rng.random()) for d in "abcdef"} for t in grades} for r in ("new", "old")}
    >>> found = plan_labels(grades, labels, runs, measure="nDCG@3", width=0.2)
    >>> found.best.human < found.mixes[0].human
    True
    """
    if (width is None) == (delta is None):
        raise UsageError("give the width of the interval that is wanted, or the difference to find (delta), not both")
    for name, value in (("width", width), ("delta", delta)):
        if value is not None and not value > 0:
            raise UsageError(f"{name}={value:g}: give a number above 0")
    if human_cost <= 0 or machine_cost < 0:
        raise UsageError(f"a human label costs {human_cost:g} and a machine label {machine_cost:g}; give costs above 0")
    pairs = labelled(human, machine, scale=scale, columns=columns)
    one = pairs.of_judges([chosen_judge(pairs, judge)]).compared()
    lists = listed(runs, one, policy=policy, columns=columns, jobs=jobs)
    wanted = one_measure(measure)
    sigma, correlation = _pilot(lists.human(wanted).values, lists.machine(wanted, 0).values, lists.runs, baseline)
    error, goal = _wanted(width, delta, power, level)
    labels = len(one) / len(one.topics)
    prices = (human_cost * labels, machine_cost * labels)
    return LabelPlan(
        measure=str(wanted),
        judge=one.judges[0],
        sigma=sigma,
        correlation=correlation,
        pilot=len(one.topics),
        goal=goal,
        mixes=tuple(_mixes(sigma, correlation, error, prices, level, power if delta is not None else None)),
        labels_per_topic=labels,
        strata=tuple(_strata(one)),
        notes=(f"one human label costs {human_cost:g}, one machine label {machine_cost:g}",),
    )


def _pilot(human: Floats, machine: Floats, runs: tuple[str, ...], baseline: str | None) -> tuple[float, float]:
    """Median σ of the differences of pairs of runs, and the median correlation of human and machine differences."""
    if human.shape[1] < 3:
        raise DataError(f"a pilot of {human.shape[1]} topics says nothing of σ; judge at least 3")
    if len(runs) < 2:
        raise DataError("a plan for differences needs at least two runs")
    first, second = every_pair(len(runs)) if baseline is None else pairs_with(runs, baseline)
    people = human[first] - human[second]
    judged = machine[first] - machine[second]
    people = people - people.mean(axis=1, keepdims=True)
    judged = judged - judged.mean(axis=1, keepdims=True)
    sigma = np.sqrt((people**2).sum(axis=1) / (people.shape[1] - 1))
    spread = np.sqrt((people**2).sum(axis=1) * (judged**2).sum(axis=1))
    rho = np.divide((people * judged).sum(axis=1), spread, out=np.zeros(len(spread)), where=spread > 0)
    varies = sigma > 0
    if not varies.any():
        raise DataError("no two runs of the pilot differ on any topic; there is nothing to plan for")
    return float(np.median(sigma[varies])), float(np.clip(np.median(rho[varies]), -0.999, 0.999))


def _wanted(width: float | None, delta: float | None, power: float, level: float) -> tuple[float, str]:
    if width is not None:
        return width, f"a {100 * level:g} % interval of width {width:g}"
    if not 0 < power < 1:
        raise UsageError(f"power={power:g}: give a share between 0 and 1")
    return float(delta or 0.0), f"power {power:g} to find a difference of {delta:g} at level {round(1 - level, 12):g}"


def _needed_variance(goal: float, human: int, level: float, power: float | None) -> float:
    """The largest variance of the estimate that reaches the goal with this many human topics."""
    degrees = max(1, human - 2)
    at_level = quantile(level, degrees)
    if power is None:
        return (goal / 2 / at_level) ** 2
    at_power = quantile(2 * power - 1, degrees) if power > 0.5 else 0.0
    return (goal / (at_level + at_power)) ** 2


def _mixes(
    sigma: float, rho: float, goal: float, prices: tuple[float, float], level: float, power: float | None
) -> list[Mix]:
    """People alone; the cheapest mix; and the mixes with fewest human topics and with twice the cheapest's."""
    human = np.arange(LEAST_HUMAN, MOST_TOPICS + 1)
    alone = _first_human(sigma, goal, level, power)
    if alone is None:
        raise UsageError(f"more than {MOST_TOPICS} human topics would be needed; ask for a wider interval")
    at_level = quantile(level, max(1, alone - 1))
    mixes = [Mix("people alone", alone, 0, alone * prices[0], 2 * at_level * sigma / np.sqrt(alone))]
    options = []
    for n in human[: alone - LEAST_HUMAN + 1].tolist():
        more = _machine_topics(sigma, rho, n, _needed_variance(goal, n, level, power))
        if more is not None and more > 0:
            variance = sigma**2 / n * (1 - rho**2 * more / (n + more))
            cost = n * prices[0] + (n + more) * prices[1]
            reached = 2 * quantile(level, max(1, n - 2)) * np.sqrt(variance)
            options.append(Mix("", n, more, cost, float(reached)))
    if not options:
        return mixes
    cheapest = min(options, key=lambda mix: mix.cost)
    fewest = options[0]
    mixes.append(Mix("cheapest mix", cheapest.human, cheapest.machine, cheapest.cost, cheapest.width))
    if fewest.human != cheapest.human:
        mixes.append(Mix("fewest human topics", fewest.human, fewest.machine, fewest.cost, fewest.width))
    return mixes


def _first_human(sigma: float, goal: float, level: float, power: float | None) -> int | None:
    """The fewest topics with which people alone reach the goal."""
    for n in range(LEAST_HUMAN, MOST_TOPICS + 1):
        if sigma**2 / n <= _needed_variance(goal, n + 1, level, power):
            return n
    return None


def _machine_topics(sigma: float, rho: float, n: int, variance: float) -> int | None:
    """How many machine topics bring n human ones to the variance; None where no number does."""
    # σ²/n·(1 − ρ² N/(n + N)) ≤ v  ⇔  N/(n + N) ≥ s with s = (1 − v·n/σ²)/ρ²
    if rho == 0:
        return 0 if sigma**2 / n <= variance else None
    share = (1 - variance * n / sigma**2) / rho**2
    if share <= 0:
        return 0
    if share >= 1:
        return None
    needed = int(np.ceil(n * share / (1 - share)))
    return needed if needed <= MOST_TOPICS else None


def _strata(pairs: Labelled) -> list[tuple[float, int, int, float, float]]:
    """Neyman's allocation of human labels over the machine's labels."""
    labels = pairs.machine[0]
    known = ~np.isnan(labels)
    levels = np.unique(labels[known])
    if len(levels) > 12:
        levels = np.unique(np.round(labels[known]))
        labels = np.round(labels)
    docs = np.array([(labels == level).sum() for level in levels])
    judged = np.array([(pairs.by_people & (labels == level)).sum() for level in levels])
    spread = np.array([pairs.human[pairs.by_people & (labels == level)].std() for level in levels])
    weight = docs * spread
    share = weight / weight.sum() if weight.sum() > 0 else np.full(len(levels), 1 / len(levels))
    return [
        (float(level), int(docs[i]), int(judged[i]), float(spread[i]), float(share[i]))
        for i, level in enumerate(levels)
    ]
