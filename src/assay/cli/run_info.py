"""--info and --where, on every command that reads runs or their scores: what is known of the runs, and which to keep.

--info names the table of runs. --where keeps the runs that meet a condition on one of its columns; the readers of
`inputs` apply it themselves, so that it means the same in every command. --by groups runs where groups make sense.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.modes import is_given
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data import Run, RunsInfo
    from assay.data.scores import ScoreMatrix

C = TypeVar("C", bound=Callable[..., Any])
FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
PATH = "assay.info.path"
TABLE = "assay.info.table"
CONDITIONS = "assay.info.where"
"""Where the context of a command keeps the file of --info, what is in it, and the conditions."""
ALONE = "alone"
"""How an --info option is marked that has an effect without --where."""
USES = ("where", "by", "show", "pooled", "new", "best_of")
"""Options that look at the table of runs."""


def info_options(command: C, *, alone: str = "") -> C:
    """--info and --where, unless the command has them. alone: what --info shows by itself in this command."""
    known = getattr(command, "__click_params__", [])
    if any("--info" in parameter.opts for parameter in known):
        return command
    what = "Table of runs: a column run and others such as team, type or year" + (f"; {alone}." if alone else ".")
    where = click.option(
        "--where", multiple=True, metavar="COLUMN=TEXT", expose_value=False, callback=_keep_conditions,
        help="Only the runs of which --info says this, e.g. type=automatic or type!=manual; repeatable.",
    )  # fmt: skip
    info = click.option("--info", type=FILE, expose_value=False, callback=_keep_path, cls=_Info, alone=alone, help=what)
    return info(where(command))


def info_alone(alone: str) -> Callable[[C], C]:
    """--info and --where of a command where --info has an effect by itself: what that is, for its help."""
    return lambda command: info_options(command, alone=alone)


class _Info(click.Option):
    """--info, which knows whether it has an effect without --where."""

    def __init__(self, *args: Any, alone: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.alone = alone


def by_option(help: str, default: str | None = None) -> Callable[[C], C]:
    """--by COLUMN: the groups of the runs, by a column of --info."""
    return click.option("--by", metavar="COLUMN", default=default, show_default=default is not None, help=help)


def _keep_path(context: click.Context, option: click.Parameter, path: Path | None) -> None:
    if path is not None and not context.resilient_parsing:
        context.meta[PATH] = path


def _keep_conditions(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> None:
    if values and not context.resilient_parsing:
        context.meta[CONDITIONS] = values


def refuse_idle_info() -> None:
    """An error where --info has no effect, or --where nothing to look at; before any file is read."""
    context = click.get_current_context()
    if context.meta.get(CONDITIONS) and PATH not in context.meta:
        raise UsageError("--where is a condition on columns of --info; give that table of runs as well")
    if PATH not in context.meta:
        return
    options = [option for option in context.command.params if isinstance(option, _Info)]
    if any(option.alone for option in options):
        return
    users = [option for option in context.command.params if _looks_at_info(option)]
    if not any(is_given(str(option.name)) for option in users):
        names = " or ".join(max(option.opts, key=len) for option in users)
        raise UsageError(f"--info has no effect without {names}; leave it out or say what to look at")


def _looks_at_info(option: click.Parameter) -> bool:
    """Whether an option is about columns of the table of runs; a --show of tables is not."""
    return option.name in USES and option.metavar != "NAME"


def has_info() -> bool:
    """Whether the person gave a table of runs."""
    return PATH in click.get_current_context().meta


def runs_info(needed_by: str = "") -> RunsInfo | None:
    """What --info says, read once; None without it, or an error if an option needs it."""
    context = click.get_current_context()
    if PATH not in context.meta:
        if needed_by:
            raise UsageError(f"{needed_by} looks at columns of --info; give that table of runs as well")
        return None
    if TABLE not in context.meta:
        from assay.io import read_info

        context.meta[TABLE] = read_info(context.meta[PATH])
    table: RunsInfo = context.meta[TABLE]
    return table


def info_for(option: str) -> RunsInfo:
    """What --info says, for an option that needs it."""
    table = runs_info(needed_by=option)
    assert table is not None
    return table


def is_filtered() -> bool:
    """Whether --where is given."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(CONDITIONS))


def kept_names(names: Sequence[str]) -> list[str]:
    """The names of the runs that --where keeps, in their order: all without it."""
    if not is_filtered():
        return list(names)
    conditions = click.get_current_context().meta[CONDITIONS]
    return info_for("--where").meeting(conditions, names)


def kept_runs(runs: Sequence[Run]) -> list[Run]:
    """The runs that --where keeps."""
    kept = set(kept_names([run.name for run in runs]))
    return [run for run in runs if run.name in kept]


def kept_scores(matrices: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """The scores of the runs that --where keeps; a table without any such run is left out."""
    if not is_filtered():
        return list(matrices)
    names = list(dict.fromkeys(run for matrix in matrices for run in matrix.runs))
    kept = set(kept_names(names))
    found = []
    for matrix in matrices:
        runs = [run for run in matrix.runs if run in kept]
        if runs:
            found.append(matrix.select(runs=runs))
    return found


def kept_collections(collections: dict[str, ScoreMatrix], always: Sequence[str] = ()) -> dict[str, ScoreMatrix]:
    """The scores of the runs that --where keeps, of every collection; always: runs that stay whatever is said of them.

    A collection that has no run left is an error.
    """
    if not is_filtered():
        return collections
    names = list(dict.fromkeys(run for matrix in collections.values() for run in matrix.runs))
    kept = {*kept_names(names), *always}
    found = {}
    for label, matrix in collections.items():
        runs = [run for run in matrix.runs if run in kept]
        if not set(runs) - set(always):
            conditions = ", ".join(click.get_current_context().meta[CONDITIONS])
            raise UsageError(f"{label}: no run of this collection meets {conditions}; leave one of them out")
        found[label] = matrix.select(runs=runs)
    return found


def groups_by(column: str) -> dict[str, str]:
    """{run: group} by a column of --info, for --by; runs of which nothing is said are in no group."""
    texts = info_for("--by").column(column)
    return {run: text for run, text in texts.items() if text}
