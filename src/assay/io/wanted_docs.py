"""Some docs of a corpus that may be far larger than memory: it is read line by line until all of them are found."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

from assay.core.errors import DataError
from assay.core.files_read import note_read
from assay.io._bytes.fields import BYTE_ORDER_MARK
from assay.io.column_names import Named
from assay.io.content import HEAD, Content
from assay.io.docs import Texts, doc_place, docs_in, fields_of, has_lines, split_line
from assay.io.files import GZIP, STANDARD_INPUT, XZ, ZSTANDARD, decompressed, standard_input
from assay.io.recognition import looked_at
from assay.io.samples import separator_of
from assay.io.sheet import LARGEST_CELL

Found = Iterator[tuple[str, dict[str, str]]]
"""Docs with their fields."""


def read_wanted(path: str | Path, wanted: set[str], columns: Named) -> Texts:
    """{doc: {field: text}} of those of the docs that the file has; where a doc is there twice, its first entry."""
    found: Texts = {}
    with _opened(path) as stream:
        for doc, fields in _docs(str(path), stream, wanted, columns):
            found.setdefault(doc, fields)
            if len(found) == len(wanted):
                break
    return found


def _docs(where: str, stream: IO[bytes], wanted: set[str], columns: Named) -> Found:
    """The wanted docs of a file, recognised by its first lines."""
    head = stream.read(HEAD)
    head += stream.readline()
    start = Content.of_bytes(where, head)
    if _is_whole(head):
        whole = docs_in(Content.of_bytes(where, head + stream.read()), columns)
        return ((doc, whole[doc]) for doc in whole if doc in wanted)
    looked = looked_at(start, columns)
    looked.as_kind(start, "docs")
    lines = enumerate(chain(io.BytesIO(head.removeprefix(BYTE_ORDER_MARK)), stream), 1)
    if looked.sample.syntax == "jsonl":
        return _from_objects(where, lines, wanted, columns)
    if has_lines(looked, start, columns):
        return _from_lines(where, lines, wanted)
    first = head.partition(b"\n")[0].decode(errors="replace")
    return _from_rows(where, lines, wanted, columns, separator_of(first, start.ending))


def _is_whole(head: bytes) -> bool:
    """Whether a file is none of lines: Parquet, Arrow, or one JSON value."""
    if head.startswith((b"PAR1", b"ARROW1")):
        return True
    start = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not start.startswith((b"{", b"[")):
        return False
    try:
        value = json.loads(start.partition(b"\n")[0])
    except ValueError:
        return start.startswith(b"[")
    return not isinstance(value, dict)


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a file as they are read, whatever compresses it."""
    if str(path) == STANDARD_INPUT:
        yield io.BytesIO(decompressed(STANDARD_INPUT, standard_input().read()))
        return
    note_read(path)
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


def _from_lines(where: str, lines: Iterable[tuple[int, bytes]], wanted: set[str]) -> Found:
    """Lines of a doc and its text; those of other docs are not decoded."""
    names = {doc.encode() for doc in wanted}
    for number, line in lines:
        separator = b"\t" if b"\t" in line else b" "
        if line.strip().partition(separator)[0] in names:
            doc, text = split_line(_decoded(where, number, line))
            yield doc, {"text": text}


def _from_objects(where: str, lines: Iterable[tuple[int, bytes]], wanted: set[str], columns: Named) -> Found:
    """Objects with an id and texts; those whose id can be seen not to be wanted are not parsed."""
    names = {doc.encode() for doc in wanted}
    of_ids: re.Pattern[bytes] | None = None
    for number, line in lines:
        if not line.strip() or (of_ids is not None and _is_of_another(of_ids, line, names)):
            continue
        record = _object(where, number, line)
        fields = list(record)
        place = doc_place(fields, columns, f"{where}:{number}")
        if of_ids is None:
            of_ids = re.compile(re.escape(json.dumps(fields[place]).encode()) + rb'\s*:\s*"((?:[^"\\]|\\.)*)"')
        doc = str(record[fields[place]])
        if doc in wanted:
            cells = ["" if value is None else str(value) for value in record.values()]
            yield doc, fields_of(fields, cells, place)


def _is_of_another(of_ids: re.Pattern[bytes], line: bytes, names: set[bytes]) -> bool:
    """Whether an object has an id, and surely none that is wanted; ids with escapes are left to the parser."""
    seen = of_ids.findall(line)
    return bool(seen) and not any(name in names or b"\\" in name for name in seen)


def _object(where: str, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(_decoded(where, number, line))
    except (ValueError, RecursionError):
        raise DataError.at(where, number, 'not JSON; write {"_id": …, "text": …} on each line') from None
    if not isinstance(record, dict):
        raise DataError.at(where, number, 'a line is not an object; write {"_id": …, "text": …} on each line')
    return record


def _from_rows(
    where: str, lines: Iterable[tuple[int, bytes]], wanted: set[str], columns: Named, separator: str
) -> Found:
    """Rows below a header with a column of docs."""
    csv.field_size_limit(LARGEST_CELL)
    reader = csv.reader((_decoded(where, number, line) for number, line in lines), delimiter=separator, strict=True)
    try:
        header = next(reader, [])
        place = doc_place(header, columns, where)
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise DataError.at(where, reader.line_num, f"{len(row)} cells where the header has {len(header)}")
            if row[place] in wanted:
                yield row[place], fields_of(header, row, place)
    except csv.Error as error:
        raise DataError.at(where, reader.line_num, f"{error}; check the quotes of that line") from None


def _decoded(where: str, number: int, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise DataError.at(where, number, "not UTF-8; save the file as UTF-8") from None
