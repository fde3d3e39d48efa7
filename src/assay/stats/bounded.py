"""What can a mean of bounded numbers be, if few of them say anything? The Dirichlet bound, and when it is due.

A t interval needs numbers that vary: of 25 topics without a difference it has no width, and 2 wins of 50 make it far
too short. Here the n values get random weights from Dirichlet(1, …, 1) together with one more value, the worst that
there can be (Gaffke 2005). For losses of 0 and 1 the bound is that of Clopper and Pearson; for other bounded values it
was conservative in every simulation, which is not a proof (Learned-Miller & Thomas 2019).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import UsageError

FEW = 10
"""Values that must be unlike the commonest one before a method that needs variation is used."""
SAME_DECIMALS = 12
"""Values are the same if they agree in this many decimals."""
NODES = 2000
"""Midpoints of the integral; it is that of a periodic function, so they give 8 digits and more."""


def unlike(rows: npt.ArrayLike) -> Ints:
    """How many values of each row are not the commonest one of that row.

    >>> unlike([[0, 0, 0, 1], [1, 2, 3, 4], [0, 0, 0, 0]]).tolist()
    [1, 3, 0]
    """
    values = np.sort(_comparable(np.atleast_2d(rows)), axis=1)
    longest = np.ones(len(values), dtype=np.int64)
    stretch = np.ones(len(values), dtype=np.int64)
    for column in range(1, values.shape[1]):
        stretch = np.where(values[:, column] == values[:, column - 1], stretch + 1, 1)
        np.maximum(longest, stretch, out=longest)
    return values.shape[1] - longest


def _comparable(values: npt.ArrayLike) -> Floats:
    """The values such that those that are the same are equal; −0 is 0."""
    return np.asarray(np.round(np.asarray(values, dtype=np.float64), SAME_DECIMALS) + 0.0)


def shows_little(rows: npt.ArrayLike) -> Bools:
    """Which rows have too few unlike values for a t interval or a bootstrap: fewer than 10, of few topics than n − 1.

    >>> shows_little([[0, 0, 0, 1], [1, 2, 3, 4]]).tolist()
    [True, False]
    """
    array = np.atleast_2d(np.asarray(rows, dtype=np.float64))
    return unlike(array) < min(FEW, array.shape[1] - 1)


@dataclass(frozen=True, eq=False)
class _Atoms:
    """Distinct values, and how often each is there."""

    values: Floats
    counts: Floats

    @classmethod
    def of(cls, values: npt.ArrayLike, extreme: float) -> _Atoms:
        """The values of a sample and one more."""
        array = np.append(np.asarray(values, dtype=np.float64), extreme)
        if not np.isfinite(array).all():
            raise UsageError("a bound needs finite values and a finite range")
        distinct, counts = np.unique(_comparable(array), return_counts=True)
        return cls(distinct, counts.astype(np.float64))

    def share_at_most(self, threshold: float) -> float:
        """P(Σ W·value ≤ threshold) for W from Dirichlet(1, …, 1), by inversion of the characteristic function.

        Σ E·a ≤ 0 for exponential E and a = value − threshold: ½ − (1/π) ∫ Im Π (1 − i·a·u)^−1 du/u, with u = tan θ.
        """
        a = self.values - threshold
        if (a <= 0).all():
            return 1.0
        if (a >= 0).all():
            return 0.0
        a = a / np.sqrt((self.counts * a**2).sum())
        theta = (np.arange(NODES) + 0.5) * (np.pi / 2 / NODES)
        scaled = a[:, None] * np.tan(theta)
        phase = self.counts @ np.arctan(scaled)
        size = np.exp(-0.5 * (self.counts @ np.log1p(scaled**2)))
        terms = np.sin(phase) * size / (np.sin(theta) * np.cos(theta))
        return float(min(1.0, max(0.0, 0.5 - terms.sum() / (2 * NODES))))

    def quantile(self, share: float) -> float:
        """The threshold that Σ W·value does not exceed with this probability."""
        from scipy.optimize import brentq

        low, high = float(self.values[0]), float(self.values[-1])
        if low == high:
            return low
        return float(brentq(lambda x: self.share_at_most(x) - share, low, high, xtol=1e-13, rtol=1e-12))


def p_at_most(values: npt.ArrayLike, threshold: float, worst: float) -> float:
    """p of the claim that the mean is above the threshold: P(Σ W·value ≤ threshold), `worst` being the lowest value.

    >>> round(p_at_most([-1] * 3 + [1] * 7 + [0] * 90, -0.02, worst=-1), 6)
    0.058147
    """
    return _Atoms.of(values, worst).share_at_most(threshold)


def p_at_least(values: npt.ArrayLike, threshold: float, best: float) -> float:
    """p of the claim that the mean is below the threshold; `best` is the highest value that there can be."""
    return p_at_most(-np.asarray(values, dtype=np.float64), -threshold, -best)


def p_two_sided(values: npt.ArrayLike, threshold: float, limits: tuple[float, float]) -> float:
    """p of the claim that the mean is not the threshold: twice the smaller of the two one-sided ones.

    >>> p_two_sided([0] * 25, 0, (-1, 1))
    1.0
    """
    above = p_at_most(values, threshold, limits[0])
    below = p_at_least(values, threshold, limits[1])
    return min(1.0, 2 * above, 2 * below)


def lower_bound(values: npt.ArrayLike, alpha: float, worst: float) -> float:
    """The value that the mean is above with confidence 1 − α, one-sided.

    >>> round(lower_bound([0] * 25, 0.05, worst=-1), 6)
    -0.112928
    """
    return _Atoms.of(values, worst).quantile(alpha)


def upper_bound(values: npt.ArrayLike, alpha: float, best: float) -> float:
    """The value that the mean is below with confidence 1 − α, one-sided.

    >>> round(upper_bound([0] * 12, 0.05, best=1), 3)
    0.221
    """
    return -lower_bound(-np.asarray(values, dtype=np.float64), alpha, -best)


def bounded_ends(rows: npt.ArrayLike, level: float, limits: tuple[float, float]) -> tuple[Floats, Floats]:
    """Lower and upper ends of two-sided intervals of the mean of each row; values lie within the limits.

    Rows with the same values, in any order, share one calculation.

    >>> [round(float(end[0]), 3) for end in bounded_ends([[1, 1]], 0.95, (-1, 1))]
    [-0.684, 1.0]
    """
    in_order = np.sort(_comparable(np.atleast_2d(rows)), axis=1)
    kinds, kind_of_row = np.unique(in_order, axis=0, return_inverse=True)
    tail = (1 - level) / 2
    # rounding may leave a value a little beyond the limits
    low = np.array([lower_bound(values, tail, min(limits[0], values[0])) for values in kinds])
    high = np.array([upper_bound(values, tail, max(limits[1], values[-1])) for values in kinds])
    kind_of_row = kind_of_row.ravel()
    return low[kind_of_row], high[kind_of_row]


def difference_ends(
    first: npt.ArrayLike, second: npt.ArrayLike, level: float, limits: tuple[float, float]
) -> tuple[float, float]:
    """Ends of the difference of the means of two samples: from bounds of both that hold together, a box (Bonferroni).

    >>> [round(end, 3) for end in difference_ends([1, 1], [0, 0], 0.95, (0, 1))]
    [-0.776, 1.0]
    """
    each = (1 + level) / 2
    (low,), (high,) = bounded_ends(first, each, limits)
    (least,), (most,) = bounded_ends(second, each, limits)
    return float(low - most), float(high - least)


def p_difference(
    first: npt.ArrayLike, second: npt.ArrayLike, limits: tuple[float, float], alternative: str = "two-sided"
) -> float:
    """p of the claim that two means differ: 1 − the highest level at which `difference_ends` leave out 0.

    One-sided (`greater`, `less`) half of it, of the one end.

    >>> round(p_difference([1] * 5, [0] * 5, (0, 1)), 4)
    0.125
    """
    tails = []
    if alternative != "less":
        tails.append(_least_tail(first, second, limits))
    if alternative != "greater":
        tails.append(_least_tail(second, first, limits))
    return min(1.0, 2 * len(tails) * min(tails))


def _least_tail(above: npt.ArrayLike, below: npt.ArrayLike, limits: tuple[float, float]) -> float:
    """The tail at which the lower bound of one mean is the upper bound of the other."""
    from scipy.optimize import brentq

    both = np.append(above, below)
    worst, best = min(limits[0], both.min()), max(limits[1], both.max())

    def apart(threshold: float) -> float:
        return p_at_most(above, threshold, worst) - p_at_least(below, threshold, best)

    return p_at_most(above, brentq(apart, worst, best, xtol=1e-13, rtol=1e-12), worst)


def share_that_may_differ(topics: int, alpha: float) -> float:
    """The share of topics that may be unlike n topics that are all the same: 1 − α^(1/n), one-sided.

    >>> round(share_that_may_differ(25, 0.05), 3)
    0.113
    """
    return float(-np.expm1(np.log(alpha) / topics))
