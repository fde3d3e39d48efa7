"""What do all pictures look like? One palette, one Vega-Lite configuration for paper, one for the page.

Colours are those of Okabe and Ito, darkened or lightened until each stands out by 3:1 from white and from the dark
page, and never the only sign: series also differ in dash, classes in shape.
"""

from __future__ import annotations

from typing import Any

WIDTH = 640
"""Pixels of a chart that stands alone; on the page a chart is as wide as its column."""
STEP = 18
"""Pixels of one row of a chart with one row per run, topic or worker."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#c46a9b", "#b57f00", "#2e93c9", "#7f7f7f", "#8a8a00")
"""For categories: blue, vermilion, green, purple, amber, sky, grey, olive."""
MAIN, ACCENT, THIRD, MUTED = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[6]
INTENSITY = "viridis"
"""For amounts from little to much."""
DIVERGING = "blueorange"
"""For amounts on both sides of zero."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3], [10, 4], [3, 3, 8, 3])
SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "triangle-down")

PAPER, INK = "#ffffff", "#1b1f23"
DARK_PAGE, DARK_INK = "#15181c", "#e6e8ea"

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
PAPER_FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
"""The width of text in a saved file is measured once, when it is made: with a font of the same widths everywhere."""


def config(*, page: bool = False) -> dict[str, Any]:
    """The configuration of every chart: for paper in dark ink on white, on the page in the colour of its text.

    >>> config()["background"], config(page=True)["axis"]["labelColor"]
    ('#ffffff', 'currentColor')
    """
    ink = "currentColor" if page else INK
    words = {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 600}
    return {
        "background": None if page else PAPER,
        "font": FONT if page else PAPER_FONT,
        "padding": 4 if page else 12,
        "range": {"category": list(COLOURS), "ramp": {"scheme": INTENSITY}, "heatmap": {"scheme": INTENSITY}},
        "axis": words
        | {"labelLimit": 170, "grid": True, "gridColor": ink, "gridOpacity": 0.14, "domainColor": ink}
        | {"domainOpacity": 0.45, "tickColor": ink, "tickOpacity": 0.45, "labelPadding": 5, "titlePadding": 8},
        "axisBand": {"grid": False},
        "legend": words
        | {"orient": "top", "symbolLimit": 20, "columns": 3, "labelLimit": 230, "titleOrient": "top", "offset": 8}
        | {"columnPadding": 16, "titleLimit": 320},
        "header": words,
        "title": {"color": ink, "subtitleColor": ink, "anchor": "start", "fontSize": 15, "offset": 12},
        "view": {"stroke": None},
        "line": {"strokeWidth": 2.2},
        "point": {"size": 55, "filled": True},
        "text": {"color": ink, "fontSize": 12},
        "rule": {"color": ink},
    }
