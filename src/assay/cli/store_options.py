"""Which store a command works on: a folder, or a database."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from assay.core.errors import AssayError

C = TypeVar("C", bound=Callable[..., Any])


DATABASE = "A database instead of the folder, e.g. postgresql+psycopg://user@host/name."
FOLDER = click.Path(path_type=Path, file_okay=False)


def with_store(command: C, *, make: bool = False, check: Callable[..., None] = lambda **given: None) -> C:
    """--store and --database; the command gets the opened store as `store`. make: a new one where there is none.

    check: gets all other options before the store is opened.
    """

    @functools.wraps(command)
    def run(*args: Any, folder: Path, database: str, **kwargs: Any) -> Any:
        from assay.store import Store

        check(**kwargs)
        files = folder / "files" if database else None
        is_new = make and not database and not folder.exists()
        with Store(database or folder, first_files=files, make=make) as store:
            try:
                return command(*args, store=store, **kwargs)
            except AssayError:
                if is_new and not store.collections.listed() and not store.people.listed():
                    shutil.rmtree(folder)  # made a moment ago, and nothing came of it
                raise

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


def with_new_store_after(check: Callable[..., None]) -> Callable[[C], C]:
    """As `with_new_store`; the options are checked before the store is opened, so that a mistake leaves none behind."""
    return lambda command: with_store(command, make=True, check=check)
