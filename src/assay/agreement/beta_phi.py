"""How far do assessors agree on a bounded scale, without a model of chance? Φ of Checco et al. 2017.

The labels of an item are draws from a beta distribution around its own place on the scale, with one precision π for all
items; Φ = 1 − 2^(1 − π/2) is 0 for answers spread evenly, 1 for full agreement, −1 for answers piled up at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table

LOWEST, HIGHEST = 1e-3, 1e6
"""Precisions that are searched."""


@dataclass(frozen=True)
class PhiResult(Result):
    """Φ with its likelihood-ratio interval, and the precision behind it."""

    phi: float
    low: float
    high: float
    precision: float
    items: int
    labels: int
    scale: tuple[float, float]
    level: float
    reach: tuple[float, float]
    """The lowest and the highest label: a scale of which the labels use a hundredth is a wrong scale."""

    def table(self) -> Table:
        """One row."""
        row = ("phi", self.phi, self.low, self.high, self.items, self.labels)
        columns = {"measure": "", "value": ".4f", "low": ".4f", "high": ".4f", "items": "d", "labels": "d"}
        note = (
            f"maximum likelihood, {100 * self.level:.0f} % likelihood-ratio interval; "
            "with few labels per item it is biased upwards"
        )
        ends = "scale {:g} to {:g}, labels from {:g} to {:g}".format(*self.scale, *self.reach)
        return Table.of(columns, [row], notes=[ends, note])


def phi(item: npt.ArrayLike, value: npt.ArrayLike, *, scale: tuple[float, float], level: float = 0.95) -> PhiResult:
    """Φ of labels on a scale whose ends are known; they are never guessed from the data.

    A label v becomes x = ((v − low)/(high − low)·(l − 1) + ½)/l, l the most labels of one item, so that it lies inside
    (0, 1); x of item u is Beta(μ_u π, (1 − μ_u) π). π by maximum likelihood, each μ_u at its best for that π.
    Items with one label are left out; none with two is an error. Where all labels of each item agree π has no maximum
    and Φ is 1 to all digits.

    >>> round(phi(["doc"] * 101, range(101), scale=(0, 100)).phi, 2)
    0.01
    """
    ratings = Ratings.of(item, value)
    low, high = scale
    if not low < high:
        raise UsageError(f"the scale must run from a lower to a higher end, not from {low:g} to {high:g}")
    if ratings.value.min(initial=low) < low or ratings.value.max(initial=high) > high:
        raise DataError(f"a label lies outside the scale {low:g} to {high:g}; give the scale's true ends")
    sizes = ratings.sizes
    if not (sizes > 1).any():
        raise DataError("no item has two labels; there is nothing to agree on")
    most = int(sizes.max())
    x: Floats = ((ratings.value - low) / (high - low) * (most - 1) + 0.5) / most
    shared = sizes > 1
    logs = np.bincount(ratings.item, np.log(x), len(sizes))[shared].astype(float)
    rest = np.bincount(ratings.item, np.log1p(-x), len(sizes))[shared].astype(float)
    model = _Model(sizes[shared].astype(np.float64), logs, rest)
    best = model.best()
    ends = model.interval(best, level)
    values = [float(1 - 2 ** (1 - pi / 2)) for pi in (best, *ends)]
    labels, reach = int(sizes[sizes > 1].sum()), (float(ratings.value.min()), float(ratings.value.max()))
    return PhiResult(values[0], values[1], values[2], best, int((sizes > 1).sum()), labels, scale, level, reach)


@dataclass(frozen=True, eq=False)
class _Model:
    """The labels of each item as all that the likelihood needs: their number, Σ ln x and Σ ln(1−x)."""

    size: Floats
    logs: Floats
    rest: Floats

    def likelihood(self, pi: float) -> float:
        """The log-likelihood of π with each item's place at its best."""
        from scipy.special import gammaln

        mu = self._places(pi)
        a, b = mu * pi, (1 - mu) * pi
        fixed = self.size * (gammaln(pi) - gammaln(a) - gammaln(b))
        return float((fixed + (a - 1) * self.logs + (b - 1) * self.rest).sum())

    def _places(self, pi: float) -> Floats:
        """μ of each item: ψ(μπ) − ψ((1−μ)π) equals the mean log-odds of its labels; rising in μ, so by bisection."""
        from scipy.special import psi

        wanted = (self.logs - self.rest) / self.size
        low, high = np.zeros_like(wanted), np.ones_like(wanted)
        for _ in range(50):
            mu = (low + high) / 2
            under = psi(mu * pi) - psi((1 - mu) * pi) < wanted
            low, high = np.where(under, mu, low), np.where(under, high, mu)
        return np.asarray(np.clip((low + high) / 2, 1e-12, 1 - 1e-12))

    def best(self) -> float:
        """The π of the highest likelihood."""
        from scipy.optimize import minimize_scalar

        bounds = (np.log(LOWEST), np.log(HIGHEST))
        found = minimize_scalar(lambda t: -self.likelihood(float(np.exp(t))), bounds=bounds, method="bounded")
        return float(np.exp(found.x))

    def interval(self, best: float, level: float) -> tuple[float, float]:
        """Where the likelihood has fallen by half the χ² quantile; the ends of the search where it does not."""
        from scipy.optimize import brentq
        from scipy.special import chdtri

        target = self.likelihood(best) - float(chdtri(1, 1 - level)) / 2

        def above(t: float) -> float:
            return self.likelihood(float(np.exp(t))) - target

        middle = np.log(best)
        ends = []
        for limit in (np.log(LOWEST), np.log(HIGHEST)):
            inside = above(limit) < 0
            ends.append(float(np.exp(brentq(above, *sorted((limit, middle))) if inside else limit)))
        return ends[0], ends[1]
