"""What did standardization change? The means of runs before and after, with the ranks that they had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix


@dataclass(frozen=True, eq=False)
class Standardized(Result):
    """The scores of runs before and after standardization, side by side."""

    raw: ScoreMatrix
    after: ScoreMatrix

    def table(self) -> Table:
        """One row per run, best standardized mean first, with its rank by raw scores."""
        measures = (self.raw.measure, self.after.measure)
        return side_by_side(self.raw.runs, measures, self.raw.averages(), self.after.averages(), self.after.signature)


def side_by_side(
    runs: Sequence[str], measures: tuple[str, str], raw_means: Floats, means: Floats, signature: str
) -> Table:
    """The means of runs by a raw measure and by the standardized one, best standardized mean first."""
    raw_measure, measure = measures
    best_first = np.argsort(-means, kind="stable")
    best_first_before = np.argsort(-raw_means, kind="stable")
    rank_before = {run: rank for rank, run in enumerate(best_first_before.tolist(), 1)}
    rows = []
    for run in best_first.tolist():
        rows.append((runs[run], means[run], raw_means[run], rank_before[run]))
    return Table.of(
        {"run": "", measure: ".4f", raw_measure: ".4f", "rank before": "d"},
        rows,
        caption=f"{raw_measure}, standardized",
        notes=[signature],
        keys={measure: "standardized", raw_measure: "raw"},
    )
