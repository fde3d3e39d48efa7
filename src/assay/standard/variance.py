"""Where does the spread of scores come from: runs, topics, or their interaction?

Components of variance of a ScoreMatrix and what generalizability theory makes of them: how far one may trust absolute
and relative scores, and how many topics a wanted reliability takes. Where the flow stands: scores → **result**.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import scores_of_one_measure
from assay.stats.anova import estimates_alone, two_way


@dataclass(frozen=True)
class Components(Result):
    """Variance due to runs, to topics, and to their interaction (with the error), none below 0.

    `estimates` are the same three before negative ones were set to 0. There are no intervals: none is known that would
    hold for scores that are not normal.
    """

    runs: int
    topics: int
    run: float
    topic: float
    interaction: float
    estimates: tuple[float, float, float]
    measure: str = "score"

    @property
    def absolute(self) -> float:
        """φ: the share of one topic's variance that is due to the runs, absolute comparability (Webber eq. 4.3)."""
        return _share(self.run, self.topic + self.interaction)

    @property
    def relative(self) -> float:
        """ρ_I: as φ without the variance of the topics; comparability on the same topics (Webber eq. 4.4)."""
        return _share(self.run, self.interaction)

    def dependability(self, n: float | None = None) -> float:
        """Φ(n): reliability of absolute mean scores over n topics (by default those of the matrix)."""
        return _share(self.run, (self.topic + self.interaction) / self._topics(n))

    def generalizability(self, n: float | None = None) -> float:
        """Eρ²(n): reliability of the order of the runs over n topics (by default those of the matrix)."""
        return _share(self.run, self.interaction / self._topics(n))

    def topics_needed(self, target: float, *, absolute: bool = False) -> int | None:
        """The least n with Eρ²(n) ≥ target, or Φ(n) with `absolute`; None without variance between the runs.

        n = target / (1 − target) · noise / σ²(run), rounded up.
        """
        if not 0 < target < 1:
            raise UsageError(f"target: reliability must lie between 0 and 1 (got {target}); try 0.95")
        if self.run == 0:
            return None
        noise = self.interaction + (self.topic if absolute else 0.0)
        exact = target / (1 - target) * noise / self.run
        return max(1, math.ceil(exact * (1 - 1e-12)))  # 19.000000000000004 topics are 19

    def _topics(self, n: float | None) -> float:
        if n is not None and n <= 0:
            raise UsageError(f"n: a number of topics must be positive (got {n})")
        return self.topics if n is None else n

    def table(self, targets: Sequence[float] = (0.9, 0.95)) -> Table:
        """Components with their shares, then the indices, then the topics needed for each target."""
        freedom = {f"{self.runs} runs": self.runs - 1, f"{self.topics:,} topics": self.topics - 1}
        notes = [_need(self, target) for target in targets] + [f"{estimates_alone(freedom)}."]
        total = self.run + self.topic + self.interaction
        parts = {"run": self.run, "topic": self.topic, "run × topic": self.interaction}
        rows: list[tuple[str, float, float | None]] = []
        for (name, value), estimate in zip(parts.items(), self.estimates, strict=True):
            percent = 100 * _share(value, total - value)
            rows.append((f"σ² {name}", value, percent))
            if estimate < 0:
                notes.append(f"The estimate of σ² {name} was negative and is set to 0.")
        rows += [
            ("φ, one topic, absolute", self.absolute, None),
            ("ρ, one topic, relative", self.relative, None),
            (f"Φ, {self.topics:,} topics, absolute", self.dependability(), None),
            (f"Eρ², {self.topics:,} topics, relative", self.generalizability(), None),
        ]
        caption = f"{self.measure}: components of variance, {self.runs} runs × {self.topics:,} topics"
        return Table.of({"what": "", "value": ".6f", "%": ".1f"}, rows, caption=caption, notes=notes)

    def record(self) -> dict[str, Any]:
        """The table, and its numbers under names that do not change with the data."""
        numbers = {
            "sigma2_run": self.run,
            "sigma2_topic": self.topic,
            "sigma2_run_topic": self.interaction,
            "absolute": self.absolute,
            "relative": self.relative,
            "dependability": self.dependability(),
            "generalizability": self.generalizability(),
        }
        return {**super().record(), **numbers}


def variance_components(matrix: ScoreMatrix) -> Components:
    """Components of variance by the mean squares of a two-way layout without replication.

    σ²(run × topic) = MS_residual, σ²(run) = (MS_run − MS_residual)/topics, σ²(topic) = (MS_topic − MS_residual)/runs;
    a negative estimate becomes 0. Scores that do not vary at all have components and indices 0.
    Brennan 2001; Bodoff & Li 2007; Webber 2010, §4.1.

    >>> c = variance_components(ScoreMatrix.of([[0.1, 0.3], [0.3, 0.5]]))
    >>> round(c.run, 6), round(c.topic, 6), round(c.interaction, 6)
    (0.02, 0.02, 0.0)
    """
    runs, topics = scores_of_one_measure(matrix).shape
    if min(runs, topics) < 2:
        raise DataError(f"{matrix.measure}: {runs} runs × {topics} topics; components of variance need two of each")
    anova = two_way(matrix)
    ms_residual = anova["residual"].mean_square
    of_runs = (anova["run"].mean_square - ms_residual) / topics
    of_topics = (anova["topic"].mean_square - ms_residual) / runs
    estimates = (of_runs, of_topics, ms_residual)
    largest_score = float(max(matrix.values.max(), -matrix.values.min()))
    rounding = 1e-13 * largest_score**2  # up to this a component is what rounding left of zero
    run, topic, interaction = (0.0 if estimate <= rounding else estimate for estimate in estimates)
    return Components(runs, topics, run, topic, interaction, estimates, matrix.measure)


def _share(part: float, rest: float) -> float:
    if part <= 0:
        return 0.0
    return part / (part + rest)


def _need(components: Components, target: float) -> str:
    order = components.topics_needed(target)
    score = components.topics_needed(target, absolute=True)
    if order is None or score is None:
        return f"There is no variance between the runs: no number of topics gives a reliability of {target:g}."
    return f"For {target:g}: {order} topics for the order of the runs (Eρ²), {score} for absolute scores (Φ)."
