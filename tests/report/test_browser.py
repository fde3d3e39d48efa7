"""The report in a real browser without a network: every chart drawn, no error on the console, at two widths, light and
dark, and on a telephone nothing wider than the screen."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.data.scores import Scores
from assay.report.write import report
from tests.conftest import real_data
from tests.report.zoo import EVIL, collection, hostile_names, scores

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update",
    "--disable-background-networking", "--disable-sync", "--disable-default-apps", "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--v=0", "--virtual-time-budget=600000",
    "--allow-file-access-from-files",
)  # fmt: skip
# A window is at least 500 pixels wide, so the report is opened in a frame of the width that is wanted. When all is
# drawn, the frame's facts are written where --dump-dom shows them.
FRAME = """<!doctype html><title>frame</title><body>
<iframe id="f" src="{src}" style="width:{width}px;height:900px"></iframe>
<p id="facts"></p><script>
const look = () => {{
  const d = document.getElementById("f").contentDocument;
  if (!d || !d.documentElement || d.documentElement.dataset.ready !== "yes") return setTimeout(look, 500);
  const charts = [...d.querySelectorAll(".chart")];
  const facts = [charts.length, charts.filter((c) => c.querySelector("svg")).length,
    d.documentElement.scrollWidth, getComputedStyle(d.body).backgroundColor,
    Math.max(0, ...charts.map((c) => c.scrollWidth - c.clientWidth)),
    Math.max(0, ...[...d.querySelectorAll("#leaderboard .scroll")].map((s) => s.scrollWidth - s.clientWidth)),
    d.defaultView.performance.getEntriesByType("resource").length];
  document.getElementById("facts").textContent = "facts: " + facts.join(" | ");
}};
look();
</script>"""


def opened(page: Path, folder: Path, *, width: int, dark: bool) -> tuple[list[str], str]:
    """What the browser saw: charts, charts drawn, width of the page, background, overflow of charts, of leaderboards,
    fetches; and its log."""
    frame = page.with_name(f"frame-{width}.html")
    frame.write_text(FRAME.format(src=page.name, width=width))
    mode = ("--blink-settings=preferredColorScheme=0",) if dark else ("--blink-settings=preferredColorScheme=1",)
    done = subprocess.run(
        [str(CHROMIUM), *FLAGS, *mode, f"--user-data-dir={folder / f'{width}{dark}'}", "--dump-dom", frame.as_uri()],
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    facts = re.search(r"facts: (\d[^<]*)", done.stdout)
    assert facts, done.stderr[-2000:]
    return facts.group(1).split(" | "), done.stderr


def assert_sound(page: Path, folder: Path, *, width: int, dark: bool) -> None:
    (charts, drawn, wide, ground, over, sideways, fetched), log = opened(page, folder, width=width, dark=dark)
    assert not [line for line in log.splitlines() if "CONSOLE" in line], log
    assert int(charts) == int(drawn) > 0
    assert int(wide) <= width
    assert int(over) <= 2
    assert int(sideways) == 0 or width < 1280
    assert int(fetched) == 0
    assert ground == ("rgb(21, 24, 28)" if dark else "rgb(255, 255, 255)")


def assert_sound_everywhere(page: Path, folder: Path) -> None:
    for width in (1280, 390):
        for dark in (False, True):
            assert_sound(page, folder, width=width, dark=dark)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("browser") / "report.html"
    c = collection()
    report(c.runs, c.qrels, path=path, labels=c.labels, measures=["AP", "nDCG@10", "P@10"])
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_report_of_the_simulated_collection(simulated: Path, tmp_path: Path, width: int, dark: bool) -> None:
    assert_sound(simulated, tmp_path, width=width, dark=dark)


@pytest.mark.parametrize("width", [1280, 390])
def test_report_of_topics_that_are_summarised(tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.report import material

    monkeypatch.setattr(material, "MOST_TOPICS", 5)
    report(Scores(tuple(scores()[:2])), path=tmp_path / "report.html")
    assert_sound(tmp_path / "report.html", tmp_path, width=width, dark=False)


def test_a_console_error_and_a_fetch_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    image = f'<img src="{"://localhost:9/".join(["http", "x.png"])}">'
    page.write_text(f'<html data-ready="yes"><body>{image}<script>console.error("seen")</script>')
    (*_, fetched), log = opened(page, tmp_path, width=390, dark=False)
    assert int(fetched) == 1
    assert [line for line in log.splitlines() if "CONSOLE" in line and "seen" in line]


def test_scripts_as_names_are_not_run(tmp_path: Path) -> None:
    runs, qrels, labels = hostile_names()
    report(runs, qrels, path=tmp_path / "report.html", labels=labels, title=EVIL)
    assert_sound(tmp_path / "report.html", tmp_path, width=390, dark=False)


def test_report_of_trec_covid_round_1(tmp_path: Path) -> None:
    """All 143 runs at full depth, every section."""
    import tarfile

    from assay.cli.inputs import load_runs
    from assay.io import read_qrels

    folder = real_data("trec-covid-round1")
    with tarfile.open(folder / "runs.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    qrels = read_qrels(folder / "qrels.txt")
    page = tmp_path / "report.html"
    report(load_runs([tmp_path / "runs"]), qrels, path=page, measures=["nDCG@10", "AP"])
    assert_sound_everywhere(page, tmp_path)


def test_report_of_crowd_labels_s100(tmp_path: Path) -> None:
    from assay.io import read_qrels
    from assay.io.labels import read_labels

    folder = real_data("crowd-s100-trec8")
    labels = read_labels(folder / "judgments.tsv.xz", columns={"label": "score"}, times=100)
    page = tmp_path / "report.html"
    report(labels=labels, qrels=read_qrels(folder / "trec8-qrels.txt"), path=page)
    assert_sound_everywhere(page, tmp_path)
