"""Bytes of a file, whatever compresses it, or of standard input; and the one door through which files are written."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import mmap
import os
import stat
import struct
import sys
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from assay.core.arrays import Bytes
from assay.core.engine import thread_map
from assay.core.errors import DataError, UsageError
from assay.core.files_read import note_read, refuse_read
from assay.io.addresses import address_of, fetched, shown

STANDARD_INPUT = "-"
COMPRESSIONS = (".gz", ".xz", ".zst")
GZIP, XZ, ZSTANDARD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
"""The first bytes of a file of each compression."""
LARGE = 1 << 22
"""Bytes from which on memory is asked for as a whole."""
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
"""Errors of a disk that takes no more."""
TABLES = {
    "csv": ("csv",),
    "tsv": ("tsv",),
    "jsonl": ("jsonl", "ndjson"),
    "json": ("json",),
    "parquet": ("parquet", "parq", "pq"),
    "arrow": ("arrow", "feather", "ipc"),
}
"""The formats of tables, and the endings that name them."""
ENDINGS = frozenset({"txt", "gz", "xz", "bz2", "zst"}.union(*TABLES.values()))
"""Endings that are no part of the name of what a file holds."""


_read_before: object = None
"""The standard input that was read."""


def standard_input() -> BinaryIO:
    """The bytes of standard input, which can be read once: the second time there would be nothing, or a rest."""
    global _read_before
    if sys.stdin is _read_before:
        raise UsageError("standard input (-) is given twice, and can be read once; give one of the two as a file")
    _read_before = sys.stdin
    with contextlib.suppress(OSError):  # a test may give a text instead of a file
        note_read(sys.stdin.fileno())
    return sys.stdin.buffer


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file, decompressed by its first bytes; `-` is standard input."""
    if str(path) == STANDARD_INPUT:
        return decompressed(STANDARD_INPUT, standard_input().read())
    return decompressed(shown(path), read_room(path).tobytes())


def read_room(path: str | Path, *, room: int = 0, threads: int = 1) -> Bytes:
    """The bytes of a file as they stand there, with zeros behind them where room is wanted; read by some threads.

    They are read, not mapped: a mapped file that shrinks kills the process that looks at it. A file that is replaced
    by another is read as it was; one that is written to meanwhile is an error. What lies elsewhere is fetched.
    """
    if not isinstance(path, str | Path):  # a whole number would be opened as a descriptor of this process, and closed
        raise UsageError(f"a file is named by a text or a Path, not by {type(path).__name__}; give its path")
    address = address_of(path)
    note_read(path if address is None else address.removeprefix("file://"))
    if address is not None:
        return np.frombuffer(fetched(address) + bytes(room), dtype=np.uint8)
    with open(path, "rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        if not stat.S_ISREG(before.st_mode) or before.st_size == 0:  # a pipe or the like: its size is not known
            return np.frombuffer(file.readall() + bytes(room), dtype=np.uint8)
        buffer = _space(before.st_size + room)
        size = _filled(file, buffer.data[: before.st_size], threads)
        buffer[before.st_size :] = 0
        after = os.fstat(file.fileno())
    is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if size != before.st_size or not is_same:
        raise DataError(f"{path}: the file was changed while it was read; read it again when it is written")
    return buffer


def _space(size: int) -> Bytes:
    """Room for that many bytes; much of it is asked of the system in large pages, which cost a third of small ones."""
    large_pages = getattr(mmap, "MADV_HUGEPAGE", None)
    if large_pages is None or size < LARGE:
        return np.empty(size, dtype=np.uint8)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a system that has none serves small ones
        memory.madvise(large_pages)
    return np.frombuffer(memory, dtype=np.uint8)


def _filled(file: io.FileIO, view: memoryview, threads: int) -> int:
    """Fill the view from the file; how many bytes there were for it."""
    if threads < 2 or len(view) < LARGE or not hasattr(os, "preadv"):
        return _filled_part(file, view, 0, len(view))
    cuts = [*range(0, len(view), LARGE), len(view)]
    counts = thread_map(lambda cut: _filled_part(file, view, *cut), pairwise(cuts), threads=threads)
    return sum(counts)


def _filled_part(file: io.FileIO, view: memoryview, start: int, stop: int) -> int:
    """Fill a part of the view; how many bytes there were for it."""
    at = start
    while at < stop:
        if hasattr(os, "preadv"):
            count = os.preadv(file.fileno(), [view[at:stop]], at)
        else:
            count = file.readinto(view[at:stop]) or 0
        if not count:
            break
        at += count
    return at - start


def is_compressed(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a gzip, xz or Zstandard file."""
    return head.startswith((GZIP, XZ, ZSTANDARD))


def decompressed(where: str, raw: bytes) -> bytes:
    """The content of gzip, xz or Zstandard data, recognised by its first bytes; anything else as it is."""
    try:
        if raw.startswith(GZIP):
            return _from_gzip(raw)
        if raw.startswith(XZ):
            return _from_xz(raw)
        if raw.startswith(ZSTANDARD):
            return _from_zstandard(raw)
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{where}: the compressed file is damaged ({error}); fetch or write it again") from None
    return raw


def _from_gzip(raw: bytes) -> bytes:
    import gzip
    import zlib

    try:
        return gzip.decompress(raw)
    except (zlib.error, struct.error) as error:
        raise ValueError(error) from None


def _from_xz(raw: bytes) -> bytes:
    import lzma

    try:
        return lzma.decompress(raw)
    except lzma.LZMAError as error:
        raise ValueError(error) from None


def _from_zstandard(raw: bytes) -> bytes:
    import zstandard

    frames = []
    while raw:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            frames.append(frame.decompress(raw))
        except zstandard.ZstdError as error:
            raise ValueError(error) from None
        if not frame.eof:
            raise ValueError("it ends in the middle")
        raw = frame.unused_data
    return b"".join(frames)


def read_text(path: str | Path) -> bytes:
    """The bytes of a text file without a byte-order mark; one in another encoding than UTF-8 is an error."""
    data = read_bytes(path)
    refuse_other_encodings(str(path), data[:8])
    return data.removeprefix(codecs.BOM_UTF8)


def refuse_other_encodings(where: str, head: bytes) -> None:
    """An error for a text that begins with the marks of UTF-16 or UTF-32, or with two byte-order marks."""
    marks = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    without_mark = len(head) >= 4 and (head[0] == head[2] == 0 or head[1] == head[3] == 0)
    if head.startswith(marks) or (without_mark and any(head[:4])):
        raise DataError(f"{where}: the text is UTF-16 or UTF-32; save the file as UTF-8")
    if head.startswith(2 * codecs.BOM_UTF8):
        raise DataError(f"{where}: the file starts with two byte-order marks; save it as UTF-8 without any")


def compressed(data: bytes, path: Path) -> bytes:
    """The data as the ending of the path asks for."""
    if path.suffix == ".gz":
        import gzip

        return gzip.compress(data, mtime=0)
    if path.suffix == ".xz":
        import lzma

        return lzma.compress(data)
    if path.suffix == ".zst":
        import zstandard

        return zstandard.ZstdCompressor().compress(data)
    return data


@contextlib.contextmanager
def naming_file(path: str | Path, *, only: Collection[int] | None = None) -> Iterator[None]:
    """An error of the system that names no file, such as that of a full disk, is one of this file.

    only: these errors alone, where much else is done beside writing the file.
    """
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None or (only is not None and error.errno not in only):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_whole(path: str | Path, data: str | bytes, *, again: bool = False) -> None:
    """Write a file whole or not at all, compressed by its ending, as `written` does it."""
    raw = compressed(data.encode() if isinstance(data, str) else data, Path(path))
    with written(path, again=again) as beside, naming_file(path):
        beside.write_bytes(raw)


@contextlib.contextmanager
def written(path: str | Path, *, again: bool = False) -> Iterator[Path]:
    """The door of all output: a file beside the target, which becomes the target when it is whole, or is gone.

    A target that the same command reads is an error, and so is one that holds another kind of thing, unless the person
    says --force. again: the file is one that a command reads to continue it. A link is followed, and what is no plain
    file (a terminal, a pipe, a null device) is written to as it is.
    """
    target = Path(path)
    if not again:
        refuse_read(target)
    if target.exists() and not target.is_file():
        yield target
        return
    place = target.resolve()
    beside = _beside(place, path)
    try:
        yield beside
        if target.exists():
            from assay.io.other_kinds import refuse_other_kind

            refuse_other_kind(target, beside)
        os.chmod(beside, 0o644)
        os.replace(beside, place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _beside(place: Path, path: str | Path) -> Path:
    """A new file in the folder of another."""
    import tempfile

    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:80]}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    os.close(handle)
    return Path(name)


def kind(path: str | Path) -> str:
    """The ending that tells the format, compression aside.

    >>> kind("runs/bm25.csv.gz"), kind("bm25.run"), kind("-")
    ('csv', 'run', '')
    """
    name = os.path.basename(path).lower()
    for ending in COMPRESSIONS:
        name = name.removesuffix(ending)
    _, ending = os.path.splitext(name)
    return ending.removeprefix(".")


def table_format(path: str | Path) -> str | None:
    """The format of tables that the ending of a path names; None if it names none.

    >>> table_format("a/bm25.csv.gz"), table_format("x.feather"), table_format("bm25.run")
    ('csv', 'arrow', None)
    """
    ending = kind(path)
    return next((format for format, endings in TABLES.items() if ending in endings), None)


def file_stem(path: str | Path) -> str:
    """The name of a file without its endings; that of standard input is empty.

    >>> file_stem("old/trec8.v2.csv.gz"), file_stem("runs/bm25.run"), file_stem("-")
    ('trec8.v2', 'bm25.run', '')
    """
    name = Path(path)
    while name.suffix.lower().removeprefix(".") in ENDINGS and name.stem:
        name = name.with_suffix("")
    return "" if str(path) == STANDARD_INPUT else name.name
