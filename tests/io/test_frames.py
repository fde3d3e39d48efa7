"""Large tables by column: what is read, and what is wrong, is as when they are read row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import DataError
from assay.io import frames, read_qrels, read_run
from assay.io.content import Content
from assay.io.samples import sample_of

PLAIN = "topic,doc,rank,score,run\n1,a,1,12.5,r\n1,b,2,-0.25,r\n010,a,1,1e-3,r\n1,c,3,7,r\n"
TABLES = {
    "plain.csv": PLAIN,
    "tabs.tsv": PLAIN.replace(",", "\t"),
    "tabs.csv": PLAIN.replace(",", "\t"),
    "quotes.csv": PLAIN.replace("1,a", '"1","a"').replace("topic", '"topic"'),
    "quotes within.csv": PLAIN.replace(",a,", ',"a ""b"", c",'),
    "a quote in the middle.csv": PLAIN.replace(",a,", ',a"b,'),
    "a line end within.csv": PLAIN.replace(",a,", ',"a\nb",'),
    "CR LF.csv": PLAIN.replace("\n", "\r\n"),
    "byte-order mark.csv": "\ufeff" + PLAIN,
    "blank lines.csv": PLAIN.replace("\n", "\n\n"),
    "no last newline.csv": PLAIN.rstrip("\n"),
    "blanks.csv": PLAIN.replace(",12.5", ", 12.5 ").replace(",a,", ", a,"),
    "other names.csv": PLAIN.replace("topic,doc", "QID, docno"),
    "not ASCII.csv": PLAIN.replace(",a,", ",é\u2003ß,"),
    "no rank, no run.csv": "topic,doc,score\n1,a,3\n1,b,2\n",
    "an empty cell.csv": PLAIN.replace(",a,", ",,"),
    "an empty tag.csv": PLAIN.replace(",r\n", ",\n"),
    "a cell too few.csv": PLAIN.replace("7,r", "7"),
    "a cell too many.csv": PLAIN.replace("7,r", "7,r,r"),
    "not a number.csv": PLAIN.replace("12.5", "NA"),
    "nan.csv": PLAIN.replace("12.5", "nan"),
    "inf.csv": PLAIN.replace("12.5", "inf"),
    "underscore.csv": PLAIN.replace("12.5", "1_2"),
    "half a rank.csv": PLAIN.replace("2,-0.25", "2.5,-0.25"),
    "twice.csv": PLAIN.replace("1,b", "1,a"),
    "no column.csv": PLAIN.replace("score", "value"),
    "only a header.csv": PLAIN.partition("\n")[0] + "\n",
    "empty.csv": "",
    "plain.jsonl": '{"topic": "1", "doc": "a", "score": 2.5, "run": "r"}\n{"topic": "1", "doc": "\\u00e9", "score": 1}',
    "numbers.jsonl": '{"topic": 1, "doc": 17, "score": 2.5}\n{"topic": 10, "doc": 17, "score": 1.5}\n',
    "mixed.jsonl": '{"topic": 1, "doc": "a", "score": 2.5}\n{"topic": "q", "doc": "b", "score": "1.5"}\n',
    "decimal topics.jsonl": '{"topic": 1.0, "doc": "a", "score": 2.5}\n',
    "not JSON.jsonl": '{"topic": "1", "doc": "a", "score": 2.5}\n{"topic"\n',
    "blank lines.jsonl": '{"topic": "1", "doc": "a", "score": 2.5}\n\n{"topic": "1", "doc": "b", "score": 2}\n',
    "null.jsonl": '{"topic": "1", "doc": "a", "score": null}\n',
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_reads_the_same_by_column_and_by_row(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(TABLES[name].encode())
    monkeypatch.setattr(frames, "LARGE", 10**9)
    by_row = _read(path)
    monkeypatch.setattr(frames, "LARGE", 0)
    assert _read(path) == by_row


@pytest.mark.parametrize("name", ["plain.csv", "tabs.tsv", "quotes.csv", "numbers.jsonl", "not ASCII.csv"])
def test_plain_tables_are_read_by_column(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "LARGE", 0)
    content = Content.of_bytes(name, TABLES[name].encode())
    assert frames.read_frame(content, sample_of(content)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "topic,doc,grade\n10,a,1\n9,b,0\n10,c,-1\n",
        "topic,doc,grade,probability\n1,a,1,0.5\n1,b,0,1\n",
        "topic,doc,grade,probability\n1,a,1,0\n1,b,0,1\n",
        "topic,doc,grade\n1,a,1.5\n",
        "topic,doc,grade\n1,a,99999999999\n",
        "topic,doc,grade\n1,a,1\n1,a,0\n",
    ],
)
def test_judgments_read_the_same_by_column_and_by_row(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "q.csv"
    path.write_text(text)
    found = []
    for large in (10**9, 0):
        monkeypatch.setattr(frames, "LARGE", large)
        try:
            qrels = read_qrels(path)
            chances = None if qrels.probabilities is None else qrels.probabilities.tolist()
            found.append((qrels.topics, qrels.to_dict(), chances))
        except DataError as error:
            found.append(str(error))  # type: ignore[arg-type]
    assert found[0] == found[1]


def test_a_large_table_is_the_large_run(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [(f"q{t}", f"d{i}", float(s)) for t in range(40) for i, s in enumerate(rng.normal(size=400))]
    rng.shuffle(rows)
    (tmp_path / "r.run").write_text("".join(f"{t} Q0 {d} 1 {s!r} r\n" for t, d, s in rows))
    (tmp_path / "r.csv").write_text("topic,doc,score,run\n" + "".join(f"{t},{d},{s!r},r\n" for t, d, s in rows))
    assert (tmp_path / "r.csv").stat().st_size > frames.LARGE
    content = Content.of(tmp_path / "r.csv")
    assert frames.read_frame(content, sample_of(content)) is not None
    assert read_run(tmp_path / "r.csv").to_dict() == read_run(tmp_path / "r.run").to_dict()


def _read(path: Path) -> Any:
    """What a person gets: the run, or the message."""
    try:
        run = read_run(path)
    except DataError as error:
        return str(error)
    return run.name, run.topics, run.to_dict(), None if run.ranks is None else run.ranks.tolist()
