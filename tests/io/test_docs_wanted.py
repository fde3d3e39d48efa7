"""Docs in the forms that collections have, whatever compresses them; only what is asked for is kept."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Iterable
from pathlib import Path

import pytest
import zstandard

from assay.core.errors import DataError
from assay.io import convert, read_docs
from assay.io.docs import text_of
from tests.conftest import real_data

LINES = b"d1\tcats\tand dogs\nd2\tbirds\r\nd3\tfish\n"
OBJECTS = [
    {"_id": "d1", "title": "Cats", "text": "and dogs", "metadata": {"x": 1}},
    {"_id": "d2", "title": "", "text": 'a "quoted" \u2028 text'},
    {"_id": "d\u00e9", "text": "accents"},
]


def texts(path: Path, docs: Iterable[str]) -> dict[str, str]:
    """The texts of those docs, each in one."""
    return {doc: text_of(fields) for doc, fields in read_docs(path, docs=set(docs)).items()}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, zstandard.compress])
def test_lines_whatever_compresses_them(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "texts.tsv"
    path.write_bytes(pack(LINES))  # type: ignore[operator]
    assert texts(path, ["d1", "d2", "d9"]) == {"d1": "cats and dogs", "d2": "birds"}


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_corpus_of_beir(tmp_path: Path, ascii_only: bool) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(o, ensure_ascii=ascii_only) + "\n" for o in OBJECTS), encoding="utf-8")
    found = texts(path, {"d1", "d2", "dé"})
    assert found == {"d1": "Cats and dogs", "d2": 'a "quoted" \u2028 text', "dé": "accents"}


def test_a_table_with_a_header(tmp_path: Path) -> None:
    path = tmp_path / "docs.csv"
    path.write_text('\ufeffdocno,body,title\nd1,"two\nlines, quoted",First\nd2,b,\n', encoding="utf-8")
    assert texts(path, ["d1", "d2"]) == {"d1": "First two\nlines, quoted", "d2": "b"}
    path.write_text("docno,what\nd1,anything\n")
    assert texts(path, ["d1"]) == {"d1": "anything"}


def test_reading_ends_where_all_docs_are_found(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps(OBJECTS[0]) + "\nnot JSON at all\n")
    assert texts(path, ["d1"]) == {"d1": "Cats and dogs"}
    with pytest.raises(DataError, match=r"corpus.jsonl:2: not JSON"):
        texts(path, ["d1", "d2"])


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.tsv", b"x\ty\n", "none of the 2 docs is in this file, e.g. 'd1'"),
        ("t.tsv", b"d1\t\xff\n", "t.tsv:1: not UTF-8"),
        ("t.jsonl", b'{"_id": "d2"}\n[1]\n', "t.jsonl:2: a line is not an object"),
        ("t.jsonl", b'{"what": 1}\n', "t.jsonl:1: no column 'doc'; the columns are: what"),
        ("t.csv", b"what,text\na,b\n", "t.csv: no column 'doc'; the columns are: what, text"),
        ("t.csv", b'doc,text\nd1,\xff\n', "t.csv:2: not UTF-8"),
        ("t.csv", b"doc,text\nd2,a\nd3\n", "t.csv:3: 1 cells where the header has 2"),
        ("t.parquet", b"PAR1", "t.parquet: "),
        ("t.run", b"1 Q0 d1 1 2.5 bm25\n1 Q0 d2 2 1.5 bm25\n", "t.run is a run; give docs here"),
        ("t.tsv", gzip.compress(LINES * 50, mtime=0)[:40], "the compressed file is damaged"),
        ("t.tsv", lzma.compress(LINES * 50)[:-40] + b"x" * 40, "the compressed file is damaged"),
    ],
)  # fmt: skip
def test_bad_files(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError) as error:
        texts(path, ["d1", "d9"])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_every_format_gives_the_same_docs(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(
        "".join(json.dumps({"_id": f"d{i}", "title": f"T{i}", "text": f"of {i}"}) + "\n" for i in range(9))
    )
    wanted = {"d3": {"title": "T3", "text": "of 3"}, "d7": {"title": "T7", "text": "of 7"}}
    for ending in ("csv", "tsv", "jsonl", "json", "parquet", "arrow", "csv.gz", "parquet.zst"):
        path = tmp_path / f"docs.{ending}"
        convert(corpus, path, kind="docs")
        assert read_docs(path, docs=["d3", "d7", "d99"]) == wanted, ending
        assert read_docs(path) == read_docs(corpus), ending


def test_ids_under_other_names(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(
        '{"meta": {"docno": "x"}, "id": "7", "docno": "d1", "text": "cats"}\n{"docno": "d2", "text": "dogs"}\n'
    )
    assert texts(path, ["d1", "d2"]) == {"d1": "cats", "d2": "dogs"}
    path.write_text('{"key": "d0", "text": "birds"}\n{"key": "d1", "text": "cats"}\n')
    assert read_docs(path, docs=["d1"], columns={"doc": "key"}) == {"d1": {"text": "cats"}}
    with pytest.raises(DataError, match=r"corpus.jsonl:1: no column 'doc'; .* --column doc="):
        read_docs(path, docs=["d1"])


def test_lines_with_a_blank(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("d1 cats and dogs\nd2 birds\n")
    assert texts(path, ["d2"]) == {"d2": "birds"}
    assert read_docs(path) == {"d1": {"text": "cats and dogs"}, "d2": {"text": "birds"}}


def test_the_passages_of_a_track() -> None:
    path = real_data("trec-dl-2019-passage/texts.tsv.xz")
    assert texts(path, ["1082489"])["1082489"].startswith("Ethnographic research is a qualitative method")
