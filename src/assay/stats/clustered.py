"""How sure is a mean of items that come in clusters, such as the impressions of users or the docs of topics?

The unit of sampling is the cluster: who draws 20 topics and labels 5,000 docs of them has a sample of 20.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.stats.bounded import bounded_ends, p_at_most, p_two_sided, shows_little

BOUND = "Dirichlet bound"
"""The method of a claim of clusters that are nearly all alike."""
ENOUGH_POSITIVES = 10.0
"""Clusters over which positives must be spread, (Σy)²/Σy², before a share has an interval on the logit scale."""


@dataclass(frozen=True)
class ClusterEstimate:
    """An estimate with its standard error and degrees of freedom; `clusters` are the units that were drawn."""

    value: float
    error: float
    df: float
    clusters: int
    method: str

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """value ± t·error."""
        half = t_quantile((1 + level) / 2, self.df) * self.error
        return self.value - half, self.value + half

    def p(self, null: float = 0.0) -> float:
        """Two-sided p of the value against the null; nan if nothing varies, which no t test can judge."""
        from scipy.special import stdtr

        if self.error == 0:
            return float("nan")
        return float(2 * stdtr(self.df, -abs(self.value - null) / self.error))


def t_quantile(share: float, df: float) -> float:
    """A quantile of Student's t, for any positive degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, share))


def mean_of_clusters(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> ClusterEstimate:
    """The mean of the clusters' own means, each cluster counting once: ū, s/√G, t with G − 1 degrees of freedom.

    >>> e = mean_of_clusters([10, 2, -1, 3, 0, 1], [40, 6, 5, 3, 2, 1])
    >>> round(e.value, 6), round(e.error, 6)
    (0.397222, 0.205499)
    """
    total, size = _checked(sums, sizes)
    means = total / size
    groups = len(means)
    error = float(means.std(ddof=1) / np.sqrt(groups))
    return ClusterEstimate(float(means.mean()), error, groups - 1, groups, f"t with {groups - 1:,} degrees of freedom")


def mean_of_items(sums: npt.ArrayLike, sizes: npt.ArrayLike, *, alike: bool = False) -> ClusterEstimate:
    """The mean of all items, with the cluster-robust error CR2 and Satterthwaite's degrees of freedom.

    alike: degrees of freedom as if the items of a cluster were wholly alike (conservative) instead of independent.
    Bell & McCaffrey 2002; Imbens & Kolesár 2016; Pustejovsky & Tipton 2018; closed forms for a model of the mean alone.

    >>> e = mean_of_items([10, 2, -1, 3, 0, 1], [40, 6, 5, 3, 2, 1])
    >>> round(e.value, 6), round(e.error, 7), round(e.df, 5)
    (0.263158, 0.0632628, 1.66777)
    """
    total, size = _checked(sums, sizes)
    items = size.sum()
    share = size / items
    value = float(total.sum() / items)
    if share.max() >= 1:
        raise DataError("one cluster has all items, so nothing can be said of others")
    residual = total - size * value
    variance = float((residual**2 / (1 - share)).sum()) / items**2
    freedom = _satterthwaite(size**2 if alike else size, share)
    return ClusterEstimate(
        value, float(np.sqrt(variance)), freedom, len(size), f"CR2, t with {freedom:.1f} degrees of freedom"
    )


def _satterthwaite(a: Floats, h: Floats) -> float:
    """(tr P)²/ΣP² for P = (w wᵀ) ∘ (diag A − h Aᵀ − A hᵀ + h hᵀ ΣA), w = (1 − h)^−½, without the G × G matrix."""
    v = 1 / (1 - h)
    total = a.sum()
    # every cell has the low-rank part, those of the diagonal have A besides
    low_rank_diagonal = -2 * h * a + h**2 * total
    diagonal = a + low_rank_diagonal
    trace = (v * diagonal).sum()
    hh = (v * h * h).sum()
    ha = (v * h * a).sum()
    aa = (v * a * a).sum()
    low_rank_squares = 2 * hh * aa + total**2 * hh**2 + 2 * ha**2 - 4 * total * hh * ha
    added_on_diagonal = (v**2 * (diagonal**2 - low_rank_diagonal**2)).sum()
    return float(trace**2 / (low_rank_squares + added_on_diagonal))


@dataclass(frozen=True)
class ClusterClaim:
    """A mean over clusters with the interval and p that hold; both are nan if nothing can be said."""

    value: float
    error: float
    low: float
    high: float
    p: float
    clusters: int
    method: str
    largest: float
    """The share of all items that the largest cluster has."""


def claim_of(
    sums: npt.ArrayLike,
    sizes: npt.ArrayLike,
    limits: tuple[float, float] | None,
    level: float = 0.95,
    *,
    by_item: bool = False,
) -> ClusterClaim:
    """The mean of clusters, or of items, against 0: by t, or by the Dirichlet bound if few clusters say anything.

    limits: the least and largest value of an item; None if they are not known, and then there may be no interval.

    >>> claim = claim_of([2.0, 2.0, 2.0], [2, 2, 2], (-1, 1))
    >>> claim.value, round(claim.low, 3), claim.high, round(claim.p, 3)
    (1.0, -0.415, 1.0, 0.25)
    """
    total, size = _checked(sums, sizes)
    means = total / size
    largest = float(size.max() / size.sum())
    estimate = mean_of_items(total, size) if by_item else mean_of_clusters(total, size)
    if not shows_little(means)[0]:
        low, high = estimate.interval(level)
        ends = low, high, estimate.p()
    elif limits is None:
        ends = (np.nan, np.nan, np.nan)
    elif by_item:
        ends = _bounded_mean_of_items(total, size, limits, level)
    else:
        low_end, high_end = bounded_ends(means, level, limits)
        ends = float(low_end[0]), float(high_end[0]), p_two_sided(means, 0.0, limits)
    method = estimate.method if not shows_little(means)[0] else BOUND
    return ClusterClaim(estimate.value, estimate.error, *ends, len(size), method, largest)


def _bounded_mean_of_items(
    total: Floats, size: Floats, limits: tuple[float, float], level: float
) -> tuple[float, float, float]:
    """Ends and p of the mean of items, read as a share of what the limits allow."""
    low, width = limits[0], limits[1] - limits[0]
    y = (total - low * size) / width
    ends = [low + width * end for end in share_bounds(y, size, 1 - level)]
    null, mean_size = -low / width, float(size.mean())
    above = p_at_most(y - null * size, 0.0, -null * mean_size)
    below = p_at_most(null * size - y, 0.0, -(1 - null) * mean_size)
    return ends[0], ends[1], min(1.0, 2 * above, 2 * below)


@dataclass(frozen=True)
class Share:
    """A share of items with its interval; `method` says how the ends were made."""

    value: float
    low: float
    high: float
    clusters: int
    method: str


def share_of(positives: npt.ArrayLike, items: npt.ArrayLike, level: float = 0.95) -> Share:
    """The share Σy/Σz with clusters as units: t on the logit scale, or the Dirichlet bound if few have positives.

    Cochran 1977, §6 for the ratio. The bound is due if (Σy)²/Σy² < 10, or the same of the negatives of a share above ½.

    >>> s = share_of([3, 0, 10, 5, 1, 0], [20, 18, 25, 22, 19, 21])
    >>> round(s.value, 3), round(s.low, 4), round(s.high, 4)
    (0.152, 0.041, 0.5463)
    """
    y, z = _checked(positives, items)
    value = float(y.sum() / z.sum())
    rare = y if value <= 0.5 else z - y
    if not rare.any() or rare.sum() ** 2 / (rare**2).sum() < ENOUGH_POSITIVES:
        low, high = share_bounds(y, z, 1 - level)
        return Share(value, low, high, len(y), BOUND)
    low, high = logit_ends(y, z, level)
    return Share(value, low, high, len(y), "t interval on the logit scale")


def share_error(y: Floats, z: Floats) -> float:
    """The standard error of Σy/Σz with clusters as units."""
    n = len(y)
    residual = y - y.sum() / z.sum() * z
    return float(np.sqrt(n / (n - 1) * (residual**2).sum()) / z.sum())


def logit_ends(positives: npt.ArrayLike, items: npt.ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """The t interval of a share on the logit scale, n − 1 degrees of freedom.

    >>> [round(end, 5) for end in logit_ends([3, 0, 10, 5, 1, 0], [20, 18, 25, 22, 19, 21])]
    [0.04311, 0.41626]
    """
    y, z = _checked(positives, items)
    value = float(y.sum() / z.sum())
    half = t_quantile((1 + level) / 2, len(y) - 1) * share_error(y, z) / (value * (1 - value))
    ends = np.log(value / (1 - value)) + np.array([-half, half])
    low, high = 1 / (1 + np.exp(-ends))
    return float(low), float(high)


def share_bounds(y: Floats, z: Floats, alpha: float) -> tuple[float, float]:
    """The ends r with P(Σ W·(y − r·z) + W₀·worst ≤ 0) = α/2; the worst: a cluster of mean size without a positive."""
    size = float(z.mean())
    low = _share_bound(y, z, size, alpha / 2)
    high = 1 - _share_bound(z - y, z, size, alpha / 2)
    return low, high


def _share_bound(y: Floats, z: Floats, size: float, tail: float) -> float:
    """The lower end: the share r at which P(Σ W·(y − r·z) ≤ 0), with a further cluster of negatives, is the tail."""
    from scipy.optimize import brentq

    if not y.any():
        return 0.0
    return float(brentq(lambda r: p_at_most(y - r * z, 0.0, -r * size) - tail, 0.0, 1.0, xtol=1e-12))


def jackknife_error(left_out: npt.ArrayLike) -> float:
    """The delete-one-cluster error √((n − 1)/n Σ(θ₍₋ᵢ₎ − θ̄)²) of a statistic from its values without each cluster."""
    values = np.asarray(left_out, dtype=np.float64)
    n = len(values)
    return float(np.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum()))


def jackknife(value: float, left_out: npt.ArrayLike) -> ClusterEstimate:
    """A statistic of all clusters with its delete-one-cluster error and n − 1 degrees of freedom.

    A statistic that is undefined without one of the clusters has no error.

    >>> e = jackknife(2.0, [2.5, 2.0, 1.5])
    >>> round(e.error, 4), e.df
    (0.5774, 2)
    """
    values = np.asarray(left_out, dtype=np.float64)
    if not np.isfinite(values).all():
        raise DataError("the statistic is undefined without one of the clusters, so it has no interval")
    return ClusterEstimate(value, jackknife_error(values), len(values) - 1, len(values), "delete-one-cluster jackknife")


def _checked(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Sums and sizes of at least two clusters with at least one item each."""
    total, size = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if total.shape != size.shape or total.ndim != 1:
        raise DataError(f"{total.shape} sums and {size.shape} sizes of clusters; give one of each")
    if len(size) < 2:
        raise DataError(f"{len(size)} cluster; at least 2 are needed for an interval")
    if not (size > 0).all() or not np.isfinite(total).all():
        raise DataError("a cluster has no items, or a sum that is not finite; leave it out")
    return total, size
