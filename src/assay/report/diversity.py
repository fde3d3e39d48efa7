"""Do runs lead by relevance or by diversity? I-rec against D-M of every run, with lines of equal D#-M.

The picture of Sakai & Song 2011: D#-M is the mean of the two, so that runs on one line have the same D#-M and differ in
how they come by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.core.errors import UsageError
from assay.measures import parse
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.shapes import amount, scatter
from assay.report.theme import MUTED

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix, Scores

LEVELS = 5
"""Lines of equal D#-M that are drawn."""


def diversity_scatter(scores: Scores) -> Figure:
    """I-rec (x) and D-M (y) of every run, both at one cutoff, with lines of equal D#-M between the least and the most.

    >>> from assay.data import IntentQrels
    >>> from assay.scoring import evaluate
    >>> judged = IntentQrels.from_rows([("1", "a", "x", 1), ("1", "b", "y", 1)])
    >>> scores = evaluate({"one": {"1": ["x"]}, "both": {"1": ["x", "y"]}}, judged, ["I-rec@10", "D-nDCG@10"])
    >>> diversity_scatter(scores).title
    'Relevance and diversity of 2 runs: D-nDCG@10 over I-rec@10'
    """
    recall, relevance = _two_measures(scores)
    x = recall.averages()
    y = relevance.averages()
    both = (x + y) / 2
    together = relevance.measure.replace("D-", "D#-", 1)
    rows = rows_of(run=scores.runs, recall=x, relevance=y, both=both)
    tip = [("run", "run", ""), ("recall", recall.measure, ".4f"), ("relevance", relevance.measure, ".4f")]
    tip.append(("both", together, ".4f"))
    points = scatter(amount("X", "recall", recall.measure), amount("Y", "relevance", relevance.measure), tip=tip)
    levels = _level_rows(x, y, both)
    alt = altair()
    line = chart("levels").mark_line(color=MUTED, strokeDash=[4, 4], strokeWidth=1.2)
    equal = line.encode(
        x=alt.X("recall", type="quantitative"), y=alt.Y("relevance", type="quantitative"), detail="level:N"
    )
    best = scores.runs[int(both.argmax())]
    said = f"{best} has the highest {together} ({both.max():.4f}); on a dashed line all runs have the same {together}."
    title = f"Relevance and diversity of {len(scores.runs)} runs: {relevance.measure} over {recall.measure}"
    made = alt.layer(equal, points).properties(height=340)
    return drawn(made, name="diversity", title=title, description=said, note=said, rows=rows, levels=levels)


def _two_measures(scores: Scores) -> tuple[ScoreMatrix, ScoreMatrix]:
    """I-rec and the D measure of the same cutoff; an error where the scores have none."""
    recalls = {}
    gains = []
    for matrix in scores:
        measure = parse(matrix.measure)
        if measure.name == "I-rec":
            recalls[measure.k] = matrix
        elif measure.form == "D":
            gains.append((measure.k, matrix))
    for k, matrix in gains:
        if k in recalls:
            return recalls[k], matrix
    raise UsageError(
        "the picture of relevance and diversity needs I-rec and a D measure of one cutoff; score both: -m 'I-rec@10 "
        "D-nDCG@10 D#-nDCG@10'"
    )


def _level_rows(x: np.ndarray, y: np.ndarray, both: np.ndarray) -> list[dict[str, float]]:
    """The ends of the lines on which the mean of x and y is the same, within the range of the points."""
    low_x, high_x = float(x.min()), float(x.max())
    low_y, high_y = float(y.min()), float(y.max())
    rows = []
    for level in np.linspace(both.min(), both.max(), LEVELS):
        left = max(low_x, 2 * float(level) - high_y)
        right = min(high_x, 2 * float(level) - low_y)
        if left < right:
            for at in (left, right):
                rows.append({"level": round(float(level), 6), "recall": at, "relevance": 2 * float(level) - at})
    return rows
