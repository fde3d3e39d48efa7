"""How far do scores move because the judgments are uncertain? From uncertain judgments to what drawing them does.

Where it stands: crowd → uncertain judgments → **uncertain scores**. Labels alone give no interval of the true score:
draws take the grade of a doc as independent of the runs that found it, which it is not; gold docs do.
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
from assay.crowd.rectified_scores import ALONE
from assay.crowd.uncertain import Uncertain
from assay.data import Run
from assay.data.averages import IN_WORDS
from assay.data.scores import ScoreMatrix
from assay.scoring import evaluate

DRAWS = 200
SHARE = 0.95
NO_INTERVAL = (
    "no interval of the true score: draws take each doc as independent of the runs that found it; give gold docs "
    "(--reference)"
)


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
    baseline: str | None
    seed: int
    notes: tuple[str, ...] = ()
    """Which probabilities were drawn from, and which docs have an uncertainty that does not rest on their labels."""

    def table(self) -> Table:
        """One row per run, best first."""
        means = self.matrix.averages()
        columns = (means, self.low, self.high, *_middle(self.judged))
        rows = []
        for run in np.argsort(-means, kind="stable").tolist():
            numbers = [column[run] for column in columns]
            rows.append((self.matrix.runs[run], *numbers))
        formats = {
            "run": "", ALONE: ".4f", "all low": ".4f", "all high": ".4f", "drawn low": ".4f", "drawn high": ".4f",
        }  # fmt: skip
        caption = f"How far uncertain judgments move {self.matrix.measure}"
        scenarios = "all low, all high: every doc at that end of its own 95 % interval; two scenarios, not an interval"
        return Table.of(formats, rows, caption=caption, notes=[*self._about_draws(), scenarios, *self.notes])

    def tables(self) -> list[Table]:
        """The runs, and their differences where there is a baseline."""
        if self.baseline is None:
            return [self.table()]
        return [self.table(), self.differences()]

    def differences(self) -> Table:
        """One row per other run: its difference to the baseline, and the middle 95 % of it under drawn judgments."""
        if self.baseline is None:
            raise UsageError("differences need a baseline")
        runs = self.matrix.runs
        base = runs.index(self.baseline)
        means = self.matrix.averages()
        delta = means - means[base]
        columns = (delta, *_middle(self.judged - self.judged[:, [base]]))
        rows = []
        for run in np.argsort(-delta, kind="stable").tolist():
            if run != base:
                numbers = [column[run] for column in columns]
                rows.append((runs[run], *numbers))
        formats = {"run": "", f"Δ {ALONE}": "+.4f", "drawn low": "+.4f", "drawn high": "+.4f"}
        caption = f"{self.matrix.measure} against {self.baseline}, uncertain judgments"
        return Table.of(formats, rows, caption=caption, notes=[*self._about_draws(), *self.notes])

    def _about_draws(self) -> list[str]:
        average = IN_WORDS[self.matrix.aggregate]
        return [
            f"{ALONE}: the {average} with each doc at its grade",
            f"drawn: the middle 95 % of {len(self.judged)} draws of the judgments, seed {self.seed}; {NO_INTERVAL}",
        ]


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

    What comes out is how far the labels' own uncertainty moves a score, and no interval of the true one.

    >>> sure = Uncertain.of_posterior("demo", [("1", "a"), ("1", "b")], [[0, 1], [1, 0]], levels=[0, 1], labels=[5, 5])
    >>> score_uncertainty([Run.from_lists("r", {"1": ["a", "b"]})], sure, "AP", draws=20).table().rows[0][:2]
    ('r', 1.0)
    """
    if draws < 20:
        raise UsageError(f"{draws} draws are too few for their middle 95 %; take at least 20")
    (matrix,) = evaluate(runs, judgments.qrels(), measure)
    (low,) = evaluate(runs, judgments.low_qrels(), measure)
    (high,) = evaluate(runs, judgments.high_qrels(), measure)
    if baseline is not None and baseline not in matrix.runs:
        raise UsageError(f"no run {baseline!r}{did_you_mean(baseline, matrix.runs)}")
    judged = []
    for i, rng in enumerate(generators(seed, draws)):
        judged.append(evaluate(runs, judgments.draw(rng), measure)[0].averages())
        progress(i + 1, draws)
    return ScoreUncertainty(
        matrix=matrix,
        low=low.averages(),
        high=high.averages(),
        judged=np.array(judged),
        baseline=baseline,
        seed=seed,
        notes=(judgments.probabilities_note(), *judgments.basis_notes()),
    )


def _middle(draws: Floats) -> Floats:
    """The middle 95 % of each column: low and high."""
    return np.quantile(draws, [(1 - SHARE) / 2, (1 + SHARE) / 2], axis=0)
