"""Files that lie elsewhere: `s3://`, `gs://`, `https://`, `file://` and whatever else fsspec opens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, MissingExtra, MissingFile

ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*[a-z0-9]):/+(.+)", re.DOTALL)
"""A scheme of at least two letters, which no drive of Windows has; a Path has one of the two slashes left."""
WITHOUT_FOLDERS = ("http", "https")
MOST_WORDS = 160
"""Characters of a reason that somebody else's package gives."""


def address_of(path: str | Path) -> str | None:
    """The address that a path stands for; None for a file of this machine.

    >>> address_of("s3://bucket/bm25.run"), address_of(Path("s3://bucket/bm25.run")), address_of("runs/bm25.run")
    ('s3://bucket/bm25.run', 's3://bucket/bm25.run', None)
    >>> address_of(Path("file:///data/bm25.run"))
    'file:///data/bm25.run'
    """
    parts = ADDRESS.fullmatch(str(path))
    if parts is None:
        return None
    scheme, rest = parts.groups()
    return f"file:///{rest}" if scheme == "file" else f"{scheme}://{rest}"


def shown(path: str | Path) -> str:
    """A path as messages show it: an address with both of its slashes."""
    return address_of(path) or str(path)


def fetched(address: str) -> bytes:
    """The bytes at an address, as they stand there."""
    files, place = _opened(address)
    try:
        data: bytes = files.cat_file(place)
    except Exception as error:  # each kind of storage has errors of its own
        raise _in_our_words(address, error) from error
    return data


def files_at(address: str) -> list[Path] | None:
    """The files of a folder at an address, in order of their names, without hidden ones; None if it is a file."""
    if address.partition(":")[0] in WITHOUT_FOLDERS:
        return None
    files, place = _opened(address)
    try:
        if not files.isdir(place):
            return None
        inside = files.ls(place, detail=True)
    except Exception as error:
        raise _in_our_words(address, error) from error
    names = [entry["name"].rstrip("/").rpartition("/")[2] for entry in inside if entry["type"] == "file"]
    return [Path(f"{address.rstrip('/')}/{name}") for name in sorted(names) if name and not name.startswith(".")]


def _opened(address: str) -> tuple[Any, str]:
    """The kind of storage that an address names, and the place in it."""
    try:
        import fsspec
    except ImportError:
        raise MissingExtra(f"{address}: fsspec", "cloud") from None
    try:
        files, place = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise DataError(
            f"{address}: this kind of storage needs another package ({_reason(error)}); install it"
        ) from None
    except ValueError as error:
        raise DataError(f"{address}: no storage is opened by such an address ({_reason(error)}); check it") from None
    return files, place


def _in_our_words(address: str, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return MissingFile(f"{address}: no such file or bucket ({_reason(error)}); check the address")
    if isinstance(error, PermissionError):
        return DataError(f"{address}: access is refused ({_reason(error)}); check your credentials")
    return DataError(f"{address}: it cannot be read ({_reason(error)}); check the address, the network and credentials")


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= MOST_WORDS else text[:MOST_WORDS] + " …"
