"""What does a board cost? 300 systems × 40 collections × 50 topics: five aggregates, flips for all 44,850 pairs.

The reference draws collections again, as everybody does, and takes the spread of every pair from the draws: for each
aggregate one gather of resamples × collections × systems, its mean, its ranks and the covariance of the systems. It
tells systems apart that do not differ. Ours may take three times that time: a ratio of 0.33.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from assay.board.aggregates import AGGREGATES, collection_cells
from assay.board.common_set import CommonSet, common_set
from assay.board.standings import standings_on_like_these
from assay.core.arrays import Floats
from assay.data.scores import ScoreMatrix
from assay.rankings.fusion import ranks
from assay.standard.factors import FORM

SYSTEMS, COLLECTIONS, TOPICS, B = 300, 40, 50, 999
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
    ours = seconds(lambda: standings_on_like_these(made, FORM, 0.95, B))
    plain = seconds(lambda: _collections_drawn(cells))
    note = f"ours {ours:.2f} s, collections drawn {plain:.2f} s: {ours / plain:.1f} times as long"
    return [("all pairs of a board by five aggregates", 0.33, plain / ours, note)]


def _collections_drawn(cells: dict[str, Floats]) -> list[tuple[Floats, Floats]]:
    """What everybody writes: draw collections, average, rank, and see how systems vary together."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(COLLECTIONS, size=(B, COLLECTIONS))
    means = [cells[name][drawn].mean(axis=1) for name in AGGREGATES]
    return [(ranks(of_draws), np.cov(of_draws.T)) for of_draws in means]
