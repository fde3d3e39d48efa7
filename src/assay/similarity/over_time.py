"""How stable are the results of one engine over time? Day to day, from start to end, and where the largest change is.

Where the flow stands: runs in order of time → **result**. As in Webber 2010, §7.4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.tables import Table
from assay.data import Run
from assay.rankings.rank_biased import rbo_ext
from assay.similarity.by_topic import check_runs, common_topics, ranking_of


@dataclass(frozen=True, eq=False)
class SeriesResult:
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
        order = np.argsort(self.steps, axis=None, kind="stable")[:n]
        at = zip(*np.unravel_index(order, self.steps.shape), strict=True)
        return [(self.runs[i], self.runs[i + 1], self.topics[j], float(self.steps[i, j])) for i, j in at]

    def step_means(self) -> Floats:
        """The mean over topics of each step: a dip is a day on which the engine changed."""
        return np.asarray(self.steps.mean(axis=1))

    def table(self) -> Table:
        """One row: stability from each run to the next and from the start to the end."""
        mean, median = float(self.steps.mean()), float(np.median(self.steps))
        sd = float(self.steps.std(ddof=1)) if self.steps.size > 1 else None
        change = int(self.step_means().argmin())
        step = f"{self.runs[change]} → {self.runs[change + 1]}"
        row = (mean, sd, median, float(self.ends.mean()), step, float(self.step_means()[change]))
        of_steps = {"step mean": ".4f", "sd": ".4f", "median": ".4f"}
        columns = {**of_steps, "start to end": ".4f", "largest change": "", "there": ".4f"}
        note = (
            f"RBO EXT at p = {self.p:g} of {len(self.runs)} runs in the order given, {len(self.topics)} common topics; "
            f"start to end: first {self.window} × last {self.window} runs"
        )
        return Table.of(columns, [row], caption="Stability over time", notes=[note])

    def step_table(self) -> Table:
        """One row per step: mean over topics, and the topic that changed most."""
        low = self.steps.argmin(axis=1)
        rows = [
            (a, b, mean, self.topics[j], row[j])
            for a, b, mean, j, row in zip(self.runs, self.runs[1:], self.step_means(), low, self.steps, strict=False)
        ]
        columns = {"run": "", "next": "", "mean": ".4f", "most changed topic": "", "there": ".4f"}
        return Table.of(columns, rows, caption="From each run to the next")


def series(runs: Sequence[Run], *, p: float = 0.9, window: int = 1, depth: int | None = None) -> SeriesResult:
    """Stability of runs given in order of time, on the topics that all have.

    `window` runs at the start are compared with as many at the end (Webber 2010 takes 4 × 4 days).

    >>> days = [Run.from_lists(d, {"1": docs}) for d, docs in [("mon", "abc"), ("tue", "abc"), ("wed", "bac")]]
    >>> series(days).step_means().round(3)
    array([1. , 0.9])
    """
    check_runs(runs)
    if not 1 <= window <= len(runs) // 2:
        raise UsageError(
            f"window {window}: of {len(runs)} runs between 1 and {len(runs) // 2} can be the start and the end"
        )
    cut = list(runs) if depth is None else [run.cut(depth) for run in runs]
    topics = common_topics(cut)
    lists = [[ranking_of(run, t) for t in topics] for run in cut]

    def alike(i: int, j: int) -> list[float]:
        return [rbo_ext(a, b, p) for a, b in zip(lists[i], lists[j], strict=True)]

    steps = [alike(i, i + 1) for i in range(len(runs) - 1)]
    ends = [alike(i, len(runs) - window + j) for i in range(window) for j in range(window)]
    return SeriesResult(tuple(r.name for r in runs), tuple(topics), np.array(steps), np.array(ends), p, window)
