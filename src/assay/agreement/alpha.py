"""How far do assessors agree beyond chance, any number of them, with labels missing? Krippendorff's α.

α = 1 − observed / expected disagreement, over all pairs of labels of one item and over all pairs of labels. Nominal,
ordinal, interval and ratio differ only in how far two values disagree. Also for many cuts of a scale at once.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from assay.agreement.ratings import Ratings, everything
from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS = ("nominal", "ordinal", "interval", "ratio")


def krippendorff_alpha(item: npt.ArrayLike, value: npt.ArrayLike, *, level: Level = "interval") -> float:
    """Krippendorff's α of labels given as two columns, the item and the value; who gave a label does not matter.

    Disagreement δ² of values c and k: nominal 1 if they differ; ordinal (labels from c to k, the ends counted half)²;
    interval (c−k)²; ratio ((c−k)/(c+k))². Items with one label drop out. 1 is agreement, 0 chance, below 0 worse.
    All values equal: there is nothing to disagree on, and that is an error, as is no item with two labels.

    >>> round(krippendorff_alpha(["d1", "d1", "d2", "d2"], [0, 0, 1, 0], level="nominal"), 4)
    0.0
    """
    ratings = Ratings.of(item, value)
    found = float(alphas(ratings, everything(ratings), level=level)[0])
    if np.isnan(found):
        few = not (ratings.sizes > 1).any()
        what = "no item has two labels" if few else "all labels are equal, so that chance alone agrees"
        raise DataError(f"α is undefined: {what}; it needs items with several labels and two different values")
    return found


def alphas(ratings: Ratings, weights: Floats, *, level: Level = "interval") -> Floats:
    """α for each row of item weights (bootstrap samples); NaN where it is undefined."""
    if level not in LEVELS:
        raise UsageError(f"α has no level {level!r}; known: {', '.join(LEVELS)}")
    _check_ratio(ratings.values, level)
    margins = np.asarray((ratings.counts.T @ weights.T).T, dtype=np.float64)
    n = margins.sum(axis=1)
    if level == "ordinal":
        scores = np.cumsum(margins, axis=1) - margins / 2
        observed = _observed_squares(ratings, scores, weights)
        expected = _expected_squares(margins, scores)
    else:
        observed = weights @ _disagreement(ratings, level)
        expected = _expected(margins, ratings.values, level)
    safe = np.where(expected > 0, expected, 1.0)
    return np.asarray(np.where(expected > 0, 1 - (n - 1) * observed / safe, np.nan))


def _disagreement(ratings: Ratings, level: str) -> Floats:
    """Σ δ² over ordered pairs of labels of an item / (labels − 1), for each item."""
    less_one = np.maximum(ratings.sizes - 1, 1)
    if level == "nominal":
        counts = ratings.counts
        squares = np.asarray((counts * counts).sum(axis=1)).ravel()
        pairable = np.where(ratings.sizes > 1, ratings.sizes, 0)
        return np.asarray((pairable.astype(np.float64) ** 2 - squares) / less_one)
    if level == "interval":
        return _squares(ratings, (ratings.values - ratings.values.mean())[None, :])[:, 0]
    return np.asarray(_ratio_sums(ratings) / less_one)


def _squares(ratings: Ratings, scores: Floats) -> Floats:
    """items × rows of scores: Σ over ordered pairs of labels of (difference of their scores)² / (labels − 1)."""
    first, second = ratings.counts @ scores.T, ratings.counts @ (scores**2).T
    size = ratings.sizes[:, None]
    return np.asarray(np.maximum(2 * (size * second - first**2), 0.0) / np.maximum(size - 1, 1))


def _observed_squares(ratings: Ratings, scores: Floats, weights: Floats) -> Floats:
    """One sum per row of scores and weights; 4 M cells at a time."""
    observed = np.empty(len(scores))
    for rows in chunks(len(scores), 2**22 // max(1, ratings.items)):
        observed[rows] = np.einsum("bu,ub->b", weights[rows], _squares(ratings, scores[rows]))
    return observed


def _expected_squares(margins: Floats, scores: Floats) -> Floats:
    """Σ n_c n_k (s_c − s_k)² for each row."""
    n = margins.sum(axis=1)
    first, second = (margins * scores).sum(axis=1), (margins * scores**2).sum(axis=1)
    return np.asarray(2 * (n * second - first**2))


def _expected(margins: Floats, values: Floats, level: str) -> Floats:
    if level == "nominal":
        return np.asarray(margins.sum(axis=1) ** 2 - (margins**2).sum(axis=1))
    if level == "interval":
        scores = np.broadcast_to(values - values.mean(), margins.shape)
        expected = _expected_squares(margins, scores)
        # With one value in a sample the difference of two large sums is rounding, not disagreement.
        return np.where((margins > 0).sum(axis=1) > 1, expected, 0.0)
    total = np.zeros(len(margins))
    for rows in chunks(len(values), 2**22 // max(1, len(values))):
        total += ((margins[:, rows] @ _ratio_delta(values[rows], values)) * margins).sum(axis=1)
    return total


def _ratio_sums(ratings: Ratings) -> Floats:
    """Σ over ordered pairs of labels of one item of ((c−k)/(c+k))²; items of one size together, 4 M pairs at a time."""
    order = np.argsort(ratings.item, kind="stable")
    starts = np.cumsum(ratings.sizes) - ratings.sizes
    sums = np.zeros(ratings.items)
    for size in np.unique(ratings.sizes[ratings.sizes > 1]):
        items = np.flatnonzero(ratings.sizes == size)
        for rows in chunks(len(items), 2**22 // int(size) ** 2):
            values = ratings.value[order[starts[items[rows], None] + np.arange(size)]]
            sums[items[rows]] = _ratio_delta(values[..., None], values[:, None, :], outer=False).sum(axis=(1, 2))
    return sums


def _ratio_delta(a: Floats, b: Floats, *, outer: bool = True) -> Floats:
    one, other = (a[:, None], b[None, :]) if outer else (a, b)
    total = one + other
    return np.asarray(((one - other) / np.where(total == 0, 1.0, total)) ** 2)


def _check_ratio(values: Floats, level: str) -> None:
    if level == "ratio" and len(values) and values[0] < 0:
        raise DataError(f"a ratio scale starts at 0, but a label is {values[0]:g}; take level interval")


def coincidences(item: npt.ArrayLike, value: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The distinct values, and how often two of them meet on one item: o_ck = Σ_items pairs(c, k) / (labels − 1).

    >>> values, met = coincidences(["d1", "d1", "d2", "d2"], [0, 0, 1, 0])
    >>> met.tolist()
    [[2.0, 1.0], [1.0, 0.0]]
    """
    ratings = Ratings.of(item, value)
    counts = ratings.counts
    share = 1 / np.maximum(ratings.sizes - 1, 1)
    met = (counts.T @ (counts * share[:, None])).toarray()
    met[np.diag_indices_from(met)] -= counts.T @ share
    return ratings.values, np.asarray(met)


def alpha_of_coincidences(met: Floats, values: Floats, *, level: Level = "interval") -> Floats:
    """α from matrices of coincidences (the last two axes, one row and column per value); NaN where it is undefined.

    >>> values, met = coincidences(["d1", "d1", "d2", "d2"], [0, 0, 1, 0])
    >>> float(alpha_of_coincidences(met, values, level="nominal"))
    0.0
    """
    if level not in LEVELS:
        raise UsageError(f"α has no level {level!r}; known: {', '.join(LEVELS)}")
    _check_ratio(values, level)
    margin = met.sum(axis=-1)
    n = margin.sum(axis=-1)
    scores = np.cumsum(margin, axis=-1) - margin / 2 if level == "ordinal" else np.broadcast_to(values, margin.shape)
    if level == "nominal":
        delta = 1.0 - np.eye(len(values))
    elif level == "ratio":
        delta = _ratio_delta(values, values)
    else:
        delta = (scores[..., :, None] - scores[..., None, :]) ** 2
    observed = (met * delta).sum(axis=(-2, -1))
    expected = (margin[..., :, None] * margin[..., None, :] * delta).sum(axis=(-2, -1))
    safe = np.where(expected > 0, expected, 1.0)
    return np.asarray(np.where(expected > 0, 1 - (n - 1) * observed / safe, np.nan))


def alpha_of_cuts(
    item: npt.ArrayLike, value: npt.ArrayLike, cuts: npt.ArrayLike, *, level: Level = "nominal"
) -> Floats:
    """α after each way of cutting a fine scale into a few levels: `cuts` has a row of rising thresholds per way.

    A value ≤ the first threshold becomes 0, ≤ the second 1, …; above the last the highest level. Coincidences are
    counted once and then only added up, so that 100,000 ways take a second. NaN where one level holds everything.

    >>> alpha_of_cuts(["d1", "d1", "d2", "d2"], [0, 10, 90, 100], [[50], [95]]).round(4)
    array([1., 0.])
    """
    ways = np.atleast_2d(np.asarray(cuts, dtype=np.float64))
    if (np.diff(ways, axis=1) < 0).any():
        raise UsageError("the thresholds of a cut must rise from left to right")
    values, met = coincidences(item, value)
    summed = np.zeros((len(values) + 1, len(values) + 1))
    summed[1:, 1:] = met.cumsum(axis=0).cumsum(axis=1)
    inner = np.searchsorted(values, ways, side="right")
    bounds = np.pad(inner, ((0, 0), (1, 1)), constant_values=(0, len(values)))
    levels = np.arange(ways.shape[1] + 1, dtype=np.float64)
    found = np.empty(len(ways))
    for rows in chunks(len(ways), 2**16):
        found[rows] = alpha_of_coincidences(_blocks(summed, bounds[rows]), levels, level=level)
    return found


def _blocks(summed: Floats, bounds: Ints) -> Floats:
    """The sums of the blocks of a matrix between bounds, from its sums over rows and columns."""
    corner = summed[bounds[:, :, None], bounds[:, None, :]]
    # Rounding in the running sums must not make a coincidence out of nothing.
    return np.asarray(np.round(np.diff(np.diff(corner, axis=1), axis=2), 9))
