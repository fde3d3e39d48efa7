"""Is one run better than another when they were scored on different topics? Student, Welch and the bootstrap.

Topics differ more than runs do, so these tests see far less than paired ones; pair whenever the topics are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.registry import Registry, Within
from assay.stats.bounded import difference_ends, p_difference
from assay.stats.effect import (
    INTERVALS,
    checked_rows,
    pooled_deviation,
    ratio,
    rounded,
    standard_deviation,
    swapped,
    two_sample_effect,
)
from assay.stats.few_values import Limits, little_rows
from assay.stats.resampling import (
    RESAMPLES,
    SLACK,
    checked_alternative,
    checked_generator,
    checked_share,
    drawn_in_words,
    one_or_both,
    percent,
    refuse_alternative,
    refuse_few,
    resampled_p,
    sides_in_words,
    tail_counts,
    topic_counts,
)
from assay.stats.two_runs import Comparison


@dataclass(frozen=True)
class SampleOutcome:
    """Statistic, p, the standard error of the difference with its degrees of freedom, recipe."""

    statistic: float
    p: float
    error: float
    df: float
    recipe: str


SampleTest = Callable[..., SampleOutcome]
TWO_SAMPLE_TESTS: Registry[SampleTest] = Registry("two-sample test")
SET_INTERVALS = ("t", "bootstrap-t", "basic", "percentile")
"""Kinds of interval of the difference of two topic sets."""


def compare_topic_sets(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    test: str = "welch",
    *,
    names: tuple[str, str] = ("first", "second"),
    alternative: str = "two-sided",
    interval: str = "auto",
    level: float = 0.95,
    limits: Limits = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Two samples of scores on different topics, by one of TWO_SAMPLE_TESTS.

    interval: t, bootstrap-t (10 topics of each), basic or percentile (50 of each); `auto` is that of the test. The
    median difference is that of the two medians; the effect size is Cohen's d on the pooled deviation. limits: the
    least and largest score that there can be. If the scores of either are too alike for a t interval, interval and p
    are those of the Dirichlet bounds of both means within these limits; without them p is 1 and there is no interval.

    >>> c = compare_topic_sets([1, 2, 3], [2, 3, 4], "student")
    >>> round(c.statistic, 4), round(c.p, 4)
    (-1.2247, 0.2879)
    >>> c = compare_topic_sets([1, 1, 1, 1], [0, 0, 0, 0], limits=(0, 1))
    >>> round(c.low, 3), round(c.high, 3), round(c.p, 3)
    (-0.331, 1.0, 0.25)
    """
    x = checked_rows(first)[0]
    y = checked_rows(second)[0]
    checked_alternative(alternative)
    refuse_alternative(test)
    fewest = min(len(x), len(y))
    entry = TWO_SAMPLE_TESTS.entry(test)
    refuse_few("test", entry, fewest, instead="welch")
    kind = interval if interval != "auto" else entry.facts.get("interval", "t")
    if kind not in SET_INTERVALS:
        raise UsageError(f"no interval {kind!r} for two topic sets; known: {', '.join(SET_INTERVALS)}")
    refuse_few("interval", INTERVALS.entry(kind), fewest)
    outcome: SampleOutcome = TWO_SAMPLE_TESTS.call(
        test,
        x,
        y,
        alternative=alternative,
        resamples=resamples,
        seed=seed,
    )
    checked_share(level, "the level of an interval")
    little = bool(little_rows(x[None, :])[0] or little_rows(y[None, :])[0])
    if little:
        outcome, low, high, how = _of_few_values(x, y, outcome, alternative, level, limits)
    else:
        low, high, how = _interval(x, y, outcome, kind, level, resamples, seed)
    return Comparison(
        names=names,
        n=(len(x), len(y)),
        means=(float(x.mean()), float(y.mean())),
        mean_difference=float(x.mean() - y.mean()),
        median_difference=float(np.median(x) - np.median(y)),
        statistic=outcome.statistic,
        p=outcome.p,
        effect=two_sample_effect(x, y),
        low=low,
        high=high,
        wins=None,
        ties=None,
        losses=None,
        alternative=alternative,
        df=outcome.df,
        recipe=f"{outcome.recipe}, {sides_in_words(alternative)}; {how}; n = {len(x)} and {len(y)} topics",
        level=level,
        little=little,
    )


def _of_few_values(
    x: Floats, y: Floats, outcome: SampleOutcome, alternative: str, level: float, limits: Limits
) -> tuple[SampleOutcome, float, float, str]:
    """The outcome with another p, both ends and the recipe where the scores of either sample are too alike."""
    few = f"the scores are too alike for the {outcome.recipe.partition(',')[0]}"
    if limits is None or not np.isfinite(limits).all():
        name = f"no test, {few}, and their range is not known: p is 1"
        return replace(outcome, p=1.0, recipe=name), np.nan, np.nan, "no interval"
    name = f"Dirichlet bounds of both means, {few}"
    low, high = difference_ends(x, y, level, limits)
    how = f"{percent(level)} interval from the same bounds"
    return replace(outcome, p=p_difference(x, y, limits, alternative), recipe=name), low, high, how


@TWO_SAMPLE_TESTS.register("student")
def student_test(x: Floats, y: Floats, *, alternative: str = "two-sided") -> SampleOutcome:
    """Student's t with the pooled variance and n₁ + n₂ − 2 degrees of freedom."""
    n_x = len(x)
    n_y = len(y)
    error = pooled_deviation(x, y) * np.sqrt(1 / n_x + 1 / n_y)
    df = n_x + n_y - 2
    name = "two-sample Student t test, n₁ + n₂ − 2 degrees of freedom"
    return _by_t(x, y, float(error), df, alternative, name)


@TWO_SAMPLE_TESTS.register("welch")
def welch_test(x: Floats, y: Floats, *, alternative: str = "two-sided") -> SampleOutcome:
    """Welch's t: each sample keeps its own variance; Satterthwaite's degrees of freedom."""
    n_x = len(x)
    n_y = len(y)
    x_error = float(standard_deviation(x)[0]) ** 2 / n_x
    y_error = float(standard_deviation(y)[0]) ** 2 / n_y
    variance = x_error + y_error
    squares = x_error**2 / (n_x - 1) + y_error**2 / (n_y - 1)
    if squares:
        df = variance**2 / squares
    else:
        # No variance, or one whose square is too small for a number: Student's degrees of freedom.
        df = n_x + n_y - 2.0
    error = float(np.sqrt(variance))
    name = "two-sample Welch t test, Satterthwaite's degrees of freedom"
    return _by_t(x, y, error, df, alternative, name)


@TWO_SAMPLE_TESTS.register("bootstrap", resampled=True, topics=10, interval="bootstrap-t")
def two_sample_bootstrap_test(
    x: Floats,
    y: Floats,
    *,
    alternative: str = "two-sided",
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
    plain: bool = False,
) -> SampleOutcome:
    """Studentised two-sample bootstrap: both samples shifted to the common mean, Welch's t of each resample.

    Efron & Tibshirani 1993, algorithm 16.2. Two-sided p is twice the smaller tail, so it agrees with the bootstrap-t
    interval.
    """
    welch = welch_test(x, y)
    gap, error = _resampled_differences(x, y, resamples, seed)
    resampled_t = ratio(gap, error)
    slack = 0.0
    if np.isfinite(welch.statistic):
        slack = 1e-9 * abs(welch.statistic)
    observed = np.array([welch.statistic])
    tails = []
    for side in ("greater", "less"):
        count = tail_counts(resampled_t[:, None], observed, alternative=side, slack=slack)
        tails.append(resampled_p(count, resamples, plain=plain))
    p = one_or_both(tails[0], tails[1], alternative)
    recipe = f"two-sample studentised bootstrap test, {drawn_in_words(resamples, seed, plain)}"
    return replace(welch, p=float(p[0]), recipe=recipe)


def unpaired_p(values: Floats) -> Floats:
    """p of Student's two-sample t test for every pair of rows, as if each row had topics of its own.

    Two-sided, in the order of `every_pair`. What pairing by topic is worth shows beside the paired test (Webber 2010,
    Tables 4.3 and 4.6).

    >>> unpaired_p(np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]])).round(4)
    array([0.2879])
    """
    from scipy.special import stdtr

    rows = checked_rows(values)
    runs, topics = rows.shape
    first, second = np.triu_indices(runs, 1)
    means = rows.mean(axis=1)
    variances = standard_deviation(rows) ** 2
    pooled_variance = (variances[first] + variances[second]) / 2
    error = np.sqrt(pooled_variance * 2 / topics)
    t = ratio(means[first] - means[second], error)
    df = 2 * topics - 2
    return np.asarray(2 * stdtr(df, -np.abs(t)))


def sets_draw(test: str, interval: str) -> bool:
    """Whether a test of two topic sets, or an interval, draws resamples: whether their number has any effect.

    >>> sets_draw("welch", "auto"), sets_draw("bootstrap", "t"), sets_draw("welch", "basic")
    (False, True, True)
    """
    test_draws = TWO_SAMPLE_TESTS.entry(test).facts.get("resampled", False)
    interval_draws = interval != "auto" and INTERVALS.entry(interval).facts.get("resampled", False)
    return bool(test_draws or interval_draws)


def _by_t(x: Floats, y: Floats, error: float, df: float, alternative: str, name: str) -> SampleOutcome:
    """The outcome of a t test whose difference has this standard error and these degrees of freedom."""
    from scipy.special import stdtr

    difference = rounded(np.atleast_1d(x.mean() - y.mean()))[0]
    t = float(ratio(difference, error))
    if alternative == "greater":
        p = stdtr(df, -t)
    elif alternative == "less":
        p = stdtr(df, t)
    else:
        p = 2 * stdtr(df, -abs(t))
    return SampleOutcome(t, float(p), error, df, name)


def _interval(
    x: Floats, y: Floats, outcome: SampleOutcome, kind: str, level: float, resamples: int, seed: int
) -> tuple[float, float, str]:
    """Lower and upper end of the difference of the means, and the recipe."""
    from scipy.special import stdtrit

    gap = float(x.mean() - y.mean())
    lower_tail = (1 - level) / 2
    upper_tail = (1 + level) / 2
    if kind == "t":
        critical = float(stdtrit(outcome.df, upper_tail))
        half = critical * outcome.error
        how = f"{percent(level)} t interval with df degrees of freedom"
        return gap - half, gap + half, how
    how = f"{percent(level)} {kind} bootstrap interval, {drawn_in_words(resamples, seed)}"
    centred, error = _resampled_differences(x, y, resamples, seed)
    if kind == "bootstrap-t":
        own_error = float(welch_test(x, y).error)
        t = np.sort(ratio(centred, error))
        place = int(np.floor(upper_tail * (resamples + 1) + 1e-9))
        if place >= resamples:
            return -np.inf, np.inf, how
        return gap - float(t[place]) * own_error, gap - float(t[resamples - 1 - place]) * own_error, how
    low_quantile, high_quantile = np.quantile(centred, [lower_tail, upper_tail])
    if kind == "basic":
        low, high = swapped(gap, low_quantile, high_quantile)
        return float(low), float(high), how
    return float(gap + low_quantile), float(gap + high_quantile), how


def _resampled_differences(x: Floats, y: Floats, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """Difference of the resampled, centred means and its standard error, each sample drawn by itself."""
    rng = checked_generator(seed)
    x_means, x_variances = _resampled_moments(x - x.mean(), resamples, rng)
    y_means, y_variances = _resampled_moments(y - y.mean(), resamples, rng)
    gap = x_means - y_means
    largest = max(np.abs(x).max(), np.abs(y).max())
    only_rounding = np.abs(gap) <= SLACK * largest
    gap[only_rounding] = 0.0
    squared_error = x_variances / len(x) + y_variances / len(y)
    return gap, np.sqrt(squared_error)


def _resampled_moments(values: Floats, resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Mean and variance (n − 1) of each resample of one sample."""
    n = len(values)
    powers = np.stack([values, values**2], axis=1)
    blocks = []
    for counts in topic_counts(n, resamples, rng):
        blocks.append(counts @ powers / n)
    means, means_of_squares = np.concatenate(blocks).T
    variances = np.maximum(means_of_squares - means**2, 0)
    return means, variances * n / (n - 1)
