"""Large text files of runs as pieces of whole topics, without reading them whole: cut by place, or as a stream.

A plain file is cut where the topic changes, by looking at a few lines around each cut. What can only be read from
front to back (compressed files, standard input) comes as a stream of such pieces. The lines of a topic must stand
together: who puts the pieces together sees a topic that comes twice, and refuses it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO, TypeVar

import numpy as np

from assay.core.errors import DataError, NotCut
from assay.data import Run
from assay.io._bytes.bits import NEWLINE
from assay.io._bytes.fields import ROOM
from assay.io.content import Content
from assay.io.decompression import ByteStream
from assay.io.line_forms import LineForm, WordLines

T = TypeVar("T")
TREC = WordLines()
PIECE = 1 << 25
"""Bytes of a piece, about: 800,000 lines."""
STREAM_PIECE = 1 << 24
"""Bytes of a piece of a stream, about: several are held at a time."""
WINDOW = 1 << 16
"""Bytes that are read at a time to find the end of a topic."""


@dataclass(frozen=True)
class FilePiece:
    """Whole topics of a file: the bytes from `start` to `stop`. It can be sent to where the file can be opened."""

    path: str
    start: int
    stop: int
    size: int
    changed: int
    """Size and time of change of the whole file when it was cut."""
    form: LineForm = TREC

    def content(self) -> Content:
        """The lines of the piece below the header; an error if the file is not the one that was cut."""
        with open(self.path, "rb", buffering=0) as file:
            state = os.fstat(file.fileno())
            file.seek(self.start)
            data = file.read(self.stop - self.start)
        is_same = (state.st_size, state.st_mtime_ns) == (self.size, self.changed)
        if not is_same or len(data) < self.stop - self.start:
            raise DataError(f"{self.path}: the file was changed while it was read; read it again when it is written")
        return Content.of_bytes(self.path, self.form.header + data)

    @property
    def is_of_one_run(self) -> bool:
        """Whether all lines of the file are of one run, whatever they are called."""
        return self.form.is_of_one_run

    def runs(self, *, ranks: bool = False, threads: int = 1) -> list[Run]:
        """The runs of the piece. An error names the line of the whole file."""
        return _runs_of_lines(self, ranks, threads)

    def lines_before(self) -> int:
        """How many lines of the file stand before the piece."""
        lines = 0
        with open(self.path, "rb") as file:
            while file.tell() < self.start:
                lines += file.read(min(PIECE, self.start - file.tell())).count(b"\n")
        return lines


@dataclass(frozen=True)
class TextPiece:
    """Whole topics of a stream, as their bytes."""

    path: str
    data: bytes
    before: int
    form: LineForm = TREC
    room: int = 0
    """Zero bytes at the end of the data, behind its lines."""

    def content(self) -> Content:
        """The lines of the piece below the header; without one, and with room behind them, they are not copied."""
        if self.room == ROOM and not self.form.header:
            return Content.of_buffer(self.path, np.frombuffer(self.data, np.uint8))
        return Content.of_bytes(self.path, self.form.header + self.data[: len(self.data) - self.room])

    @property
    def is_of_one_run(self) -> bool:
        """Whether all lines of the stream are of one run, whatever they are called."""
        return self.form.is_of_one_run

    def runs(self, *, ranks: bool = False, threads: int = 1) -> list[Run]:
        """The runs of the piece. An error names the line of the whole stream."""
        return _runs_of_lines(self, ranks, threads)

    def lines_before(self) -> int:
        """How many lines of the stream stand before the piece."""
        return self.before


LinePiece = FilePiece | TextPiece


def _runs_of_lines(piece: LinePiece, ranks: bool, threads: int) -> list[Run]:
    try:
        return piece.form.runs(piece.content(), ranks=ranks, threads=threads)
    except NotCut:
        raise
    except DataError as error:
        raise DataError(with_lines_of_file(str(error), piece)) from None


def with_lines_of_file(message: str, piece: LinePiece) -> str:
    """The message with the numbers of lines counted from the first line of the file."""
    numbered = re.compile(rf"({re.escape(piece.path)}:|first on line )(\d+)")
    if not numbered.search(message):
        return message
    before = piece.lines_before() - piece.form.header.count(b"\n")
    return numbered.sub(lambda found: f"{found[1]}{int(found[2]) + before}", message)


def cut_file(path: str, size: int | None = None, form: LineForm = TREC) -> list[FilePiece]:
    """The pieces of a plain file, each of about that many bytes and of whole topics."""
    length = size or PIECE
    with open(path, "rb") as file:
        state = os.fstat(file.fileno())
        cuts = [len(file.readline()) if form.header else 0]
        while cuts[-1] + length < state.st_size:
            cuts.append(_next_topic(file, cuts[-1] + length, state.st_size, form))
        if cuts[-1] < state.st_size:
            cuts.append(state.st_size)
    return [FilePiece(path, start, stop, state.st_size, state.st_mtime_ns, form) for start, stop in pairwise(cuts)]


def _next_topic(file: BinaryIO, at: int, end: int, form: LineForm) -> int:
    """The first place from `at` on where a line of another topic begins than the line before it; else the end."""
    at = _next_line(file, at, end)
    topic = b""
    while at < end:
        file.seek(at)
        window = file.read(WINDOW)
        if at + len(window) < end and b"\n" not in window:  # a very long line: nothing that can be cut here
            at = _next_line(file, at + len(window), end)
            continue
        start = 0
        while (stop := window.find(b"\n", start)) >= 0:
            of_line = form.topic(window[start:stop])
            if of_line and topic and of_line != topic:
                return at + start
            topic = of_line or topic
            start = stop + 1
        at = at + start if start else end
    return end


def _next_line(file: BinaryIO, at: int, end: int) -> int:
    """The first place from `at` on where a line begins."""
    at -= 1
    while at < end:
        file.seek(at)
        window = file.read(WINDOW)
        found = window.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(window)
    return end


def pieces_of_stream(
    where: str, stream: ByteStream, size: int | None = None, begun: bytes = b"", form: LineForm = TREC
) -> Iterator[TextPiece]:
    """The pieces of a stream. begun: what was read of it already."""
    held = b""
    lines = 0
    for block in read_ahead(_blocks(stream, size or STREAM_PIECE, begun)):
        if form.header and not lines:  # the header stands before every piece
            held += block
            if b"\n" not in held:
                continue
            block = held.partition(b"\n")[2]
            held = b""
            lines = 1
        # The first line of a block may be the rest of one, and says nothing.
        cut = _last_change(block, form, block.find(b"\n") + 1 if held else 0)
        if not cut:
            block = held + block
            held = b""
            cut = _last_change(block, form)
        if cut:
            data = b"".join([held, memoryview(block)[:cut], bytes(ROOM)])
            yield TextPiece(where, data, lines, form, ROOM)
            # Several times faster than bytes.count, which looks for one newline after the other.
            lines += int(np.count_nonzero(np.frombuffer(data, np.uint8) == NEWLINE))
        held = block[cut:]
    if held:
        yield TextPiece(where, held, lines, form)


def _blocks(stream: ByteStream, size: int, begun: bytes) -> Iterator[bytes]:
    for start in range(0, len(begun), size):
        yield begun[start : start + size]
    while block := stream.read_about(size):
        yield block


def _last_change(text: bytes, form: LineForm, begin: int = 0) -> int:
    """The last place of a text where a line of another topic begins than the line before it; 0 if there is none.

    The last line may be cut in its middle and says nothing. begin: where the first line begins that counts.
    """
    stop = text.rfind(b"\n")
    later = b""
    later_start = 0
    while stop > begin:
        start = text.rfind(b"\n", begin, stop) + 1 or begin
        topic = form.topic(text[start:stop])
        if topic and later and topic != later:
            return later_start
        if topic:
            later = topic
            later_start = start
        stop = start - 1
    return 0


def read_ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items, the next one made by a thread while the last one is worked on."""
    from concurrent.futures import ThreadPoolExecutor

    iterator = iter(items)
    end = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, iterator, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, iterator, end)
            yield item  # type: ignore[misc]
