"""How does a figure fit a paper? Width and height in centimetres, letters in points, with or without title and colour.

A picture is laid out with letters of its usual size and then scaled, so that lines, points and rows of names keep their
proportions to the letters.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from assay.core.errors import UsageError
from assay.report.theme import COLOURS, FONT_SIZE, GREYS, WIDTH

POINTS_PER_CM = 72 / 2.54
"""A pixel of the layout is a point of the page."""
DOTS_PER_POINT = 300 / 72
"""Of a .png that is made for a paper."""
IN_A_COLUMN = 8
"""Points of the letters where a width is given and no size of letters: what captions and labels of papers have."""
LEAST_PANEL = 40
"""Pixels of the layout below which nothing can be seen in a chart."""
MARGINS = 24
"""Pixels of the layout that are left free at both sides together."""
ROUNDS = 12
"""How often a picture is laid out anew until it has the size that is wanted."""
LIMITS = {"width": (2, 120), "height": (2, 120), "font_size": (3, 40)}
UNITS = {"width": "cm", "height": "cm", "font_size": "points"}


@dataclass(frozen=True)
class Paper:
    """What a paper wants of a figure; nothing given is the figure as it is on the screen.

    width, height: of the whole picture, in centimetres (a column is about 8.5, a page 17). font_size: of its letters,
    in points; 8 where a width or height is given. title: whether it stands above the picture. greyscale: no colours.

    >>> Paper(width=8.5).scale, Paper().is_screen
    (0.6666666666666666, True)
    """

    width: float | None = None
    height: float | None = None
    font_size: float | None = None
    title: bool = True
    greyscale: bool = False

    def __post_init__(self) -> None:
        for name, (least, most) in LIMITS.items():
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
                what = name.replace("_", " ")
                raise UsageError(f"{what} {value!r}: give a number of {UNITS[name]} from {least} to {most}")

    @property
    def is_screen(self) -> bool:
        """Whether nothing is asked for."""
        return self == SCREEN

    @property
    def has_size(self) -> bool:
        """Whether the picture must have a certain size."""
        return self.width is not None or self.height is not None

    @property
    def scale(self) -> float:
        """Points of the page for each pixel of the layout."""
        default = IN_A_COLUMN if self.has_size else FONT_SIZE
        return (self.font_size or default) / FONT_SIZE

    def pixels(self, length: float | None) -> float | None:
        """A length of the page in pixels of the layout."""
        return None if length is None else length * POINTS_PER_CM / self.scale

    @property
    def layout_width(self) -> float:
        """Pixels of the layout from the left edge to the right, about."""
        return self.pixels(self.width) or WIDTH

    def on_page(self, svg: str, unit: str = "pt") -> str:
        """The picture with its size in points, so that it has that size wherever it is placed."""
        width, height = size_of(svg)
        size = f'width="{width * self.scale:.2f}{unit}" height="{height * self.scale:.2f}{unit}"'
        return re.sub(r'width="[\d.]+" height="[\d.]+"', size, svg, count=1)


SCREEN = Paper()


def size_of(svg: str) -> tuple[float, float]:
    """Width and height of a picture, in pixels.

    >>> size_of('<svg width="20" height="10.5" viewBox="0 0 20 10.5">')
    (20.0, 10.5)
    """
    found = re.search(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"', svg)
    assert found is not None
    return float(found.group(1)), float(found.group(2))


def wrapped(text: str, width: float, letter: float) -> str | list[str]:
    """A text in lines that fit a width, given the size of its letters; one that fits stays as it is.

    >>> wrapped("AP of 17 runs", 640, 15), wrapped("AP of 17 runs", 100, 15)
    ('AP of 17 runs', ['AP of 17', 'runs'])
    """
    characters = max(8, int((width - MARGINS) / (0.57 * letter)))
    if len(text) <= characters:
        return text
    return textwrap.wrap(text, characters)


def fitted(spec: dict[str, Any], paper: Paper, svg_of: Callable[[dict[str, Any]], str]) -> dict[str, Any]:
    """The specification with panels of such a size that the whole picture has the size of the paper.

    svg_of: lays a specification out. How much room names and legends take is known only then, so it is done again with
    what was missing until it fits.
    """
    widest = max(1, min(3, int(paper.layout_width / 170)))
    for arranged in _arrangements(spec):
        for columns in range(widest, 0, -1):
            found = _in_rounds(_for_width(arranged, paper.layout_width, columns), paper, svg_of)
            if found is not None:
                return found
    raise _no_room(paper)


def _arrangements(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The specification, then with ever fewer panels beside each other: their headings may be too wide for a column."""
    yield spec
    for columns in range(spec.get("columns", 1) - 1, 0, -1):
        yield {**spec, "columns": columns}


def _in_rounds(layout: dict[str, Any], paper: Paper, svg_of: Callable[[dict[str, Any]], str]) -> dict[str, Any] | None:
    """The layout that fits; None where something else is too wide whatever the size of the panels, as a legend."""
    wanted = (paper.pixels(paper.width), paper.pixels(paper.height))
    for _ in range(ROUNDS):
        missing = []
        for length, present in zip(wanted, size_of(svg_of(layout)), strict=True):
            missing.append(0.0 if length is None else length - present)
        if max(map(abs, missing)) < 1:
            return layout
        layout = _resized(layout, *missing)
        if _smallest(layout) < LEAST_PANEL:
            return None
    return None


def _for_width(spec: dict[str, Any], width: float, columns: int) -> dict[str, Any]:
    """The specification with legends of so few columns, and names so short, that they leave room for the chart."""
    config = dict(spec["config"])
    config["legend"] = config["legend"] | {
        "columns": columns,
        "labelLimit": min(230, round(width / columns) - 30),
        "titleLimit": round(width) - 20,
    }
    config["axis"] = config["axis"] | {"labelLimit": min(170, round(width / 3))}
    config["axisY"] = {"labelOverlap": "greedy"}  # of names that are too many for the height, some rather than a smear
    return {**spec, "config": config}


def _resized(spec: dict[str, Any], wider: float, higher: float) -> dict[str, Any]:
    """The specification with larger or smaller panels."""
    is_facet = "facet" in spec
    panel = dict(spec["spec"] if is_facet else spec)
    across, down = _panels(spec) if is_facet else (1, 1)
    panel["width"] = round(panel["width"] + wider / across, 2)
    if higher:
        panel["height"] = round(panel.get("height", 200) + higher / down, 2)
    return {**spec, "spec": panel} if is_facet else panel


def _smallest(spec: dict[str, Any]) -> float:
    """Pixels of the shorter side of a panel."""
    panel = spec.get("spec", spec)
    return float(min(panel["width"], panel.get("height", LEAST_PANEL)))


def _no_room(paper: Paper) -> UsageError:
    asked = {"width": paper.width, "height": paper.height}
    size = " and ".join(f"{what} {value:g} cm" for what, value in asked.items() if value is not None)
    return UsageError(f"{size}: no room for the chart beside its names and legend; make it larger, or its font smaller")


def _panels(spec: dict[str, Any]) -> tuple[int, int]:
    """How many panels stand beside and below each other."""
    field = spec["facet"]["field"]
    rows = [row for rows in spec["datasets"].values() for row in rows if field in row]
    count = len({row[field] for row in rows}) or 1
    columns = min(spec.get("columns", 1), count)
    return columns, math.ceil(count / columns)


def in_grey(part: Any) -> Any:
    """A specification without colour: those of the palette become greys far apart, others keep their lightness.

    Scales from little to much run from light to dark, also those with two sides, whose colours are of one lightness.

    >>> in_grey({"color": "#006ba6", "scheme": "viridis", "other": "#ff0000"})
    {'color': '#1a1a1a', 'scheme': 'greys', 'other': '#7e7e7e'}
    """
    if isinstance(part, list):
        return [in_grey(inner) for inner in part]
    if isinstance(part, dict):
        return {key: _grey_entry(key, inner) for key, inner in part.items()}
    if isinstance(part, str) and re.fullmatch(r"#[0-9a-fA-F]{6}", part):
        return dict(zip(COLOURS, GREYS, strict=True)).get(part, _same_lightness(part))
    return part


def _grey_entry(key: str, value: Any) -> Any:
    if key == "datasets":  # names of runs are no colours
        return value
    return "greys" if key == "scheme" else in_grey(value)


def _same_lightness(colour: str) -> str:
    """The grey of the same luminance (Rec. 709)."""
    red, green, blue = ((int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    level = round(255 * luminance ** (1 / 2.2))
    return f"#{level:02x}{level:02x}{level:02x}"
