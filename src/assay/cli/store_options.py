"""Which store a command works on: a folder, or a database."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

C = TypeVar("C", bound=Callable[..., Any])


DATABASE = "A database instead of the folder, e.g. postgresql+psycopg://user@host/name."
FOLDER = click.Path(path_type=Path, file_okay=False)


def with_store(command: C, *, make: bool = False) -> C:
    """--store and --database; the command gets the opened store as `store`. make: a new one where there is none."""

    @functools.wraps(command)
    def run(*args: Any, folder: Path, database: str, **kwargs: Any) -> Any:
        from assay.store import Store

        files = folder / "files" if database else None
        with Store(database or folder, first_files=files, make=make) as store:
            return command(*args, store=store, **kwargs)

    options: list[Callable[[Any], Any]] = [
        click.option(
            "--store", "folder", type=FOLDER, default="assay-store", show_default=True, help="Folder of the store."
        ),
        click.option("--database", default="", metavar="URL", help=DATABASE),
    ]
    wrapped: Any = run
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def with_new_store(command: C) -> C:
    """As `with_store`; where there is no store yet, one is made."""
    return with_store(command, make=True)
