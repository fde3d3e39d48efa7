"""Large Parquet and Arrow files as pieces of whole topics: rows between two places where the topic changes.

Only the columns of a run are read, and of these only the rows of a piece. Where the topic changes is found by looking
at a few rows around each cut. The rows of a topic must stand together: who puts the pieces together sees a topic that
comes twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from assay.core.errors import DataError
from assay.core.ids import Ids
from assay.data import Run
from assay.io.column_names import Named, may_name_docs
from assay.io.columns import IDS, Columns, columns_of_rows, shape_of
from assay.io.frames import Frame
from assay.io.tabular import run_places, runs_of_rows

PIECE_ROWS = 1 << 18
"""Rows of a piece, about."""
WINDOW_ROWS = 1 << 12
"""Rows that are read first to find the end of a topic; each time it is not there, twice as many."""
RUNS_TOGETHER = 4
"""Pieces whose rows one topic of many runs may fill, before it is cut between the runs."""


@dataclass(frozen=True)
class RowTable:
    """A Parquet or Arrow file with runs or judgments: its rows, and the columns of it that are read."""

    path: str
    how: str
    rows: int
    names: tuple[str, ...]
    places: Mapping[str, int]
    """Where each of our columns stands among the names."""
    size: int
    changed: int
    """Size and time of change of the file when it was opened."""

    @property
    def said(self) -> Named:
        """The names of the columns as a person would say them: nothing about them is open any more."""
        return {ours: self.names[place] for ours, place in self.places.items()}

    def columns(self, names: Sequence[str], start: int, stop: int) -> Columns:
        """Some columns of some rows; an error if the file is not the one that was opened."""
        ids = [self.names[place] for ours, place in self.places.items() if ours in IDS]
        wanted_ids = [name for name in ids if name in names]
        try:
            found = columns_of_rows(self.path, self.how, names, start, stop, ids=wanted_ids)
        except DataError:
            self._refuse_change()
            raise
        self._refuse_change()
        return found

    def _refuse_change(self) -> None:
        if _state(self.path) != (self.size, self.changed):
            raise DataError(f"{self.path}: the file was changed while it was read; read it again when it is written")


@dataclass(frozen=True)
class RowPiece:
    """Whole topics of a table: the rows from `start` to `stop`. It can be sent to where the file can be opened."""

    table: RowTable
    start: int
    stop: int

    @property
    def path(self) -> str:
        """The file."""
        return self.table.path

    @property
    def is_of_one_run(self) -> bool:
        """Whether all its rows are of one run, whatever they are called."""
        return False

    def runs(self, *, ranks: bool = False, threads: int = 1) -> list[Run]:
        """The runs of the piece. An error names the row of the file."""
        table = self.table
        columns = table.columns(table.names, self.start, self.stop)
        return runs_of_rows(table.path, columns, table.places, table.said, first=self.start + 1)


def row_table(path: str, how: str, columns: Named = None) -> RowTable | None:
    """A Parquet or Arrow file as a table of runs; a column that is missing is an error.

    None where a column `name` may name the runs or the docs, which only all rows together say.
    """
    table = opened_table(path, how, lambda names: run_places(names, columns, path))
    if "run" in table.places and may_name_docs(table.names, table.places["run"], columns):
        return None
    return table


def opened_table(path: str, how: str, places_in: Callable[[Sequence[str]], Mapping[str, int]]) -> RowTable:
    """A Parquet or Arrow file, and of its columns those that are wanted of all that it has."""
    size, changed = _state(path)
    shape = shape_of(path, how)
    in_file = places_in(shape.names)
    names = tuple(shape.names[place] for place in sorted(in_file.values()))
    places = {ours: names.index(shape.names[place]) for ours, place in in_file.items()}
    return RowTable(path, how, shape.rows, names, places, size, changed)


def _state(path: str) -> tuple[int, int]:
    state = os.stat(path)
    return state.st_size, state.st_mtime_ns


def cut_rows(table: RowTable, size: int | None = None) -> list[RowPiece]:
    """The pieces of a table, each of about that many rows and of whole topics."""
    length = size or PIECE_ROWS
    cuts = [0]
    while cuts[-1] + length < table.rows:
        cuts.append(_next_topic(table, cuts[-1] + length, length))
    if cuts[-1] < table.rows:
        cuts.append(table.rows)
    return [RowPiece(table, start, stop) for start, stop in pairwise(cuts)]


def _next_topic(table: RowTable, at: int, size: int) -> int:
    """The first row from `at` on whose topic is not that of the row before it; else the end.

    A table may have many runs, and a topic of all of them more rows than several pieces: then a change of run will do.
    """
    window = WINDOW_ROWS
    while True:
        stop = min(at + window, table.rows)
        change = _first_change(table, "topic", at - 1, stop)
        if change is None and window >= RUNS_TOGETHER * size and "run" in table.places:
            change = _first_change(table, "run", at - 1, stop)
        if change is not None:
            return change
        if stop == table.rows:
            return stop
        window *= 2


def _first_change(table: RowTable, ours: str, start: int, stop: int) -> int | None:
    """The first row after `start` and before `stop` where a column changes; None if there is none."""
    name = table.names[table.places[ours]]
    frame = Frame(table.columns([name], start, stop))
    column = frame.table.columns[0]
    values: Ids | None = frame.ids(0)
    if values is None:  # something that is no id: the reader of the piece says what
        values = Ids.of(column.cells())
    changes = values.changes()
    later = changes[changes > 0]
    return start + int(np.min(later)) if len(later) else None
