"""`assay site`: the read-only pages of a store as files that open from disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import Command
from assay.cli.options import Output, with_output
from assay.cli.store_options import FOLDER, with_store

if TYPE_CHECKING:
    from assay.store import Store


@click.command(cls=Command)
@click.argument("target", type=FOLDER)
@click.option("--collection", "collections", multiple=True, help="Only this collection; repeatable.")
@click.option("--topics/--no-topics", default=True, show_default=True, help="Also write a page for every topic.")
@with_output
@with_store
def command(target: Path, collections: tuple[str, ...], topics: bool, store: Store, out: Output) -> None:
    """Write the public pages of a store to TARGET: collections, leaderboards, runs, topics.

    \b
    assay site public/
    assay site public/ --collection demo --no-topics
    """
    from assay.web import write_site

    with out.progress("pages") as progress:
        written = write_site(store, target, collections=collections, topics=topics, progress=progress)
    out.write(written.table(), of=written)
