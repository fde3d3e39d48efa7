"""NTCIR files in, and what is said of bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.io.ntcir import read_rel, read_res, read_units


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_judgments_of_many_topics(tmp_path: Path) -> None:
    path = written(tmp_path, "q.txt", "010 a L2\n\n# a remark\n10 a L0\r\n010\tb\tL1\n")
    assert read_rel(path).to_dict() == {"010": {"a": 2, "b": 1}, "10": {"a": 0}}


def test_judgments_of_one_topic(tmp_path: Path) -> None:
    path = written(tmp_path, "0001.rel", "a L3\nb 0\n")
    assert read_rel(path).to_dict() == {"0001": {"a": 3, "b": 0}}
    assert read_rel(path, topic="x").topics == ("x",)


def test_rankings(tmp_path: Path) -> None:
    res = read_res(written(tmp_path, "0001.run.res", "c\na\nb\n"))
    lab = read_res(written(tmp_path, "0001.run.lab", "c L1\na\nb L0\n"), topic="7")
    assert res.ranking("0001") == ["c", "a", "b"]
    assert lab.ranking("7") == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("1 a L1\n1 a L0\n", 2, "judged twice"),
        ("1 a high\n", 1, "grade is not a whole number: 'high'"),
        ("1 a L1.5\n", 1, "grade is not a whole number"),
        ("1 0 a 1\n", 1, "4 fields"),
        ("lonely\n", 1, "1 fields"),
    ],
)
def test_bad_judgments(tmp_path: Path, text: str, line: int, what: str) -> None:
    path = written(tmp_path, "q.rel", text)
    with pytest.raises(DataError, match=f"q.rel:{line}: .*{what}"):
        read_rel(path)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [("a\nb\na\n", 3, "stands in line 1 too"), ("a L1 x\n", 1, "3 fields"), ("a 0.5\n", 1, "grade is not")],
)
def test_bad_rankings(tmp_path: Path, text: str, line: int, what: str) -> None:
    path = written(tmp_path, "t.lab", text)
    with pytest.raises(DataError, match=f"t.lab:{line}: .*{what}"):
        read_res(path)


def test_units(tmp_path: Path) -> None:
    nuggets = written(tmp_path, "n", "t1 N1 3 10\nt1 N2 1 5\nt2 N1 2 2\n")
    answers = written(tmp_path, "a", "t1 syslen= 500\nt1 N2 50\n")
    units = read_units(nuggets, answers)
    assert (units["t1"].weights, units["t1"].lengths) == ([3.0, 1.0], [10, 5])
    assert (dict(units["t1"].matched), units["t1"].length) == ({1: 50.0}, 500)
    assert (dict(units["t2"].matched), units["t2"].length) == ({}, 0)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("t1 N9 50\n", "not among"),
        ("t1 N1 5\nt1 N1 6\n", "matched twice"),
        ("t1 N1 soon\n", "not a number: 'soon'"),
        ("t1 N1\n", "2 fields"),
    ],
)
def test_bad_answers(tmp_path: Path, text: str, what: str) -> None:
    nuggets = written(tmp_path, "n", "t1 N1 3 10\n")
    with pytest.raises(DataError, match=what):
        read_units(nuggets, written(tmp_path, "a", text))


def test_bad_nuggets(tmp_path: Path) -> None:
    answers = written(tmp_path, "a", "")
    with pytest.raises(DataError, match=r"n:1: 3 fields"):
        read_units(written(tmp_path, "n", "t1 N1 3\n"), answers)
