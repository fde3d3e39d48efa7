"""How alike are many pairs of rankings? Row by row, each ranking of one matrix with the ranking of the other.

Rows are rankings of the same items by score, higher is better; the i-th row is compared with the i-th. For resampled
topics, where the truth is resampled too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.engine import chunks
from assay.core.errors import DataError
from assay.rankings.batch import Numbers, finite, hits_above
from assay.rankings.counts import tie_groups

CELLS = 2**19
"""Pairs of items that are looked at a time."""


def kendall_pairs(rows: npt.ArrayLike, truths: npt.ArrayLike) -> Floats:
    """Kendall's τ-b of every row with the truth of the same place; NaN where one of them ties all items.

    >>> kendall_pairs([[1, 2, 3], [3, 2, 1], [1, 1, 1]], [[10, 20, 30], [10, 20, 30], [1, 2, 3]]).tolist()
    [1.0, -1.0, nan]
    """
    estimates, references = _same_shape(rows, truths)
    first, second = np.triu_indices(estimates.shape[1], 1)
    taus = np.full(len(estimates), np.nan)
    for part in chunks(len(estimates), max(1, CELLS // max(1, len(first)))):
        own = _order_of_pairs(estimates[part], first, second)
        true = _order_of_pairs(references[part], first, second)
        agreed = np.einsum("bp,bp->b", own, true, dtype=np.float64)
        untied = np.count_nonzero(own, axis=1) * np.count_nonzero(true, axis=1).astype(np.float64)
        taus[part] = np.divide(agreed, np.sqrt(untied), out=taus[part], where=untied > 0)
    return taus


def _order_of_pairs(rows: Numbers, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]) -> Numbers:
    """rows × pairs of items: +1 where the first is higher, −1 where the second is, 0 where they are tied."""
    one = rows[:, first]
    other = rows[:, second]
    return (one > other).astype(np.float32) - (one < other)


def _same_shape(rows: npt.ArrayLike, truths: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    """Rows of the same items, at least two, all finite."""
    first = finite(np.asarray(rows))
    second = finite(np.asarray(truths))
    if first.ndim != 2 or first.shape != second.shape or first.shape[1] < 2:
        raise DataError(f"rows of the same items are needed, not {first.shape} and {second.shape}")
    return first, second


def tau_ap_pairs(rows: npt.ArrayLike, truths: npt.ArrayLike) -> Floats:
    """τ_AP of every row with the truth of the same place, by the ranks of the row, as `tau_ap_rows`.

    >>> tau_ap_pairs([[1, 2, 3], [2, 1, 3]], [[10, 20, 30], [20, 10, 30]]).tolist()
    [1.0, 1.0]
    """
    estimates, references = _same_shape(rows, truths)
    hits = np.zeros(len(estimates))
    for part in chunks(len(estimates), 1024):
        hits[part] = hits_above(estimates[part], references[part])
    return np.asarray(2 * hits / (estimates.shape[1] - 1) - 1)


def rbo_pairs(rows: npt.ArrayLike, others: npt.ArrayLike, *, p: float = 0.9) -> Floats:
    """RBO (EXT) of every row with the other of the same place, both rankings of the same items by score.

    Tied items share the ranks of their group, each with the same chance, as in `rbo` with ties="a".

    >>> rbo_pairs([[3, 2, 1], [3, 2, 2]], [[3, 1, 2], [3, 2, 1]]).round(4).tolist()
    [0.955, 0.9775]
    """
    first, second = _same_shape(rows, others)
    items = first.shape[1]
    depth = np.arange(1, items + 1)
    weight = (1 - p) * p ** (depth - 1)
    found = np.zeros(len(first))
    for part in chunks(len(first), max(1, 2**22 // items**2)):
        overlap = _overlaps(first[part], second[part])
        # Both hold all items, so that they agree wholly at the end, and from there on.
        found[part] = (overlap / depth) @ weight + p**items
    return found


def _overlaps(first: Numbers, second: Numbers) -> Floats:
    """rows × depths: how many of the first d items both have; where items are tied, how many on average."""
    rows, items = first.shape
    lower_a, size_a = tie_groups(first)
    lower_b, size_b = tie_groups(second)
    above_a = items - lower_a - size_a
    above_b = items - lower_b - size_b
    # An item that is tied in neither is in both from its worse rank on.
    alone = (size_a == 1) & (size_b == 1)
    row, item = np.nonzero(alone)
    worse = np.maximum(above_a, above_b)[row, item]
    steps = np.bincount(row * items + worse, minlength=rows * items)
    overlap = steps.reshape(rows, items).cumsum(axis=1).astype(np.float64)
    row, item = np.nonzero(~alone)
    depth = np.arange(1, items + 1)
    chance_a = np.clip((depth - above_a[row, item, None]) / size_a[row, item, None], 0.0, 1.0)
    chance_b = np.clip((depth - above_b[row, item, None]) / size_b[row, item, None], 0.0, 1.0)
    np.add.at(overlap, row, chance_a * chance_b)
    return overlap
