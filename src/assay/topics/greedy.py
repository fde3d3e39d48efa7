"""The search of the first program for topic subsets: each cardinality from the set of the one before.

Kept for comparison with published series; `swap` is faster and finds at least as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from assay.core.errors import UsageError
from assay.topics.archive import Archive
from assay.topics.criteria import Numbers
from assay.topics.exact import colex
from assay.topics.problem import Masks
from assay.topics.swap import Steps


def greedy(archive: Archive, rng: np.random.Generator, *, k: int = 2) -> Steps:
    """The best set of c+1 topics among those with at most k topics that the best set of c lacks.

    k = 1 adds one topic at a time; the original used k = 3, which took it 12 hours for 50 topics (Guiver, Mizzaro and
    Robertson 2009; Roitero 2020, Table 3.2). Deterministic: the first of equals is kept.
    """
    if not 1 <= k <= 3:
        raise UsageError(f"greedy(k={k}): k must be 1, 2 or 3; 4 would take days")
    n = archive.problem.n
    chosen = {side: np.zeros(n, bool) for side in archive.sides}
    for c in range(1, n):
        for side in archive.sides:
            chosen[side] = _best_of(archive, side, chosen[side], k)
        yield c, n - 1


def _best_of(archive: Archive, side: int, chosen: Masks, k: int) -> Masks:
    problem = archive.problem
    best, best_merit = chosen, -np.inf
    base = problem.units[chosen].sum(axis=0, dtype=problem.units.dtype)
    for drop, add in _exchanges(chosen, k):
        sums = base - problem.units[list(drop)].sum(axis=0, dtype=base.dtype)
        sums = sums + problem.units[add].sum(axis=1, dtype=base.dtype)
        merit = side * problem.goodness(problem.of_sums(sums, int(chosen.sum()) + 1))
        archive.evaluations += len(merit)
        first = int(merit.argmax())
        if merit[first] > best_merit:
            best, best_merit = chosen.copy(), merit[first]
            best[list(drop)], best[add[first]] = False, True
    archive.offer(np.array([side]), best[None, :], problem.of_masks(best[None, :]))
    return best


def _exchanges(chosen: Masks, k: int, size: int = 8192) -> Iterator[tuple[tuple[int, ...], Numbers]]:
    """Topics to drop and rows of topics to add, one more than dropped, at most k."""
    inside, outside = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    for dropped in range(min(k, len(inside) + 1)):
        added = outside[colex(len(outside), dropped + 1)] if dropped < len(outside) else np.zeros((0, 1), int)
        for drop in combinations(inside.tolist(), dropped):
            for a in range(0, len(added), size):
                yield drop, added[a : a + size]
