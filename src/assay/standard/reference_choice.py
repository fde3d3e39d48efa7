"""How far does a standardized score hang on the choice of reference runs? An interval by drawing them again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import generator
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.standard.factors import FORM, standardize

RESAMPLES = 1000


@dataclass(frozen=True, eq=False)
class ReferenceIntervals(Result):
    """Raw and standardized means of runs, and between which values other reference runs would leave the latter."""

    unit = "run"

    measure: str
    signature: str
    runs: tuple[str, ...]
    raw: Floats
    means: Floats
    low: Floats
    high: Floats
    reference: int
    level: float
    resamples: int
    seed: int

    def table(self) -> Table:
        """One row per run, best standardized mean first."""
        best_first = np.argsort(-self.means, kind="stable").tolist()
        rows = [(self.runs[i], self.means[i], self.low[i], self.high[i], self.raw[i]) for i in best_first]
        note = (
            f"low, high: {100 * self.level:g} % of {self.resamples} draws, with replacement, of the {self.reference} "
            f"reference runs, seed {self.seed}; the topics stay"
        )
        formats = {"run": "", "standardized": ".4f", "low": ".4f", "high": ".4f", "raw": ".4f"}
        caption = f"{self.measure}, standardized by {self.reference} reference runs"
        return Table.of(formats, rows, caption=caption, notes=[note, self.signature])


def reference_intervals(
    matrix: ScoreMatrix,
    reference: ScoreMatrix,
    *,
    form: str = FORM,
    smoothing: str | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ReferenceIntervals:
    """The standardized mean of every run, and the interval that the choice of the reference runs leaves.

    The reference runs are drawn again, as many with replacement, and the runs are standardized by each draw; the
    interval is that of the percentiles. A draw of one run alone has sd 0 on every topic: all runs are average there.

    >>> scores = ScoreMatrix.of([[0.1, 0.3], [0.2, 0.5], [0.6, 0.4]])
    >>> found = reference_intervals(scores, scores, resamples=50)
    >>> bool((found.low <= found.means).all() and (found.means <= found.high).all())
    True
    """
    if not 0 < level < 1:
        raise UsageError(f"level is {level}; give a share between 0 and 1")
    if resamples < 1:
        raise UsageError(f"resamples is {resamples}; draw at least once")
    references = len(reference.runs)
    if references < 2:
        raise DataError(f"{reference.measure}: {references} reference run; a choice needs at least two")
    columns = reference.select(topics=matrix.topics)
    standardized = standardize(matrix, columns, form=form, smoothing=smoothing)
    rng = generator(seed)
    means = np.empty((resamples, len(matrix.runs)))
    for draw in range(resamples):
        chosen = rng.integers(references, size=references)
        drawn = ScoreMatrix.of(
            columns.values[chosen], topics=columns.topics, measure=columns.measure, signature=columns.signature
        )
        means[draw] = standardize(matrix, drawn, form=form, smoothing=smoothing).averages()
    tail = (1 - level) / 2
    low, high = np.quantile(means, (tail, 1 - tail), axis=0)
    return ReferenceIntervals(
        measure=matrix.measure,
        signature=standardized.signature,
        runs=matrix.runs,
        raw=matrix.averages(),
        means=standardized.averages(),
        low=low,
        high=high,
        reference=references,
        level=level,
        resamples=resamples,
        seed=seed,
    )
