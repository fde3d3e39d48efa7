"""The picture of the maximum entropy study: how near the guess from each score is to its list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.report.figure import Figure, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, names, ranges, tall

if TYPE_CHECKING:
    from assay.studies.max_entropy import EntropyStudy


@draws("studies.EntropyStudy")
def entropy_ranges(result: EntropyStudy) -> Figure:
    """The quartiles and the mean of the error of each measure, the one that says most first."""
    means = result.errors.mean(axis=1)
    low, high = np.quantile(result.errors, [0.25, 0.75], axis=1)
    order = np.argsort(means, kind="stable")
    kept = [result.measures[i] for i in order]
    rows = rows_of(measure=kept, error=means[order], low=low[order], high=high[order])
    tip = [("measure", "measure", ""), ("error", "mean error", ".4f"), ("low", "first quartile", ".4f")]
    tip.append(("high", "third quartile", ".4f"))
    y = names("Y", "measure", None, sort=kept)
    x = amount("X", "error", "error of the guessed precision-recall curve", zero=True)
    made = ranges(y, x, "low", "high", tip=tip)
    said = (
        f"{kept[0]} says most of its list: mean error {means[order[0]]:.3f}; {kept[-1]} least: {means[order[-1]]:.3f}."
    )
    title = f"What a score says of its list, {result.errors.shape[1]:,} lists"
    return drawn(tall(made, len(rows)), name="entropy", title=title, description=said, rows=rows)
