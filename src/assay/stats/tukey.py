"""Which pairs differ when all are tested at once? Tukey's HSD on the two-way residual, and its randomised form.

Both give p-values that hold for all pairs together, so that no correction follows. The registry SIMULTANEOUS names
them beside the tests of single pairs; pairwise.py takes either.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Annotated

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, chunks, silent
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, Within
from assay.data.scores import ScoreMatrix
from assay.stats.anova import one_way, two_way
from assay.stats.effect import checked_rows, ratio, rounded
from assay.stats.pair_tests import PairsResult, every_pair
from assay.stats.resampling import (
    RESAMPLES,
    SLACK,
    checked_generator,
    checked_resamples,
    checked_share,
    drawn_in_words,
    percent,
    resampled_p,
)

SimultaneousTest = Callable[..., PairsResult]
SIMULTANEOUS: Registry[SimultaneousTest] = Registry("simultaneous test")

ALIKE = "assumes that all runs vary alike"
"""What both tests rest on; uneven runs make them too eager."""
NODES = 64
# Below this the numerical integral of the studentized range is rounding noise (about 1e-11).
LEAST_P = 1e-9
PERMUTED_AT_ONCE = 64


@SIMULTANEOUS.register("tukey")
def tukey(
    matrix: ScoreMatrix,
    *,
    design: str = "two-way",
    level: Annotated[float, Within(0, 1, open=True)] = 0.95,
    alternative: str = "two-sided",
) -> PairsResult:
    """Tukey's honestly significant difference: q = |difference|/√(MSE/n) against the studentized range.

    MSE is the residual of the two-way analysis, so topics are taken out as in a paired test; `design="one-way"`
    forgets the topics, as some tools do, and is there for comparison. Effect size: difference/√MSE. p below 1e-9 is
    given as 1e-9. Intervals are simultaneous: difference ± the critical difference at `level`.

    All runs are assumed to vary alike: with three of twelve equal runs three times as noisy as the others some pair is
    called different in .16 of cases at α = .05. max-t does not assume it.

    >>> m = ScoreMatrix.of([[0.7, 0.3, 0.2, 0.6], [0.5, 0.1, 0.0, 0.2], [0.0, 0.1, 0.2, 0.1]])
    >>> tukey(m).p.round(3)
    array([0.2  , 0.074, 0.724])
    """
    _only_two_sided(alternative)
    checked_share(level, "the level of an interval")
    if design not in ("two-way", "one-way"):
        raise UsageError(f"no design {design!r} of Tukey's test; known: two-way, one-way")
    residual = (two_way(matrix) if design == "two-way" else one_way(matrix.values)).residual
    k, n = matrix.shape
    error = np.sqrt(residual.mean_square / n)
    difference = _mean_differences(matrix)
    q = ratio(np.abs(difference), error)
    critical = float(studentized_range_point(level, k, residual.df) * error)
    forgets = "" if design == "two-way" else " (topics not taken out)"
    recipe = (
        f"Tukey HSD on the {design} residual{forgets}, MSE = {residual.mean_square:.6g}, "
        f"{residual.df} degrees of freedom, two-sided; simultaneous {percent(level)} intervals; {ALIKE}"
    )
    effect = ratio(difference, np.sqrt(residual.mean_square))
    return _result(matrix, difference, q, studentized_range_p(q, k, residual.df), effect, "tukey", recipe, critical)


@SIMULTANEOUS.register("randomised-tukey", resampled=True)
def randomised_tukey(
    matrix: ScoreMatrix,
    *,
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
    plain: bool = False,
    level: Annotated[float, Within(0, 1, open=True)] = 0.95,
    alternative: str = "two-sided",
    progress: Progress = silent,
) -> PairsResult:
    """Randomised Tukey HSD: p = share of permutations whose max − min of the run means is ≥ |difference|.

    Each permutation reorders every topic's scores over the runs; Carterette 2012. The critical difference is the
    `level` quantile of max − min; intervals are difference ± it. All runs are assumed to vary alike, see `tukey`.

    >>> m = ScoreMatrix.of([[0.7, 0.3, 0.2, 0.6], [0.5, 0.1, 0.0, 0.2], [0.0, 0.1, 0.2, 0.1]])
    >>> bool(randomised_tukey(m, resamples=99).p[1] < randomised_tukey(m, resamples=99).p[0])
    True
    """
    _only_two_sided(alternative)
    checked_share(level, "the level of an interval")
    difference = _mean_differences(matrix)
    ranges = np.sort(permuted_ranges(matrix.values, resamples=resamples, seed=seed, progress=progress))
    slack = SLACK * float(np.abs(matrix.values).sum())
    reached = resamples - np.searchsorted(ranges, np.abs(difference) - slack, side="left")
    p = resampled_p(reached.astype(np.float64), resamples, plain=plain)
    critical = float(np.quantile(ranges, level, method="higher"))
    recipe = (
        f"randomised Tukey HSD, scores permuted over the runs within each topic, "
        f"{drawn_in_words(resamples, seed, plain)}, two-sided; simultaneous {percent(level)} intervals; {ALIKE}"
    )
    mse = two_way(matrix).residual.mean_square
    effect = ratio(difference, np.sqrt(mse))
    return _result(matrix, difference, np.abs(difference), p, effect, "randomised-tukey", recipe, critical)


def permuted_ranges(
    values: Floats, *, resamples: int = RESAMPLES, seed: int = 0, progress: Progress = silent
) -> Floats:
    """max − min of the run means, for `resamples` random permutations of each topic's scores over the runs.

    Memory: PERMUTED_AT_ONCE × runs × topics numbers.
    """
    rng, topics = checked_generator(seed), values.shape[1]
    columns = np.ascontiguousarray(values.T)
    ranges = np.empty(checked_resamples(resamples))
    for part in chunks(resamples, PERMUTED_AT_ONCE):
        block = np.repeat(columns[None], part.stop - part.start, axis=0)
        rng.permuted(block, axis=2, out=block)
        ranges[part] = np.ptp(block.sum(axis=1), axis=1) / topics
        progress(part.stop, resamples)
    return ranges


def studentized_range_p(q: Floats, k: int, df: int) -> Floats:
    """P(studentized range ≥ q) for each q, k means and df degrees of freedom; relative error below 1e-4.

    log P is interpolated by a cubic spline over log(1 + q) on NODES points, since one point costs scipy over 10 ms.

    >>> studentized_range_p(np.array([0.0, 3.449, np.inf]), 3, 38).round(4)  # 3.449: the 5 % point
    array([1.  , 0.05, 0.  ])
    """
    p = np.where(np.isfinite(q), 1.0, LEAST_P)
    asked = np.unique(q[np.isfinite(q) & (q > 0)])
    if not len(asked):
        return p
    if len(asked) <= NODES:
        found = np.interp(q, asked, _range_tail(asked, k, df))
    else:
        found = _interpolated_tail(q, _last_point(float(asked[-1]), k, df), k, df)
    return np.where(np.isfinite(q) & (q > 0), np.clip(found, LEAST_P, 1.0), p)


def _interpolated_tail(q: Floats, last: float, k: int, df: int) -> Floats:
    from scipy.interpolate import CubicSpline

    nodes = np.linspace(0.0, np.log1p(last), NODES)
    spline = CubicSpline(nodes, np.log(_range_tail(np.expm1(nodes), k, df)))
    inside = np.where(q <= last, q, 0.0)
    return np.where(q <= last, np.exp(np.minimum(spline(np.log1p(inside)), 0.0)), LEAST_P)


def _last_point(largest: float, k: int, df: int) -> float:
    """The largest q, or where the tail falls below LEAST_P if that comes first (to within 1 %)."""
    low, high = 0.0, largest
    if _range_tail(np.array([high]), k, df)[0] > LEAST_P:
        return largest
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _range_tail(np.array([middle]), k, df)[0] > LEAST_P else (low, middle)
    return low


def _range_tail(q: Floats, k: int, df: int) -> Floats:
    from scipy.stats import studentized_range

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the far tail, where the integral says that it converges slowly
        return np.clip(studentized_range.sf(q, k, df), LEAST_P, 1.0)


def studentized_range_point(level: float, k: int, df: int) -> float:
    """The point that the studentized range stays below with probability `level`."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, k, df))


def _mean_differences(matrix: ScoreMatrix) -> Floats:
    if len(matrix.runs) < 2:
        raise DataError(f"{matrix.measure}: {len(matrix.runs)} run; a comparison needs at least two")
    checked_rows(matrix.values)
    first, second = every_pair(len(matrix.runs))
    means = matrix.averages()
    return rounded(means[first] - means[second])


def _only_two_sided(alternative: str) -> None:
    if alternative != "two-sided":
        raise UsageError(f"Tukey's tests are two-sided; {alternative!r} needs a test of single pairs, such as t")


def _result(
    matrix: ScoreMatrix,
    difference: Floats,
    statistic: Floats,
    p: Floats,
    effect: Floats,
    test: str,
    recipe: str,
    critical: float,
) -> PairsResult:
    first, second = every_pair(len(matrix.runs))
    return PairsResult(
        runs=matrix.runs,
        first=first,
        second=second,
        n=matrix.shape[1],
        difference=difference,
        statistic=statistic,
        p=p,
        effect=effect,
        test=test,
        recipe=recipe,
        simultaneous=True,
        critical=critical,
        low=difference - critical,
        high=difference + critical,
        measure=matrix.measure,
    )
