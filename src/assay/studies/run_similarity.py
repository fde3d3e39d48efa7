"""Why can runs be ranked without judgments? Similarity of runs beside their quality, and collections made to test it.

Carterette & Allan 2007, §5: how alike runs are, all of them or those of one type, among relevant docs or among others,
and how well similarity predicts quality (Table 4); the same after docs of equal relevance have been exchanged between
the lists, at random or in order, which changes no score (Table 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, silent
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data import Qrels, Run
from assay.data.info import group_of_runs
from assay.data.lists import Lists, collected
from assay.data.scores import ScoreMatrix
from assay.measures import parse
from assay.nojudgments.basis import average_precision
from assay.nojudgments.expected import expected_ap, relevance
from assay.nojudgments.permute import exchanged_at_random, exchanged_in_order
from assay.rankings import kendall_tau_b, settled
from assay.rankings.correlation import pearson
from assay.rankings.stated_preferences import RETRIEVED
from assay.scoring import evaluate
from assay.similarity.shared_preferences import AMONG, PreferenceSimilarity, preference_similarity

DEPTH = 100
"""Docs of each list that count, as in the paper's pools."""


class Likeness(NamedTuple):
    """How alike some runs are, and what their similarity has to do with their quality."""

    which: str
    runs: int
    similarity: float | None
    """Mean over the runs of d, the mean similarity to the others; None for a single run."""
    correlation: float | None
    """Pearson's r of d with the measure; None where either is the same for all runs."""


@dataclass(frozen=True, eq=False)
class RunSimilarityStudy(Result):
    """How alike the runs are by shared preferences, in groups and among kinds of docs, beside their mean scores."""

    runs: tuple[str, ...]
    measure: str
    means: Floats
    to_others: Floats
    """d of each run, among all docs."""
    emap: Floats
    """EMAP of each run, which needs no judgments."""
    group_of_run: tuple[str | None, ...]
    rows: tuple[Likeness, ...]
    recipe: str

    @property
    def emap_correlation(self) -> float | None:
        """Pearson's r of d with EMAP."""
        return _pearson(self.to_others, self.emap)

    @property
    def relevant_ratio(self) -> float | None:
        """How many times as alike the runs are among relevant docs as among the others; None if there not at all."""
        by_name = {row.which: row.similarity for row in self.rows}
        among_relevant = by_name[_DOCS["relevant"]]
        among_others = by_name[_DOCS["nonrelevant"]]
        if among_relevant is None or not among_others:
            return None
        return among_relevant / among_others

    def table(self) -> Table:
        """One row for all runs, for each group, for relevant docs and for the others."""
        note = f"r of the similarity of all runs with EMAP: {shown(self.emap_correlation, '.3f')}"
        times = shown(self.relevant_ratio, ".2f")
        ratio = f"among relevant docs runs are {times} times as alike as among the others"
        return Table.of(
            {"which": "", "runs": "d", "similarity": ".4f", f"r with {self.measure}": ".3f"},
            self.rows,
            caption="Similarity of runs by shared preferences, and their quality",
            notes=[f"{note}; {ratio}", self.recipe],
            keys={f"r with {self.measure}": "pearson"},
        )

    def record(self) -> dict[str, Any]:
        """The table, and the correlation with EMAP."""
        record = super().record()
        record["emap_pearson"] = self.emap_correlation
        record["relevant_ratio"] = self.relevant_ratio
        return record


_DOCS = {"relevant": "all, relevant docs only", "nonrelevant": "all, other docs only"}


def similarity_study(
    runs: Sequence[Run],
    qrels: Qrels,
    *,
    measure: str = "AP",
    groups: Mapping[str, Sequence[str]] | None = None,
    preferences: str = RETRIEVED,
    depth: int = DEPTH,
    jobs: int = 1,
    progress: Progress = silent,
) -> RunSimilarityStudy:
    """Similarity of the runs beside their mean scores: all, by group, among relevant docs and among the others.

    groups: name → runs, such as automatic and manual ones; the similarity within a group is that of its runs to each
    other. The lowest relevant grade is that of the measure. Docs below `depth` are not looked at, but for the measure.

    >>> from assay.studies import simulate
    >>> made = simulate(topics=4, runs_per_group=1, docs=60, depth=20)
    >>> [row.which for row in similarity_study(made.runs, made.qrels).rows]
    ['all runs', 'all, relevant docs only', 'all, other docs only']
    """
    every_group = groups or {}
    lists = _lists(runs, qrels, depth)
    group_of_run = group_of_runs(every_group, lists.runs)
    how = parse(measure)
    means = _means(runs, qrels, measure)
    by_docs: dict[str, PreferenceSimilarity] = {}
    for i, among in enumerate(AMONG):
        by_docs[among] = preference_similarity(
            lists, qrels=qrels, among=among, preferences=preferences, rel=how.rel, ties=False, jobs=jobs
        )
        progress(i + 1, len(AMONG))
    everything = by_docs["all"]
    rows = [_likeness("all runs", everything, means)]
    for name, members in every_group.items():
        rows.append(_within(name, members, everything, means))
    for among, which in _DOCS.items():
        rows.append(_likeness(which, by_docs[among], means))
    p = relevance(lists, preferences=preferences)
    return RunSimilarityStudy(
        runs=lists.runs,
        measure=measure,
        means=means,
        to_others=everything.to_others(),
        emap=np.asarray(expected_ap(lists, p).mean(axis=1)),
        group_of_run=group_of_run,
        rows=tuple(rows),
        recipe=f"first {depth} docs of each list; {everything.recipe}",
    )


def _lists(runs: Sequence[Run], qrels: Qrels, depth: int) -> Lists:
    if len(runs) < 3:
        raise DataError(f"{len(runs)} runs given; a correlation over runs needs three or more")
    return collected(runs, topics=qrels.topics, depth=depth)


def _means(runs: Sequence[Run], qrels: Qrels, measure: str) -> Floats:
    matrix: ScoreMatrix = evaluate(runs, qrels, measure)[0]
    return matrix.averages()


def _likeness(which: str, similarity: PreferenceSimilarity, means: Floats) -> Likeness:
    to_others = similarity.to_others()
    return Likeness(which, len(to_others), float(to_others.mean()), _pearson(to_others, means))


def _within(name: str, members: Sequence[str], similarity: PreferenceSimilarity, means: Floats) -> Likeness:
    """The runs of a group, compared with each other alone; a single run is alike to nobody."""
    if len(members) < 2:
        return Likeness(name, len(members), None, None)
    places = [similarity.runs.index(run) for run in members]
    within = similarity.matrix[np.ix_(places, places)]
    to_others = (within.sum(axis=1) - np.diag(within)) / (len(places) - 1)
    return Likeness(name, len(places), float(to_others.mean()), _pearson(to_others, means[places]))


def _pearson(a: Floats, b: Floats) -> float | None:
    """Pearson's r; None where it is not defined."""
    first = settled(a)
    second = settled(b)
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return pearson(first, second)


def _tau(a: Floats, b: Floats) -> float | None:
    """Kendall's τ-b; None where it is not defined."""
    first = settled(a)
    second = settled(b)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return kendall_tau_b(first, second)


class Exchange(NamedTuple):
    """What came of one way to exchange docs."""

    lists: str
    similarity: float
    correlation: float | None
    """Pearson's r of the similarity to the others with mean AP."""
    relevant: float
    """Mean similarity among relevant docs."""
    nonrelevant: float
    tau: float | None
    """Kendall's τ of EMAP with mean AP: how well a method without judgments does here; None where all runs tie."""
    to_others: Floats


@dataclass(frozen=True, eq=False)
class ExchangeStudy(Result):
    """The lists as they are, with docs exchanged at random, and in order; every AP is the same in all three."""

    runs: tuple[str, ...]
    means: Floats
    """Mean AP of each run on its first docs."""
    rows: tuple[Exchange, ...]
    recipe: str

    def table(self) -> Table:
        """One row for each of the three."""
        rows = []
        for row in self.rows:
            ratio = row.relevant / row.nonrelevant if row.nonrelevant else None
            rows.append((row.lists, row.similarity, row.correlation, row.relevant, row.nonrelevant, ratio, row.tau))
        columns = {
            "lists": "", "similarity": ".4f", "r with AP": ".3f", "relevant": ".4f", "others": ".4f", "ratio": ".2f",
            "τ of EMAP": ".3f",
        }  # fmt: skip
        return Table.of(
            columns,
            rows,
            caption="Docs of equal relevance exchanged: every AP stays the same",
            notes=[
                "similarity: share of preferences in common, mean over all pairs of runs; relevant, others: the same "
                "among these docs alone, and how many times as large",
                self.recipe,
            ],
            keys={
                "r with AP": "pearson", "relevant": "similarity_relevant", "others": "similarity_others",
                "τ of EMAP": "tau_emap",
            },
        )  # fmt: skip


def exchange_study(
    runs: Sequence[Run],
    qrels: Qrels,
    *,
    rel: float = 1,
    preferences: str = RETRIEVED,
    depth: int = DEPTH,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> ExchangeStudy:
    """What becomes of similarity, of its worth and of EMAP when docs of equal relevance are exchanged (Table 5).

    At random: each doc becomes a random doc of the topic of the same relevance, which makes a collection easy. In
    order: the n-th relevant doc of every list becomes the same doc, and so does the n-th other one, which makes it
    hard. AP is that of the first `depth` docs, docs that nobody judged not being relevant.

    >>> from assay.studies import simulate
    >>> made = simulate(topics=4, runs_per_group=1, docs=60, depth=20)
    >>> as_they_are, at_random, in_order = exchange_study(made.runs, made.qrels).rows
    >>> at_random.similarity < as_they_are.similarity < in_order.similarity
    True
    """
    lists = _lists(runs, qrels, depth)
    relevant = lists.graded(qrels).relevant(rel)
    means = np.asarray(average_precision(lists, relevant).mean(axis=1))
    made = {
        "as they are": lists,
        "exchanged at random": exchanged_at_random(lists, relevant, seed=seed),
        "exchanged in order": exchanged_in_order(lists, relevant),
    }
    rows = []
    for i, (name, changed) in enumerate(made.items()):
        rows.append(_exchange(name, changed, qrels, rel, preferences, means, jobs))
        progress(i + 1, len(made))
    size = f"{len(lists.runs)} runs, {len(lists.topics)} topics, first {depth} docs"
    recipe = f"{size}; preferences={preferences}, rel={rel:g}, seed={seed}"
    return ExchangeStudy(lists.runs, means, tuple(rows), recipe)


def _exchange(
    name: str, lists: Lists, qrels: Qrels, rel: float, preferences: str, means: Floats, jobs: int
) -> Exchange:
    similarity = {}
    for among in AMONG:
        similarity[among] = preference_similarity(
            lists, qrels=qrels, among=among, preferences=preferences, rel=rel, ties=False, jobs=jobs
        )
    to_others = similarity["all"].to_others()
    emap = expected_ap(lists, relevance(lists, preferences=preferences)).mean(axis=1)
    return Exchange(
        lists=name,
        similarity=float(to_others.mean()),
        correlation=_pearson(to_others, means),
        relevant=similarity["relevant"].mean(),
        nonrelevant=similarity["nonrelevant"].mean(),
        tau=_tau(emap, means),
        to_others=to_others,
    )
