"""One self-contained HTML file: sections with charts and tables, the chart library once, no network.

All text is escaped by the template; data of charts is JSON in which `<`, `>` and `&` are written as escapes, so that no
run, topic, doc or worker can end a script. A content security policy forbids the page to fetch anything.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from assay.core.tables import Table
from assay.report.figure import Figure, vl_convert
from assay.report.theme import DARK_INK, DARK_PAGE, INK, PAPER, config
from assay.version import __version__

if TYPE_CHECKING:
    from assay.report.sections import Section

MOST_CODE, MOST_NAME = 8, 16
"""Characters of a text without blanks that is never broken, and of one in the first column."""
MOST_ROWS = 1000
"""Rows of a table on the page; all of them are in `--format csv`."""


def report_page(sections: Sequence[Section], *, title: str) -> str:
    """The page of a report."""
    return _rendered("report.html", title=title, sections=sections)


def figure_page(figures: Sequence[Figure]) -> str:
    """A page of charts alone."""
    return _rendered("figures.html", title=figures[0].title, figures=figures)


_BUNDLE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"
_BEGUN: list[subprocess.Popen[bytes]] = []
"""The process that makes the chart library, where one was begun."""


def begin_chart_library() -> None:
    """Begin to make the chart library in a process of its own, while runs are read and scored here.

    It takes a second, as long as everything else of a report of many runs.
    """
    is_made = chart_library.cache_info().currsize > 0
    if not _BEGUN and not is_made:
        # -P: a file of that name in the current folder is not the package.
        command = [sys.executable, "-P", "-c", _BUNDLE]
        _BEGUN.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))


@cache
def chart_library() -> str:
    """The JavaScript of Vega, Vega-Lite and vega-embed, ready to stand in a script element."""
    made = b""
    if _BEGUN:
        made, _ = _BEGUN[0].communicate()
    # Where the process failed, the package itself says why.
    text = made.decode() or str(vl_convert().javascript_bundle())
    return text.replace("</script", "<\\/script")


def safe_json(value: Any) -> str:
    """JSON that may stand inside a script element whatever its strings say.

    >>> safe_json({"run": "</script>&"})
    '{"run":"\\\\u003c/script\\\\u003e\\\\u0026"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _rendered(template: str, **names: Any) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    surroundings = Environment(
        loader=PackageLoader("assay.report", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    numbers = iter(range(1, 100_000))
    surroundings.globals |= {
        "kind": _kind,
        "number": lambda: next(numbers),
        "json": lambda value: Markup(safe_json(value)),
        "most_rows": MOST_ROWS,
        "classes": classes,
        "version": __version__,
        "theme": config(page=True),
        "library": Markup(chart_library()),
        "colours": {"paper": PAPER, "ink": INK, "dark": DARK_PAGE, "dark_ink": DARK_INK},
    }
    return surroundings.get_template(template).render(**names)


def classes(table: Table) -> list[str]:
    """A class for each column: numbers, codes that may break anywhere, wide texts, texts, short texts."""
    cells = table.cells()
    kinds = []
    for at, format in enumerate(table.formats):
        texts = [row[at] for row in cells]
        longest = max(map(len, texts), default=0)
        most = MOST_CODE if at else MOST_NAME
        is_code = longest > most and not any(" " in text for text in texts)
        if format:
            kinds.append("n")
        elif is_code:  # long names, and the letters of many runs
            kinds.append("c")
        else:
            kinds.append("w" if longest > 40 else "t" if longest > 28 else "s")
    return kinds


def _kind(block: Any) -> str:
    return "figure" if isinstance(block, Figure) else "table" if isinstance(block, Table) else "text"
