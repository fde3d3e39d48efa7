"""How many of the preferences that two runs state are the same? Similarity of runs by ordered pairs of docs.

A run that ranks doc i above doc j prefers i to j; docs with equal scores, or not retrieved, state none. Pairs are
counted in n log n, never listed. Carterette & Allan, Eq. 7 and 8: how far a run goes with the crowd, and how far that
predicts its quality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import Progress, chunks, ordered_map, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data import Qrels, Run
from assay.data.lists import TopicLists, collected
from assay.data.scores import ScoreMatrix
from assay.rankings import kendall_tau_b, settled
from assay.rankings.correlation import pearson
from assay.rankings.counts import ascending_pairs
from assay.similarity.by_topic import check_runs

Orders = npt.NDArray[Any]
AMONG = ("all", "relevant", "nonrelevant")


@dataclass(frozen=True, eq=False)
class PreferenceSimilarity(Result):
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
        to_others = self.to_others()
        without_itself = self.matrix - 2 * np.eye(len(self.runs))
        rows = []
        for i in np.argsort(-to_others, kind="stable"):
            nearest = int(without_itself[i].argmax())
            rows.append((self.runs[i], to_others[i], self.runs[nearest], without_itself[i, nearest]))
        columns = {"run": "", "similarity": ".4f", "most alike": "", "to it": ".4f"}
        caption = f"Shared preferences among {self.among} docs: mean {self.mean():.4f}"
        keys = {"to it": "most_alike_similarity"}
        return Table.of(columns, rows, caption=caption, notes=[self.recipe], keys=keys)

    def record(self) -> dict[str, Any]:
        """The mean over the runs, and the table."""
        return {**super().record(), "mean": self.mean()}


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
    kept: Bools | None = None
    if qrels is not None and among != "all":
        relevant = lists.graded(qrels).relevant(rel)
        kept = relevant if among == "relevant" else ~relevant

    def shares(t: int) -> tuple[Floats, Bools]:
        of_topic = lists.topic(t)
        return _shares(of_topic if kept is None else of_topic.only(kept[of_topic.items]))

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


@dataclass(frozen=True, eq=False)
class LikenessAndScores(Result):
    """Does a run that goes with the others score well? Their similarity beside their mean scores."""

    similarity: PreferenceSimilarity
    measure: str
    means: Floats
    """Of the runs of the similarity, in their order."""
    pearson: float | None
    tau: float | None
    """Both None where all runs have one similarity or one mean."""

    def table(self) -> Table:
        """As the table of the similarity, with a column of mean scores and the correlations below."""
        alone = self.similarity.table()
        mean_of = dict(zip(self.similarity.runs, self.means, strict=True))
        rows = [(*row, mean_of[row[0]]) for row in alone.rows]
        columns = dict(zip(alone.columns, alone.formats, strict=True)) | {f"mean {self.measure}": ".4f"}
        correlations = f"pearson {shown(self.pearson, '.4f')}, tau-b {shown(self.tau, '.4f')}"
        notes = [*alone.notes, f"similarity against mean {self.measure}, {len(rows)} runs: {correlations}"]
        keys = dict(zip(alone.columns, alone.keys, strict=True)) | {f"mean {self.measure}": "score"}
        return Table.of(columns, rows, caption=alone.caption, notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The correlations, and the table."""
        return {**super().record(), "pearson": self.pearson, "tau": self.tau}


def likeness_and_scores(similarity: PreferenceSimilarity, scores: ScoreMatrix) -> LikenessAndScores:
    """Correlation of each run's similarity to the others with its mean score (Carterette & Allan, §5)."""
    means = scores.select(runs=similarity.runs).means()
    x, y = settled(similarity.to_others()), settled(means)
    defined = len(x) > 1 and np.ptp(x) > 0 and np.ptp(y) > 0
    r, tau = (pearson(x, y), kendall_tau_b(x, y)) if defined else (None, None)
    return LikenessAndScores(similarity, scores.measure, means, r, tau)


def with_scores(
    similarity: PreferenceSimilarity, runs: Sequence[Run], qrels: Qrels, measure: str = "AP"
) -> LikenessAndScores:
    """The similarity of these runs beside their mean scores by a measure."""
    from assay.scoring import evaluate

    return likeness_and_scores(similarity, evaluate(runs, qrels, measure)[0])


def shared_preferences(lists: TopicLists) -> Ints:
    """runs × runs: ordered pairs of docs that both runs of a pair put in the same order; docs of equal score are tied.

    Pairs of runs that share about as many docs (up to a power of two) are counted together. Memory: for each pair of
    runs two bytes per shared doc, and 1 M of them at a time while counting.
    """
    ranks = _dense_ranks(lists)
    shared = np.diag([_ordered_pairs(r) for r in ranks])
    rank_of_doc = np.zeros((len(lists.docs), len(ranks)), dtype=np.int64)
    run, _, doc = lists.cells
    rank_of_doc[doc, run] = np.concatenate(ranks)
    waiting: dict[int, list[_Waiting]] = {}
    for a, mine in enumerate(ranks[:-1]):
        docs = lists.ranked[a, : len(mine)]
        theirs = np.ascontiguousarray(rank_of_doc[docs, a + 1 :].T)
        log_size = _size(np.count_nonzero(theirs, axis=1))
        for n in np.unique(log_size[log_size > 0]).tolist():
            rows = np.flatnonzero(log_size == n)
            orders = _relative_order(mine, theirs[rows], 1 << n)
            waiting.setdefault(n, []).append(_Waiting(np.full(len(rows), a), a + 1 + rows, orders))
    for together in waiting.values():
        first = np.concatenate([w.first for w in together])
        second = np.concatenate([w.second for w in together])
        orders = np.concatenate([w.orders for w in together])
        at_once = 2**20 // orders.shape[1]
        counts = np.concatenate([ascending_pairs(orders[part]) for part in chunks(len(orders), at_once)])
        shared[first, second] = counts
        shared[second, first] = counts
    return shared


class _Waiting(NamedTuple):
    """Pairs of runs whose shared docs wait to be counted with others of their size."""

    first: Ints
    second: Ints
    orders: Orders


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
