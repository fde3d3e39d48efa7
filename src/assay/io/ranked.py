"""Runs without scores: the order is that of the ranks, and the scores are made to agree with it."""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Floats, Ints


def scores_of_ranks(lists: Ints, ranks: Ints) -> Floats:
    """Scores that fall along the ranks: in a list of n docs the first gets n, the next n - 1, …, the last 1.

    lists: the number of the list (of the topic, and of the run) that each row belongs to.

    >>> scores_of_ranks(np.array([0, 0, 1, 0]), np.array([1, 3, 1, 2])).tolist()
    [3.0, 1.0, 1.0, 2.0]
    """
    order = np.lexsort((ranks, lists))
    sizes = np.bincount(lists)
    ends = np.cumsum(sizes)
    scores = np.empty(len(ranks))
    scores[order] = ends[lists[order]] - np.arange(len(ranks))
    return scores


def shared_rank(lists: Ints, ranks: Ints) -> int | None:
    """A row whose rank another row of its list has too; then the ranks do not say the order. None if there is none.

    >>> shared_rank(np.array([0, 0, 1]), np.array([1, 1, 1]))
    1
    """
    order = np.lexsort((ranks, lists))
    same_list = lists[order][1:] == lists[order][:-1]
    same_rank = ranks[order][1:] == ranks[order][:-1]
    second = order[1:][same_list & same_rank]
    return int(second.min()) if len(second) else None
