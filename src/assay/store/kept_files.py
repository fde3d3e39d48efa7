"""Where are the files of a store? In a folder, each under the SHA-256 of its content, never changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import DataError
from assay.io.files import read_bytes

ENDING = ".zst"
UNFINISHED = ".unfinished-"
"""How the name of a file begins that is still being written."""


def content_hash(content: bytes) -> str:
    """The SHA-256 of a content, as `sha256sum` prints it.

    >>> content_hash(b"1 Q0 a 1 2.5 bm25\\n")[:12]
    '5d33b8f4d20a'
    """
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class KeptFiles:
    """A folder of files that are named by their content and compressed by Zstandard."""

    folder: Path

    def path(self, hash: str) -> Path:
        """Where the content of that hash is, or would be."""
        return self.folder / hash[:2] / (hash + ENDING)

    def __contains__(self, hash: str) -> bool:
        return self.path(hash).is_file()

    def add(self, content: bytes) -> str:
        """Keep a content and return its hash; when this returns the file is on the disk, whole."""
        import zstandard

        hash = content_hash(content)
        target = self.path(hash)
        if target.is_file():
            return hash
        target.parent.mkdir(parents=True, exist_ok=True)
        packed = zstandard.ZstdCompressor(level=3).compress(content)
        write_durably(target, packed)
        return hash

    def read(self, hash: str) -> bytes:
        """The content of that hash; a file that is missing or holds something else is an error."""
        path = self.path(hash)
        if not path.is_file():
            raise DataError(f"{path}: the file is not there; restore it from a backup")
        content = read_bytes(path)
        if content_hash(content) != hash:
            raise DataError(f"{path}: the content is not that of its name; restore the file from a backup")
        return content

    def hashes(self) -> Iterator[str]:
        """The hashes of all files that are there."""
        for path in sorted(self.folder.glob(f"??/*{ENDING}")):
            yield path.name.removesuffix(ENDING)

    def unfinished(self) -> list[Path]:
        """Files that somebody began to write, and did not finish or has not finished yet."""
        return sorted(self.folder.glob(f"??/{UNFINISHED}*"))


def write_durably(target: Path, data: bytes) -> None:
    """Write a file whole or not at all, and have it on the disk, name included, when this returns."""
    aside = target.with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
    try:
        with open(aside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            aside.unlink()
        if isinstance(error, OSError):
            raise DataError(f"{target}: {error.strerror or error}; nothing was written") from error
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
