"""CSV, TSV, JSONL and Parquet as rows of text with their line numbers: what the readers of each kind of table share."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import DataError
from assay.core.registry import MOST_NAMES
from assay.io.files import kind, read_bytes, refuse_other_encodings, write_whole
from assay.io.rows import number

LARGEST = 1e70
"""The fourth power of larger numbers, which tests of variances need, would overflow."""


@dataclass(frozen=True)
class Sheet:
    """A header and rows of text, each with the line it stood on."""

    where: str
    header: list[str]
    rows: list[list[str]]
    lines: list[int]

    def find(self, *names: str) -> int | None:
        """The place of the first of these column names that is there, whatever its case; None if none is."""
        return place_of(self.header, names)

    def place(self, *names: str) -> int:
        """As `find`, but a column that is not there is an error."""
        found = self.find(*names)
        if found is None:
            known = ", ".join(self.header[:MOST_NAMES]) + (" …" if len(self.header) > MOST_NAMES else "")
            raise DataError(f"{self.where}: no column {names[0]!r}; the columns are: {known}")
        return found

    def number(self, row: int, column: int) -> float:
        """A cell as a number, or an error that names its line."""
        text = self.rows[row][column]
        value = number(text.strip())
        if value is None:
            raise DataError.at(
                self.where, self.lines[row], f"{self.header[column]} is not a number: {_shortened(text)!r}"
            )
        return value

    def finite(self, row: int, column: int, *, largest: float = LARGEST) -> float:
        """As `number`, but one that is not finite or beyond the largest is an error too."""
        value = self.number(row, column)
        if not abs(value) <= largest:
            what = f"{self.header[column].strip()} is {_shortened(self.rows[row][column])!r}"
            what += f"; a finite number of at most {largest:g} in size is needed"
            raise DataError.at(self.where, self.lines[row], what)
        return value


def _shortened(text: str) -> str:
    """A cell as it is shown in a message."""
    return text if len(text) <= 60 else text[:57] + "…"


def place_of(header: Sequence[str], names: Sequence[str]) -> int | None:
    """The place in a header of the first of these names that is there, whatever its case; None if none is."""
    lowered = [h.strip().lower() for h in header]
    return next((lowered.index(name) for name in names if name in lowered), None)


def separator_of(first: str, how: str) -> str:
    """What parts the cells of a text with this first line: a comma, or a tab where the ending or the line says so."""
    return "\t" if how == "tsv" or ("\t" in first and "," not in first) else ","


def read_sheet(path: str | Path, *, format: str | None = None, raw: bytes | None = None) -> Sheet:
    """A table file, whose bytes may be given, as text; the ending tells the format, or tabs in the first line."""
    where, how = str(path), format or kind(path)
    raw = read_bytes(path) if raw is None else raw
    if how == "parquet":
        return _from_parquet(where, raw)
    text = decoded(where, raw)
    if how == "jsonl":
        return _from_jsonl(where, text)
    return _from_separated(where, text, separator_of(text.partition("\n")[0], how))


def decoded(where: str, raw: bytes) -> str:
    """UTF-8 text without its byte-order mark, or an error that names the line."""
    refuse_other_encodings(where, raw[:8])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError.at(where, line, f"not UTF-8: byte {raw[error.start]:#04x}; save the file as UTF-8") from None


def _from_separated(where: str, text: str, separator: str) -> Sheet:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            if row and any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise DataError.at(where, reader.line_num, f"{error}; check the quotes of that line") from None
    if not rows:
        raise DataError(f"{where}: the file is empty; a header line and rows are expected")
    for row, line in zip(rows[1:], lines[1:], strict=True):
        if len(row) != len(rows[0]):
            raise DataError.at(where, line, f"{len(row)} cells where the header has {len(rows[0])}")
    return Sheet(where, rows[0], rows[1:], lines[1:])


def _from_jsonl(where: str, text: str) -> Sheet:
    records: list[dict[str, Any]] = []
    lines: list[int] = []
    # Only a line feed ends a line: JSON strings may hold the other characters that end lines elsewhere.
    for place, line in enumerate(text.split("\n"), 1):
        if line.strip():
            records.append(_record(where, place, line))
            lines.append(place)
    if not records:
        raise DataError(f"{where}: the file is empty; one JSON object per line is expected")
    header = list(dict.fromkeys(key for record in records for key in record))
    rows = [[_cell(record.get(key)) for key in header] for record in records]
    return Sheet(where, header, rows, lines)


def _record(where: str, place: int, line: str) -> dict[str, Any]:
    """The object on a line of JSONL."""
    try:
        record = json.loads(line)
        if "\\u" in line:  # half of a pair of surrogates can be written in JSON, but stands for no character
            json.dumps(record, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise DataError.at(where, place, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise DataError.at(where, place, "not JSON: nested too deep") from None
    except UnicodeEncodeError:
        what = "a \\u escape is half of a pair of surrogates and no character; write both or neither"
        raise DataError.at(where, place, what) from None
    except ValueError:  # Python refuses to read integers of thousands of digits
        raise DataError.at(where, place, "a number has thousands of digits; write it shorter") from None
    if not isinstance(record, dict):
        raise DataError.at(where, place, 'a line is not an object; write {"topic": …, "doc": …}')
    return record


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def _from_parquet(where: str, raw: bytes) -> Sheet:
    from assay.io.columns import parse_columns

    table = parse_columns(where, raw, "parquet")
    header = [column.name for column in table.columns]
    cells = [column.cells() for column in table.columns]
    rows = [list(row) for row in zip(*cells, strict=True)]
    return Sheet(where, header, rows, list(range(1, len(rows) + 1)))


def write_sheet(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table file in the format of its ending: CSV, TSV, JSONL or Parquet, compressed by a second ending."""
    how, body = kind(path), [list(r) for r in rows]
    if how == "parquet":
        import polars

        out = io.BytesIO()
        polars.DataFrame(body, schema=list(header), orient="row").write_parquet(out)
        write_whole(path, out.getvalue())
    elif how == "jsonl":
        lines = (json.dumps(dict(zip(header, r, strict=True)), ensure_ascii=False) for r in body)
        write_whole(path, "".join(line + "\n" for line in lines))
    else:
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t" if how == "tsv" else ",", lineterminator="\n")
        writer.writerow(header)
        writer.writerows(body)
        write_whole(path, text.getvalue())
