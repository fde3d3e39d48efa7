"""`assay serve`: the workbench in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.columns import named_columns, with_columns
from assay.cli.commands import Command
from assay.cli.inputs import FILE, one_measure
from assay.cli.store_options import with_new_store_after
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.store import Store


@click.command(cls=Command)
@with_columns(click.argument("runs", nargs=-1, type=click.Path(exists=True, path_type=Path)))
@click.option("--qrels", type=FILE, help="Judgments of the runs that are given.")
@click.option("--topics", type=FILE, help="Topics with their texts.")
@click.option("--docs", type=FILE, help="Documents with their texts; they are looked up as they are needed.")
@click.option("--name", default="", help="Name of the collection of these files.  [default: that of the qrels file]")
@one_measure("Measure that its pages show first.", "nDCG@10")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need tokens.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0 for any free one."
)
@click.option("--tokens", is_flag=True, help="Ask for tokens on this machine too, as behind a proxy.")
@with_new_store_after(lambda **given: _refuse_without_qrels(**given))
def command(
    runs: tuple[Path, ...],
    qrels: Path | None,
    topics: Path | None,
    docs: Path | None,
    name: str,
    measure: str,
    host: str,
    port: int,
    tokens: bool,
    store: Store,
) -> None:
    """Serve the workbench: leaderboards, runs, topics and judging in the browser, from a store that lasts.

    \b
    assay serve
    assay serve --qrels qrels.txt runs/
    assay serve --database postgresql+psycopg://assay@localhost/assay --host 0.0.0.0
    """
    from assay.store.filling import add_files, add_simulated
    from assay.web import serve

    columns = named_columns()
    if qrels is not None:
        add_files(store, qrels, runs, name=name, topics=topics, docs=docs, measure=measure, columns=columns)
    elif not store.collections.listed():
        add_simulated(store)
    serve(store, host=host, port=port, tokens=tokens, started=_say_address)


def _refuse_without_qrels(
    *, runs: tuple[Path, ...], qrels: Path | None, topics: Path | None, docs: Path | None, name: str, **_: object
) -> None:
    """Files that have no effect without judgments are an error, before a store is made."""
    if qrels is not None:
        return
    for option, given in {"--topics": topics, "--docs": docs, "--name": name, "--column": named_columns()}.items():
        if given:
            raise UsageError(f"{option} has no effect without --qrels; give the judgments too")
    if runs:
        raise UsageError("runs are given without judgments; give them with --qrels")


def _say_address(address: str) -> None:
    # At once, also into a pipe: a program that starts the server waits for this line.
    click.echo(f"assay serves the workbench at {address} (Ctrl-C stops it)")
    sys.stdout.flush()
