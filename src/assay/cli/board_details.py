"""What `assay compare runs` shows beside a leaderboard: columns of a table of runs, and the topics that lost most."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.columns import named_columns
from assay.cli.modes import is_given
from assay.cli.run_info import groups_by, info_for, is_filtered, runs_info
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data import RunsInfo
    from assay.data.scores import ScoreMatrix
    from assay.stats.leaderboard import Leaderboard
    from assay.stats.run_places import RunPlaces


def shown_details(show: str | None) -> tuple[RunsInfo, list[str]] | None:
    """The table of runs, and the columns of it that are to be shown; None without one."""
    details = runs_info(needed_by="--show" if show is not None else "")
    if details is None:
        return None
    has_other_use = is_filtered() or is_given("by") or is_given("best_of")
    if show is None and has_other_use and "team" not in details:
        return None
    columns = [name.strip() for name in (show or "team").split(",") if name.strip()]
    if not columns:
        raise UsageError("--show names no column; write them separated by commas, e.g. team,type")
    for name in columns:
        details.column(name)  # a column that is not there is an error before any test is made
    return details, columns


def refuse_idle_places(with_places: bool, best_of: Sequence[str], by: str | None) -> None:
    """An error where --best-of or --by has nothing to show its columns in."""
    for option, given in (("--best-of", best_of), ("--by", by)):
        if given and not with_places:
            raise UsageError(f"{option} adds columns to the table of --places; give that as well")


def places_of(matrix: ScoreMatrix, best_of: Sequence[str], by: str | None, top: int | None) -> RunPlaces:
    """Where each run stands, with the distance to the best of chosen runs, and within its group."""
    from assay.stats.run_places import places

    chosen = {f"best {text}": info_for("--best-of").matching(text, matrix.runs) for text in best_of}
    groups = None if by is None else groups_by(by)
    placed = places(matrix, best_of=chosen, groups=groups, by=by or "group")
    return placed if top is None else placed.best(top)


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


def differences_of(boards: Sequence[Leaderboard]) -> Sequence[Any]:
    """The picture of the best other run minus the baseline on every topic, for each board."""
    from assay.report.figures.stats import board_differences

    return [board_differences(board) for board in boards]
