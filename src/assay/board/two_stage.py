"""How would the board look with other collections and other topics? A bootstrap in two stages.

Collections are drawn with replacement, then the topics within each. Each collection has a pool of draws of its topics,
from which every draw of the collection takes one: what has to be ranked is then ranked once for each draw of the pool.
"""

from __future__ import annotations

import numpy as np

from assay.board.aggregates import AGGREGATES, cells_of, topic_values
from assay.board.common_set import CommonSet
from assay.core.arrays import Floats, Ints
from assay.core.registry import one_of
from assay.stats.resampling import checked_generator, checked_resamples

OVER = ("both", "collections", "topics")
"""What is drawn again. Topics alone: only these collections matter; collections alone: their means count as exact."""
POOL_ROWS = 4000
"""Draws of topics in the pools of all collections together, at least; never more per collection than resamples."""

POOLED = tuple(name for name in AGGREGATES if name != "mean-rank")
"""Aggregates that are kept for each draw: mean rank follows from Borda."""


def replicates(data: CommonSet, *, over: str = "both", resamples: int = 1000, seed: int = 0) -> dict[str, Floats]:
    """{aggregate: resamples × systems}: the aggregates on collections and topics that are drawn again.

    over: one of OVER. Collections: C of C with replacement; topics: as many as the collection has, with replacement,
    independently for each time that the collection is drawn (Davison & Hinkley 1997, §3.8).
    """
    one_of("over", over, OVER)
    rng = checked_generator(seed)
    checked_resamples(resamples)
    collections = len(data.collections)
    drawn = np.tile(np.arange(collections), (resamples, 1))
    if over != "topics":
        drawn = rng.integers(collections, size=(resamples, collections))
    depth = 1
    if over != "collections" and not data.means_only:
        depth = min(resamples, max(1, -(-POOL_ROWS // collections)))
    pools = _pools(data, depth, rng)
    taken = rng.integers(depth, size=drawn.shape) if depth > 1 else np.zeros_like(drawn)
    return _averaged(pools, drawn * depth + taken, len(data.systems))


def _pools(data: CommonSet, depth: int, rng: np.random.Generator) -> Floats:
    """Rows: for each collection `depth` draws of its topics, or its own topics where depth is 1; columns: the cells."""
    systems = len(data.systems)
    rows = np.empty((len(data.collections) * depth, len(POOLED) * systems))
    for number, values in enumerate(topic_values(data)):
        if depth == 1:
            means = values.mean(axis=0)[None, :]
        else:
            topics = len(values)
            means = _means_of_rows(values, rng.integers(topics, size=(depth, topics)))
        cells = cells_of(means, systems)
        own = slice(number * depth, (number + 1) * depth)
        for at, name in enumerate(POOLED):
            rows[own, at * systems : (at + 1) * systems] = cells[name]
    return rows


def _means_of_rows(values: Floats, chosen: Ints) -> Floats:
    """For each row of `chosen` the mean of those rows of the values, one that is named twice counting twice.

    A sparse product: it takes one pass over what is chosen, and no copy of it.

    >>> _means_of_rows(np.array([[1.0], [4.0]]), np.array([[0, 1], [1, 1]])).tolist()
    [[2.5], [4.0]]
    """
    from scipy.sparse import csr_array

    draws, size = chosen.shape
    starts = np.arange(draws + 1) * size
    shares = np.full(chosen.size, 1 / size)
    picked = csr_array((shares, chosen.ravel(), starts), shape=(draws, len(values)))
    return np.asarray(picked @ values)


def _averaged(pools: Floats, rows: Ints, systems: int) -> dict[str, Floats]:
    """{aggregate: resamples × systems} from the rows of the pools that each resample takes."""
    collections = rows.shape[1]
    means = _means_of_rows(pools, rows)
    drawn = {}
    for at, name in enumerate(POOLED):
        drawn[name] = means[:, at * systems : (at + 1) * systems]
    drawn["mean-rank"] = systems - drawn["borda"]
    drawn["borda"] = drawn["borda"] * collections
    return {name: drawn[name] for name in AGGREGATES}
