from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.agreement import command
from assay.core.errors import AssayError

LABELS = """topic,doc,worker,label
1,a,w1,0
1,a,w2,10
1,b,w1,80
1,b,w2,90
2,c,w1,50
2,c,w2,20
2,d,w1,70
2,d,w2,90
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text(LABELS)
    (tmp_path / "anna.qrels").write_text("1 0 a 1\n1 0 b 0\n1 0 c 2\n")
    (tmp_path / "ben.qrels").write_text("1 0 a 1\n1 0 b 1\n1 0 c 2\n")
    (tmp_path / "reference.qrels").write_text("1 0 a 0\n1 0 b 1\n2 0 c 0\n2 0 d 1\n")
    (tmp_path / "alone.csv").write_text("topic,doc,worker,label\n1,a,w1,0\n1,b,w2,1\n")
    return tmp_path


def record(*args: str | Path) -> list[dict[str, object]]:
    result = CliRunner().invoke(command, [*map(str, args), "--format", "json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    tables = found if isinstance(found, list) else [found]
    return [row for table in tables for row in table["rows"]]


def test_labels(folder: Path) -> None:
    rows = record(folder / "labels.csv", "--per-topic")
    assert {r["measure"] for r in rows} == {"alpha(level=interval)", "fleiss", "kappa", "kappa(weighting=quadratic)"}
    assert {r["topic"] for r in rows} == {"all", "1", "2"}


def test_binary_labels_agree_fully(folder: Path) -> None:
    """The lowest relevant label is relevant: from 70 on the labels 70 and 90 of doc d agree, from 71 on they do not."""
    rows = record(folder / "labels.csv", "--rel", "70", "-m", "kappa")
    assert rows[0]["value"] == 1
    counts = record(folder / "labels.csv", "--rel", "70", "--tables")
    assert [r["value"] for r in counts] == ["0", "1", "all"]
    assert [r["1"] for r in counts] == [0, 2, 2]
    assert record(folder / "labels.csv", "--rel", "71", "-m", "kappa")[0]["value"] == 0.5


def test_binary_labels_have_one_alpha(folder: Path) -> None:
    rows = record(folder / "labels.csv", "--rel", "60")
    assert [r["measure"] for r in rows] == ["alpha(level=nominal)", "fleiss", "kappa"]


def test_qrels(folder: Path) -> None:
    rows = record("--qrels", folder / "anna.qrels", folder / "ben.qrels", "-m", "kappa", "-m", "overlap")
    assert rows[0]["value"] == pytest.approx(1 - (1 / 3) / (2 / 3))
    assert rows[1]["value"] == pytest.approx(2 / 3)


def test_reference(folder: Path) -> None:
    rows = record(folder / "labels.csv", "--reference", folder / "reference.qrels", "--per-topic")
    assert [r["value"] for r in rows if r["topic"] == "all"] == pytest.approx([4 / 6, 1])
    assert [r["value"] for r in rows if r["topic"] == "1"] == [1, 1]


def test_phi(folder: Path) -> None:
    rows = record(folder / "labels.csv", "-m", "alpha", "-m", "phi", "--scale", "0-100")
    assert [r["measure"] for r in rows] == ["alpha(level=interval)", "phi"]
    assert rows[0].keys() == rows[1].keys()


def test_files_of_other_shapes_can_be_read(folder: Path) -> None:
    """The same labels as shares of 1, topic and doc in one column, other names, a row without label."""
    wanted = record(folder / "labels.csv", "-m", "alpha")
    lines = [f"{t}_{d},{w},{int(x) / 100}" for t, d, w, x in (line.split(",") for line in LABELS.splitlines()[1:])]
    other = folder / "other.csv"
    other.write_text("\n".join(["item,person,score", *lines, "1_a,w9,"]) + "\n")
    names = ["--column", "doc=item", "--column", "worker=person", "--column", "label=score", "--split", "_"]
    assert record(other, *names, "--times", "100", "--drop-empty", "-m", "alpha") == wanted
    result = CliRunner().invoke(command, [str(other), *names, "--drop-empty"], catch_exceptions=False)
    assert "1 rows without label left out: lines 10" in result.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["alone.csv"], "two assessors"),
        (["labels.csv", "-m", "alfa"], "did you mean alpha"),
        (["labels.csv", "-m", "alpha(level=metric)"], "no level 'metric'"),
        (["labels.csv", "anna.qrels"], "one file of labels"),
        (["--qrels", "anna.qrels"], "two qrels or more"),
        (
            ["--qrels", "anna.qrels", "ben.qrels", "--reference", "reference.qrels"],
            "--qrels goes with --qrels or --tables, not",
        ),
        (
            ["labels.csv", "--reference", "reference.qrels", "-m", "kappa"],
            "--measures goes with labels or --qrels, not",
        ),
        (
            ["labels.csv", "--reference", "reference.qrels", "--rel", "5"],
            "--rel goes with labels or --qrels or --tables, not",
        ),
        (
            ["--qrels", "anna.qrels", "ben.qrels", "--where", "a=b"],
            "--where goes with labels or --reference or --tables, not",
        ),
        (["labels.csv", "--column", "label"], "--column 'label' is not of the form name=value"),
        (["labels.csv", "--where", "topic="], "--where 'topic=' is not of the form name=value"),
        (["--qrels", "anna.qrels", "ben.qrels", "--split", "_"], "--split goes with labels or --reference"),
        (["labels.csv", "--rel", "nan"], "the lowest relevant label is a number"),
        (["labels.csv", "--scale", "0-50"], "label 80 is not on the scale 0-50"),
        (["labels.csv", "-m", "phi"], "phi needs the two ends of the scale"),
        (["labels.csv", "--tables", "-m", "kappa"], "--measures goes with labels or --qrels, not with --tables"),
        (["labels.csv", "--tables", "--level", "0.9"], "--level goes with labels or --qrels or --reference, not"),
        (["--qrels", "anna.qrels", "ben.qrels", "--tables", "--topic", "1"], "--topic goes with labels or --reference"),
        (["labels.csv", "--column", "label=a", "--column", "label=b"], "--column label is given twice; give it once"),
        (["labels.csv", "--rel", "1", "--rel", "2"], "--rel is given twice; give it once"),
    ],
)
def test_bad_input_is_one_clear_error(folder: Path, args: list[str], message: str) -> None:
    paths = [str(folder / a) if (folder / a).is_file() else a for a in args]
    with pytest.raises(AssayError, match=message):
        CliRunner().invoke(command, paths, catch_exceptions=False)


def test_a_spreadsheet_is_one_table(folder: Path) -> None:
    for options in (["--per-topic"], ["--tables"], ["--scale", "0-100", "-m", "phi", "-m", "alpha"]):
        done = CliRunner().invoke(command, [str(folder / "labels.csv"), *options, "--format", "csv"])
        assert done.exit_code == 0, done.output
        lines = done.stdout.splitlines()
        assert len({line.count(",") for line in lines}) == 1
        assert lines[0].isascii()


def test_help_names_every_measure() -> None:
    shown = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert "One of: alpha, fleiss, kappa, overlap, phi;" in shown
