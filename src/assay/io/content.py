"""The content of a file, read once and decompressed: first it is recognised, then it is parsed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from assay.core.arrays import Bytes
from assay.io._bytes.fields import BYTE_ORDER_MARK, ROOM, Text
from assay.io.addresses import shown
from assay.io.files import (
    STANDARD_INPUT,
    decompressed,
    is_compressed,
    kind,
    read_bytes,
    read_room,
    refuse_other_encodings,
)

HEAD = 1 << 16
"""Bytes at the start of a file that say what it is; a run may have its metadata there."""


@dataclass(frozen=True, eq=False)
class Content:
    """The bytes of a file without compression and byte-order mark, and the path that they came from."""

    where: str
    text: Text

    @classmethod
    def of(cls, path: str | Path, *, threads: int = 1) -> Content:
        """The content of a file; one that is not compressed is read straight to where it is worked on."""
        where = shown(path)
        if where == STANDARD_INPUT:
            return cls.of_bytes(where, read_bytes(path))
        buffer = read_room(path, room=ROOM, threads=threads)
        if is_compressed(buffer[:8].tobytes()):
            return cls.of_bytes(where, decompressed(where, buffer[:-ROOM].tobytes()))
        return cls.of_buffer(where, buffer)

    @classmethod
    def of_buffer(cls, where: str, buffer: Bytes) -> Content:
        """Content that lies where it is worked on, with room behind it."""
        length = len(buffer) - ROOM
        head = buffer[:8].tobytes()
        if head.startswith(BYTE_ORDER_MARK):  # words are read from whole addresses
            return cls.of_bytes(where, buffer[:length].tobytes())
        refuse_other_encodings(where, head[:length])
        return cls(where, Text(buffer, length))

    @classmethod
    def of_bytes(cls, where: str, data: bytes) -> Content:
        """Content that is in memory already."""
        refuse_other_encodings(where, data[:8])
        return cls(where, Text.of(data))

    @property
    def ending(self) -> str:
        """The ending of the path, compression aside."""
        return kind(self.where)

    @cached_property
    def head(self) -> bytes:
        """The first bytes."""
        return self.text.buffer[: min(HEAD, self.text.length)].tobytes()

    def bytes(self) -> bytes:
        """All bytes."""
        return self.text.bytes()
