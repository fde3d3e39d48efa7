"""How many ordered pairs of docs do two runs state alike on one topic? Counted in n log n, never listed.

Where it stands: lists of one topic → **counts, runs × runs** → shares in `shared_preferences`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Ints
from assay.core.engine import chunks
from assay.data.lists import TopicLists
from assay.rankings.counts import ascending_pairs
from assay.rankings.stated_preferences import RETRIEVED, over_missing

Orders = npt.NDArray[Any]


def shared_preferences(lists: TopicLists, preferences: str = RETRIEVED) -> Ints:
    """runs × runs: ordered pairs of docs that both runs of a pair put in the same order; docs of equal score are tied.

    Pairs of runs that share about as many docs (up to a power of two) are counted together. Memory: for each pair of
    runs two bytes per shared doc, and 1 M of them at a time while counting.
    """
    ranks = _last_ranks(lists)
    with_itself = [_ordered_pairs(rank) for rank in ranks]
    shared = np.diag(with_itself)
    in_common = _InCommon.nothing(len(ranks))
    for of_one_size in _waiting(lists, ranks, in_common).values():
        first = np.concatenate([waiting.first for waiting in of_one_size])
        second = np.concatenate([waiting.second for waiting in of_one_size])
        orders = np.concatenate([waiting.orders for waiting in of_one_size])
        counts = _counted(orders)
        shared[first, second] = counts
        shared[second, first] = counts
    if over_missing(preferences):
        return shared + _over_missing(lists, ranks, in_common)
    return shared


class _InCommon(NamedTuple):
    """runs × runs: what the docs that two runs have in common come to."""

    docs: Ints
    """How many there are; 0 on the diagonal."""
    rank_sums: Ints
    """Sum of their ranks in the run of the row."""

    @staticmethod
    def nothing(runs: int) -> _InCommon:
        return _InCommon(np.zeros((runs, runs), dtype=np.int64), np.zeros((runs, runs), dtype=np.int64))

    def note(self, run: int, mine: Ints, theirs: Ints) -> None:
        """Take in a run and the ranks of its docs in all later ones (later runs × docs of the run, 0 for none)."""
        later = slice(run + 1, None)
        docs = np.count_nonzero(theirs, axis=1)
        self.docs[run, later] = docs
        self.docs[later, run] = docs
        self.rank_sums[later, run] = theirs.sum(axis=1)
        self.rank_sums[run, later] = np.einsum("ij,j->i", theirs > 0, mine)


def _over_missing(lists: TopicLists, ranks: list[Ints], in_common: _InCommon) -> Ints:
    """runs × runs: pairs that two runs put in the same order where at least one lacks the lower doc.

    Both have the higher doc i. If one of them lacks the lower doc j, the other has it below i; or both lack it.
    """
    size = lists.sizes
    in_both, rank_sums = in_common
    # Of run a: pairs of a doc that b has too with any doc below it in a, less those where b has the lower one as well.
    below_shared = size[:, None] * in_both - rank_sums
    pairs_in_both = in_both * (in_both - 1) // 2 - _tied_in_both(lists, ranks)
    one_lacks = below_shared - pairs_in_both
    np.fill_diagonal(one_lacks, 0)

    in_both = in_both + np.diag(size)
    pooled = np.count_nonzero(lists.ranks.any(axis=0))
    in_neither = pooled - size[:, None] - size[None, :] + in_both
    return np.asarray(one_lacks + one_lacks.T + in_both * in_neither)


def _tied_in_both(lists: TopicLists, ranks: list[Ints]) -> Ints:
    """runs × runs: pairs of docs that run a ties and run b has too."""
    tied = np.zeros((len(ranks), len(ranks)), dtype=np.int64)
    for run, rank in enumerate(ranks):
        ties_next = rank[1:] == rank[:-1]
        if not ties_next.any():
            continue
        in_tie = np.append(ties_next, False) | np.append(False, ties_next)
        starts = np.flatnonzero(np.diff(rank[in_tie], prepend=0))
        tied_docs = lists.ranked[run, : len(rank)][in_tie]
        held = lists.ranks[:, tied_docs] > 0
        shared_docs = np.add.reduceat(held, starts, axis=1, dtype=np.int64)
        tied_pairs = shared_docs * (shared_docs - 1) // 2
        tied[run] = tied_pairs.sum(axis=1)
    return tied


class _Waiting(NamedTuple):
    """Pairs of runs whose shared docs wait to be counted with others of their size."""

    first: Ints
    second: Ints
    orders: Orders


def _waiting(lists: TopicLists, ranks: list[Ints], in_common: _InCommon) -> dict[int, list[_Waiting]]:
    """All pairs of runs that share two docs or more, by the logarithm of the size that holds their shared docs.

    What any two runs have in common is noted on the way.
    """
    rank_of_doc = np.zeros((len(lists.docs), len(ranks)), dtype=np.int64)
    run, _, doc = lists.cells
    rank_of_doc[doc, run] = np.concatenate(ranks)
    by_size: dict[int, list[_Waiting]] = {}
    for a, mine in enumerate(ranks[:-1]):
        docs = lists.ranked[a, : len(mine)]
        in_later_runs = rank_of_doc[docs, a + 1 :]
        theirs = np.ascontiguousarray(in_later_runs.T)
        in_common.note(a, mine, theirs)
        log_size = _log_size(in_common.docs[a, a + 1 :])
        sizes = np.unique(log_size[log_size > 0])
        for size in sizes.tolist():
            rows = np.flatnonzero(log_size == size)
            orders = _relative_order(mine, theirs[rows], 1 << size)
            first = np.full(len(rows), a)
            second = a + 1 + rows
            by_size.setdefault(size, []).append(_Waiting(first, second, orders))
    return by_size


def _counted(orders: Orders) -> Ints:
    """Ascending pairs of each row, a part of the rows at a time."""
    at_once = 2**20 // orders.shape[1]
    counts = []
    for rows in chunks(len(orders), at_once):
        counts.append(ascending_pairs(orders[rows]))
    return np.concatenate(counts)


def _last_ranks(lists: TopicLists) -> list[Ints]:
    """The ranks of each run's docs; docs of equal score share that of the last one, so that the rest is below it."""
    ranks = []
    for scores, size in zip(lists.scores, lists.sizes, strict=True):
        ends = np.flatnonzero(np.diff(scores[:size])) + 1
        bounds = np.concatenate([[0], ends, [size]])
        ranks.append(np.repeat(bounds[1:], np.diff(bounds)))
    return ranks


def _ordered_pairs(rank: Ints) -> int:
    """All pairs less those of equal rank: every doc is above those that come after the last one of its rank."""
    return int((len(rank) - rank).sum())


def _log_size(docs: Ints) -> Ints:
    """The exponent of the power of two that holds this many docs; 0 where there is no pair of them."""
    _, exponent = np.frexp(docs - 1)
    return np.where(docs > 1, exponent, 0)


def _relative_order(mine: Ints, theirs: Ints, n: int) -> Orders:
    """For each row of their ranks (0: not retrieved), the places in my order of the docs in their order; n places.

    What must not count as concordant is made to descend: docs tied for me go by their falling rank, docs tied for them
    by my falling place, and what fills up a row stands first for me and last for them.
    """
    in_both = theirs > 0
    shared_docs = in_both.sum(axis=1)
    # Two ranks in one integer, the first in the high bits: sorting it sorts by the first, then by the second.
    largest = max(mine[-1], theirs.max(), n)
    bits = int(largest).bit_length() + 1
    top = (1 << bits) - 1
    my_and_their_rank = (mine << bits) | (top - theirs)
    place = np.arange(n)
    unfilled = n - shared_docs[:, None]
    packed = np.zeros((len(theirs), n), dtype=np.int64)
    packed[place >= unfilled] = my_and_their_rank[in_both]
    ties_of_mine = mine[1:] == mine[:-1]
    if ties_of_mine.any():
        packed.sort(axis=1)
    their_rank = top - (packed & top)
    their_rank_and_my_place = (their_rank << bits) | (top - place)
    their_rank_and_my_place.sort(axis=1)
    my_place = top - (their_rank_and_my_place & top)
    return my_place.astype(np.int16 if n < 2**15 else np.int32)
