"""`assay topic` as a person calls it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.test_options import in_terminal
from tests.hostile.calls import call


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("topic")
    (folder / "qrels.txt").write_text("301 0 a 2\n301 0 b 0\n302 0 a 1\n")
    (folder / "one.run").write_text("301 Q0 a 1 3 one\n301 Q0 x 2 2 one\n301 Q0 b 3 1 one\n")
    (folder / "two.run").write_text("301 Q0 b 1 3 two\n301 Q0 a 2 2 two\n302 Q0 a 1 1 two\n")
    (folder / "topics.txt").write_text(
        "<top><num> Number: 301\n<title> organised crime\n<desc> Description: gangs\n</top>"
    )
    (folder / "docs.tsv").write_text("a\tabout \x1b[31mcrime\nb\t<script>alert(1)</script>\nx\t" + "word " * 100 + "\n")
    return folder


def words(files: Path, *more: str) -> list[str]:
    return ["topic", "301", "--qrels", str(files / "qrels.txt"), str(files / "one.run"), str(files / "two.run"), *more]


def test_every_format(files: Path) -> None:
    texts = ["--topics", str(files / "topics.txt"), "--docs", str(files / "docs.tsv")]
    text = call(words(files, *texts)).out
    assert text.startswith("topic 301: organised crime\n")
    assert "\x1b" not in text
    assert "\\x1b[31mcrime" in text
    assert "RBO of the two lists" in text
    rows = list(csv.DictReader(io.StringIO(call(words(files, *texts, "--format", "csv")).out)))
    assert [(row["run"], row["doc"], row["grade"], row["rank_2"]) for row in rows] == [
        ("one", "a", "2", "2"),
        ("one", "x", "", ""),
        ("one", "b", "0", "1"),
        ("two", "b", "0", "1"),
        ("two", "a", "2", "2"),
    ]
    record = json.loads(call(words(files, *texts, "--format", "json")).out)
    assert record["query"] == {"title": "organised crime", "description": "gangs"}
    assert len(record["runs"][0]["docs"][1]["text"]) == 500
    page = call(words(files, *texts, "--format", "html")).out
    assert page.startswith('<!doctype html><meta charset="utf-8">')
    assert "<script" not in page
    assert "\\<script>" in call(words(files, *texts, "--format", "markdown")).out


def test_measures_depth_and_characters(files: Path) -> None:
    text = call(
        words(files, "-m", "P@2 RR", "--depth", "1", "--docs", str(files / "docs.tsv"), "--characters", "5")
    ).out
    assert "P@2" in text
    assert "judged of 1" in text
    assert "about…" in text
    assert "  x  " not in text


@pytest.mark.parametrize("columns", [60, 100])
def test_lists_fit_the_terminal(files: Path, columns: int) -> None:
    lines = in_terminal(columns, *words(files, "--docs", str(files / "docs.tsv")))
    assert max(map(len, lines)) <= columns


@pytest.mark.parametrize(
    ("topic", "more", "message"),
    [
        ("303", [], "no topic '303' in the judgments and runs; did you mean 302, 301?"),
        ("301", ["--characters", "5"], "--characters cuts the texts of --docs"),
        ("301", ["--docs", "docs.tsv", "--characters", "5", "--format", "csv"], "CSV and JSON have them whole"),
        ("302", ["--topics", "topics.txt"], "the topics have no text of topic '302'"),
        ("302", ["--docs", "topics.txt"], "topics.txt is topics; give docs with --docs"),
        ("301", ["-m", "nonsense"], "nonsense"),
        ("301", ["--docs", "missing.tsv"], "missing.tsv: No such file"),
    ],
)
def test_bad_calls_are_one_line(files: Path, topic: str, more: list[str], message: str) -> None:
    asked = [str(files / word) if "." in word else word for word in more]
    given = words(files)
    outcome = call(["topic", topic, *given[2:], *asked])
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_a_topic_that_one_run_lacks(files: Path) -> None:
    outcome = call(["topic", "302", *words(files)[2:]])
    assert outcome.code == 0
    assert "one returns nothing for this topic" in outcome.out
