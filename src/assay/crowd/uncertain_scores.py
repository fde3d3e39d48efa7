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
from assay.data.averages import IN_WORDS, averages_of
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
    notes: tuple[str, ...] = ()
    """Which judgments have an uncertainty that does not rest on their own labels."""

    def table(self) -> Table:
        """One row per run, best first."""
        means = self.matrix.averages()
        judged_low, judged_high = _interval(self.judged)
        both_low, both_high = _interval(self.sampled)
        columns = (means, self.low, self.high, judged_low, judged_high, both_low, both_high)
        rows = []
        for run in np.argsort(-means, kind="stable").tolist():
            numbers = [column[run] for column in columns]
            rows.append((self.matrix.runs[run], *numbers))
        average = IN_WORDS[self.matrix.aggregate]
        formats = {
            "run": "", average: ".4f", "all low": ".4f", "all high": ".4f", "judging low": ".4f", "judging high": ".4f",
            "with topics low": ".4f", "with topics high": ".4f",
        }  # fmt: skip
        notes = [
            f"{len(self.judged)} draws of the judgments, seed {self.seed}; judging: 95 % of the {average}s under them; "
            "with topics: the topics resampled as well",
            "all low, all high: every doc at that end of its own 95 % interval; two scenarios, not an interval",
            *self.notes,
        ]
        return Table.of(formats, rows, caption=f"How far uncertain judgments move {self.matrix.measure}", notes=notes)

    def tables(self) -> list[Table]:
        """The runs, and their differences where there is a baseline."""
        if self.baseline is None:
            return [self.table()]
        return [self.table(), self.differences()]

    def differences(self) -> Table:
        """One row per other run: its difference to the baseline, the intervals, and how often it stays above."""
        if self.baseline is None:
            raise UsageError("differences need a baseline")
        runs = self.matrix.runs
        base = runs.index(self.baseline)
        means = self.matrix.averages()
        delta = means - means[base]
        judged = self.judged - self.judged[:, [base]]
        sampled = self.sampled - self.sampled[:, [base]]
        columns = (delta, *_interval(judged), *_interval(sampled), 100 * (judged > 0).mean(axis=0))
        rows = []
        for run in np.argsort(-delta, kind="stable").tolist():
            if run != base:
                numbers = [column[run] for column in columns]
                rows.append((runs[run], *numbers))
        formats = {
            "run": "", "Δ": "+.4f", "judging low": "+.4f", "judging high": "+.4f", "with topics low": "+.4f",
            "with topics high": "+.4f", "% of draws above": ".1f",
        }  # fmt: skip
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
    (matrix,) = evaluate(runs, judgments.qrels(), measure)
    (low,) = evaluate(runs, judgments.low_qrels(), measure)
    (high,) = evaluate(runs, judgments.high_qrels(), measure)
    if baseline is not None and baseline not in matrix.runs:
        raise UsageError(f"no run {baseline!r}{did_you_mean(baseline, matrix.runs)}")
    judged = []
    sampled = []
    for i, rng in enumerate(generators(seed, draws)):
        drawn = evaluate(runs, judgments.draw(rng), measure)[0]
        topics = len(drawn.topics)
        drawn_topics = rng.integers(topics, size=topics)
        judged.append(drawn.averages())
        sampled.append(averages_of(drawn.values[:, drawn_topics], drawn.aggregate))
        progress(i + 1, draws)
    return ScoreUncertainty(
        matrix=matrix,
        low=low.averages(),
        high=high.averages(),
        judged=np.array(judged),
        sampled=np.array(sampled),
        baseline=baseline,
        seed=seed,
        notes=judgments.basis_notes(),
    )


def _interval(draws: Floats) -> Floats:
    """The middle 95 % of each column: low and high."""
    return np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
