"""Do the methods say the same? Correlations between what they predict, whatever the truth (Roitero 2020, Fig. 7.11).

Methods that are good and disagree are worth combining. Where the flow stands: predictions → **their agreement**.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.nojudgments.against_truth import level_scores
from assay.rankings import CORRELATIONS, settled


@dataclass(frozen=True, eq=False)
class MethodAgreement(Result):
    """Correlations between the predictions of several methods, methods × methods; NaN where one says nothing."""

    methods: tuple[str, ...]
    level: str
    correlation: str
    values: Floats

    def table(self) -> Table:
        """One row per pair of methods, the most similar first."""
        pairs = []
        for a, b in zip(*np.triu_indices(len(self.methods), 1), strict=True):
            pairs.append((self.methods[a], self.methods[b], float(self.values[a, b])))
        pairs.sort(key=_falling)
        rows = [(one, other, None if np.isnan(value) else value) for one, other, value in pairs]
        return Table.of(
            {"method": "", "other": "", "correlation": ".3f"},
            rows,
            caption=f"How far methods agree on {self.level}: {self.correlation}",
            notes=["–: undefined, all scores of a method are equal"] if np.isnan(self.values).any() else [],
        )


def _falling(pair: tuple[str, str, float]) -> float:
    value = pair[2]
    return 2.0 if np.isnan(value) else -value


def method_agreement(
    predictions: Sequence[ScoreMatrix], *, level: str = "runs", correlation: str = "pearson"
) -> MethodAgreement:
    """The correlation of each two predictions, at the level of runs, topics or cells.

    >>> a = ScoreMatrix.of([[0.1, 0.2], [0.3, 0.4]], measure="emap")
    >>> b = ScoreMatrix.of([[0.2, 0.1], [0.4, 0.3]], measure="sakai-lin")
    >>> method_agreement([a, b], level="cells").table().column("correlation")
    [0.6]
    """
    if len(predictions) < 2:
        raise UsageError(f"{len(predictions)} method(s) given; agreement needs two or more")
    CORRELATIONS.entry(correlation)
    scores = [settled(level_scores(prediction, level)) for prediction in predictions]
    values = np.full((len(scores), len(scores)), np.nan)
    for a, one in enumerate(scores):
        for b, other in enumerate(scores[: a + 1]):
            if np.ptp(one) > 0 and np.ptp(other) > 0:
                values[a, b] = values[b, a] = CORRELATIONS.call(correlation, one, other)
    names = tuple(prediction.measure for prediction in predictions)
    return MethodAgreement(names, level, correlation, values)
