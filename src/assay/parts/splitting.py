"""How do runs and judgments that are too large become parts? One pass over each file, a line at a time to its part.

A part has whole topics, whatever the order of the lines: all lines of a topic go to the part of the topic. That is a
sort out of memory, as far as scoring needs one: each part is small enough to be sorted when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from assay.core.arrays import Bytes, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.io import rows
from assay.io._bytes.bits import NEWLINE
from assay.io._bytes.decimals import read_decimals
from assay.io._bytes.fields import Fields, Text, fields
from assay.io.decompression import ByteStream
from assay.io.files import STANDARD_INPUT
from assay.io.line_forms import WordLines, form_of
from assay.io.run_files import distinct_names
from assay.io.topic_cuts import TextPiece, with_lines_of_file
from assay.io.trec import GRADE, QRELS_FIELDS, RUN_FIELDS, TAG, TOPIC
from assay.parts.layout import QRELS_FOLDER, Split, check_target, made_whole, run_folder

BLOCK = 1 << 25
"""Bytes of text that are divided at a time."""
HEAD = 1 << 16
MOST_PARTS = 100_000


@dataclass(frozen=True)
class SplitRuns(Result):
    """What was divided: the lines of each run, and of the judgments.

    >>> print(SplitRuns("parts", Split(4, ("bm25",), None), (1000,), 0).table().csv().splitlines()[1])
    bm25,4,1000
    """

    folder: str
    split: Split
    lines: tuple[int, ...]
    """Lines of each run in all."""
    judgments: int

    def table(self) -> Table:
        """One row per run, and one for the judgments."""
        named = zip(self.split.runs, self.lines, strict=True)
        found = [(run, self.split.parts, lines) for run, lines in named]
        if self.judgments:
            found.append((QRELS_FOLDER, self.split.parts, self.judgments))
        note = f"whole topics by the CRC-32 of their names, in {self.folder}"
        return Table.of({"run": "", "parts": "d", "lines": "d"}, found, notes=["", note])

    def record(self) -> dict[str, Any]:
        """Folder, number of parts, and the lines of each run."""
        runs = [{"run": run, "lines": n} for run, n in zip(self.split.runs, self.lines, strict=True)]
        return super().record() | {"folder": self.folder, "parts": self.split.parts, "runs": runs}


def split_runs(
    runs: Sequence[str | Path],
    parts: int,
    folder: str | Path,
    *,
    qrels: str | Path | None = None,
    progress: Progress = silent,
) -> SplitRuns:
    """Divide TREC run files, and judgments by the same rule, into parts of whole topics, in a folder that is new.

    Files may be compressed, and `-` is standard input. The lines of a topic need not stand together. Memory holds a
    block of lines, whatever the size of the files.

    >>> import tempfile
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = (here / "bm25.run").write_text("1 Q0 a 1 2.5 bm25\\n2 Q0 b 1 1.5 bm25\\n")
    >>> split_runs([here / "bm25.run"], 2, here / "parts").lines
    (2,)
    >>> sorted(path.name for path in (here / "parts" / "run=bm25").iterdir())
    ['part-00000.run', 'part-00001.run']
    """
    target = Path(folder)
    if not 1 <= parts <= MOST_PARTS:
        raise UsageError(f"the number of parts must be from 1 to {MOST_PARTS}, not {parts}")
    if not runs:
        raise UsageError("there is no run to split; give at least one")
    check_target(target)
    with made_whole(target) as made:
        divided = []
        for number, run in enumerate(runs):
            divided.append(_divided(run, made / f"{number}", parts, RUN_FIELDS))
            progress(number + 1, len(runs) + (qrels is not None))
        names = distinct_names([one.name for one in divided], runs)
        for number, name in enumerate(names):
            (made / f"{number}").rename(made / run_folder(name))
        judged = None if qrels is None else _divided(qrels, made / QRELS_FOLDER, parts, QRELS_FIELDS)
        split = Split(parts, tuple(names), None if judged is None else judged.top_grade)
        split.write(made)
    lines = tuple(one.lines for one in divided)
    return SplitRuns(str(folder), split, lines, 0 if judged is None else judged.lines)


@dataclass
class _Divided:
    """A file as far as it is divided."""

    name: str
    lines: int = 0
    top_grade: float = 1.0


def _divided(path: str | Path, folder: Path, parts: int, columns: int) -> _Divided:
    """Write each line of a file to the part of its topic."""
    where = str(path)
    folder.mkdir()
    ending = "run" if columns == RUN_FIELDS else "qrels"
    files = [folder / f"part-{number:05}.{ending}" for number in range(parts)]
    for file in files:
        file.touch()
    divided = _Divided(Path(where).name)
    for block in _blocks_of_lines(where, columns):
        found = _fields_of(block, columns)
        if not found.lines:
            continue
        _note_names(divided, found, columns)
        for number, text in _by_part(found, block, parts):
            with open(files[number], "ab") as part:
                part.write(text)
        divided.lines += found.lines
    if not divided.lines:
        raise DataError(f"{where}: there is no line in it; a {ending} file has at least one")
    return divided


def _blocks_of_lines(where: str, columns: int) -> Iterator[TextPiece]:
    """The blocks of a file, each of whole lines; a file that is no TREC file is an error."""
    import sys

    source = sys.stdin.buffer if where == STANDARD_INPUT else open(where, "rb")  # noqa: SIM115
    with source:
        stream = ByteStream(where, source)
        held = stream.read(BLOCK)
        if columns == RUN_FIELDS and held and form_of(where, held[:HEAD]) != WordLines():
            raise DataError(f"{where}: only TREC runs (topic Q0 doc rank score tag) can be split; convert it first")
        before = 0
        while held:
            more = stream.read(BLOCK)
            end = held.rfind(b"\n") + 1 if more else len(held)
            yield TextPiece(where, held[:end], before)
            before += held.count(b"\n", 0, end)
            held = held[end:] + more


def _fields_of(block: TextPiece, columns: int) -> Fields:
    """The fields of the lines of a block; a line that has too few is an error that names it."""
    text = Text.of(block.data)
    found = fields(text.buffer, 0, text.length, columns)
    if found is not None:
        return found
    layout = rows.RUN if columns == RUN_FIELDS else rows.QRELS
    problem = rows.first_problem(block.path, block.data, layout)
    raise DataError(with_lines_of_file(str(problem), block))


def _note_names(divided: _Divided, found: Fields, columns: int) -> None:
    """Keep the tag of a run, or the top grade of judgments."""
    if columns == RUN_FIELDS:
        last = np.arange(found.lines)[-1:]
        divided.name = found.column(TAG).take(last).tolist()[0]
        return
    grades = read_decimals(found.column(GRADE))
    if not np.isnan(grades).all():
        largest = float(np.nanmax(grades))
        divided.top_grade = max(divided.top_grade, largest)


def _by_part(found: Fields, block: TextPiece, parts: int) -> Iterator[tuple[int, bytes]]:
    """The lines of each part, in their order; the rule is that of `layout.part_of`."""
    topics = found.column(TOPIC)
    changes = topics.changes()
    own_parts = np.array([crc32(topics.raw(row)) % parts for row in changes.tolist()])
    buffer = found.buffer
    starts, stops = _line_bounds(buffer, topics.starts)
    segment_starts = starts[changes]
    segment_stops = stops[np.append(changes[1:], len(stops)) - 1]
    for number in np.unique(own_parts).tolist():
        mine = np.flatnonzero(own_parts == number)
        spans = zip(segment_starts[mine].tolist(), segment_stops[mine].tolist(), strict=True)
        lines = [buffer[start:stop].tobytes().rstrip(b"\x00\r\n") + b"\n" for start, stop in spans]
        yield number, b"".join(lines)


def _line_bounds(buffer: Bytes, starts: Ints) -> tuple[Ints, Ints]:
    """Where each line starts and ends, behind its newline."""
    ends = np.append(np.flatnonzero(buffer == NEWLINE), len(buffer) - 1)
    return starts, ends[np.searchsorted(ends, starts)] + 1
