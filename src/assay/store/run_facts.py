"""Where does a run stand, topic by topic? Its scores beside the best, the median, a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.stats.run_places import places
from assay.store.context import context_lines
from assay.store.qrels_versions import QrelsVersion
from assay.store.stored_runs import StoredRun, names_of
from assay.store.stored_scores import RunMatch

if TYPE_CHECKING:
    from assay.store.people import Person
    from assay.store.store import Store


@dataclass(frozen=True, eq=False)
class RunFacts(Result):
    """A run on every topic, beside the best and the median of the track and perhaps a baseline."""

    run: StoredRun
    version: QrelsVersion
    measure: str
    signature: str
    topics: tuple[str, ...]
    scores: Floats
    mean: float
    """The average over topics, of the kind that the measure has."""
    best: Floats
    median: Floats
    baseline: StoredRun | None
    baseline_scores: Floats | None
    rank: int
    of_runs: int
    percentile: float
    marks: dict[str, float]
    match: RunMatch

    def table(self) -> Table:
        """One row per topic, where the run is furthest below the median first."""
        columns = {"topic": "", self.measure: ".4f", "best": ".4f", "median": ".4f", "Δ median": "+.4f"}
        if self.baseline is not None:
            columns |= {"baseline": ".4f", "Δ baseline": "+.4f"}
        rows = []
        for at in np.argsort(self.scores - self.median, kind="stable").tolist():
            score = self.scores[at]
            row: list[Any] = [self.topics[at], score, self.best[at], self.median[at], score - self.median[at]]
            if self.baseline_scores is not None:
                row += [self.baseline_scores[at], score - self.baseline_scores[at]]
            rows.append(row)
        notes = [f"best, median: of the {self.of_runs} runs of this collection on each topic", self.signature]
        caption = f"{self.run.tag}: {self.measure} on {len(self.topics)} topics"
        return Table.of(columns, rows, caption=caption, notes=notes, keys={self.measure: "score"})

    def record(self) -> dict[str, Any]:
        """The table with the place of the run and the marks of the track."""
        place = {
            "measure": self.measure,
            "signature": self.signature,
            "mean": self.mean,
            "rank": self.rank,
            "of_runs": self.of_runs,
            "percentile": self.percentile,
            "marks": [{"name": name, "mean": mean} for name, mean in self.marks.items()],
            "unjudged_share": self.match.unjudged_share,
            "missing_topics": list(self.match.missing),
        }
        return place | super().record()


def run_facts(
    store: Store,
    run: StoredRun,
    *,
    measure: str | None = None,
    baseline: StoredRun | None = None,
    qrels: str | int | None = None,
    person: Person | None = None,
) -> RunFacts:
    """A run of a store among the runs of its collection that a person may see."""
    version = store.qrels.version(run.collection, qrels)
    track = store.runs.listed(run.collection, seen_by=person or "public")
    wanted = {known.hash: known for known in [*track, run, *([baseline] if baseline else [])]}
    listed = list(wanted.values())
    names = {known.hash: name for known, name in zip(listed, names_of(listed), strict=True)}
    matrix = store.scores.matrix(run.collection, measure, qrels=version.hash, runs=listed)
    found = places(matrix)
    at = found.runs.index(names[run.hash])
    [match] = store.scores.matched(run.collection, qrels=version.hash, runs=[run])
    return RunFacts(
        run=run,
        version=version,
        measure=matrix.measure,
        signature=matrix.signature,
        topics=matrix.topics,
        scores=matrix.of_run(names[run.hash]),
        mean=float(found.means[at]),
        best=matrix.values.max(axis=0),
        median=np.median(matrix.values, axis=0),
        baseline=baseline,
        baseline_scores=None if baseline is None else matrix.of_run(names[baseline.hash]),
        rank=found.ranks[at],
        of_runs=len(listed),
        percentile=float(found.percentiles[at]),
        marks=context_lines(matrix, listed),
        match=match,
    )
