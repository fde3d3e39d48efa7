"""Large tables by column: polars parses CSV, TSV, JSONL, Parquet and Arrow, ids and numbers are made as of TREC files.

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
from assay.io.columns import Columns, parse_columns
from assay.io.content import Content
from assay.io.samples import Sample, separator_of, table_syntax

LARGE = 1 << 18
"""Bytes from which on a text file is worth a start of the parser."""

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, eq=False)
class Frame:
    """A table without empty cells, by column."""

    table: Columns

    def __len__(self) -> int:
        return self.table.rows

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.table.columns]

    def ids(self, at: int) -> Ids | None:
        """A column of ids, by its place; None if it holds other things than text and integers."""
        column = self.table.columns[at]
        if column.kind not in ("text", "integer"):
            return None
        ids = column.texts if column.texts is not None else Ids.of(column.cells())
        return ids if ids.lengths.all() else None

    def numbers(self, at: int) -> Floats | None:
        """A column of numbers, none of them NaN; None if it is not that."""
        column = self.table.columns[at]
        if column.kind == "other":
            return None
        if column.values is not None:
            values = column.values.astype(np.float64)
        else:
            texts = self.ids(at)
            if texts is None:
                return None
            values = read_decimals(texts)
        return None if np.isnan(values).any() else values

    def wholes(self, at: int, *, largest: int) -> Ints | None:
        """A column of whole numbers up to that size; None if it is not that."""
        values = self.numbers(at)
        if values is None:
            return None
        fits = (np.abs(values) <= largest) & (values == np.floor(values))
        return values.astype(np.int64) if fits.all() else None


def read_frame(content: Content, sample: Sample) -> Frame | None:
    """The table in the content of a file, or None where it is small or not plain."""
    syntax = table_syntax(sample, content.ending)
    if syntax == "json":
        return None
    raw = content.bytes()
    is_binary = syntax in ("parquet", "arrow")
    if is_binary:
        table = parse_columns(content.where, raw, syntax)
    else:
        if len(raw) < LARGE:
            return None
        try:
            table = _parsed_text(content, raw, syntax)
        except (DataError, UnicodeDecodeError):
            return None
    if not table.rows or any(column.missing is not None for column in table.columns):
        return None
    return Frame(table) if is_binary or _is_plain(table, raw, syntax) else None


def _parsed_text(content: Content, raw: bytes, syntax: str) -> Columns:
    if syntax == "jsonl":
        return parse_columns(content.where, raw, syntax)
    first = raw[: raw.find(b"\n")].decode()
    return parse_columns(content.where, raw, syntax, separator=separator_of(first, content.ending))


def _is_plain(table: Columns, raw: bytes, syntax: str) -> bool:
    """Whether each line of a text is a row (the first of a CSV its header), and no cell has a quote or a line end."""
    lines = raw.count(b"\n") + (not raw.endswith(b"\n"))
    if syntax == "jsonl":
        # An escaped surrogate may lack its other half, which only the reader of rows refuses.
        return lines == table.rows and not SURROGATE.search(raw)
    if lines != table.rows + 1 or raw.count(b"\r") != raw.count(b"\r\n"):
        return False
    if raw.endswith((b",", b"\t")):  # polars passes over a cell too many at the very end
        return False
    if b'"' not in raw and b"\r" not in raw:
        return True
    return not any(column.texts is not None and _has_marks(column.texts) for column in table.columns)


def _has_marks(texts: Ids) -> bool:
    """Whether a text has a quote or the end of a line in it."""
    return bool(np.isin(texts.buffer, np.frombuffer(b'"\r\n', np.uint8)).any())
