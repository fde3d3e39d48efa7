"""What is odd in many large run files? The findings of `assay check`, from runs that were read and joined already.

A run that the strict reader takes has no bad lines, so that only ranks, scores, ties and judgments are left to look at.
Lines are found in the text that the ids of the run stand in. The file itself is read again only where that is not the
file line for line, or where the run came without its ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay.check import SHOWN, Finding, check_run, odd_in_order
from assay.core.ids import WORD
from assay.io.readers import has_lines

if TYPE_CHECKING:
    from assay.core.arrays import Ints
    from assay.data import Run
    from assay.data.aligned import Match


def odd_in_run(path: Path, joined: Match) -> list[Finding]:
    """As check_run, of a run that was read from the path with its ranks and joined with the judgments."""
    run = joined.run
    if not has_lines(path) or run.ranks is None or not np.isfinite(run.scores).all():
        return check_run(path, joined.qrels)
    skips, rises = _out_of_order(run)
    found: list[Finding] = []
    if len(skips) or len(rises):
        raw = _text(run)
        # Rows are lines only where the file has nothing but run lines.
        lines = raw.split(b"\n")
        if b"\r" in raw or len([line for line in lines if line]) != len(run) or len(lines) > len(run) + 1:
            return check_run(path, joined.qrels)
        found += _some(str(path), skips, "rank out of order", lines)
        found += _some(str(path), rises, "rank against score", lines)
    return [*found, *odd_in_order(str(path), run, joined)]


def _text(run: Run) -> bytes:
    """What the ids of the run stand in: the whole file, if it was read from a TREC file."""
    padded = run.docs.buffer.tobytes()
    return padded[: -2 * WORD]


def _out_of_order(run: Run) -> tuple[Ints, Ints]:
    """Rows of the file whose rank does not follow the line before, and whose score rises although the rank follows."""
    back = np.argsort(run.file_rows(), kind="stable")
    topic = run.topic_of_row()[back]
    scores = run.scores[back]
    ranks = np.zeros(len(run), dtype=np.int64) if run.ranks is None else run.ranks[back]
    same_topic = topic[1:] == topic[:-1]
    skips = same_topic & (ranks[1:] != ranks[:-1] + 1)
    rises = same_topic & ~skips & (scores[1:] > scores[:-1])
    return np.flatnonzero(skips) + 1, np.flatnonzero(rises) + 1


def _some(where: str, rows: Ints, what: str, lines: list[bytes]) -> Iterator[Finding]:
    for row in rows[:SHOWN].tolist():
        fields = lines[row].decode().split()
        said = f"rank {fields[3]!r} does not follow the line before"
        if what == "rank against score":
            said = f"rank {fields[3]} has a higher score ({fields[4]}) than the rank before; the score decides"
        yield Finding(where, row + 1, "remark", said)
    if len(rows) > SHOWN:
        yield Finding(where, None, "remark", f"{len(rows) - SHOWN} more lines: {what}")
