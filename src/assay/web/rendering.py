"""How does a page leave the server? As HTML by a template, or as JSON, CSV or LaTeX of the same data, same address."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from assay.core.tables import Table, render, shown
from assay.report.theme import DARK_INK, DARK_PAGE, INK, PAPER, config
from assay.store import Person
from assay.version import __version__
from assay.web.access import may

FORMATS = ("html", "json", "csv", "latex", "markdown")
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "latex": "text/plain; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
}
POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
"""What pages may load: files of this server alone, and no script or style inside a page."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True)
class Page:
    """What a page shows: a template with its names, the same data as a record, and the tables to take home."""

    template: str
    title: str
    record: Mapping[str, Any]
    tables: Sequence[Table] = ()
    names: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


def answered(request: Request, page: Page) -> Response:
    """The page in the format that is asked for: by `format=` in the address, or by the Accept header."""
    how = _asked_format(request)
    if how not in FORMATS:
        raise HTTPException(400, f"no format {how!r}; known: {', '.join(FORMATS)}")
    if how == "json":
        return JSONResponse(plain_values(page.record), status_code=page.status)
    if how != "html":
        if not page.tables:
            raise HTTPException(400, f"this page has no table, so it cannot be had as {how}; take json")
        return PlainTextResponse(render(page.tables, how), status_code=page.status, media_type=TYPES[how])
    return HTMLResponse(html(page, view_of(request)), status_code=page.status)


def plain_values(value: Any) -> Any:
    """A record as JSON can hold it: plain numbers, None for what is not finite, lists and objects.

    >>> plain_values({"a": (1, float("nan"))})
    {'a': [1, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _asked_format(request: Request) -> str:
    """The format of the address; without one html, unless the client prefers JSON."""
    named = request.query_params.get("format")
    if named:
        return named
    accepted = request.headers.get("accept", "")
    return "json" if "application/json" in accepted and "text/html" not in accepted else "html"


def wants_json(request: Request) -> bool:
    """Whether a request is answered with JSON."""
    return _asked_format(request) == "json"


@dataclass(frozen=True)
class View:
    """Where a page is shown, and to which person: by the server, or as a file of a site that opens from disk."""

    person: Person | None = None
    uses_tokens: bool = False
    is_site: bool = False
    root: str = "/"
    """Where `static/` is."""
    link: Callable[[str], str] = lambda path: path
    """The address of one of our pages, from the path that the server has it at."""
    here: Callable[..., str] = lambda **changes: ""
    """The address of this view with some choices changed."""


def view_of(request: Request) -> View:
    """The view of who asks the server."""
    return View(
        person=getattr(request.state, "person", None),
        uses_tokens=request.app.state.access.tokens,
        here=lambda **changes: with_changes(request, changes),
    )


def html(page: Page, view: View) -> str:
    """The page as HTML, everything from outside escaped."""
    numbers = count(1)
    names = {
        "title": page.title,
        "person": view.person,
        "uses_tokens": view.uses_tokens,
        "is_site": view.is_site,
        "root": view.root,
        "link": view.link,
        "here": view.here,
        "can": lambda role: not view.is_site and may(view.person, role),
        "has_tables": bool(page.tables),
        "number": lambda: next(numbers),
        **page.names,
    }
    return rendered(page.template, names)


def rendered(template: str, names: Mapping[str, Any]) -> str:
    """A template with its names; the chart library is asked for where a chart is among them."""
    from assay.report.figure import Figure

    has_charts = any(isinstance(value, Figure) for value in _flat(names.values()))
    return str(templates().get_template(template).render(**names, charts_used=has_charts))


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    """The values, and those of lists among them."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from value
        else:
            yield value


def with_changes(request: Request, changes: Mapping[str, Any]) -> str:
    """The address of this view with some choices changed; None or an empty text leaves a choice out."""
    pairs = [(key, value) for key, value in request.query_params.multi_items() if key not in changes]
    pairs += [(key, str(value)) for key, value in changes.items() if value not in (None, "")]
    return f"{quote(request.url.path)}?{urlencode(pairs)}" if pairs else quote(request.url.path)


@cache
def templates() -> Any:
    """The templates: ours, and the report's for charts and tables."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from assay.report.page import classes, safe_json

    surroundings = Environment(
        loader=ChoiceLoader([PackageLoader("assay.web", "templates"), PackageLoader("assay.report", "templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    surroundings.globals |= {
        "json": lambda value: Markup(safe_json(value)),
        "classes": classes,
        "most_rows": 1000,
        "version": __version__,
        "theme": config(page=True),
        "shown": shown,
        "address": address,
        "grade_class": grade_class,
    }
    surroundings.filters["cut_text"] = cut_text
    return surroundings


def address(*parts: str, **choices: Any) -> str:
    """A path of our own from its parts, whatever signs they hold, with the choices that are not empty.

    >>> address("collection", "a b/c", measure="P@10", team="")
    '/collection/a%20b%2Fc?measure=P%4010'
    """
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    given = [(key, str(value)) for key, value in choices.items() if value not in (None, "")]
    return f"{path}?{urlencode(given)}" if given else path


def grade_class(grade: float | None, top: float) -> str:
    """The colour of a grade: one for 0, three for the rest of the scale, none for what is not judged.

    >>> grade_class(None, 3), grade_class(0, 3), grade_class(3, 3), grade_class(1, 1)
    ('gu', 'g0', 'g3', 'g3')
    """
    if grade is None:
        return "gu"
    third = math.ceil(3 * grade / max(top, 1)) if grade > 0 else 0
    return f"g{min(3, third)}"


def cut_text(text: str, most: int) -> str:
    """The beginning of a long text.

    >>> cut_text("retrieval", 4)
    'retr…'
    """
    return text if len(text) <= most else text[:most].rstrip() + "…"


@cache
def style() -> str:
    """The style sheet: the report's, and what pages have beyond it."""
    colours = {"paper": PAPER, "ink": INK, "dark": DARK_PAGE, "dark_ink": DARK_INK}
    surroundings = templates()
    own = surroundings.get_template("style.css").render(colours=colours)
    return str(own + surroundings.get_template("pages.css").render())
