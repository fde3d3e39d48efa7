"""How are scores, or differences, spread over topics that are too many to be shown one by one?

Quantiles and histograms of every topic, and the few topics that stand out. Where the flow stands: scores → **result**.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.stats.effect import differences

BINS = 40
"""Bars of a histogram; one more where one of them is around 0."""
SHARES = (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)
"""The quantiles that a table shows."""
HEADINGS = ("lowest", "5 %", "25 %", "median", "75 %", "95 %", "highest")
TOPICS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Spread(Result):
    """How values of runs are spread over the topics: quantiles, and how many topics lie between two edges.

    `what` says what the values are, `names` whose they are; `counts` has a row for each, `zeros` their topics at 0.
    """

    what: str
    names: tuple[str, ...]
    n: int
    edges: Floats
    counts: Ints
    quantiles: Floats
    zeros: Ints
    signed: bool = False
    """Whether the values are differences, which are printed with their sign."""

    def table(self) -> Table:
        """One row per run or difference."""
        form = "+.4f" if self.signed else ".4f"
        formats = {"run": ""} | dict.fromkeys(HEADINGS, form) | {"% at 0": ".2f"}
        rows = []
        for name, quantiles, zeros in zip(self.names, self.quantiles, self.zeros, strict=True):
            rows.append((name, *quantiles, 100 * zeros / self.n))
        keys = dict(zip(HEADINGS, ("lowest", "q05", "q25", "median", "q75", "q95", "highest"), strict=True))
        notes = ["quantiles over all topics, interpolated linearly; % at 0: topics whose value is exactly 0"]
        caption = f"{self.what} over {self.n:,} topics"
        return Table.of(formats, rows, caption=caption, notes=notes, keys=keys | {"% at 0": "percent_at_zero"})

    def record(self) -> dict[str, Any]:
        """The quantiles, and the histogram of each run."""
        bins = {"edges": self.edges.tolist(), "counts": self.counts.tolist()}
        return {"what": self.what, "n": self.n} | super().record() | {"histogram": bins}


def score_spread(matrix: ScoreMatrix, runs: Sequence[str] | None = None) -> Spread:
    """How the scores of each run, or of these runs, are spread over the topics.

    >>> m = ScoreMatrix.of([[0.0, 0.5, 1.0], [0.0, 0.0, 0.5]], runs=["new", "old"], measure="AP")
    >>> score_spread(m).table().column("median"), score_spread(m).zeros.tolist()
    ([0.5, 0.0], [1, 2])
    """
    names = matrix.runs if runs is None else tuple(runs)
    return _spread(matrix.measure, names, [matrix.of_run(run) for run in names])


def difference_spread(matrix: ScoreMatrix, first: str, second: str) -> Spread:
    """How the differences first − second are spread over the topics.

    >>> m = ScoreMatrix.of([[0.0, 0.5, 1.0], [0.0, 0.0, 0.75]], runs=["new", "old"], measure="AP")
    >>> difference_spread(m, "new", "old").table().column("highest")
    [0.5]
    """
    rows = differences(matrix.of_run(first), matrix.of_run(second))
    return _spread(f"Δ {matrix.measure}", (f"{first} − {second}",), list(rows), signed=True)


def _spread(what: str, names: tuple[str, ...], rows: Sequence[Floats], *, signed: bool = False) -> Spread:
    if not rows or not len(rows[0]):
        raise DataError(f"{what}: there are no scores; a distribution needs a run and a topic")
    lowest = min(float(row.min()) for row in rows)
    highest = max(float(row.max()) for row in rows)
    bins = BINS
    if signed:  # a bar around 0, and as many on both sides
        bins = BINS + 1
        highest = max(-lowest, highest)
        lowest = -highest
    if lowest == highest:  # one value alone has a bar around it
        lowest -= 0.5
        highest += 0.5
    edges = np.linspace(lowest, highest, bins + 1)
    counts = [np.histogram(row, bins=bins, range=(lowest, highest))[0] for row in rows]
    return Spread(
        what=what,
        names=names,
        n=len(rows[0]),
        edges=edges,
        counts=np.array(counts),
        quantiles=np.array([np.quantile(row, SHARES) for row in rows]),
        zeros=np.array([np.count_nonzero(row == 0) for row in rows]),
        signed=signed,
    )


@dataclass(frozen=True)
class WideTopic:
    """A topic on which runs differ: their mean and sd, and who scores least and most."""

    topic: str
    mean: float
    sd: float
    lowest: float
    lowest_run: str
    highest: float
    highest_run: str


@dataclass(frozen=True, eq=False)
class WidestTopics(Result):
    """The topics on which the scores of the runs are spread most; `same` counts those with one score for all."""

    measure: str
    topics: tuple[WideTopic, ...]
    n: int
    same: int

    def table(self) -> Table:
        """One row per topic, the widest first."""
        columns = {"topic": "", "sd": ".4f", "mean": ".4f", "lowest": ".4f", "run": ""}
        columns |= {"highest": ".4f", "its run": ""}
        rows = []
        for t in self.topics:
            rows.append((t.topic, t.sd, t.mean, t.lowest, t.lowest_run, t.highest, t.highest_run))
        notes = [
            f"the {len(rows)} of {self.n:,} topics with the largest sd over the runs; of equal ones the first",
            f"{self.same:,} topics have one score for all runs",
        ]
        caption = f"{self.measure}: topics on which the runs differ most"
        return Table.of(
            columns, rows, caption=caption, notes=notes, keys={"run": "lowest_run", "its run": "highest_run"}
        )

    def record(self) -> dict[str, Any]:
        """The rows, and how many topics do not tell runs apart."""
        return {"measure": self.measure, "n": self.n, "same": self.same} | super().record()


def widest_topics(matrix: ScoreMatrix, most: int = 10) -> WidestTopics:
    """The `most` topics with the largest population sd over the runs; of equal ones the first.

    >>> m = ScoreMatrix.of([[0.1, 0.5, 0.9], [0.1, 0.4, 0.1]], runs=["new", "old"], measure="AP")
    >>> found = widest_topics(m, 2)
    >>> [t.topic for t in found.topics], found.same
    (['3', '2'], 1)
    """
    if most < 1:
        raise UsageError(f"{most} topics cannot be shown; ask for at least 1")
    n = len(matrix.topics)
    sd = np.empty(n)
    same = 0
    for block in chunks(n, TOPICS_AT_ONCE):
        scores = matrix.values[:, block]
        flat = np.ptp(scores, axis=0) == 0
        sd[block] = np.where(flat, 0.0, scores.std(axis=0))
        same += int(flat.sum())
    topics = []
    for place in _largest(sd, most):
        scores = matrix.values[:, place]
        low, high = int(scores.argmin()), int(scores.argmax())
        topic = WideTopic(
            topic=matrix.topics[place],
            mean=float(scores.mean()),
            sd=float(sd[place]),
            lowest=float(scores[low]),
            lowest_run=matrix.runs[low],
            highest=float(scores[high]),
            highest_run=matrix.runs[high],
        )
        topics.append(topic)
    return WidestTopics(matrix.measure, tuple(topics), n, same)


def _largest(values: npt.NDArray[np.float64], most: int) -> list[int]:
    """The places of the largest values, largest first; of equal ones the first."""
    count = min(most, len(values))
    if not count:
        return []
    threshold = np.partition(values, len(values) - count)[len(values) - count]
    candidates = np.flatnonzero(values >= threshold)
    order = np.argsort(-values[candidates], kind="stable")[:count]
    places: list[int] = candidates[order].tolist()
    return places
