"""Is the difference real where topics are turns of conversations? Tests and intervals that know which belong together.

Turns of one conversation tend to go well or badly together. Counted as independent topics they make intervals too
narrow; here conversations are what is independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean, one_of
from assay.core.results import Result
from assay.core.tables import Table, p_value
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.hierarchy.groups_of_ids import TopicGroups, topic_groups
from assay.io.brought import score_matrix_of
from assay.stats.effect import checked_rows, differences, ratio
from assay.stats.multiple import corrected, family_in_words
from assay.stats.paired import outcome_of
from assay.stats.resampling import checked_share, percent

WEIGHTS = ("conversations", "turns")
"""What counts alike: every conversation, whose mean is taken first, or every turn."""


@dataclass(frozen=True, eq=False)
class ConversationRow:
    """One run against the baseline over conversations."""

    run: str
    mean: float
    difference: float
    error: float
    low: float
    high: float
    p: float
    p_of_turns: float
    """p of the paired t test that takes turns for independent topics."""
    icc: float
    """Intraclass correlation of the differences; NaN where no conversation has two turns."""
    design_effect: float
    """Squared error with conversations over that without them."""


@dataclass(frozen=True, eq=False)
class Conversations(Result):
    """Runs compared with a baseline on conversations of several turns, best difference first."""

    rows: tuple[ConversationRow, ...]
    baseline: str
    baseline_mean: float
    groups: TopicGroups
    measure: str
    weights: str
    correction: str
    level: float

    @property
    def corrected_p(self) -> Floats:
        """p of the rows after the correction."""
        return corrected([row.p for row in self.rows], self.correction)

    @property
    def verdict(self) -> str:
        """The run with the largest difference, and what taking turns for topics would have said."""
        best = self.rows[0]
        p = float(self.corrected_p[0])
        said = "is better than" if best.difference > 0 else "is worse than"
        if p >= 1 - self.level:
            said = "is not significantly different from"
        interval = f"{best.difference:+.4f} [{best.low:+.4f}, {best.high:+.4f}]"
        return (
            f"{best.run} {said} {self.baseline}: {interval}, {p_value(p)}, "
            f"{self.groups.in_words('conversation', 'turn')}, design effect {best.design_effect:.2f}"
        )

    def table(self) -> Table:
        """One row per run."""
        columns = {"run": "", "mean": ".4f", "difference": "+.4f", "low": "+.4f", "high": "+.4f", "p": "p"}
        columns |= {"p corrected": "p", "p of turns": "p", "ICC": ".3f", "design effect": ".2f"}
        rows = []
        for row, p in zip(self.rows, self.corrected_p, strict=True):
            ends = [row.run, row.mean, row.difference, row.low, row.high, row.p, p]
            rows.append([*ends, row.p_of_turns, row.icc, row.design_effect])
        alike = "each conversation counts alike" if self.weights == WEIGHTS[0] else "each turn counts alike"
        notes = [
            f"{percent(self.level)} t interval and paired t test with {len(self.groups.names) - 1} degrees of freedom: "
            f"conversations are independent, turns are not; {alike}",
            family_in_words(self.correction, len(self.rows), 1 - self.level),
            "p of turns: the paired t test on turns, as if they were independent; ICC: intraclass correlation of the "
            "differences; design effect: squared error with conversations over that without",
        ]
        if np.isnan([row.icc for row in self.rows]).any():
            notes.append("–: no ICC, no conversation has two turns, or no difference varies")
        caption = f"{self.measure}: {len(self.rows)} runs against {self.baseline} ({self.baseline_mean:.4f}), "
        caption += self.groups.in_words("conversation", "turn")
        keys = {"ICC": "icc"}
        return Table.of(columns, rows, caption=caption, notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The verdict, the settings, and the rows."""
        facts = {
            "verdict": self.verdict,
            "measure": self.measure,
            "baseline": self.baseline,
            "conversations": len(self.groups.names),
            "turns": int(self.groups.sizes.sum()),
            "separator": self.groups.separator,
            "weights": self.weights,
            "correction": self.correction,
            "level": self.level,
        }
        return {**super().record(), **facts}


def compare_conversations(
    scores: Any,
    *,
    baseline: str | None = None,
    separator: str | None = None,
    weights: str = "conversations",
    correction: str = "holm",
    level: float = 0.95,
) -> Conversations:
    """Every run against a baseline on turns of conversations, whose topic ids are such as `31_4`.

    weights: "conversations" takes the mean of each conversation first, then a paired t test over conversations; "turns"
    takes the mean of all turns with an error that is robust to clusters, Σ_g (Σ_i e_gi)² · G/(G−1) / N² (Liang & Zeger
    1986), and t with G − 1 degrees of freedom. With one turn per conversation both are the paired t test.

    >>> turns = ["1_1", "1_2", "2_1", "2_2", "3_1", "3_2"]
    >>> values = [[0.5, 0.6, 0.3, 0.3, 0.7, 0.8], [0.4, 0.4, 0.3, 0.2, 0.5, 0.6]]
    >>> matrix = ScoreMatrix.of(values, runs=["new", "old"], topics=turns)
    >>> [row] = compare_conversations(matrix, baseline="old").rows
    >>> round(row.difference, 4), round(row.p, 4), round(row.p_of_turns, 4)
    (0.1333, 0.0942, 0.0103)
    """
    one_of("weights", weights, WEIGHTS)
    checked_share(level, "level")
    matrix = needs_means(score_matrix_of(scores), "a comparison of conversations")
    groups = topic_groups(matrix.topics, separator)
    base = _baseline(matrix, groups, baseline, weights)
    if len(groups.names) < 2:
        raise DataError(f"{matrix.measure}: 1 conversation; an interval needs two or more")
    others = [run for run in matrix.runs if run != base]
    rows = [_row(matrix, groups, run, base, weights, level) for run in others]
    rows.sort(key=lambda row: -row.difference)
    means = _weighted(matrix.of_run(base), groups, weights)
    return Conversations(tuple(rows), base, means, groups, matrix.measure, weights, correction, level)


def _baseline(matrix: ScoreMatrix, groups: TopicGroups, baseline: str | None, weights: str) -> str:
    """The baseline, by default the run with the best mean."""
    if len(matrix.runs) < 2:
        raise DataError(f"{matrix.measure}: {len(matrix.runs)} run; comparing takes two or more")
    if baseline is None:
        means = [_weighted(matrix.of_run(run), groups, weights) for run in matrix.runs]
        return matrix.runs[int(np.argmax(means))]
    if baseline not in matrix.runs:
        raise UsageError(f"no run {baseline!r}, the baseline{did_you_mean(baseline, matrix.runs)}")
    return baseline


def _weighted(values: Floats, groups: TopicGroups, weights: str) -> float:
    """The mean of conversations or of turns."""
    if weights == "turns":
        return float(values.mean())
    return float(groups.means(values[None, :]).mean())


def _row(
    matrix: ScoreMatrix, groups: TopicGroups, run: str, baseline: str, weights: str, level: float
) -> ConversationRow:
    """One run against the baseline."""
    from scipy.special import stdtr, stdtrit

    d = differences(matrix.of_run(run), matrix.of_run(baseline))[0]
    checked_rows(d)
    mean = _weighted(d, groups, weights)
    error = cluster_error(d, groups, weights)
    freedom = len(groups.names) - 1
    half = float(stdtrit(freedom, (1 + level) / 2)) * error
    t = float(ratio(mean, error))
    plain_variance = float(d.var(ddof=1)) / len(d)
    return ConversationRow(
        run=run,
        mean=_weighted(matrix.of_run(run), groups, weights),
        difference=mean,
        error=error,
        low=mean - half,
        high=mean + half,
        p=float(2 * stdtr(freedom, -abs(t))),
        p_of_turns=float(outcome_of(d, "t").p[0]),
        icc=intraclass_correlation(d, groups),
        design_effect=error**2 / plain_variance if plain_variance else 1.0,
    )


def cluster_error(values: Floats, groups: TopicGroups, weights: str) -> float:
    """The standard error of the mean, where groups are independent and their members are not."""
    count = len(groups.names)
    if weights == "conversations":
        means = groups.means(values[None, :])[0]
        return float(means.std(ddof=1) / np.sqrt(count))
    residuals = values - values.mean()
    sums = np.bincount(groups.places, weights=residuals, minlength=count)
    variance = (sums**2).sum() * count / (count - 1) / len(values) ** 2
    return float(np.sqrt(variance))


def intraclass_correlation(values: Floats, groups: TopicGroups) -> float:
    """ICC by the one-way analysis of variance: (MSB − MSW)/(MSB + (n₀ − 1)·MSW), n₀ = (N − Σn²/N)/(G − 1).

    NaN where no group has two members, or no value varies.

    >>> groups = topic_groups(["1_1", "1_2", "2_1", "2_2"])
    >>> intraclass_correlation(np.array([0.1, 0.1, 0.4, 0.4]), groups)
    1.0
    """
    sizes = groups.sizes
    count, total = len(sizes), int(sizes.sum())
    if total == count or count < 2:
        return float("nan")
    means = groups.means(values[None, :])[0]
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (count - 1)
    within = float(((values - means[groups.places]) ** 2).sum()) / (total - count)
    usual = (total - float((sizes**2).sum()) / total) / (count - 1)
    below = between + (usual - 1) * within
    if below <= 0:
        return float("nan")
    return (between - within) / below
