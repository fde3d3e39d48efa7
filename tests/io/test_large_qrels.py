"""Judgments of a large Parquet file, read some rows at a time, are those of the file read whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars
import pytest

from assay import DataError, Qrels
from assay.io import large_qrels, read_qrels, readers


def drawn(*, order: str, seed: int = 1) -> polars.DataFrame:
    """Judgments of 40 topics, their rows in the order of the topics, of other names, or scattered."""
    rng = np.random.default_rng(seed)
    rows = []
    for topic in range(40):
        docs = rng.permutation(500)[: int(rng.integers(1, 30))]
        rows += [(f"q{topic}", f"dé{doc}", int(rng.integers(-1, 4))) for doc in docs.tolist()]
    frame = polars.DataFrame(rows, schema=["topic", "doc", "grade"], orient="row")
    if order == "scattered":
        return frame.sample(fraction=1, shuffle=True, seed=seed)
    return frame.sort("topic", maintain_order=True) if order == "as words" else frame


@pytest.fixture
def some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "LARGE_TABLE", 64)
    monkeypatch.setattr(large_qrels, "ROWS", 37)


def columns_of(qrels: Qrels) -> list[object]:
    values = [qrels.topics, qrels.bounds.tolist(), qrels.docs.tolist(), qrels.grades.tolist(), qrels.name]
    chances = None if qrels.probabilities is None else qrels.probabilities.tolist()
    return [*values, qrels.grades.dtype, chances]


@pytest.mark.parametrize("order", ["in order", "as words", "scattered"])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_the_judgments_are_those_of_the_whole_file(tmp_path: Path, order: str, form: str,
                                                   request: pytest.FixtureRequest) -> None:  # fmt: skip
    frame = drawn(order=order)
    if order == "as words":
        frame = frame.with_columns(probability=1 / (2 + polars.col("grade")), note=polars.lit("x"))
    path = tmp_path / f"qrels.{form}"
    if form == "parquet":
        frame.write_parquet(path, row_group_size=50)
    else:
        frame.write_ipc(path)
    whole = read_qrels(path)
    request.getfixturevalue("some_rows_at_a_time")
    assert large_qrels.large_qrels(str(path), form) is not None
    assert columns_of(read_qrels(path)) == columns_of(whole)


def test_ids_that_are_numbers_and_grades_that_are_decimals(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    frame = drawn(order="in order").select(
        query=polars.col("topic").str.slice(1).cast(polars.UInt16),
        docno=polars.col("doc"),
        grade=polars.col("grade").cast(polars.Decimal(10, 2)),
    )
    path = tmp_path / "qrels.parquet"
    frame.write_parquet(path)
    whole = read_qrels(path, columns={"topic": "query"})
    request.getfixturevalue("some_rows_at_a_time")
    assert columns_of(read_qrels(path, columns={"topic": "query"})) == columns_of(whole)


@pytest.mark.parametrize("order", ["in order", "scattered"])
def test_what_is_wrong_is_said_as_of_the_whole_file(tmp_path: Path, order: str, request: pytest.FixtureRequest) -> None:
    frame = drawn(order=order)
    last = len(frame) - 1
    docs_of_last = frame.filter(topic=frame["topic"][last])["doc"]
    assert len(docs_of_last) > 1
    wrong = {
        "the topic or the doc is empty": frame.with_columns(doc=frame["doc"].scatter(last, None)),
        "grade is not a number|finite number": frame.with_columns(
            grade=frame["grade"].cast(polars.Float64).scatter(last, float("nan"))
        ),
        "is twice in topic": frame.with_columns(doc=frame["doc"].scatter(last, docs_of_last[0])),
    }
    path = tmp_path / "qrels.parquet"
    messages = []
    for step in ("whole", "in pieces"):
        if step == "in pieces":
            request.getfixturevalue("some_rows_at_a_time")
        for what, table in wrong.items():
            table.write_parquet(path, row_group_size=last)
            with pytest.raises(DataError, match=what) as caught:
                read_qrels(path)
            assert f"{path}:{last + 1}:" in str(caught.value)
            messages.append(str(caught.value))
    assert messages[:3] == messages[3:]


@pytest.mark.usefixtures("some_rows_at_a_time")
def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "qrels.parquet"
    drawn(order="in order").select("topic", "doc").write_parquet(path)
    with pytest.raises(DataError, match="no column 'grade'"):
        read_qrels(path)
    drawn(order="in order").write_parquet(path)
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(DataError, match="not a Parquet file"):
        read_qrels(path)
    drawn(order="in order").head(0).write_parquet(path)
    with pytest.raises(DataError, match="there is a header but no row"):
        read_qrels(path)
