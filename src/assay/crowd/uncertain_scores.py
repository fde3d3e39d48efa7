"""How far do scores move because the judgments are uncertain? From uncertain judgments to intervals of scores.

Where it stands: crowd → uncertain judgments → **uncertain scores**. `score` and `compare` show them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, generators, silent
from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.uncertain import Uncertain
from assay.data import Run
from assay.data.scores import ScoreMatrix
from assay.scoring import evaluate

DRAWS = 200
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class ScoreUncertainty(Result):
    """Scores of runs under judgments drawn from their posterior."""

    matrix: ScoreMatrix
    """Scores with each doc at its grade."""
    low: Floats
    high: Floats
    """Means with every doc at the low, and at the high, end of its interval."""
    judged: Floats
    """draws × runs: means under drawn judgments."""
    sampled: Floats
    """draws × runs: means under drawn judgments and resampled topics."""
    baseline: str | None
    seed: int

    def table(self) -> Table:
        """One row per run, best first."""
        means = self.matrix.means()
        judged, both = _interval(self.judged), _interval(self.sampled)
        order = np.argsort(-means, kind="stable").tolist()
        rows = [
            (
                self.matrix.runs[i],
                means[i],
                self.low[i],
                self.high[i],
                judged[0, i],
                judged[1, i],
                both[0, i],
                both[1, i],
            )
            for i in order
        ]
        formats = {
            "run": "", "mean": ".4f", "all low": ".4f", "all high": ".4f", "judging low": ".4f", "judging high": ".4f",
            "with topics low": ".4f", "with topics high": ".4f",
        }  # fmt: skip
        notes = [
            f"{len(self.judged)} draws of the judgments, seed {self.seed}; judging: 95 % of the means under them; "
            "with topics: the topics resampled as well",
            "all low, all high: every doc at that end of its own 95 % interval; two scenarios, not an interval",
        ]
        return Table.of(formats, rows, caption=f"How far uncertain judgments move {self.matrix.measure}", notes=notes)

    def tables(self) -> list[Table]:
        """The runs, and their differences where there is a baseline."""
        return [self.table(), self.differences()] if self.baseline is not None else [self.table()]

    def differences(self) -> Table:
        """One row per other run: its difference to the baseline, the intervals, and how often it stays above."""
        if self.baseline is None:
            raise UsageError("differences need a baseline")
        base = self.matrix.runs.index(self.baseline)
        means = self.matrix.means()
        delta, both = self.judged - self.judged[:, [base]], self.sampled - self.sampled[:, [base]]
        a, b = _interval(delta), _interval(both)
        rows = [
            (run, means[i] - means[base], a[0, i], a[1, i], b[0, i], b[1, i], 100 * float((delta[:, i] > 0).mean()))
            for i, run in enumerate(self.matrix.runs)
            if i != base
        ]
        formats = {
            "run": "", "Δ": "+.4f", "judging low": "+.4f", "judging high": "+.4f", "with topics low": "+.4f",
            "with topics high": "+.4f", "% of draws above": ".1f",
        }  # fmt: skip
        rows.sort(key=lambda row: -row[1])
        return Table.of(formats, rows, caption=f"{self.matrix.measure} against {self.baseline}, uncertain judgments")


def score_uncertainty(
    runs: Sequence[Run],
    judgments: Uncertain,
    measure: str = "nDCG@10",
    *,
    baseline: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Progress = silent,
) -> ScoreUncertainty:
    """Score runs under judgments drawn from their posterior, each doc on its own.

    >>> sure = Uncertain.of_posterior("demo", [("1", "a"), ("1", "b")], [[0, 1], [1, 0]], levels=[0, 1], labels=[5, 5])
    >>> score_uncertainty([Run.from_lists("r", {"1": ["a", "b"]})], sure, "AP", draws=20).table().rows[0][:2]
    ('r', 1.0)
    """
    if draws < 20:
        raise UsageError(f"{draws} draws are too few for a 95 % interval; take at least 20")
    matrix, low, high = (
        evaluate(runs, q, measure)[0] for q in (judgments.qrels(), judgments.low_qrels(), judgments.high_qrels())
    )
    if baseline is not None and baseline not in matrix.runs:
        raise UsageError(f"no run {baseline!r}{did_you_mean(baseline, matrix.runs)}")
    judged, sampled = [], []
    for i, rng in enumerate(generators(seed, draws)):
        values = evaluate(runs, judgments.draw(rng), measure)[0].values
        judged.append(values.mean(axis=1))
        sampled.append(values[:, rng.integers(values.shape[1], size=values.shape[1])].mean(axis=1))
        progress(i + 1, draws)
    return ScoreUncertainty(matrix, low.means(), high.means(), np.array(judged), np.array(sampled), baseline, seed)


def _interval(draws: Floats) -> Floats:
    """The middle 95 % of each column: low and high."""
    return np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
