"""Is one run better than another when they were scored on different topics? Student, Welch and the bootstrap.

Topics differ more than runs do, so these tests see far less than paired ones; pair whenever the topics are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.registry import Registry
from assay.stats.effect import (
    INTERVALS,
    checked_rows,
    pooled_deviation,
    ratio,
    standard_deviation,
    swapped,
    two_sample_effect,
)
from assay.stats.resampling import (
    RESAMPLES,
    SLACK,
    checked_alternative,
    checked_generator,
    checked_share,
    drawn_in_words,
    percent,
    refuse_alternative,
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


def compare_topic_sets(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    test: str = "welch",
    *,
    names: tuple[str, str] = ("first", "second"),
    alternative: str = "two-sided",
    interval: str = "t",
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Two samples of scores on different topics, by one of TWO_SAMPLE_TESTS; the interval is t, basic or percentile.

    The median difference is that of the two medians; the effect size is Cohen's d on the pooled deviation.

    >>> c = compare_topic_sets([1, 2, 3], [2, 3, 4], "student")
    >>> round(c.statistic, 4), round(c.p, 4)
    (-1.2247, 0.2879)
    """
    x, y = checked_rows(first)[0], checked_rows(second)[0]
    options = {"alternative": checked_alternative(alternative), "resamples": resamples, "seed": seed}
    refuse_alternative(test)
    outcome: SampleOutcome = TWO_SAMPLE_TESTS.call(test, x, y, **options)
    checked_share(level, "the level of an interval")
    low, high, how = _interval(x, y, outcome, interval, level, resamples, seed)
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
    )


@TWO_SAMPLE_TESTS.register("student")
def student_test(x: Floats, y: Floats, *, alternative: str = "two-sided") -> SampleOutcome:
    """Student's t with the pooled variance and n₁ + n₂ − 2 degrees of freedom."""
    error = pooled_deviation(x, y) * np.sqrt(1 / len(x) + 1 / len(y))
    name = "two-sample Student t test, n₁ + n₂ − 2 degrees of freedom"
    return _by_t(x, y, float(error), len(x) + len(y) - 2, alternative, name)


@TWO_SAMPLE_TESTS.register("welch")
def welch_test(x: Floats, y: Floats, *, alternative: str = "two-sided") -> SampleOutcome:
    """Welch's t: each sample keeps its own variance; Satterthwaite's degrees of freedom."""
    a = float(standard_deviation(x)[0]) ** 2 / len(x)
    b = float(standard_deviation(y)[0]) ** 2 / len(y)
    squares = a**2 / (len(x) - 1) + b**2 / (len(y) - 1)
    # No variance, or one whose square is too small for a number: Student's degrees of freedom.
    df = (a + b) ** 2 / squares if squares else len(x) + len(y) - 2.0
    name = "two-sample Welch t test, Satterthwaite's degrees of freedom"
    return _by_t(x, y, float(np.sqrt(a + b)), df, alternative, name)


@TWO_SAMPLE_TESTS.register("bootstrap", resampled=True)
def two_sample_bootstrap_test(
    x: Floats,
    y: Floats,
    *,
    alternative: str = "two-sided",
    resamples: int = RESAMPLES,
    seed: int = 0,
    plain: bool = False,
) -> SampleOutcome:
    """Studentised two-sample bootstrap: both samples shifted to the common mean, Welch's t of each resample.

    Efron & Tibshirani 1993, algorithm 16.2; Sakai 2006. Two-sided compares |t|.
    """
    welch = welch_test(x, y)
    gap, error = _resampled_differences(x, y, resamples, seed)
    t = ratio(gap, error)
    slack = 1e-9 * abs(welch.statistic) if np.isfinite(welch.statistic) else 0.0
    count = tail_counts(t[:, None], np.array([welch.statistic]), alternative=alternative, slack=slack)
    p = float(resampled_p(count, resamples, plain=plain)[0])
    recipe = f"two-sample studentised bootstrap test, {drawn_in_words(resamples, seed, plain)}"
    return SampleOutcome(welch.statistic, p, welch.error, welch.df, recipe)


def sets_draw(test: str, interval: str) -> bool:
    """Whether a test of two topic sets, or an interval, draws resamples: whether their number has any effect.

    >>> sets_draw("welch", "t"), sets_draw("bootstrap", "t"), sets_draw("welch", "basic")
    (False, True, True)
    """
    by_test = TWO_SAMPLE_TESTS.parse(test)[0].facts.get("resampled", False)
    by_interval = INTERVALS.parse(interval)[0].facts.get("resampled", False)
    return bool(by_test or by_interval)


def _by_t(x: Floats, y: Floats, error: float, df: float, alternative: str, name: str) -> SampleOutcome:
    from scipy.special import stdtr

    t = float(ratio(x.mean() - y.mean(), error))
    tails = {"greater": stdtr(df, -t), "less": stdtr(df, t), "two-sided": 2 * stdtr(df, -abs(t))}
    return SampleOutcome(t, float(tails[alternative]), error, df, name)


def _interval(
    x: Floats, y: Floats, outcome: SampleOutcome, kind: str, level: float, resamples: int, seed: int
) -> tuple[float, float, str]:
    """Lower and upper end of the difference of the means, and the recipe."""
    from scipy.special import stdtrit

    gap = float(x.mean() - y.mean())
    if kind == "t":
        half = float(stdtrit(outcome.df, (1 + level) / 2)) * outcome.error
        return gap - half, gap + half, f"{percent(level)} t interval with df degrees of freedom"
    if kind not in INTERVALS:
        raise UsageError(f"no interval {kind!r} for two topic sets; known: {INTERVALS.listed()}")
    centred, _ = _resampled_differences(x, y, resamples, seed)
    low, high = np.quantile(centred, [(1 - level) / 2, (1 + level) / 2])
    ends = swapped(gap, low, high) if kind == "basic" else (gap + low, gap + high)
    return (
        float(ends[0]),
        float(ends[1]),
        f"{percent(level)} {kind} bootstrap interval, {drawn_in_words(resamples, seed)}",
    )


def _resampled_differences(x: Floats, y: Floats, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """Difference of the resampled, centred means and its standard error, each sample drawn by itself."""
    rng = checked_generator(seed)
    (mx, vx), (my, vy) = (_resampled_moments(v - v.mean(), resamples, rng) for v in (x, y))
    gap = np.where(np.abs(mx - my) <= SLACK * max(np.abs(x).max(), np.abs(y).max()), 0.0, mx - my)
    return gap, np.sqrt(vx / len(x) + vy / len(y))


def _resampled_moments(values: Floats, resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Mean and variance (n − 1) of each resample of one sample."""
    n = len(values)
    powers = np.stack([values, values**2], axis=1)
    sums = np.concatenate([counts @ powers / n for counts in topic_counts(n, resamples, rng)])
    return sums[:, 0], np.maximum(sums[:, 1] - sums[:, 0] ** 2, 0) * n / (n - 1)
