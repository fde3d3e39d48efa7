"""How good was a prediction made without judgments? Correlations of predicted with true scores.

Three levels: runs (means over topics), topics (means over runs), cells (every run on every topic). Where the flow
stands: predicted scores + true scores → **accuracy**.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
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
    ours, real = matched(predicted, truth)
    x, y = level_scores(real, level), level_scores(ours, level)
    return Accuracy(predicted.measure, level, len(x), correlations(x, y), _delta(ours, real))


def matched(predicted: ScoreMatrix, truth: ScoreMatrix) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Both matrices on the runs and topics they share, in the order of the prediction."""
    runs = [r for r in predicted.runs if r in set(truth.runs)]
    topics = [t for t in predicted.topics if t in set(truth.topics)]
    if len(runs) < 2 or not topics:
        raise DataError(
            f"prediction and truth share {len(runs)} run(s) and {len(topics)} topic(s); at least 2 and 1 are needed"
        )
    return predicted.select(runs=runs, topics=topics), truth.select(runs=runs, topics=topics)


def level_scores(matrix: ScoreMatrix, level: str) -> Floats:
    """Means of runs, means of topics, or all cells."""
    if level not in LEVELS:
        raise UsageError(f"no level {level!r}; known: {', '.join(LEVELS)}")
    axis = {"runs": 1, "topics": 0, "cells": None}[level]
    return np.asarray(matrix.values.ravel() if axis is None else matrix.values.mean(axis=axis))


def correlations(truth: Floats, predicted: Floats, *, heavy: str = "top") -> dict[str, float | None]:
    """The five correlations of two vectors; heavy="bottom" turns the two top-heavy ones round (τ_AP*, RBO*).

    >>> {k: round(v, 3) for k, v in correlations(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])).items()}
    {'ρ': 0.5, 'τ': 0.333, 'r_S': 0.5, 'τ_AP': 0.5, 'RBO': 0.878}
    """
    true_scores = settled(truth)
    guessed_scores = settled(predicted)
    if len(true_scores) < 2 or np.ptp(true_scores) == 0 or np.ptp(guessed_scores) == 0:
        return dict.fromkeys(MEASURES)
    return {
        shown: CORRELATIONS.call(name, true_scores, guessed_scores, heavy=heavy) for shown, name in MEASURES.items()
    }


@dataclass(frozen=True)
class Accuracies(Result):
    """How well several predictions agree with the truth."""

    results: tuple[Accuracy, ...]
    truth: str = "the truth"
    signature: str = ""
    """How the true scores were made."""

    def table(self) -> Table:
        """One row per method, the highest τ first, those without τ last."""
        level = self.results[0].level if self.results else "runs"
        n = self.results[0].n if self.results else 0
        rows = [(a.method, *(a.values[m] for m in MEASURES), a.delta) for a in sorted(self.results, key=_falling_tau)]
        notes = [
            f"{n} {level}; τ is τ-b; τ_AP by predicted ranks, mean over orders of ties; RBO: best 10 % carry 75 %",
            "δ: mean |predicted − true| over run × topic cells, prediction scaled to [0, 1]",
        ]
        if self.signature:
            notes.append(self.signature)
        formats = {"method": "", **dict.fromkeys(MEASURES, ".3f"), "δ": ".3f"}
        keys = {"ρ": "pearson", "τ": "tau", "r_S": "rho", "τ_AP": "tau_ap", "RBO": "rbo", "δ": "error"}
        return Table.of(formats, rows, caption=f"Accuracy against {self.truth}", notes=notes, keys=keys)


def _falling_tau(result: Accuracy) -> float:
    tau = result.values["τ"]
    return 2.0 if tau is None else -tau


def _delta(predicted: ScoreMatrix, truth: ScoreMatrix) -> float | None:
    from assay.nojudgments.predictors import scaled

    return float(np.abs(scaled(predicted, "min-max").values - truth.values).mean())
