"""How far would the others agree without this worker? α of each topic, and of all labels without each worker in turn.

Leaving a worker out changes only the items that the worker labelled: the disagreement of those is computed anew, with
the same functions as α itself, and all others are added up once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.agreement.alpha import (
    CELLS,
    alpha_from,
    alphas,
    disagreements,
    expected_disagreements,
    ordinal_scores,
    squares,
)
from assay.agreement.ratings import Ratings, everything
from assay.agreement.scales import Level, default_level, without_exponent
from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks


def alpha_by_topic(ratings: Ratings, *, level: Level | None = None) -> tuple[Floats, float]:
    """α of each topic, and of all labels together; NaN where nothing varies or no doc has two labels."""
    chosen = level or default_level(ratings.scale)
    parts = [ratings.of_topic(topic) for topic in range(len(ratings.topics))]
    by_topic = [alphas(part, everything(part), level=chosen)[0] for part in parts]
    whole = alphas(ratings, everything(ratings), level=chosen)[0]
    return np.array(by_topic), float(whole)


def alpha_without(ratings: Ratings, *, level: Level | None = None) -> tuple[float, Floats]:
    """α of all labels, and α without each worker. A doc left with one label drops out, as the definition asks."""
    chosen = level or default_level(ratings.scale)
    whole = float(alphas(ratings, everything(ratings), level=chosen)[0])
    touched = _touched(ratings)
    margins = _margins_without(ratings, touched)
    levels = without_exponent(ratings.levels)
    if chosen == "ordinal":
        observed = _ordinal_without(ratings, touched, margins)
    else:
        per_item = disagreements(ratings.counts, levels, chosen)
        change = disagreements(touched.rest, levels, chosen) - per_item[touched.item]
        observed = per_item.sum() + np.bincount(touched.worker, change, len(ratings.workers))
    expected = expected_disagreements(margins, levels, chosen)
    return whole, alpha_from(observed, expected, margins.sum(axis=1))


@dataclass(frozen=True, eq=False)
class _Touched:
    """Each item of each worker: what the others said of it (`rest`, rows × levels), if two of them or more did."""

    worker: Ints
    item: Ints
    rest: Any


def _touched(ratings: Ratings) -> _Touched:
    from scipy.sparse import csr_array, diags_array

    keys, row = np.unique(ratings.worker * len(ratings.doc) + ratings.item, return_inverse=True)
    worker, item = keys // len(ratings.doc), keys % len(ratings.doc)
    own = csr_array((np.ones(len(row)), (row, ratings.answer)), shape=(len(keys), len(ratings.levels)))
    others = ratings.sizes[item] - np.bincount(row)
    # Items of one label are empty in the counts: taking the own label away from them leaves nothing to keep.
    keep = diags_array((others > 1).astype(np.float64))
    rest = (keep @ (ratings.counts[item] - own)).tocsr()
    return _Touched(worker, item, rest)


def _margins_without(ratings: Ratings, touched: _Touched) -> Floats:
    """workers × levels: how many pairable labels have each level when the worker is left out."""
    from scipy.sparse import csr_array

    rows = len(touched.worker)
    of_worker = csr_array((np.ones(rows), (touched.worker, np.arange(rows))), shape=(len(ratings.workers), rows))
    change = of_worker @ (touched.rest - ratings.counts[touched.item])
    return np.asarray(ratings.counts.sum(axis=0) + change.toarray())


def _ordinal_without(ratings: Ratings, touched: _Touched, margins: Floats) -> Floats:
    """The observed ordinal disagreement without each worker: places on the line move with every label that goes."""
    scores = ordinal_scores(margins)
    observed = np.empty(len(scores))
    for workers in chunks(len(scores), CELLS // max(1, len(ratings.doc))):
        observed[workers] = squares(ratings.counts, scores[workers]).sum(axis=0)
    for rows in chunks(len(touched.worker), CELLS // len(ratings.levels)):
        worker, item = touched.worker[rows], touched.item[rows]
        before = _own_squares(ratings.counts[item], scores[worker])
        after = _own_squares(touched.rest[rows], scores[worker])
        observed += np.bincount(worker, after - before, len(scores))
    return observed


def _own_squares(counts: Any, scores: Floats) -> Floats:
    """As `squares`, each row of counts with the row of scores of its own."""
    size = np.asarray(counts.sum(axis=1)).ravel()
    first = np.asarray((counts * scores).sum(axis=1)).ravel()
    second = np.asarray((counts * scores**2).sum(axis=1)).ravel()
    sums = np.maximum(2 * (size * second - first**2), 0.0)
    return np.asarray(sums / np.maximum(size - 1, 1))
