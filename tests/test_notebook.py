"""The cookbook as a notebook: run by a real kernel through nbconvert, and what its cells show is looked at."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.core.results import Result
from tests.conftest import ROOT
from tests.report.zoo import ZOO

pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")

PAGE = ROOT / "docs" / "howto" / "cookbook-for-notebooks.md"
EVIL = "<script>document.title = 'run'</script>"
HOSTILE = f"""
evil = {EVIL!r}
named = {{evil: {{"q1": {{"d": 1.0}}, "q2": {{evil: 1.0}}}}, "b": {{"q1": {{"d": 1.0}}, "q2": {{"d": 1.0}}}}}}
scores = assay.evaluate(named, {{"q1": {{"d": 1}}, "q2": {{evil: 1}}}}, "AP")
scores
""".strip()
MORE = [
    HOSTILE,
    "scores['AP']",
    "scores.per_topic()",
    "assay.compare(scores)",
    "assay.compare(scores).figure()",
    "assay.Table.of({evil: ''}, [(evil,)] * 1000, caption=evil, notes=[evil])",
]
"""Cells that the page has not: names that would run if they were not text, and a table that is too long."""
LIBRARY = "import assay, warnings\nwarnings.simplefilter('error')"


def cells_of(page: Path) -> list[dict[str, Any]]:
    """The cells of a page: its Python blocks are code, everything between them is Markdown."""
    cells = [code(LIBRARY)]
    for text, block in re.findall(r"(.*?)(?:^```python\n(.*?)^```\n|\Z)", page.read_text(), re.M | re.S):
        if text.strip():
            cells.append({"cell_type": "markdown", "metadata": {}, "source": text.strip()})
        if block:
            cells.append(code(block.rstrip("\n")))
    return cells


def code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "execution_count": None, "outputs": []}


def notebook(cells: list[dict[str, Any]]) -> str:
    kernel = {"name": "this", "display_name": "this interpreter", "language": "python"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the notebook run and exported, and demo/ in it."""
    from assay.studies.simulate import simulate, write_collection

    folder = tmp_path_factory.mktemp("notebook")
    write_collection(simulate(), folder / "demo")
    cells = [*cells_of(PAGE), *map(code, MORE)]
    (folder / "cookbook.ipynb").write_text(notebook(cells))
    run_through_nbconvert(folder / "cookbook.ipynb", "notebook", "--execute", "--output", "done.ipynb")
    run_through_nbconvert(folder / "done.ipynb", "html")
    return folder


def run_through_nbconvert(path: Path, format: str, *options: str) -> None:
    """`jupyter nbconvert` with this interpreter as the kernel, whatever kernels are installed."""
    kernel = path.parent / "jupyter" / "kernels" / "this"
    kernel.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "this", "language": "python"}))
    # an empty IPython folder: nobody's own startup files are run
    surroundings = {**os.environ, "JUPYTER_PATH": str(path.parent / "jupyter"), "IPYTHONDIR": str(path.parent / "own")}
    surroundings["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", format, *options, path.name],
        cwd=path.parent, env=surroundings, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def shown(folder: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """Every cell of code with its outputs."""
    done = json.loads((folder / "done.ipynb").read_text())
    cells = [cell for cell in done["cells"] if cell["cell_type"] == "code"]
    return [("".join(cell["source"]), cell["outputs"]) for cell in cells]


def texts(output: dict[str, Any], kind: str) -> str:
    return "".join(output["data"].get(kind, ""))


def test_no_cell_fails_or_warns(shown: list[tuple[str, list[dict[str, Any]]]]) -> None:
    assert len(shown) > 20
    outputs = [output for _, outputs in shown for output in outputs]
    assert {output["output_type"] for output in outputs} == {"execute_result", "stream"}
    assert not [output for output in outputs if output.get("name") == "stderr"]


def test_figures_are_pictures_beside_their_charts(shown: list[tuple[str, list[dict[str, Any]]]]) -> None:
    figures = [outputs for source, outputs in shown if re.search(r"\.figure\([^()]*\)$", source)]
    assert len(figures) >= 5
    for [output] in figures:
        picture = texts(output, "image/svg+xml")
        assert picture.startswith("<svg ")
        width, height = map(int, re.findall(r' (?:width|height)="(\d+)"', picture)[:2])
        assert 300 < width < 1000
        assert 100 < height < 1000
        [kind] = [kind for kind in output["data"] if "vegalite" in kind]
        version = kind.partition(".vegalite.")[2].removesuffix("+json")
        assert f"/vega-lite/{version}." in output["data"][kind]["$schema"]
        assert len(texts(output, "text/plain")) < 120


def test_ids_within_pictures_are_those_of_one_picture(shown: list[tuple[str, list[dict[str, Any]]]]) -> None:
    """Where a page holds several pictures, the colours of one must not be looked up in another."""
    pictures = {texts(o, "image/svg+xml") for _, outputs in shown for o in outputs if "data" in o}
    ids = [name for picture in pictures for name in re.findall(r'\bid="([^"]+)"', picture)]
    assert ids
    assert len(set(ids)) == len(ids)
    used = {name for picture in pictures for name in re.findall(r"url\(#([^)]+)\)", picture)}
    assert used <= set(ids)


def test_results_and_tables_are_html(shown: list[tuple[str, list[dict[str, Any]]]]) -> None:
    by_source = {source.splitlines()[-1]: outputs for source, outputs in shown if outputs}
    for source in ("scores", "result", "scores['AP']", "scores.per_topic()", "assay.compare(scores)"):
        [output] = by_source[source]
        assert "<table>" in texts(output, "text/html"), source
        assert "<table" not in texts(output, "text/plain")
    [verdict] = by_source['assay.compare(scores, baseline="bm25").verdict']
    assert "are not shown to differ" in texts(verdict, "text/plain")


def test_a_long_table_is_cut_and_scrolls(shown: list[tuple[str, list[dict[str, Any]]]]) -> None:
    [output] = shown[-1][1]
    page = texts(output, "text/html")
    assert page.count("<tr>") == 201
    assert "The first 200 of 1,000 rows" in page
    assert "overflow: auto" in page
    assert len(texts(output, "text/plain").splitlines()) < 80


class Scripts(HTMLParser):
    """The texts of the script elements of a page, and attributes that would run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.inside = tag == "script"
        self.found += [str(value) for name, value in attributes if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.found.append(data)


def scripts_in(page: str) -> list[str]:
    parser = Scripts()
    parser.feed(page)
    return parser.found


def test_names_are_text_whatever_they_say(shown: list[tuple[str, list[dict[str, Any]]]], folder: Path) -> None:
    assert scripts_in(EVIL) == ["document.title = 'run'"]
    outputs = [output for _, outputs in shown for output in outputs if "data" in output]
    pages = [texts(output, kind) for output in outputs for kind in ("text/html", "image/svg+xml")]
    assert any("&lt;script&gt;" in page for page in pages)
    for page in pages:
        assert not scripts_in(page)
    assert "document.title = 'run'" not in scripts_in((folder / "done.html").read_text())


LOOK = """<iframe id=f src=page.html style="width:{width}px;height:900px"></iframe><p id=facts></p><script>
onload = () => {{
  const d = document.getElementById("f").contentDocument;
  const pictures = [...d.querySelectorAll(".jp-RenderedSVG img")];
  const tables = [...d.querySelectorAll(".jp-RenderedHTML > div, .jp-RenderedHTML > p")];
  const room = (e) => e.closest(".jp-OutputArea-child").clientWidth + 1;
  const facts = [pictures.filter((p) => p.naturalWidth).length, pictures.filter((p) => p.clientWidth > room(p)).length,
    tables.length, tables.filter((t) => t.clientWidth > room(t)).length, d.title];
  document.getElementById("facts").textContent = "facts: " + facts.join(" | ");
}};
</script>"""


@pytest.mark.parametrize("width", [1280, 390])
def test_the_exported_page_in_a_browser(folder: Path, tmp_path: Path, width: int) -> None:
    """Nothing is wider than its cell; on a telephone nbconvert itself gives pictures their full width."""
    from tests.report.test_browser import CHROMIUM, FLAGS

    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    shutil.copy(folder / "done.html", tmp_path / "page.html")
    frame = tmp_path / "frame.html"
    frame.write_text(LOOK.format(width=width))
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={tmp_path / 'user'}", "--dump-dom", frame.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    facts = re.search(r"facts: (\d[^<]*)<", done.stdout)
    assert facts, done.stderr[-2000:]
    pictures, wide_pictures, tables, wide_tables, title = facts.group(1).split(" | ")
    assert int(pictures) >= 5
    assert int(tables) > 10
    assert int(wide_tables) == 0
    assert int(wide_pictures) == 0 or width < 700
    assert title == "done", "a name ran as a script"


@pytest.mark.parametrize("name", ZOO)
def test_every_result_shows_itself(name: str) -> None:
    result = ZOO[name]()
    if not isinstance(result, Result):
        return
    page = result._repr_html_()
    assert "<table>" in page
    assert page.count("<tr>") <= 201 * len(result.tables())
    at_a_prompt = repr(result)
    assert "array(" not in at_a_prompt
    assert len(at_a_prompt.splitlines()) <= 80 * len(result.tables())


def test_a_picture_is_made_only_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = assay.ScoreMatrix.of([[0.1, 0.3], [0.2, 0.4]], measure="AP")
    drawing = matrix.figure()
    assert "image/svg+xml" not in drawing._repr_mimebundle_(include=["text/plain"])
    assert "image/svg+xml" not in drawing._repr_mimebundle_(exclude=["image/svg+xml"])
    assert "image/svg+xml" in drawing._repr_mimebundle_()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    without = matrix.figure()._repr_mimebundle_()
    assert without["text/plain"] == "Figure('AP of 2 runs on 2 topics')"
    assert any("vegalite" in kind for kind in without)
    assert "image/svg+xml" not in without


def test_scores_of_one_measure_are_drawn_and_those_of_several_ask_which() -> None:
    runs = {"a": {"1": ["x"], "2": ["y"]}, "b": {"1": ["y"], "2": ["x"]}}
    judged = {"1": {"x": 1}, "2": {"y": 1}}
    assert assay.evaluate(runs, judged, "AP").figure().title == "AP of 2 runs on 2 topics"
    with pytest.raises(assay.UsageError, match=r"there are 2 \(AP, RR\); choose one: scores\['AP'\]\.figure\(\)"):
        assay.evaluate(runs, judged, "AP RR").figure()


def test_one_run_of_a_board_is_drawn_against_the_baseline() -> None:
    scores = {"old": {"1": 0.1, "2": 0.5, "3": 0.2}, "new": {"1": 0.4, "2": 0.3, "3": 0.3}}
    board = assay.compare(scores, baseline="old")
    rows = board.figure(run="new").spec["datasets"]["rows"]
    assert {row["topic"]: row["difference"] for row in rows} == {"1": 0.3, "2": -0.2, "3": 0.1}
    with pytest.raises(assay.UsageError, match="'old' is the baseline; give another run"):
        board.figure(run="old")
    with pytest.raises(assay.UsageError, match="no run 'nwe'; did you mean new"):
        board.figure(run="nwe")
