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
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data import Qrels, Run
from assay.data.lists import Lists, TopicLists, collected
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
        with_itself = np.diag(self.matrix)
        with_others = self.matrix.sum(axis=1) - with_itself
        other_runs = len(self.runs) - 1
        return np.asarray(with_others / other_runs)

    def mean(self) -> float:
        """Mean of d over the runs."""
        return float(self.to_others().mean())

    def table(self) -> Table:
        """One row per run, the most similar to the others first."""
        to_others = self.to_others()
        most_similar_first = np.argsort(-to_others, kind="stable")
        # Less than any similarity on the diagonal, so that no run is its own nearest.
        without_itself = self.matrix - 2 * np.eye(len(self.runs))
        rows = []
        for i in most_similar_first:
            nearest = int(without_itself[i].argmax())
            row = (
                self.runs[i],
                to_others[i],
                self.runs[nearest],
                without_itself[i, nearest],
            )
            rows.append(row)
        columns = {"run": "", "similarity": ".4f", "most alike": "", "to it": ".4f"}
        return Table.of(
            columns,
            rows,
            caption=f"Shared preferences among {self.among} docs: mean {self.mean():.4f}",
            notes=[self.recipe],
            keys={"to it": "most_alike_similarity"},
        )

    def record(self) -> dict[str, Any]:
        """The mean over the runs, and the table."""
        record = super().record()
        record["mean"] = self.mean()
        return record


def preference_similarity(
    runs: Sequence[Run],
    *,
    qrels: Qrels | None = None,
    among: str = "all",
    rel: float = 1,
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
    _check_among(among, qrels)
    check_runs(runs)
    levelled_runs = [_levelled(run, ties) for run in runs]
    lists = collected(levelled_runs, depth=depth)
    kept = _kept(lists, qrels, among, rel)

    def shares(t: int) -> tuple[Floats, Bools]:
        of_topic = lists.topic(t)
        if kept is not None:
            of_topic = of_topic.only(kept[of_topic.items])
        return _shares(of_topic)

    topics = range(len(lists.topics))
    of_topics = ordered_map(shares, topics, jobs=jobs, threads=True, progress=progress)
    total_share = np.sum([share for share, _ in of_topics], axis=0)
    topics_with_any = np.sum([stated for _, stated in of_topics], axis=0)
    mean_share = total_share / np.maximum(topics_with_any, 1)
    return PreferenceSimilarity(
        runs=tuple(run.name for run in runs),
        matrix=mean_share,
        topics=topics_with_any,
        among=among,
        recipe=_recipe(ties, len(of_topics)),
    )


def _check_among(among: str, qrels: Qrels | None) -> None:
    """Refuses an unknown set of docs, and one that is known only from qrels if there are none."""
    one_of("set of docs", among, AMONG)
    if among != "all" and qrels is None:
        raise UsageError(f"preferences among {among} docs need qrels; give them")


def _kept(lists: Lists, qrels: Qrels | None, among: str, rel: float) -> Bools | None:
    """Which retrieved docs take part; None if all do."""
    if qrels is None or among == "all":
        return None
    relevant = lists.graded(qrels).relevant(rel)
    if among == "relevant":
        return relevant
    return ~relevant


def _recipe(ties: bool, topics: int) -> str:
    if ties:
        rule = "equal scores state no preference"
    else:
        rule = "ties in the order of the run"
    share = "|P_a ∩ P_b| / |P_a ∪ P_b| per topic, mean over topics with a preference"
    return f"{share}; {rule}; {topics} topics"


def _levelled(run: Run, ties: bool) -> Run:
    """The run with scores that fall by one wherever a doc is not tied with the one above it."""
    starts_level = np.ones(len(run), dtype=bool)
    if ties:
        starts_level = ~run.tied()
    level = np.cumsum(starts_level)
    return replace(run, scores=-level.astype(np.float64))


def _shares(lists: TopicLists) -> tuple[Floats, Bools]:
    """runs × runs: the share of preferences in common on a topic, and whether either run states any."""
    shared = shared_preferences(lists)
    stated = np.diag(shared)
    in_either = stated[:, None] + stated[None, :] - shared
    share = shared / np.maximum(in_either, 1)
    return share, in_either > 0


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
        mean_column = f"mean {self.measure}"
        columns = dict(zip(alone.columns, alone.formats, strict=True))
        columns[mean_column] = ".4f"
        keys = dict(zip(alone.columns, alone.keys, strict=True))
        keys[mean_column] = "score"
        correlations = f"pearson {shown(self.pearson, '.4f')}, tau-b {shown(self.tau, '.4f')}"
        note = f"similarity against {mean_column}, {len(rows)} runs: {correlations}"
        return Table.of(
            columns,
            rows,
            caption=alone.caption,
            notes=[*alone.notes, note],
            keys=keys,
        )

    def record(self) -> dict[str, Any]:
        """The correlations, and the table."""
        record = super().record()
        record["pearson"] = self.pearson
        record["tau"] = self.tau
        return record


def likeness_and_scores(similarity: PreferenceSimilarity, scores: ScoreMatrix) -> LikenessAndScores:
    """Correlation of each run's similarity to the others with its mean score (Carterette & Allan, §5)."""
    means = scores.select(runs=similarity.runs).averages()
    to_others = settled(similarity.to_others())
    quality = settled(means)
    r = None
    tau = None
    # Neither correlation has a value where one side is the same for all runs.
    if np.ptp(to_others) > 0 and np.ptp(quality) > 0:
        r = pearson(to_others, quality)
        tau = kendall_tau_b(to_others, quality)
    return LikenessAndScores(similarity, scores.measure, means, r, tau)


def with_scores(
    similarity: PreferenceSimilarity, runs: Sequence[Run], qrels: Qrels, measure: str = "AP"
) -> LikenessAndScores:
    """The similarity of these runs beside their mean scores by a measure."""
    from assay.scoring import evaluate

    scores = evaluate(runs, qrels, measure)[0]
    return likeness_and_scores(similarity, scores)


def shared_preferences(lists: TopicLists) -> Ints:
    """runs × runs: ordered pairs of docs that both runs of a pair put in the same order; docs of equal score are tied.

    Pairs of runs that share about as many docs (up to a power of two) are counted together. Memory: for each pair of
    runs two bytes per shared doc, and 1 M of them at a time while counting.
    """
    ranks = _dense_ranks(lists)
    with_itself = [_ordered_pairs(rank) for rank in ranks]
    shared = np.diag(with_itself)
    for of_one_size in _waiting(lists, ranks).values():
        first = np.concatenate([waiting.first for waiting in of_one_size])
        second = np.concatenate([waiting.second for waiting in of_one_size])
        orders = np.concatenate([waiting.orders for waiting in of_one_size])
        counts = _counted(orders)
        shared[first, second] = counts
        shared[second, first] = counts
    return shared


class _Waiting(NamedTuple):
    """Pairs of runs whose shared docs wait to be counted with others of their size."""

    first: Ints
    second: Ints
    orders: Orders


def _waiting(lists: TopicLists, ranks: list[Ints]) -> dict[int, list[_Waiting]]:
    """All pairs of runs that share two docs or more, by the logarithm of the size that holds their shared docs."""
    rank_of_doc = np.zeros((len(lists.docs), len(ranks)), dtype=np.int64)
    run, _, doc = lists.cells
    rank_of_doc[doc, run] = np.concatenate(ranks)
    by_size: dict[int, list[_Waiting]] = {}
    for a, mine in enumerate(ranks[:-1]):
        docs = lists.ranked[a, : len(mine)]
        in_later_runs = rank_of_doc[docs, a + 1 :]
        theirs = np.ascontiguousarray(in_later_runs.T)
        shared_docs = np.count_nonzero(theirs, axis=1)
        log_size = _log_size(shared_docs)
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


def _dense_ranks(lists: TopicLists) -> list[Ints]:
    """The ranks 1, 2, 3, … of each run's docs; docs of equal score share one."""
    scores = lists.scores
    starts_rank = np.ones(scores.shape, dtype=bool)
    starts_rank[:, 1:] = scores[:, 1:] != scores[:, :-1]
    ranks = np.cumsum(starts_rank, axis=1)
    # Rows are filled up to the longest list; what fills them has no rank.
    return [row[:size] for row, size in zip(ranks, lists.sizes, strict=True)]


def _ordered_pairs(rank: Ints) -> int:
    """All pairs less those of equal rank; ranks are dense, so the last one tells whether there is any."""
    n = len(rank)
    all_pairs = n * (n - 1) // 2
    if not n or rank[-1] == n:
        return all_pairs
    size = np.bincount(rank)
    tied_pairs = size * (size - 1) // 2
    return int(all_pairs - tied_pairs.sum())


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
