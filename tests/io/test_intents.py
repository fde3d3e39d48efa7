"""Diversity files in and out, and what is said of bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.io.intents import read_intent_qrels, read_intents, write_intent_qrels


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("level", ["", "L"])
def test_judgments_of_ndeval_and_of_ntcir(tmp_path: Path, level: str) -> None:
    text = f"1 2 b {level}1\n1 1 a {level}2\n1 0 x {level}0\n\n010 1 ä {level}1\n"
    q = read_intent_qrels(written(tmp_path, "q", text))
    assert q.topics == ("1", "010")
    assert q.intents == (("1", "2"), ("1",))
    assert q.docs.tolist() == ["a", "b", "x", "ä"]
    assert q.grades.tolist() == [[2, 0], [0, 1], [0, 0], [1, 0]]
    assert q.probabilities.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert not q.navigational.any()


def test_probabilities_and_types(tmp_path: Path) -> None:
    intents = written(tmp_path, "i", "1 1 0.6 nav\n1 2 0.3 inf\n1 9 0.1\n")
    q = read_intent_qrels(written(tmp_path, "q", "1 2 b 1\n1 1 a 2\n"), intents=intents)
    assert q.intents == (("1", "2", "9"),)
    assert q.probabilities.tolist() == [[0.6, 0.3, 0.1]]
    assert q.navigational.tolist() == [[True, False, False]]
    assert q.grades.tolist() == [[2, 0, 0], [0, 1, 0]]


def test_an_intent_that_the_file_does_not_name_has_probability_0(tmp_path: Path) -> None:
    q = read_intent_qrels(written(tmp_path, "q", "1 1 a 1\n1 2 a 1\n"), intents=written(tmp_path, "i", "1 1 1.0\n"))
    assert q.probabilities.tolist() == [[1.0, 0.0]]


def test_written_and_read_back(tmp_path: Path) -> None:
    rows = [("1", "1", "a", 2), ("1", "2", "b", 1)]
    write_intent_qrels(tmp_path / "q.gz", rows)
    assert read_intent_qrels(tmp_path / "q.gz").grades.tolist() == [[2, 0], [0, 1]]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("1 1 a 1\n1 1 a 0\n", 2, "judged twice"),
        ("1 1 a\n", 1, "3 fields"),
        ("1 1 a x\n", 1, "grade is not a whole number: 'x'"),
    ],
)
def test_bad_judgments(tmp_path: Path, text: str, line: int, what: str) -> None:
    path = written(tmp_path, "q", text)
    with pytest.raises(DataError, match=f"q:{line}: .*{what}"):
        read_intent_qrels(path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1 1 0.5\n1 1 0.5\n", "i:2: .*twice"),
        ("1 1 2\n", "i:1: probability is not in"),
        ("1 1 nan\n", "i:1: probability is not in"),
        ("1 1 x\n", "i:1: probability is not in"),
        ("1 1 0.5 odd\n", "i:1: no type of intent 'odd'; write inf or nav"),
        ("1 1\n", "i:1: 2 fields"),
        ("1 1 0.8\n1 2 0.8\n", "topic '1' sum to 1.6000"),
    ],
)
def test_bad_intents(tmp_path: Path, text: str, what: str) -> None:
    path = written(tmp_path, "i", text)
    with pytest.raises(DataError, match=what):
        read_intents(path)
