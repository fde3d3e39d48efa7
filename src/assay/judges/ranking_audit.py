"""Does a machine judge put the runs in the order that people put them in? τ, τ_AP, RBO and τ of the best runs.

Intervals come from resampled topics, the same draws for people and all judges: so two judges can be compared by a test
on the difference of their correlations. A high correlation says nothing of the scores themselves: see `run_bias`.
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
from assay.judges.label_audit import interval, interval_note
from assay.rankings import settled
from assay.rankings.row_pairs import kendall_pairs, rbo_pairs, tau_ap_pairs
from assay.stats.multiple import corrected
from assay.stats.resampling import topic_counts

P = 0.9
"""The persistence of RBO."""


@dataclass(frozen=True)
class RankingRow:
    """One correlation of one judge's ranking of the runs with that by people."""

    judge: str
    measure: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class JudgesCompared:
    """The difference of two judges in one correlation, with its interval and p."""

    first: str
    second: str
    measure: str
    difference: float
    low: float | None
    high: float | None
    p: float


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
    compared: tuple[JudgesCompared, ...]
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

    def compared_table(self) -> Table:
        """One row for each pair of judges: the difference of their τ, tested on the same resampled topics."""
        columns = {
            "judge": "", "against": "", "correlation": "", "difference": "+.4f", "low": "+.4f", "high": "+.4f",
            "p": "p", "p corrected": "p",
        }  # fmt: skip
        after = corrected([row.p for row in self.compared], "holm")
        rows = []
        for row, p in zip(self.compared, after, strict=True):
            rows.append((row.first, row.second, row.measure, row.difference, row.low, row.high, row.p, p))
        notes = [*self.notes, "p: twice the smaller share of resamples on one side of 0; corrected by holm"]
        return Table.of(columns, rows, caption="Judges compared by how they rank the runs", notes=notes)

    def tables(self) -> list[Table]:
        """The correlations, and where there are several judges the tests of their differences."""
        return [self.table(), self.compared_table()] if self.compared else [self.table()]


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
    draws = _draws(topics, resamples, seed)
    seen = _means(human, np.ones((1, topics)))
    resampled = _means(human, draws)
    rows: list[RankingRow] = []
    drawn: dict[str, dict[str, Floats]] = {}
    for judge, matrix in zip(judges, machine, strict=True):
        values = _correlations(_means(matrix, np.ones((1, topics))), seen, best)
        drawn[judge] = _correlations(_means(matrix, draws), resampled, best)
        for name, value in values.items():
            if np.isnan(value[0]):
                rows.append(RankingRow(judge, name, None, None, None))
            else:
                ends = _interval(float(value[0]), drawn[judge][name], level, name)
                rows.append(RankingRow(judge, name, float(value[0]), *ends))
    notes = (
        interval_note(level, len(draws), seed),
        f"τ is τ-b; RBO with p = {P:g}; τ of the best {len(best)} runs by people",
    )
    compared = _compared(rows, drawn, level)
    return RankingAudit(human.measure, human, tuple(machine), tuple(judges), len(best), tuple(rows), compared, notes)


def _interval(value: float, drawn: Floats, level: float, name: str) -> tuple[float | None, float | None]:
    """The value ± z standard deviations of the resampled ones, cut to the range of the correlation.

    Not their quantiles: topics that are drawn twice make rankings noisier, so that resampled correlations are too low.
    """
    from scipy.special import ndtri

    defined = drawn[~np.isnan(drawn)]
    if len(defined) < 2:
        return None, None
    half = float(ndtri((1 + level) / 2) * defined.std(ddof=1))
    lowest = 0.0 if name == "RBO" else -1.0
    return max(lowest, value - half), min(1.0, value + half)


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


def _compared(
    rows: Sequence[RankingRow], drawn: dict[str, dict[str, Floats]], level: float
) -> tuple[JudgesCompared, ...]:
    """The difference in τ of every two judges for which it is defined."""
    values = {row.judge: row.value for row in rows if row.measure == "τ" and row.value is not None}
    found = []
    for first, second in combinations(values, 2):
        difference = drawn[first]["τ"] - drawn[second]["τ"]
        difference = difference[~np.isnan(difference)]
        low, high = interval(difference, level)
        seen = (values[first] or 0.0) - (values[second] or 0.0)
        found.append(JudgesCompared(first, second, "τ", seen, low, high, two_sided(difference)))
    return tuple(found)


def two_sided(difference: Floats) -> float:
    """The p of a bootstrap difference: twice the smaller share on one side of 0, (b + 1)/(B + 1), at most 1.

    >>> two_sided(np.array([0.1, 0.2, 0.3]))
    0.5
    """
    below = int((difference <= 0).sum())
    above = int((difference >= 0).sum())
    smaller = min(below, above)
    return min(1.0, 2 * (smaller + 1) / (len(difference) + 1))
