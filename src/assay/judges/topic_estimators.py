"""How are few human topics and many machine topics combined? Prediction-powered estimators of a mean over topics.

θ̂ = λ·mean(U) + mean(Y − λF): Y human and F machine scores on the n human topics, U machine scores on N others. With any
λ it estimates the human mean, because mean(U) and mean(F) estimate the same; λ only decides the variance,
λ²·var(U)/N + var(Y − λF)/n. Angelopoulos et al. 2023; Angelopoulos, Duchi & Zrnic 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import DataError
from assay.core.registry import Registry
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.topic_rows import counted

Estimator = Callable[[Floats, Floats, Floats], "Estimated"]
ESTIMATORS: Registry[Estimator] = Registry("estimator")
"""Ways to choose λ; each takes Y, F (rows × n) and U (rows × N) and returns an estimate for every row."""
DEFAULT = "cross-fitted"
LEAST_TOPICS = 4
"""Human topics without which no λ can be chosen on some and tried on others."""


@dataclass(frozen=True, eq=False)
class Estimated(Result):
    """For each row the estimate, its standard error, the λ that it rests on, and the degrees of freedom of the rows.

    `scores` are Y, F and U; `limits` the least and largest value of each, None where they have none.
    """

    unit = "topic"

    value: Floats
    error: Floats
    weight: Floats
    degrees: int
    scores: tuple[Floats, Floats, Floats]
    limits: tuple[float, float] | None = None

    @cached_property
    def little(self) -> Bools:
        """Rows whose human topics say too little for a t interval: their ends are bounds, see `little_seen`."""
        from assay.judges.little_seen import says_little

        return says_little(self.scores[0], self.scores[1], self.weight)

    def table(self) -> Table:
        """One row for each row of scores, with its 95 % interval."""
        low, high = self.interval()
        rows = list(zip(range(1, len(self.value) + 1), self.value, self.error, low, high, self.weight, strict=True))
        columns = {"row": "d", "estimate": ".4f", "error": ".4f", "low": ".4f", "high": ".4f", "λ": ".3f"}
        notes = [f"low, high: 95 % interval, t with {counted(self.degrees, 'degree')} of freedom", *self.remarks()]
        return Table.of(columns, rows, caption="Estimated means", notes=notes, keys={"λ": "weight"})

    def remarks(self) -> list[str]:
        """What must be said of rows that have no t interval."""
        count = int(self.little.sum())
        if not count:
            return []
        topics = counted(self.scores[0].shape[1], "human topic")
        said = f"{counted(count, 'row')}: too few of {topics} are unlike the others for a t interval"
        if self.limits is None or not np.isfinite(self.limits).all():
            return [f"{said}, and the scores have no limits: no interval and no p"]
        low, high = self.limits
        return [f"{said}: Dirichlet bounds over the topics for scores between {low:g} and {high:g}"]

    def interval(self, level: float = 0.95, *, normal: bool = False) -> tuple[Floats, Floats]:
        """value ± quantile · error, the quantile of t or of the normal distribution, within the limits.

        Bounds take its place for rows of which the human topics say little; NaN if there are no limits either.
        """
        from assay.judges.little_seen import bounded

        half = quantile(level, self.degrees, normal=normal) * self.error
        low, high = self.value - half, self.value + half
        rows = self.little
        if rows.any():
            few = self.of_rows(rows)
            low[rows], high[rows] = bounded(few.value, few.scores, few.weight, self.limits, level)
        if self.limits is None:
            return low, high
        # An estimate may lie beyond the limits; its interval still has a width there.
        return np.clip(low, *self.limits), np.clip(high, *self.limits)

    def p(self, *, normal: bool = False) -> Floats:
        """Two-sided p of the value being 0, from the method of the interval."""
        from scipy.special import ndtr, stdtr

        from assay.judges.little_seen import bounded_p

        ratio = np.divide(self.value, self.error, out=np.zeros(len(self.value)), where=self.error > 0)
        size = -np.abs(ratio)
        p = np.asarray(2 * (ndtr(size) if normal else stdtr(self.degrees, size)))
        rows = self.little
        if rows.any():
            few = self.of_rows(rows)
            p[rows] = bounded_p(few.value, few.scores, few.weight, self.limits)
        return p

    def of_rows(self, rows: Bools | Ints) -> Estimated:
        """These rows alone."""
        y, f, u = self.scores
        return replace(
            self,
            value=self.value[rows],
            error=self.error[rows],
            weight=self.weight[rows],
            scores=(y[rows], f[rows], u[rows]),
        )


def quantile(level: float, degrees: int, *, normal: bool = False) -> float:
    """The quantile for a two-sided interval.

    >>> round(quantile(0.95, 19), 4), round(quantile(0.95, 19, normal=True), 4)
    (2.093, 1.96)
    """
    from scipy.special import ndtri, stdtrit

    share = (1 + level) / 2
    return float(ndtri(share) if normal else stdtrit(degrees, share))


def estimated(
    human: Floats, machine: Floats, others: Floats, method: str = DEFAULT, *, large: bool = False,
    limits: tuple[float, float] | None = None,
) -> Estimated:  # fmt: skip
    """The estimate of the mean of each row of human scores, by one of ESTIMATORS.

    human, machine: rows × n, scores on the same topics; others: rows × N, machine scores on other topics. large: the
    formulas for very many topics, variances divided by n instead of n − 1, as the papers print them. limits: the least
    and largest score (or difference) there can be, within which intervals are.

    >>> human, machine = np.array([[0.5, 0.7, 0.6, 0.4]]), np.array([[0.6, 0.9, 0.65, 0.55]])
    >>> estimated(human, machine, np.array([[0.7, 0.9, 0.8, 0.6, 0.75]]), "plain")
    Estimated means
    <BLANKLINE>
    row  estimate   error     low    high      λ
    ---  --------  ------  ------  ------  -----
      1    0.6250  0.0595  0.4356  0.8144  1.000
    low, high: 95 % interval, t with 3 degrees of freedom
    """
    y = np.atleast_2d(np.asarray(human, dtype=np.float64))
    f = np.atleast_2d(np.asarray(machine, dtype=np.float64))
    u = np.atleast_2d(np.asarray(others, dtype=np.float64))
    if y.shape != f.shape or len(u) != len(y):
        raise DataError(
            f"human, machine and other scores have shapes {y.shape}, {f.shape} and {u.shape}; rows must match"
        )
    if y.shape[1] < 2 or u.shape[1] < 2:
        raise DataError(
            f"{y.shape[1]} topics with human labels and {u.shape[1]} with machine labels only; two of each are needed"
        )
    if not all(np.isfinite(scores).all() for scores in (y, f, u)):
        raise DataError("a score is not a finite number; leave the topic out or give it a score")
    found: Estimated = ESTIMATORS.call(method, y, f, u, large=large)
    return replace(found, limits=limits)


@ESTIMATORS.register("classical")
def classical(y: Floats, f: Floats, u: Floats, *, large: bool = False) -> Estimated:
    """The human topics alone: λ = 0."""
    return _with_weight(y, f, u, np.zeros(len(y)), large)


@ESTIMATORS.register("plain")
def plain(y: Floats, f: Floats, u: Floats, *, large: bool = False) -> Estimated:
    """Machine scores at full weight: λ = 1; wider than people alone where the judge is noisy."""
    return _with_weight(y, f, u, np.ones(len(y)), large)


@ESTIMATORS.register("tuned")
def tuned(y: Floats, f: Floats, u: Floats, *, large: bool = False) -> Estimated:
    """λ* = cov(Y, F)/((1 + n/N)·var F) from the same topics; intervals are too narrow with few of them."""
    n = y.shape[1]
    weight = best_weight(y, f, u, n)
    return _with_weight(y, f, u, weight * (n - 1) / n if large else weight, large)


@ESTIMATORS.register("cross-fitted")
def cross_fitted(y: Floats, f: Floats, u: Floats) -> Estimated:
    """Each human topic is corrected with the λ* of the other human topics, with n − 2 degrees of freedom.

    So no topic chooses its own correction, and the slope that was estimated is counted. Machine scores are centred,
    which changes no estimate and keeps the variation of λ out of the error.
    """
    n = y.shape[1]
    if n < LEAST_TOPICS:
        raise DataError(f"{n} topics with human labels; cross-fitting needs at least {LEAST_TOPICS}, or take classical")
    weight = _weights_without_each(y, f, u)
    everything = np.concatenate([f, u], axis=1)
    centre = everything.mean(axis=1, keepdims=True)
    left = y - weight * (f - centre)
    mean_weight = weight.mean(axis=1)
    value = mean_weight * (u.mean(axis=1) - centre[:, 0]) + left.mean(axis=1)
    of_people = left.var(axis=1, ddof=1) * (n - 1) / (n - 2) / n
    of_machine = mean_weight**2 * u.var(axis=1, ddof=1) / u.shape[1]
    return Estimated(value, np.sqrt(of_people + of_machine), mean_weight, n - 2, (y, f, u))


def _with_weight(y: Floats, f: Floats, u: Floats, weight: Floats, large: bool) -> Estimated:
    """The estimate and its error for a given λ of each row."""
    freed = 0 if large else 1
    left = y - weight[:, None] * f
    value = weight * u.mean(axis=1) + left.mean(axis=1)
    of_machine = weight**2 * u.var(axis=1, ddof=freed) / u.shape[1]
    of_people = left.var(axis=1, ddof=freed) / y.shape[1]
    return Estimated(value, np.sqrt(of_people + of_machine), weight, y.shape[1] - 1, (y, f, u))


def best_weight(y: Floats, f: Floats, u: Floats, n: int) -> Floats:
    """λ* of each row, the variance of F over all topics; 0 where the machine scores do not vary."""
    topics = y.shape[1]
    centred = (y - y.mean(axis=1, keepdims=True)) * (f - f.mean(axis=1, keepdims=True))
    covariance = centred.sum(axis=1) / (topics - 1)
    spread = np.concatenate([f, u], axis=1).var(axis=1, ddof=1)
    return _ratio(covariance, (1 + n / u.shape[1]) * spread)


def _weights_without_each(y: Floats, f: Floats, u: Floats) -> Floats:
    """rows × n: λ* without the topic of that column, all topics at once from sums."""
    n = y.shape[1]
    others = n - 1
    sum_y = y.sum(axis=1, keepdims=True) - y
    sum_f = f.sum(axis=1, keepdims=True) - f
    product = y * f
    sum_yf = product.sum(axis=1, keepdims=True) - product
    covariance = (sum_yf - sum_y * sum_f / others) / (others - 1)
    rest = others + u.shape[1]
    # Squares are taken from the common mean, so that large scores lose no digits.
    centre = np.concatenate([f, u], axis=1).mean(axis=1, keepdims=True)
    from_centre = f - centre
    first = (u - centre).sum(axis=1, keepdims=True) + from_centre.sum(axis=1, keepdims=True) - from_centre
    second = ((u - centre) ** 2).sum(axis=1, keepdims=True) + (from_centre**2).sum(axis=1, keepdims=True)
    spread = (second - from_centre**2 - first**2 / rest) / (rest - 1)
    return _ratio(covariance, (1 + n / u.shape[1]) * np.maximum(spread, 0.0))


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """top/bottom, 0 where the bottom is nothing but rounding."""
    return np.divide(top, bottom, out=np.zeros(np.shape(top)), where=bottom > 1e-20)
