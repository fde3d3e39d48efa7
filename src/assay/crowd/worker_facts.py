"""What do a worker's labels show? Agreement with the others and with gold, habits, time: one number per worker.

Not-a-number stands where a fact is not known.
"""

from __future__ import annotations

import numpy as np

from assay.agreement.ratings import Ratings
from assay.agreement.scales import Scale
from assay.core.arrays import Floats, Ints
from assay.data import Labels


def scale_width(ratings: Ratings, scale: Scale) -> float:
    """The distance of the ends of the scale; of the labels where the scale has no upper end."""
    if np.isfinite(scale.high):
        return scale.high - scale.low
    return max(float(np.ptp(ratings.value)), 1e-12)


def against_others(ratings: Ratings, scale: Scale) -> dict[str, Floats]:
    """Agreement and correlation with the mean of the others' labels of the same docs."""
    workers = len(ratings.workers)
    labels_of_doc = ratings.sizes[ratings.item]
    sum_of_doc = np.bincount(ratings.item, ratings.value)[ratings.item]
    others = np.maximum(1, labels_of_doc - 1)
    mean_of_others = (sum_of_doc - ratings.value) / others

    # Docs that only this worker labelled say nothing.
    shared = labels_of_doc > 1
    worker = ratings.worker[shared]
    value = ratings.value[shared]
    other = mean_of_others[shared]

    count = np.bincount(worker, minlength=workers)
    total_distance = np.bincount(worker, np.abs(value - other), workers)
    mean_distance = total_distance / np.maximum(count, 1)
    in_widths = mean_distance / scale_width(ratings, scale)
    return {
        "agreement": np.where(count > 0, 1 - in_widths, np.nan),
        "correlation": _correlation(worker, value, other, workers),
    }


def _correlation(group: Ints, x: Floats, y: Floats, groups: int) -> Floats:
    """Pearson's r within each group; not-a-number below three rows or without variation."""
    n = np.maximum(1, np.bincount(group, minlength=groups))

    # Deviations from the group's means.
    mean_x = np.bincount(group, x, groups) / n
    mean_y = np.bincount(group, y, groups) / n
    dx = x - mean_x[group]
    dy = y - mean_y[group]

    # r = Σ dx·dy / √(Σ dx² · Σ dy²)
    xx = np.bincount(group, dx * dx, groups)
    yy = np.bincount(group, dy * dy, groups)
    xy = np.bincount(group, dx * dy, groups)
    varied = (xx > 1e-12) & (yy > 1e-12)
    known = varied & (n > 2)
    squared = np.where(known, xx * yy, 1.0)
    return np.where(known, xy / np.sqrt(squared), np.nan)


def gold_agreement(labels: Labels, scale: Scale) -> Floats:
    """1 − the mean distance from the gold labels, in widths of the scale."""
    workers = len(labels.workers)
    if labels.gold is None:
        return np.full(workers, np.nan)
    width = 1.0
    if np.isfinite(scale.high):
        width = scale.high - scale.low

    has_gold = np.flatnonzero(~np.isnan(labels.gold))
    worker = labels.worker[has_gold]
    distance = np.abs(labels.label - labels.gold)[has_gold]
    count = np.bincount(worker, minlength=workers)
    in_widths = np.bincount(worker, distance, workers) / width
    mean_distance = in_widths / np.maximum(count, 1)
    return np.where(count > 0, 1 - mean_distance, np.nan)


def habits(ratings: Ratings, scale: Scale) -> dict[str, Floats]:
    """Entropy, share of the most frequent label, and on numeric scales shares of round and of boundary values."""
    workers = len(ratings.workers)
    levels = len(ratings.levels)
    n = np.maximum(1, np.bincount(ratings.worker, minlength=workers))

    # A key for each label that a worker used, and how often.
    key = ratings.worker * levels + ratings.answer
    used, times = np.unique(key, return_counts=True)
    worker = used // levels
    share = times / n[worker]

    highest_share = np.zeros(workers)
    np.maximum.at(highest_share, worker, share)
    information = np.bincount(worker, share * np.log2(share), workers)
    # 0.0 − x, not −x: no entropy is shown as −0.
    known = {
        "entropy": 0.0 - information.astype(np.float64),
        "same": highest_share,
    }
    if scale.kind == "interval":
        is_round = ratings.value % 10 == 0
        is_boundary = np.isin(ratings.value, (scale.low, scale.high))
        known["round"] = np.bincount(ratings.worker, is_round, workers) / n
        known["boundary"] = np.bincount(ratings.worker, is_boundary, workers) / n
    return known


def median_seconds(labels: Labels) -> Floats:
    """The median time of a label of each worker."""
    workers = len(labels.workers)
    if labels.seconds is None:
        return np.full(workers, np.nan)
    timed = np.flatnonzero(~np.isnan(labels.seconds))
    order = np.lexsort((labels.seconds[timed], labels.worker[timed]))
    by_worker = timed[order]

    # Workers without times look up the not-a-number that is appended at the end.
    seconds = np.append(labels.seconds[by_worker], np.nan)
    nowhere = len(by_worker)

    # The median is the mean of the two middle values, which are one and the same where n is odd.
    n = np.bincount(labels.worker[timed], minlength=workers)
    begin = np.cumsum(n) - n
    lower_middle = begin + np.maximum(0, n - 1) // 2
    upper_middle = begin + n // 2
    low = seconds[np.where(n > 0, lower_middle, nowhere)]
    high = seconds[np.where(n > 0, upper_middle, nowhere)]
    return (low + high) / 2
