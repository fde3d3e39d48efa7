"""Large tables by column: polars parses CSV, TSV, JSONL and Parquet, ids and numbers are made as of TREC files.

Only plain tables are read here: every cell filled, one row a line, no quotes within a cell. For anything else the
answer is None, and `sheet` reads the table row by row, which is slow and says what is wrong on which line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError
from assay.core.ids import Ids
from assay.io._bytes.decimals import read_decimals
from assay.io._bytes.fields import BYTE_ORDER_MARK
from assay.io.columns import Column, Columns, parse_columns
from assay.io.files import kind
from assay.io.sheet import place_of, separator_of

LARGE = 1 << 18
"""Bytes from which on a text file is worth a start of the parser."""

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, eq=False)
class Frame:
    """A table without empty cells, by column."""

    table: Columns

    def __len__(self) -> int:
        return self.table.rows

    def has(self, *names: str) -> bool:
        """Whether a column has one of these names."""
        return self._column(names) is not None

    def ids(self, *names: str) -> Ids | None:
        """A column of ids; None if there is none of these names, or if it holds other things than text and integers."""
        column = self._column(names)
        if column is None or column.kind not in ("text", "integer"):
            return None
        ids = column.texts if column.texts is not None else Ids.of(column.cells())
        return ids if ids.lengths.all() else None

    def numbers(self, *names: str) -> Floats | None:
        """A column of numbers, none of them NaN; None if it is not that."""
        column = self._column(names)
        if column is None or column.kind == "other":
            return None
        if column.values is not None:
            values = column.values.astype(np.float64)
        else:
            texts = self.ids(*names)
            if texts is None:
                return None
            values = read_decimals(texts)
        return None if np.isnan(values).any() else values

    def wholes(self, *names: str, largest: int) -> Ints | None:
        """A column of whole numbers up to that size; None if it is not that."""
        values = self.numbers(*names)
        if values is None:
            return None
        fits = (np.abs(values) <= largest) & (values == np.floor(values))
        return values.astype(np.int64) if fits.all() else None

    def last(self, *names: str) -> str | None:
        """The text of a column's last cell; None if there is none of these names or it holds other things."""
        found = self.ids(*names)
        return None if found is None else found[len(found) - 1]

    def _column(self, names: tuple[str, ...]) -> Column | None:
        at = place_of([column.name for column in self.table.columns], names)
        return None if at is None else self.table.columns[at]


def read_frame(path: object, raw: bytes) -> Frame | None:
    """The table in the bytes of a file, or None where it is small or not plain."""
    where, how = str(path), kind(str(path))
    if how == "parquet":
        table = parse_columns(where, raw, how)
    else:
        if len(raw) < LARGE:
            return None
        try:
            table = _parsed_text(where, raw.removeprefix(BYTE_ORDER_MARK), how)
        except (DataError, UnicodeDecodeError):
            return None
    if not table.rows or any(column.missing is not None for column in table.columns):
        return None
    return Frame(table) if how == "parquet" or _is_plain(table, raw, how) else None


def _parsed_text(where: str, raw: bytes, how: str) -> Columns:
    if how == "jsonl":
        return parse_columns(where, raw, how)
    first = raw[: raw.find(b"\n")].decode()
    return parse_columns(where, raw, how, separator=separator_of(first, how))


def _is_plain(table: Columns, raw: bytes, how: str) -> bool:
    """Whether each line of a text is a row (the first of a CSV its header), and no cell has a quote or a line end."""
    lines = raw.count(b"\n") + (not raw.endswith(b"\n"))
    if how == "jsonl":
        # An escaped surrogate may lack its other half, which only the reader of rows refuses.
        return lines == table.rows and not SURROGATE.search(raw)
    if lines != table.rows + 1 or raw.count(b"\r") != raw.count(b"\r\n"):
        return False
    if b'"' not in raw and b"\r" not in raw:
        return True
    return not any(column.texts is not None and _has_marks(column.texts) for column in table.columns)


def _has_marks(texts: Ids) -> bool:
    """Whether a text has a quote or the end of a line in it."""
    return bool(np.isin(texts.buffer, np.frombuffer(b'"\r\n', np.uint8)).any())
