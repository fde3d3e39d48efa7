"""What do the shared docs of every two runs add up to? RBO and overlap of all pairs of runs on one topic at once.

Overlap measures need no loop over pairs of docs: a doc at ranks i and j in two runs adds g(max(i, j)) for a falling g,
and that is min(g(i), g(j)); so one run against all others is a gather, a minimum and a sum. Memory: docs × runs of one
topic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Codes, Floats, Ints
from assay.core.engine import chunks
from assay.data.lists import TopicLists


def summed(lists: TopicLists, value: Callable[[Ints], Floats]) -> Floats:
    """runs × runs: Σ over shared docs of value(max of the two ranks), for a falling, positive value of the rank."""
    ranks = np.arange(1, lists.ranked.shape[1] + 1)
    of_rank = np.asarray(value(ranks), dtype=np.float64)
    of_doc = _of_ranks(lists, of_rank)
    runs = len(lists.runs)
    docs_at_once = max(1, 2**18 // runs)
    total = np.zeros((runs, runs))
    for a, docs in enumerate(docs_of_runs(lists)):
        for ranks_now in chunks(len(docs), docs_at_once):
            mine = of_rank[ranks_now, None]
            theirs = of_doc[docs[ranks_now], a:]
            # A falling value at the deeper of two ranks is the smaller of the two values.
            shared = np.minimum(theirs, mine)
            total[a, a:] += shared.sum(axis=0)
    return mirrored(total)


def docs_of_runs(lists: TopicLists) -> list[Codes]:
    """The docs of each run, best first."""
    return [row[:size] for row, size in zip(lists.ranked, lists.sizes, strict=True)]


def _of_ranks(lists: TopicLists, values: npt.NDArray[Any], *, absent: int = 0) -> npt.NDArray[Any]:
    """docs × runs: the value of the rank at which a run has the doc, `absent` where it lacks it."""
    run, place, doc = lists.cells
    shape = (len(lists.docs), len(lists.runs))
    filled = np.full(shape, absent, dtype=values.dtype)
    filled[doc, run] = values[place]
    return filled


def rbo_min(lists: TopicLists, p: float) -> Floats:
    """MIN = Σ over shared docs of (1−p)/p Σ_{d ≥ max rank} p^d / d, whatever the lengths (Webber 2010, Eq. 7.11)."""
    longest = int(lists.sizes.max())
    tail = _Logs(p, longest).tail

    def value(rank: Ints) -> Floats:
        return (1 - p) / p * tail[rank - 1]

    return summed(lists, value)


def rbo_max(lists: TopicLists, p: float) -> Floats:
    """MAX = MIN + RES (Webber 2010, Eq. 7.30)."""
    shared = lists.shared()
    short, long = _lengths(lists)
    full = long + short - shared
    # At depth `full` both lists would hold the same docs, if all docs that one of them lacks came next.
    h = _Logs(p, int(full.max())).head
    at_full = h[full]
    at_infinity = -np.log1p(-p)
    of_short = short * (at_full - h[short])
    of_long = long * (at_full - h[long])
    of_shared = shared * (at_infinity - at_full)
    spread = of_short + of_long + of_shared
    residual = p**short + p**long - p**full - (1 - p) / p * spread
    return np.asarray(rbo_min(lists, p) + residual)


def rbo_ext(lists: TopicLists, p: float) -> Floats:
    """EXT (Webber 2010, Eq. 7.32): a sum over shared docs, corrected where one of the lists is not of full length."""
    short, long = _lengths(lists)
    longest = int(lists.sizes.max())
    h = _Logs(p, longest).head
    depth = np.maximum(np.arange(longest + 1), 1)
    # What a doc that both lists have at rank 1 adds to EXT of two lists of a length.
    whole = p**depth / depth + (1 - p) / p * h

    def value(rank: Ints) -> Floats:
        return whole[longest] - (1 - p) / p * h[rank - 1]

    ext = summed(lists, value)
    if (lists.sizes == longest).all():
        return ext
    too_long = whole[longest] - whole[long]
    ext -= lists.shared() * too_long
    # Σ_{d=s+1…l} (d−s)/(s d) p^d = (Σ p^d)/s − Σ p^d/d
    at_least_one_short = np.maximum(short, 1)
    at_least_one_long = np.maximum(long, 1)
    powers = (p ** (short + 1) - p ** (long + 1)) / (1 - p)
    beyond = powers / at_least_one_short - (h[long] - h[short])
    at_end = (1 / at_least_one_short - 1 / at_least_one_long) * p**long
    step = at_end + (1 - p) / p * beyond
    return np.asarray(ext + _shared_in_prefix(lists) * step)


def _shared_in_prefix(lists: TopicLists) -> Ints:
    """runs × runs: docs in common among the first len(shorter) of both; 0 for two lists of full length."""
    runs = len(lists.runs)
    lengths = lists.sizes
    held = docs_of_runs(lists)
    longest = int(lengths.max())
    shortest_first = np.argsort(lengths, kind="stable")
    ranks = np.arange(1, longest + 1, dtype=np.int32)
    rank_of_doc = _of_ranks(lists, ranks, absent=longest + 1)
    rank_of_doc = rank_of_doc[:, shortest_first]
    not_of_full_length = lengths[shortest_first] < longest
    in_prefix = np.zeros((runs, runs), dtype=np.int64)
    for place, a in enumerate(shortest_first[not_of_full_length]):
        not_shorter = shortest_first[place:]
        their_ranks = rank_of_doc[held[a], place:]
        shared = (their_ranks <= lengths[a]).sum(axis=0)
        in_prefix[a, not_shorter] = shared
        in_prefix[not_shorter, a] = shared
    return in_prefix


def overlap_value(k: int) -> Callable[[Ints], Floats]:
    """1/k down to rank k: what a doc that both lists hold at this depth adds to their overlap."""
    return lambda rank: np.where(rank <= k, 1 / k, 0.0)


def average_overlap_value(k: int) -> Callable[[Ints], Floats]:
    """H_k − H_{rank−1}, over k: what a doc that both lists hold at this depth adds to their average overlap.

    Over all ranks these sum to 1 (Webber 2010, App. A.2).

    >>> average_overlap_value(2)(np.array([1, 2, 3])).round(12).tolist()
    [0.75, 0.25, 0.0]
    """
    from scipy.special import digamma

    return lambda rank: np.where(rank <= k, (digamma(k + 1.0) - digamma(np.minimum(rank, k))) / k, 0.0)


class _Logs:
    """head[k] = Σ_{i ≤ k} p^i/i and tail[k] = Σ_{i > k} p^i/i for k = 0 … n."""

    def __init__(self, p: float, n: int) -> None:
        i = np.arange(1, n + 1)
        terms = p**i / i
        self.head = np.append(0.0, np.cumsum(terms))
        whole_sum = -np.log1p(-p)
        self.tail = np.maximum(whole_sum - self.head, 0.0)


def _lengths(lists: TopicLists) -> tuple[Ints, Ints]:
    """runs × runs: the length of the shorter and of the longer list of each pair."""
    of_row = lists.sizes[:, None]
    of_column = lists.sizes[None, :]
    shorter = np.minimum(of_row, of_column)
    longer = np.maximum(of_row, of_column)
    return shorter, longer


def mirrored(upper: Floats) -> Floats:
    """The symmetric matrix with this upper half."""
    below_diagonal = np.triu(upper, k=1).T
    return np.asarray(np.triu(upper) + below_diagonal)
