"""What `assay compare runs` shows beside a leaderboard: columns of a table of runs, and the topics that lost most."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.columns import named_columns
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data import RunsInfo
    from assay.data.scores import ScoreMatrix
    from assay.stats.leaderboard import Leaderboard


def shown_details(info: Path | None, show: str | None) -> tuple[RunsInfo, list[str]] | None:
    """The table of runs, and the columns of it that are to be shown; None without one."""
    if info is None and show is not None:
        raise UsageError("--show names columns of --info; give that table of runs as well")
    if info is None:
        return None
    from assay.io import read_info

    details = read_info(info)
    columns = [name.strip() for name in (show or "team").split(",") if name.strip()]
    if not columns:
        raise UsageError("--show names no column; write them separated by commas, e.g. team,type")
    for name in columns:
        details.column(name)  # a column that is not there is an error before any test is made
    return details, columns


def topic_queries(
    topics: Path | None, worst: int | None, baseline: str | None, matrices: Sequence[ScoreMatrix]
) -> dict[str, str] | None:
    """The query of each topic for --worst, which needs to know against which run."""
    if topics is not None and worst is None:
        raise UsageError("--topics has the texts of the topics that --worst shows; give --worst N as well")
    if worst is not None and baseline is None and any(len(matrix.runs) > 2 for matrix in matrices):
        raise UsageError("--worst shows what was lost against a baseline; name it with --baseline RUN")
    if topics is None:
        return None
    from assay.io import read_topics

    return read_topics(topics, columns=named_columns()).queries()


def losses_of(boards: Sequence[Leaderboard], most: int, queries: dict[str, str] | None, *, of_all: bool) -> list[Any]:
    """The topics that lost most, on every board: of the best other run, or of all."""
    losses = []
    for board in boards:
        others = [run for run in board.matrix.runs if run != board.baseline] if of_all else None
        losses.append(board.worst_topics(most, runs=others, queries=queries))
    return losses
