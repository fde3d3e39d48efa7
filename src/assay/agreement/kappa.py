"""How far do two assessors, or a fixed number of them, agree beyond chance? Cohen's, weighted and Fleiss' κ; overlap.

With more than two assessors Cohen's κ and the overlap are means over all pairs of assessors who share items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from assay.agreement.ratings import Pairs, Ratings
from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table

Weights = Literal["none", "linear", "quadratic"]
MOST_RATERS = 50


@dataclass(frozen=True, eq=False)
class Contingency:
    """How often one assessor's value (row) met the other's (column)."""

    names: tuple[str, str]
    values: tuple[float, ...]
    counts: Ints

    def table(self) -> Table:
        """The counts with their margins."""
        shown = [f"{v:g}" for v in self.values]
        rows = [(v, *row, row.sum()) for v, row in zip(shown, self.counts, strict=True)]
        total = ("all", *self.counts.sum(axis=0), self.counts.sum())
        columns = {f"{self.names[0]} ↓ {self.names[1]} →": "", **dict.fromkeys(shown, "d"), "all": "d"}
        return Table.of(columns, [*rows, total], caption=f"{self.names[0]} against {self.names[1]}")


def contingency(a: npt.ArrayLike, b: npt.ArrayLike, *, names: tuple[str, str] = ("a", "b")) -> Contingency:
    """The table of two assessors' values of the same items.

    >>> contingency([0, 0, 1], [0, 1, 1]).counts.tolist()
    [[1, 1], [0, 1]]
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise DataError(f"two columns of labels of the same items are needed, not shapes {x.shape} and {y.shape}")
    values, codes = np.unique(np.concatenate([x, y]), return_inverse=True)
    v = len(values)
    counts = np.bincount(codes[: len(x)] * v + codes[len(x) :], minlength=v * v).reshape(v, v)
    return Contingency(names, tuple(values.tolist()), counts)


def contingencies(ratings: Ratings) -> list[Contingency]:
    """One table for each pair of assessors who share items."""
    met = checked_pairs(ratings)
    found = []
    for i, names in enumerate(met.names):
        first, second = (ratings.values[code[met.pair == i]] for code in (met.first, met.second))
        found.append(contingency(first, second, names=names))
    return found


def cohen_kappa(a: npt.ArrayLike, b: npt.ArrayLike, *, weights: Weights = "none") -> float:
    """Cohen's κ of two assessors' labels of the same items; weighted by how far two grades are apart if asked.

    κ = 1 − Σ w·observed / Σ w·expected with w = 1 off the diagonal, |i−j| (linear) or (i−j)² (quadratic), i and j the
    places of the values on the common scale. Where both give one and the same value throughout it is undefined: an
    error.

    >>> round(cohen_kappa([0] * 80 + [1] * 20, [0] * 50 + [1] * 30 + [0] * 10 + [1] * 10), 4)
    0.0909
    """
    return kappa_of_table(contingency(a, b).counts, weights=weights)


def kappa_of_table(table: npt.ArrayLike, *, weights: Weights = "none") -> float:
    """Cohen's κ of a square table of counts, a row per value of one assessor and a column per value of the other.

    >>> round(kappa_of_table([[50, 30], [10, 10]]), 4)
    0.0909
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any() or not counts.sum():
        raise DataError(f"κ needs a square table of counts, not one of shape {counts.shape}")
    distance = _distance(len(counts), weights)
    seen = np.asarray((distance * counts).sum())
    found = float(_kappas(seen, counts.sum(axis=1), counts.sum(axis=0), distance))
    if np.isnan(found):
        raise DataError("κ is undefined: both assessors gave one and the same value throughout")
    return found


def _kappas(seen: Floats, first: Floats, second: Floats, distance: Floats) -> Floats:
    """κ from the disagreement seen and the two assessors' counts of each value (last axis), NaN where undefined."""
    n = first.sum(axis=-1)
    by_chance = ((first @ distance) * second).sum(axis=-1) / np.where(n > 0, n, 1.0)
    return np.asarray(np.where(by_chance > 0, 1 - seen / np.where(by_chance > 0, by_chance, 1.0), np.nan))


def _distance(size: int, weights: str) -> Floats:
    apart = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :]).astype(np.float64)
    forms = {"none": np.sign(apart), "linear": apart, "quadratic": apart**2}
    if weights not in forms:
        raise UsageError(f"κ has no weights {weights!r}; known: {', '.join(forms)}")
    return forms[weights]


def fleiss_kappa(counts: npt.ArrayLike) -> float:
    """Fleiss' κ of a table items × values of how many assessors gave each value.

    κ = (P̄ − P_e)/(1 − P_e), P̄ the mean over items of the share of agreeing pairs, P_e = Σ (share of a value)². Items
    with fewer than two labels are left out; items may differ in their number of labels (each counts once in P̄).

    >>> round(fleiss_kappa([[3, 0], [0, 3], [2, 1]]), 4)
    0.55
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or (table < 0).any():
        raise DataError(f"Fleiss' κ needs items × values of counts, not shape {table.shape}")
    table = table[table.sum(axis=1) > 1]
    found = float(_fleiss(np.ones((1, len(table))), table, table.sum(axis=1))[0])
    if np.isnan(found):
        raise DataError("Fleiss' κ is undefined: no item has two labels, or all labels are equal")
    return found


def fleiss_kappas(ratings: Ratings, weights: Floats) -> Floats:
    """Fleiss' κ for each row of item weights, NaN where it is undefined."""
    return _fleiss(weights * (ratings.sizes > 1), ratings.counts, np.maximum(ratings.sizes, 2))


def _fleiss(weights: Floats, counts: Any, sizes: npt.NDArray[Any]) -> Floats:
    squares = np.asarray((counts * counts).sum(axis=1)).ravel()
    agreeing = (squares - sizes) / (sizes * (sizes - 1))
    items = weights.sum(axis=1)
    margins = np.asarray((counts.T @ weights.T).T)
    share = margins / np.maximum(margins.sum(axis=1, keepdims=True), 1e-300)
    by_chance = (share**2).sum(axis=1)
    defined = (items > 0) & (by_chance < 1 - 1e-12)
    seen = weights @ agreeing / np.where(items > 0, items, 1.0)
    return np.asarray(np.where(defined, (seen - by_chance) / np.where(defined, 1 - by_chance, 1.0), np.nan))


def cohen_kappas(ratings: Ratings, weights: Floats, *, scale: str) -> Floats:
    """Mean over pairs of assessors of Cohen's κ, for each row of item weights; NaN where no pair has one."""
    met = checked_pairs(ratings)
    v, pairs = len(ratings.values), len(met.names)
    distance = _distance(v, scale)
    seen = _summed(met.item, met.pair, pairs, weights, by=distance[met.first, met.second])
    counts = [_summed(met.item, met.pair * v + code, pairs * v, weights) for code in (met.first, met.second)]
    first, second = (c.reshape(len(weights), pairs, v) for c in counts)
    return _mean_defined(_kappas(seen, first, second, distance))


def overlaps(ratings: Ratings, weights: Floats, *, rel: float) -> Floats:
    """Mean over pairs of assessors of |A ∩ B| / |A ∪ B| of what they call relevant among the items both judged."""
    met = checked_pairs(ratings)
    relevant = ratings.values >= rel
    found = relevant[met.first].astype(np.int64) + relevant[met.second]
    cells = _summed(met.item, met.pair * 3 + found, len(met.names) * 3, weights)
    cells = cells.reshape(len(weights), len(met.names), 3)
    either = cells[..., 1] + cells[..., 2]
    return _mean_defined(np.where(either > 0, cells[..., 2] / np.where(either > 0, either, 1.0), np.nan))


def checked_pairs(ratings: Ratings) -> Pairs:
    """The pairs of assessors who share items; refused where there are too many assessors, or none who share any."""
    raters = len(np.unique(ratings.rater))
    if raters > MOST_RATERS:
        raise UsageError(
            f"κ and overlap compare assessors two by two, and there are {raters}; with so many take alpha or fleiss"
        )
    if not len(ratings.pairs.names):
        raise DataError("no two assessors judged the same item; there is nothing to agree on")
    return ratings.pairs


def _summed(item: Ints, cell: Ints, cells: int, weights: Floats, *, by: Floats | None = None) -> Floats:
    """rows of weights × cells: the weight of the items that fall into each cell, each times `by`."""
    from scipy.sparse import csr_array

    falls = csr_array((np.ones(len(item)) if by is None else by, (item, cell)), shape=(weights.shape[1], cells))
    return np.asarray((falls.T @ weights.T).T)


def _mean_defined(values: Floats) -> Floats:
    """The mean over the last axis of what is not NaN."""
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    count = defined.sum(axis=-1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))
