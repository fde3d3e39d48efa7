"""On which topics did a run lose most against the baseline? Where to look when a comparison disappoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.stats.effect import differences


@dataclass(frozen=True)
class Loss:
    """A topic on which a run scores less than the baseline."""

    run: str
    topic: str
    score: float
    baseline_score: float
    delta: float


@dataclass(frozen=True, eq=False)
class TopicLosses(Result):
    """The topics that lost most, by run, the largest loss first; `lost` counts all topics that did, by run."""

    measure: str
    baseline: str
    losses: tuple[Loss, ...]
    lost: Mapping[str, int]
    most: int
    n: int
    queries: Mapping[str, str] | None = None

    def table(self) -> Table:
        """One row per run and topic, with the query where it is known."""
        columns = {"run": "", "topic": "", "score": ".4f", "baseline": ".4f", "Δ": "+.4f"}
        rows: list[list[Any]] = []
        for loss in self.losses:
            row: list[Any] = [loss.run, loss.topic, loss.score, loss.baseline_score, loss.delta]
            if self.queries is not None:
                row.append(self.queries.get(loss.topic))
            rows.append(row)
        if self.queries is not None:
            columns["query"] = ""
        who = next(iter(self.lost)) if len(self.lost) == 1 else "each run"
        caption = f"{self.measure}: the topics on which {who} lost most against {self.baseline}"
        return Table.of(columns, rows, caption=caption, notes=self._notes(), keys={"baseline": "baseline_score"})

    def record(self) -> dict[str, Any]:
        """The rows, and how many topics every run lost."""
        counts = [{"run": run, "lost": count} for run, count in self.lost.items()]
        return {"measure": self.measure, "baseline": self.baseline, "n": self.n, "lost": counts} | super().record()

    def _notes(self) -> list[str]:
        if len(self.lost) > 1:
            return [f"at most {self.most} topics of each run; topics that a run did not lose are not shown"]
        [(run, lost)] = self.lost.items()
        return [f"{run} lost {lost:,} of {self.n:,} topics" + (f", {self.most} are shown" if lost > self.most else "")]


def topic_losses(
    matrix: ScoreMatrix,
    baseline: str,
    *,
    runs: Sequence[str],
    most: int = 10,
    queries: Mapping[str, str] | None = None,
) -> TopicLosses:
    """The `most` topics on which each of the runs lost most against the baseline; of equal losses the first topics.

    queries: {topic: text}, shown beside the topics; a file of other topics is an error.

    >>> m = ScoreMatrix.of([[0.5, 0.1, 0.2], [0.4, 0.4, 0.3]], runs=["new", "old"], measure="AP")
    >>> [loss.topic for loss in topic_losses(m, "old", runs=["new"]).losses]
    ['2', '3']
    """
    if most < 1:
        raise UsageError(f"{most} topics cannot be shown; ask for at least 1")
    if queries is not None and not any(topic in queries for topic in matrix.topics):
        raise DataError(f"none of the {len(matrix.topics)} topics has a query, e.g. {matrix.topics[0]!r}; give theirs")
    theirs = matrix.of_run(baseline)
    losses: list[Loss] = []
    lost = {}
    for run in runs:
        own = matrix.of_run(run)
        [delta] = differences(own, theirs)
        worst_first = np.argsort(delta, kind="stable")
        lost[run] = int((delta < 0).sum())
        for at in worst_first[: min(most, lost[run])].tolist():
            losses.append(Loss(run, matrix.topics[at], float(own[at]), float(theirs[at]), float(delta[at])))
    return TopicLosses(matrix.measure, baseline, tuple(losses), lost, most, len(matrix.topics), queries)
