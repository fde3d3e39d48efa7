"""The search of the first program for topic subsets: each cardinality from the set of the one before.

Kept for comparison with published series; `swap` is faster and finds at least as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Annotated

import numpy as np

from assay.core.errors import UsageError
from assay.core.registry import Within
from assay.topics.archive import Archive
from assay.topics.criteria import Numbers
from assay.topics.exact import colex
from assay.topics.problem import Masks
from assay.topics.swap import Steps


def greedy(archive: Archive, rng: np.random.Generator, *, k: Annotated[int, Within(1, 3)] = 2) -> Steps:
    """The best set of c+1 topics among those with at most k topics that the best set of c lacks.

    k = 1 adds one topic at a time; the original used k = 3, which took it 12 hours for 50 topics (Guiver, Mizzaro and
    Robertson 2009; Roitero 2020, Table 3.2). Deterministic: the first of equals is kept.
    """
    if not 1 <= k <= 3:
        raise UsageError(f"greedy(k={k}): k must be 1, 2 or 3; 4 would take days")
    n = archive.problem.n
    no_topics = np.zeros(n, bool)
    chosen_by_side = dict.fromkeys(archive.sides, no_topics)
    for c in range(1, n):
        for side, chosen in chosen_by_side.items():
            chosen_by_side[side] = _best_of(archive, side, chosen, k)
        yield c, n - 1


def _best_of(archive: Archive, side: int, chosen: Masks, k: int) -> Masks:
    """The best set of one topic more than the chosen ones, offered to the archive too."""
    problem = archive.problem
    units = problem.units
    size = int(chosen.sum()) + 1
    chosen_sums = units[chosen].sum(axis=0, dtype=units.dtype)
    best = chosen
    best_merit = -np.inf
    for drop, add in _exchanges(chosen, k):
        dropped_sums = units[drop].sum(axis=0, dtype=units.dtype)
        added_sums = units[add].sum(axis=1, dtype=units.dtype)
        sums = chosen_sums - dropped_sums + added_sums
        values = problem.of_sums(sums, size)
        merit = side * problem.goodness(values)
        archive.evaluations += len(merit)
        first = int(merit.argmax())
        if merit[first] > best_merit:
            best_merit = merit[first]
            best = chosen.copy()
            best[drop] = False
            best[add[first]] = True
    sides = np.array([side])
    masks = np.array([best])
    archive.offer(sides, masks, problem.of_masks(masks))
    return best


def _exchanges(chosen: Masks, k: int, size: int = 8192) -> Iterator[tuple[list[int], Numbers]]:
    """Topics to drop, and rows of topics to add, one more than dropped and at most k; `size` rows at a time."""
    inside = np.flatnonzero(chosen)
    outside = np.flatnonzero(~chosen)
    most_added = min(
        k,
        len(inside) + 1,
        len(outside),
    )
    for count in range(1, most_added + 1):
        places = colex(len(outside), count)
        rows = outside[places]
        for drop in combinations(inside.tolist(), count - 1):
            for start in range(0, len(rows), size):
                stop = start + size
                yield list(drop), rows[start:stop]
