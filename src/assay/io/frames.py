"""Large tables by column: polars parses CSV, TSV, JSONL and Parquet, ids and numbers are made as of TREC files.

Only plain tables are read here: every cell filled, one row a line, no quotes within a cell. For anything else the
answer is None, and `sheet` reads the table row by row, which is slow and says what is wrong on which line.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Ints
from assay.core.ids import WORD, Ids
from assay.io._bytes.decimals import read_decimals
from assay.io._bytes.fields import BYTE_ORDER_MARK
from assay.io.files import kind
from assay.io.sheet import place_of, separator_of

if TYPE_CHECKING:
    import polars

LARGE = 1 << 18
"""Bytes from which on a text file is worth the import of polars."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A table without empty cells, by column."""

    frame: polars.DataFrame

    def __len__(self) -> int:
        return len(self.frame)

    def has(self, *names: str) -> bool:
        """Whether a column has one of these names."""
        return place_of(self.frame.columns, names) is not None

    def ids(self, *names: str) -> Ids | None:
        """A column of ids; None if there is none of these names, or if it holds other things than text and integers."""
        column = self._column(names)
        if column is None or not (column.dtype.is_integer() or column.dtype == _polars().String):
            return None
        text = column.cast(_polars().String)
        lengths = text.str.len_bytes().to_numpy().astype(np.int64)
        if not lengths.all():
            return None
        buffer = np.frombuffer(text.str.join("").item().encode() + bytes(2 * WORD), dtype=np.uint8)
        return Ids(buffer, np.cumsum(lengths) - lengths, lengths)

    def numbers(self, *names: str) -> npt.NDArray[np.float64] | None:
        """A column of numbers, none of them NaN; None if it is not that."""
        column = self._column(names)
        if column is None or not (column.dtype.is_numeric() or column.dtype == _polars().String):
            return None
        text = None if column.dtype.is_numeric() else self.ids(*names)
        values = column.to_numpy().astype(np.float64) if text is None else read_decimals(text)
        return None if len(values) != len(self) or np.isnan(values).any() else values

    def wholes(self, *names: str, largest: int) -> Ints | None:
        """A column of whole numbers up to that size; None if it is not that."""
        values = self.numbers(*names)
        fit = values is not None and bool(((np.abs(values) <= largest) & (values == np.floor(values))).all())
        return values.astype(np.int64) if values is not None and fit else None

    def last(self, *names: str) -> str | None:
        """The text of a column's last cell; None if there is none of these names or it holds other things."""
        found = Frame(self.frame.tail(1)).ids(*names)
        return None if found is None else found[0]

    def _column(self, names: tuple[str, ...]) -> polars.Series | None:
        at = place_of(self.frame.columns, names)
        return None if at is None else self.frame.to_series(at)


def read_frame(path: object, raw: bytes) -> Frame | None:
    """The table in the bytes of a file, or None where it is small or not plain."""
    how = kind(str(path))
    if how != "parquet" and len(raw) < LARGE:
        return None
    try:
        frame = _parsed(raw.removeprefix(BYTE_ORDER_MARK), how)
    except (_polars().exceptions.PolarsError, OSError, ValueError):
        return None
    if not len(frame) or any(frame.null_count().row(0)):
        return None
    return Frame(frame) if _is_plain(frame, raw, how) else None


def _parsed(raw: bytes, how: str) -> polars.DataFrame:
    pl = _polars()
    if how == "parquet":
        return pl.read_parquet(io.BytesIO(raw))
    if how == "jsonl":
        return pl.read_ndjson(io.BytesIO(raw), infer_schema_length=None)
    first = raw[: raw.find(b"\n")].decode()
    return pl.read_csv(io.BytesIO(raw), separator=separator_of(first, how), infer_schema=False)


def _is_plain(frame: polars.DataFrame, raw: bytes, how: str) -> bool:
    """Whether each line of a text is a row (the first of a CSV its header), and no cell has a quote or a line end."""
    lines = raw.count(b"\n") + (not raw.endswith(b"\n"))
    if how in ("parquet", "jsonl"):
        return how == "parquet" or lines == len(frame)
    if b'"' in raw or b"\r" in raw:
        every = frame.get_columns()
        return lines == len(frame) + 1 and not any(c.str.contains_any(['"', "\r", "\n"]).any() for c in every)
    return lines == len(frame) + 1


def _polars() -> Any:
    import polars

    return polars
