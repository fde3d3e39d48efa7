"""gate: a new run, a baseline and what may be lost → pass, fail or undecided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.gate.alarms import JudgedRule
from assay.gate.contenders import Contenders
from assay.gate.drops import OneSide, above_zero, below_zero, checked_correction, checked_test
from assay.gate.gated import Gate, MeasureGate
from assay.gate.margins import Margin, margins_of
from assay.gate.topics_to_decide import (
    chance_to_pass,
    chance_to_show,
    planned_levels,
    topics_to_pass,
    topics_to_show,
)
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.measures import Measure
from assay.stats.effect import checked_rows, ratio, standard_deviation
from assay.stats.limits import possible_differences
from assay.stats.resampling import RESAMPLES
from assay.stats.t_power import above_alpha


def gate(
    new: Any,
    baseline: Any,
    qrels: Any = None,
    measures: str | Measure | Sequence[str | Measure] | None = None,
    *,
    max_drop: Any,
    test: str = "t",
    alpha: float = 0.05,
    correction: str = "holm",
    power: float = 0.8,
    min_judged: float | None = None,
    max_judged_drop: float | None = None,
    judged_depth: int | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    columns: Named = None,
    progress: Progress = silent,
) -> Gate:
    """May a new run replace the baseline: is it shown not to be worse by more than `max_drop`?

    new, baseline: one run each, as `assay.evaluate` takes them, with `qrels`; or without qrels the scores of one run
    each: what `assay.evaluate` returns, {run: {topic: score}}, a score file. measures: nDCG@10 of runs by default, all
    of score tables. max_drop: an amount such as .01, a share of the baseline's mean such as "2%", or {measure: either}.
    columns: our column → that of the tables which have it.

    Every measure is tested in both directions, one-sided at level alpha: pass if all are shown to drop by less than
    max_drop, fail if one is shown to drop by more, else undecided, with the number of topics that would decide. Alarms:
    ids that do not match the judgments any more fail; too few judged docs in the top `judged_depth`, fewer than the
    share `min_judged` or `max_judged_drop` below the baseline's, are undecided whatever the scores. max_drop 0 passes
    only what is shown to be better.

    >>> qrels = {q: {"a": 1, "b": 0, "c": 0} for q in range(12)}
    >>> old = {q: ["a", "b", "c"] for q in range(12)}
    >>> new = {q: ["b", "a", "c"] for q in range(12)}
    >>> gate({"new": new}, {"old": old}, qrels, "RR", max_drop=0.1).verdict
    'fail: RR of new is shown to be more than .1 below old: −.500, at most −.500 (95 %), p < .0001; paired t test, one-sided, 12 topics'
    """  # noqa: E501
    checked_test(test)
    checked_correction(correction)
    _check_levels(alpha, power)
    progress(0, 2)
    shared = shared_columns(columns)
    if qrels is None:
        _refuse_judged_rules(min_judged=min_judged, max_judged_drop=max_judged_drop, judged_depth=judged_depth)
        two = Contenders.of_scores(new, baseline, measures, shared)
    else:
        rule = JudgedRule.of(min_judged, max_judged_drop, judged_depth)
        two = Contenders.of_runs(new, baseline, qrels, measures, rule, shared)
    refuse_unused(shared, columns)
    progress(1, 2)
    margins = margins_of(max_drop, [matrix.measure for matrix in two.matrices])
    amounts = np.array([margin.amount(matrix) for margin, matrix in zip(margins, two.matrices, strict=True)])
    rows = checked_rows([margin.above(matrix) for margin, matrix in zip(margins, two.matrices, strict=True)])
    draws = {"resamples": resamples, "seed": seed}
    above = above_zero(rows, alpha, correction, test, **draws)
    below = below_zero(rows, alpha, correction, test, **draws)
    plan = _Plan.of(rows, amounts, alpha, correction, power)
    decided = []
    for i, matrix in enumerate(two.matrices):
        decided.append(_decided(i, matrix, margins[i], rows[i], above, below, plan))
    progress(2, 2)
    return Gate(
        names=two.names,
        n=rows.shape[1],
        measures=tuple(decided),
        alarms=two.alarms,
        alpha=alpha,
        correction=correction,
        wanted_power=power,
        power=max(0.0, chance_to_pass(rows.shape[1], plan.if_equal, plan.levels)),
        topics_to_pass=topics_to_pass(plan.if_equal, plan.levels, power),
        test=test,
        recipe=_recipe(above, alpha, correction),
        judged=two.judged,
        signatures=tuple(matrix.signature for matrix in two.matrices if matrix.signature != matrix.measure),
    )


@dataclass(frozen=True, eq=False)
class _Plan:
    """What power rests on: margins, spread, effect sizes if the runs are equally good and as seen, and levels."""

    amounts: Floats
    sd: Floats
    if_equal: list[float]
    as_seen: list[float]
    levels: list[float]
    fail_level: float
    """A gate fails where one measure does: the first is tested at α/m."""
    power: float

    @classmethod
    def of(cls, rows: Floats, amounts: Floats, alpha: float, correction: str, power: float) -> _Plan:
        sd = standard_deviation(rows)
        if_equal = ratio(amounts, sd).tolist()
        return cls(
            amounts=amounts,
            sd=sd,
            if_equal=if_equal,
            as_seen=ratio(rows.mean(axis=1), sd).tolist(),
            levels=planned_levels(if_equal, alpha, correction),
            fail_level=alpha if correction == "none" else alpha / len(rows),
            power=power,
        )


def _decided(
    i: int, matrix: ScoreMatrix, margin: Margin, row: Floats, above: OneSide, below: OneSide, plan: _Plan
) -> MeasureGate:
    """What is shown of the measure at place i."""
    amount = float(plan.amounts[i])
    outcome = "undecided"
    if above.shown[i]:
        outcome = "pass"
    elif below.shown[i]:
        outcome = "fail"
    at_zero = None
    at_seen = None
    if outcome == "undecided":
        level = plan.levels[i] if plan.as_seen[i] > 0 else plan.fail_level
        at_zero = topics_to_pass([plan.if_equal[i]], [plan.levels[i]], plan.power)
        at_seen = topics_to_show(plan.as_seen[i], level, plan.power)
    low, high = _within_range(matrix, above.bound[i] - amount, below.bound[i] - amount)
    mean, baseline_mean = matrix.averages().tolist()
    return MeasureGate(
        measure=matrix.measure,
        outcome=outcome,
        mean=mean,
        baseline_mean=baseline_mean,
        difference=mean - baseline_mean,
        low=low,
        high=high,
        max_drop=amount,
        margin=str(margin),
        p_pass=float(above.p[i]),
        p_fail=float(below.p[i]),
        sd=float(plan.sd[i]),
        power=chance_to_show(len(row), plan.if_equal[i], plan.levels[i]),
        topics_at_zero=at_zero,
        topics_at_seen=at_seen,
    )


def _recipe(side: OneSide, alpha: float, correction: str) -> str:
    """How it was tested; that resamples are too few to show anything is said there too."""
    recipe = side.recipe.replace(", one-sided, greater", ", one-sided in each direction")
    least = side.least_p * (1 if correction == "none" else side.p.size)
    if least < alpha:
        return recipe
    return f"{recipe} (too few resamples: the least p is {least:.4g}, which shows nothing at α = {alpha:g})"


def _within_range(matrix: ScoreMatrix, low: float, high: float) -> tuple[float, float]:
    """Bounds of a difference, cut to what the measure can have."""
    least, most = possible_differences(matrix) or (-math.inf, math.inf)
    return float(max(low, least)), float(min(high, most))


def _check_levels(alpha: float, power: float) -> None:
    if not 0 < alpha < 0.5:
        raise UsageError(f"alpha: must lie between 0 and .5 (got {alpha:g})")
    above_alpha(power, alpha)


def _refuse_judged_rules(**judged: float | None) -> None:
    for name, value in judged.items():
        if value is not None:
            option = name.replace("_", "-")
            raise UsageError(f"{option} goes with runs and judgments, and there are scores; leave it out")
