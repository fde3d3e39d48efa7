"""Which runs does a machine judge favour? Machine minus human score, run by run, with intervals and corrected tests.

A judge that is as generous to all runs moves all scores and no ranking. So a run is favoured if its bias differs from
the mean bias over all runs. Also by groups of runs, by rank, and by how hard topics are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.data.info import RunsInfo
from assay.judges.topic_means import Limits, gap_limits, mean_ends, mean_p
from assay.rankings import settled
from assay.stats.effect import differences
from assay.stats.multiple import corrected

PARTS = ("best", "middle", "worst")
"""Thirds of the runs by the human ranking."""
DIFFICULTY = ("hard", "medium", "easy")
"""Thirds of the topics by the mean human score over the runs."""


@dataclass(frozen=True, eq=False)
class RunBias(Result):
    """The bias of one judge: machine − human, with intervals over the topics."""

    unit = "topic"

    judge: str
    measure: str
    runs: tuple[str, ...]
    human: Floats
    bias: Floats
    low: Floats
    high: Floats
    beyond_mean: Floats
    """The bias of each run less the mean bias of all runs."""
    p: Floats
    """Of `beyond_mean`, after the correction."""
    mean: float
    mean_low: float
    mean_high: float
    parts: tuple[tuple[str, str, int, float, float, float, float | None], ...]
    """What, group, how many, bias, low, high, p against the others."""
    correction: str
    level: float
    topics: int

    @property
    def alpha(self) -> float:
        """The level of significance that belongs to the intervals."""
        return round(1 - self.level, 12)

    def favoured(self, sign: int = 1) -> list[str]:
        """The runs that the judge favours (sign 1) or puts down (−1) significantly, the strongest first."""
        chosen = (self.p < self.alpha) & (np.sign(self.beyond_mean) == sign)
        order = np.argsort(-np.abs(self.beyond_mean), kind="stable")
        return [self.runs[i] for i in order.tolist() if chosen[i]]

    def table(self) -> Table:
        """One row for each run, the most favoured first."""
        columns = {
            "judge": "", "run": "", "human": ".4f", "bias": "+.4f", "low": "+.4f", "high": "+.4f",
            "beyond mean": "+.4f", "p corrected": "p",
        }  # fmt: skip
        rows = []
        for i in np.argsort(-self.beyond_mean, kind="stable").tolist():
            rows.append((
                self.judge, self.runs[i], self.human[i], self.bias[i], self.low[i], self.high[i], self.beyond_mean[i],
                self.p[i],
            ))  # fmt: skip
        return Table.of(
            columns, rows, caption=f"{self.measure}: bias of {self.judge} for each run", notes=self._notes()
        )

    def parts_table(self) -> Table:
        """The bias by groups of runs, by rank and by difficulty of topics."""
        columns = {
            "judge": "", "by": "", "part": "", "size": "d", "bias": "+.4f", "low": "+.4f", "high": "+.4f",
            "p against others": "p",
        }  # fmt: skip
        rows = [(self.judge, *part) for part in self.parts]
        note = "parts of the runs are tested against the other runs on the same topics; p is not corrected"
        return Table.of(columns, rows, caption=f"{self.measure}: bias of {self.judge} by parts", notes=[note])

    def tables(self) -> list[Table]:
        """By run, and by parts."""
        return [self.table(), self.parts_table()]

    def record(self) -> dict[str, Any]:
        """The rows, with the mean bias."""
        mean = {"mean_bias": self.mean, "mean_low": self.mean_low, "mean_high": self.mean_high}
        return {**super().record(), "judge": self.judge, **mean}

    def _notes(self) -> list[str]:
        return [
            f"mean bias over the runs {self.mean:+.4f} [{self.mean_low:+.4f}, {self.mean_high:+.4f}]",
            f"bias: machine − human, {100 * self.level:g} % intervals over {self.topics} topics (bounds where few "
            "differ, else t)",
            f"beyond mean: bias less the mean over all runs; p of a paired t test, corrected by {self.correction} over "
            f"{len(self.runs)} runs",
        ]


def run_bias(
    human: ScoreMatrix,
    machine: ScoreMatrix,
    judge: str,
    *,
    info: RunsInfo | None = None,
    by: Sequence[str] = (),
    correction: str = "holm",
    level: float = 0.95,
) -> RunBias:
    """The bias of one judge for every run, and by parts of runs and topics; by: columns of the table of runs."""
    rows = differences(machine.values, human.values)
    limits = gap_limits(human, machine)
    low, high = mean_ends(rows, level, limits)
    of_topic = rows.mean(axis=0)
    beyond = differences(rows, np.broadcast_to(of_topic, rows.shape))
    if len(rows) > 1:
        p = corrected(mean_p(beyond, _twice(limits)), correction)
    else:
        p = np.ones(1)
    mean_low, mean_high = mean_ends(of_topic, level, limits)
    groups = {"rank": _by_rank(human)}
    for column in by:
        if info is not None:
            groups[column] = info.groups(column, list(human.runs))
    parts = []
    for what, members in groups.items():
        parts += _run_parts(what, members, human.runs, rows, level, limits)
    parts += _topic_parts(human, of_topic, level, limits)
    return RunBias(
        judge=judge,
        measure=human.measure,
        runs=human.runs,
        human=human.averages(),
        bias=rows.mean(axis=1),
        low=low,
        high=high,
        beyond_mean=beyond.mean(axis=1),
        p=p,
        mean=float(of_topic.mean()),
        mean_low=float(mean_low[0]),
        mean_high=float(mean_high[0]),
        parts=tuple(parts),
        correction=correction,
        level=level,
        topics=human.shape[1],
    )


def _twice(limits: Limits) -> Limits:
    """The limits of the difference of two biases."""
    return None if limits is None else (limits[0] - limits[1], limits[1] - limits[0])


def _by_rank(human: ScoreMatrix) -> dict[str, list[str]]:
    """Thirds of the runs, best first; too few runs are one part."""
    order = np.argsort(-settled(human.averages()), kind="stable")
    if len(order) < 2 * len(PARTS):
        return {}
    split = np.array_split(order, len(PARTS))
    return {name: [human.runs[i] for i in part.tolist()] for name, part in zip(PARTS, split, strict=True)}


def _run_parts(
    what: str, members: Mapping[str, Sequence[str]], runs: Sequence[str], rows: Floats, level: float, limits: Limits
) -> list[tuple[str, str, int, float, float, float, float | None]]:
    place = {run: i for i, run in enumerate(runs)}
    found = []
    for name, names in members.items():
        inside = np.zeros(len(runs), dtype=bool)
        inside[[place[run] for run in names]] = True
        of_topic = rows[inside].mean(axis=0)
        p = None
        if not inside.all():
            against = differences(of_topic, rows[~inside].mean(axis=0))
            p = float(mean_p(against, _twice(limits))[0])
        low, high = mean_ends(of_topic, level, limits)
        mean = float(of_topic.mean())
        found.append((what, name, int(inside.sum()), mean, float(low[0]), float(high[0]), p))
    return found


def _topic_parts(
    human: ScoreMatrix, of_topic: Floats, level: float, limits: Limits
) -> list[tuple[str, str, int, float, float, float, float | None]]:
    """Bias on thirds of the topics, from hard to easy by the mean human score."""
    if human.shape[1] < 2 * len(DIFFICULTY):
        return []
    order: Ints = np.argsort(settled(human.values.mean(axis=0)), kind="stable")
    found: list[tuple[str, str, int, float, float, float, float | None]] = []
    for name, part in zip(DIFFICULTY, np.array_split(order, len(DIFFICULTY)), strict=True):
        low, high = mean_ends(of_topic[part], level, limits)
        mean = float(of_topic[part].mean())
        found.append(("topic difficulty", name, len(part), mean, float(low[0]), float(high[0]), None))
    return found
