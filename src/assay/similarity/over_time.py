"""How stable are the results of one engine over time? Day to day, from start to end, and where the largest change is.

Where the flow stands: runs in order of time → **result**. As in Webber 2010, §7.4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Run
from assay.rankings.rank_biased import rbo_ext
from assay.rankings.ranked_items import Ranking
from assay.similarity.by_topic import check_runs, common_topics, ranking_of


@dataclass(frozen=True, eq=False)
class SeriesResult(Result):
    """RBO of each run with the next, on every topic; and of the first runs with the last."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    steps: Floats
    """(runs − 1) × topics: RBO EXT of a run with the one after it."""
    ends: Floats
    """window² × topics: RBO EXT of each of the first runs with each of the last."""
    p: float
    window: int

    def largest_changes(self, n: int = 5) -> list[tuple[str, str, str, float]]:
        """(run, next run, topic, RBO) of the n largest changes, largest first."""
        lowest_first = np.argsort(self.steps, axis=None, kind="stable")[:n]
        changes = []
        for place in lowest_first.tolist():
            step, topic = divmod(place, len(self.topics))
            value = float(self.steps[step, topic])
            changes.append((self.runs[step], self.runs[step + 1], self.topics[topic], value))
        return changes

    def step_means(self) -> Floats:
        """The mean over topics of each step: a dip is a day on which the engine changed."""
        return np.asarray(self.steps.mean(axis=1))

    def topic_sds(self) -> Floats:
        """The standard deviation over time of each topic; NaN with a single step."""
        if len(self.steps) < 2:
            return np.full(len(self.topics), np.nan)
        return np.asarray(self.steps.std(axis=0, ddof=1))

    def step_sds(self) -> Floats:
        """The standard deviation over topics of each step; NaN with a single topic."""
        if len(self.topics) < 2:
            return np.full(len(self.steps), np.nan)
        return np.asarray(self.steps.std(axis=1, ddof=1))

    def table(self) -> Table:
        """One row: stability from each run to the next and from the start to the end."""
        means = self.step_means()
        change = int(means.argmin())
        row = (
            float(means.mean()),
            float(self.topic_sds().mean()),
            float(np.median(self.steps)),
            float(self.ends.mean()),
            f"{self.runs[change]} → {self.runs[change + 1]}",
            float(means[change]),
        )
        columns = {"step mean": ".4f", "sd": ".4f", "median": ".4f"}
        columns |= {"start to end": ".4f", "largest change": "", "there": ".4f"}
        keys = {"step mean": "mean", "there": "largest_change_mean"}
        return Table.of(columns, [row], caption="Stability over time", notes=self._notes(), keys=keys)

    def step_table(self) -> Table:
        """One row per step: mean and spread over topics, and the topic that changed most."""
        means = self.step_means()
        sds = self.step_sds()
        rows = []
        for i, values in enumerate(self.steps):
            most_changed = int(values.argmin())
            spread = (means[i], sds[i], float(np.median(values)))
            change = (self.topics[most_changed], values[most_changed])
            rows.append((self.runs[i], self.runs[i + 1], *spread, *change))
        columns = {"run": "", "next": "", "mean": ".4f", "sd": ".4f", "median": ".4f"}
        columns |= {"most changed topic": "", "there": ".4f"}
        recipe = f"{self._notes()[0]}; sd: over the topics of a step"
        return Table.of(
            columns,
            rows,
            caption="From each run to the next",
            notes=[recipe],
            keys={"there": "most_changed_value"},
        )

    def tables(self) -> list[Table]:
        """The summary, then step by step."""
        return [self.table(), self.step_table()]

    def record(self) -> dict[str, Any]:
        """The mean RBO of the steps and from start to end, and the tables."""
        record = super().record()
        record["mean"] = float(self.step_means().mean())
        record["start_to_end"] = float(self.ends.mean())
        record["p"] = self.p
        return record

    def _notes(self) -> list[str]:
        return [
            f"RBO EXT at p = {self.p:g} of {len(self.runs)} runs in the order given, {len(self.topics)} common topics",
            f"sd: over the {len(self.steps)} steps of a topic, mean of the topics; median: of all steps and topics; "
            f"start to end: first {self.window} × last {self.window} runs",
        ]


def series(runs: Sequence[Run], *, p: float = 0.9, window: int = 1, depth: int | None = None) -> SeriesResult:
    """Stability of runs given in order of time, on the topics that all have.

    `window` runs at the start are compared with as many at the end (Webber 2010 takes 4 × 4 days).

    >>> days = [Run.from_lists(d, {"1": docs}) for d, docs in [("mon", "abc"), ("tue", "abc"), ("wed", "bac")]]
    >>> series(days).step_means().round(3)
    array([1. , 0.9])
    """
    check_runs(runs)
    most = len(runs) // 2
    if not 1 <= window <= most:
        raise UsageError(f"window {window}: of {len(runs)} runs between 1 and {most} can be the start and the end")
    if depth is not None:
        runs = [run.cut(depth) for run in runs]
    topics = common_topics(list(runs))
    rankings = [[ranking_of(run, topic) for topic in topics] for run in runs]

    def similarity(one: list[Ranking], other: list[Ranking]) -> list[float]:
        """RBO on each topic."""
        return [rbo_ext(a, b, p) for a, b in zip(one, other, strict=True)]

    steps = [similarity(one, following) for one, following in pairwise(rankings)]
    first_and_last = product(rankings[:window], rankings[-window:])
    ends = [similarity(first, last) for first, last in first_and_last]
    return SeriesResult(
        runs=tuple(run.name for run in runs),
        topics=tuple(topics),
        steps=np.array(steps),
        ends=np.array(ends),
        p=p,
        window=window,
    )
