"""The page escapes what comes from files, fetches nothing, and can be read without eyes or mouse."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from assay.core.tables import Table
from assay.report.page import MOST_ROWS, chart_library, figure_page, report_page, safe_json
from assay.report.sections import Section
from assay.report.write import report
from tests.report.zoo import EVIL, ZOO, collection, hostile_names


class Reader(HTMLParser):
    """Elements with their attributes, and the text outside scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_data(self, data: str) -> None:
        if self.inside not in ("script", "style"):
            self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [a for t, a in self.elements if t == tag]


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    report(collection().runs, collection().qrels, path=path, labels=collection().labels)
    return path.read_text()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report in which every name is a script."""
    path = tmp_path_factory.mktemp("page") / "hostile.html"
    runs, qrels, labels = hostile_names()
    report(runs, qrels, path=path, labels=labels, title=EVIL)
    return path.read_text()


def without_library(html: str) -> str:
    return html.replace(chart_library(), "")


def test_names_from_files_appear_as_text_only(hostile: str) -> None:
    own = without_library(hostile)
    assert EVIL not in own
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in own
    assert "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e" in own
    reader = read(own)
    assert len(reader.all("script")) == len(read(without_library(hostile)).all("script"))
    assert not [a for a in reader.all("script") if "alert" in str(a)]
    shown = " ".join(reader.text)
    for name in (f"{EVIL}1", f"{EVIL}0", f"d0{EVIL}", f"{EVIL}w1"):
        assert name in shown, name


def test_scripts_of_a_page_do_not_depend_on_names(page: str, hostile: str) -> None:
    kinds = [
        sorted({a.get("type") or "program" for a in read(without_library(p)).all("script")}) for p in (page, hostile)
    ]
    assert kinds[0] == kinds[1] == ["application/json", "program"]
    assert sum(a.get("type") is None for a in read(without_library(hostile)).all("script")) == 2


def test_json_of_charts_survives_the_escaping(hostile: str) -> None:
    found = re.findall(r'<script type="application/json" data-chart="[^"]+">(.*?)</script>', hostile)
    assert len(found) > 8
    runs = {row.get("run") for text in found for rows in json.loads(text)["datasets"].values() for row in rows}
    assert f"{EVIL}1" in runs


def test_safe_json_has_no_sign_that_html_knows() -> None:
    text = safe_json({"a": "</script><!--&\u2028"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028"}


def test_nothing_is_fetched(page: str) -> None:
    own = without_library(page)
    assert "default-src 'none'" in own
    reader = read(own)
    for tag, attributes in reader.elements:
        for key in ("src", "href", "action"):
            target = attributes.get(key)
            assert target is None or target.startswith(("#", "data:,")), (tag, target)
    assert "@import" not in own
    assert "url(" not in own


def test_a_chart_library_is_there_once(page: str) -> None:
    assert page.count("window.vegaEmbed=") == 1
    assert "</script" not in chart_library()


def test_charts_have_captions_and_tables_have_headers(page: str) -> None:
    reader = read(without_library(page))
    charts = [a for a in reader.all("div") if a.get("role") == "group"]
    captions = {a["id"] for a in reader.all("figcaption")}
    assert len(charts) == len(captions) == len(reader.all("figure"))
    assert {a["aria-labelledby"] for a in charts} == captions
    assert all(a.get("scope") in ("col", "row") for a in reader.all("th"))
    assert len([a for a in reader.all("th") if a["scope"] == "col"]) > len(reader.all("table"))
    specs = re.findall(r"data-chart=\"[^\"]+\">(.*?)</script>", without_library(page))
    assert all(len(json.loads(s)["description"]) > 12 for s in specs)


def test_keyboard_order_is_skip_link_navigation_content(page: str) -> None:
    own = without_library(page)
    skip, nav, main = (own.index(part) for part in ('class="skip"', "<nav", "<main"))
    assert skip < nav < main
    reader = read(own)
    assert reader.all("html")[0]["lang"] == "en"
    assert not [a for _, a in reader.elements if (a.get("tabindex") or "0") not in ("0", "-1")]
    scrolling = [a for a in reader.all("div") if "scroll" in (a.get("class") or "")]
    assert all(a.get("tabindex") == "0" and a.get("role") == "region" and a.get("aria-label") for a in scrolling)


def test_identifiers_are_unique_and_links_lead_to_them(page: str) -> None:
    reader = read(without_library(page))
    ids = [a["id"] for _, a in reader.elements if a.get("id")]
    assert len(ids) == len(set(ids))
    assert {a["href"] for a in reader.all("a")} <= {f"#{i}" for i in ids}


def test_long_tables_are_cut_with_a_word() -> None:
    table = Table.of({"run": "", "score": ".1f"}, [(f"r{i}", i) for i in range(MOST_ROWS + 5)])
    html = report_page([Section("long", "Long", (table,))], title="t")
    assert without_library(html).count("<tr>") == MOST_ROWS + 1
    assert f"The first {MOST_ROWS} of {MOST_ROWS + 5} rows" in html


def test_a_page_of_figures_has_them_all() -> None:
    from assay.report import figure

    html = figure_page([figure(ZOO["components"]()), figure(ZOO["published"]())])
    assert html.count("<figure>") == 2


def test_templates_are_beside_the_code() -> None:
    from assay.report import page

    folder = Path(page.__file__).parent / "templates"
    assert {p.name for p in folder.iterdir()} >= {"base.html", "report.html", "parts.html", "style.css", "page.js"}
