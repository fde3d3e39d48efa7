"""Which pairs of runs differ? Any test on all pairs of a collection, or on every run against a baseline, at once.

Pairs are taken in chunks, so that memory stays bounded (about 50 MB) however many runs there are; each chunk draws the
same resamples, so that neither the chunks nor jobs change a p-value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, chunks, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, did_you_mean, parse_call
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import for_tests_of_means, scores_of_one_measure
from assay.stats import joint_tests
from assay.stats.effect import (
    INTERVALS,
    Intervals,
    differences,
    mean_interval,
    ratio,
    standard_deviation,
    standardised_effect,
)
from assay.stats.family_intervals import together_ends
from assay.stats.few_values import Limits, bounded_or_none, interval_of, outcome_within
from assay.stats.limits import cut, possible_differences
from assay.stats.pair_tests import PairsResult, Places, every_pair, pairs_with
from assay.stats.paired import TESTS
from assay.stats.resampling import RESAMPLES, refuse_alternative
from assay.stats.signed_ranks import is_exact
from assay.stats.tukey import SIMULTANEOUS

# Differences of this many pairs stay in the cache; a test that resamples draws anew for every chunk and takes more.
PAIRS_AT_ONCE, RESAMPLED_AT_ONCE = 512, 2048
# Of millions of topics fewer pairs are taken at once: at most this many differences, or those of one pair.
DIFFERENCES_AT_ONCE, RESAMPLED_DIFFERENCES = 1 << 22, 1 << 25
# The exact Wilcoxon test keeps a distribution of n(n+1) points per pair.
EXACT_POINTS = 4_000_000


def all_pairs(
    matrix: ScoreMatrix,
    test: str = "t",
    *,
    correction: str = joint_tests.AUTO,
    alternative: str = "two-sided",
    interval: str | None = joint_tests.AUTO,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> PairsResult:
    """Statistic, p and effect size of every pair of runs, by one of TESTS or of SIMULTANEOUS.

    p is condensed, in the order of `every_pair`, and not corrected; `.square()` makes it runs × runs, `.corrected()`
    corrects it, by default with `correction`: max-t for the t test, Holm for others, unless another is named. interval:
    `auto` is the one that goes with test and correction (with max-t, Holm or Bonferroni it holds for all pairs at
    once), one of INTERVALS holds for each pair alone, None is none.

    >>> m = ScoreMatrix.of([[0.5, 0.6, 0.9], [0.4, 0.4, 0.6], [0.4, 0.4, 0.6]])
    >>> all_pairs(m).p.round(4)
    array([0.0742, 0.0742, 1.    ])
    """
    matrix = scores_of_one_measure(matrix)
    if is_simultaneous(test):
        refuse_alternative(test)
        options: dict[str, Any] = {"alternative": alternative, "resamples": resamples, "seed": seed, "level": level}
        tested: PairsResult = SIMULTANEOUS.call(test, for_tests_of_means(matrix), **options, progress=progress)
        tested = replace(tested, measure=matrix.measure, aggregate=matrix.aggregate)
        return replace(tested, alpha=alpha_of(level))
    by = joint_tests.chosen_correction(correction, test)
    asked = Asked(test, by, alternative, interval, level, resamples, seed)
    return _family(matrix, every_pair(len(matrix.runs)), asked, jobs, progress)


def versus_baseline(
    matrix: ScoreMatrix,
    baseline: str,
    test: str = "t",
    *,
    correction: str = joint_tests.AUTO,
    alternative: str = "two-sided",
    interval: str | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    jobs: int = 1,
    within: PairsResult | None = None,
    progress: Progress = silent,
) -> PairsResult:
    """As all_pairs, for every other run (first) against the baseline (second); TESTS only.

    within: all pairs of the runs, if the family is that of all pairs because the baseline was chosen after seeing them.

    >>> m = ScoreMatrix.of([[0.5, 0.6, 0.9], [0.4, 0.4, 0.6]], runs=["new", "old"])
    >>> versus_baseline(m, "old", "sign", alternative="greater").p
    array([0.125])
    """
    by = joint_tests.chosen_correction(correction, test)
    asked = Asked(test, by, alternative, interval, level, resamples, seed)
    return _family(matrix, pairs_with(matrix.runs, baseline), asked, jobs, progress, within)


def versus_of_all(pairs: PairsResult, matrix: ScoreMatrix, baseline: str) -> PairsResult:
    """The family against the baseline, with the p-values that hold for all pairs."""
    first, second = pairs_with(matrix.runs, baseline)
    scores = for_tests_of_means(matrix).values
    rows = differences(scores[first], scores[second])
    critical = pairs.critical or 0.0
    difference = rows.mean(axis=1)
    return PairsResult(
        runs=matrix.runs,
        first=first,
        second=second,
        n=pairs.n,
        difference=difference,
        statistic=pairs.square(pairs.statistic)[first, second],
        p=pairs.square()[first, second],
        effect=standardised_effect(rows),
        test=pairs.test,
        recipe=pairs.recipe,
        simultaneous=True,
        critical=critical,
        low=difference - critical,
        high=difference + critical,
        wins=(rows > 0).sum(axis=1),
        losses=(rows < 0).sum(axis=1),
        measure=matrix.measure,
        aggregate=matrix.aggregate,
    )


def alpha_of(level: float) -> float:
    """The α that belongs to the level of intervals, without the rounding of 1 − level.

    >>> alpha_of(0.95)
    0.05
    """
    return round(1 - level, 12)


def is_simultaneous(test: str) -> bool:
    """Whether the test is one of SIMULTANEOUS; an error if it is in neither registry.

    >>> is_simultaneous("tukey"), is_simultaneous("sign(min_difference=0.01)")
    (True, False)
    """
    name, _ = parse_call(test)
    if name not in SIMULTANEOUS and name not in TESTS:
        known = [*TESTS.names(), *SIMULTANEOUS.names()]
        raise UsageError(f"no test {name!r} for runs on the same topics{did_you_mean(name, known)}")
    return name in SIMULTANEOUS


def draws(test: str, interval: str | None = None) -> bool:
    """Whether a test of either registry, or an interval, draws resamples; `draws_flips` says it of max-t.

    >>> draws("t"), draws("randomisation"), draws("t", "percentile")
    (False, True, True)
    """
    registry: Registry[Any] = SIMULTANEOUS if is_simultaneous(test) else TESTS
    drawn = registry.entry(test).facts.get("resampled", False)
    if interval not in (None, joint_tests.AUTO):
        drawn = drawn or INTERVALS.entry(interval).facts.get("resampled", False)
    return bool(drawn)


class Asked(NamedTuple):
    """What to do with each pair."""

    test: str
    correction: str
    alternative: str
    interval: str | None
    level: float
    resamples: int
    seed: int

    @property
    def kind(self) -> str | None:
        """The kind of interval that each pair gets by itself; None where the family makes them, or nobody asked."""
        if self.interval != joint_tests.AUTO:
            return self.interval
        kind = interval_of(self.test)
        return None if kind == "t" else kind


class Part(NamedTuple):
    """A chunk of pairs: arrays by the names of PairsResult, the recipes of test and interval, the least p."""

    columns: dict[str, Any]
    recipe: str
    interval: str
    least_p: float


def _family(
    matrix: ScoreMatrix,
    pairs: tuple[Places, Places],
    asked: Asked,
    jobs: int,
    progress: Progress,
    within: PairsResult | None = None,
) -> PairsResult:
    first, second = pairs
    if not len(first):
        raise DataError(f"{matrix.measure}: {len(matrix.runs)} run; a comparison needs at least two")

    scores = for_tests_of_means(matrix).values
    # A ratio of geometric means has no such limits.
    limits = None if matrix.aggregate == "geometric" else possible_differences(matrix)
    tests = len(first) if within is None else len(within)

    def part_of(part: slice) -> Part:
        rows = differences(scores.take(first[part], axis=0), scores.take(second[part], axis=0))
        return _tested(rows, asked, limits, tests)

    slices = chunks(len(first), _pairs_at_once(asked.test, matrix.shape[1]))
    parts = ordered_map(part_of, slices, jobs=jobs, threads=True, progress=progress)
    columns: dict[str, Any] = {k: np.concatenate([p.columns[k] for p in parts]) for k in parts[0].columns}
    alpha = alpha_of(asked.level)
    flips = None
    if asked.correction == joint_tests.MAX_T or TESTS.entry(asked.test).name == "t":
        flips = joint_tests.SignFlips(scores, first, second, asked.alternative, alpha, asked.resamples, asked.seed)
    tested = PairsResult(
        runs=matrix.runs,
        first=first,
        second=second,
        n=matrix.shape[1],
        test=asked.test,
        recipe=parts[0].recipe,
        alternative=asked.alternative,
        least_p=parts[0].least_p,
        flips=flips,
        within=within,
        measure=matrix.measure,
        correction=asked.correction,
        alpha=alpha,
        aggregate=matrix.aggregate,
        **columns,
    )
    return tested if asked.interval is None else _with_intervals(tested, asked, parts[0].interval, limits)


def _with_intervals(tested: PairsResult, asked: Asked, recipe: str, limits: Limits) -> PairsResult:
    """The intervals that were asked for, within the limits; the recipe says "cut" if any pair of any chunk was."""
    ends = together_ends(tested) if asked.kind is None else None
    if ends is None and tested.low is not None and tested.high is not None:
        ends = Intervals(tested.low, tested.high, asked.level, recipe)
    if ends is None:
        return tested
    ends = cut(ends, limits)
    return replace(tested, low=ends.low, high=ends.high, recipe=f"{tested.recipe}; {ends.recipe}")


def _tested(rows: Floats, asked: Asked, limits: Limits, tests: int) -> Part:
    drawing = {"resamples": asked.resamples, "seed": asked.seed}
    alpha = alpha_of(asked.level)
    outcome, little = outcome_within(
        rows, asked.test, limits, alternative=asked.alternative, alpha=alpha, **drawing
    )  # fmt: skip
    mean, deviation = rows.mean(axis=1), standard_deviation(rows)
    columns: dict[str, Any] = {
        "difference": mean,
        "statistic": outcome.statistic,
        "p": outcome.p,
        "effect": ratio(mean, deviation),
        "deviation": deviation,
        "little": little,
        "wins": np.count_nonzero(rows > 0, axis=1).astype(np.intp),
        "losses": np.count_nonzero(rows < 0, axis=1).astype(np.intp),
    }
    if outcome.lead is not None:
        columns["lead"] = outcome.lead
    if asked.interval is None:
        return Part(columns, outcome.recipe, "", outcome.least_p)
    low, high = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    level, recipe = asked.level, ""
    if asked.kind is None:
        level = 1 - joint_tests.share_of_alpha(asked.correction, tests, alpha)
    else:
        ends = mean_interval(rows, asked.kind, level=level, **drawing)
        low, high, recipe = ends.low.copy(), ends.high.copy(), ends.recipe
        little = little | ~(np.isfinite(low) & np.isfinite(high))
    low[little], high[little] = bounded_or_none(rows[little], level, limits)
    return Part(columns | {"low": low, "high": high, "little": little}, outcome.recipe, recipe, outcome.least_p)


def _pairs_at_once(test: str, topics: int) -> int:
    entry = TESTS.entry(test)
    if entry.name == "wilcoxon" and is_exact(topics, TESTS.given(test).get("exact")):
        return max(1, EXACT_POINTS // (topics * (topics + 1)))
    if entry.facts.get("resampled"):
        return max(1, min(RESAMPLED_AT_ONCE, RESAMPLED_DIFFERENCES // max(1, topics)))
    return max(1, min(PAIRS_AT_ONCE, DIFFERENCES_AT_ONCE // max(1, topics)))
