"""Texts of docs: `doc<tab>text` lines, BEIR's corpus.jsonl, or a table with a column of docs; only those asked for.

A corpus may be far larger than memory, so it is read line by line until all docs are found.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from assay.core.errors import DataError
from assay.core.markup import visible
from assay.io.files import GZIP, STANDARD_INPUT, XZ, ZSTANDARD, decompressed, kind
from assay.io.sheet import place_of

DOC = ("doc", "docno", "doc_id", "docid", "_id", "id", "pid", "did")
TEXTS = ("title", "text", "body", "contents", "abstract", "passage")
"""Columns and fields that hold the text of a doc; a title goes first."""
ID_OF_LINE = re.compile(rb'"(?:doc|docno|doc_id|docid|_id|id|pid|did)"\s*:\s*"([^"\\]*)"')


def read_texts(path: str | Path, docs: Collection[str]) -> dict[str, str]:
    """{doc: text} of those of the docs that the file has; a file that has none of them is an error.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "texts.tsv"
    >>> _ = path.write_text("d1\\tcats\\nd2\\tdogs\\n")
    >>> read_texts(path, {"d2", "d9"})
    {'d2': 'dogs'}
    """
    wanted = set(docs)
    readers = {"jsonl": _from_jsonl, "json": _from_jsonl, "csv": _from_csv, "parquet": _no_parquet}
    reader = readers.get(kind(path), _from_lines)
    found: dict[str, str] = {}
    with _opened(path) as stream:
        for doc, text in reader(str(path), stream, wanted):
            found.setdefault(doc, text)
            if len(found) == len(wanted):
                break
    if wanted and not found:
        raise DataError(
            f"{path}: none of the {len(wanted)} docs is in this file, e.g. {min(wanted)!r}; give their texts"
        )
    return found


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a file as they are read, whatever compresses it."""
    if str(path) == STANDARD_INPUT:
        yield io.BytesIO(decompressed(STANDARD_INPUT, sys.stdin.buffer.read()))
        return
    with open(path, "rb") as file:
        head = file.read(8)
        file.seek(0)
        try:
            with _decompressing(file, head) as stream:
                yield stream
        except _damages() as error:
            raise DataError(f"{path}: the compressed file is damaged ({error}); fetch or write it again") from None


def _damages() -> tuple[type[Exception], ...]:
    """What the libraries raise that decompress; they have no error in common."""
    import lzma
    import zlib

    damages: list[type[Exception]] = [EOFError, OSError, zlib.error, lzma.LZMAError]
    if "zstandard" in sys.modules:
        damages.append(sys.modules["zstandard"].ZstdError)
    return tuple(damages)


def _decompressing(file: IO[bytes], head: bytes) -> Any:
    if head.startswith(GZIP):
        import gzip

        return gzip.GzipFile(fileobj=file)
    if head.startswith(XZ):
        import lzma

        return lzma.LZMAFile(file)
    if head.startswith(ZSTANDARD):
        import zstandard

        return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True))
    return file


def _from_lines(where: str, stream: IO[bytes], wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Lines of a doc, a tab (or a blank, where there is none) and its text; further tabs are blanks of the text."""
    names = {doc.encode() for doc in wanted}
    for number, line in enumerate(stream, 1):
        doc, tab, text = line.rstrip(b"\r\n").partition(b"\t")
        if not tab:
            doc, tab, text = line.strip().partition(b" ")
        if doc in names:
            yield doc.decode(), _decoded(where, number, text).replace("\t", " ")


def _from_jsonl(where: str, stream: IO[bytes], wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Objects with an id and texts; those whose id can be seen not to be wanted are not parsed."""
    names = {doc.encode() for doc in wanted}
    for number, line in enumerate(stream, 1):
        seen = ID_OF_LINE.search(line)
        if not line.strip() or (seen is not None and seen[1] not in names and b"\\" not in seen[1]):
            continue
        try:
            record = json.loads(_decoded(where, number, line))
        except ValueError:
            raise DataError.at(where, number, 'not JSON; write {"_id": …, "text": …} on each line') from None
        if not isinstance(record, dict):
            raise DataError.at(where, number, 'a line is not an object; write {"_id": …, "text": …} on each line')
        fields = list(record)
        at = place_of(fields, DOC)
        if at is None:
            raise DataError.at(
                where, number, f"no field of the doc ({', '.join(DOC)}); the fields are: {_listed(fields)}"
            )
        if str(record[fields[at]]) in wanted:
            yield str(record[fields[at]]), _joined(fields, [record[name] for name in fields], at)


def _from_csv(where: str, stream: IO[bytes], wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Rows below a header with a column of docs."""
    csv.field_size_limit(2**31 - 1)  # whole articles stand in one cell
    lines = (_decoded(where, number, line).removeprefix("\ufeff") for number, line in enumerate(stream, 1))
    reader = csv.reader(lines)
    try:
        header = next(reader, [])
        at = place_of(header, DOC)
        if at is None:
            raise DataError(f"{where}: no column of docs ({', '.join(DOC)}); the columns are: {_listed(header)}")
        for row in reader:
            if len(row) == len(header) and row[at] in wanted:
                yield row[at], _joined(header, row, at)
    except csv.Error as error:
        raise DataError.at(where, reader.line_num, f"{error}; check the quotes of that line") from None


def _no_parquet(where: str, stream: IO[bytes], wanted: set[str]) -> Iterator[tuple[str, str]]:
    raise DataError(f"{where}: texts of docs are read from TSV, JSONL or CSV files, not from Parquet; convert the file")


def _joined(names: list[str], values: list[Any], at: int) -> str:
    """Title and text; where the usual fields are not there, all fields that hold text."""
    lowered = [name.strip().lower() for name in names]
    usual = [values[lowered.index(name)] for name in TEXTS if name in lowered]
    others = [value for place, value in enumerate(values) if place != at and isinstance(value, str)]
    return " ".join(str(value) for value in usual or others if value)


def _listed(names: list[str]) -> str:
    """Names in one line of a message."""
    return visible(", ".join(names))[:200]


def _decoded(where: str, number: int, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise DataError.at(where, number, "not UTF-8; save the file as UTF-8") from None
