"""How do runs and judgments that are too large become parts? One pass over each file, every line to its part.

A part has whole topics, whatever the order of the lines: all lines of a topic go to the part of the topic. That is a
sort out of memory, as far as scoring needs one: each part is small enough to be sorted when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from assay.core.arrays import Bytes, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.files_read import note_read
from assay.core.results import Result
from assay.core.tables import Table
from assay.io import rows
from assay.io._bytes.bits import NEWLINE
from assay.io._bytes.decimals import read_decimals
from assay.io._bytes.fields import Fields, Text, fields
from assay.io.columns import DividedRows
from assay.io.decompression import ByteStream
from assay.io.files import STANDARD_INPUT, standard_input
from assay.io.line_forms import WordLines, form_of
from assay.io.run_files import distinct_names
from assay.io.topic_cuts import TextPiece, with_lines_of_file
from assay.io.trec import GRADE, QRELS_FIELDS, RUN_FIELDS, TAG, TOPIC
from assay.parts.layout import QRELS_FOLDER, Split, check_target, made_whole, run_folder
from assay.parts.table_splitting import TableForm, divided_file, divided_text, table_form

BLOCK = 1 << 25
"""Bytes of text that are divided at a time."""
TABLE_BLOCK = 1 << 23
"""The same of a text with cells or objects, which takes many times as much to be parsed."""
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
    """Divide run files, and judgments by the same rule, into parts of whole topics, in a folder that is new.

    Files are those of TREC or tables (CSV, TSV, JSONL, Parquet, Arrow), which may hold several runs and become parts
    that are CSV. They may be compressed, and `-` is standard input. The lines of a topic need not stand together.
    Memory holds a block of lines, whatever the size of the files.

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
        divided: list[_Divided] = []
        sources: list[str | Path] = []
        for number, run in enumerate(runs):
            of_file = _divided(run, made, f"{number}", parts, RUN_FIELDS)
            divided += of_file
            sources += [run] * len(of_file)
            progress(number + 1, len(runs) + (qrels is not None))
        names = distinct_names([one.name for one in divided], sources)
        for one, name in zip(divided, names, strict=True):
            one.folder.rename(made / run_folder(name))
        judged = None if qrels is None else _divided(qrels, made, QRELS_FOLDER, parts, QRELS_FIELDS)[0]
        split = Split(parts, tuple(names), None if judged is None else judged.top_grade)
        split.write(made)
    lines = tuple(one.lines for one in divided)
    return SplitRuns(str(folder), split, lines, 0 if judged is None else judged.lines)


class _Divided:
    """A run or judgments as far as they are divided: a folder with a file for each part."""

    def __init__(self, name: str, folder: Path, ending: str, parts: int, header: bytes = b"") -> None:
        self.name = name
        self.folder = folder
        self.lines = 0
        self.top_grade = 1.0
        self._header = header
        folder.mkdir()
        self._files = [folder / f"part-{number:05}.{ending}" for number in range(parts)]
        for file in self._files:
            file.touch()

    def add(self, number: int, text: bytes) -> None:
        """Write lines to the end of a part."""
        with open(self._files[number], "ab") as part:
            if not part.tell():
                part.write(self._header)
            part.write(text)


def _divided(path: str | Path, made: Path, folder: str, parts: int, columns: int) -> list[_Divided]:
    """Write each line of a file to the part of its topic; a table may have several runs."""
    where = str(path)
    kind = "run" if columns == RUN_FIELDS else "qrels"
    note_read(where)
    source = standard_input() if where == STANDARD_INPUT else open(where, "rb")  # noqa: SIM115
    with source:
        stream = ByteStream(where, source)
        head = stream.read(HEAD)
        table = table_form(where, head, kind)
        if table is not None:
            blocks = _blocks_of_lines(where, stream, head, TABLE_BLOCK)
            rows = divided_file(table, parts) if table.is_binary else divided_text(table, blocks, parts)
            divided = _divided_table(table, rows, made / folder, parts)
        else:
            if kind == "run" and head and form_of(where, head) != WordLines():
                what = "only TREC runs (topic Q0 doc rank score tag) and tables (CSV, TSV, JSONL, Parquet, Arrow)"
                raise DataError(f"{where}: {what} can be split; convert it first")
            blocks = _blocks_of_lines(where, stream, head, BLOCK)
            divided = [_divided_lines(where, blocks, made / folder, parts, columns)]
    if not any(one.lines for one in divided):
        raise DataError(f"{where}: there is no line in it; a {kind} file has at least one")
    return divided


def _divided_table(table: TableForm, rows: Iterable[DividedRows], folder: Path, parts: int) -> list[_Divided]:
    """Write the rows of a table to the parts of their topics, each run to a folder of its own."""
    by_run: dict[str, _Divided] = {}
    own_name = Path(table.where).name.partition(".")[0]
    for some in rows:
        for run, number, count, text in some.pieces:
            name = own_name if run is None else run
            if name not in by_run:
                own_folder = folder.with_name(f"{folder.name}-{len(by_run)}") if by_run else folder
                by_run[name] = _Divided(name, own_folder, "csv", parts, table.part_header)
            by_run[name].add(number, text)
            by_run[name].lines += count
            if some.top_grade is not None:
                by_run[name].top_grade = max(by_run[name].top_grade, some.top_grade)
    return list(by_run.values())


def _divided_lines(where: str, blocks: Iterable[TextPiece], folder: Path, parts: int, columns: int) -> _Divided:
    """Write each line of a TREC file to the part of its topic."""
    ending = "run" if columns == RUN_FIELDS else "qrels"
    divided = _Divided(Path(where).name, folder, ending, parts)
    for block in blocks:
        found = _fields_of(block, columns)
        if not found.lines:
            continue
        _note_names(divided, found, columns)
        for number, text in _by_part(found, block, parts):
            divided.add(number, text)
        divided.lines += found.lines
    return divided


def _blocks_of_lines(where: str, stream: ByteStream, begun: bytes, size: int) -> Iterator[TextPiece]:
    """The blocks of a file, each of about that many bytes and of whole lines. begun: what was read of it already."""
    held = begun
    before = 0
    while held:
        more = stream.read(size)
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
