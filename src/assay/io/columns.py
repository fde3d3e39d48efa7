"""Tables by column, parsed by polars in a process of its own: a file that crashes the parser is an error like others.

The process is started for the first table that needs it, which costs what importing polars here would cost, and serves
until this one ends. It hands back plain buffers, so that polars is not imported here at all.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, TypeVar

import numpy as np

from assay.core.arrays import Bools, Bytes, Floats, Ints
from assay.core.errors import DataError
from assay.core.files_read import note_read
from assay.core.ids import WORD, Ids

T = TypeVar("T")
IDS = frozenset({"run", "topic", "doc"})
"""Our columns of ids."""
PIPE = 1 << 20
"""Bytes that the pipes of the parser hold, where the system lets them: larger ones need fewer turns."""
TEXTUAL = ("text", "other")


@dataclass(frozen=True, eq=False)
class Column:
    """A column: `values` where it holds 64-bit integers or floats, `texts` where it holds texts or anything else.

    kind is integer, float, text or other; missing says which cells are empty, None if none is.
    """

    name: str
    kind: str
    missing: Bools | None
    values: Ints | Floats | None
    texts: Ids | None

    def cells(self) -> list[str]:
        """Every cell as text, an empty one as the empty text."""
        if self.texts is not None:
            cells = self.texts.tolist()
        else:
            assert self.values is not None
            cells = [repr(value) for value in self.values.tolist()]
        if self.missing is not None:
            for row in np.flatnonzero(self.missing).tolist():
                cells[row] = ""
        return cells


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table and the number of its rows."""

    rows: int
    columns: list[Column]


@dataclass(frozen=True)
class Shape:
    """How many rows a table has, and the names of its columns."""

    rows: int
    names: tuple[str, ...]


def parse_columns(where: str, raw: bytes, how: str, *, separator: str = ",") -> Columns:
    """The table in the bytes of a file: how is parquet, arrow, jsonl, or anything else for separated text.

    What polars refuses is an error, and so is what makes it die.
    """
    return _answered(where, {"how": how, "separator": separator}, raw, columns_from)


def shape_of(path: str, how: str) -> Shape:
    """The shape of a Parquet or Arrow file, of which nothing else is read."""
    note_read(path)
    asked = {"how": how, "path": os.path.abspath(path)}
    return _answered(path, asked, b"", lambda answer, _: Shape(answer["rows"], tuple(answer["names"])))


def columns_of_rows(
    path: str, how: str, names: Sequence[str], start: int, stop: int, *, ids: Collection[str] = ()
) -> Columns:
    """Some columns of the rows from `start` to `stop` of a Parquet or Arrow file; the others are not read.

    ids: those of the columns whose integers are wanted as texts.
    """
    rows = {"start": start, "rows": stop - start}
    asked = {"how": how, "path": os.path.abspath(path), "columns": list(names), "ids": list(ids), **rows}
    return _answered(path, asked, b"", columns_from)


@dataclass(frozen=True)
class DividedRows:
    """Some rows of a table by run and part: (run, part, number of rows, lines of CSV).

    run: None where the table does not name its runs. problem: what is wrong with a row, if anything is.
    """

    pieces: list[tuple[str | None, int, int, bytes]]
    top_grade: float | None = None
    problem: dict[str, Any] | None = None


def divided_rows(where: str, asked: dict[str, Any], names: Mapping[str, str], parts: int, raw: bytes) -> DividedRows:
    """The rows of a table divided by topic. asked: how the table is had, with its path and rows or with its bytes.

    names: our columns and what they are called in the table.
    """
    ids = [theirs for ours, theirs in names.items() if ours in IDS]
    wanted = {**asked, "columns": list(names.values()), "ids": ids, "names": dict(names), "parts": parts}
    return _answered(where, wanted, raw, _divided_from)


def _divided_from(answer: dict[str, Any], source: IO[bytes]) -> DividedRows:
    if "problem" in answer:
        return DividedRows([], problem=answer["problem"])
    pieces = []
    for piece in answer["pieces"]:
        text = _read(source, piece["size"]).tobytes()
        pieces.append((piece["run"], piece["part"], piece["rows"], text))
    return DividedRows(pieces, answer["top_grade"])


def _answered(where: str, asked: dict[str, Any], raw: bytes, made: Callable[[dict[str, Any], IO[bytes]], T]) -> T:
    """What is made of the answer to a request; a refusal is an error, and so is a parser that dies."""
    how = asked["how"]
    with _LOCK:
        try:
            return _asked(_process(), asked, raw, made)
        except (BrokenPipeError, EOFError):
            _stop()
            what = f"the file is damaged: it makes the parser of {_format(how)} files crash"
            raise DataError(f"{where}: {what}; fetch or write it again") from None
        except BaseException as error:
            # Half an answer may be on its way, unless the answer was a refusal.
            if not isinstance(error, _Refused):
                _stop()
                raise
            article = "an" if how == "arrow" else "a"
            raise DataError(f"{where}: not {article} {_format(how)} file ({error}); fetch or write it again") from None


def _format(how: str) -> str:
    return {"parquet": "Parquet", "arrow": "Arrow", "jsonl": "JSONL"}.get(how, "CSV")


class _Refused(Exception):
    """What polars says of a file that it cannot read."""


def _asked(
    process: subprocess.Popen[bytes],
    asked: dict[str, Any],
    raw: bytes,
    made: Callable[[dict[str, Any], IO[bytes]], T],
) -> T:
    to_child, from_child = process.stdin, process.stdout
    assert to_child is not None
    assert from_child is not None
    to_child.write(json.dumps({**asked, "size": len(raw)}).encode() + b"\n")
    to_child.write(raw)
    to_child.flush()
    line = from_child.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    answer = json.loads(line)
    if "error" in answer:
        raise _Refused(answer["error"])
    return made(answer, from_child)


def columns_from(answer: dict[str, Any], source: IO[bytes]) -> Columns:
    """The columns that an answer of the parser describes, from the bytes that follow it."""
    columns = [_column(described, source) for described in answer["columns"]]
    return Columns(answer["rows"], columns)


def _column(described: dict[str, Any], source: IO[bytes]) -> Column:
    missing_size, *sizes = described["sizes"]
    missing = _read(source, missing_size).view(np.bool_) if missing_size else None
    name, kind = described["name"], described["kind"]
    if kind not in TEXTUAL:
        raw = _read(source, sizes[0])
        values: Ints | Floats = raw.view(np.int64) if kind == "integer" else raw.view(np.float64)
        return Column(name, kind, missing, values, None)
    buffer = _read(source, sizes[0], room=2 * WORD)
    lengths = _read(source, sizes[1]).view(np.int64)
    starts = np.cumsum(lengths) - lengths
    if len(sizes) > 2:  # texts that are repeated
        repeats = _read(source, sizes[2]).view(np.int64)
        starts = np.repeat(starts, repeats)
        lengths = np.repeat(lengths, repeats)
    return Column(name, kind, missing, None, Ids(buffer, starts, lengths))


def _read(source: IO[bytes], size: int, *, room: int = 0) -> Bytes:
    """That many bytes, with zeros behind them where room is wanted."""
    buffer = np.empty(size + room, dtype=np.uint8)
    buffer[size:] = 0
    view, at = buffer.data, 0
    while at < size:
        count = source.readinto(view[at:size])  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        at += count
    return buffer


_LOCK = threading.Lock()
_RUNNING: list[subprocess.Popen[bytes]] = []


def _process() -> subprocess.Popen[bytes]:
    """The process that parses, started if there is none."""
    if not _RUNNING:
        # The same search path as here, whatever started this interpreter: polars may be anywhere on it.
        search_path = os.pathsep.join(path or os.getcwd() for path in sys.path)
        # Without the last, a person's own json.py in the current folder would be taken for the standard library's.
        environment = {**os.environ, "PYTHONPATH": search_path, "PYTHONSAFEPATH": "1"}
        command = [sys.executable, "-W", "ignore", "-m", "assay.io._parser"]
        _RUNNING.append(
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                pipesize=PIPE,
            )
        )
    return _RUNNING[0]


@atexit.register
def _stop() -> None:
    """End the process, if there is one."""
    for process in _RUNNING:
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        process.wait()
    _RUNNING.clear()


def _forget() -> None:
    """A forked process starts its own: two that speak to one would mix their questions."""
    global _LOCK
    _LOCK = threading.Lock()
    for process in _RUNNING:
        process.returncode = 0  # not its child, so it must not be waited for
    _RUNNING.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
