"""Pictures of answers: how much of what they should have, or cite, is supported fully, partially or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, bars, names, row_step, some_of
from assay.report.theme import MAIN
from assay.scoring.assigned_remarks import GRADES

if TYPE_CHECKING:
    from assay.scoring.assigned_scores import AnswerScores

TOP = 60
"""Runs that a picture shows at most."""
SHADES = (MAIN, "#8fc3e2", "#dcdfe3")
"""Full, partial and no support."""


@draws("scoring.AnswerScores")
def support_shares(result: AnswerScores) -> Figure:
    """Of every run, best first: the shares of nuggets, citations or sentences that are supported, a panel for each."""
    alt = altair()
    matrix = result.scores.matrices[0].by_average()
    shown = matrix.runs[:TOP]
    counts = [one for one in result.grades if one.run in shown and one.share]
    parts = list(dict.fromkeys(one.part for one in counts))
    rows = rows_of(
        run=[one.run for one in counts],
        part=[one.part for one in counts],
        grade=[one.grade for one in counts],
        place=[GRADES.index(one.grade) for one in counts],
        count=[one.count for one in counts],
        share=[one.share for one in counts],
    )
    tip = [("run", "run", ""), ("grade", "support", ""), ("count", "number", ",d"), ("share", "share", ".1%")]
    y = names("Y", "run", None, sort=list(shown))
    x = amount("X", "share", "share", form=".0%", domain=(0, 1))
    order = alt.Order("place", type="quantitative")
    made = bars(y, x, tip=tip, color=_by_grade(), order=order)
    panels = alt.Facet("part", type="nominal", title=None, sort=parts)
    sized = made.properties(width=240, height=max(3, len(shown)) * row_step(len(shown)))
    best = matrix.averages()[0]
    return drawn(
        sized.facet(facet=panels, columns=2),
        name="support-shares",
        title=f"How much is supported in the answers of {some_of(len(shown), len(matrix.runs))} runs",
        description=f"By {matrix.measure}, {shown[0]} is the best ({best:.3f}), on {len(matrix.topics)} topics.",
        note="A sentence that cites nothing has no support." if "sentences" in parts else "",
        rows=rows,
    )


def _by_grade() -> Any:
    """Dark for full support, pale for partial, grey for none."""
    alt = altair()
    scale = alt.Scale(domain=list(GRADES), range=list(SHADES))
    legend = alt.Legend(title="support", orient="top")
    return alt.Color("grade", type="nominal", scale=scale, legend=legend)
