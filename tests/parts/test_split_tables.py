"""Tables are split into whole topics, and the parts have the scores of the whole; what is wrong is one clear line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

from assay import DataError, Scores, evaluate
from assay.cli.main import main
from assay.parts import part_of, score_parts, split_runs, splitting, table_splitting
from tests.parts.drawn_runs import drawn_judgments, drawn_lines, written
from tests.parts.test_large_tables import WRITERS, broken, frame_of

MEASURES = "AP nDCG@10 P@5 NumRel"
TOPICS = 60
PARTS = 5


@pytest.fixture
def qrels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgments, where blocks have a few lines."""
    monkeypatch.setattr(splitting, "TABLE_BLOCK", 700)
    monkeypatch.setattr(splitting, "HEAD", 512)
    monkeypatch.setattr(table_splitting, "ROWS", 90)
    return written(tmp_path / "qrels.txt", drawn_judgments(TOPICS, 1))


def assert_same(folder: Path, qrels: Path, whole: Scores) -> None:
    """The means of the parts are those of the whole, with the judgments as one file and as parts."""
    by_parts = score_parts(folder, folder / "qrels", MEASURES)
    for found in (score_parts(folder, qrels, MEASURES), by_parts):
        assert sorted(found.runs) == sorted(whole.runs)
        for run in whole.runs:
            of_run = evaluate_means(whole, run)
            assert found.averages(run) == pytest.approx(of_run, rel=1e-12)


def evaluate_means(whole: Scores, run: str) -> list[float]:
    return [float(matrix.averages()[matrix.runs.index(run)]) for matrix in whole]


@pytest.mark.parametrize("form", WRITERS)
def test_a_table_becomes_parts_of_whole_topics(qrels: Path, form: str) -> None:
    path = qrels.parent / f"bm25.{form}"
    scattered = frame_of(drawn_lines(TOPICS, 1)).sort("rank", maintain_order=True)
    WRITERS[form](scattered, path)
    done = split_runs([path], PARTS, qrels.parent / "parts", qrels=qrels)
    assert done.lines == (len(scattered),)
    rows = 0
    for number, part in enumerate(sorted((qrels.parent / "parts" / "run=bm25").iterdir())):
        table = polars.read_csv(part)
        rows += len(table)
        assert {part_of(topic, PARTS) for topic in table["topic"]} <= {number}
        own = scattered.filter(polars.col("topic").is_in(table["topic"].unique().to_list()))
        assert table.rows() == own.rows()  # the lines of a part are in the order of the file
    assert rows == len(scattered)
    assert_same(qrels.parent / "parts", qrels, evaluate(path, qrels, MEASURES))


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_a_table_with_many_runs_and_judgments_that_are_a_table(qrels: Path, form: str) -> None:
    frames = [frame_of(drawn_lines(TOPICS, seed), run=f"run/{seed}") for seed in (1, 2, 3)]
    path = qrels.parent / f"runs.{form}"
    WRITERS[form](polars.concat(frames).sort("topic", "rank"), path)
    cells = [line.split() for line in qrels.read_text().splitlines()]
    judged = polars.DataFrame(
        {"topic": [c[0] for c in cells], "doc": [c[2] for c in cells], "grade": [int(c[3]) for c in cells]}
    )
    table = qrels.parent / f"judgments.{form}"
    WRITERS[form](judged, table)
    done = split_runs([path], PARTS, qrels.parent / "parts", qrels=table)
    assert tuple(sorted(done.split.runs)) == ("run/1", "run/2", "run/3")
    assert (done.judgments, done.split.top_grade) == (len(cells), 3.0)
    assert_same(qrels.parent / "parts", table, evaluate(path, qrels, MEASURES))


def test_scores_keep_their_bits_and_ids_their_letters(qrels: Path) -> None:
    frame = frame_of(drawn_lines(TOPICS, 1)).select(
        topic=polars.col("topic").str.slice(1).cast(polars.Int32),
        doc=polars.col("doc") + ', "the one"',
        score=(polars.col("score") / 7).cast(polars.Float32),
    )
    path = qrels.parent / "bm25.parquet"
    frame.write_parquet(path)
    split_runs([path], 1, qrels.parent / "parts")
    [part] = (qrels.parent / "parts" / "run=bm25").iterdir()
    read = polars.read_csv(part)
    assert read["score"].to_list() == frame["score"].to_list()
    assert read["doc"].to_list() == frame["doc"].to_list()
    assert read["topic"].to_list() == frame["topic"].to_list()


@pytest.fixture
def failure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs `assay split` on a file that it refuses, and gives the line that it prints."""

    def run(path: Path) -> str:
        folder = path.parent / "parts"
        words = ["split", path, "--parts", PARTS, "-o", folder]
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert sorted(found.name for found in path.parent.iterdir()) == sorted({path.name, "qrels.txt"})
        [line] = capsys.readouterr().err.splitlines()
        return line

    return run


def test_what_is_wrong_is_one_line_and_nothing_is_written(qrels: Path, failure: Any) -> None:
    frame = frame_of(drawn_lines(TOPICS, 1))
    row = len(frame) - 3
    wrong: dict[str, polars.DataFrame] = {
        "the topic or the doc is empty": broken(frame, row, "doc", None),
        "the topic or the doc is empty;": broken(frame, row, "topic", ""),
        "score is not a number: 'nan'": broken(frame, row, "score", float("nan")).with_columns(rank=1),
    }
    path = qrels.parent / "bm25.parquet"
    for what, table in wrong.items():
        table.write_parquet(path)
        line = failure(path)
        assert f"{path}:{row + 1}: {what}" in line.lower()
    frame.with_columns(doc=polars.col("rank") / 2).write_parquet(path)
    assert "the column of the doc holds neither texts nor whole numbers (Float64)" in failure(path)
    frame.drop("score", "rank").write_parquet(path)
    assert "no column 'score'" in failure(path)
    frame.with_columns(name=polars.col("doc")).write_parquet(path)
    assert "the column 'name' may name the runs or the docs" in failure(path)
    frame.write_parquet(path)
    path.write_bytes(path.read_bytes()[:-400])
    assert f"{path}: not a Parquet file" in failure(path)
    path.unlink()


def test_text_that_cannot_be_split_is_one_line(qrels: Path, failure: Any) -> None:
    frame = frame_of(drawn_lines(TOPICS, 1))
    row = len(frame) - 3
    path = qrels.parent / "bm25.csv"
    broken(frame, row, "doc", None).write_csv(path)
    assert f"{path}:{row + 2}: the topic or the doc is empty" in failure(path)
    frame.with_columns(note=polars.lit("two\nlines")).write_csv(path)
    assert "a cell goes over several lines" in failure(path)
    path.unlink()
    nested = qrels.parent / "bm25.json"
    nested.write_text('{"q1": {\n"d1": 2.5,\n' + ",\n".join(f'"e{n}": 1.5' for n in range(2000)) + "}}")
    assert "can be split; convert it first" in failure(nested)


def test_judgments_are_no_run(tmp_path: Path) -> None:
    judgments = written(tmp_path / "judgments.txt", ["301 0 d1 1\n", "301 0 d2 0\n"])
    with pytest.raises(DataError, match=r"is judgments; give a run here"):
        split_runs([judgments], 2, tmp_path / "parts")
