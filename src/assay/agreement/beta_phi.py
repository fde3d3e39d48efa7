"""How far do assessors agree on a bounded scale, without a model of chance? Φ of Checco et al. 2017.

The labels of an item are draws from a beta distribution around its own place on the scale, with one precision π for all
items; Φ = 1 − 2^(1 − π/2) is 0 for answers spread evenly, 1 for full agreement, −1 for answers piled up at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.agreement.ratings import Ratings
from assay.agreement.unit_intervals import Units, interval_over
from assay.core.arrays import Bools, Floats
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table

LOWEST, HIGHEST = 1e-3, 1e6
"""Precisions that are searched."""
NEAR, STEPS = 1.5, 25
"""How far from the best ln π, and at how many places, the slope of the likelihood is known for rows of weights."""
BIASED = "maximum likelihood, biased upwards with few labels per item, which the interval does not mend"
"""What limits Φ: its interval is for as many labels per item."""


@dataclass(frozen=True)
class PhiResult(Result):
    """Φ with its interval over docs, None below 50 of them, and the precision behind it."""

    unit = "doc"

    phi: float
    low: float | None
    high: float | None
    precision: float
    items: int
    labels: int
    scale: tuple[float, float]
    level: float
    reach: tuple[float, float]
    """The lowest and the highest label: a scale of which the labels use a hundredth is a wrong scale."""
    why: str = ""
    """Why there is no interval."""

    def table(self) -> Table:
        """One row."""
        columns = {
            "measure": "",
            "value": ".4f",
            "low": ".4f",
            "high": ".4f",
            "items": "d",
            "labels": "d",
        }
        row = ("phi", self.phi, self.low, self.high, self.items, self.labels)
        claim = f"no interval: {self.why}" if self.why else f"{100 * self.level:g} % t interval over items"
        ends = "scale {:g} to {:g}, labels from {:g} to {:g}".format(*self.scale, *self.reach)
        return Table.of(columns, [row], notes=[ends, claim, BIASED])


def phi(item: npt.ArrayLike, value: npt.ArrayLike, *, scale: tuple[float, float], level: float = 0.95) -> PhiResult:
    """Φ of labels on a scale whose ends are known; they are never guessed from the data.

    A label v becomes x = ((v − low)/(high − low)·(l − 1) + ½)/l, l the most labels of one item, so that it lies inside
    (0, 1); x of item u is Beta(μ_u π, (1 − μ_u) π). π by maximum likelihood, each μ_u at its best for that π.
    Items with one label are left out; none with two is an error. If all labels of each item agree π has no maximum and
    Φ is 1 to all digits. The interval is a t interval over items, by leaving out one after the other, and there is none
    below 50 items. It is for the Φ of many items with as many labels each: with few of them that is above the model's,
    however many items there are: .66 for .50 with 20 labels of π = 4.

    >>> round(phi(["doc"] * 101, range(101), scale=(0, 100)).phi, 2)
    0.01
    """
    ratings = Ratings.of(item, value)
    labels = ratings.value
    low, high = scale
    if not low < high:
        raise UsageError(f"the scale must run from a lower to a higher end, not from {low:g} to {high:g}")
    if labels.min(initial=low) < low or labels.max(initial=high) > high:
        raise DataError(f"a label lies outside the scale {low:g} to {high:g}; give the scale's true ends")
    shared = ratings.sizes > 1
    if not shared.any():
        raise DataError("no item has two labels; there is nothing to agree on")

    best = _Model.of(ratings, shared, scale).best()
    units = Units.of(ratings)
    ends = interval_over(
        "doc",
        units.count,
        _phi_of(best),
        lambda: units.left_out(lambda rows: phis(ratings, rows, scale=scale), 4096),
        level,
    )
    return PhiResult(
        phi=_phi_of(best),
        low=ends.low,
        high=ends.high,
        precision=best,
        items=int(shared.sum()),
        labels=int(ratings.sizes[shared].sum()),
        scale=scale,
        level=level,
        reach=(float(labels.min()), float(labels.max())),
        why=ends.why,
    )


def phis(ratings: Ratings, weights: Floats, *, scale: tuple[float, float]) -> Floats:
    """Φ for each row of item weights near 1; NaN where it is undefined or far from that of all items."""
    shared = ratings.sizes > 1
    if not shared.any():
        return np.full(len(weights), np.nan)
    model = _Model.of(ratings, shared, scale)
    best = model.best()
    of_shared = weights[:, shared]
    whole = (of_shared == 1).all(axis=1)
    found = np.full(len(weights), _phi_of(best))
    found[~whole] = 1 - 2 ** (1 - model.best_of(of_shared[~whole], best) / 2)
    return found


def _phi_of(pi: float) -> float:
    return float(1 - 2 ** (1 - pi / 2))


@dataclass(frozen=True, eq=False)
class _Model:
    """The labels of each item as all that the likelihood needs: their number, Σ ln x and Σ ln(1−x)."""

    size: Floats
    logs: Floats
    rest: Floats

    @classmethod
    def of(cls, ratings: Ratings, shared: Bools, scale: tuple[float, float]) -> _Model:
        """The model of the items that are shared, their labels moved inside (0, 1)."""
        items = len(ratings.sizes)
        most = int(ratings.sizes.max())
        low, high = scale
        on_scale = (ratings.value - low) / (high - low)
        x: Floats = (on_scale * (most - 1) + 0.5) / most
        logs = np.bincount(ratings.item, np.log(x), items)
        rest = np.bincount(ratings.item, np.log1p(-x), items)
        return cls(
            size=ratings.sizes[shared].astype(np.float64),
            logs=logs[shared].astype(np.float64),
            rest=rest[shared].astype(np.float64),
        )

    def likelihood(self, pi: float) -> float:
        """The log-likelihood of π with each item's place at its best."""
        from scipy.special import gammaln

        mu = self._places(pi)
        a = mu * pi
        b = (1 - mu) * pi
        # ln of the beta density, summed over the labels: n ln(1 / B(a, b)) + (a − 1) Σ ln x + (b − 1) Σ ln(1 − x)
        constant = self.size * (gammaln(pi) - gammaln(a) - gammaln(b))
        of_item = constant + (a - 1) * self.logs + (b - 1) * self.rest
        return float(of_item.sum())

    def _places(self, pi: float) -> Floats:
        """μ of each item: ψ(μπ) − ψ((1−μ)π) equals the mean log-odds of its labels; rising in μ, so by bisection."""
        from scipy.special import psi

        wanted = (self.logs - self.rest) / self.size
        low = np.zeros_like(wanted)
        high = np.ones_like(wanted)
        for _ in range(50):
            mu = (low + high) / 2
            log_odds = psi(mu * pi) - psi((1 - mu) * pi)
            under = log_odds < wanted
            low = np.where(under, mu, low)
            high = np.where(under, high, mu)
        mu = (low + high) / 2
        return np.asarray(np.clip(mu, 1e-12, 1 - 1e-12))

    def best(self) -> float:
        """The π of the highest likelihood."""
        from scipy.optimize import minimize_scalar

        def cost(log_pi: float) -> float:
            return -self.likelihood(float(np.exp(log_pi)))

        bounds = (np.log(LOWEST), np.log(HIGHEST))
        lowest_cost = minimize_scalar(cost, bounds=bounds, method="bounded")
        return float(np.exp(lowest_cost.x))

    def slopes(self, pi: float) -> Floats:
        """The slope of each item's log-likelihood in ln π, its place at its best."""
        from scipy.special import psi

        mu = self._places(pi)
        mean = mu * psi(mu * pi) + (1 - mu) * psi((1 - mu) * pi)
        return np.asarray(pi * (self.size * (psi(pi) - mean) + mu * self.logs + (1 - mu) * self.rest))

    def best_of(self, weights: Floats, best: float) -> Floats:
        """The π of the highest likelihood for each row of weights: where the slope is 0; NaN if not near the best."""
        from scipy.interpolate import CubicSpline

        places = np.log(best) + np.linspace(-NEAR, NEAR, STEPS)
        if not len(weights) or not np.log(LOWEST) < places[0] < places[-1] < np.log(HIGHEST):
            return np.full(len(weights), np.nan)
        slopes = np.stack([self.slopes(float(np.exp(place))) for place in places], axis=1)
        found = np.full(len(weights), np.nan)
        for i, row in enumerate(weights @ slopes):
            roots = CubicSpline(places, row).roots(extrapolate=False)
            if len(roots):
                found[i] = np.exp(roots[np.abs(roots - np.log(best)).argmin()])
        return found
