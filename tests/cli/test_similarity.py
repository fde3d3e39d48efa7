from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.similarity import command
from assay.core.errors import AssayError

RUNS = {
    "a.run": {"1": "abcd", "2": "xyz"},
    "b.run": {"1": "abdc", "2": "zxu"},
    "c.run": {"1": "dcba", "2": "uvw"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, topics in RUNS.items():
        lines = [f"{t} Q0 {doc} {i + 1} {10 - i} {name[0]}" for t, docs in topics.items() for i, doc in enumerate(docs)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    (tmp_path / "ap.csv").write_text("AP,1,2,3\nr1,.1,.2,.3\nr2,.3,.4,.2\nr3,.5,.6,.9\n")
    (tmp_path / "p10.csv").write_text("P@10,1,2,3\nr1,.1,.1,.1\nr2,.5,.4,.2\nr3,.3,.3,.1\n")
    (tmp_path / "one.csv").write_text("RR,1\nr1,.1\nr2,.3\nr3,.2\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 1\n1 0 c 0\n2 0 x 1\n2 0 z 1\n")
    return tmp_path


def run(*args: str | Path) -> str:
    result = CliRunner().invoke(command, [str(a) for a in args], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def record(*args: str | Path) -> list[dict[str, object]]:
    found = json.loads(run(*args, "--format", "json"))
    tables = found if isinstance(found, list) else [found]
    return [row for table in tables for row in table["rows"]]


def test_two_runs(folder: Path) -> None:
    row = record(folder / "a.run", folder / "b.run", "-m", "overlap")[0]
    assert row["topics"] == 2
    assert row["overlap"] == pytest.approx((1 + 2 / 3) / 2)
    assert row["rbo_min"] < row["rbo"] < row["rbo_max"]  # type: ignore[operator]
    shown = run(folder / "a.run", folder / "b.run")
    assert "EXT [MIN – MAX]" in shown
    assert "most different: 2 (" in shown
    assert run("runs", folder / "a.run", folder / "b.run") == shown


def test_two_runs_topic_by_topic(folder: Path) -> None:
    rows = record("topics", folder / "a.run", folder / "b.run", "-m", "overlap")
    assert [r["topic"] for r in rows] == ["2", "1"]
    assert [r["overlap"] for r in rows] == pytest.approx([2 / 3, 1])
    assert len(record("topics", folder / "a.run", folder / "b.run", "--most", "1")) == 1


def test_many_runs_as_a_matrix_and_as_pairs(folder: Path) -> None:
    runs = [folder / n for n in RUNS]
    assert record(*runs)[0]["a"] == pytest.approx(1)
    pairs = record(*runs, "--pairs", "-m", "overlap(k=3)")
    assert len(pairs) == 3
    assert {(p["run"], p["other"]) for p in pairs} == {("a", "b"), ("a", "c"), ("b", "c")}


def test_p_chosen_from_depth_and_weight(folder: Path) -> None:
    result = CliRunner().invoke(
        command, [str(folder / "a.run"), str(folder / "b.run"), "--carry", "13", ".75"], catch_exceptions=False
    )
    assert "p = 0.9493" in result.stderr
    assert "p = 0.949" in result.stdout


def test_sweep_series_preferences(folder: Path) -> None:
    a, b, c = (folder / n for n in RUNS)
    assert [r["p"] for r in record("sweep", a, b, "--at", ".5, .9")] == [0.5, 0.9]
    assert record("series", a, b, c)[0]["largest_change"] == "b → c"
    assert [r["next"] for r in record("series", a, b, c, "--steps")] == ["b", "c"]
    both = record("preferences", a, b, "--preferences", "both")
    assert both[0]["similarity"] == pytest.approx((5 / 7 + 0 / 6) / 2)
    # On topic 2 xyz and zxu both say x ≻ y, x ≻ u and z ≻ u, of nine in all.
    assert record("preferences", a, b)[0]["similarity"] == pytest.approx((5 / 7 + 3 / 9) / 2)
    relevant = record("preferences", a, b, "--qrels", folder / "qrels", "--among", "relevant")
    assert relevant[0]["similarity"] == pytest.approx(0.5)
    assert {r["run"] for r in record("preferences", a, b, c, "--qrels", folder / "qrels")} == {"a", "b", "c"}
    with_ap = run("preferences", a, b, c, "--qrels", folder / "qrels")
    assert "mean AP" in with_ap
    assert "similarity against mean AP, 3 runs: pearson" in with_ap


def test_scores(folder: Path) -> None:
    two = [folder / "ap.csv", folder / "p10.csv"]
    rows = record("scores", *two, "-m", "tau-b", "-m", "error-rate", "-B", "50")
    assert rows[0]["value"] == pytest.approx(1 / 3)
    assert rows[1]["value"] == pytest.approx(1 / 3)
    assert record("d-rank", *two, "-B", "50")[0]["d_rank"] > 0  # type: ignore[operator]


def test_one_topic_has_no_interval(folder: Path) -> None:
    row = record("scores", folder / "ap.csv", folder / "one.csv", "-m", "tau-b", "-B", "50")[0]
    assert row == {"measure": "tau-b", "value": pytest.approx(1 / 3), "low": None, "high": None}


@pytest.mark.parametrize(
    "args",
    [
        ["a.run", "b.run"], ["a.run", "b.run", "c.run"], ["a.run", "b.run", "c.run", "-m", "overlap", "-m", "rbo"],
        ["topics", "a.run", "b.run"], ["sweep", "a.run", "b.run", "--at", ".5 .9"], ["series", "a.run", "b.run"],
        ["preferences", "a.run", "b.run", "--qrels", "qrels"], ["scores", "ap.csv", "p10.csv", "one.csv", "-B", "9"],
        ["d-rank", "ap.csv", "p10.csv", "-B", "9"], ["list"],
    ],
)  # fmt: skip
def test_every_question_is_one_table_of_csv(folder: Path, args: list[str]) -> None:
    paths = [str(folder / a) if (folder / a).is_file() else a for a in args]
    rows = list(csv.reader(io.StringIO(run(*paths, "--format", "csv"))))
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1


def test_a_similarity_without_a_value_is_a_dash_with_a_reason(folder: Path) -> None:
    runs = [folder / n for n in RUNS]
    two = run(runs[0], runs[1], "-m", "gamma-top-k(k=1)")  # topic 1: a and a order no pair
    assert "gamma-top-k(k=1): undefined on 1 topics" in two
    many = record(*runs, "-m", "gamma-top-k(k=1)")
    assert [many[0][n] for n in "abc"] == [None, -1, -1]
    assert "–: no topic in common" in run(*runs, "-m", "gamma-top-k(k=1)")


def test_a_run_without_common_topics_is_a_row_of_dashes(folder: Path) -> None:
    (folder / "d.run").write_text("9 Q0 q 1 1 d\n")
    rows = record(*(folder / n for n in RUNS), folder / "d.run")
    assert [rows[3][n] for n in "abc"] == [None] * 3


def test_list_and_output_file(folder: Path) -> None:
    assert "average-overlap" in run("list")
    out = folder / "out.csv"
    run(folder / "a.run", folder / "b.run", "--format", "csv", "-o", out)
    assert out.read_text().startswith("runs,")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["runs"], "two run files"),
        (["a.run"], "two runs or more"),
        (["a.run", "b.run", "--p", "1"], "strictly between 0 and 1"),
        (["a.run", "b.run", "--p", ".8", "--p", ".9"], "--p is given twice"),
        (["a.run", "b.run", "--carry", "10", "2"], "between 0 and 1"),
        (["a.run", "b.run", "--carry", "10", ".8", "--p", ".5"], "give it or --p, not both"),
        (["a.run", "b.run", "-m", "overlapp"], "did you mean overlap"),
        (["sweep", "a.run", "b.run", "--at", "x"], "write numbers"),
        (["a.run", "b.run", "c.run", "--ties", "b"], "--ties goes with two runs, not with three runs or more"),
        (["a.run", "b.run", "c.run", "--p", ".8", "-m", "overlap"], "--p has no effect on overlap"),
        (["depths", "a.run", "b.run", "c.run"], "depths compares two runs, and there are 3"),
        (["topics", "a.run", "b.run", "c.run"], "topics compares two runs, and there are 3"),
        (["a.run", "b.run", "--pairs"], "--pairs goes with three runs or more"),
        (["a.run", "b.run", "--by-depth"], "give --figure FILE as well"),
        (["d-rank", "one.csv", "ap.csv"], "two topics or more"),
        (["preferences", "a.run", "b.run", "--among", "relevant"], "need qrels"),
        (["series", "a.run", "b.run", "--window", "3"], "window 3"),
        (["scores"], "two score tables"),
        (["scores", "ap.csv"], "one measure only"),
        (["scores", "ap.csv", "p10.csv", "-m", "taub"], "did you mean"),
    ],
)
def test_bad_input_is_one_clear_error(folder: Path, args: list[str], message: str) -> None:
    paths = [str(folder / a) if (folder / a).is_file() else a for a in args]
    with pytest.raises(AssayError, match=message):
        CliRunner().invoke(command, paths, catch_exceptions=False)


@pytest.mark.parametrize(
    "args",
    [["a.run", "b.run", "--window", "2"], ["a.run", "b.run", "--qrels", "qrels"], ["a.run", "b.run", "--sweep", ".5"],
     ["sweep", "a.run", "b.run", "--at", ".5", "-m", "overlap"], ["scores", "ap.csv", "p10.csv", "--p", ".8"]],
)  # fmt: skip
def test_an_option_of_another_question_is_refused(folder: Path, args: list[str]) -> None:
    paths = [str(folder / a) if (folder / a).is_file() else a for a in args]
    result = CliRunner().invoke(command, paths)
    assert result.exit_code == 2
    assert "No such option" in result.output


def test_help_names_what_is_registered() -> None:
    assert "bar-ilan" in run("runs", "--help")
    assert "tau-ap" in run("scores", "--help")
    assert "d-rank" in run("--help")


def test_through_the_command_line(folder: Path) -> None:
    args = [sys.executable, "-m", "assay.cli.main", "similarity", str(folder / "a.run"), "--p", "7"]
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("assay: ")
    assert done.stderr.count("\n") == 1
