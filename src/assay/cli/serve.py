"""`assay serve`: the workbench in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.commands import Command
from assay.cli.inputs import FILE, one_measure
from assay.core.errors import UsageError

DATABASE = "A database instead of the folder, e.g. postgresql+psycopg://user@host/name."
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command(cls=Command)
@click.argument("runs", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--qrels", type=FILE, help="Judgments of the runs that are given.")
@click.option("--topics", type=FILE, help="Topics with their texts.")
@click.option("--docs", type=FILE, help="Documents with their texts; they are looked up as they are needed.")
@click.option("--name", default="", help="Name of the collection of these files.  [default: that of the qrels file]")
@one_measure("Measure that its pages show first.", "nDCG@10")
@click.option("--store", "folder", type=FOLDER, default="assay-store", show_default=True, help="Folder of the store.")
@click.option("--database", default="", metavar="URL", help=DATABASE)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need tokens.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0 for any free one."
)
@click.option("--tokens", is_flag=True, help="Ask for tokens on this machine too, as behind a proxy.")
def command(
    runs: tuple[Path, ...],
    qrels: Path | None,
    topics: Path | None,
    docs: Path | None,
    name: str,
    measure: str,
    folder: Path,
    database: str,
    host: str,
    port: int,
    tokens: bool,
) -> None:
    """Serve the workbench: leaderboards, runs, topics and judging in the browser, from a store that lasts.

    \b
    assay serve
    assay serve --qrels qrels.txt runs/
    assay serve --database postgresql+psycopg://assay@localhost/assay --host 0.0.0.0
    """
    from assay.store import Store
    from assay.store.filling import add_files, add_simulated
    from assay.web import serve

    for option, given in {"--topics": topics, "--docs": docs, "--name": name}.items():
        if given and qrels is None:
            raise UsageError(f"{option} has no effect without --qrels; give the judgments too")
    if runs and qrels is None:
        raise UsageError("runs are given without judgments; give them with --qrels")
    with Store(database or folder, files=folder / "files" if database else None) as store:
        if qrels is not None:
            add_files(store, qrels, runs, name=name, topics=topics, docs=docs, measure=measure)
        elif not store.collections.listed():
            add_simulated(store)
        serve(store, host=host, port=port, tokens=tokens, started=_say_address)


def _say_address(address: str) -> None:
    click.echo(f"assay serves the workbench at {address} (Ctrl-C stops it)")
