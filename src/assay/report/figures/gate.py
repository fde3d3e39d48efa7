"""Picture of a gate: the difference of each measure with its bounds, against what is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, mark_at, names, ranges, tall
from assay.report.theme import ACCENT, COLOURS, MAIN, MUTED

if TYPE_CHECKING:
    from assay.gate import Gate

OUTCOMES = ("pass", "fail", "undecided")


@draws("gate.Gate")
def gate_bounds(result: Gate) -> Figure:
    """Each measure's difference with its lower and upper bound; a tick marks the largest drop that is allowed."""
    alt = altair()
    shown = result.measures
    rows = rows_of(
        measure=[one.measure for one in shown],
        difference=[one.difference for one in shown],
        low=[one.low for one in shown],
        high=[one.high for one in shown],
        allowed=[-one.max_drop for one in shown],
        outcome=[one.outcome for one in shown],
    )
    y = names("Y", "measure", None)
    x = amount("X", "difference", f"difference to {result.names[1]}", form="+.3f", room=10)
    scale = alt.Scale(domain=list(OUTCOMES), range=[MAIN, ACCENT, MUTED])
    colour = alt.Color("outcome", type="nominal", scale=scale, legend=alt.Legend(title=None))
    tip = [
        ("measure", "measure", ""),
        ("outcome", "outcome", ""),
        ("difference", "difference", "+.4f"),
        ("low", "lower bound", "+.4f"),
        ("high", "upper bound", "+.4f"),
        ("allowed", "−max drop", "+.4f"),
    ]
    zero, at = mark_at(0.0, axis="x")
    made = ranges(y, x, "low", "high", tip=tip, over=[_allowed(y), zero], color=colour)
    new, baseline = result.names
    return drawn(
        tall(made, len(rows)),
        name="gate",
        title=f"{new} against {baseline} on {result.n} topics: {result.outcome}",
        description=f"{result.verdict}. The tick is the largest drop that is allowed.",
        rows=rows,
        mark=at,
    )


def _allowed(y: Any) -> Any:
    """A tick at the largest drop that is allowed, on every row."""
    tick = chart().mark_tick(thickness=3, size=14, color=COLOURS[3], opacity=1)
    return tick.encode(y=y, x=altair().X("allowed", type="quantitative"))
