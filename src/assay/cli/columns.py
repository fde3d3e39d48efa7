"""--column OURS=THEIRS, on every command that reads tables: which columns hold what, where their names are not usual.

A name serves all tables of a command that have such a column; one that no table has is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.io.column_names import SharedColumns

C = TypeVar("C", bound=Callable[..., Any])
KEY = "assay.columns"
"""Where the context of a command keeps the names."""


def column_option(command: C) -> C:
    """--column, unless the command has it; the readers of `inputs` find it themselves."""
    known = getattr(command, "__click_params__", [])
    if any("--column" in parameter.opts for parameter in known):
        return command
    return click.option(
        "--column", "columns", multiple=True, metavar="OURS=THEIRS", expose_value=False, callback=_kept,
        help="Name of a column of the tables, e.g. topic=question; repeatable.",
    )(command)  # fmt: skip


def with_columns(argument: Callable[[C], C]) -> Callable[[C], C]:
    """An argument that takes tables, and --column."""
    return lambda command: argument(column_option(command))


def _kept(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> None:
    """Keep the names for those who read."""
    if values and not context.resilient_parsing:
        from assay.io.column_names import SharedColumns

        context.meta[KEY] = SharedColumns(named_values(values, "--column"), "--column")


def named_columns() -> SharedColumns | None:
    """The names that the person gave, for all tables of the command."""
    context = click.get_current_context(silent=True)
    columns: SharedColumns | None = None if context is None else context.meta.get(KEY)
    return columns


def refuse_unused_columns() -> None:
    """An error for a name that no table had; to be called when all is read and before anything is written."""
    columns = named_columns()
    if columns is not None:
        columns.refuse_unused()


def named_values(texts: tuple[str, ...], option: str) -> dict[str, str]:
    """Names and values of an option that is given as name=value; a name given twice is an error."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value):
            raise UsageError(f"{option} {text!r} is not of the form name=value")
        if name.strip() in values:
            raise UsageError(f"{option} {name.strip()} is given twice; give it once")
        values[name.strip()] = value
    return values
