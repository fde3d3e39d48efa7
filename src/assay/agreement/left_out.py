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
    by_topic = []
    for topic in range(len(ratings.topics)):
        part = ratings.of_topic(topic)
        by_topic.append(_alpha(part, chosen))
    return np.array(by_topic), _alpha(ratings, chosen)


def _alpha(ratings: Ratings, level: Level) -> float:
    one_value = alphas(ratings, everything(ratings), level=level)
    return float(one_value[0])


def alpha_without(ratings: Ratings, *, level: Level | None = None) -> tuple[float, Floats]:
    """α of all labels, and α without each worker. A doc left with one label drops out, as the definition asks."""
    chosen = level or default_level(ratings.scale)
    touched = _touched(ratings)
    margins = _margins_without(ratings, touched)
    levels = without_exponent(ratings.levels)
    if chosen == "ordinal":
        observed = _ordinal_without(ratings, touched, margins)
    else:
        observed = _observed_without(ratings, touched, levels, chosen)
    expected = expected_disagreements(margins, levels, chosen)
    labels = margins.sum(axis=1)
    return _alpha(ratings, chosen), alpha_from(observed, expected, labels)


@dataclass(frozen=True, eq=False)
class _Touched:
    """Each item of each worker: what the others said of it (`rest`, rows × levels), if two of them or more did."""

    worker: Ints
    item: Ints
    rest: Any


def _touched(ratings: Ratings) -> _Touched:
    from scipy.sparse import csr_array, diags_array

    # One row for each pair of a worker and an item that the worker labelled.
    items = len(ratings.doc)
    pairs, row = np.unique(ratings.worker * items + ratings.item, return_inverse=True)
    worker = pairs // items
    item = pairs % items

    # What is left of the item's counts when the worker's own label is taken away.
    own = csr_array(
        (np.ones(len(row)), (row, ratings.answer)),
        shape=(len(pairs), len(ratings.levels)),
    )
    # Items of one label are empty in the counts: taking the own label away from them leaves nothing to keep.
    others = ratings.sizes[item] - np.bincount(row)
    pairable = (others > 1).astype(np.float64)
    without_own = ratings.counts[item] - own
    rest = diags_array(pairable) @ without_own
    return _Touched(worker, item, rest.tocsr())


def _margins_without(ratings: Ratings, touched: _Touched) -> Floats:
    """workers × levels: how many pairable labels have each level when the worker is left out."""
    from scipy.sparse import csr_array

    rows = len(touched.worker)
    of_worker = csr_array(
        (np.ones(rows), (touched.worker, np.arange(rows))),
        shape=(len(ratings.workers), rows),
    )
    change_of_row = touched.rest - ratings.counts[touched.item]
    change = of_worker @ change_of_row
    margin = ratings.counts.sum(axis=0)
    return np.asarray(margin + change.toarray())


def _observed_without(ratings: Ratings, touched: _Touched, levels: Floats, level: Level) -> Floats:
    """The observed disagreement without each worker, of a level at which each item has its own whatever the others."""
    of_item = disagreements(ratings.counts, levels, level)
    before = of_item[touched.item]
    after = disagreements(touched.rest, levels, level)
    change = np.bincount(touched.worker, after - before, len(ratings.workers))
    return np.asarray(of_item.sum() + change)


def _ordinal_without(ratings: Ratings, touched: _Touched, margins: Floats) -> Floats:
    """The observed ordinal disagreement without each worker: places on the line move with every label that goes."""
    scores = ordinal_scores(margins)
    observed = np.empty(len(scores))
    # In blocks that bound the memory: first all items with the scores of each worker left out, ...
    workers_at_once = CELLS // max(1, len(ratings.doc))
    for workers in chunks(len(scores), workers_at_once):
        of_items = squares(ratings.counts, scores[workers])
        observed[workers] = of_items.sum(axis=0)

    # ... then the items that the worker labelled are put right.
    rows_at_once = CELLS // len(ratings.levels)
    for rows in chunks(len(touched.worker), rows_at_once):
        worker = touched.worker[rows]
        item = touched.item[rows]
        before = _own_squares(ratings.counts[item], scores[worker])
        after = _own_squares(touched.rest[rows], scores[worker])
        observed += np.bincount(worker, after - before, len(scores))
    return observed


def _own_squares(counts: Any, scores: Floats) -> Floats:
    """As `squares`, each row of counts with the row of scores of its own."""
    size = _row_sums(counts)
    first = _row_sums(counts * scores)
    second = _row_sums(counts * scores**2)
    # Σ over ordered pairs of (s − s')² = 2 (n Σ s² − (Σ s)²); rounding must not make it negative.
    sums = np.maximum(2 * (size * second - first**2), 0.0)
    others = np.maximum(size - 1, 1)
    return np.asarray(sums / others)


def _row_sums(table: Any) -> Floats:
    """The sum of each row of a sparse table, as a flat array."""
    return np.asarray(table.sum(axis=1)).ravel()
