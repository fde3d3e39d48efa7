"""Does a topic agree with the others? Item-total correlations of the topics of a ScoreMatrix.

A topic with widely spread scores weighs more in every mean; the correlation tells whether it deserves to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table, p_value
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.rankings.correlation import pearson


@dataclass(frozen=True, eq=False)
class ItemTotal(Result):
    """Per topic: mean, sd, and correlation with the total (NaN for a topic on which no run differs).

    `agreement` is Pearson's correlation of those correlations with the sds and `p` its two-sided p-value; both are
    None where fewer than three topics vary.
    """

    unit = "topic"

    measure: str
    topics: tuple[str, ...]
    mean: Floats
    sd: Floats
    correlation: Floats
    agreement: float | None
    p: float | None
    rest: bool

    def table(self) -> Table:
        """One row per topic; a topic that does not vary has no correlation."""
        what = "the mean of the other topics" if self.rest else "the mean of all topics"
        notes = [f"Pearson's correlation of a topic's scores with {what}, over the runs."]
        if self.agreement is not None and self.p is not None:
            notes.append(f"Correlation of these with the sd of the topics: {self.agreement:.3f}, {p_value(self.p)}.")
        formats = {"topic": "", "mean": ".4f", "sd": ".4f", "item-total": ".3f"}
        rows = zip(
            self.topics,
            self.mean,
            self.sd,
            self.correlation,
            strict=True,
        )
        caption = f"{self.measure}: item-total correlations"
        return Table.of(formats, rows, caption=caption, notes=notes)

    def record(self) -> dict[str, Any]:
        """The table, and the correlation of its last column with the sds."""
        return {**super().record(), "pearson": self.agreement, "p": self.p}


def item_total(matrix: ScoreMatrix, *, rest: bool = True) -> ItemTotal:
    """Correlation over the runs of each topic's scores with the mean of the other topics (`rest`) or of all.

    Bodoff & Li 2007; Webber, Moffat & Zobel 2008, §2; Webber 2010, §4.2.2. Needs three runs and two topics.

    >>> m = ScoreMatrix.of([[0.1, 0.2, 0.4], [0.2, 0.4, 0.35], [0.3, 0.6, 0.3]])
    >>> [round(float(c), 3) for c in item_total(m).correlation]
    [1.0, 1.0, -1.0]
    """
    needs_means(matrix, "an item-total correlation")
    runs, topics = matrix.shape
    if runs < 3 or topics < 2:
        raise DataError(f"{matrix.measure}: {runs} runs × {topics} topics; item-total needs 3 runs and 2 topics")
    scores = matrix.values
    total = scores.sum(axis=1, keepdims=True)
    if rest:
        others = (total - scores) / (topics - 1)
    else:
        others = np.broadcast_to(total / topics, scores.shape)
    correlation = _columns_correlated(scores, others)
    sd = scores.std(axis=0, ddof=1)
    agreement, p = _correlated(correlation, sd)
    return ItemTotal(
        measure=matrix.measure,
        topics=matrix.topics,
        mean=scores.mean(axis=0),
        sd=sd,
        correlation=correlation,
        agreement=agreement,
        p=p,
        rest=rest,
    )


def _columns_correlated(scores: Floats, others: Floats) -> Floats:
    """Pearson's correlation of the columns; NaN where one does not vary."""
    score_varies = np.ptp(scores, axis=0) > 0
    # A total of equal scores varies by rounding alone, and that is no variation.
    rounding = 1e-12 * np.abs(others).max()
    total_varies = np.ptp(others, axis=0) > rounding
    x = scores - scores.mean(axis=0)
    y = others - others.mean(axis=0)
    x_squares = (x**2).sum(axis=0)
    y_squares = (y**2).sum(axis=0)
    norm = np.sqrt(x_squares * y_squares)
    divisor = np.where(norm > 0, norm, 1.0)
    correlation = (x * y).sum(axis=0) / divisor
    return np.where(score_varies & total_varies, correlation, np.nan)


def _correlated(correlation: Floats, sd: Floats) -> tuple[float | None, float | None]:
    """Pearson's correlation of two columns over the topics that vary, and its p; None where there is none."""
    known = np.isfinite(correlation)
    if known.sum() < 3:
        return None, None
    x = correlation[known]
    y = sd[known]
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None, None
    # The whole of scipy.stats would take longer to import than a report takes to compute.
    from scipy.special import stdtr

    r = pearson(x, y)
    freedom = len(x) - 2
    if abs(r) >= 1:
        return r, 0.0
    statistic = r * math.sqrt(freedom / (1 - r * r))
    return r, float(2 * stdtr(freedom, -abs(statistic)))
