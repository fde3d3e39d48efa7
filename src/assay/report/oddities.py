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
from assay.io.samples import is_run_line

if TYPE_CHECKING:
    from assay.core.arrays import Ints
    from assay.data import Run
    from assay.data.aligned import Match


def odd_in_run(path: Path, joined: Match) -> list[Finding]:
    """As check_run, of a run that was read from the path with its ranks and joined with the judgments."""
    run = joined.run
    if run.ranks is None or not np.isfinite(run.scores).all() or not _is_trec(run):
        return check_run(path, joined.qrels)
    where = str(path)
    skips, rises = _out_of_order(run, run.ranks)
    found: list[Finding] = []
    if len(skips) or len(rises):
        lines = _lines(run)
        if lines is None:
            return check_run(path, joined.qrels)
        found += _some(where, skips, "rank out of order", lines)
        found += _some(where, rises, "rank against score", lines)
    return [*found, *odd_in_order(where, run, joined)]


def _is_trec(run: Run) -> bool:
    """Whether the ids of the run stand in the lines of a TREC file."""
    start = run.docs.buffer[:4096].tobytes().decode(errors="replace")
    lines = [line.split() for line in start.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and is_run_line(lines[0])


def _lines(run: Run) -> list[bytes] | None:
    """The lines of the file that the ids of the run stand in; None where they are not the rows of the run one by one.

    They are where the file was read from a TREC file and has nothing but run lines.
    """
    padded = run.docs.buffer.tobytes()
    text = padded[: -2 * WORD]
    lines = text.split(b"\n")
    filled = sum(1 for line in lines if line)
    if b"\r" in text or filled != len(run) or len(lines) > len(run) + 1:
        return None
    return lines


def _out_of_order(run: Run, ranks: Ints) -> tuple[Ints, Ints]:
    """Rows of the file whose rank does not follow the line before, and whose score rises although the rank follows."""
    back = np.argsort(run.file_rows(), kind="stable")
    topic = run.topic_of_row()[back]
    score = run.scores[back]
    rank = ranks[back]
    same_topic = topic[1:] == topic[:-1]
    follows = rank[1:] == rank[:-1] + 1
    higher = score[1:] > score[:-1]
    skips = np.flatnonzero(same_topic & ~follows)
    rises = np.flatnonzero(same_topic & follows & higher)
    return skips + 1, rises + 1


def _some(where: str, rows: Ints, what: str, lines: list[bytes]) -> Iterator[Finding]:
    """A remark on each of the first rows, and one on how many more there are."""
    for row in rows[:SHOWN].tolist():
        _, _, _, rank, score, *_ = lines[row].decode().split()
        if what == "rank against score":
            said = f"rank {rank} has a higher score ({score}) than the rank before; the score decides"
        else:
            said = f"rank {rank!r} does not follow the line before"
        yield Finding(where, row + 1, "remark", said, what)
    if len(rows) > SHOWN:
        more = len(rows) - SHOWN
        yield Finding(where, None, "remark", f"{more} more lines: {what}", what, more)
