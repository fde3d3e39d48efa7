"""gate: a new run, a baseline and what may be lost → pass, fail or undecided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.gate.alarms import JudgedRule
from assay.gate.contenders import Contenders
from assay.gate.drops import OneSide, Sample, above_zero, below_zero, checked_correction, checked_test, recipe
from assay.gate.gated import Gate, MeasureGate
from assay.gate.margins import Margin, margins_of
from assay.gate.topics_to_decide import chance_to_pass, least_drop, topics_to_pass, topics_without_change
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.measures import Measure
from assay.stats.effect import checked_rows, differences, ratio, standard_deviation
from assay.stats.limits import possible_differences
from assay.stats.resampling import RESAMPLES, checked_resamples
from assay.stats.t_power import above_alpha


def gate(
    new: Any,
    baseline: Any,
    qrels: Any = None,
    measures: str | Measure | Sequence[str | Measure] | None = None,
    *,
    max_drop: Any,
    test: str = "auto",
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
    max_drop, fail if one is shown to drop by more (corrected over the measures), else undecided. test: one of
    GATE_TESTS; `auto` takes the studentised bootstrap if at least 20 topics and half of all change, else the Dirichlet
    bound, by which n topics without a change rule out no drop below 1 − alpha^(1/n). Alarms: ids that do not match the
    judgments any more fail; too few judged docs in the top `judged_depth`, fewer than the share `min_judged` or
    `max_judged_drop` below the baseline's, are undecided whatever the scores. max_drop 0 passes only what is shown to
    be better.

    >>> qrels = {q: {"a": 1, "b": 0, "c": 0} for q in range(12)}
    >>> old = {q: ["a", "b", "c"] for q in range(12)}
    >>> new = {q: ["b", "a", "c"] for q in range(12)}
    >>> gate({"new": new}, {"old": old}, qrels, "RR", max_drop=0.1).verdict
    'fail: RR of new is .500 lower than that of old, more than the .1 allowed (upper bound −.169, 95 %), p = .0242; Dirichlet bound, 12 topics'
    """  # noqa: E501
    checked_test(test)
    checked_correction(correction)
    _check_levels(alpha, power)
    checked_resamples(resamples)
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
    samples = []
    for margin, matrix in zip(margins, two.matrices, strict=True):
        values = checked_rows(margin.above(matrix))[0]
        change = differences(*matrix.values)[0]
        limits = margin.limits(matrix)
        samples.append(Sample.of(values, change, limits, test, resamples=resamples, seed=seed))
    above = above_zero(samples, alpha)
    below = below_zero(samples, alpha, correction)
    decided = []
    for i, (margin, matrix) in enumerate(zip(margins, two.matrices, strict=True)):
        decided.append(_decided(matrix, margin, samples[i], _Shown.of(i, above, below), alpha, power))
    progress(2, 2)
    return Gate(
        names=two.names,
        n=len(samples[0].values),
        measures=tuple(decided),
        alarms=two.alarms,
        alpha=alpha,
        correction=correction,
        wanted_power=power,
        test=test,
        recipe=recipe(samples),
        judged=two.judged,
        signatures=tuple(matrix.signature for matrix in two.matrices if matrix.signature != matrix.measure),
    )


class _Shown(NamedTuple):
    """What both directions say of one measure."""

    outcome: str
    low: float
    high: float
    p_pass: float
    p_fail: float

    @classmethod
    def of(cls, i: int, above: OneSide, below: OneSide) -> _Shown:
        outcome = "pass" if above.shown[i] else "fail" if below.shown[i] else "undecided"
        numbers = (above.bound[i], below.bound[i], above.p[i], below.p[i])
        return cls(outcome, *map(float, numbers))


def _decided(
    matrix: ScoreMatrix, margin: Margin, sample: Sample, shown: _Shown, alpha: float, power: float
) -> MeasureGate:
    """What is shown of one measure, and what these topics can show of runs that are equally good."""
    amount = margin.amount(matrix)
    low, high = _within_range(matrix, shown.low - amount, shown.high - amount)
    mean, baseline_mean = matrix.averages().tolist()
    sd = float(standard_deviation(sample.values)[0])
    chance, topics = None, None
    floor = sample.floor(alpha, amount)
    if sample.method == "dirichlet":
        if sample.limits is not None:
            topics = topics_without_change(amount, amount - sample.limits[0], alpha)
    else:
        floor = least_drop(len(sample.values), sd, alpha, power)
        effect = [float(ratio(amount, sd))]
        chance = chance_to_pass(len(sample.values), effect, alpha)
        topics = topics_to_pass(effect, alpha, power)
    return MeasureGate(
        measure=matrix.measure,
        outcome=shown.outcome,
        mean=mean,
        baseline_mean=baseline_mean,
        difference=mean - baseline_mean,
        low=low,
        high=high,
        max_drop=amount,
        margin=str(margin),
        p_pass=shown.p_pass,
        p_fail=shown.p_fail,
        sd=sd,
        method=sample.method,
        changed=sample.changed,
        known_range=sample.limits is not None,
        least_drop=floor,
        power=chance,
        topics_to_pass=topics,
    )


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
