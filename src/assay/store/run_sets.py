"""How do chosen runs differ? Their comparison, the topics by difference, and the lists of one topic side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.io.docs import text_of
from assay.scoring.topic_views import TopicView, topic_view
from assay.stats import compare
from assay.stats.joint_tests import AUTO, corrections_to_choose
from assay.stats.leaderboard import Leaderboard
from assay.store.qrels_versions import QrelsVersion
from assay.store.stored_runs import StoredRun, names_of

if TYPE_CHECKING:
    from assay.report.figure import Figure
    from assay.store.store import Store

MOST_TOGETHER = 20
"""Runs that are compared on one page at most."""


@dataclass(frozen=True, eq=False)
class ComparedRuns(Result):
    """Runs of one collection against the first of them."""

    unit = "topic"

    runs: tuple[StoredRun, ...]
    version: QrelsVersion
    leaderboard: Leaderboard

    @property
    def names(self) -> tuple[str, ...]:
        """What tables call the runs, in the order in which they were chosen."""
        return tuple(names_of(self.runs))

    def table(self) -> Table:
        """One row per topic, by the difference of the second run from the first, the greatest gain first."""
        matrix = self.leaderboard.matrix.select(runs=list(self.names))
        difference = matrix.values[1] - matrix.values[0]
        columns = {"topic": "", **dict.fromkeys(self.names, ".4f"), "Δ": "+.4f"}
        rows = []
        for at in np.argsort(-difference, kind="stable").tolist():
            rows.append([matrix.topics[at], *matrix.values[:, at].tolist(), difference[at]])
        notes = [f"Δ: {self.names[1]} less {self.names[0]}"]
        keys = {name: f"score_{number}" for number, name in enumerate(self.names, 1)}
        return Table.of(columns, rows, caption=f"{matrix.measure} on every topic", notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The comparison and the topics."""
        known = {"runs": [{"name": name, "hash": run.hash} for name, run in zip(self.names, self.runs, strict=True)]}
        return {**known, "comparison": self.leaderboard.record(), **super().record()}

    def figures(self) -> list[Figure]:
        """Means with intervals, and for each other run its difference from the first on every topic."""
        others = self.names[1:4]
        return [self.leaderboard.figure(), *(self.leaderboard.figure(run=name) for name in others)]

    @staticmethod
    def tests() -> list[str]:
        """Names of the tests that can be asked for."""
        from assay.stats.paired import TESTS

        return [entry.name for entry in TESTS]

    @staticmethod
    def corrections() -> list[str]:
        """Names of the corrections that can be asked for."""
        return corrections_to_choose()


def compared_runs(
    store: Store,
    runs: Sequence[StoredRun],
    *,
    measure: str | None = None,
    test: str = "t",
    correction: str = AUTO,
    qrels: str | int | None = None,
) -> ComparedRuns:
    """Runs of one collection, tested against the first of them."""
    distinct = list({run.hash: run for run in runs}.values())
    of = {run.collection for run in distinct}
    if len(of) > 1:
        raise UsageError(f"the runs are of {len(of)} collections ({', '.join(sorted(of))}); compare runs of one")
    if not 2 <= len(distinct) <= MOST_TOGETHER:
        raise UsageError(f"{len(distinct)} runs; two to {MOST_TOGETHER} different ones are compared on one page")
    [collection] = of
    version = store.qrels.version(collection, qrels)
    matrix = store.scores.matrix(collection, measure, qrels=version.hash, runs=distinct)
    board = compare(matrix, baseline=names_of(distinct)[0], test=test, correction=correction)
    return ComparedRuns(tuple(distinct), version, board)


def lists_of_topic(
    store: Store,
    collection: str,
    topic: str,
    runs: Sequence[StoredRun],
    *,
    depth: int = 10,
    qrels: str | int | None = None,
    characters: int = 400,
) -> TopicView:
    """The first docs of each run on a topic, side by side, with the texts that the store has."""
    own = store.collections[collection]
    judgments = store.qrels.read(collection, qrels)
    texts_of_topics = store.collections.topics(collection)
    named = [replace(store.runs.read_stored(run), name=name) for run, name in zip(runs, names_of(runs), strict=True)]
    has_text = topic in texts_of_topics.to_dict()
    view = topic_view(
        topic,
        named,
        judgments,
        measures=list(dict.fromkeys([own.measure, "AP"])),
        depth=depth,
        topics=texts_of_topics if has_text else None,
        characters=characters,
    )
    wanted = list(dict.fromkeys(doc.doc for docs in view.lists for doc in docs))
    texts = {doc: text_of(fields) for doc, fields in store.collections.docs(collection, wanted).items()}
    return replace(view, texts=texts) if texts else view
