"""How does a judging session survive a crash? Every judgment is one line of a qrels file, on the disk before the next.

Where it stands: a person's judgments → **journal** → the session resumes. The journal is a qrels file like any other:
`topic 0 doc grade`. A line that a crash cut off is not a judgment; it is named, taken out, and asked again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import DataError


@dataclass(frozen=True)
class Judgment:
    """One judged doc.

    >>> Judgment("301", "doc-7", 2).grade
    2
    """

    topic: str
    doc: str
    grade: int


@dataclass(frozen=True)
class Journal:
    """A file to which judgments are appended; it need not exist yet."""

    path: Path

    def read(self) -> tuple[list[Judgment], str | None]:
        """The judgments in the order they were made, and a remark if the last line was cut off."""
        whole, cut_off = self._parts()
        judgments = []
        for number, line in enumerate(whole.split(b"\n"), start=1):
            if line.strip():
                judgments.append(self._judgment(line, number))
        if not cut_off:
            return judgments, None
        number = whole.count(b"\n") + 1
        text = cut_off.decode(errors="replace")
        return judgments, f"{self.path}:{number}: the last line was cut off ({text!r}); that doc will be asked again"

    def append(self, judgments: Iterable[Judgment]) -> None:
        """Add judgments; when this returns they are on the disk. A cut last line is taken out first."""
        text = ""
        for judgment in judgments:
            topic = _word(judgment.topic)
            doc = _word(judgment.doc)
            text += f"{topic} 0 {doc} {judgment.grade}\n"
        unwritten = text.encode()
        whole, cut_off = self._parts()
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            if cut_off:
                os.ftruncate(handle, len(whole))
            os.lseek(handle, 0, os.SEEK_END)
            while unwritten:
                written = os.write(handle, unwritten)
                unwritten = unwritten[written:]
            os.fsync(handle)
        finally:
            os.close(handle)

    def _parts(self) -> tuple[bytes, bytes]:
        """The whole lines, and what stands after the last line end."""
        data = self.path.read_bytes() if self.path.exists() else b""
        end = data.rfind(b"\n") + 1
        return data[:end], data[end:]

    def _judgment(self, line: bytes, number: int) -> Judgment:
        fields = line.decode(errors="replace").split()
        try:
            topic, _, doc, grade = fields
            return Judgment(topic, doc, int(grade))
        except ValueError:
            text = line.decode(errors="replace")
            raise DataError.at(
                str(self.path), number, f'not a judgment: {text!r}; a line is "topic 0 doc grade"'
            ) from None


def _word(name: str) -> str:
    if not name or name.split() != [name]:
        raise DataError(f"journal: {name!r} cannot stand in a qrels file; topics and docs are words without blanks")
    return name
