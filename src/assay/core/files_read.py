"""Which files has this command read? What it writes goes to none of them, whatever their path is called there.

Where it stands: readers note what they open → **files read** → whoever writes a file asks. A file is known by its
device and its number there, so links and other spellings of a path do not hide it. Nothing is noted outside a command:
who reads and writes in a notebook knows which file is which.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from assay.core.errors import UsageError

_noted: dict[tuple[int, int], str] | None = None
_replaces_other_kinds = False


@contextlib.contextmanager
def one_command(*, force: bool = False) -> Iterator[None]:
    """From here to the end all files that are read are noted; within another command that one goes on noting.

    force: files of another kind may be replaced.
    """
    global _noted, _replaces_other_kinds
    if _noted is not None:
        yield
        return
    _noted, _replaces_other_kinds = {}, force
    try:
        yield
    finally:
        _noted, _replaces_other_kinds = None, False


def note_read(path: str | Path | int) -> None:
    """A file, or an open descriptor, is read by this command."""
    if _noted is None:
        return
    with contextlib.suppress(OSError, ValueError):  # whoever opens it says what is wrong with it
        state = os.stat(path)
        _noted.setdefault((state.st_dev, state.st_ino), str(path) if not isinstance(path, int) else "standard input")


def refuse_read(path: str | Path) -> None:
    """An error where a file that is to be written was read by this command."""
    if not _noted:
        return
    with contextlib.suppress(OSError, ValueError):
        state = os.stat(path)
        name = _noted.get((state.st_dev, state.st_ino))
        if name is not None:
            same = "" if name == str(path) else f" as {name}"
            raise UsageError(f"{path}: this command reads that file{same}, and would destroy it; write to another file")


def replaces_other_kinds() -> bool:
    """Whether the person said that files of another kind may be replaced."""
    return _replaces_other_kinds


def in_command() -> bool:
    """Whether a command is at work, rather than a person who calls functions."""
    return _noted is not None
