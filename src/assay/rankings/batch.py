"""How alike are many rankings and one truth, or many rankings and each other? Whole matrices at once.

Rows are rankings of the same items by score, higher is better. Each row gives the number that the function of two
vectors in `correlation` gives; a row for which it has no value gives NaN, or what the caller says with `undefined`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import DataError
from assay.rankings.counts import concordant_pairs, midranks, tie_groups, tied_pairs

Numbers = npt.NDArray[Any]
NAN = float("nan")
ROWS_AT_ONCE = 4096


def kendall_rows(
    rows: npt.ArrayLike, truth: npt.ArrayLike, *, ties: Literal["a", "b"] = "b", undefined: float = NAN
) -> Floats:
    """Kendall's τ of every row with one truth: τ-b, or with ties="a" τ-a, which is 0 for a row of equal scores.

    >>> kendall_rows([[1, 2, 3], [3, 2, 1], [5, 5, 6], [4, 4, 4]], [10, 20, 30]).round(4).tolist()
    [1.0, -1.0, 0.8165, nan]
    """
    estimates, reference = _checked(rows, truth)
    agree, against, untied_in_row = _counted(estimates, reference)
    pairs = _all_pairs(len(reference))
    if ties == "a":
        return np.asarray((agree - against) / pairs)
    untied_in_truth = pairs - float(tied_pairs(reference))
    return _ratio(agree - against, np.sqrt(untied_in_row * untied_in_truth), undefined)


def pearson_rows(rows: npt.ArrayLike, truth: npt.ArrayLike, *, undefined: float = NAN) -> Floats:
    """Pearson's correlation of every row with one truth.

    >>> pearson_rows([[1, 2, 3], [3, 2, 1], [5, 5, 5]], [10, 20, 30]).round(6).tolist()
    [1.0, -1.0, nan]
    """
    estimates, reference = _checked(rows, truth)
    centred = estimates - estimates.mean(axis=1, keepdims=True)
    target = reference - reference.mean()
    squares = np.einsum("ij,ij->i", centred, centred)
    spread = np.sqrt(squares * (target @ target))
    return _ratio(centred @ target, spread, undefined)


def spearman_rows(rows: npt.ArrayLike, truth: npt.ArrayLike, *, undefined: float = NAN) -> Floats:
    """Spearman's ρ of every row with one truth; tied items share the mean of their ranks.

    >>> spearman_rows([[1, 2, 3], [2, 1, 3]], [10, 20, 30]).round(6).tolist()
    [1.0, 0.5]
    """
    estimates, reference = _checked(rows, truth)
    return pearson_rows(midranks(estimates), midranks(reference), undefined=undefined)


def tau_ap_rows(rows: npt.ArrayLike, truth: npt.ArrayLike) -> Floats:
    """τ_AP of every row with one truth, by the ranks of the row: the mean over all orders of ties, as `tau_ap`.

    >>> tau_ap_rows([[1, 2, 3], [3, 2, 1], [2, 1, 3]], [10, 20, 30]).round(6).tolist()
    [1.0, -1.0, 0.5]
    """
    estimates, reference = _checked(rows, truth)
    hits = np.zeros(len(estimates))
    for part in chunks(len(estimates), 1024):
        hits[part] = hits_above(estimates[part], reference[None, :])
    places_below_first = len(reference) - 1
    return np.asarray(2 * hits / places_below_first - 1)


def kendall_matrix(scores: npt.ArrayLike, *, ties: Literal["a", "b"] = "b", undefined: float = NAN) -> Floats:
    """Kendall's τ of every row of scores with every other, as one product of sign matrices.

    Memory: rows × 64k pairs of items at a time.

    >>> kendall_matrix([[1, 2, 3], [1, 3, 2], [3, 2, 1]]).round(4)[0]
    array([ 1.    ,  0.3333, -1.    ])
    """
    values = finite(np.asarray(scores, dtype=np.float64))
    if values.ndim != 2 or values.shape[1] < 2:
        raise DataError(f"rows of at least two scores are needed, not an array of shape {values.shape}")
    rows, items = values.shape
    agreed = np.zeros((rows, rows))
    first, second = np.triu_indices(items, k=1)
    for pairs in chunks(len(first), 2**16):
        difference = values[:, first[pairs]] - values[:, second[pairs]]
        sign = np.sign(difference).astype(np.float32)
        agreed += sign @ sign.T  # sums of at most 2¹⁶ units: exact in 32 bits
    if ties == "b":
        untied = np.diag(agreed)
    else:
        untied = np.full(rows, float(len(first)))
    sizes = np.sqrt(untied[:, None] * untied[None, :])
    return _ratio(agreed, sizes, undefined)


def pair_signs(scores: Floats) -> Floats:
    """Which of each pair of items is higher: +1, 0, −1, for every row; along the last axis, n(n−1)/2 pairs.

    >>> pair_signs(np.array([[0.3, 0.1, 0.1]])).tolist()
    [[1.0, 1.0, 0.0]]
    """
    first, second = np.triu_indices(scores.shape[-1], 1)
    return np.asarray(np.sign(scores[..., first] - scores[..., second]))


def tau_of_signs(a: Floats, b: Floats, *, undefined: float = NAN) -> Floats:
    """Kendall's τ-b of every row of `pair_signs` a with every row of b; for stacks of such matrices too.

    >>> tau_of_signs(np.array([[1.0, 1.0, -1.0]]), np.array([[1.0, 1.0, 1.0]])).round(4).tolist()
    [[0.3333]]
    """
    untied_a = np.abs(a).sum(axis=-1)[..., :, None]
    untied_b = np.abs(b).sum(axis=-1)[..., None, :]
    agreed = a @ np.swapaxes(b, -1, -2)
    sizes = np.sqrt(untied_a * untied_b)
    return _ratio(agreed, sizes, undefined)


def pair_counts(rows: Numbers, truth: Numbers) -> tuple[Floats, Floats]:
    """Of the pairs of items that the truth orders: how many each row orders likewise, and how many the other way.

    >>> [c.tolist() for c in pair_counts(np.array([[1, 3, 2], [1, 1, 1]]), np.array([1, 2, 3]))]
    [[2.0, 0.0], [1.0, 0.0]]
    """
    agree, against, _ = _counted(rows, truth)
    return agree, against


def _counted(rows: Numbers, truth: Numbers) -> tuple[Floats, Floats, Floats]:
    """For each row: pairs ordered as by the truth, pairs ordered the other way, pairs that the row does not tie."""
    agree, against, untied = np.empty((3, len(rows)))
    # Many ties of the truth: by sorting. Few: one quick comparison per pair, the tied ones taken back.
    many_ties = int(tied_pairs(truth)) > len(truth)
    place = np.argsort(np.argsort(-truth, kind="stable"), kind="stable")
    for part in chunks(len(rows), ROWS_AT_ONCE):
        if many_ties:
            agree[part] = concordant_pairs(rows[part], truth)
            against[part] = concordant_pairs(rows[part], -truth)
            untied[part] = _all_pairs(len(truth)) - tied_pairs(rows[part])
        else:
            agree[part], against[part] = _kept_and_broken(rows[part], place)
    if not many_ties:
        untied[:] = agree + against
        for i, j in listed_ties(truth):
            agree -= rows[:, i] > rows[:, j]
            against -= rows[:, i] < rows[:, j]
    return agree, against, untied


def listed_ties(truth: Numbers) -> list[tuple[int, int]]:
    """Pairs of items that the truth ties, each in the order of a stable descending sort.

    >>> listed_ties(np.array([5, 5, 1, 5]))
    [(0, 1), (1, 3), (0, 3)]
    """
    order = np.argsort(-truth, kind="stable")
    ordered = truth[order]
    pairs: list[tuple[int, int]] = []
    for apart in range(1, len(truth)):
        upper = np.flatnonzero(ordered[:-apart] == ordered[apart:])
        if not len(upper):
            break
        pairs += [(int(order[u]), int(order[u + apart])) for u in upper]
    return pairs


def _kept_and_broken(rows: Numbers, place: Numbers) -> tuple[Floats, Floats]:
    """Pairs of columns that keep and that break the order of their places, 0 for the best.

    One comparison per pair, of small numbers: the items' places in the order of their scores. Tied items stand there
    best first, so that they keep nothing.
    """
    items = rows.shape[1]
    places, ordered = _in_order(rows, place)
    kept = _falls(places).astype(np.float64)
    broken = _all_pairs(items) - kept - _level(ordered)
    return kept, broken


def _in_order(rows: Numbers, place: Numbers) -> tuple[Numbers, Numbers]:
    """Of each row, lowest score first: the items' places, as columns of small numbers, and the scores.

    Both come from one sort where the scores are whole numbers with room for the place in their last bits.
    """
    items = rows.shape[1]
    bits = (items - 1).bit_length()
    largest = np.abs(rows).max(initial=0)
    if np.issubdtype(rows.dtype, np.integer) and largest < 2 ** (62 - bits):
        wide = np.int32 if largest < 2 ** (30 - bits) else np.int64
        keys: Numbers = rows.astype(wide) * (1 << bits) + place.astype(wide)
        keys.sort(axis=1)
        ordered = keys >> bits
        order = keys & ((1 << bits) - 1)
    else:
        best_first = np.argsort(place)
        rows = np.take(rows, best_first, axis=1)
        order = np.argsort(rows, axis=1, kind="stable")
        ordered = np.take_along_axis(rows, order, axis=1)
    places = order.astype(_small(items - 1)).T
    return np.ascontiguousarray(places), ordered


def _falls(columns: Numbers) -> Numbers:
    """For each column: pairs (upper, lower) of its entries of which the upper is greater."""
    items, width = columns.shape
    # Flags of several distances are collected and added up in small numbers, as many as such a sum can hold.
    if items <= 256:
        small, room = np.dtype(np.uint8), 255
    else:
        small, room = _small(items), items
    total = np.zeros(width, np.int64)
    flags = np.empty((room, width), bool)
    used = 0
    for apart in range(1, items):
        more = items - apart
        if used + more > room:
            total += _summed(flags[:used], small)
            used = 0
        np.greater(columns[:-apart], columns[apart:], out=flags[used : used + more])
        used += more
    return np.asarray(total + _summed(flags[:used], small))


def _summed(flags: npt.NDArray[np.bool_], small: np.dtype[Any]) -> Numbers:
    """How many flags of each column are set, counted in small numbers."""
    return np.asarray(np.add.reduce(flags.view(np.uint8), axis=0, dtype=small))


def _level(ordered: Numbers) -> Numbers:
    """For each row of ascending numbers: pairs of equal ones.

    >>> _level(np.array([[1, 2, 2, 2], [1, 2, 3, 3], [1, 2, 3, 4]])).tolist()
    [3, 1, 0]
    """
    tied = np.zeros(len(ordered), np.intp)
    rows = np.arange(len(ordered))
    items = ordered.shape[1]
    for apart in range(1, items):
        equal = np.flatnonzero(ordered[:, apart:] == ordered[:, :-apart])
        if not len(equal):
            break
        row_of_equal = equal // (items - apart)
        count = np.bincount(row_of_equal, minlength=len(rows))
        tied[rows] += count
        # Further apart only rows that have equal ones here can have them.
        rows = rows[count > 0]
        ordered = ordered[count > 0]
    return tied


def hits_above(rows: Numbers, truths: Numbers) -> Floats:
    """Of each row: Σ_i C(i)/(i−1), ties in any order; truths: one row for each, or one for all."""
    items = rows.shape[1]
    lower, size = tie_groups(rows)
    higher = items - lower - size
    others_tied = size - 1
    total = np.zeros(len(rows))
    for i in range(items):
        own = rows[:, i : i + 1]
        above = (rows > own).astype(np.float32)
        # To what part an item is above this one in truth: 1, a half if tied, 0. Halves are exact, and fast.
        order_in_truth = np.sign(truths - truths[:, i : i + 1])
        above_in_truth = ((order_in_truth + 1) / 2).astype(np.float32)
        sure = _products(above, above_in_truth)
        alone = others_tied[:, i] == 0
        total += np.where(alone, sure / np.maximum(higher[:, i], 1), 0.0)
        # Where others have the same score, the item itself is among them: it is half above itself.
        some = np.flatnonzero(~alone)
        same = (rows[some] == own[some]).astype(np.float32)
        truth_of_some = above_in_truth if len(above_in_truth) == 1 else above_in_truth[some]
        level = _products(same, truth_of_some).astype(np.float64) - 0.5
        hits = sure[some].astype(np.float64)
        total[some] += _expected_hits(hits, level, higher[some, i], others_tied[some, i])
    return total


def _products(rows: npt.NDArray[np.float32], truths: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Σ of each row times its truth, or times the one truth of all."""
    if len(truths) == 1:
        return np.asarray(rows @ truths[0])
    return np.asarray(np.einsum("bi,bi->b", rows, truths))


def _expected_hits(sure: Floats, level: Floats, higher: Ints, tied: Ints) -> Floats:
    """E[C(i)/(i−1)] of one item when its ties come in any order.

    `sure` hits among the `higher` items, `level` hits among the `tied` ones. With t of those above it, uniform on
    0 … tied, the share is (sure + t·level/tied) / (higher + t); the first rank has no share.
    """
    total = np.zeros(len(sure))
    of_one_tied = np.maximum(tied, 1)
    for t in range(int(tied.max(initial=0)) + 1):
        above = higher + t
        possible = (t <= tied) & (above > 0)
        hits = sure + t * level / of_one_tied
        share = hits / np.maximum(above, 1)
        total += np.where(possible, share / (tied + 1), 0.0)
    return total


def _ratio(top: Floats, bottom: Floats, undefined: float) -> Floats:
    empty = np.full(np.shape(bottom), undefined)
    return np.asarray(np.divide(top, bottom, out=empty, where=bottom > 0))


def _small(largest: int) -> np.dtype[Any]:
    """The smallest unsigned whole numbers that hold the largest."""
    return np.min_scalar_type(largest)


def _all_pairs(items: int) -> int:
    return items * (items - 1) // 2


def _checked(rows: npt.ArrayLike, truth: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    """Rows and a truth over the same items, at least two, finite."""
    estimates = np.asarray(rows)
    reference = np.asarray(truth)
    if estimates.ndim != 2 or reference.ndim != 1 or estimates.shape[1] != len(reference):
        raise DataError(f"rows over the items of the truth are needed, not {estimates.shape} and {reference.shape}")
    if len(reference) < 2:
        raise DataError(f"two items or more are needed to compare rankings, not {len(reference)}")
    return finite(estimates), finite(reference)


def finite(values: Numbers) -> Numbers:
    """The values if all are finite, else an error."""
    if not np.issubdtype(values.dtype, np.integer) and not np.isfinite(values).all():
        raise DataError(f"a score is {values[~np.isfinite(values)][0]}; scores must be finite numbers")
    return values
