"""Pictures of measures themselves: how much each rank counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, lines

if TYPE_CHECKING:
    from assay.measures.rank_weights import RankWeights


@draws("measures.RankWeights")
def weight_curves(result: RankWeights) -> Figure:
    """The weight of each rank, one line per measure, on a logarithmic scale; weights of 0 are left out."""
    alt = altair()
    rows = []
    for measure, weights in zip(result.measures, result.weights, strict=True):
        seen = [(rank, weight) for rank, weight in enumerate(weights.tolist(), start=1) if weight > 0]
        ranks, of_ranks = zip(*seen, strict=True)
        rows += [{"measure": measure, **row} for row in rows_of(rank=ranks, weight=of_ranks)]
    tip = [("measure", "measure", ""), ("rank", "rank", ".0f"), ("weight", "weight", ".5f")]
    x = amount("X", "rank", "rank")
    y = alt.Y("weight", type="quantitative", title="weight", scale=alt.Scale(type="log"))
    made = lines(x, y, series="measure", order=list(result.measures), tip=tip, points=False).properties(height=300)
    depth = result.weights.shape[1]
    sums = ", ".join(f"{m} {w.sum():.3f}" for m, w in zip(result.measures, result.weights, strict=True))
    said = f"Weights of the first {depth} ranks together: {sums}."
    return drawn(made, name="weights", title=f"Weight of the first {depth} ranks", description=said, rows=rows)
