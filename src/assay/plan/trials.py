"""How large should a trial be, and what does it say about the experiment that follows?

The σ seen on a few trial topics is uncertain; planning with an inflated σ makes the main experiment powerful enough
in most cases. Trial topics are not used again (Webber 2010, §5.3.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.plan.powers import paired
from assay.stats.effect import checked_rows
from assay.stats.t_power import TTest, between, positive, topics_needed, whole


@dataclass(frozen=True)
class TrialPlan(Result):
    """After a trial: σ as seen and as inflated, topics of the main experiment with each, and the total cost."""

    unit = "topic"

    trial: int
    sigma: float
    inflated: float
    main: int
    total: int
    hopeful: int
    delta: float
    power: float
    confidence: float
    exact: bool
    test: TTest

    def table(self) -> Table:
        """One row."""
        return trials_table([self])


def trial_sigma(pair: ScoreMatrix) -> float:
    """σ of the differences between the two runs of a trial; an error where it is too near to 0.

    >>> trial_sigma(ScoreMatrix.of([[0.5, 0.25, 0.75], [0.25, 0.25, 0.25]]))
    0.25
    """
    needs_means(pair, "the plan of an experiment")
    if pair.shape[1] < 2:
        raise UsageError(f"trial: σ needs at least two topics (got {pair.shape[1]})")
    values = checked_rows(pair.values)
    sigma = float((values[0] - values[1]).std(ddof=1))
    if sigma <= 1e-12:
        raise UsageError("sigma: the runs differ by the same amount on every topic; a σ above 0 is needed")
    return sigma


@dataclass(frozen=True)
class BestTrial(Result):
    """The trial size with the smallest total, and the totals of the sizes around it."""

    unit = "topic"

    best: TrialPlan
    plans: tuple[TrialPlan, ...]

    def table(self) -> Table:
        """The best size among some others."""
        sizes = {5, 10, 20, 30, 40, 50, 75, 100, self.best.trial}
        shown = [plan for plan in self.plans if plan.trial in sizes]
        table = trials_table(shown)
        note = f"Smallest total: a trial of {self.best.trial} topics, {self.best.total} topics in all."
        return replace(table, notes=(note, *table.notes))


def trials_table(plans: Sequence[TrialPlan]) -> Table:
    """One row per trial."""
    first = plans[0]
    rows = []
    for plan in plans:
        rows.append((plan.trial, plan.sigma, plan.inflated, plan.main, plan.total, plan.hopeful))
    formats = {"trial topics": "d", "σ seen": ".4f", "σ planned": ".4f", "main topics": "d", "total": "d"}
    formats |= {"main if σ is as seen": "d"}
    short = "σ seen · (1 + z/√(2 · trial topics)), which is above σ in 91 % of trials of 40 topics, not 95 %"
    planned = "upper limit by χ²" if first.exact else short
    notes = [
        f"Difference {first.delta:g}, power {first.power:g} reached with {100 * first.confidence:g} % confidence; "
        f"{first.test.words()}.",
        f"σ planned: {planned}; it supposes normal differences, and those of retrieval scores vary rather more.",
    ]
    keys = {"main if σ is as seen": "main_topics_as_seen"}
    return Table.of(formats, rows, caption="From a trial to the main experiment", notes=notes, keys=keys)


def inflated_sigma(sigma: float, trial: int, *, confidence: float = 0.95, exact: bool = False) -> float:
    """An upper confidence limit of σ after a trial of m topics with sd s.

    s·(1 + z/√(2m)), from the standard error of a sd (Webber 2010, eq. 5.3); it falls short of its promise: after 40
    topics it is above σ in 91 % of trials, not 95 %. `exact`: s·√((m − 1)/χ²), which keeps it for normal differences.

    >>> round(inflated_sigma(0.15, 40), 3), round(inflated_sigma(0.15, 40, exact=True), 3)
    (0.178, 0.185)
    """
    from scipy.special import chdtri, ndtri

    if trial < 2:
        raise UsageError(f"trial: σ needs at least two topics (got {trial})")
    between("confidence", confidence)
    if exact:
        return positive("sigma", sigma) * math.sqrt((trial - 1) / float(chdtri(trial - 1, confidence)))
    return positive("sigma", sigma) * (1 + float(ndtri(confidence)) / math.sqrt(2 * trial))


def trial(
    scores: ScoreMatrix | None = None,
    *,
    delta: float,
    sigma: float | None = None,
    topics: int | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    exact: bool = False,
    test: TTest | None = None,
) -> TrialPlan | BestTrial:
    """After a trial the topics of the main experiment; before it, without `topics`, the best size of the trial.

    The trial is given by its `scores`, two runs on its topics, or by the `sigma` of the differences on `topics` of it.

    >>> trial(sigma=0.15, topics=40, delta=0.033).table().column("total")
    [270]
    """
    if (sigma is None) == (scores is None):
        raise UsageError("give sigma, or the scores of the two runs in the trial")
    if scores is not None:
        if topics is not None:
            raise UsageError(f"topics: {topics} has no effect, the scores have {scores.shape[1]}; leave it out")
        sigma = trial_sigma(scores)
        topics = scores.shape[1]
    expected = sigma or 0.0
    if topics is None:
        return best_trial(expected, delta=delta, power=power, confidence=confidence, exact=exact, test=test)
    return trial_plan(expected, topics, delta=delta, power=power, confidence=confidence, exact=exact, test=test)


def trial_plan(
    sigma: float,
    trial: int,
    *,
    delta: float,
    power: float = 0.8,
    confidence: float = 0.95,
    exact: bool = False,
    test: TTest | None = None,
) -> TrialPlan:
    """Topics of the main experiment after a trial of `trial` topics on which the differences had sd `sigma`.

    >>> plan = trial_plan(0.15, 40, delta=0.033)
    >>> plan.main, plan.total
    (230, 270)
    """
    planned_test = paired(test)
    inflated = inflated_sigma(sigma, trial, confidence=confidence, exact=exact)
    positive("delta", delta)
    main = whole(topics_needed(delta / inflated, power=power, test=planned_test))
    hopeful = whole(topics_needed(delta / sigma, power=power, test=planned_test))
    return TrialPlan(
        trial=trial,
        sigma=sigma,
        inflated=inflated,
        main=main,
        total=trial + main,
        hopeful=hopeful,
        delta=delta,
        power=power,
        confidence=confidence,
        exact=exact,
        test=planned_test,
    )


def best_trial(
    sigma: float,
    *,
    delta: float,
    power: float = 0.8,
    confidence: float = 0.95,
    exact: bool = False,
    sizes: Sequence[int] | None = None,
    test: TTest | None = None,
) -> BestTrial:
    """The trial size that costs the fewest topics in all, if σ is what one expects; the smallest such size.

    The optimum is flat: sizes from half to twice the best cost little more (Webber 2010, Fig. 5.7).

    >>> best_trial(0.15, delta=0.033).best.total
    270
    """
    plans = []
    for size in sizes or range(5, 151):
        plan = trial_plan(sigma, size, delta=delta, power=power, confidence=confidence, exact=exact, test=test)
        plans.append(plan)
    best = min(plans, key=lambda plan: (plan.total, plan.trial))
    return BestTrial(best, tuple(plans))
