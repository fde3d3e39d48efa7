"""Which runs made this pool? What is known of it, before anybody says what it hides.

Where it stands: runs, qrels → **provenance** → leave-one-out, adjustment, reports. Two of a track's seventy runs are
not its pool: left out of "the pool" of the two, a run seems to lose what the other sixty-eight had found as well. So
claims about a pool are made only where its runs are given, or where the runs at hand account for every judged doc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Ints
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.data.aligned import Match, match
from assay.data.grades import UNJUDGED
from assay.data.lists import Lists, collected

NEARLY = 0.95
"""Share of the first docs of a run that must be judged, where the runs of the pool are given and their depth is not."""


@dataclass(frozen=True, eq=False)
class KnownPool(Result):
    """What is known of the pool behind some judgments."""

    source: str
    """"given": somebody named its runs; "found": the runs account for every judged doc; "unknown"."""
    runs: tuple[str, ...]
    """The runs whose first `depth` docs were judged; none where that is not known."""
    depth: int | None
    judged: int
    accounted: int
    """Judged docs among the first `depth` of these runs; of an unknown pool, anywhere in the lists of the runs."""
    lists: Lists | None = None
    """All runs with the judgments, for `left_out` and `adjusted`; None where the pool is not known."""

    @property
    def known(self) -> bool:
        """Whether anything may be said of what the pool hides."""
        return self.source != "unknown"

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        if self.source == "given":
            return f"the pool is the first {self.depth} docs of {len(self.runs)} runs, as given"
        if self.source == "found":
            return f"the first {self.depth} docs of {len(self.runs)} runs are exactly the {self.judged} judged ones"
        return (
            f"the pool's runs are not known: no depth of these runs gives exactly the {self.judged} judged docs, of "
            f"which they retrieved {self.accounted}; name the runs that were pooled"
        )

    def table(self) -> Table:
        """One row."""
        formats = {"pool": "", "runs": "d", "depth": "d", "judged": "d", "accounted": "d"}
        row = (self.source, len(self.runs), self.depth, self.judged, self.accounted)
        return Table.of(formats, [row], caption="What is known of the pool", notes=[self.reason])


def known_pool(
    runs: Sequence[Run],
    qrels: Qrels,
    *,
    pool_runs: Sequence[Run] | None = None,
    depth: int | None = None,
    matches: Sequence[Match] | None = None,
) -> KnownPool:
    """What is known of the pool from which these judgments come.

    pool_runs: the runs that were pooled, where somebody knows; depth: how deep, by default the greatest depth at which
    half of them have 95 % of their first docs judged. Without pool_runs the pool is known only if there is a depth k
    such that every judged doc is among the first k of a run whose first k docs are all judged. A run of which they are
    not was not pooled. Docs with a negative grade were pooled as well. matches: the runs joined with the judgments,
    where somebody has done that already.

    >>> runs = [Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})]
    >>> known_pool(runs, Qrels.from_dict({"1": {"x": 1, "y": 0}})).reason
    'the first 1 docs of 2 runs are exactly the 2 judged ones'
    >>> known_pool(runs[:1], Qrels.from_dict({"1": {"x": 1, "q": 0}})).known
    False
    """
    if depth is not None and depth < 1:
        raise UsageError(f"depth is {depth}; a pool is at least 1 doc deep")
    if pool_runs is not None:
        return _given_pool(runs, qrels, pool_runs, depth)
    if matches is None:
        matches = [match(run, qrels) for run in runs]
    retrieved = _retrieved(matches, qrels)
    if retrieved < len(qrels):
        # Most often it ends here, without a comparison of all lists.
        return KnownPool("unknown", (), None, len(qrels), retrieved)
    return _found_pool(collected(list(runs), qrels), depth)


def _given_pool(runs: Sequence[Run], qrels: Qrels, pool_runs: Sequence[Run], depth: int | None) -> KnownPool:
    """The pool of runs that somebody named."""
    if not pool_runs:
        raise UsageError("no runs of the pool; give at least one, or none at all")
    # A run of the pool may be among the runs as well.
    by_name = {run.name: run for run in [*pool_runs, *runs]}
    lists = collected(list(by_name.values()), qrels)
    names = tuple(run.name for run in pool_runs)
    if depth is None:
        depth = _usual_depth(lists.select(names))
    total = int(lists.pooled().sum())
    return KnownPool("given", names, depth, total, _accounted(lists, names, depth), lists)


def _found_pool(lists: Lists, depth: int | None) -> KnownPool:
    """The pool as the first docs of those runs that are judged so deep, if these are exactly the judged docs."""
    total = int(lists.pooled().sum())
    judged_to = _judged_depths(lists)
    if depth is None:
        # Between two of these depths no run drops out, and the deeper one accounts for more docs.
        depths = sorted(set(judged_to[judged_to > 0].tolist()))
    else:
        depths = [depth]
    for k in depths:
        names = tuple(name for name, full in zip(lists.runs, judged_to, strict=True) if full >= k)
        if names and _accounted(lists, names, k) == total:
            least = _least_depth(lists, names) if depth is None else depth
            return KnownPool("found", names, least, total, total, lists)
    return KnownPool("unknown", (), None, total, _accounted(lists, lists.runs, lists.depth))


def _retrieved(matches: Sequence[Match], qrels: Qrels) -> int:
    """How many of the pooled docs any of the runs retrieved."""
    seen = np.zeros(len(qrels), dtype=bool)
    for joined in matches:
        seen[joined.judged_as] = True
    return int(seen.sum())


def _judged_depths(lists: Lists) -> Ints:
    """For each run how many of its first docs are judged on every topic; its longest list where all are."""
    unjudged = lists.grades[lists.item] == UNJUDGED
    run_of_unjudged = lists.run[unjudged]
    judged_above = lists.rank[unjudged] - 1
    depths = np.full(len(lists.runs), lists.depth, dtype=np.int64)
    np.minimum.at(depths, run_of_unjudged, judged_above)
    return depths


def _accounted(lists: Lists, names: Sequence[str], depth: int) -> int:
    """How many judged docs are among the first `depth` of these runs."""
    wanted = np.isin(lists.runs, names)
    rows = wanted[lists.run] & (lists.rank <= depth)
    retrieved = lists.holders(rows) > 0
    return int((retrieved & lists.pooled()).sum())


def _least_depth(lists: Lists, names: Sequence[str]) -> int:
    """The least depth at which these runs account for every judged doc."""
    wanted = np.isin(lists.runs, names)
    rows = wanted[lists.run]
    best_rank = np.full(lists.items, lists.depth, dtype=np.int64)
    np.minimum.at(best_rank, lists.item[rows], lists.rank[rows])
    best_rank_of_pooled = best_rank[lists.pooled()]
    return int(best_rank_of_pooled.max(initial=1))


def _usual_depth(lists: Lists) -> int:
    """The greatest depth at which half of the runs have nearly all of their docs judged; at least 1."""
    judged = lists.pooled()[lists.item]
    place = (lists.run, lists.rank - 1)
    judged_at = np.zeros((len(lists.runs), lists.depth))
    retrieved_at = np.zeros_like(judged_at)
    np.add.at(judged_at, place, judged)
    np.add.at(retrieved_at, place, 1)
    judged_to = judged_at.cumsum(axis=1)
    retrieved_to = retrieved_at.cumsum(axis=1)
    shares = np.divide(judged_to, retrieved_to, out=np.zeros_like(judged_to), where=retrieved_to > 0)
    nearly_all = np.median(shares, axis=0) >= NEARLY
    last = int(np.flatnonzero(nearly_all).max(initial=0))
    return last + 1
