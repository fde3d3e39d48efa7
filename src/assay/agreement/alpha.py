"""How far do assessors agree beyond chance, any number of them, with labels missing? Krippendorff's α.

α = 1 − observed / expected disagreement, over all pairs of labels of one item and over all pairs of labels. Nominal,
ordinal, interval and ratio differ only in how far two values disagree. Also for many cuts of a scale at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from assay.agreement.ratings import Ratings, everything
from assay.agreement.scales import Level, Scale, checked_level, default_level, given_scale, without_exponent
from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError

CELLS = 2**22
"""Numbers that are worked on at a time."""


def krippendorff_alpha(
    item: npt.ArrayLike, value: npt.ArrayLike, *, level: Level | None = None, scale: Scale | str | None = None
) -> float:
    """Krippendorff's α of labels given as two columns, the item and the value; who gave a label does not matter.

    Disagreement δ² of values c and k: nominal 1 if they differ; ordinal (labels from c to k, the ends counted half)²;
    interval (c−k)²; ratio ((c−k)/(c+k))². Without a level it is the one of the scale (see `default_level`), or of the
    scale that the values look like. Items with one label drop out. 1 is agreement, 0 chance, below 0 worse.
    All values equal: there is nothing to disagree on, and that is an error, as is no item with two labels.

    >>> round(krippendorff_alpha(["d1", "d1", "d2", "d2"], [0, 0, 1, 0]), 4)
    0.0
    """
    ratings = Ratings.of(item, value)
    chosen = level or default_level(given_scale(scale) or ratings.scale)
    found = float(alphas(ratings, everything(ratings), level=chosen)[0])
    if np.isnan(found):
        few = not (ratings.sizes > 1).any()
        what = "no item has two labels" if few else "all labels are equal, so that chance alone agrees"
        raise DataError(f"α is undefined: {what}; it needs items with several labels and two different values")
    return found


def alphas(ratings: Ratings, weights: Floats, *, level: Level) -> Floats:
    """α for each row of item weights; NaN where it is undefined."""
    checked_level(level)
    _check_ratio(ratings.value, level)
    margins = np.asarray((ratings.counts.T @ weights.T).T, dtype=np.float64)
    levels = without_exponent(ratings.levels)
    if level == "ordinal":
        scores = ordinal_scores(margins)
        observed = _observed_squares(ratings, scores, weights)
        expected = _expected_squares(margins, scores)
    else:
        observed = weights @ disagreements(ratings.counts, levels, level)
        expected = expected_disagreements(margins, levels, level)
    return alpha_from(observed, expected, margins.sum(axis=-1))


def alpha_from(observed: Floats, expected: Floats, n: Floats) -> Floats:
    """1 − (n−1)·observed/expected; NaN where nothing is expected, which is where all labels are equal."""
    defined = expected > 0
    share = (n - 1) * observed / np.where(defined, expected, 1.0)
    return np.asarray(np.where(defined, 1 - share, np.nan))


def ordinal_scores(margins: Floats) -> Floats:
    """The place of each level on a line that the labels themselves mark: labels below it and half of its own."""
    return np.asarray(np.cumsum(margins, axis=-1) - margins / 2)


def disagreements(counts: Any, levels: Floats, level: str) -> Floats:
    """Σ δ² over ordered pairs of labels of an item / (labels − 1), for each item: a row of items × levels of counts."""
    if level == "interval":
        centred = levels - levels.mean()
        return squares(counts, centred[None, :])[:, 0]
    sizes = np.asarray(counts.sum(axis=1)).ravel()
    if level == "nominal":
        alike = np.asarray((counts * counts).sum(axis=1)).ravel()
        sums = sizes**2 - alike
    else:
        sums = _ratio_sums(counts, levels)
    return np.asarray(sums / np.maximum(sizes - 1, 1))


def squares(counts: Any, scores: Floats) -> Floats:
    """items × rows of scores: Σ over ordered pairs of labels of (difference of their scores)² / (labels − 1)."""
    size = np.asarray(counts.sum(axis=1)).reshape(-1, 1)
    first = counts @ scores.T
    second = counts @ (scores**2).T
    # Σ over ordered pairs of (s − s')² = 2 (n Σ s² − (Σ s)²); rounding must not make it negative.
    sums = np.maximum(2 * (size * second - first**2), 0.0)
    others = np.maximum(size - 1, 1)
    return np.asarray(sums / others)


def _observed_squares(ratings: Ratings, scores: Floats, weights: Floats) -> Floats:
    """One sum per row of scores and weights, some rows at a time."""
    observed = np.empty(len(scores))
    rows_at_once = CELLS // max(1, len(ratings.doc))
    for rows in chunks(len(scores), rows_at_once):
        of_items = squares(ratings.counts, scores[rows])
        observed[rows] = np.einsum("bu,ub->b", weights[rows], of_items)
    return observed


def _expected_squares(margins: Floats, scores: Floats) -> Floats:
    """Σ n_c n_k (s_c − s_k)² for each row."""
    n = margins.sum(axis=1)
    first = (margins * scores).sum(axis=1)
    second = (margins * scores**2).sum(axis=1)
    return np.asarray(2 * (n * second - first**2))


def expected_disagreements(margins: Floats, levels: Floats, level: str) -> Floats:
    """Σ n_c n_k δ²_ck for each row of margins, n_c how many labels have level c."""
    if level == "ordinal":
        return _expected_squares(margins, ordinal_scores(margins))
    if level == "nominal":
        alike = (margins**2).sum(axis=1)
        return np.asarray(margins.sum(axis=1) ** 2 - alike)
    if level == "interval":
        centred = levels - levels.mean()
        expected = _expected_squares(margins, np.broadcast_to(centred, margins.shape))
        # With one value in a sample the difference of two large sums is rounding, not disagreement.
        different = (margins > 0).sum(axis=1)
        return np.where(different > 1, expected, 0.0)
    total = np.zeros(len(margins))
    levels_at_once = CELLS // max(1, len(levels))
    for rows in chunks(len(levels), levels_at_once):
        delta = _ratio_delta(levels[rows, None], levels[None, :])
        total += ((margins[:, rows] @ delta) * margins).sum(axis=1)
    return total


def _ratio_sums(counts: Any, levels: Floats) -> Floats:
    """Σ over ordered pairs of labels of one item of ((c−k)/(c+k))²; items with as many different levels together."""
    counts = counts.tocsr()
    counts.eliminate_zeros()
    different = np.diff(counts.indptr)
    sums = np.zeros(counts.shape[0])
    for size in np.unique(different[different > 1]):
        items_of_size = np.flatnonzero(different == size)
        items_at_once = CELLS // int(size) ** 2
        for some in chunks(len(items_of_size), items_at_once):
            items = items_of_size[some]
            cells = counts.indptr[items, None] + np.arange(size)
            value = levels[counts.indices[cells]]
            times = counts.data[cells]
            delta = _ratio_delta(value[:, :, None], value[:, None, :])
            sums[items] = (delta * times[:, :, None] * times[:, None, :]).sum(axis=(1, 2))
    return sums


def _ratio_delta(one: Floats, other: Floats) -> Floats:
    """((one − other)/(one + other))², and 0 of two zeros."""
    total = one + other
    share = (one - other) / np.where(total == 0, 1.0, total)
    return np.asarray(share**2)


def _check_ratio(values: Floats, level: str) -> None:
    low = values.min(initial=0)
    if level == "ratio" and low < 0:
        raise DataError(f"a ratio scale starts at 0, but a label is {low:g}; take level interval")


def coincidences(item: npt.ArrayLike, value: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The levels, and how often two of them meet on one item: o_ck = Σ_items pairs(c, k) / (labels − 1).

    >>> values, met = coincidences(["d1", "d1", "d2", "d2"], [0, 0, 1, 0])
    >>> met.tolist()
    [[2.0, 1.0], [1.0, 0.0]]
    """
    ratings = Ratings.of(item, value)
    counts = ratings.counts
    share = 1 / np.maximum(ratings.sizes - 1, 1)
    shared = counts * share[:, None]
    met = (counts.T @ shared).toarray()
    # A label does not meet itself.
    met[np.diag_indices_from(met)] -= counts.T @ share
    return ratings.levels, np.asarray(met)


def alpha_of_coincidences(met: Floats, values: Floats, *, level: Level) -> Floats:
    """α from matrices of coincidences (the last two axes, one row and column per value); NaN where it is undefined.

    >>> values, met = coincidences(["d1", "d1", "d2", "d2"], [0, 0, 1, 0])
    >>> float(alpha_of_coincidences(met, values, level="nominal"))
    0.0
    """
    checked_level(level)
    _check_ratio(values, level)
    values = without_exponent(values)
    margin = met.sum(axis=-1)
    if level == "nominal":
        delta = 1.0 - np.eye(len(values))
    elif level == "ratio":
        delta = _ratio_delta(values[:, None], values[None, :])
    else:
        scores = ordinal_scores(margin) if level == "ordinal" else np.broadcast_to(values, margin.shape)
        apart = scores[..., :, None] - scores[..., None, :]
        delta = apart**2
    observed = (met * delta).sum(axis=(-2, -1))
    by_chance = margin[..., :, None] * margin[..., None, :]
    expected = (by_chance * delta).sum(axis=(-2, -1))
    return alpha_from(observed, expected, margin.sum(axis=-1))


def alpha_of_cuts(
    item: npt.ArrayLike, value: npt.ArrayLike, cuts: npt.ArrayLike, *, level: Level | None = None
) -> Floats:
    """α after each way of cutting a fine scale into a few levels: `cuts` has a row of rising thresholds per way.

    A value ≤ the first threshold becomes 0, ≤ the second 1, …; above the last the highest level. Without a level of
    measurement it is that of the coarse scale: nominal for two levels, ordinal for more. Coincidences are counted once
    and then only added up, so that 100,000 ways take a second. NaN where one level holds everything.

    >>> alpha_of_cuts(["d1", "d1", "d2", "d2"], [0, 10, 90, 100], [[50], [95]]).round(4)
    array([1., 0.])
    """
    ways = np.atleast_2d(np.asarray(cuts, dtype=np.float64))
    if (np.diff(ways, axis=1) < 0).any():
        raise UsageError("the thresholds of a cut must rise from left to right")
    coarse = Scale.ordered(ways.shape[1] + 1)
    taken_at = level or default_level(coarse)
    levels = np.array(coarse.levels)
    values, met = coincidences(item, value)
    n = len(values)
    summed = np.zeros((n + 1, n + 1))
    summed[1:, 1:] = met.cumsum(axis=0).cumsum(axis=1)
    inner = np.searchsorted(values, ways, side="right")
    bounds = np.pad(inner, ((0, 0), (1, 1)), constant_values=(0, n))
    alpha = np.empty(len(ways))
    for rows in chunks(len(ways), 2**16):
        blocks = _blocks(summed, bounds[rows])
        alpha[rows] = alpha_of_coincidences(blocks, levels, level=taken_at)
    return alpha


def _blocks(summed: Floats, bounds: Ints) -> Floats:
    """The sums of the blocks of a matrix between bounds, from its sums over rows and columns."""
    corner = summed[bounds[:, :, None], bounds[:, None, :]]
    between_rows = np.diff(corner, axis=1)
    between_both = np.diff(between_rows, axis=2)
    # Rounding in the running sums must not make a coincidence out of nothing.
    return np.asarray(np.round(between_both, 9))
