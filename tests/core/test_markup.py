"""Whatever a file holds, a terminal obeys none of it and no page reads it as markup."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from assay.core.markup import html_text, markdown_text, visible
from assay.core.tables import FORMATS, Table, render

HOSTILE = "a\x1b[31m\x07\u202eb\x9b1m<script>|`*\\"


@pytest.mark.parametrize("format", [f for f in FORMATS if f not in ("csv", "json")])
def test_no_control_character_reaches_a_reader(format: str) -> None:
    table = Table.of({"run": "", "AP": ".2f"}, [(HOSTILE, 0.5)], caption=HOSTILE, notes=[HOSTILE])
    shown = render([table], format)
    assert not {c for c in shown if c != "\n" and not c.isprintable()}
    assert "\\x1b[31m" in shown.replace("\\textbackslash{}", "\\").replace("\\\\", "\\")


def test_what_is_printable_stays() -> None:
    assert visible("Zürich 東京 “x”") == "Zürich 東京 “x”"
    assert visible("two\nlines\tand a tab") == "two lines and a tab"
    assert visible("\U000e0001") == "\\U000e0001"


def test_a_backslash_does_not_free_the_bar_behind_it() -> None:
    assert markdown_text("a\\|b") == r"a\\\|b"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)


def test_html_has_only_the_tags_of_a_table() -> None:
    parser = Tags()
    parser.feed(Table.of({"run": "", "<i>": ".2f"}, [(HOSTILE, 0.5)], caption=HOSTILE, notes=[HOSTILE]).html())
    assert set(parser.seen) == {"style", "table", "caption", "thead", "tbody", "tr", "th", "td", "div", "p"}
    assert html_text('"<&') == "&quot;&lt;&amp;"
