"""Data frames of pandas and polars and tables of Arrow, in and out; none of these libraries is imported unasked.

A frame that a person brings is recognised by the module of its type, so that its library is there already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import DataError, MissingExtra, UsageError

FRAMES = {
    "pandas": ("DataFrame",),
    "polars": ("DataFrame", "LazyFrame"),
    "pyarrow": ("Table", "RecordBatch"),
}
"""Types of each library that are tables."""


class MissingPandas(MissingExtra):
    """A frame of pandas is asked for, and pandas is not installed."""

    def __init__(self) -> None:
        super().__init__("pandas", "pandas")

    def __str__(self) -> str:
        return "pandas is not installed; install it with: pip install pandas (or use to_polars)"


def library_of(thing: object) -> str | None:
    """The library whose table this is: pandas, polars or pyarrow; None for anything else.

    >>> library_of([1, 2]) is None
    True
    """
    for kind in type(thing).__mro__:
        library = kind.__module__.partition(".")[0]
        if kind.__name__ in FRAMES.get(library, ()):
            return library
    return None


@dataclass(frozen=True, eq=False)
class AnyFrame:
    """The columns of a table, whichever library it is of.

    >>> frame = AnyFrame.of_columns({"qid": [1, 2], "docno": ["a", "b"]})
    >>> frame.names, frame.values(0), len(frame)
    (('qid', 'docno'), [1, 2], 2)
    """

    library: str
    frame: Any
    names: tuple[str, ...]
    """The names of the columns as texts."""
    where: str

    @classmethod
    def of(cls, thing: Any, where: str | None = None) -> AnyFrame | None:
        """The columns of a frame of pandas or polars or an Arrow table; None if it is none of them.

        A pandas index that has a name, or that holds anything but the numbers of the rows, is a column like the others.
        """
        library = library_of(thing)
        if library is None:
            return None
        if library == "pandas":
            if any(name is not None for name in thing.index.names) or type(thing.index).__name__ != "RangeIndex":
                thing = thing.reset_index(allow_duplicates=True)
            labels = list(thing.columns)
        elif library == "polars":
            if type(thing).__name__ == "LazyFrame":
                thing = thing.collect()
            labels = list(thing.columns)
        else:
            labels = list(thing.schema.names)
        return cls(library, thing, tuple(map(str, labels)), where or f"the {library} table")

    @classmethod
    def of_columns(cls, columns: Mapping[Any, Sequence[Any]], where: str = "the table") -> AnyFrame:
        """A table from {column: values}."""
        sizes = {str(name): len(values) for name, values in columns.items()}
        if len(set(sizes.values())) > 1:
            told = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise DataError(f"{where}: the columns differ in length ({told}); every row needs all of them")
        return cls("", [list(values) for values in columns.values()], tuple(sizes), where)

    def __len__(self) -> int:
        if self.library:
            return len(self.frame) if self.library != "pyarrow" else int(self.frame.num_rows)
        return len(self.frame[0]) if self.frame else 0

    def matrix(self) -> tuple[list[Any] | None, list[str], list[list[Any]]]:
        """The table as a matrix: names of its rows (None where they are only numbered) and of its columns, numbers."""
        first = 1 if self._names_rows() else 0
        columns = [self.numbers(at) for at in range(first, len(self.names))]
        for at, cells in enumerate(columns, start=first):
            text = next((cell for cell in cells if isinstance(cell, str | bytes)), None)
            if text is not None:
                raise DataError(f"{self.where}: column {self.names[at]!r} holds {text!r}, not a number; give numbers")
        rows = [list(row) for row in zip(*columns, strict=True)]
        return self.ids(0, "row") if first else None, list(self.names[first:]), rows

    def _names_rows(self) -> bool:
        """Whether the first column names the rows: it holds texts, or is called as such a column is."""
        if not self.names or not len(self):
            return False
        first = self.names[0].strip().lower()
        return first in ("run", "system", "tag", "index") or isinstance(self.values(0)[0], str)

    def values(self, at: int) -> list[Any]:
        """The cells of a column, by its place, as plain Python values."""
        if self.library == "pandas":
            cells = self.frame.iloc[:, at].tolist()
        elif self.library == "polars":
            cells = self.frame.to_series(at).to_list()
        elif self.library == "pyarrow":
            cells = self.frame.column(at).to_pylist()
        else:
            cells = self.frame[at]
        return list(cells)

    def ids(self, at: int, what: str) -> list[Any]:
        """A column of ids: texts or whole numbers. Empty cells and decimal numbers are an error."""
        cells = self.values(at)
        if set(map(type, cells)) <= {str, int}:
            return cells
        column = f"{self.where}: column {self.names[at]!r}"
        for row, cell in enumerate(cells, start=1):
            if is_missing(cell):
                raise DataError(f"{column} is empty in row {row}; every row needs a {what}")
            if isinstance(cell, float):
                raise DataError(
                    f"{column} holds decimal numbers ({cell!r}), and the id of a {what} is a text or a whole number; "
                    "convert the column to int or str first"
                )
        return cells

    def numbers(self, at: int) -> list[Any]:
        """A column of numbers; empty cells are an error."""
        cells = self.values(at)
        if None in map(_one_if_plain, cells):
            for row, cell in enumerate(cells, start=1):
                if is_missing(cell):
                    column = f"{self.where}: column {self.names[at]!r}"
                    raise DataError(f"{column} is empty or not a number in row {row} ({cell!r}); every row needs one")
        return cells


def _one_if_plain(cell: Any) -> int | None:
    """1 for a cell that is surely a number; None for one that must be looked at."""
    return 1 if type(cell) in (int, float) and cell == cell else None


def is_missing(cell: Any) -> bool:
    """Whether a cell of a table is empty: None, not a number, or what pandas writes for nothing.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float) and cell != cell


def pandas_frame(columns: Mapping[str, Any], **options: Any) -> Any:
    """A pandas DataFrame of these columns."""
    try:
        import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        raise MissingPandas from None
    return pandas.DataFrame(dict(columns), **options)


def polars_frame(columns: Mapping[str, Any]) -> Any:
    """A polars DataFrame of these columns."""
    import polars

    try:
        return polars.DataFrame(dict(columns), strict=False)
    except (TypeError, ValueError, polars.exceptions.PolarsError) as error:
        raise UsageError(f"polars cannot hold this table ({error}); use to_pandas or to_dict") from None


class FramesOut:
    """What has named columns and goes out as a data frame."""

    def _frame_columns(self) -> Mapping[str, Any]:
        """{column: values}."""
        columns: Mapping[str, Any] = self.to_dict()  # type: ignore[attr-defined]
        return columns

    def to_pandas(self) -> Any:
        """A pandas DataFrame of the columns, with all digits."""
        return pandas_frame(self._frame_columns())

    def to_polars(self) -> Any:
        """A polars DataFrame of the columns, with all digits."""
        return polars_frame(self._frame_columns())
