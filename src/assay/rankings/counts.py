"""How many pairs do two rankings order alike? Ranks and ties, and pairs that are counted, never listed.

Kendall's τ, preference similarity and cross-scale agreement all rest on these counts. A count takes n log n steps, over
whole batches at once; memory is a few integer arrays of the size of the batch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints

DIGITS = 12
"""Means that agree in this number of decimals of the largest are tied: the rest is rounding."""


def settled(scores: npt.ArrayLike) -> Floats:
    """Scores without the noise of adding in another order: what differs in the thirteenth decimal only is made equal.

    Decimals are counted from the power of two above the largest score of a row (along the last axis), so that tiny and
    huge scores are treated alike. For means and sums; scores that a person gives are compared as they are.

    >>> settled([0.1 + 0.2, 0.3, 0.6]).tolist()
    [0.3, 0.3, 0.6]
    >>> (settled([2e-20, 1e-20]) / 1e-20).round(9).tolist()
    [2.0, 1.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    _, exponent = np.frexp(largest)
    # Scaling by a power of two changes no digit.
    scaled = np.ldexp(values, -exponent)
    rounded = np.round(scaled, DIGITS)
    return np.asarray(np.ldexp(rounded, exponent))


def concordant_pairs(x: npt.ArrayLike, y: npt.ArrayLike) -> Ints:
    """Pairs i, j with x_i < x_j and y_i < y_j, for each row; a tie in either is not concordant.

    Works along the last axis, so that many pairs of rankings are counted in one call.

    >>> int(concordant_pairs([1, 2, 3], [1, 3, 2])), int(concordant_pairs([1, 1, 2], [5, 6, 7]))
    (2, 2)
    """
    first, second = np.broadcast_arrays(np.asarray(x), np.asarray(y))
    # Ties of x go by falling y, and ties of y by falling position, so that no tied pair ascends.
    by_x_then_falling_y = np.lexsort((-second, first), axis=-1)
    in_order_of_x = np.take_along_axis(second, by_x_then_falling_y, axis=-1)
    last_place_first = in_order_of_x[..., ::-1]
    place_from_end = np.argsort(last_place_first, axis=-1, kind="stable")
    last = in_order_of_x.shape[-1] - 1
    place = last - place_from_end
    return ascending_pairs(place)


def ascending_pairs(permutations: npt.ArrayLike) -> Ints:
    """Pairs i < j with π_i < π_j of each permutation of 0 … n−1 (along the last axis).

    Values are separated bit by bit from the highest: within a group that shares its higher bits, a 1 before a 0 is a
    descending pair. n log n steps, each over the whole batch.

    >>> ascending_pairs([[0, 1, 2], [2, 1, 0], [1, 0, 2]])
    array([3, 0, 2])
    """
    given = np.asarray(permutations)
    batch = given.shape[:-1]
    n = given.shape[-1]
    rows = math.prod(batch)
    small = np.int16 if n < 2**15 else np.int32
    values: npt.NDArray[Any] = given.reshape(rows, n).astype(small)
    place: npt.NDArray[Any] = np.arange(n).astype(small)
    start_of_row = np.arange(rows)[:, None] * n
    descending = np.zeros(rows, dtype=np.int64)
    largest = max(0, n - 1)
    for bit in reversed(range(largest.bit_length())):
        # Values that share the bits above this one stand together, in a group that starts at a multiple of 2^(bit+1).
        group_start = (place >> (bit + 1)) << (bit + 1)
        is_one = (values >> bit) & 1
        ones_so_far = np.cumsum(is_one, axis=1, dtype=values.dtype)
        ones_before: npt.NDArray[Any] = ones_so_far - is_one
        ones_before -= ones_before[:, group_start]
        ones_before_zeros = ones_before * (1 - is_one)
        descending += ones_before_zeros.sum(axis=1, dtype=np.int64)
        # Zeros move to the front of their group and ones to its back, each in their order.
        place_of_one = ones_before + (group_start + (1 << bit))
        place_of_zero = place - ones_before
        place_in_row = np.where(is_one == 1, place_of_one, place_of_zero)
        target = place_in_row + start_of_row
        separated = np.empty_like(values)
        separated.reshape(-1)[target.reshape(-1)] = values.reshape(-1)
        values = separated
    all_pairs = n * (n - 1) // 2
    ascending = all_pairs - descending
    return ascending.reshape(batch)


def tied_pairs(x: npt.ArrayLike) -> Ints:
    """Pairs with equal values, for each row.

    >>> int(tied_pairs([1, 1, 1, 2]))
    3
    """
    _, size = tie_groups(np.asarray(x))
    # Each value is tied with the others of its group; that counts every pair twice.
    tied_with = size - 1
    return np.asarray(tied_with.sum(axis=-1) // 2)


def midranks(x: npt.ArrayLike) -> Floats:
    """Ranks 1 … n from the smallest value up, tied values sharing the mean of their ranks; along the last axis.

    >>> midranks([10, 30, 30, 20])
    array([1. , 3.5, 3.5, 2. ])
    """
    order, group_start, group_end = _groups_in_order(np.asarray(x))
    ranks = np.empty(order.shape)
    np.put_along_axis(ranks, order, (group_start + group_end + 1) / 2, axis=-1)
    return ranks


def tie_groups(x: npt.NDArray[np.generic]) -> tuple[Ints, Ints]:
    """For each value how many are smaller, and how many are equal (itself included); along the last axis.

    >>> [g.tolist() for g in tie_groups(np.array([10, 30, 30, 20]))]
    [[0, 2, 2, 1], [1, 2, 2, 1]]
    """
    order, group_start, group_end = _groups_in_order(x)
    smaller = np.empty(x.shape, np.int64)
    size = np.empty(x.shape, np.int64)
    np.put_along_axis(smaller, order, group_start, axis=-1)
    np.put_along_axis(size, order, group_end - group_start, axis=-1)
    return smaller, size


def _groups_in_order(x: npt.NDArray[np.generic]) -> tuple[Ints, Ints, Ints]:
    """An ascending order along the last axis, and for each place in it where its group of equal values starts and ends.

    Which of equal values comes first does not matter, so that the fastest way to sort will do.
    """
    n = x.shape[-1]
    order = np.argsort(x, axis=-1)
    ordered = np.take_along_axis(x, order, axis=-1)
    place = np.broadcast_to(np.arange(n), x.shape)
    starts = np.ones(x.shape, dtype=bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ends = np.roll(starts, -1, axis=-1)
    # The start of a group is carried to the right, its end to the left.
    start_if_there = np.where(starts, place, 0)
    group_start = np.maximum.accumulate(start_if_there, axis=-1)
    end_if_there = np.where(ends, place + 1, n)
    from_the_right = np.minimum.accumulate(end_if_there[..., ::-1], axis=-1)
    group_end = from_the_right[..., ::-1]
    return order, group_start, group_end
