"""How much does the second stage cost? 300 systems × 40 collections × 50 topics, 1,000 resamples, five aggregates.

The reference draws collections alone, whose values are known: for each aggregate one gather of resamples × collections
× systems and its mean, and the ranks of the systems in every resample. Ours draws the topics within each collection
too, ranks the systems on every draw of a collection again, and may take twice that time: a ratio of 0.5.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from assay.board.aggregates import AGGREGATES, collection_cells
from assay.board.common_set import CommonSet, common_set
from assay.board.two_stage import replicates
from assay.core.arrays import Floats
from assay.data.scores import ScoreMatrix
from assay.rankings.fusion import ranks

SYSTEMS, COLLECTIONS, TOPICS, B = 300, 40, 50, 1000
Row = tuple[str, float, float, str]


def data() -> CommonSet:
    """Systems of differing quality on collections of differing difficulty."""
    rng = np.random.default_rng(0)
    quality = rng.normal(0.3, 0.08, (SYSTEMS, 1))
    matrices = {}
    for c in range(COLLECTIONS):
        values = quality + rng.normal(0, 0.03, (SYSTEMS, 1)) + rng.normal(0, 0.15, TOPICS)
        values = values + rng.normal(0, 0.1, (SYSTEMS, TOPICS))
        matrices[f"c{c}"] = ScoreMatrix.of(np.clip(values, 0, 1).round(4))
    return common_set(matrices)


def seconds(work: Callable[[], object], repeat: int = 5) -> float:
    """The shortest of a few runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def rows() -> list[Row]:
    """Name, ratio asked, ratio seen, note."""
    made = data()
    cells = collection_cells(made)
    ours = seconds(lambda: [ranks(drawn) for drawn in replicates(made, resamples=B).values()])
    plain = seconds(lambda: _collections_alone(cells))
    note = f"ours {ours:.2f} s, collections alone {plain:.2f} s: {ours / plain:.1f} times as long"
    return [("two-stage bootstrap of five aggregates", 0.5, plain / ours, note)]


def _collections_alone(cells: dict[str, Floats]) -> list[Floats]:
    """What everybody writes: draw collections, average, rank."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(COLLECTIONS, size=(B, COLLECTIONS))
    return [ranks(cells[name][drawn].mean(axis=1)) for name in AGGREGATES]
