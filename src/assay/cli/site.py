"""`assay site`: the read-only pages of a store as files that open from disk."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.commands import Command
from assay.cli.options import Output, with_output
from assay.cli.serve import DATABASE, FOLDER


@click.command(cls=Command)
@click.argument("target", type=FOLDER)
@click.option("--store", "folder", type=FOLDER, default="assay-store", show_default=True, help="Folder of the store.")
@click.option("--database", default="", metavar="URL", help=DATABASE)
@click.option("--collection", "collections", multiple=True, help="Only this collection; repeatable.")
@click.option("--topics/--no-topics", default=True, show_default=True, help="Also write a page for every topic.")
@with_output
def command(target: Path, folder: Path, database: str, collections: tuple[str, ...], topics: bool, out: Output) -> None:
    """Write the public pages of a store to TARGET: collections, leaderboards, runs, topics.

    \b
    assay site public/
    assay site public/ --collection demo --no-topics
    """
    from assay.store import Store
    from assay.web import write_site

    with Store(database or folder, make=False) as store, out.progress("pages") as progress:
        written = write_site(store, target, collections=collections, topics=topics, progress=progress)
    out.write(written.table(), of=written)
