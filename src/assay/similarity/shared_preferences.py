"""How many of the preferences that two runs state are the same? Similarity of runs by ordered pairs of docs.

A run that ranks doc i above doc j prefers i to j, and what it retrieved to the pooled docs that it did not, unless
`both` is asked for; docs of equal score state none. Pairs are counted in n log n, never listed. Carterette & Allan,
Eq. 7 and 8: how far a run goes with the crowd, and how far that predicts its quality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import Progress, ordered_map, silent
from assay.core.errors import UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data import Qrels, Run
from assay.data.lists import Lists, TopicLists, collected
from assay.data.scores import ScoreMatrix
from assay.rankings import kendall_tau_b, settled
from assay.rankings.correlation import pearson
from assay.rankings.stated_preferences import RETRIEVED, over_missing
from assay.similarity.by_topic import check_runs
from assay.similarity.preference_counts import shared_preferences

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
    preferences: str = RETRIEVED

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
    runs: Sequence[Run] | Lists,
    *,
    qrels: Qrels | None = None,
    among: str = "all",
    preferences: str = RETRIEVED,
    rel: float = 1,
    depth: int | None = None,
    ties: bool = True,
    jobs: int = 1,
    progress: Progress = silent,
) -> PreferenceSimilarity:
    """The share of preferences that each two runs have in common, averaged over topics.

    sim(a, b) = |P_a ∩ P_b| / |P_a ∪ P_b| per topic. A topic that only one run has counts 0; one where neither states a
    preference is left out. `among` takes all docs, only the relevant ones of the qrels, or only the others (unjudged
    docs count as not relevant). preferences: `retrieved`, a run prefers what it retrieved to the docs that only other
    runs retrieved for the topic, or `both`, it says nothing of them. ties=False reads tied docs in the order of the
    run, as if their scores differed. Lists are taken with their own depth and topics.

    >>> a, b = (Run.from_lists(n, {"1": docs}) for n, docs in [("a", "xyz"), ("b", "xzw")])
    >>> float(preference_similarity([a, b]).matrix[0, 1])
    0.5
    >>> float(preference_similarity([a, b], preferences="both").matrix[0, 1])
    0.2
    """
    _check_among(among, qrels)
    over_missing(preferences)  # an unknown name is said before anything is counted
    lists = _lists(runs, depth, ties)
    kept = _kept(lists, qrels, among, rel)

    def shares(t: int) -> tuple[Floats, Bools]:
        of_topic = lists.topic(t)
        if kept is not None:
            of_topic = of_topic.only(kept[of_topic.items])
        return _shares(of_topic, preferences)

    topics = range(len(lists.topics))
    of_topics = ordered_map(shares, topics, jobs=jobs, threads=True, progress=progress)
    total_share = np.sum([share for share, _ in of_topics], axis=0)
    topics_with_any = np.sum([stated for _, stated in of_topics], axis=0)
    mean_share = total_share / np.maximum(topics_with_any, 1)
    return PreferenceSimilarity(
        runs=lists.runs,
        matrix=mean_share,
        topics=topics_with_any,
        among=among,
        recipe=_recipe(preferences, ties, len(of_topics)),
        preferences=preferences,
    )


def _lists(runs: Sequence[Run] | Lists, depth: int | None, ties: bool) -> Lists:
    """The runs as lists, with scores that are equal where docs are tied."""
    if isinstance(runs, Lists):
        lists = runs if depth is None else runs.cut(depth)
        return lists if ties else replace(lists, scores=-lists.rank.astype(np.float64))
    check_runs(runs)
    levelled_runs = [_levelled(run, ties) for run in runs]
    return collected(levelled_runs, depth=depth)


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


def _recipe(preferences: str, ties: bool, topics: int) -> str:
    if over_missing(preferences):
        missing = "retrieved docs are preferred to pooled docs that a run lacks"
    else:
        missing = "docs that a run lacks are in no preference"
    if ties:
        rule = "equal scores state no preference"
    else:
        rule = "ties in the order of the run"
    share = "|P_a ∩ P_b| / |P_a ∪ P_b| per topic, mean over topics with a preference"
    return f"{share}; preferences={preferences}: {missing}; {rule}; {topics} topics"


def _levelled(run: Run, ties: bool) -> Run:
    """The run with scores that fall by one wherever a doc is not tied with the one above it."""
    starts_level = np.ones(len(run), dtype=bool)
    if ties:
        starts_level = ~run.tied()
    level = np.cumsum(starts_level)
    return replace(run, scores=-level.astype(np.float64))


def _shares(lists: TopicLists, preferences: str) -> tuple[Floats, Bools]:
    """runs × runs: the share of preferences in common on a topic, and whether either run states any."""
    shared = shared_preferences(lists, preferences)
    stated = np.diag(shared)
    in_either = stated[:, None] + stated[None, :] - shared
    share = shared / np.maximum(in_either, 1)
    return share, in_either > 0


@dataclass(frozen=True, eq=False)
class LikenessAndScores(Result):
    """Does a run that goes with the others score well? Their similarity beside their mean scores."""

    unit = "topic"

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
