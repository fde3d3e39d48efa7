"""How large is it, and how sure? Standardised effect sizes and intervals of means.

Everything works on rows: one row of differences (or of scores) over the topics gives one number, many rows give many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.engine import chunks
from assay.core.errors import DataError
from assay.core.registry import Registry, Within
from assay.stats.resampling import (
    RESAMPLES,
    checked_resamples,
    checked_share,
    drawn_in_words,
    percent,
    refuse_few,
    resampled_t,
    topic_counts,
)

DECIMALS = 12
"""Differences are rounded here, so that .3 − .2 is as large as .2 − .1."""
ROUNDED_BELOW = 1e4
"""Larger numbers have no 12th decimal: there is nothing to round, and multiplying them by 10¹² could overflow."""
LARGEST = 1e70
"""Larger scores are refused: the sums of their fourth powers, which kurtosis and Welch's test need, are infinite."""
MEANS_AT_ONCE = 1 << 22


def differences(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """Rows of first − second over the topics, rounded at the 12th decimal so that .3 − .2 ties with .2 − .1.

    >>> d = differences([0.3, 0.2], [0.2, 0.1])
    >>> bool(d[0, 0] == d[0, 1])
    True
    """
    x = _as_rows(first)
    y = _as_rows(second)
    x_topics = x.shape[1]
    y_topics = y.shape[1]
    if x_topics != y_topics:
        raise DataError(f"{x_topics} scores against {y_topics}; paired scores need the same topics in one order")
    difference = checked_rows(x) - checked_rows(y)
    return rounded(difference)


def rounded(values: Floats) -> Floats:
    """The values at DECIMALS; those too large to have that many as they are.

    >>> rounded(np.array([0.1 + 0.2, 1e300])).tolist()
    [0.3, 1e+300]
    """
    small = np.abs(values) < ROUNDED_BELOW
    if small.all():
        return np.asarray(np.round(values, DECIMALS))
    without_large = np.where(small, values, 0.0)
    rounded_small = np.round(without_large, DECIMALS)
    return np.where(small, rounded_small, values)


def checked_rows(rows: npt.ArrayLike, *, least: int = 2) -> Floats:
    """Rows of finite numbers, none beyond LARGEST, over at least `least` topics; else an error."""
    array = _as_rows(rows)
    n = array.shape[1]
    if n < least:
        what = "1 topic" if n == 1 else f"{n} topics"
        raise DataError(f"{what}; at least {least} are needed to tell chance from a difference")
    if not np.isfinite(array).all():
        raise DataError("a score is not a finite number; leave the topic out or give it a score")
    largest = float(max(array.max(initial=0.0), -array.min(initial=0.0)))
    if largest > LARGEST:
        raise DataError(f"a score of {largest:g} is too large to compute with; divide all scores by a constant")
    return array


def _as_rows(values: npt.ArrayLike) -> Floats:
    """Numbers as rows of floats; a single row stays one."""
    array = np.asarray(values, dtype=np.float64)
    return np.atleast_2d(array)


def standard_deviation(rows: npt.ArrayLike) -> Floats:
    """Sample standard deviation (n − 1) of each row; exactly 0 where all its values are equal.

    >>> standard_deviation([[0.1, 0.1, 0.1], [1, 2, 3]])
    array([0., 1.])
    """
    array = checked_rows(rows)
    first_column = array[:, :1]
    constant = (array == first_column).all(axis=1)
    sd = array.std(axis=1, ddof=1)
    return np.where(constant, 0.0, sd)


def centred_rows(rows: Floats) -> Floats:
    """Rows less their mean; exactly 0 where all values are equal."""
    deviations = rows - rows.mean(axis=1, keepdims=True)
    has_spread = standard_deviation(rows)[:, None] > 0
    return np.where(has_spread, deviations, 0.0)


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """numerator/denominator; 0/0 is 0 (nothing to see) and x/0 is ±∞ (the limit).

    >>> ratio([0, 1, -1], [0, 0, 2])
    array([ 0. ,  inf, -0.5])
    """
    top = np.asarray(numerator, dtype=np.float64)
    bottom = np.asarray(denominator, dtype=np.float64)
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    quotient = np.zeros(shape)
    with np.errstate(over="ignore"):  # a quotient beyond the largest number is infinite, as the limit is
        np.divide(top, bottom, out=quotient, where=bottom != 0)
    endless = (bottom == 0) & (top != 0)
    infinite = np.copysign(np.inf, top)
    return np.where(endless, infinite, quotient)


def standardised_effect(rows: npt.ArrayLike) -> Floats:
    """Mean over standard deviation of the paired differences, one per row (d_z; Sakai 2018 calls it ES of the t test).

    Identical runs give 0; the same non-zero difference on every topic gives ±∞.

    >>> standardised_effect([[1, 2, 3], [0, 0, 0]])
    array([2., 0.])
    """
    array = checked_rows(rows)
    mean = array.mean(axis=1)
    return ratio(mean, standard_deviation(array))


def two_sample_effect(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Difference of the means over the pooled standard deviation of two topic sets (Cohen's d).

    >>> round(two_sample_effect([1, 2, 3], [0, 1, 2]), 6)
    1.0
    """
    x = checked_rows(first)[0]
    y = checked_rows(second)[0]
    difference = x.mean() - y.mean()
    return float(ratio(difference, pooled_deviation(x, y)))


def pooled_deviation(x: Floats, y: Floats) -> float:
    """Square root of the two sums of squares over n₁ + n₂ − 2."""
    x_sd = float(standard_deviation(x)[0])
    y_sd = float(standard_deviation(y)[0])
    x_freedom = len(x) - 1
    y_freedom = len(y) - 1
    x_squares = x_freedom * x_sd**2
    y_squares = y_freedom * y_sd**2
    squares = x_squares + y_squares
    freedom = x_freedom + y_freedom
    return float(np.sqrt(squares / freedom))


@dataclass(frozen=True, eq=False)
class Intervals:
    """Lower and upper ends, one per row, and how they were made."""

    low: Floats
    high: Floats
    level: float
    recipe: str


IntervalFunction = Callable[..., Intervals]
INTERVALS: Registry[IntervalFunction] = Registry("interval")


def mean_interval(
    rows: npt.ArrayLike, kind: str = "t", *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Intervals:
    """Interval of the mean of each row (scores of a run, or paired differences), of one of INTERVALS.

    An interval of one run's mean is wide because topics differ; two runs whose intervals overlap may still differ
    significantly when paired (Webber 2010, §3.3.5). A kind on fewer topics than it needs is an error: percentiles, the
    basic interval and BCa cover .90 of normal and .85 of skewed samples of 10 topics, and no more than .93 of 50.

    >>> i = mean_interval([1, 2, 3, 4, 5])
    >>> round(float(i.low[0]), 4), round(float(i.high[0]), 4)
    (1.0368, 4.9632)
    """
    checked_share(level, "the level of an interval")
    array = checked_rows(rows)
    refuse_few("interval", INTERVALS.entry(kind), array.shape[1])
    ends: Intervals = INTERVALS.call(
        kind,
        array,
        level=level,
        resamples=resamples,
        seed=seed,
    )
    return ends


@INTERVALS.register("t")
def t_interval(rows: Floats, *, level: Annotated[float, Within(0, 1, open=True)] = 0.95) -> Intervals:
    """Mean ± t·S/√n with n − 1 degrees of freedom."""
    from scipy.special import stdtrit

    n = rows.shape[1]
    mean = rows.mean(axis=1)
    upper_tail = (1 + level) / 2
    critical = stdtrit(n - 1, upper_tail)
    half = critical * standard_deviation(rows) / np.sqrt(n)
    return Intervals(
        low=mean - half,
        high=mean + half,
        level=level,
        recipe=f"{percent(level)} t interval, {n - 1:,} degrees of freedom",
    )


@INTERVALS.register("basic", resampled=True, topics=50)
def basic_interval(
    rows: Floats,
    *,
    level: Annotated[float, Within(0, 1, open=True)] = 0.95,
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
) -> Intervals:
    """Basic bootstrap: the quantiles of the centred resampled means are taken off the mean, so that the tails swap."""
    mean = rows.mean(axis=1)
    centred = rows - mean[:, None]
    low_quantile, high_quantile = _quantiles_of_means(centred, level, resamples, seed)
    low, high = swapped(mean, low_quantile, high_quantile)
    draws = drawn_in_words(resamples, seed)
    return Intervals(
        low=low,
        high=high,
        level=level,
        recipe=f"{percent(level)} basic bootstrap interval (tails swapped), {draws}",
    )


def swapped(mean: Floats | float, low: Floats | float, high: Floats | float) -> tuple[Floats, Floats]:
    """The basic interval (mean − q_high, mean − q_low) of the quantiles of the centred means.

    >>> [round(float(v), 3) for v in swapped(0.058, -0.051, 0.053)]  # Webber 2010, §3.3.5
    [0.005, 0.109]
    """
    lower_end = np.asarray(mean - high)
    upper_end = np.asarray(mean - low)
    return lower_end, upper_end


@INTERVALS.register("percentile", resampled=True, topics=50)
def percentile_interval(
    rows: Floats,
    *,
    level: Annotated[float, Within(0, 1, open=True)] = 0.95,
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
) -> Intervals:
    """Percentile bootstrap: the quantiles of the resampled means themselves."""
    low, high = _quantiles_of_means(rows, level, resamples, seed)
    draws = drawn_in_words(resamples, seed)
    return Intervals(
        low=low,
        high=high,
        level=level,
        recipe=f"{percent(level)} percentile bootstrap interval, {draws}",
    )


@INTERVALS.register("bca", resampled=True, topics=50)
def bca_interval(
    rows: Floats,
    *,
    level: Annotated[float, Within(0, 1, open=True)] = 0.95,
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
) -> Intervals:
    """BCa bootstrap: quantiles of the resampled means, moved for bias and skewness; of means no better than percentile.

    z₀ = Φ⁻¹(share below the mean), a = Σ(d − m)³/(6(Σ(d − m)²)^1.5). Efron & Tibshirani 1993, §14.3.
    """
    from scipy.special import ndtr, ndtri

    mean = rows.mean(axis=1)
    tails = ndtri([(1 - level) / 2, (1 + level) / 2])
    deviations = centred_rows(rows)
    lean = ratio((deviations**3).sum(axis=1), 6 * (deviations**2).sum(axis=1) ** 1.5)
    low, high = np.empty(len(rows)), np.empty(len(rows))
    for part, means in _resampled_means(rows, resamples, seed):
        for at, drawn in enumerate(means.T, part.start):
            below = ((drawn < mean[at]).sum() + (drawn == mean[at]).sum() / 2) / resamples
            shift = float(ndtri(np.clip(below, 0.5 / resamples, 1 - 0.5 / resamples)))
            shares = ndtr(shift + (shift + tails) / (1 - lean[at] * (shift + tails)))
            low[at], high[at] = np.quantile(drawn, shares)
    return Intervals(low, high, level, f"{percent(level)} BCa bootstrap interval, {drawn_in_words(resamples, seed)}")


@INTERVALS.register("bootstrap-t", resampled=True, topics=10)
def bootstrap_t_interval(
    rows: Floats,
    *,
    level: Annotated[float, Within(0, 1, open=True)] = 0.95,
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
) -> Intervals:
    """Bootstrap-t: the mean less quantiles of the resampled t times S/√n; it leaves out 0 when the test bootstrap does.

    The quantile of share q is the value after q·(B + 1); resamples without spread have t = ±∞, and an end may be
    infinite. Efron & Tibshirani 1993, §12.5.
    """
    mean, n = rows.mean(axis=1), rows.shape[1]
    error = standard_deviation(rows) / np.sqrt(n)
    place = int(np.floor((1 + level) / 2 * (resamples + 1) + 1e-9))  # of resamples sorted from 0: the next after q
    low, high = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    for part in chunks(len(rows), max(1, MEANS_AT_ONCE // checked_resamples(resamples))):
        centred = centred_rows(rows[part]).T
        t = np.sort(np.concatenate([resampled_t(c, centred)[1] for c in topic_counts(n, resamples, seed)]), axis=0)
        if place < resamples:
            low[part] = mean[part] - t[place] * error[part]
            high[part] = mean[part] - t[resamples - 1 - place] * error[part]
    recipe = f"{percent(level)} bootstrap-t interval, {drawn_in_words(resamples, seed)}"
    return Intervals(low, high, level, recipe)


def _quantiles_of_means(rows: Floats, level: float, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """Lower and upper quantile of each row's resampled means."""
    low, high = np.empty(len(rows)), np.empty(len(rows))
    for part, means in _resampled_means(rows, resamples, seed):
        low[part], high[part] = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def _resampled_means(rows: Floats, resamples: int, seed: int) -> Iterator[tuple[slice, Floats]]:
    """Which rows, and their resampled means (draws × rows); the same topics are drawn for all rows.

    Memory: about MEANS_AT_ONCE numbers (32 MB), or the resamples of one row where those are more.
    """
    n = rows.shape[1]
    for part in chunks(len(rows), max(1, MEANS_AT_ONCE // checked_resamples(resamples))):
        columns = rows[part].T
        yield part, np.concatenate([counts @ columns / n for counts in topic_counts(n, resamples, seed)])
