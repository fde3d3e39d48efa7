"""The quick check finds what the check line by line finds, word for word."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest

from assay.check import check_run
from assay.core.errors import DataError
from assay.data import Qrels
from assay.data.aligned import match
from assay.io import read_qrels, read_run, write_run
from assay.report.oddities import odd_in_run
from tests.conftest import real_data
from tests.hostile.calls import call
from tests.report.zoo import collection

LINES = ["1 Q0 a 1 5 t", "1 Q0 b 2 4 t", "1 Q0 c 3 4 t", "2 Q0 a 1 3 t", "2 Q0 b 2 2.5 t"]
QRELS = Qrels.from_dict({"1": {"a": 1}, "3": {"x": 1}})


@pytest.mark.parametrize(
    "lines",
    [
        LINES,
        [*LINES[:2], "1 Q0 c 9 3 t", *LINES[3:]],
        ["1 Q0 a 1 1 t", "1 Q0 b 2 4.50 t", "1 Q0 c 3 9 t"],
        [f"1 Q0 d{i} {2 * i} {20 - i} t" for i in range(12)],
        [LINES[0], LINES[3], LINES[1], LINES[4], LINES[2]],
        [*LINES, ""],
        [*LINES, "1 Q0 z"],
        [*LINES, "2 Q0 z 3 inf t"],
        [*LINES, "2 Q0 z three 1 t"],
        ["# a comment", *LINES],
        [LINES[0] + "\r", LINES[1] + "\r"],
        ["1 Q0 a 1 1 t", "1 Q0 a 2 0 t"],
    ],
)
def test_findings_are_those_of_the_check_line_by_line(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "a.run"
    for end in ("", "\n"):
        path.write_bytes(("\n".join(lines) + end).encode())
        try:
            joined = match(read_run(path, ranks=True), QRELS)
        except DataError:
            continue  # such a file is in no report
        assert odd_in_run(path, joined) == check_run(path, QRELS)


def test_simulated_runs(tmp_path: Path) -> None:
    for run in collection().runs[:4]:
        write_run(tmp_path / run.name, run)
        joined = match(read_run(tmp_path / run.name, ranks=True), collection().qrels)
        assert odd_in_run(tmp_path / run.name, joined) == check_run(tmp_path / run.name, collection().qrels)


def test_runs_of_trec_covid_round_1(tmp_path: Path) -> None:
    import tarfile

    folder = real_data("trec-covid-round1")
    qrels = read_qrels(folder / "qrels.txt")
    with tarfile.open(folder / "runs.tar.xz", mode="r|xz") as archive:  # a stream, so that the rest stays packed
        for member in islice((m for m in archive if m.isfile()), 4):
            archive.extract(member, tmp_path, filter="data")
            path = tmp_path / member.name
            assert odd_in_run(path, match(read_run(path, ranks=True), qrels)) == check_run(path, qrels)


def test_a_report_opens_every_run_once(tmp_path: Path) -> None:
    """Also where ranks are out of order, so that lines are named."""
    lines = {
        "plain": LINES,
        "skips": [*LINES[:2], "1 Q0 c 9 3 t", *LINES[3:]],
        "rises": ["1 Q0 a 1 1 t", "1 Q0 b 2 4 t"],
    }
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    (tmp_path / "runs").mkdir()
    for name, text in lines.items():
        (tmp_path / "runs" / name).write_text("\n".join(text) + "\n")
    opened = opened_files(f"report --qrels {tmp_path}/qrels.txt {tmp_path}/runs -o {tmp_path}/o.html --jobs 1".split())
    assert {name: opened.count(f"{tmp_path}/runs/{name}") for name in lines} == dict.fromkeys(lines, 1)


def test_scores_and_their_bounds_open_every_run_once(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    for name in "ab":
        (tmp_path / f"{name}.run").write_text("\n".join(LINES) + "\n")
    runs = [f"{tmp_path}/a.run", f"{tmp_path}/b.run"]
    words = ["score", "--qrels", f"{tmp_path}/qrels.txt", *runs, "--bounds", "--per-topic", "--jobs", "1"]
    opened = opened_files(words)
    assert [opened.count(run) for run in runs] == [1, 1]


WATCHED: list[list[str]] = []
"""Where the names of opened files go while somebody looks."""


def watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and WATCHED:
        WATCHED[-1].append(str(arguments[0]))


sys.addaudithook(watch)


def opened_files(words: list[str]) -> list[str]:
    """The names of all files that a command opens."""
    WATCHED.append([])
    outcome = call(words)
    assert outcome.code == 0, outcome.err
    return WATCHED.pop()
