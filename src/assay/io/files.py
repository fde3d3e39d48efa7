"""Bytes of a file, whatever compresses it, or of standard input; and writing whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from assay.core.errors import DataError

STANDARD_INPUT = "-"
COMPRESSIONS = (".gz", ".xz", ".zst")
TABULAR = ("csv", "tsv", "jsonl", "parquet")


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file, decompressed by its ending or its first bytes; `-` is standard input."""
    name = str(path)
    raw = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(path).read_bytes()
    try:
        return decompressed(raw)
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{name}: the compressed file is damaged ({error}); fetch or write it again") from None


def decompressed(raw: bytes) -> bytes:
    """The content of gzip, xz or Zstandard data, told by its first bytes; anything else as it is."""
    if raw.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.decompress(raw)
    if raw.startswith(b"\xfd7zXZ\x00"):
        import lzma

        try:
            return lzma.decompress(raw)
        except lzma.LZMAError as error:
            raise ValueError(error) from None
    if raw.startswith(b"\x28\xb5\x2f\xfd"):
        import zstandard

        try:
            with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as reader:
                return reader.read()
        except zstandard.ZstdError as error:
            raise ValueError(error) from None
    return raw


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


def write_whole(path: str | Path, data: str | bytes) -> None:
    """Write a file whole or not at all: to a temporary file beside it, then rename; compressed by its ending.

    A link is followed, and what is no plain file (a terminal, a pipe, a null device) is written to as it is.
    """
    import tempfile

    target = Path(path)
    raw = compressed(data.encode() if isinstance(data, str) else data, target)
    if target.exists() and not target.is_file():
        target.write_bytes(raw)
        return
    target = target.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def kind(path: str | Path) -> str:
    """The ending that tells the format, compression aside.

    >>> kind("runs/bm25.csv.gz"), kind("bm25.run"), kind("-")
    ('csv', 'run', '')
    """
    name = Path(path).name.lower()
    for ending in COMPRESSIONS:
        name = name.removesuffix(ending)
    return Path(name).suffix.removeprefix(".")
