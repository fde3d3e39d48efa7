"""How many of the preferences that two runs state are the same? Similarity of runs by ordered pairs of docs.

A run that ranks doc i above doc j prefers i to j; docs with equal scores, or not retrieved, state none. Pairs are
counted in n log n, never listed. Carterette & Allan, Eq. 7 and 8: how far a run goes with the crowd, and how far that
predicts its quality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import Progress, chunks, ordered_map, silent
from assay.core.errors import UsageError
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.data.lists import TopicLists, collected
from assay.data.scores import ScoreMatrix
from assay.rankings.correlation import CORRELATIONS
from assay.rankings.counts import ascending_pairs
from assay.similarity.by_topic import check_runs

Orders = npt.NDArray[Any]
AMONG = ("all", "relevant", "nonrelevant")


@dataclass(frozen=True, eq=False)
class PreferenceSimilarity:
    """Sim(a, b) of all runs, and d(a), each run's mean similarity with the others."""

    runs: tuple[str, ...]
    matrix: Floats
    topics: Ints
    """Topics on which either of the two runs states a preference; those enter the mean."""
    among: str
    recipe: str

    def to_others(self) -> Floats:
        """d(a): mean of Sim(a, b) over the other runs (Eq. 8)."""
        m = len(self.runs)
        return np.asarray((self.matrix.sum(axis=1) - np.diag(self.matrix)) / (m - 1))

    def mean(self) -> float:
        """Mean of d over the runs."""
        return float(self.to_others().mean())

    def table(self) -> Table:
        """One row per run, the most similar to the others first."""
        d = self.to_others()
        off = self.matrix - 2 * np.eye(len(d))
        order = np.argsort(-d, kind="stable")
        rows = [(self.runs[i], d[i], self.runs[int(off[i].argmax())], off[i].max()) for i in order]
        columns = {"run": "", "similarity": ".4f", "most alike": "", "to it": ".4f"}
        caption = f"Shared preferences among {self.among} docs: mean {self.mean():.4f}"
        return Table.of(columns, rows, caption=caption, notes=[self.recipe])


def preference_similarity(
    runs: Sequence[Run],
    *,
    qrels: Qrels | None = None,
    among: str = "all",
    rel: int = 1,
    depth: int | None = None,
    ties: bool = True,
    jobs: int = 1,
    progress: Progress = silent,
) -> PreferenceSimilarity:
    """The share of preferences that each two runs have in common, averaged over topics.

    sim(a, b) = |P_a ∩ P_b| / |P_a ∪ P_b| per topic. A topic that only one run has counts 0; one where neither states a
    preference is left out. `among` takes all docs, only the relevant ones of the qrels, or only the others (unjudged
    docs count as not relevant). ties=False reads tied docs in the order of the run, as if their scores differed.

    >>> a, b = (Run.from_lists(n, {"1": docs}) for n, docs in [("a", "xyz"), ("b", "xzy")])
    >>> float(preference_similarity([a, b]).matrix[0, 1])
    0.5
    """
    if among not in AMONG:
        raise UsageError(f"no set of docs {among!r}; known: {', '.join(AMONG)}")
    if among != "all" and qrels is None:
        raise UsageError(f"preferences among {among} docs need qrels; give them")
    check_runs(runs)
    lists = collected([_levelled(run, ties) for run in runs], depth=depth)
    among_these = (
        None if qrels is None or among == "all" else lists.graded(qrels).relevant(rel) == (among == "relevant")
    )

    def shares(t: int) -> tuple[Floats, Bools]:
        seen = lists.topic(t)
        return _shares(seen if among_these is None else seen.only(among_these[seen.items]))

    of_topics = ordered_map(shares, range(len(lists.topics)), jobs=jobs, threads=True, progress=progress)
    total = np.sum([share for share, _ in of_topics], axis=0)
    count = np.sum([stated for _, stated in of_topics], axis=0)
    said = "equal scores state no preference" if ties else "ties in the order of the run"
    recipe = f"|P_a ∩ P_b| / |P_a ∪ P_b| per topic, mean over topics with a preference; {said}; {len(of_topics)} topics"
    return PreferenceSimilarity(tuple(r.name for r in runs), total / np.maximum(count, 1), count, among, recipe)


def _levelled(run: Run, ties: bool) -> Run:
    """The run with scores that fall by one wherever a doc is not tied with the one above it."""
    level = np.cumsum(~run.tied()) if ties else np.arange(len(run))
    return replace(run, scores=-level.astype(np.float64))


def _shares(lists: TopicLists) -> tuple[Floats, Bools]:
    """runs × runs: the share of preferences in common on a topic, and whether either run states any."""
    shared = shared_preferences(lists)
    stated = np.diag(shared)
    union = stated[:, None] + stated[None, :] - shared
    return shared / np.maximum(union, 1), union > 0


def likeness_and_scores(similarity: PreferenceSimilarity, scores: ScoreMatrix) -> Table:
    """Does a run that goes with the others score well? Correlation of d with the mean scores of the same runs."""
    d, means = similarity.to_others(), scores.select(runs=similarity.runs).means()
    rows = [(name, CORRELATIONS[name].function(d, means)) for name in ("pearson", "tau-b")]
    caption = f"Similarity to the others against mean {scores.measure}, {len(d)} runs"
    return Table.of({"correlation": "", "value": ".4f"}, rows, caption=caption)


def shared_preferences(lists: TopicLists) -> Ints:
    """runs × runs: ordered pairs of docs that both runs of a pair put in the same order; docs of equal score are tied.

    Pairs of runs that share about as many docs (up to a power of two) are counted together. Memory: for each pair of
    runs two bytes per shared doc, and 1 M of them at a time while counting.
    """
    ranks = _dense_ranks(lists)
    shared = np.diag([_ordered_pairs(r) for r in ranks])
    run, _, doc = lists.cells
    rank = np.zeros((len(lists.docs), len(ranks)), dtype=np.int64)
    rank[doc, run] = np.concatenate(ranks)
    waiting: dict[int, list[tuple[int, Ints, Orders]]] = {}
    for a, mine in enumerate(ranks[:-1]):
        theirs = np.ascontiguousarray(rank[lists.ranked[a, : len(mine)], a + 1 :].T)
        size = _size(np.count_nonzero(theirs, axis=1))
        for n in np.unique(size[size > 0]).tolist():
            rows = np.flatnonzero(size == n)
            waiting.setdefault(n, []).append((a, a + 1 + rows, _relative_order(mine, theirs[rows], 1 << n)))
    for found in waiting.values():
        orders = np.concatenate([order for _, _, order in found])
        counts = np.concatenate([ascending_pairs(orders[c]) for c in chunks(len(orders), 2**20 // orders.shape[1])])
        first, second = (np.concatenate(c) for c in zip(*((np.full(len(b), a), b) for a, b, _ in found), strict=True))
        shared[first, second] = shared[second, first] = counts
    return shared


def _dense_ranks(lists: TopicLists) -> list[Ints]:
    """The ranks 1, 2, 3, … of each run's docs; docs of equal score share one."""
    fresh = np.ones(lists.ranked.shape, dtype=bool)
    fresh[:, 1:] = lists.scores[:, 1:] != lists.scores[:, :-1]
    return [rank[:size] for rank, size in zip(np.cumsum(fresh, axis=1), lists.sizes, strict=True)]


def _ordered_pairs(rank: Ints) -> int:
    """All pairs less those of equal rank; ranks are dense, so the last one tells whether there is any."""
    n = len(rank)
    if not n or rank[-1] == n:
        return n * (n - 1) // 2
    size = np.bincount(rank)
    return int(n * (n - 1) // 2 - (size * (size - 1) // 2).sum())


def _size(width: Ints) -> Ints:
    """The power of two that holds this many docs; 0 where there is no pair of them."""
    return np.where(width > 1, np.frexp(width - 1)[1], 0)


def _relative_order(mine: Ints, theirs: Ints, n: int) -> Orders:
    """For each row of their ranks (0: not retrieved), the places in my order of the docs in their order; n places.

    What must not count as concordant is made to descend: docs tied for me go by their falling rank, docs tied for them
    by my falling place, and what fills up a row stands first for me and last for them.
    """
    both = theirs > 0
    width = both.sum(axis=1)
    bits = int(max(mine[-1], theirs.max(), n)).bit_length() + 1
    top = (1 << bits) - 1
    packed = np.zeros((len(theirs), n), dtype=np.int64)
    packed[np.arange(n) >= n - width[:, None]] = ((mine << bits) | (top - theirs))[both]
    if (mine[1:] == mine[:-1]).any():
        packed.sort(axis=1)
    their_rank = top - (packed & top)
    backwards = np.sort((their_rank << bits) | (top - np.arange(n)), axis=1)
    return (top - (backwards & top)).astype(np.int16 if n < 2**15 else np.int32)
