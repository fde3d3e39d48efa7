"""How good was a prediction made without judgments? Correlations of predicted with true scores.

Three levels: runs (means over topics), topics (means over runs), cells (every run on every topic). Where the flow
stands: predicted scores + true scores → **accuracy**.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.rankings import CORRELATIONS, settled

LEVELS = ("runs", "topics", "cells")
MEASURES = {"ρ": "pearson", "τ": "tau-b", "r_S": "spearman", "τ_AP": "tau-ap", "RBO": "rbo"}
"""Column → name in the registry of correlations. τ_AP weighs by the predicted ranks; RBO puts 75 % of the weight on the
best 10 % (Roitero 2020, §6.2.4)."""


@dataclass(frozen=True)
class Accuracy:
    """Correlations of one prediction with the truth; None where all scores of one side are equal."""

    method: str
    level: str
    n: int
    values: dict[str, float | None]
    delta: float | None
    """Mean |predicted − true| over all cells, after bringing the prediction to [0, 1] (Roitero 2020, §7.2.2)."""


def accuracy(predicted: ScoreMatrix, truth: ScoreMatrix, *, level: str = "runs") -> Accuracy:
    """ρ, τ, r_S, τ_AP and RBO of predicted with true scores, and δ, on the runs and topics that both have.

    >>> predicted = ScoreMatrix.of([[3, 1], [2, 1], [0, 1]])
    >>> truth = ScoreMatrix.of([[0.5, 0.4], [0.6, 0.5], [0.1, 0.1]])
    >>> round(accuracy(predicted, truth).values["τ"], 4)
    0.3333
    """
    guessed, real = matched(predicted, truth)
    true_scores = level_scores(real, level)
    guessed_scores = level_scores(guessed, level)
    return Accuracy(
        method=predicted.measure,
        level=level,
        n=len(true_scores),
        values=correlations(true_scores, guessed_scores),
        delta=_delta(guessed, real),
    )


def matched(predicted: ScoreMatrix, truth: ScoreMatrix) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Both matrices on the runs and topics they share, in the order of the prediction."""
    true_runs = set(truth.runs)
    true_topics = set(truth.topics)
    runs = [run for run in predicted.runs if run in true_runs]
    topics = [topic for topic in predicted.topics if topic in true_topics]
    if len(runs) < 2 or not topics:
        raise DataError(
            f"prediction and truth share {len(runs)} run(s) and {len(topics)} topic(s); at least 2 and 1 are needed"
        )
    return predicted.select(runs=runs, topics=topics), truth.select(runs=runs, topics=topics)


def level_scores(matrix: ScoreMatrix, level: str) -> Floats:
    """Averages of runs, means of topics, or all cells."""
    one_of("level", level, LEVELS)
    if level == "cells":
        return np.asarray(matrix.values.ravel())
    return matrix.averages() if level == "runs" else np.asarray(matrix.values.mean(axis=0))


def correlations(truth: Floats, predicted: Floats, *, heavy: str = "top") -> dict[str, float | None]:
    """The five correlations of two vectors; with heavy="bottom" τ_AP and RBO weigh the lowest scores most.

    >>> {k: round(v, 3) for k, v in correlations(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])).items()}
    {'ρ': 0.5, 'τ': 0.333, 'r_S': 0.5, 'τ_AP': 0.5, 'RBO': 0.878}
    """
    true_scores = settled(truth)
    guessed_scores = settled(predicted)
    if len(true_scores) < 2 or np.ptp(true_scores) == 0 or np.ptp(guessed_scores) == 0:
        return dict.fromkeys(MEASURES)
    values: dict[str, float | None] = {}
    for column, name in MEASURES.items():
        values[column] = CORRELATIONS.call(name, true_scores, guessed_scores, heavy=heavy)
    return values


@dataclass(frozen=True, eq=False)
class Accuracies(Result):
    """How well several predictions agree with the truth."""

    results: tuple[Accuracy, ...]
    truth: str = "the truth"
    signature: str = ""
    """How the true scores were made."""
    scores: tuple[Floats, ...] = ()
    """The predicted scores of each result, at its level; none where they were not kept."""
    true: Floats = field(default_factory=lambda: np.zeros(0))
    """The true scores at that level."""
    remark: str = ""
    """How the runs were chosen, where not all that were given are used."""

    def table(self) -> Table:
        """One row per method, the highest τ first, those without τ last."""
        level = self.results[0].level if self.results else "runs"
        n = self.results[0].n if self.results else 0
        rows = []
        for result in sorted(self.results, key=_falling_tau):
            values = [result.values[column] for column in MEASURES]
            rows.append((result.method, *values, result.delta))
        notes = [
            f"{n} {level}; ρ is Pearson's, r_S Spearman's correlation; τ is τ-b; τ_AP by predicted ranks, mean over "
            "orders of ties; RBO: best 10 % carry 75 %",
            "δ: mean |predicted − true| over run × topic cells, prediction scaled to [0, 1]",
        ]
        notes += [note for note in (self.remark, self.signature) if note]
        formats = {"method": "", **dict.fromkeys(MEASURES, ".3f"), "δ": ".3f"}
        keys = {"ρ": "pearson", "τ": "tau", "r_S": "spearman", "τ_AP": "tau_ap", "RBO": "rbo", "δ": "error"}
        return Table.of(formats, rows, caption=f"Accuracy against {self.truth}", notes=notes, keys=keys)


def _falling_tau(result: Accuracy) -> float:
    tau = result.values["τ"]
    return 2.0 if tau is None else -tau


def _delta(predicted: ScoreMatrix, truth: ScoreMatrix) -> float | None:
    from assay.nojudgments.predictors import scaled

    unit_scores = scaled(predicted, "min-max").values
    return float(np.abs(unit_scores - truth.values).mean())
