"""Which files are so large that they are scored in pieces, and which pieces are these?

Text is cut between lines (`topic_cuts`), Parquet and Arrow between rows (`row_cuts`). A table is cut much earlier than
a TREC file, since reading it whole takes several times as much memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from assay.core.files_read import note_read
from assay.data import Run
from assay.io.brought import RUNS, Source, files_given, runs_of
from assay.io.column_names import Named
from assay.io.content import HEAD
from assay.io.files import STANDARD_INPUT, is_compressed
from assay.io.readers import holds_several
from assay.io.samples import binary_format

if TYPE_CHECKING:
    from assay.io.line_forms import LineForm
    from assay.io.row_cuts import RowTable

LARGE_FILE = 1 << 28
"""Bytes from which on a text file is too large to be held. A TREC run below is held whole, which is a little faster."""
LARGE_COMPRESSED = 1 << 26
"""The same of a compressed file, of Parquet and Arrow, and of standard input."""
LARGE_TABLE = 1 << 22
"""Bytes from which on a table is scored in pieces; below the sizes above it is still read whole if it must be."""

TABLE_PIECE = 1 << 23
"""Bytes of a piece of a text with cells or objects, about: parsing takes many times as much."""


class Piece(Protocol):
    """Whole topics of a file."""

    @property
    def path(self) -> str:
        """The file."""
        ...

    @property
    def is_of_one_run(self) -> bool:
        """Whether all of the file is one run, whatever its lines are called."""
        ...

    def runs(self, *, ranks: bool = False, threads: int = 1) -> list[Run]:
        """The runs of the piece. An error names the line of the file."""
        ...


@dataclass(frozen=True)
class LargeFile:
    """A run file that is scored in pieces, and how it is cut. It can be sent to where the file can be opened."""

    path: str
    form: LineForm | RowTable
    is_compressed: bool
    can_be_held: bool
    """Whether it can be read whole after all, where its topics are not together."""

    def pieces(self) -> Iterable[Piece]:
        """Pieces of whole topics: a list where they can be read in any order, else a stream."""
        from assay.io.row_cuts import RowTable, cut_rows

        if isinstance(self.form, RowTable):
            return cut_rows(self.form)
        if self.is_compressed:
            return self._stream(self.form)
        from assay.io.topic_cuts import cut_file

        return cut_file(self.path, piece_size(self.form), self.form)

    def _stream(self, form: LineForm) -> Iterator[Piece]:
        from assay.io.decompression import ByteStream
        from assay.io.topic_cuts import pieces_of_stream

        with open(self.path, "rb") as file:
            stream = ByteStream(self.path, file)
            yield from pieces_of_stream(self.path, stream, piece_size(form), form=form)


def piece_size(form: LineForm) -> int | None:
    """How many bytes the pieces of a text have, about; None for as many as is usual."""
    from assay.io.line_forms import WordLines

    return None if isinstance(form, WordLines) else TABLE_PIECE


def large_file(path: str | Path, columns: Named = None) -> LargeFile | None:
    """A run file that is scored in pieces; None where it is read whole: it is small, or of a form that cannot be cut.

    columns: our column → that of a table.
    """
    where = str(path)
    if where == STANDARD_INPUT or not os.path.isfile(where):
        return None
    note_read(where)
    size = os.path.getsize(where)
    if size < LARGE_TABLE:
        return None
    with open(where, "rb") as file:
        head = file.read(HEAD)
    binary = binary_format(head)
    if binary is not None:
        from assay.io.row_cuts import row_table

        table = row_table(where, binary, columns)
        return None if table is None else LargeFile(where, table, False, size < LARGE_COMPRESSED)
    from assay.io.line_forms import WordLines, form_of

    packed = is_compressed(head)
    form = form_of(where, _unpacked_head(where) if packed else head, columns)
    can_be_held = size < (LARGE_COMPRESSED if packed else LARGE_FILE)
    if form is None or (can_be_held and isinstance(form, WordLines)):
        return None
    return LargeFile(where, form, packed, can_be_held)


def _unpacked_head(where: str) -> bytes:
    from assay.io.decompression import ByteStream

    with open(where, "rb") as file:
        return ByteStream(where, file).read(HEAD)


def sources_of(thing: Any, *, columns: Named = None, ranks: bool = False) -> list[Source | LargeFile]:
    """As `runs_of`, with files of several runs that are too large to be held left to be read in pieces.

    >>> sources_of({"q1": {"d1": 2.5}})
    [Run('run', 1 topic, 1 doc)]
    """
    paths = [thing] if isinstance(thing, str | Path) else thing
    are_paths = isinstance(paths, list | tuple) and all(isinstance(path, str | Path) for path in paths)
    if not are_paths or not paths:
        return list(runs_of(thing, columns=columns, ranks=ranks))
    sources: list[Source | LargeFile] = []
    for path in paths:
        for file in files_given(path, RUNS):
            if not columns and not holds_several(file):
                sources.append(file)
                continue
            large = large_file(file, columns)
            sources += runs_of(file, columns=columns, ranks=ranks) if large is None else [large]
    return sources
