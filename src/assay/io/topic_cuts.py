"""Large run files as pieces of whole topics, without reading them whole: cut by place, or as a stream.

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
from pathlib import Path
from typing import BinaryIO, TypeVar

from assay.core.errors import DataError
from assay.data import Run
from assay.io import trec
from assay.io.content import HEAD, Content
from assay.io.decompression import ByteStream
from assay.io.files import STANDARD_INPUT, is_compressed
from assay.io.recognition import looked_at

T = TypeVar("T")
PIECE = 1 << 25
"""Bytes of a piece, about: 800,000 lines."""
LARGE_FILE = 1 << 28
"""Bytes from which on a file is scored in pieces; below it is held whole, which is a little faster."""
LARGE_COMPRESSED = 1 << 26
"""The same of a compressed file, and of standard input."""
STREAM_PIECE = 1 << 25
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

    def content(self) -> Content:
        """The bytes of the piece; an error if the file is not the one that was cut."""
        with open(self.path, "rb", buffering=0) as file:
            state = os.fstat(file.fileno())
            file.seek(self.start)
            data = file.read(self.stop - self.start)
        is_same = (state.st_size, state.st_mtime_ns) == (self.size, self.changed)
        if not is_same or len(data) < self.stop - self.start:
            raise DataError(f"{self.path}: the file was changed while it was read; read it again when it is written")
        return Content.of_bytes(self.path, data)

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

    def content(self) -> Content:
        """The bytes of the piece."""
        return Content.of_bytes(self.path, self.data)

    def lines_before(self) -> int:
        """How many lines of the stream stand before the piece."""
        return self.before


Piece = FilePiece | TextPiece


def run_of_piece(piece: Piece, *, ranks: bool = False, threads: int = 1) -> Run:
    """The run of a piece. An error names the line of the whole file."""
    try:
        return trec.run_in(piece.content(), ranks=ranks, threads=threads)
    except DataError as error:
        raise DataError(with_lines_of_file(str(error), piece)) from None


def with_lines_of_file(message: str, piece: Piece) -> str:
    """The message with the numbers of lines counted from the first line of the file."""
    numbered = re.compile(rf"({re.escape(piece.path)}:|first on line )(\d+)")
    if not numbered.search(message):
        return message
    before = piece.lines_before()
    return numbered.sub(lambda found: f"{found[1]}{int(found[2]) + before}", message)


def is_cut(path: str | Path) -> bool:
    """Whether a file is so large that it is scored in pieces: a TREC run of LARGE_FILE bytes or more."""
    where = str(path)
    if where == STANDARD_INPUT or not os.path.isfile(where):
        return False
    size = os.path.getsize(where)
    if size < LARGE_COMPRESSED:
        return False
    with open(where, "rb") as file:
        head = file.read(HEAD)
    if is_compressed(head):
        return size >= LARGE_COMPRESSED and _is_trec_stream(where)
    return size >= LARGE_FILE and is_trec(where, head)


def _is_trec_stream(where: str) -> bool:
    with open(where, "rb") as file:
        return is_trec(where, ByteStream(where, file).read(HEAD))


def is_trec(where: str, head: bytes) -> bool:
    """Whether a file that begins with these bytes is a TREC run, lines that can be cut between topics."""
    whole_lines = head[: head.rfind(b"\n") + 1]
    if not whole_lines:
        return False
    looked = looked_at(Content.of_bytes(where, whole_lines))
    return any((kind, format) == ("run", "trec") for kind, format in looked.possible)


def pieces_of_file(path: str | Path, size: int | None = None) -> Iterable[Piece]:
    """The pieces of a run file: of a plain one by place, of a compressed one as a stream."""
    where = str(path)
    with open(where, "rb") as file:
        if is_compressed(file.read(8)):
            return _compressed_pieces(where, size or STREAM_PIECE)
    return cut_file(where, size or PIECE)


def _compressed_pieces(where: str, size: int) -> Iterator[Piece]:
    with open(where, "rb") as file:
        yield from pieces_of_stream(where, ByteStream(where, file), size)


def cut_file(path: str, size: int = PIECE) -> list[FilePiece]:
    """The pieces of a plain file, each of about that many bytes and of whole topics."""
    with open(path, "rb") as file:
        state = os.fstat(file.fileno())
        cuts = [0]
        while cuts[-1] + size < state.st_size:
            cuts.append(_next_topic(file, cuts[-1] + size, state.st_size))
        if cuts[-1] < state.st_size:
            cuts.append(state.st_size)
    return [FilePiece(path, start, stop, state.st_size, state.st_mtime_ns) for start, stop in pairwise(cuts)]


def _next_topic(file: BinaryIO, at: int, end: int) -> int:
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
            fields = window[start:stop].split(None, 1)
            if fields and not fields[0].startswith(b"#"):
                if topic and fields[0] != topic:
                    return at + start
                topic = fields[0]
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
    where: str, stream: ByteStream, size: int = STREAM_PIECE, begun: bytes = b""
) -> Iterator[TextPiece]:
    """The pieces of a stream. begun: what was read of it already."""
    held = b""
    lines = 0
    for block in read_ahead(_blocks(stream, size, begun)):
        held += block
        cut = _last_change(held)
        if cut:
            yield TextPiece(where, held[:cut], lines)
            lines += held.count(b"\n", 0, cut)
            held = held[cut:]
    if held:
        yield TextPiece(where, held, lines)


def _blocks(stream: ByteStream, size: int, begun: bytes) -> Iterator[bytes]:
    for start in range(0, len(begun), size):
        yield begun[start : start + size]
    while block := stream.read(size):
        yield block


def _last_change(text: bytes) -> int:
    """The last place of a text where a line of another topic begins than the line before it; 0 if there is none.

    The last line may be cut in its middle and says nothing.
    """
    stop = text.rfind(b"\n")
    later = b""
    later_start = 0
    while stop > 0:
        start = text.rfind(b"\n", 0, stop) + 1
        fields = text[start:stop].split(None, 1)
        if fields and not fields[0].startswith(b"#"):
            if later and fields[0] != later:
                return later_start
            later = fields[0]
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
