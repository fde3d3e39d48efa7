"""Tables as rows of text with their lines, whatever their format: what readers of all kinds of table share."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import DataError, UsageError
from assay.io.column_names import listed
from assay.io.content import Content
from assay.io.files import refuse_other_encodings, table_format, write_whole
from assay.io.json_values import json_lines
from assay.io.rows import number, overflow_of
from assay.io.samples import Sample, sample_of, separator_of, table_syntax

if TYPE_CHECKING:
    from assay.io.columns import Columns

LARGEST_CELL = 2**31 - 1
"""Characters of a cell: whole articles may stand in one."""
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
            raise DataError(f"{self.where}: no column {names[0]!r}; the columns are: {listed(self.header)}")
        return found

    def number(self, row: int, column: int) -> float:
        """A cell as a number, or an error that names its line."""
        text = self.rows[row][column]
        value = number(text.strip())
        if value is None:
            raise DataError.at(
                self.where, self.lines[row], f"{self.header[column]} is not a number: {_shortened(text)!r}"
            )
        overflow = overflow_of(self.header[column], text.strip())
        if overflow:
            raise DataError.at(self.where, self.lines[row], overflow)
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


def read_sheet(path: str | Path) -> Sheet:
    """A table file as text; its content tells the format, and its ending where the content does not."""
    content = Content.of(path)
    return sheet_in(content, sample_of(content))


def sheet_in(content: Content, sample: Sample) -> Sheet:
    """The table in the content of a file."""
    where = content.where
    syntax = table_syntax(sample, content.ending)
    if syntax in ("parquet", "arrow"):
        return _from_columns(where, content.bytes(), syntax)
    if syntax == "json":
        return _from_json(where, sample.value)
    text = decoded(where, content.bytes())
    if syntax == "jsonl":
        return _from_jsonl(where, text)
    return _from_separated(where, text, separator_of(text.partition("\n")[0], content.ending))


def decoded(where: str, raw: bytes) -> str:
    """UTF-8 text without its byte-order mark, or an error that names the line."""
    refuse_other_encodings(where, raw[:8])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError.at(where, line, f"not UTF-8: byte {raw[error.start]:#04x}; save the file as UTF-8") from None


def _from_separated(where: str, text: str, separator: str) -> Sheet:
    csv.field_size_limit(LARGEST_CELL)
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
    numbered = list(json_lines(where, text))
    if not numbered:
        raise DataError(f"{where}: the file is empty; one JSON object per line is expected")
    lines, records = zip(*numbered, strict=True)
    return sheet_of_records(where, records, lines)


def _from_json(where: str, value: Any) -> Sheet:
    """The table of a JSON file that is a list of objects; a row is called by its place in the list."""
    if not isinstance(value, list) or not value or not all(isinstance(record, dict) for record in value):
        raise DataError(f"{where}: not a table; a table in JSON is a list of objects, one for each row")
    return sheet_of_records(where, value, range(1, len(value) + 1))


def sheet_of_records(where: str, records: Sequence[dict[str, Any]], lines: Sequence[int]) -> Sheet:
    """Objects as rows; a field that an object lacks is an empty cell."""
    header = list(dict.fromkeys(key for record in records for key in record))
    rows = [[_cell(record.get(key)) for key in header] for record in records]
    return Sheet(where, header, rows, list(lines))


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def _from_columns(where: str, raw: bytes, how: str) -> Sheet:
    from assay.io.columns import parse_columns

    return sheet_of_columns(where, parse_columns(where, raw, how))


def sheet_of_columns(where: str, table: Columns, *, first: int = 1) -> Sheet:
    """Columns as rows of text; the first row has that number."""
    header = [column.name for column in table.columns]
    cells = [column.cells() for column in table.columns]
    rows = [list(row) for row in zip(*cells, strict=True)]
    return Sheet(where, header, rows, list(range(first, first + len(rows))))


def write_sheet(
    path: str | Path, header: Sequence[str], rows: Iterable[Sequence[Any]], *, format: str | None = None
) -> None:
    """A table file in a format of TABLES, by default that of its ending, else CSV; compressed by a second ending."""
    how = format or table_format(path) or "csv"
    body = [list(row) for row in rows]
    if how in ("parquet", "arrow"):
        write_whole(path, _as_columns(path, header, body, how))
    elif how in ("json", "jsonl"):
        write_whole(path, _as_json(path, header, body, how))
    else:
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t" if how == "tsv" else ",", lineterminator="\n")
        writer.writerow(header)
        writer.writerows(body)
        write_whole(path, text.getvalue())


def _as_columns(path: str | Path, header: Sequence[str], body: list[list[Any]], how: str) -> bytes:
    """The bytes of a Parquet or Arrow file."""
    import polars

    columns = list(zip(*body, strict=True)) or [()] * len(header)
    try:
        made = [polars.Series(name, cells, strict=False) for name, cells in zip(header, columns, strict=True)]
        frame = polars.DataFrame(made)
    except polars.exceptions.PolarsError as error:
        raise UsageError(f"{path}: {how} cannot hold this table ({error}); write .csv or .jsonl") from None
    out = io.BytesIO()
    if how == "arrow":
        frame.write_ipc(out)
    else:
        frame.write_parquet(out)
    return out.getvalue()


def _as_json(path: str | Path, header: Sequence[str], body: list[list[Any]], how: str) -> str:
    """The text of a list of objects, or of one object a line."""
    records = [dict(zip(header, row, strict=True)) for row in body]
    try:
        lines = [json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records]
    except ValueError:
        raise DataError(f"{path}: JSON has no infinite numbers; write .csv or .parquet") from None
    if how == "jsonl":
        return "".join(line + "\n" for line in lines)
    return "[" + ",\n ".join(lines) + "]\n"
