"""What do all pictures look like? One palette, one Vega-Lite configuration for paper, one for the page.

Colours are of the hues of Okabe and Ito, darkened or lightened until each stands out by 3:1 from white and from the
dark page and the first four are told apart in grey; and never the only sign: series also differ in dash, classes in
shape.
"""

from __future__ import annotations

from typing import Any

WIDTH = 640
"""Pixels of a chart that stands alone; on the page a chart is as wide as its column."""
STEP = 18
"""Pixels of one row of a chart with one row per run, topic or worker."""

FONT_SIZE = 12
"""Pixels of the letters of a chart; of its title more."""
TITLE_SIZE = 15

COLOURS = ("#006ba6", "#de7800", "#008a64", "#bf6aa6", "#955f30", "#2e93c9", "#7f7f7f", "#8a8a00")
"""For categories: blue, orange, green, purple, brown, sky, grey, olive."""
GREYS = ("#1a1a1a", "#949494", "#4d4d4d", "#787878", "#303030", "#868686", "#666666", "#8d8d8d")
"""What each of them is where there is no colour."""
MAIN, ACCENT, THIRD, MUTED = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[6]
BETTER, WORSE, UNDECIDED, BASELINE = MAIN, ACCENT, MUTED, THIRD
"""For verdicts: dark blue, light orange, and a grey between them, so that they differ without colour too."""
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
    words = {"labelColor": ink, "titleColor": ink, "titleFontWeight": 600}
    words |= {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE}
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
        "title": {"color": ink, "subtitleColor": ink, "anchor": "start", "offset": 12}
        | {"fontSize": TITLE_SIZE, "subtitleFontSize": FONT_SIZE, "subtitlePadding": 5},
        "view": {"stroke": None},
        "mark": {"color": MAIN},
        "line": {"strokeWidth": 2.2},
        "point": {"size": 55, "filled": True},
        "text": {"color": ink, "fontSize": FONT_SIZE},
        "rule": {"color": ink},
    }
