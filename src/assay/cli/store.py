"""`assay store`: what lasts, in and out as plain files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import store_experiments  # noqa: F401  (it adds its command)
from assay.cli.commands import Group, KnownWord
from assay.cli.options import Output, output_options
from assay.cli.store_add import add
from assay.cli.store_options import DATABASE, FOLDER, with_store
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.store import Store

TARGET = click.Path(path_type=Path)


@click.group(cls=Group)
def command() -> None:
    """Collections, runs, scores and judgments that last.

    A store is a folder (SQLite) or a PostgreSQL database; assay serve shows it in the browser. Everything goes in and
    comes out as plain files that the other commands read.

    \b
    assay store add collection robust --topics topics.txt -m AP
    assay store add qrels robust qrels.txt
    assay store add runs robust runs/ --team lab --year 2026
    assay store list runs
    assay store backup backups/monday
    """


command.add_command(add)


@command.command("list")
@click.argument("part", type=KnownWord("assay.store.store_tables:PARTS"), default="collections")
@click.option("--collection", help="Only of this collection.")
@output_options
@with_store
def list_(part: str, collection: str | None, store: Store, out: Output) -> None:
    """List a PART of the store.

    \b
    assay store list
    assay store list runs --collection robust --format csv
    """
    from assay.store.store_tables import table_of

    out.write(table_of(store, part, collection))


@command.command()
@click.argument("name")
@output_options
@with_store
def show(name: str, store: Store, out: Output) -> None:
    """Show one collection, campaign, experiment or run: NAME is its name, or of a run its hash or the beginning of it.

    \b
    assay store show robust
    assay store show 5d33b8f4d20a
    """
    from assay.store.shown import shown

    found = shown(store, name)
    out.write(*found.tables(), of=found)


@command.command()
@click.argument("target", type=TARGET)
@click.option("--campaign", help="Only the labels and grades of this campaign.")
@click.option("--experiment", help="Only this crowd experiment: labels, accepted, rejected, bonus, workers, tasks.")
@output_options
@with_store
def export(target: Path, campaign: str | None, experiment: str | None, store: Store, out: Output) -> None:
    """Write everything to the new folder TARGET as plain files, from which assay store import rebuilds the store.

    \b
    assay store export everything
    assay store export judged --campaign pilot
    assay store export answers --experiment s100
    """
    from assay.store.experiment_files import export_experiment
    from assay.store.exports import export_campaign

    if campaign is not None and experiment is not None:
        raise UsageError("--campaign and --experiment: one folder has one of the two; give one")
    if experiment is not None:
        written = export_experiment(store.experiments[experiment], target)
    elif campaign is not None:
        written = export_campaign(store.campaigns[campaign], target)
    else:
        store.export(target)
        out.text(f"exported to {target}")
        return
    out.text("\n".join(map(str, written)))


@command.command("import")
@click.argument("source", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--store", "folder", type=FOLDER, default="assay-store", show_default=True, help="Folder of the store.")
@click.option("--database", default="", metavar="URL", help=DATABASE)
@output_options
def import_(source: Path, folder: Path, database: str, out: Output) -> None:
    """Rebuild a store from SOURCE, a folder that assay store export wrote, to the same answers.

    People need new tokens. The store must be new.

    \b
    assay store import everything --store copy
    """
    from assay.store import Store
    from assay.store.store_tables import table_of

    files = folder / "files" if database else None
    with Store.rebuilt(source, database or folder, files=files) as store:
        out.write(table_of(store))


@command.command()
@click.option(
    "--recount", is_flag=True, help="First count anew what people have judged, where it is written down wrong."
)
@output_options
@with_store
def check(recount: bool, store: Store, out: Output) -> None:
    """Is the store whole? Every file against its hash, every count against the log of judgments.

    Exit code 1 if there is an error. Files that nobody refers to are remarks. Counts of what each person has judged go
    wrong where a server of an older version went on writing; --recount mends them and says which they were.

    \b
    assay store check
    assay store check --recount
    """
    found = store.check(recount=recount)
    out.write(found.table(), of=found)
    if found.errors:
        sys.exit(1)


@command.command()
@click.argument("target", type=TARGET)
@output_options
@with_store
def backup(target: Path, store: Store, out: Output) -> None:
    """Copy the store to the new folder TARGET, which is a store itself; people may judge meanwhile.

    \b
    assay store backup backups/monday
    """
    store.backup(target)
    out.text(f"copied to {target}")
