"""How many pairs do two rankings order alike? Counting, never listing.

Kendall's τ, preference similarity and cross-scale agreement all rest on these counts. A count takes n log n steps, over
whole batches at once; memory is a few integer arrays of the size of the batch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints


def concordant_pairs(x: npt.ArrayLike, y: npt.ArrayLike) -> Ints:
    """Pairs i, j with x_i < x_j and y_i < y_j, for each row; a tie in either is not concordant.

    Works along the last axis, so that many pairs of rankings are counted in one call.

    >>> int(concordant_pairs([1, 2, 3], [1, 3, 2])), int(concordant_pairs([1, 1, 2], [5, 6, 7]))
    (2, 2)
    """
    a, b = np.broadcast_arrays(np.asarray(x), np.asarray(y))
    # Ties of x go by falling y, and ties of y by falling position, so that no tied pair ascends.
    order = np.lexsort((-b, a), axis=-1)
    b = np.take_along_axis(b, order, axis=-1)
    falling = np.argsort(b[..., ::-1], axis=-1, kind="stable")
    return ascending_pairs(b.shape[-1] - 1 - falling)


def ascending_pairs(permutations: npt.ArrayLike) -> Ints:
    """Pairs i < j with π_i < π_j of each permutation of 0 … n−1 (along the last axis).

    Values are parted bit by bit from the highest: within a group that shares its higher bits, a 1 before a 0 is a
    descending pair. n log n steps, each over the whole batch.

    >>> ascending_pairs([[0, 1, 2], [2, 1, 0], [1, 0, 2]])
    array([3, 0, 2])
    """
    given = np.asarray(permutations)
    n = given.shape[-1]
    kind = np.int16 if n < 2**15 else np.int32
    values: npt.NDArray[Any] = given.reshape(math.prod(given.shape[:-1]), n).astype(kind)
    place = np.arange(n, dtype=values.dtype)
    row = np.arange(len(values))[:, None] * n
    descending = np.zeros(len(values), dtype=np.int64)
    for bit in reversed(range(max(0, n - 1).bit_length())):
        start = (place >> (bit + 1)) << (bit + 1)
        one = (values >> bit) & 1
        before = np.cumsum(one, axis=1, dtype=values.dtype) - one
        before -= before[:, start]
        descending += (before * (1 - one)).sum(axis=1, dtype=np.int64)
        target = np.where(one == 1, before + (start + (1 << bit)), place - before) + row
        parted = np.empty_like(values)
        parted.reshape(-1)[target.reshape(-1)] = values.reshape(-1)
        values = parted
    return (n * (n - 1) // 2 - descending).reshape(given.shape[:-1])


def tied_pairs(x: npt.ArrayLike) -> Ints:
    """Pairs with equal values, for each row.

    >>> int(tied_pairs([1, 1, 1, 2]))
    3
    """
    _, size = tie_groups(np.asarray(x))
    return np.asarray((size - 1).sum(axis=-1) // 2)


def midranks(x: npt.ArrayLike) -> Floats:
    """Ranks 1 … n from the smallest value up, tied values sharing the mean of their ranks; along the last axis.

    >>> midranks([10, 30, 30, 20])
    array([1. , 3.5, 3.5, 2. ])
    """
    first, size = tie_groups(np.asarray(x))
    return np.asarray(first + (size + 1) / 2)


def tie_groups(x: npt.NDArray[np.generic]) -> tuple[Ints, Ints]:
    """For each value how many are smaller, and how many are equal (itself included); along the last axis.

    >>> [g.tolist() for g in tie_groups(np.array([10, 30, 30, 20]))]
    [[0, 2, 2, 1], [1, 2, 2, 1]]
    """
    order = np.argsort(x, axis=-1, kind="stable")
    ordered = np.take_along_axis(x, order, axis=-1)
    n = x.shape[-1]
    place = np.broadcast_to(np.arange(n), x.shape)
    new = np.ones(x.shape, dtype=bool)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    first = np.maximum.accumulate(np.where(new, place, 0), axis=-1)
    last = np.roll(new, -1, axis=-1)
    end = np.minimum.accumulate(np.where(last, place + 1, n)[..., ::-1], axis=-1)[..., ::-1]
    smaller, size = np.empty(x.shape, np.int64), np.empty(x.shape, np.int64)
    np.put_along_axis(smaller, order, first, axis=-1)
    np.put_along_axis(size, order, end - first, axis=-1)
    return smaller, size
