"""Does a machine judge put the runs in the order that people put them in? τ, τ_AP, RBO and τ of the best runs.

Intervals leave out one topic at a time and are wide; those from resampled topics covered .74 to .90, since noise makes
every correlation too low. Differences of two judges have that in common, so they come from resampled topics, the same
draws for all. A high correlation says nothing of the scores themselves: see `run_bias`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.judges.judge_differences import Differences, JudgesCompared, jackknife_ends
from assay.judges.label_audit import interval_note
from assay.rankings import settled
from assay.rankings.row_pairs import kendall_pairs, rbo_pairs, tau_ap_pairs
from assay.stats.clustered import t_quantile
from assay.stats.multiple import corrected
from assay.stats.resampling import topic_counts

P = 0.9
"""The persistence of RBO."""
LIMITS = {"RBO": (0.0, 1.0)}
"""What a correlation can be, unless it is between −1 and 1."""


@dataclass(frozen=True)
class RankingRow:
    """One correlation of one judge's ranking of the runs with that by people."""

    judge: str
    measure: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class RankingAudit(Result):
    """Rankings of the runs by each judge against the ranking by people."""

    unit = "topic"

    measure: str
    human: ScoreMatrix
    machine: tuple[ScoreMatrix, ...]
    judges: tuple[str, ...]
    top: int
    rows: tuple[RankingRow, ...]
    differences: Differences | None
    """Of the τ of every two judges; None of one judge alone."""
    notes: tuple[str, ...]

    def value(self, judge: str, measure: str = "τ") -> float | None:
        """One correlation of one judge."""
        for row in self.rows:
            if (row.judge, row.measure) == (judge, measure):
                return row.value
        raise DataError(f"no correlation {measure!r} of {judge!r}")

    def table(self) -> Table:
        """One row for each judge and correlation."""
        columns = {"judge": "", "correlation": "", "value": ".4f", "low": ".4f", "high": ".4f"}
        rows = [(row.judge, row.measure, row.value, row.low, row.high) for row in self.rows]
        notes = list(self.notes)
        if any(row.value is None for row in self.rows):
            notes.append("–: undefined, the judge gives all runs the same mean")
        caption = f"Rankings of {len(self.human.runs)} runs by {self.measure}: each judge against people"
        return Table.of(columns, rows, caption=caption, notes=notes)

    def tables(self) -> list[Table]:
        """The correlations, and where there are several judges the tests of their differences."""
        if self.differences is None:
            return [self.table()]
        return [self.table(), self.differences.table("Judges compared by how they rank the runs")]


def ranking_audit(
    human: ScoreMatrix,
    machine: Sequence[ScoreMatrix],
    judges: Sequence[str],
    *,
    top: int = 10,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> RankingAudit:
    """Correlations of the rankings of runs by their mean scores, with intervals over topics.

    top: how many of the best runs, by people, the last correlation looks at.
    """
    runs, topics = human.shape
    if runs < 2:
        raise DataError(f"{runs} run; a ranking needs at least two")
    best = np.argsort(-settled(human.averages()), kind="stable")[:top]
    without_each = np.ones((topics, topics)) - np.eye(topics)
    weights = np.concatenate([np.ones((1, topics)), without_each, _draws(topics, resamples, seed)])
    truths = _means(human, weights)
    rows: list[RankingRow] = []
    drawn: dict[str, Floats] = {}
    for judge, matrix in zip(judges, machine, strict=True):
        values = _correlations(_means(matrix, weights), truths, best)
        drawn[judge] = values["τ"][topics + 1 :]
        for name, value in values.items():
            rows.append(_row(judge, name, float(value[0]), value[1 : topics + 1], level))
    notes = (
        interval_note(level, topics),
        f"τ is τ-b; RBO with p = {P:g}; τ of the best {len(best)} runs by people",
    )
    known = {row.judge: row.value for row in rows if row.measure == "τ" and row.value is not None}
    compared = _compared(known, drawn, topics, level, seed) if len(known) > 1 else None
    return RankingAudit(human.measure, human, tuple(machine), tuple(judges), len(best), tuple(rows), compared, notes)


def _row(judge: str, name: str, value: float, left_out: Floats, level: float) -> RankingRow:
    """One correlation with its interval; no value where it is undefined."""
    if np.isnan(value):
        return RankingRow(judge, name, None, None, None)
    return RankingRow(judge, name, value, *jackknife_ends(value, left_out, level, LIMITS.get(name, (-1.0, 1.0))))


def _draws(topics: int, resamples: int, seed: int) -> Floats:
    if topics < 2 or not resamples:
        return np.zeros((0, topics))
    return np.concatenate(list(topic_counts(topics, resamples, seed)))


def _means(matrix: ScoreMatrix, weights: Floats) -> Floats:
    """rows of weights × runs: weighted means over the topics."""
    total = weights.sum(axis=1, keepdims=True)
    return settled(weights @ matrix.values.T / np.maximum(total, 1.0))


def _correlations(estimates: Floats, truths: Floats, best: Ints) -> dict[str, Floats]:
    """Each correlation of every row of estimates with the truth of the same place; NaN where it is undefined."""
    constant = (estimates == estimates[:, :1]).all(axis=1)
    found = {
        "τ": kendall_pairs(estimates, truths),
        "τ_AP": np.where(constant, np.nan, tau_ap_pairs(estimates, truths)),
        "RBO": np.where(constant, np.nan, rbo_pairs(estimates, truths, p=P)),
    }
    if len(best) > 1:
        found[f"τ of the best {len(best)}"] = kendall_pairs(estimates[:, best], truths[:, best])
    return found


def _compared(known: dict[str, float], drawn: dict[str, Floats], topics: int, level: float, seed: int) -> Differences:
    """The difference in τ of every two judges: t with the error of resampled topics."""
    from scipy.special import stdtr

    pairs = list(combinations(known, 2))
    gap = np.array([known[first] - known[second] for first, second in pairs])
    resampled = np.array([drawn[first] - drawn[second] for first, second in pairs])
    error = np.full(len(pairs), np.nan)
    if resampled.shape[1] > 1:
        error = resampled.std(axis=1, ddof=1) * np.sqrt(topics / (topics - 1))
    tested = np.isfinite(error) & (error > 0)
    p = np.full(len(pairs), np.nan)
    p[tested] = corrected(2 * stdtr(topics - 1, -np.abs(gap[tested] / error[tested])), "holm")
    half = error * t_quantile(1 - (1 - level) / 2 / max(1, int(tested.sum())), topics - 1)
    rows = []
    for i, (first, second) in enumerate(pairs):
        cells = (float(gap[i] - half[i]), float(gap[i] + half[i]), float(p[i])) if tested[i] else (None, None, None)
        rows.append(JudgesCompared(first, second, "τ", float(gap[i]), *cells))
    recipe = (
        f"t with {topics - 1} degrees of freedom and the error of {resampled.shape[1]} sets of resampled topics, seed "
        f"{seed}; p by Holm over {int(tested.sum())} differences"
    )
    return Differences(tuple(rows), recipe, level)
