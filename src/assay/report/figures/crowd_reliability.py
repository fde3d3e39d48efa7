"""The picture of how far probabilities hold: the share of relevant docs against the probability that they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, classes, diagonal, scatter, tips
from assay.report.theme import ACCENT, MAIN

if TYPE_CHECKING:
    from assay.crowd.probability_checks import Reliability


@draws("crowd.Reliability")
def reliability_diagram(result: Reliability) -> Figure:
    """One point per bin with its interval over topics, raw and calibrated; on the diagonal probabilities hold."""
    bins = result.bins
    rows = rows_of(
        probabilities=[b.probabilities for b in bins],
        mean=[b.mean for b in bins],
        share=[b.share for b in bins],
        low=[b.share if b.low is None else b.low for b in bins],
        high=[b.share if b.high is None else b.high for b in bins],
        docs=[b.docs for b in bins],
    )
    tip = [
        ("probabilities", "probabilities", ""),
        ("mean", "mean probability", ".3f"),
        ("share", "share relevant", ".3f"),
        ("low", "low", ".3f"),
        ("high", "high", ".3f"),
        ("docs", "docs", "d"),
    ]
    alt = altair()
    kinds = tuple(dict.fromkeys(b.probabilities for b in bins))
    encoding = classes("probabilities", "probabilities", kinds, (ACCENT, MAIN)[: len(kinds)])
    x = amount("X", "mean", "mean probability of being relevant", domain=(0, 1))
    y = amount("Y", "share", "share that the reference calls relevant", domain=(0, 1))
    ends = alt.Y("low", type="quantitative", title="share that the reference calls relevant")
    rule = chart().mark_rule(strokeWidth=1.5, opacity=0.6)
    intervals = rule.encode(x=x, y=ends, y2=alt.Y2("high"), color=encoding["color"], tooltip=tips(tip))
    line, corners = diagonal(0, 1)
    made = alt.layer(line, intervals, scatter(x, y, tip=tip, **encoding)).properties(height=340)
    said = "; ".join(f"{name}: Brier {brier:.4f}, log score {log:.4f}" for name, brier, log in result.scores)
    said += f" ({result.docs:,} docs, {result.topics} topics)"
    title = f"Reliability of the probabilities of {result.method}"
    return drawn(made, name="reliability", title=title, description=f"{said}.", rows=rows, diagonal=corners)
