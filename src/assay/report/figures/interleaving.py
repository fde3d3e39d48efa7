"""Pictures of interleaving: Δ of every pair with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.figure import Figure, altair, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, mark_at, names, ranges, tall
from assay.report.theme import MAIN

if TYPE_CHECKING:
    from assay.interleaving import Interleaved


@draws("interleaving.Interleaved")
def preference_intervals(result: Interleaved) -> Figure:
    """Δ of each pair with its interval, and a line where neither is preferred."""
    pairs = [f"{one.system} over {one.baseline}" for one in result.preferences]
    rows = rows_of(
        pair=pairs,
        delta=[one.delta for one in result.preferences],
        low=[one.low for one in result.preferences],
        high=[one.high for one in result.preferences],
        impressions=[one.n for one in result.preferences],
    )
    tip = [("pair", "pair", ""), ("delta", "Δ", "+.4f"), ("low", "low", "+.4f"), ("high", "high", "+.4f")]
    tip.append(("impressions", "impressions", ",d"))
    zero, mark = mark_at(0.0, axis="x")
    x = amount("X", "delta", "Δ: share of wins, ties counting half, minus 1/2", form="+.2f")
    made = ranges(names("Y", "pair", None, sort=pairs), x, "low", "high", tip=tip, color=altair().value(MAIN))
    level = round(100 * result.level)
    return drawn(
        tall(altair().layer(made, zero), len(rows)),
        name="preference-intervals",
        title=f"Which system users prefer, {len(rows)} pair{'s' if len(rows) > 1 else ''}",
        description=f"{result.verdict}.",
        note=f"Lines are {level} % intervals by user.",
        rows=rows,
        mark=mark,
    )
