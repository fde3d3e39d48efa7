"""Every reader, on files changed at random: an answer or an error of ours, and two readers of one format agree.

The changes come from fixed seeds. ASSAY_FUZZ=60 goes on for that many seconds per reader, each time with other seeds.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from assay.check import read_run_leniently
from assay.core.errors import AssayError, DataError
from assay.crowd.task_files import read_pool
from assay.crowd.uncertain_files import read_uncertain
from assay.io import (
    frames,
    read_docs,
    read_info,
    read_labels,
    read_qrels,
    read_run,
    read_runs,
    read_topics,
    recognise,
    rows,
)
from assay.io.assignments import read_assignments, read_bank, read_support
from assay.io.columns import parse_columns
from assay.io.files import read_text
from assay.io.intents import read_intent_qrels, read_intents
from assay.io.judgment_groups import read_group_qrels, read_preferences
from assay.io.ntcir import read_rel, read_res
from assay.io.scores import read_scores
from assay.io.sheet import read_sheet
from assay.standard.factorfiles import read_factors
from assay.stats import read_grid
from tests.hostile.odd_files import TABLES, good_text, parquet

TRIALS = 150
SECONDS = float(os.environ.get("ASSAY_FUZZ", "0"))
PIECES = [
    b"\r", b"\n", b"\r\n", b"\0", b" ", b"\t", b",", b'"', b"#", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80",
    b"nan", b"inf", b"1e400", b"-", b"_", b".5", b"1_0", b"9" * 25, b"{", b"}", b"[", b"\\", b"\\ud800", b"null", b":",
    b"\x85", b"\xe2\x80\xa8", b"\x1c", b"topic", b"L1", b"<top>", b"</top>", b"<num>", b"1e-400", b"0x1",
]  # fmt: skip
SGML = "".join(
    f"<top>\n<num> Number: {t}\n<title> foreign minorities\n<desc> Description:\nWhat?\n</top>\n" for t in (401, 402)
)


def changed(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one to four changes."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(out) + 1)
        size = rng.choice([1, 2, 10, 50])
        how = rng.randrange(6)
        if how == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            out[at:at] = rng.choice(PIECES)
        elif how == 2:
            out[at : at + size] = rng.choice(PIECES)
        elif how == 3:
            del out[at : at + size]
        elif how == 4:
            out[at:at] = out[at : at + size]
        elif at < len(out):
            out[at] = rng.randrange(256)
    return bytes(out)


def trials(data: bytes) -> Iterator[bytes]:
    """Changed versions of a file: as many as the suite has time for, or for as long as was asked for."""
    first = time.time_ns() if SECONDS else 0
    end, seed = time.monotonic() + SECONDS, first
    while seed < first + TRIALS or time.monotonic() < end:
        yield changed(data, random.Random(seed))
        seed += 1


def outcome(read: Callable[[], Any]) -> Any:
    """What a reader gives, or `refused`."""
    try:
        return read()
    except DataError:
        return "refused"


def short(text: str, lines: int = 12) -> bytes:
    """The first lines of a file: changes hit something that matters."""
    return "".join(text.splitlines(keepends=True)[:lines]).encode()


def by_lines(path: Path, form: rows.Form) -> Any:
    """What the line reader reads: refused where a line is bad."""
    reading = rows.read_rows(read_text(path), form)
    if reading.problems or not reading.rows:
        return "refused"
    found: dict[str, dict[str, float]] = {}
    for row in reading.rows:
        found.setdefault(row.topic, {})[row.doc] = float(row.fields[4 if form is rows.RUN else 3])
    return found


@pytest.mark.parametrize("kind", ["run", "qrels", "sampled qrels"])
def test_the_fast_reader_and_the_line_reader_agree(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    form, read = (rows.RUN, read_run) if kind == "run" else (rows.QRELS, read_qrels)
    for data in trials(short(good_text(kind))):
        path.write_bytes(data)
        fast = outcome(lambda: read(path).to_dict())
        slow = outcome(lambda: by_lines(path, form))
        assert fast == slow, data


def test_the_fast_reader_of_ranks_and_the_line_reader_agree(tmp_path: Path) -> None:
    path = tmp_path / "odd.tsv"
    agreed = 0
    for data in trials(short(good_text("msmarco run"))):
        path.write_bytes(data)
        fast = outcome(lambda: read_run(path))
        reading = rows.read_rows(read_text(path) if not isinstance(fast, str) else data, rows.RANKS)
        ranked: dict[str, dict[float, str]] = {}
        for row in reading.rows:
            ranked.setdefault(row.topic, {}).setdefault(float(row.fields[2]), row.doc)
        if isinstance(fast, str):
            continue
        assert not reading.problems, data
        slow = {topic: [docs[rank] for rank in sorted(docs)] for topic, docs in ranked.items()}
        assert {topic: fast.ranking(topic) for topic in fast.topics} == slow, data
        agreed += 1
    assert agreed > 10


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("kind", ["table run", "table qrels"])
def test_a_table_read_by_column_and_by_row_is_the_same(
    kind: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"odd.{ending}"
    read = read_run if kind == "table run" else read_qrels
    for data in trials(_table(kind, ending)):
        path.write_bytes(data)
        found = []
        for large in (0, 10**9):
            monkeypatch.setattr(frames, "LARGE", large)
            found.append(outcome(lambda: _content(read(path))))
        assert found[0] == found[1], data


def _table(kind: str, ending: str) -> bytes:
    if ending != "jsonl":
        return short(good_text(kind).replace(",", "\t" if ending == "tsv" else ","))
    header, body = TABLES[kind]
    return "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in body[:12]).encode()


def _content(table: Any) -> Any:
    return table.topics, table.to_dict()


def _wanted(path: Path) -> Any:
    return read_docs(path, docs={"d0", "d1", "nowhere"})


def _labelled(path: Path) -> Any:
    return read_labels(path, levels={"yes": 1, "no": 0})


READERS: dict[str, tuple[Callable[[Path], Any], bytes, str]] = {
    "labels": (read_labels, short(good_text("labels")), "csv"),
    "assigned": (read_assignments, short(good_text("assigned")), "csv"),
    "nuggetizer": (read_assignments, short(good_text("nuggetizer")), "jsonl"),
    "nugget bank": (read_bank, short(good_text("nugget bank")), "jsonl"),
    "cited": (read_support, short(good_text("cited")), "csv"),
    "scores": (read_scores, good_text("scores").encode(), "csv"),
    "matrix": (read_scores, good_text("matrix").encode(), "csv"),
    "grid": (read_grid, good_text("grid").encode(), "csv"),
    "factors": (read_factors, good_text("factors").encode(), "csv"),
    "doubt": (read_uncertain, short(good_text("doubt")), "csv"),
    "pool": (read_pool, short(good_text("qrels")), "txt"),
    "topics": (read_topics, SGML.encode(), "txt"),
    "topic lines": (read_topics, b"1\tone\n2\ttwo\n", "txt"),
    "topic table": (read_topics, good_text("topics").encode(), "csv"),
    "info": (read_info, good_text("groups").encode(), "csv"),
    "text lines": (_wanted, good_text("texts").encode(), "tsv"),
    "text objects": (_wanted, b'{"_id": "d0", "title": "a", "text": "b"}\n{"_id": "d1", "text": "c"}\n', "jsonl"),
    "text table": (_wanted, b'doc,text\nd0,"a, b"\nd1,c\n', "csv"),
    "text gz": (_wanted, gzip.compress(good_text("texts").encode(), mtime=0), "tsv.gz"),
    "text xz": (_wanted, lzma.compress(good_text("texts").encode()), "tsv.xz"),
    "text zst": (_wanted, zstandard.ZstdCompressor().compress(good_text("texts").encode()), "tsv.zst"),
    "intents": (read_intent_qrels, short(good_text("intents")), "txt"),
    "intent info": (read_intents, short(good_text("intent info")), "txt"),
    "rel": (read_rel, short(good_text("rel")), "rel"),
    "res": (read_res, short(good_text("res")), "res"),
    "preferences": (read_preferences, b"1 0 0 d1 1\n1 0 0 d2 2\n2 0 1 d1 1\n", "txt"),
    "group qrels": (read_group_qrels, short(good_text("qrels")), "txt"),
    "msmarco": (read_run, short(good_text("msmarco run")), "tsv"),
    "nested run": (read_runs, good_text("nested run").encode(), "json"),
    "nested qrels": (read_qrels, good_text("nested qrels").encode(), "json"),
    "lines run": (read_run, good_text("lines run").encode(), "jsonl"),
    "ntcir qrels": (read_qrels, short(good_text("ntcir qrels")), "qrels"),
    "beir qrels": (read_qrels, short(good_text("beir qrels").replace(",", "\t")), "tsv"),
    "label studio": (_labelled, good_text("label studio").encode(), "json"),
    "doccano": (_labelled, good_text("doccano").encode(), "jsonl"),
    "leaderboard": (read_scores, good_text("leaderboard").encode(), "txt"),
    "corpus": (read_docs, good_text("corpus").encode(), "jsonl"),
    "queries": (read_topics, good_text("queries").encode(), "jsonl"),
    "anything": (recognise, short(good_text("run")), "txt"),
    "lenient run": (read_run_leniently, short(good_text("run")), "txt"),
    "jsonl": (read_sheet, _table("table run", "jsonl"), "jsonl"),
    "gz": (read_run, gzip.compress(short(good_text("run")), mtime=0), "txt.gz"),
    "xz": (read_run, lzma.compress(short(good_text("run"))), "txt.xz"),
    "zst": (read_run, zstandard.ZstdCompressor().compress(short(good_text("run"))), "txt.zst"),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_answers_or_refuses(name: str, tmp_path: Path) -> None:
    read, good, ending = READERS[name]
    path = tmp_path / f"odd.{ending}"
    path.write_bytes(good)
    assert read(path) is not None
    for data in trials(good):
        path.write_bytes(data)
        try:
            read(path)
        except AssayError as error:
            assert "\n" not in str(error), data  # noqa: PT017


def test_a_damaged_parquet_file_is_read_or_refused(tmp_path: Path) -> None:
    header, body = TABLES["table run"]
    good = parquet({name: [row[i] for row in body] for i, name in enumerate(header)})
    for data in trials(good):
        try:
            parse_columns("x.parquet", data, "parquet")
        except DataError as error:
            assert str(error).startswith("x.parquet: "), data  # noqa: PT017
