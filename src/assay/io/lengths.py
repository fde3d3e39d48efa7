"""Words per doc, from lines `doc words`: what measures of time need."""

from __future__ import annotations

from pathlib import Path

from assay.core.errors import DataError
from assay.io import irds
from assay.io.files import read_text
from assay.io.rows import number, numbered_fields
from assay.io.sheet import LARGEST


def read_lengths(path: str | Path) -> dict[str, float]:
    """{doc: words}; a doc twice, or words that are not a number, are errors. `irds:ID`: of a dataset's docs."""
    if irds.is_irds(path):
        return irds.lengths(path)
    out: dict[str, float] = {}
    for line, parts in numbered_fields(str(path), read_text(path)):
        words = number(parts[1]) if len(parts) == 2 else None
        if words is None or not 0 <= words <= LARGEST:
            raise DataError.at(str(path), line, f'{" ".join(parts)[:80]!r} is not "doc words"')
        if parts[0] in out:
            raise DataError.at(str(path), line, f"doc {parts[0]!r} is there twice; keep one line")
        out[parts[0]] = words
    return out
