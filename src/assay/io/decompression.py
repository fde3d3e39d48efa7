"""Compressed files as streams: gzip, xz and Zstandard, recognised by their first bytes, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, cast

from assay.core.errors import DataError
from assay.io.files import GZIP, XZ, ZSTANDARD

BLOCK = 1 << 20
"""Bytes that are read at a time."""


class ByteStream:
    """The bytes of a file or pipe from front to back, decompressed by its first bytes; damage is an error.

    >>> import gzip, io
    >>> stream = ByteStream("a.gz", io.BytesIO(gzip.compress(b"1 Q0 a")))
    >>> stream.read(4), stream.read(4), stream.read(4)
    (b'1 Q0', b' a', b'')
    """

    def __init__(self, where: str, source: BinaryIO) -> None:
        self._where = where
        self._blocks = _blocks_of(source)
        self._held: list[bytes] = []

    def read(self, size: int) -> bytes:
        """The next bytes: that many, fewer only at the end."""
        return self._cut(self._at_least(size), size)

    def read_about(self, size: int) -> bytes:
        """The next bytes: that many or up to twice as many, fewer only at the end; mostly nothing is copied twice."""
        data = self._at_least(size)
        return data if len(data) <= 2 * size else self._cut(data, size)  # what is packed tightly gives many at once

    def _at_least(self, size: int) -> bytes:
        count = sum(map(len, self._held))
        while count < size and (block := self._next()):
            self._held.append(block)
            count += len(block)
        data = b"".join(self._held)
        self._held = []
        return data

    def _cut(self, data: bytes, size: int) -> bytes:
        """The first bytes; the others are kept."""
        self._held = [data[size:]] if len(data) > size else []
        return data[:size]

    def _next(self) -> bytes:
        import lzma
        import zlib

        try:
            return next(self._blocks, b"")
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            what = f"the compressed file is damaged ({error})"
            raise DataError(f"{self._where}: {what}; fetch or write it again") from None


def _blocks_of(source: BinaryIO) -> Iterator[bytes]:
    head = source.read(len(XZ))
    opened = cast(BinaryIO, _Rejoined(head, source))
    if head.startswith(GZIP):
        import gzip

        yield from _read_in_blocks(cast(BinaryIO, gzip.GzipFile(fileobj=opened)))
    elif head.startswith(XZ):
        import lzma

        with lzma.LZMAFile(opened) as unpacked:
            yield from _read_in_blocks(cast(BinaryIO, unpacked))
    elif head.startswith(ZSTANDARD):
        yield from _from_zstandard(opened)
    else:
        yield from _read_in_blocks(opened)


class _Rejoined:
    """A stream with the bytes that were read from it already in front again."""

    def __init__(self, head: bytes, source: BinaryIO) -> None:
        self._head = head
        self._source = source

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most that many."""
        if not self._head:
            return self._source.read(size)
        taken = self._head if size < 0 else self._head[:size]
        self._head = self._head[len(taken) :]
        return taken + self._source.read() if size < 0 else taken

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is not: a pipe has no way back."""
        return False

    closed = False


def _read_in_blocks(stream: BinaryIO) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        yield block


def _from_zstandard(source: BinaryIO) -> Iterator[bytes]:
    import zstandard

    frame = None
    while raw := source.read(BLOCK):
        while raw:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            try:
                block = frame.decompress(raw)
            except zstandard.ZstdError as error:
                raise ValueError(error) from None
            raw = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
            if block:
                yield block
    if frame is not None:
        raise ValueError("it ends in the middle")
