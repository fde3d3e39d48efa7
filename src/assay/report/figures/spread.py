"""Pictures of distributions over many topics: histograms of scores by run, and of differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, lines, mark_at, some_of, tips
from assay.report.theme import MAIN

if TYPE_CHECKING:
    from assay.stats.spread import Spread

MOST_LINES = 8
"""Runs whose histograms are drawn into one picture."""
TIP = (("low", "from", ".4f"), ("high", "to", ".4f"), ("count", "topics", ",d"), ("share", "% of topics", ".2f"))


@draws("stats.Spread")
def spread(result: Spread, *, top: int = MOST_LINES) -> Figure:
    """How many topics have which score: a line for each run; of one run or difference bars."""
    shown = result.names[:top]
    rows = []
    for name, counts in zip(shown, result.counts[: len(shown)], strict=True):
        bars = rows_of(
            low=result.edges[:-1],
            high=result.edges[1:],
            middle=(result.edges[:-1] + result.edges[1:]) / 2,
            count=counts,
            share=100 * counts / result.n,
        )
        rows += [{"name": name, **bar} for bar in bars]
    count = some_of(len(shown), len(result.names))
    whose = shown[0] if len(result.names) == 1 else f"{count} runs"
    made = _bars(result) if len(shown) == 1 else _lines(result, shown)
    marks: dict[str, Any] = {}
    if result.signed:
        zero, at = mark_at(0.0, axis="x")
        made = altair().layer(made, zero)
        marks["mark"] = at
    medians = ", ".join(f"{name} {row[3]:.4f}" for name, row in zip(shown, result.quantiles, strict=False))
    return drawn(
        made.properties(height=240),
        name=f"spread-{result.what}",
        title=f"{result.what} of {whose} over {result.n:,} topics",
        description=f"Median: {medians}.",
        rows=rows,
        **marks,
    )


def _bars(result: Spread) -> Any:
    """A bar for each part of the scale."""
    x = altair().X("low", type="quantitative", bin="binned", title=result.what)
    y = amount("Y", "share", "% of the topics", zero=True)
    bar = chart().mark_bar(color=MAIN)
    return bar.encode(x=x, x2="high", y=y, tooltip=tips(TIP))


def _lines(result: Spread, shown: tuple[str, ...]) -> Any:
    """A line for each run, with a point in the middle of each part of the scale."""
    x = amount("X", "middle", result.what)
    y = amount("Y", "share", "% of the topics", zero=True)
    return lines(x, y, series="name", order=list(shown), tip=[("name", "run", ""), *TIP])
