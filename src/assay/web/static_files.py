"""Which files do pages load? Style, scripts and the chart library: from this server, or beside the pages of a site."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.resources import files

from assay.web.rendering import style

OF_PAGES = ("style.css", "charts.js", "page.js", "pages.js", "icon.svg")
"""What the read-only pages load."""
TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


def _charts() -> str:
    from assay.report.page import chart_library

    return chart_library()


def _packaged(package: str, folder: str, name: str) -> str:
    return files(package).joinpath(folder, name).read_text("utf-8")


MAKERS: Mapping[str, Callable[[], str]] = {
    "style.css": style,
    "charts.js": _charts,
    "page.js": partial(_packaged, "assay.report", "templates", "page.js"),
    "pages.js": partial(_packaged, "assay.web", "static", "pages.js"),
    "task.css": partial(_packaged, "assay.crowd", "templates", "task.css"),
    "task.js": partial(_packaged, "assay.crowd", "templates", "task.js"),
    "judge.js": partial(_packaged, "assay.web", "static", "judge.js"),
    "follow.js": partial(_packaged, "assay.web", "static", "follow.js"),
    "icon.svg": partial(_packaged, "assay.web", "static", "icon.svg"),
}
"""Every such file, and what gives its content."""


@cache
def content_of(name: str) -> str:
    """The content of one of MAKERS.

    >>> content_of("icon.svg")[:4]
    '<svg'
    """
    return MAKERS[name]()


def type_of(name: str) -> str:
    """The media type of a file, by its ending.

    >>> type_of("icon.svg")
    'image/svg+xml'
    """
    return TYPES[name.rpartition(".")[2]]
