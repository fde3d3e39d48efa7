"""`assay report` from runs, score files, labels; formats, sections, and what goes wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.report import command
from assay.core.errors import AssayError, UsageError
from assay.io.scores import write_scores
from assay.report.page import chart_library
from assay.studies.simulate import write_collection
from tests.report.zoo import collection, scores


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_collection(collection(), folder)
    write_scores(folder / "scores.csv", list(scores()))
    return folder


def run(*words: object) -> Result:
    return CliRunner().invoke(command, [str(w) for w in words], catch_exceptions=False)


def test_report_from_runs_and_labels(demo: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = run("--qrels", demo / "qrels.txt", demo / "runs", "--labels", demo / "labels.csv", "-o", out, "--jobs", 1)
    assert done.exit_code == 0
    assert done.stderr.splitlines()[-1] == f"report written to {out}"
    text = out.read_text().replace(chart_library(), "")
    for title in ("Summary", "Leaderboard", "Pool and unjudged docs", "Quality of the crowd labels", "How to cite"):
        assert f">{title}</h2>" in text
    assert "Not shown" not in text
    assert "AP|ties:docid|missing:zero" in text
    assert "atlas1.run" in text  # the file with ties is named


def test_report_from_score_files_with_sections_and_baseline(demo: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    sections = "summary, leaderboard,power"
    run(
        demo / "scores.csv",
        "-m",
        "AP",
        "--sections",
        sections,
        "--baseline",
        "cygnus1",
        "-o",
        out,
        "--quiet",
        "--title",
        "T",
    )
    text = out.read_text().replace(chart_library(), "")
    assert text.count("<h2") == 3
    assert "<title>T</title>" in text
    assert "beats cygnus1" in text


def test_runs_of_several_score_files_are_put_together(demo: Path, tmp_path: Path) -> None:
    matrix = scores()[0]
    write_scores(tmp_path / "a.csv", [matrix.select(runs=matrix.runs[:4])])
    write_scores(tmp_path / "b.csv", [matrix.select(runs=matrix.runs[4:])])
    run(tmp_path / "a.csv", tmp_path / "b.csv", "--sections", "summary", "-o", tmp_path / "r.html", "--quiet")
    assert f"{len(matrix.runs)} runs on {len(matrix.topics)} topics" in (tmp_path / "r.html").read_text()


def test_report_of_labels_alone_and_against_judgments(demo: Path, tmp_path: Path) -> None:
    run("--labels", demo / "labels.csv", "-o", tmp_path / "a.html", "--quiet")
    run("--labels", demo / "labels.csv", "--qrels", demo / "qrels.txt", "-o", tmp_path / "b.html", "--quiet")
    assert "taken as a reference" not in (tmp_path / "a.html").read_text()
    assert "taken as a reference" in (tmp_path / "b.html").read_text()


@pytest.mark.parametrize(("format", "ending"), [("csv", "csv"), ("json", "json"), ("latex", "tex")])
def test_tables_go_to_a_folder(demo: Path, tmp_path: Path, format: str, ending: str) -> None:
    done = run(
        demo / "scores.csv", "-m", "AP", "--format", format, "-o", tmp_path / "tables", "--sections", "leaderboard"
    )
    assert done.exit_code == 0
    assert sorted(p.name for p in (tmp_path / "tables").iterdir()) == [
        f"01-leaderboard-1.{ending}",
        "01-leaderboard.txt",
    ]


def test_ties_and_measures_are_in_the_signature(demo: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    run(
        "--qrels",
        demo / "qrels.txt",
        demo / "runs",
        "-m",
        "P@5",
        "--ties",
        "average",
        "--sections",
        "method",
        "-o",
        out,
    )
    assert "P@5|ties:average" in out.read_text()


@pytest.mark.parametrize("ties", ["rank", "file", "docid-asc"])
def test_every_order_of_ties_is_taken(demo: Path, tmp_path: Path, ties: str) -> None:
    out = tmp_path / "r.html"
    run("--qrels", demo / "qrels.txt", demo / "runs", "--ties", ties, "--sections", "method", "-o", out, "--quiet")
    assert f"|ties:{ties}|" in out.read_text()


def test_groups_leave_the_pool_together(demo: Path, tmp_path: Path) -> None:
    words = ("--qrels", demo / "qrels.txt", demo / "runs", "-m", "AP", "--sections", "pool", "--quiet")
    run(*words, "-o", tmp_path / "a.html")
    run(*words, "-o", tmp_path / "b.html", "--info", demo / "runs.csv")
    assert "Leave one run out, AP" in (tmp_path / "a.html").read_text()
    assert "Leave one group out, AP" in (tmp_path / "b.html").read_text()


def test_lenient_reading_drops_bad_lines_and_says_so(demo: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for path in sorted((demo / "runs").iterdir())[:3]:
        (runs / path.name).write_text(path.read_text())
    first = runs / sorted(p.name for p in runs.iterdir())[0]
    first.write_text(first.read_text() + "not a run line\n")
    words = ("--qrels", demo / "qrels.txt", runs, "--sections", "files", "-o", tmp_path / "r.html", "--quiet")
    with pytest.raises(AssayError, match=first.name):
        run(*words)
    assert not (tmp_path / "r.html").exists()
    run(*words, "--lenient")
    assert "bad line left out" in (tmp_path / "r.html").read_text()


def test_what_goes_wrong_is_an_error_and_leaves_no_file(demo: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    with pytest.raises(UsageError, match="nothing to report on"):
        run("-o", out)
    with pytest.raises(UsageError, match="no section 'leaderbord'"):
        run(demo / "scores.csv", "--sections", "leaderbord", "-o", out)
    with pytest.raises(UsageError, match="'pool' needs run files"):
        run(demo / "scores.csv", "--sections", "pool", "-o", out)
    with pytest.raises(UsageError, match="no run 'nobody'"):
        run(demo / "scores.csv", "--baseline", "nobody", "-o", out)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        run(demo / "scores.csv", "--format", "csv", "-o", tmp_path / "file")
    with pytest.raises(UsageError, match="is a folder; name a file"):
        run(demo / "scores.csv", "-o", tmp_path)
    with pytest.raises(UsageError, match=r"make the folder .* first"):
        run(demo / "scores.csv", "-o", tmp_path / "no" / "r.html")
    assert not out.exists()


def test_an_error_is_one_line_and_exit_code_2(demo: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "assay.cli.main", "report", str(tmp_path / "no.csv"), "-o", str(tmp_path / "r.html")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_commands_draw_with_figure(demo: Path, tmp_path: Path, ending: str) -> None:
    from assay.cli.compare import command as compare

    out = tmp_path / f"board.{ending}"
    words = [str(demo / "scores.csv"), "-m", "AP", "--figure", str(out)]
    done = CliRunner().invoke(compare, words, catch_exceptions=False)
    assert done.exit_code == 0
    assert "intervals" in out.read_text()
