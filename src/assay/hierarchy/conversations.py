"""Is the difference real where topics are turns of conversations? Tests and intervals that know which belong together.

Turns of one conversation tend to go well or badly together. Counted as independent topics they make intervals too
narrow; here conversations are what is independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
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
from assay.stats.clustered import ClusterClaim, claim_of
from assay.stats.effect import checked_rows, differences
from assay.stats.limits import assumed_differences
from assay.stats.multiple import corrected, family_in_words
from assay.stats.resampling import checked_share, percent

SIMULTANEOUS = ("holm", "bonferroni")
"""Corrections with which intervals hold for the whole family."""
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
    corrected_p: float
    """p after the correction over the family."""
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
    family: int
    """Differences that were tested: against a named baseline, else of all pairs of runs."""
    methods: tuple[str, ...]

    unit = "conversation"

    @property
    def verdict(self) -> str:
        """The run with the largest difference to the baseline."""
        best = self.rows[0]
        said = "is better than" if best.difference > 0 else "is worse than"
        if not best.corrected_p < 1 - self.level:
            said = "is not significantly different from"
        amount = f"{best.difference:+.4f}"
        if np.isfinite(best.low):
            amount += f" [{best.low:+.4f}, {best.high:+.4f}], {p_value(best.corrected_p)}"
        else:
            amount += ", no interval: too few conversations differ, and the range of the scores is not known"
        return (
            f"{best.run} {said} {self.baseline}: {amount}, {self.groups.in_words('conversation', 'turn')}, "
            f"design effect {best.design_effect:.2f}"
        )

    def table(self) -> Table:
        """One row per run."""
        columns = {"run": "", "mean": ".4f", "difference": "+.4f", "low": "+.4f", "high": "+.4f", "p": "p"}
        columns |= {"p corrected": "p", "ICC": ".3f", "design effect": ".2f"}
        rows = []
        for row in self.rows:
            ends = [row.run, row.mean, row.difference, *(v if np.isfinite(v) else None for v in (row.low, row.high))]
            p = row.p if np.isfinite(row.p) else None
            rows.append([*ends, p, None if p is None else row.corrected_p, row.icc, row.design_effect])
        alike = "each conversation counts alike" if self.weights == WEIGHTS[0] else "each turn counts alike"
        notes = [
            f"{percent(self.level)} intervals and p over conversations ({', '.join(self.methods)}): conversations are "
            f"independent, turns are not; {alike}",
            family_in_words(self.correction, self.family, 1 - self.level),
            *self._family_notes(),
            "ICC: intraclass correlation of the differences; design effect: squared error with conversations over that "
            "of turns taken as independent topics",
        ]
        if np.isnan([row.icc for row in self.rows]).any():
            notes.append("–: no ICC, no conversation has two turns, or no difference varies")
        caption = f"{self.measure}: {len(self.rows)} runs against {self.baseline} ({self.baseline_mean:.4f}), "
        caption += self.groups.in_words("conversation", "turn")
        keys = {"ICC": "icc"}
        return Table.of(columns, rows, caption=caption, notes=notes, keys=keys)

    def _family_notes(self) -> list[str]:
        """What the family is, and that intervals hold for all of it."""
        notes = []
        if self.family > len(self.rows):
            notes.append(
                f"{self.baseline} is the best by mean, picked after seeing: all {self.family} pairs are tested"
            )
        if self.family > 1 and self.correction in SIMULTANEOUS:
            notes.append(f"low, high: hold for all {self.family} differences at once (Bonferroni)")
        elif self.family > 1:
            notes.append("low, high: of each difference alone")
        return notes

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

    Without a baseline all pairs are tested, and those of the best run are shown.
    weights: "conversations" takes the mean of each conversation first, then a paired t test over conversations; "turns"
    takes the mean of all turns with the cluster-robust error CR2 and Satterthwaite's degrees of freedom (Bell &
    McCaffrey 2002). With one turn per conversation both are the paired t test. If few conversations differ, interval
    and p are the Dirichlet bound.

    >>> turns = ["1_1", "1_2", "2_1", "2_2", "3_1", "3_2"]
    >>> values = [[0.5, 0.6, 0.3, 0.3, 0.7, 0.8], [0.4, 0.4, 0.3, 0.2, 0.5, 0.6]]
    >>> matrix = ScoreMatrix.of(values, runs=["new", "old"], topics=turns)
    >>> [row] = compare_conversations(matrix, baseline="old").rows
    >>> round(row.difference, 4), round(row.p, 4)
    (0.1333, 0.0942)
    """
    one_of("weights", weights, WEIGHTS)
    checked_share(level, "level")
    matrix = needs_means(score_matrix_of(scores), "a comparison of conversations")
    groups = topic_groups(matrix.topics, separator)
    base = _baseline(matrix, groups, baseline, weights)
    if len(groups.names) < 2:
        raise DataError(f"{matrix.measure}: 1 conversation; an interval needs two or more")
    checked_rows(matrix.values)
    family = list(combinations(matrix.runs, 2)) if baseline is None else [(r, base) for r in matrix.runs if r != base]
    rows, methods = _rows(matrix, groups, family, base, weights, correction, level)
    rows.sort(key=lambda row: -row.difference)
    means = _weighted(matrix.of_run(base), groups, weights)
    return Conversations(
        tuple(rows), base, means, groups, matrix.measure, weights, correction, level, len(family), methods
    )


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


def _rows(
    matrix: ScoreMatrix,
    groups: TopicGroups,
    family: list[tuple[str, str]],
    base: str,
    weights: str,
    by: str,
    level: float,
) -> tuple[list[ConversationRow], tuple[str, ...]]:
    """The rows of the baseline, with p corrected over the whole family, and how intervals were made."""
    limits = assumed_differences(matrix)
    each = 1 - (1 - level) / len(family) if by in SIMULTANEOUS else level
    pairs = []
    for run, other in family:
        run, other = (other, run) if run == base else (run, other)
        d = differences(matrix.of_run(run), matrix.of_run(other))[0]
        sums = np.bincount(groups.places, weights=d)
        pairs.append((run, other, d, claim_of(sums, groups.sizes, limits, each, by_item=weights == "turns")))
    # a pair without p, of scores of unknown range, counts in the family as one that shows nothing
    p = corrected([claim.p if np.isfinite(claim.p) else 1.0 for *_, claim in pairs], by).tolist()
    rows = [
        _row(matrix, groups, run, d, claim, weights, p_after)
        for (run, other, d, claim), p_after in zip(pairs, p, strict=True)
        if other == base
    ]
    return rows, tuple(dict.fromkeys(claim.method for _, other, _, claim in pairs if other == base))


def _row(
    matrix: ScoreMatrix, groups: TopicGroups, run: str, d: Floats, claim: ClusterClaim, weights: str, p: float
) -> ConversationRow:
    """One run against the baseline."""
    plain_variance = float(d.var(ddof=1)) / len(d)
    return ConversationRow(
        run=run,
        mean=_weighted(matrix.of_run(run), groups, weights),
        difference=claim.value,
        error=claim.error,
        low=claim.low,
        high=claim.high,
        p=claim.p,
        corrected_p=p,
        icc=intraclass_correlation(d, groups),
        design_effect=claim.error**2 / plain_variance if plain_variance else 1.0,
    )


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
