"""May a file be replaced by another? Not where runs, judgments, labels … would become something else."""

from __future__ import annotations

from pathlib import Path

from assay.core.errors import DataError, UsageError
from assay.core.files_read import in_command, replaces_other_kinds
from assay.io.content import Content
from assay.io.decompression import ByteStream
from assay.io.recognition import KINDS, kinds_of_table, looked_at
from assay.io.samples import Sample, binary_format
from assay.io.sheet import sheet_in

WHOLE = 1 << 24
"""Bytes up to which a file is looked at as a whole; of a longer one the first lines say what it is."""
SEEN_ROWS = 50


def refuse_other_kind(target: Path, beside: Path) -> None:
    """An error where a file that holds one kind of thing would be replaced by one that cannot hold that kind.

    What a command wrote before is replaced by the same command again, since both are of one kind; so is a file of which
    nobody can say what it is. Only commands are held back, and --force lets them go on.
    """
    if not in_command() or replaces_other_kinds() or not target.is_file():
        return
    before = kinds_of_file(target)
    if before and before[0] not in kinds_of_file(beside):
        what = f"there is a file of another kind already ({KINDS[before[0]]})"
        raise UsageError(f"{target}: {what}; write to another file, or replace it with --force")


def kinds_of_file(path: Path) -> list[str]:
    """The kinds of thing that a file of this machine may hold, the likeliest first; none where it does not say."""
    try:
        with open(path, "rb") as file:
            data = ByteStream(str(path), file).read(WHOLE)
        if len(data) == WHOLE:
            data = data[: data.rfind(b"\n") + 1]
        content = Content.of_bytes(str(path), data)
        return kinds_of_content(content)
    except (DataError, OSError):
        return []


def kinds_of_content(content: Content) -> list[str]:
    """The kinds of thing that a content may be, the likeliest first."""
    how = binary_format(content.head)
    if how is not None:
        sheet = sheet_in(content, Sample(how))
        return kinds_of_table(sheet.header, sheet.rows[:SEEN_ROWS])
    return list(dict.fromkeys(kind for kind, _ in looked_at(content).possible))
