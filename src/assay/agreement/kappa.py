"""How far do two assessors, or a fixed number of them, agree beyond chance? Cohen's, weighted and Fleiss' κ; overlap.

With more than two assessors Cohen's κ and the overlap are means over all pairs of assessors who share items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from assay.agreement.ratings import Pairs, Ratings
from assay.agreement.scales import without_exponent
from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table

Weights = Literal["none", "linear", "quadratic"]
WEIGHTS: tuple[Weights, ...] = ("none", "linear", "quadratic")
MOST_WORKERS = 50


@dataclass(frozen=True, eq=False)
class Contingency(Result):
    """How often one assessor's value (row) met the other's (column)."""

    names: tuple[str, str]
    values: tuple[float, ...]
    counts: Ints

    def table(self) -> Table:
        """The counts with their margins."""
        one, other = self.names
        shown = _shown(self.values)
        corner = f"{one} ↓ {other} →"
        columns = {corner: "", **dict.fromkeys(shown, "d"), "all": "d"}
        rows: list[tuple[Any, ...]] = []
        for value, row in zip(shown, self.counts, strict=True):
            rows.append((value, *row, row.sum()))
        of_columns = self.counts.sum(axis=0)
        rows.append(("all", *of_columns, self.counts.sum()))

        keys = {value: value for value in shown}
        keys[corner] = "value"
        caption = f"{one} against {other}"
        return Table.of(columns, rows, caption=caption, keys=keys)


def _shown(values: tuple[float, ...]) -> list[str]:
    """The values as short as they stay different."""
    short = [f"{value:g}" for value in values]
    if len(set(short)) == len(values):
        return short
    return [repr(value) for value in values]


def contingency(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    names: tuple[str, str] = ("a", "b"),
    values: npt.ArrayLike | None = None,
) -> Contingency:
    """The table of two assessors' values of the same items; values: the rows, by default those that occur.

    >>> contingency([0, 0, 1], [0, 1, 1]).counts.tolist()
    [[1, 1], [0, 1]]
    """
    x = np.asarray(a, dtype=np.float64)
    y = np.asarray(b, dtype=np.float64)
    same_items = x.ndim == 1 and x.shape == y.shape
    if not same_items or not len(x):
        raise DataError(f"two columns of labels of the same items are needed, not shapes {x.shape} and {y.shape}")
    both = np.concatenate([x, y])
    if not np.isfinite(both).all():
        raise DataError("a label is not a finite number; leave missing labels out")
    if values is None:
        levels = np.unique(both)
    else:
        levels = np.unique(np.asarray(values, dtype=np.float64))
    if not np.isin(both, levels).all():
        known = _shown(tuple(levels.tolist()))
        raise DataError(f"a label is none of the values {', '.join(known)}")

    # Each item falls into the cell of its two values, row after row of the table.
    size = len(levels)
    row = np.searchsorted(levels, x)
    column = np.searchsorted(levels, y)
    cell = row * size + column
    counts = np.bincount(cell, minlength=size * size)
    return Contingency(
        names,
        tuple(levels.tolist()),
        counts.reshape(size, size),
    )


def contingencies(ratings: Ratings) -> list[Contingency]:
    """One table for each pair of assessors who share items, all with the same rows and columns."""
    met = checked_pairs(ratings)
    used = np.unique(ratings.value)
    tables = []
    for number, names in enumerate(met.names):
        rows = met.pair == number
        first = ratings.levels[met.first[rows]]
        second = ratings.levels[met.second[rows]]
        table = contingency(first, second, names=names, values=used)
        tables.append(table)
    return tables


def cohen_kappa(a: npt.ArrayLike, b: npt.ArrayLike, *, weights: Weights = "none") -> float:
    """Cohen's κ of two assessors' labels of the same items; weighted by how far two grades are apart if asked.

    κ = 1 − Σ w·observed / Σ w·expected with w = 1 off the diagonal, |c−k| (linear) or (c−k)² (quadratic), c and k the
    two values: grades 1 and 3 are two apart, whether or not anybody gave a 2. Where both give one and the same value
    throughout it is undefined: an error.

    >>> round(cohen_kappa([0] * 80 + [1] * 20, [0] * 50 + [1] * 30 + [0] * 10 + [1] * 10), 4)
    0.0909
    >>> round(cohen_kappa([0, 1, 3, 3], [0, 1, 1, 3], weights="linear"), 4)
    0.6364
    """
    table = contingency(a, b)
    return kappa_of_table(table.counts, weights=weights, values=table.values)


def kappa_of_table(table: npt.ArrayLike, *, weights: Weights = "none", values: npt.ArrayLike | None = None) -> float:
    """Cohen's κ of a square table of counts, a row per value of one assessor and a column per value of the other.

    values: what the rows stand for, which the weights need; 0, 1, 2, … by default.

    >>> round(kappa_of_table([[50, 30], [10, 10]]), 4)
    0.0909
    """
    counts = np.asarray(table, dtype=np.float64)
    is_square = counts.ndim == 2 and counts.shape[0] == counts.shape[1]
    if not is_square or (counts < 0).any() or not counts.sum():
        raise DataError(f"κ needs a square table of counts, not one of shape {counts.shape}")
    size = len(counts)
    levels = np.arange(size) if values is None else np.asarray(values)
    if levels.shape != (size,):
        raise DataError(f"κ needs one value for each of the {size} rows, not shape {levels.shape}")

    distance = _distance(levels.astype(np.float64), weights)
    weighted = distance * counts
    kappas = _kappas(
        seen=np.asarray(weighted.sum()),
        first=counts.sum(axis=1),
        second=counts.sum(axis=0),
        distance=distance,
    )
    kappa = float(kappas)
    if np.isnan(kappa):
        raise DataError("κ is undefined: both assessors gave one and the same value throughout")
    return kappa


def kappas_of_tables(tables: Floats, values: npt.ArrayLike, *, weights: Weights = "none") -> Floats:
    """Cohen's κ of many square tables of counts (the last two axes), as `kappa_of_table`; NaN where it is undefined.

    >>> kappas_of_tables(np.array([[[50.0, 30], [10, 10]], [[4, 0], [0, 0]]]), [0, 1]).round(4).tolist()
    [0.0909, nan]
    """
    distance = _distance(np.asarray(values, dtype=np.float64), weights)
    weighted = tables * distance
    return _kappas(
        seen=weighted.sum(axis=(-2, -1)),
        first=tables.sum(axis=-1),
        second=tables.sum(axis=-2),
        distance=distance,
    )


def _kappas(seen: Floats, first: Floats, second: Floats, distance: Floats) -> Floats:
    """κ from the disagreement seen and the two assessors' counts of each value (last axis), NaN where undefined."""
    n = first.sum(axis=-1)
    # Σ over pairs of values of distance · n₁ · n₂ / n: what two unrelated assessors with these counts would show.
    weighted = (first @ distance) * second
    by_chance = weighted.sum(axis=-1) / np.where(n > 0, n, 1.0)

    # κ = 1 − seen / by chance
    defined = by_chance > 0
    share = seen / np.where(defined, by_chance, 1.0)
    return np.asarray(np.where(defined, 1 - share, np.nan))


def _distance(levels: Floats, weights: str) -> Floats:
    """values × values: how far two of them are apart, by the values themselves and not by their places."""
    if weights not in WEIGHTS:
        raise UsageError(f"κ has no weights {weights!r}; known: {', '.join(WEIGHTS)}")
    if weights == "none":
        return 1.0 - np.eye(len(levels))
    small = without_exponent(levels)
    apart = np.abs(small[:, None] - small[None, :])
    if weights == "linear":
        return apart
    return apart**2


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
    sizes = table.sum(axis=1)
    each_once = np.ones((1, len(table)))
    kappa = float(_fleiss(each_once, table, sizes)[0])
    if np.isnan(kappa):
        raise DataError("Fleiss' κ is undefined: no item has two labels, or all labels are equal")
    return kappa


def fleiss_kappas(ratings: Ratings, weights: Floats) -> Floats:
    """Fleiss' κ for each row of item weights, NaN where it is undefined."""
    weights_of_pairable = weights * (ratings.sizes > 1)
    # Items of one label have no weight; 2 keeps their share of pairs from dividing by zero.
    sizes = np.maximum(ratings.sizes, 2)
    return _fleiss(weights_of_pairable, ratings.counts, sizes)


def _fleiss(weights: Floats, counts: Any, sizes: npt.NDArray[Any]) -> Floats:
    """Fleiss' κ for each row of item weights; sizes: labels of each item, two at least."""
    # Of each item the share of its pairs of labels that agree: Σ n (n − 1) / N (N − 1).
    squares = np.asarray((counts * counts).sum(axis=1)).ravel()
    agreeing = (squares - sizes) / (sizes * (sizes - 1))
    items = weights.sum(axis=1)
    seen = weights @ agreeing / np.where(items > 0, items, 1.0)

    # The chance that two labels agree: Σ (share of a value)².
    margins = np.asarray((counts.T @ weights.T).T)
    labels = margins.sum(axis=1, keepdims=True)
    share = margins / np.maximum(labels, 1e-300)
    by_chance = (share**2).sum(axis=1)

    defined = (items > 0) & (by_chance < 1 - 1e-12)
    beyond_chance = seen - by_chance
    kappa = beyond_chance / np.where(defined, 1 - by_chance, 1.0)
    return np.asarray(np.where(defined, kappa, np.nan))


def cohen_kappas(ratings: Ratings, weights: Floats, *, weighting: str) -> Floats:
    """Mean over pairs of assessors of Cohen's κ, for each row of item weights; NaN where no pair has one."""
    met = checked_pairs(ratings)
    distance = _distance(ratings.levels, weighting)
    seen = _summed(
        met.item,
        met.pair,
        len(met.names),
        weights,
        by=distance[met.first, met.second],
    )
    levels = len(ratings.levels)

    first = _values_by_pair(met, met.first, levels, weights)
    second = _values_by_pair(met, met.second, levels, weights)
    kappas = _kappas(seen, first, second, distance)
    return _mean_defined(kappas)


def _values_by_pair(met: Pairs, answer: Ints, levels: int, weights: Floats) -> Floats:
    """rows of weights × pairs of assessors × levels: how often one of the two gave each level."""
    pairs = len(met.names)
    cell = met.pair * levels + answer
    counts = _summed(met.item, cell, pairs * levels, weights)
    return counts.reshape(len(weights), pairs, levels)


def overlaps(ratings: Ratings, weights: Floats, *, rel: float) -> Floats:
    """Mean over pairs of assessors of |A ∩ B| / |A ∪ B| of what they call relevant among the items both judged."""
    met = checked_pairs(ratings)
    relevant = ratings.levels >= rel
    # Of each shared item: whether none, one or both of the two call it relevant.
    by_first = relevant[met.first].astype(np.int64)
    how_many = by_first + relevant[met.second]
    items = _values_by_pair(met, how_many, 3, weights)
    both = items[..., 2]
    either = items[..., 1] + both
    share = both / np.where(either > 0, either, 1.0)
    return _mean_defined(np.where(either > 0, share, np.nan))


def checked_pairs(ratings: Ratings) -> Pairs:
    """The pairs of assessors who share items; refused where there are too many assessors, or none who share any."""
    workers = len(np.unique(ratings.worker))
    if workers > MOST_WORKERS:
        raise UsageError(
            f"κ and overlap compare assessors two by two, and there are {workers}; "
            f"with more than {MOST_WORKERS} take alpha or fleiss"
        )
    if not len(ratings.pairs.names):
        raise DataError("no two assessors judged the same item; there is nothing to agree on")
    return ratings.pairs


def _summed(item: Ints, cell: Ints, cells: int, weights: Floats, *, by: Floats | None = None) -> Floats:
    """rows of weights × cells: the weight of the items that fall into each cell, each times `by`."""
    from scipy.sparse import csr_array

    amount = np.ones(len(item)) if by is None else by
    falls = csr_array(
        (amount, (item, cell)),
        shape=(weights.shape[1], cells),
    )
    return np.asarray((falls.T @ weights.T).T)


def _mean_defined(values: Floats) -> Floats:
    """The mean over the last axis of what is not NaN."""
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    count = defined.sum(axis=-1)
    mean = total / np.maximum(count, 1)
    return np.asarray(np.where(count > 0, mean, np.nan))
