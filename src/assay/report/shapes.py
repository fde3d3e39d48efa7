"""The few shapes that all figures are made of: lines, bars, points, ranges, cells. Each gives an altair chart.

The families of figures say what is on the axes; how it looks is said here once. Fields are names that assay gives,
never text from a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.report.figure import altair, chart
from assay.report.theme import DASHES, DIVERGING, INTENSITY, MAIN, MUTED, SHAPES, STEP

CLIPPED = 1
"""Per cent of the scores at each end that a scale of colours may leave out."""
WASHED_OUT = 0.7
"""A scale is clipped where all but those take less than this share of it: a few scores would pale all others."""
ENOUGH = 100
"""Scores of which one per cent can be said."""

Tips = Sequence[tuple[str, str, str]]
"""(field, title, format) of each line of a tooltip; an empty format is text."""


def tips(shown: Tips) -> list[Any]:
    """Tooltip channels."""
    return [_tip(field, title, form) for field, title, form in shown]


def _tip(field: str, title: str, form: str) -> Any:
    alt = altair()
    if form:
        return alt.Tooltip(field, type="quantitative", title=title, format=form)
    return alt.Tooltip(field, type="nominal", title=title)


def amount(
    channel: str,
    field: str,
    title: str,
    *,
    zero: bool = False,
    domain: Sequence[float] | None = None,
    log: bool = False,
    form: str | None = None,
    room: int = 0,
    ticks: Sequence[float] | None = None,
) -> Any:
    """An x or y channel of numbers; `room` leaves pixels at both ends, `ticks` are the values that the axis names."""
    alt = altair()
    scale: dict[str, Any] = {"zero": zero, "nice": True}
    if room:
        scale["padding"] = room
    if domain is not None:
        scale = {"domain": list(domain), "clamp": True}
    if log:
        scale = {"type": "log", "nice": False, "padding": 10}
    axis: dict[str, Any] = {"title": title}
    if ticks is None:
        axis["tickCount"] = 6
    else:
        axis["values"] = ticks
    if form:
        axis["format"] = form
    if form and form.startswith("+"):
        axis["labelExpr"] = "datum.value === 0 ? '0' : datum.label"
    make_channel = getattr(alt, channel)
    return make_channel(
        field,
        type="quantitative",
        scale=alt.Scale(**scale),
        axis=alt.Axis(**axis),
    )


def names(channel: str, field: str, title: str | None, *, sort: Any = None, **axis: Any) -> Any:
    """An x or y channel of names, in the order of the rows unless `sort` says otherwise."""
    alt = altair()
    make_channel = getattr(alt, channel)
    return make_channel(
        field,
        type="nominal",
        sort=sort,
        axis=alt.Axis(title=title, **axis),
    )


def by_series(field: str, title: str | None, order: Sequence[str], *, dashes: bool = True) -> dict[str, Any]:
    """Colour and dash of lines by series, with one legend that shows both."""
    alt = altair()
    legend = alt.Legend(
        title=title,
        symbolType="stroke",
        symbolSize=500,
        symbolStrokeWidth=2.2,
    )
    domain = list(order)
    colours = alt.Scale(domain=domain)
    channels = {"color": alt.Color(field, type="nominal", scale=colours, legend=legend)}
    if dashes:
        endless = cycle(DASHES)
        patterns = [list(next(endless)) for _ in domain]
        scale = alt.Scale(domain=domain, range=patterns)
        channels["strokeDash"] = alt.StrokeDash(field, type="nominal", scale=scale, legend=legend)
    return channels


def classes(
    field: str, title: str | None, order: Sequence[str], colours: Sequence[str], shapes: Sequence[str] = SHAPES
) -> dict[str, Any]:
    """Colour and shape of points by class, with one legend."""
    alt = altair()
    domain = list(order)
    shapes = shapes[: len(domain)]
    colour = alt.Scale(domain=domain, range=list(colours))
    shape = alt.Scale(domain=domain, range=list(shapes))
    legend = alt.Legend(title=title)
    return {
        "color": alt.Color(field, type="nominal", scale=colour, legend=legend),
        "shape": alt.Shape(field, type="nominal", scale=shape, legend=legend),
    }


def lines(
    x: Any, y: Any, *, series: str, order: Sequence[str], tip: Tips, title: str | None = None, points: bool = True
) -> Any:
    """One line per series."""
    if len(order) < 2:
        channels = {}
        colour = {"color": MAIN}
    else:
        channels = by_series(series, title, order)
        colour = {}
    mark: dict[str, Any] = dict(colour)
    if points:
        mark["point"] = {"size": 28, "aria": False, **colour}
    line = chart().mark_line(**mark)
    return line.encode(x=x, y=y, tooltip=tips(tip), **channels)


def band(x: Any, low: str, high: str, title: str, *, colour: str = MAIN, opacity: float = 0.2) -> Any:
    """The area between two fields."""
    alt = altair()
    y = alt.Y(low, type="quantitative", title=title)
    area = chart().mark_area(color=colour, opacity=opacity, line=False)
    return area.encode(x=x, y=y, y2=alt.Y2(high))


def ranges(y: Any, x: Any, low: str, high: str, *, tip: Tips, over: Sequence[Any] = (), **encoding: Any) -> Any:
    """A point with its interval on every row, and other charts drawn over that; a shape is that of the points alone."""
    alt = altair()
    shape = {"shape": encoding.pop("shape")} if "shape" in encoding else {}
    base = chart().encode(y=y, tooltip=tips(tip), **encoding)
    title = x.to_dict()["axis"]["title"]
    from_low = alt.X(low, type="quantitative", title=title)
    to_high = alt.X2(high)
    rule = base.mark_rule(strokeWidth=2, opacity=0.75)
    point = base.mark_point(size=60, filled=True, opacity=1)
    return alt.layer(
        rule.encode(x=from_low, x2=to_high),
        point.encode(x=x, **shape),
        *over,
    )


def bars(y: Any, x: Any, *, tip: Tips, **encoding: Any) -> Any:
    """Horizontal bars."""
    encoding = encoding or {"color": altair().value(MAIN)}
    bar = chart().mark_bar(height={"band": 0.75})
    return bar.encode(y=y, x=x, tooltip=tips(tip), **encoding)


def scatter(x: Any, y: Any, *, tip: Tips, many: bool = False, **encoding: Any) -> Any:
    """Points; smaller and paler where there are `many`."""
    encoding = encoding or {"color": altair().value(MAIN)}
    size, opacity = (20, 0.5) if many else (55, 0.75)
    point = chart().mark_point(filled=True, size=size, opacity=opacity)
    return point.encode(x=x, y=y, tooltip=tips(tip), **encoding)


def diagonal(low: float, high: float) -> tuple[Any, list[dict[str, float]]]:
    """The line on which both axes agree, and its rows (named `diagonal`)."""
    alt = altair()
    mark = chart("diagonal").mark_line(color=MUTED, strokeDash=[4, 4], strokeWidth=1.2)
    x = alt.X("at", type="quantitative")
    y = alt.Y("at", type="quantitative")
    ends = [{"at": low}, {"at": high}]
    return mark.encode(x=x, y=y), ends


def mark_at(value: float, *, axis: str = "y") -> tuple[Any, list[dict[str, float]]]:
    """A dashed line across the chart at a value, and its row (named `mark`)."""
    make_channel = getattr(altair(), axis.upper())
    channel = make_channel("at", type="quantitative")
    rule = chart("mark").mark_rule(strokeDash=[4, 4], opacity=0.7)
    return rule.encode(**{axis: channel}), [{"at": value}]


def cells(
    x: Any,
    y: Any,
    field: str,
    title: str | list[str],
    *,
    tip: Tips,
    domain: Sequence[float] | None = None,
    diverging: bool = False,
) -> Any:
    """A map of intensities."""
    alt = altair()
    scheme = DIVERGING if diverging else INTENSITY
    scale: dict[str, Any] = {"scheme": scheme}
    if domain is not None:
        scale["domain"] = list(domain)
        scale["clamp"] = True
    elif diverging:
        scale["domainMid"] = 0
    legend = alt.Legend(
        title=title,
        gradientLength=180,
        gradientThickness=10,
        tickCount=4,
    )
    colour = alt.Color(
        field,
        type="quantitative",
        scale=alt.Scale(**scale),
        legend=legend,
    )
    rect = chart().mark_rect(aria=False)
    return rect.encode(x=x, y=y, color=colour, tooltip=tips(tip))


def colour_range(values: Floats) -> tuple[float, float] | None:
    """The scores between which colours differ, where a few outlying ones would leave little of the scale to the others.

    >>> colour_range(np.linspace(0, 1, 200)) is None
    True
    >>> colour_range(np.append(np.linspace(0, 1, 999), 100.0))
    (0.01, 0.991)
    """
    if values.size < ENOUGH:
        return None
    lowest, low, high, highest = np.percentile(values, [0, CLIPPED, 100 - CLIPPED, 100])
    if high - low >= WASHED_OUT * (highest - lowest) or high == low:
        return None
    if lowest < 0:  # both sides of zero are as long, so that zero keeps the colour in the middle
        low, high = -max(-low, high), max(-low, high)
    return round(float(low), 3), round(float(high), 3)


def beyond(domain: tuple[float, float], values: Floats) -> str:
    """What the legend says of scores that are beyond its scale."""
    low, high = domain
    outside = [f"below {low:g}"] if values.min() < low else []
    outside += [f"above {high:g}"] if values.max() > high else []
    return f"scores {' and '.join(outside)} look like the end"


def tall(made: Any, rows: int, *, least: int = 3) -> Any:
    """The chart with a height that gives each of its rows the same room."""
    return made.properties(height=max(least, rows) * STEP)


def row_step(rows: int) -> int:
    """Pixels of one row of a map, which may have many.

    >>> [row_step(rows) for rows in (20, 80, 143)]
    [18, 13, 9]
    """
    if rows <= 40:
        return STEP
    return max(9, min(STEP, 1100 // rows))


def row_labels(rows: int) -> dict[str, int]:
    """How names beside such rows are written."""
    return {"labelFontSize": min(12, row_step(rows))} if rows > 40 else {}


def in_rows(made: Any, rows: int) -> Any:
    """A map with a height that gives each of its rows the same room, less where there are many."""
    return made.properties(height=max(3, rows) * row_step(rows))


def some_of(shown: int, all_: int) -> str:
    """How many are shown, and of how many where some are left out.

    >>> some_of(3, 3), some_of(40, 1000)
    ('3', '40 of 1,000')
    """
    if shown == all_:
        return str(all_)
    return f"{shown} of {all_:,}"


def shortened(text: str, most: int = 12) -> str:
    """A text cut to `most` characters, with an ellipsis.

    >>> shortened("a-rather-long-name")
    'a-rather-lo…'
    """
    if len(text) <= most:
        return text
    return text[: most - 1] + "…"
