"""Texts of docs in the forms that collections have, whatever compresses them; only what is asked for is kept."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import pytest
import zstandard

from assay.core.errors import DataError
from assay.io import read_texts
from tests.conftest import real_data

LINES = b"d1\tcats\tand dogs\nd2\tbirds\r\nd3\tfish\n"
OBJECTS = [
    {"_id": "d1", "title": "Cats", "text": "and dogs", "metadata": {"x": 1}},
    {"_id": "d2", "title": "", "text": 'a "quoted" \u2028 text'},
    {"_id": "d\u00e9", "text": "accents"},
]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, zstandard.compress])
def test_lines_whatever_compresses_them(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "texts.tsv"
    path.write_bytes(pack(LINES))  # type: ignore[operator]
    assert read_texts(path, ["d1", "d2", "d9"]) == {"d1": "cats and dogs", "d2": "birds"}


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_corpus_of_beir(tmp_path: Path, ascii_only: bool) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(o, ensure_ascii=ascii_only) + "\n" for o in OBJECTS), encoding="utf-8")
    found = read_texts(path, {"d1", "d2", "dé"})
    assert found == {"d1": "Cats and dogs", "d2": 'a "quoted" \u2028 text', "dé": "accents"}


def test_a_table_with_a_header(tmp_path: Path) -> None:
    path = tmp_path / "docs.csv"
    path.write_text('\ufeffdocno,body,title\nd1,"two\nlines, quoted",First\nd2,b,\n', encoding="utf-8")
    assert read_texts(path, ["d1", "d2"]) == {"d1": "First two\nlines, quoted", "d2": "b"}
    path.write_text("docno,what\nd1,anything\n")
    assert read_texts(path, ["d1"]) == {"d1": "anything"}


def test_reading_ends_where_all_docs_are_found(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps(OBJECTS[0]) + "\nnot JSON at all\n")
    assert read_texts(path, ["d1"]) == {"d1": "Cats and dogs"}
    with pytest.raises(DataError, match=r"corpus.jsonl:2: not JSON"):
        read_texts(path, ["d1", "d2"])


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.tsv", b"x\ty\n", "none of the 2 docs is in this file, e.g. 'd1'"),
        ("t.tsv", b"d1\t\xff\n", "t.tsv:1: not UTF-8"),
        ("t.jsonl", b"[1]\n", "t.jsonl:1: a line is not an object"),
        ("t.jsonl", b'{"what": 1}\n', "no field of the doc"),
        ("t.csv", b"what,text\n1,2\n", "no column of docs"),
        ("t.csv", b'doc,text\nd1,\xff\n', "t.csv:2: not UTF-8"),
        ("t.parquet", b"PAR1", "not from Parquet"),
        ("t.tsv", gzip.compress(LINES * 50, mtime=0)[:40], "the compressed file is damaged"),
        ("t.tsv", lzma.compress(LINES * 50)[:-40] + b"x" * 40, "the compressed file is damaged"),
    ],
)  # fmt: skip
def test_bad_files(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError) as error:
        read_texts(path, ["d1", "d9"])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_passages_of_a_track() -> None:
    path = real_data("trec-dl-2019-passage/texts.tsv.xz")
    assert read_texts(path, ["1082489"])["1082489"].startswith("Ethnographic research is a qualitative method")
