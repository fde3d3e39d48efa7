"""Krippendorff's α of many groups at once, and without each worker in turn: what quality reports are made of.

Interval and nominal α need only counts, sums and sums of squares per doc, so that a topic, or a worker left out, costs
a few numbers per label and no table of pairs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.crowd.answers import Answers

UNDEFINED = 1e-12


def grouped_alpha(answers: Answers, *, level: str = "interval") -> tuple[Floats, float]:
    """α of each topic, and of all labels together; not-a-number where nothing varies or no doc has two labels.

    Nominal α is interval α summed over one indicator per level.
    """
    points = _points(answers, level)
    parts = _doc_sums(answers.item, points, len(answers.items))
    per_topic = [np.bincount(answers.topic, p, minlength=len(answers.topics)) for p in parts[:2]]
    sums = np.stack([np.bincount(answers.topic, s, minlength=len(answers.topics)) for s in parts[2]])
    squares = np.bincount(answers.topic, parts[3], minlength=len(answers.topics))
    whole = _alpha(parts[0].sum(), parts[1].sum(), parts[2].sum(axis=1), parts[3].sum())
    return _alpha(per_topic[0], per_topic[1], sums, squares), float(whole)


def alpha_without(answers: Answers, *, level: str = "interval") -> tuple[float, Floats]:
    """α of all labels, and α without each worker. A doc left with one label drops out, as the definition asks."""
    points, workers = _points(answers, level), len(answers.workers)
    parts = _doc_sums(answers.item, points, len(answers.items))
    totals = [p.sum() for p in parts[:2]] + [parts[2].sum(axis=1), parts[3].sum()]
    keys, pair = np.unique(answers.worker * len(answers.items) + answers.item, return_inverse=True)
    worker, item = keys // len(answers.items), keys % len(answers.items)
    mine = _raw_sums(pair, points, len(keys))
    count, total, square = _raw_sums(answers.item, points, len(answers.items))
    left = _paired(count[item] - mine[0], total[:, item] - mine[1], square[item] - mine[2])
    # What changes when the worker goes: the doc's sums without that worker's labels instead of all.
    changes = [np.bincount(worker, left[i] - parts[i][item], minlength=workers) for i in (0, 1, 3)]
    sums = np.stack([np.bincount(worker, a - b[item], minlength=workers) for a, b in zip(left[2], parts[2])])
    without = _alpha(totals[0] + changes[0], totals[1] + changes[1], totals[2][:, None] + sums, totals[3] + changes[2])
    return float(_alpha(*totals)), without


def _points(answers: Answers, level: str) -> Floats:
    """Dimensions × labels: the value itself, or for nominal α one indicator per level (halved squares)."""
    if level == "interval":
        return answers.value[None, :]
    one = np.zeros((len(answers.levels), len(answers)))
    one[answers.answer, np.arange(len(answers))] = 1.0
    return one


def _raw_sums(key: Ints, points: Floats, n: int) -> tuple[Floats, Floats, Floats]:
    """Count, sum per dimension, and sum of squares over all dimensions."""
    count = np.bincount(key, minlength=n).astype(np.float64)
    total = np.stack([np.bincount(key, p, minlength=n) for p in points]).astype(np.float64)
    return count, total, np.bincount(key, (points**2).sum(axis=0), minlength=n).astype(np.float64)


def _doc_sums(item: Ints, points: Floats, items: int) -> tuple[Floats, Floats, Floats, Floats]:
    return _paired(*_raw_sums(item, points, items))


def _paired(count: Floats, total: Floats, square: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Per doc with two labels or more: disagreement, labels, sums and squares; zeros for the others."""
    pairable = count > 1
    spread = (count * square - (total**2).sum(axis=0)) / np.maximum(count - 1, 1)
    return (
        np.where(pairable, spread, 0.0),
        np.where(pairable, count, 0.0),
        np.where(pairable, total, 0.0),
        np.where(pairable, square, 0.0),
    )


def _alpha(
    disagreement: npt.ArrayLike, n: npt.ArrayLike, total: npt.ArrayLike, square: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """1 − (n−1)·disagreement/(n·Σx² − (Σx)²), not-a-number where the denominator is 0."""
    count = np.asarray(n, dtype=np.float64)
    expected = count * np.asarray(square) - (np.asarray(total) ** 2).sum(axis=0)
    defined = expected > UNDEFINED * np.maximum(1.0, count)
    alpha = 1 - (count - 1) * np.asarray(disagreement) / np.where(defined, expected, 1.0)
    return np.where(defined, alpha, np.nan)
