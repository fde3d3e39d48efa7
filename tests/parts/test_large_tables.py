"""A table of runs that is scored in pieces has the scores of the whole, bit for bit; a bad one is one clear line."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars
import pytest
from click.testing import CliRunner

from assay import DataError, evaluate
from assay.cli.main import main
from assay.cli.score import command as score
from assay.io import large_files, row_cuts, topic_cuts
from assay.parts import score_parts
from assay.scoring import streamed_runs
from tests.parts.drawn_runs import drawn_judgments, drawn_lines, written

MEASURES = "AP nDCG@10 P@5 RR ERR NumRel Q"
TOPICS = 60


def frame_of(lines: list[str], **more: Any) -> polars.DataFrame:
    """The lines of a TREC run as a table."""
    cells = [line.split() for line in lines]
    columns: dict[str, Any] = {
        "topic": [row[0] for row in cells],
        "doc": [row[2] for row in cells],
        "rank": [int(row[3]) for row in cells],
        "score": [float(row[4]) for row in cells],
    }
    return polars.DataFrame(columns | more)


def in_groups(frame: polars.DataFrame, path: Path) -> None:
    """Parquet with row groups of a few rows, which end within topics."""
    frame.write_parquet(path, row_group_size=37)


def as_packed(frame: polars.DataFrame, path: Path) -> None:
    path.write_bytes(gzip.compress(frame.write_csv().encode()))


WRITERS: dict[str, Callable[[polars.DataFrame, Path], object]] = {
    "parquet": in_groups,
    "arrow": lambda frame, path: frame.write_ipc(path),
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "csv.gz": as_packed,
}


@pytest.fixture
def files(tmp_path: Path) -> SimpleNamespace:
    qrels = written(tmp_path / "qrels.txt", drawn_judgments(TOPICS, 1))
    return SimpleNamespace(qrels=qrels, folder=tmp_path, frame=frame_of(drawn_lines(TOPICS, 1)))


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes every table large, and pieces of a few topics; too large to be held, unless the limit is given."""

    def small_pieces(held_below: int = 64) -> None:
        monkeypatch.setattr(large_files, "LARGE_TABLE", 64)
        monkeypatch.setattr(large_files, "TABLE_PIECE", 900)
        monkeypatch.setattr(row_cuts, "PIECE_ROWS", 70)
        monkeypatch.setattr(row_cuts, "WINDOW_ROWS", 4)
        for module in (large_files, streamed_runs):
            monkeypatch.setattr(module, "LARGE_COMPRESSED", held_below)
        monkeypatch.setattr(large_files, "LARGE_FILE", held_below)

    return small_pieces


@pytest.fixture
def failure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that fails as a person sees it: exit code 2 and one line, which it gives."""

    def run(*words: object) -> str:
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        [line] = printed.err.splitlines()
        return line

    return run


def bits(scores: Any) -> list[object]:
    return [(matrix.values.tobytes(), matrix.runs, matrix.topics, matrix.signature) for matrix in scores]


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("missing", ["zero", "drop"])
def test_pieces_have_the_bits_of_the_whole(files: SimpleNamespace, form: str, missing: str, cut: Any) -> None:
    path = files.folder / f"bm25.{form}"
    WRITERS[form](files.frame, path)
    whole = evaluate(path, files.qrels, MEASURES, missing=missing)
    cut()
    large = large_files.large_file(path)
    assert large is not None
    assert len(list(large.pieces())) > 8
    assert bits(evaluate(path, files.qrels, MEASURES, missing=missing)) == bits(whole)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_jobs_change_nothing(files: SimpleNamespace, form: str, cut: Any) -> None:
    path = files.folder / f"bm25.{form}"
    WRITERS[form](files.frame, path)
    whole = evaluate(path, files.qrels, MEASURES)
    cut()
    assert bits(evaluate(path, files.qrels, MEASURES, jobs=2)) == bits(whole)


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
@pytest.mark.parametrize("ties", ["docid", "docid-asc", "rank", "file", "average"])
def test_every_tie_policy(files: SimpleNamespace, form: str, ties: str, cut: Any) -> None:
    path = files.folder / f"bm25.{form}"
    WRITERS[form](files.frame, path)
    whole = evaluate(path, files.qrels, "AP nDCG@10", ties=ties)
    cut()
    assert bits(evaluate(path, files.qrels, "AP nDCG@10", ties=ties)) == bits(whole)


@pytest.mark.parametrize("order", [["run", "topic"], ["topic", "run"], ["topic", "rank"]])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_many_runs_in_one_file(files: SimpleNamespace, form: str, order: list[str], cut: Any) -> None:
    frames = [frame_of(drawn_lines(TOPICS, seed), run=f"run{seed}") for seed in (1, 2, 3)]
    path = files.folder / f"runs.{form}"
    WRITERS[form](polars.concat(frames).sort(order, maintain_order=True), path)
    whole = evaluate(path, files.qrels, MEASURES)
    assert whole.runs == ("run1", "run2", "run3")
    cut()
    assert bits(evaluate(path, files.qrels, MEASURES)) == bits(whole)


def test_one_topic_of_many_runs_is_cut_between_runs(files: SimpleNamespace, cut: Any) -> None:
    frames = [frame_of([f"q0 Q0 d{doc} 1 {doc % 9} x\n" for doc in range(50)], run=f"run{n}") for n in range(9)]
    path = files.folder / "runs.parquet"
    in_groups(polars.concat(frames), path)
    whole = evaluate(path, files.qrels, MEASURES)
    cut()
    large = large_files.large_file(path)
    assert large is not None
    assert len(list(large.pieces())) > 2
    assert bits(evaluate(path, files.qrels, MEASURES)) == bits(whole)


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "jsonl"])
def test_ids_that_are_numbers_and_columns_of_other_names(files: SimpleNamespace, form: str, cut: Any) -> None:
    numbers = files.frame.select(
        asked=polars.col("topic").str.slice(1).cast(polars.Int64),
        docno=polars.col("doc").str.slice(1).cast(polars.UInt32),
        place="rank",
    )
    path = files.folder / f"bm25.{form}"
    WRITERS[form](numbers, path)
    lines = [line.replace("q", "").replace(" d", " ") for line in drawn_judgments(TOPICS, 1)]
    qrels = written(files.folder / "numbers.txt", lines)
    columns = {"topic": "asked", "rank": "place"}
    whole = evaluate(path, qrels, MEASURES, columns=columns)
    cut()
    assert bits(evaluate(path, qrels, MEASURES, columns=columns)) == bits(whole)


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl", "csv.gz"])
def test_topics_that_are_not_together(files: SimpleNamespace, form: str, cut: Any) -> None:
    path = files.folder / f"bm25.{form}"
    scattered = files.frame.sort("rank", maintain_order=True)
    WRITERS[form](scattered, path)
    whole = evaluate(path, files.qrels, MEASURES)
    cut(held_below=1 << 20)  # small enough to be read whole after all
    assert bits(evaluate(path, files.qrels, MEASURES)) == bits(whole)
    cut()
    with pytest.raises(DataError, match=r"the lines of topic 'q\d+' are not together.*assay split") as caught:
        evaluate(path, files.qrels, MEASURES)
    assert "\n" not in str(caught.value)


def broken(frame: polars.DataFrame, row: int, column: str, value: Any) -> polars.DataFrame:
    """The frame with another value in one cell."""
    cells = frame[column].to_list()
    cells[row] = value
    return frame.with_columns(polars.Series(column, cells, dtype=frame[column].dtype))


def test_one_clear_line_for_what_is_wrong_with_a_row(files: SimpleNamespace, cut: Any) -> None:
    frame = files.frame
    row = len(frame) - 3
    before = frame["doc"][row - 1]
    wrong = {
        "the topic or the doc is empty": broken(frame, row, "doc", None),
        "the topic or the doc is empty; every": broken(frame, row, "topic", None),
        "score is not a number": broken(frame, row, "score", float("nan")),
        f"doc '{before}' is twice in topic .* \\(first on line {row}\\)": broken(frame, row, "doc", before),
    }
    path = files.folder / "bm25.parquet"
    messages = []
    for is_cut in (False, True):
        if is_cut:
            cut()
        for what, table in wrong.items():
            table.write_parquet(path, row_group_size=row)  # a row group ends between the two docs
            with pytest.raises(DataError, match=what) as caught:
                evaluate(path, files.qrels, "AP")
            assert f"{path}:{row + 1}:" in str(caught.value)
            messages.append(str(caught.value))
    assert messages[: len(wrong)] == messages[len(wrong) :]


def test_one_clear_line_for_what_is_wrong_with_a_line_of_text(files: SimpleNamespace, cut: Any) -> None:
    frame = files.frame
    row = len(frame) - 3
    wrong = {
        "score is not a number": broken(frame.cast({"score": polars.String}), row, "score", "high"),
        "is twice in topic": broken(frame, row, "doc", frame["doc"][row - 1]),
    }
    for form, header in (("csv", 1), ("jsonl", 0)):
        path = files.folder / f"bm25.{form}"
        messages = []
        for what, table in wrong.items():
            WRITERS[form](table, path)
            for is_cut in (False, True):
                with pytest.MonkeyPatch.context() as patch:
                    if is_cut:
                        patch.setattr(large_files, "LARGE_TABLE", 64)
                        patch.setattr(large_files, "TABLE_PIECE", 900)
                    with pytest.raises(DataError, match=what) as caught:
                        evaluate(path, files.qrels, "AP")
                assert f"{path}:{row + 1 + header}:" in str(caught.value)
                messages.append(str(caught.value))
        assert messages[0::2] == messages[1::2]


def test_damaged_files_are_one_line_and_nothing_is_written(files: SimpleNamespace, cut: Any, failure: Any) -> None:
    path = files.folder / "bm25.parquet"
    in_groups(files.frame, path)
    data = path.read_bytes()
    cut()
    middle = len(data) // 3
    for damaged in (data[: len(data) // 2], data[:middle] + bytes(200) + data[middle + 200 :]):
        path.write_bytes(damaged)
        saved = files.folder / "scores.csv"
        line = failure("score", "--qrels", files.qrels, path, "--save", saved)
        assert f"{path}: " in line
        assert not saved.exists()


def test_a_missing_column_is_one_line(files: SimpleNamespace, cut: Any, failure: Any) -> None:
    cut()
    for form in ("parquet", "csv", "jsonl"):
        path = files.folder / f"bm25.{form}"
        WRITERS[form](files.frame.select("topic", "doc"), path)
        assert "no column 'score'" in failure("score", "--qrels", files.qrels, path)


def test_a_table_that_changes_is_refused(files: SimpleNamespace, cut: Any) -> None:
    path = files.folder / "bm25.parquet"
    in_groups(files.frame, path)
    cut()
    large = large_files.large_file(path)
    assert large is not None
    first = next(iter(large.pieces()))
    in_groups(files.frame.head(200), path)
    with pytest.raises(DataError, match="changed while it was read"):
        first.runs()


def test_cells_with_line_ends_are_refused_or_read_whole(files: SimpleNamespace, cut: Any) -> None:
    path = files.folder / "bm25.csv"
    notes = [f"of rank\n{rank}" if rank % 5 == 0 else "plain, really" for rank in files.frame["rank"]]
    files.frame.with_columns(note=polars.Series(notes)).write_csv(path)
    whole = evaluate(path, files.qrels, MEASURES)
    cut(held_below=1 << 20)
    assert bits(evaluate(path, files.qrels, MEASURES)) == bits(whole)
    cut()
    with pytest.raises(DataError, match="a cell goes over several lines"):
        evaluate(path, files.qrels, MEASURES)


def test_quoted_cells_are_cut_too(files: SimpleNamespace, cut: Any) -> None:
    path = files.folder / "bm25.csv"
    quoted = files.frame.select(note=polars.lit("a, b"), doc=polars.col("doc") + ",1", topic="topic", score="score")
    quoted.write_csv(path)
    qrels = written(files.folder / "q", [line.replace(" d", " d,") for line in drawn_judgments(TOPICS, 1)])
    whole = evaluate(path, qrels, MEASURES)
    cut()
    assert bits(evaluate(path, qrels, MEASURES)) == bits(whole)


def test_objects_with_other_fields_are_refused(files: SimpleNamespace, cut: Any) -> None:
    path = files.folder / "bm25.jsonl"
    records = [dict(row) for row in files.frame.iter_rows(named=True)]
    for record in records[600:]:
        record["run"] = "bm25"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    cut()
    with pytest.raises(DataError, match="some lines have a run and others have none"):
        evaluate(path, files.qrels, MEASURES)


def test_a_column_called_name_is_decided_by_the_whole_table(files: SimpleNamespace, cut: Any) -> None:
    path = files.folder / "bm25.parquet"
    in_groups(files.frame.with_columns(name=polars.col("doc")), path)
    whole = evaluate(path, files.qrels, MEASURES)
    cut()
    assert large_files.large_file(path) is None
    assert large_files.large_file(path, {"run": "name"}) is not None
    assert bits(evaluate(path, files.qrels, MEASURES)) == bits(whole)


def test_standard_input_may_be_csv(files: SimpleNamespace, cut: Any) -> None:
    text = files.frame.write_csv().encode()
    command = ["--qrels", str(files.qrels), "-", "-m", MEASURES, "--format", "csv", "-q"]
    plain = CliRunner().invoke(score, command, input=text)
    assert plain.exit_code == 0, plain.output
    cut()
    in_pieces = CliRunner().invoke(score, command, input=text)
    assert in_pieces.stdout == plain.stdout
    two_runs = files.frame.with_columns(run=polars.Series([str(rank % 2) for rank in files.frame["rank"]]))
    several = CliRunner().invoke(score, command, input=two_runs.write_csv().encode())
    assert "there are 2 runs in this file" in str(several.exception)


def test_ms_marco_runs_are_cut(files: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = files.frame.select("topic", "doc", "rank").iter_rows()
    path = written(files.folder / "run.txt", ["\t".join(map(str, row)) + "\n" for row in rows])
    whole = evaluate(path, files.qrels, MEASURES)
    for name in ("LARGE_TABLE", "LARGE_FILE"):
        monkeypatch.setattr(large_files, name, 64)
    monkeypatch.setattr(topic_cuts, "PIECE", 500)
    assert bits(evaluate(path, files.qrels, MEASURES)) == bits(whole)


@pytest.mark.parametrize("is_sorted", [True, False])
def test_parts_are_scored_in_pieces(files: SimpleNamespace, is_sorted: bool, cut: Any) -> None:
    folder = files.folder / "runs" / "run=bm25"
    folder.mkdir(parents=True)
    half = files.frame["topic"].is_in([f"q{topic}" for topic in range(30)])
    for number, part in enumerate((files.frame.filter(half), files.frame.filter(~half))):
        in_groups(part if is_sorted else part.sort("rank", maintain_order=True), folder / f"part-{number}.parquet")
    whole = score_parts(files.folder / "runs", files.qrels, MEASURES)
    cut()
    in_pieces = score_parts(files.folder / "runs", files.qrels, MEASURES, to=files.folder / "scores")
    assert in_pieces.averages("bm25") == whole.averages("bm25")
    assert in_pieces.signatures == whole.signatures
