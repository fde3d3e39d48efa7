"""How is a budget of judgments spread over the topics? By one depth for all, or by the same number of docs for each.

Where it stands: the whole pool of every topic → **budgets** → the docs that can be paid for.
"""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import UsageError


def cut_by_depth(weight: Floats, budget: int) -> tuple[int, Bools]:
    """The greatest depth that the budget pays for, and which docs are within it; weight: 1 / best rank of each doc."""
    best_rank = np.rint(1 / weight).astype(np.int64)
    depth = affordable_depth(best_rank, budget)
    return depth, best_rank <= depth


def cut_by_topic(topic: Ints, topics: int, budget: int) -> Bools:
    """Which docs the budget pays for, where docs of a topic stand together in the order of judging."""
    counts = spread_evenly(np.bincount(topic, minlength=topics), budget)
    first = np.searchsorted(topic, np.arange(topics))
    place = np.arange(len(topic)) - first[topic]
    return np.asarray(place < counts[topic])


def affordable_depth(best_ranks: Ints, budget: int) -> int:
    """The greatest depth down to which there are no more docs than the budget, given the best rank of each doc.

    >>> affordable_depth(np.array([1, 1, 2, 2, 2, 3]), 5)
    2
    """
    docs_to_depth = np.cumsum(np.bincount(best_ranks))
    # bincount begins at rank 0, which no doc has: the last depth that fits is one less than the number that fit.
    depth = int((docs_to_depth <= budget).sum()) - 1
    if depth < 1:
        raise UsageError(f"budget {budget}: depth 1 has {docs_to_depth[1]} docs already; give at least that many")
    return depth


def spread_evenly(sizes: Ints, budget: int) -> Ints:
    """How many docs each topic gets: all the same number, where it has them; what is left goes to the first topics.

    >>> spread_evenly(np.array([2, 10, 10]), 13).tolist()
    [2, 6, 5]
    """
    if sizes.sum() <= budget:
        return sizes
    level = 0
    ascending = np.sort(sizes)
    left = budget
    for i, size in enumerate(ascending.tolist()):
        topics_left = len(ascending) - i
        if left < (size - level) * topics_left:
            level += left // topics_left
            break
        left -= (size - level) * topics_left
        level = size
    counts = np.minimum(sizes, level)
    odd_docs = budget - int(counts.sum())
    with_room = np.flatnonzero(sizes > counts)
    counts[with_room[:odd_docs]] += 1
    return counts
