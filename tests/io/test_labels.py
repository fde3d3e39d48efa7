"""Labels files: what is read, what is refused and where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.io.labels import labels_and_empty, read_labels, write_labels
from tests.conftest import real_data

PLAIN = "topic,doc,worker,label\n1,a,w1,0\n1,b,w1,1\n2,a,w2,.5\n"


def written(tmp_path: Path, text: str, name: str = "labels.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_codes_and_lines(tmp_path: Path) -> None:
    labels = read_labels(written(tmp_path, PLAIN))
    assert labels.topics == ("1", "2")
    assert labels.docs == ("a", "b")
    assert labels.label.tolist() == [0, 1, 0.5]
    assert labels.topic.tolist() == [0, 0, 1]
    assert labels.lines is not None
    assert labels.lines.tolist() == [2, 3, 4]
    assert labels.name == "labels.csv"


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz", "tsv.xz", "jsonl.zst"])
def test_every_format_gives_back_what_was_written(tmp_path: Path, ending: str) -> None:
    text = "topic,doc,worker,label,task,position,seconds,attempt,gold\n1,a,w,3,t1,1,20.5,1,\n1,b,w,0.25,t1,2,,2,1\n"
    labels = read_labels(written(tmp_path, text))
    path = tmp_path / f"again.{ending}"
    write_labels(path, labels)
    again = read_labels(path)
    for name in ("topic", "doc", "worker", "label", "position", "seconds", "attempt", "gold"):
        np.testing.assert_array_equal(getattr(again, name), getattr(labels, name))
    assert list(again.task if again.task is not None else []) == ["t1", "t1"]


def test_other_headers_are_told_or_known(tmp_path: Path) -> None:
    text = "query\tdocid\tassessor\tvalue\tpilot\n7\td\tw\t40\tA\n7\te\tw\t100\tB\n"
    path = written(tmp_path, text, "labels.tsv")
    assert read_labels(path).label.tolist() == [40, 100]
    assert read_labels(path, where={"pilot": "B"}).docs == ("e",)
    assert read_labels(path, columns={"topic": "pilot"}).topics == ("A", "B")
    with pytest.raises(DataError, match=r"no row where pilot is 'C'; it is one of: A, B"):
        read_labels(path, where={"pilot": "C"})


def test_topic_from_the_doc_column_or_for_all(tmp_path: Path) -> None:
    path = written(tmp_path, "item,worker,label\n20_d_1,w,1\n")
    labels = read_labels(path, split="_")
    assert (labels.topics, labels.docs) == (("20",), ("d_1",))
    assert read_labels(path, topic="x").topics == ("x",)
    with pytest.raises(DataError, match=r"no column 'topic'; the columns are: item, worker, label"):
        read_labels(path)
    with pytest.raises(DataError, match=r"labels.csv:2: item '20_d_1' is not topic\|doc"):
        read_labels(path, split="|")


def test_words_of_a_declared_scale(tmp_path: Path) -> None:
    path = written(tmp_path, "topic,doc,worker,label\n1,a,w,no\n1,b,w,yes\n1,c,w,1\n")
    assert read_labels(path, levels={"no": 0, "yes": 1}).label.tolist() == [0, 1, 1]
    with pytest.raises(DataError, match=r"labels.csv:2: label 'no' is neither a number nor a level \(yes\)"):
        read_labels(path, levels={"yes": 1})


def test_times_removes_the_noise_of_the_division(tmp_path: Path) -> None:
    path = written(tmp_path, "topic,doc,worker,label\n1,a,w,0.29\n1,b,w,0.07\n")
    assert read_labels(path, times=100).label.tolist() == [29, 7]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,a,w,yes", r"labels.csv:2: label is not a number: 'yes'"),
        ("1,a,w,nan", r"labels.csv:2: label is not a number: 'nan'"),
        ("1,a,w,inf", r"labels.csv:2: label is not a number: 'inf'"),
        ("1,a,w,1_0", r"labels.csv:2: label is not a number: '1_0'"),
        ("1,a,w,", r"labels.csv:2: label is empty \(1 such rows\)"),
        ("1,,w,1", r"labels.csv:2: doc is empty"),
        (" ,a,w,1", r"labels.csv:2: topic is empty"),
        ("1,a,w", r"labels.csv:2: 3 cells where the header has 4"),
    ],
)
def test_a_bad_cell_is_an_error_with_its_line(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_labels(written(tmp_path, f"topic,doc,worker,label\n{row}\n2,b,v,1\n"))


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("seconds", "fast", r"seconds is not a number: 'fast'$"),
        ("position", "1.5", r"position is not a whole number: '1.5'"),
        ("attempt", "", r"attempt is not a number: ''"),
        ("task", "", r"task is empty"),
        ("gold", "?", r"gold is not a number"),
    ],
)
def test_optional_columns_are_checked_too(tmp_path: Path, column: str, cell: str, message: str) -> None:
    with pytest.raises(DataError, match="labels.csv:2: " + message):
        read_labels(written(tmp_path, f"topic,doc,worker,label,{column}\n1,a,w,1,{cell}\n"))


def test_empty_labels_are_dropped_only_on_request_and_named(tmp_path: Path) -> None:
    path = written(tmp_path, "topic,doc,worker,label\n1,a,w,\n1,b,w,1\n1,c,w,\n")
    labels, left_out = labels_and_empty(path)
    assert (len(labels), left_out) == (1, [2, 4])
    with pytest.raises(UsageError, match="no way 'ignore'"):
        read_labels(path, empty="ignore")


def test_an_unknown_column_of_ours_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"labels have no 'labels'; did you mean label\?"):
        read_labels(written(tmp_path, PLAIN), columns={"labels": "label"})
    with pytest.raises(UsageError, match="no column 'mark' for the label; it has topic, doc"):
        read_labels(written(tmp_path, PLAIN), columns={"label": "mark"})


@pytest.mark.parametrize(
    ("name", "told", "labels", "items", "workers"),
    [
        ("crowd-s100-trec8/judgments.tsv.xz", {"times": 100}, 52590, 3881, 1340),
        ("crowd-trec2011/votes.tsv.xz", {"split": "_"}, 17395, 2165, 445),
        ("crowd-trec2011/otherparticipantsvotes.tsv.xz", {"split": "_"}, 41081, 3387, 511),
    ],
)
def test_released_files(name: str, told: dict[str, object], labels: int, items: int, workers: int) -> None:
    read = read_labels(real_data(name), **told)  # type: ignore[arg-type]
    assert (len(read), len(read.items()[1]), len(read.workers)) == (labels, items, workers)


def test_released_pilots_have_seven_empty_labels() -> None:
    path = real_data("crowd-nyt-2p-3p/judgments.tsv.xz")
    labels, left_out = labels_and_empty(path, columns={"topic": "topic"})
    assert len(left_out) == 7
    assert len(labels) == 4 * 1800 - 7
    assert len(labels.workers) == 153


@pytest.mark.parametrize(("scale", "rows", "workers"), [("S3", 2189, 198), ("S6", 2189, 199), ("S100", 2178, 198)])
def test_released_truthfulness_scales(scale: str, rows: int, workers: int) -> None:
    path = real_data("crowd-truthfulness-scales/judgments.tsv")
    labels = read_labels(path, columns={"topic": "source"}, where={"scale": scale})
    assert (len(labels), len(labels.workers)) == (rows, workers)
    assert labels.position is not None
    assert labels.position.max() == 10
