"""`assay store add`: collections, judgments, runs, reference sets, published scores, campaigns, people, labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.columns import named_columns, with_columns
from assay.cli.commands import Group, KnownWord, RegistryOption
from assay.cli.inputs import FILE, one_measure
from assay.cli.options import Output, output_options
from assay.cli.store_options import with_new_store, with_store

if TYPE_CHECKING:
    from assay.store import Store

RUNS = click.Path(exists=True, path_type=Path)


@click.group(cls=Group)
def add() -> None:
    """Add something to a store; a new store is made where there is none.

    \b
    assay store add collection robust --topics topics.txt
    assay store add qrels robust qrels.txt
    assay store add runs robust runs/
    """


@add.command()
@click.argument("name")
@click.option("--topics", type=FILE, help="Topics with their texts.")
@click.option("--docs", type=FILE, help="Documents with their texts, all of which are stored.")
@click.option("--lookup", default="", metavar="FILE", help="File or irds:ID in which texts of docs are looked up.")
@click.option("--title", default="", help="A longer name.")
@click.option("--description", default="", help="What it is, in a few sentences.")
@click.option("--year", type=int, help="Year of the track or of the topics.")
@one_measure("Measure that its pages show first.", "AP")
@output_options
@with_new_store
def collection(name: str, store: Store, out: Output, **facts: Any) -> None:
    """Add the collection NAME.

    \b
    assay store add collection robust --topics topics.txt -m AP --year 2004
    """
    from assay.store.store_tables import collections_table

    store.collections.add(name, **facts)
    out.write(collections_table(store, name))


@add.command()
@click.argument("collection")
@with_columns(click.argument("path", metavar="QRELS", type=FILE))
@click.option("--label", default="", help="Name of this version.")
@click.option("--note", default="", help="What has changed.")
@output_options
@with_store
def qrels(collection: str, path: Path, label: str, note: str, store: Store, out: Output) -> None:
    """Add judgments to COLLECTION as its newest version; earlier versions and what rests on them stay.

    \b
    assay store add qrels robust qrels.txt --label final
    """
    from assay.store.store_tables import qrels_table

    store.qrels.add(collection, path, label=label, note=note, columns=named_columns())
    out.write(qrels_table(store, collection))


@add.command()
@click.argument("collection")
@with_columns(click.argument("paths", metavar="RUNS...", nargs=-1, required=True, type=RUNS))
@click.option("--team", help="Who made them.")
@click.option("--year", type=int, help="Year in which they were made.")
@click.option("--date", help="Date on which they were made.")
@click.option("--type", "kind", type=KnownWord("assay.store.stored_runs:RUN_KINDS"), help="Had a person a hand in it?")
@click.option("--query-type", help="Part of the topics that they use, e.g. title.")
@click.option("--paper", help="Paper that describes them.")
@click.option("--code", help="Address of the program.")
@click.option("--note", help="Anything else.")
@click.option(
    "--visibility", type=KnownWord("assay.store.stored_runs:VISIBILITIES"), default="public", show_default=True,
    help="Who sees them in the browser.",
)  # fmt: skip
@output_options
@with_store
def runs(collection: str, paths: tuple[Path, ...], kind: str | None, store: Store, out: Output, **facts: Any) -> None:
    """Add run files, or folders of them, to COLLECTION. A run that is there already stays as it is.

    What is not given is taken from the ir_metadata header of a file, where it has one.

    \b
    assay store add runs robust runs/ --team lab --year 2026 --type automatic
    """
    from assay.store.filling import add_runs
    from assay.store.store_tables import runs_table

    with out.progress("runs") as progress:
        added = add_runs(store, collection, paths, kind=kind, columns=named_columns(), progress=progress, **facts)
    out.say(f"{len(added)} runs")
    out.write(runs_table(store, collection))


@add.command()
@click.argument("collection")
@click.argument("name")
@click.argument("runs", nargs=-1, required=True)
@click.option("--note", default="", help="Why these runs.")
@output_options
@with_store
def reference(collection: str, name: str, runs: tuple[str, ...], note: str, store: Store, out: Output) -> None:
    """Add the reference set NAME to COLLECTION: the RUNS, by tag or hash, by which scores are standardized.

    \b
    assay store add reference robust basic bm25 ql rm3
    """
    from assay.store.store_tables import references_table

    store.references.add(collection, name, runs, note=note)
    out.write(references_table(store, collection))


@add.command()
@click.argument("path", metavar="TABLE", type=FILE)
@output_options
@with_new_store
def published(path: Path, store: Store, out: Output) -> None:
    """Add scores that papers report, from a table as assay study survey reads it.

    \b
    assay store add published papers.csv
    """
    from assay.store.store_tables import published_table

    new = store.published.add(path)
    out.say(f"{new} scores were not there yet")
    out.write(published_table(store))


@add.command()
@click.argument("name")
@click.option(
    "--role", type=KnownWord("assay.store.people:ROLES"), default="assessor", show_default=True,
    help="What the person may do.",
)  # fmt: skip
@output_options
@with_new_store
def person(name: str, role: str, store: Store, out: Output) -> None:
    """Add a person and print the token, which cannot be shown again.

    \b
    assay store add person ann --role assessor
    """
    _, token = store.people.add(name, role)
    out.text(token)


@add.command()
@click.argument("name")
@click.argument("collection")
@click.option(
    "--run", "runs", multiple=True, help="Tag or hash of a run whose docs are judged; repeatable.  [default: all]"
)
@click.option("--docs", type=FILE, help="Judge the docs of this qrels file, in its order, instead of those of runs.")
@click.option("--gold", type=FILE, help="Qrels of docs whose labels are known, by which people are checked.")
@click.option(
    "--order", cls=RegistryOption, registry="assay.pooling.judging:ORDERS", metavar="NAME",
    help="Judging order that learns from every judgment, one of: {names}.  [default: hedge]",
)  # fmt: skip
@click.option(
    "--pool", cls=RegistryOption, registry="assay.pooling.pools:POOLS", metavar="NAME",
    help="Instead of an order a pool that is fixed beforehand, one of: {names}.",
)  # fmt: skip
@click.option("--depth", type=click.IntRange(min=1), default=100, show_default=True, help="First docs of each run.")
@click.option("--scale", default="S4", show_default=True, help="S2, S4, S100, magnitude, preference or no<maybe<yes.")
@click.option(
    "--rel", type=float, help="Label from which on a doc is relevant, for orders.  [default: 1, or the middle]"
)
@click.option("--labels", type=click.IntRange(min=1), default=1, show_default=True, help="People who judge each doc.")
@click.option("--guidelines", type=FILE, help="Text file that assessors see beside the doc.")
@click.option("--gold-every", type=click.IntRange(min=2), help="One doc of this many is a gold doc.  [default: 10]")
@click.option("--seconds", type=float, help="Least seconds per doc; who is faster is named.")
@click.option(
    "--protocol", type=KnownWord("assay.crowd.protocol:PROTOCOLS"), default="none", show_default=True,
    help="Checks of a named protocol.",
)  # fmt: skip
@click.option("--budget", type=click.IntRange(min=1), help="Labels in all.")
@click.option("--price", type=float, default=0.0, show_default=True, help="Price of a label.")
@click.option("--judge", "judges", multiple=True, help="Person who may judge; repeatable.  [default: every assessor]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the order.")
@output_options
@with_store
def campaign(name: str, collection: str, store: Store, out: Output, **choices: Any) -> None:
    """Add the judging campaign NAME on the docs of runs of COLLECTION.

    \b
    assay store add campaign pilot robust --order hedge --scale 'no<maybe<yes' --labels 2
    assay store add campaign second robust --docs disputed.txt --scale S4
    """
    from assay.store.filling import add_campaign
    from assay.store.store_tables import campaigns_table

    add_campaign(store, name, collection, **choices)
    out.write(campaigns_table(store, collection))


@add.command()
@click.argument("campaign")
@with_columns(click.argument("path", metavar="LABELS", type=FILE))
@output_options
@with_store
def machine(campaign: str, path: Path, store: Store, out: Output) -> None:
    """Add the LABELS of machine judges to CAMPAIGN; the worker of a label is its judge.

    Nobody sees them before judging the doc. Afterwards people can ask for them, and docs on which they disagree with a
    judge wait for a second look in the browser. Docs that the campaign does not judge are left out.

    \b
    assay store add machine pilot judges.csv
    """
    own = store.campaigns[campaign]
    kept = own.machine.add(path, columns=named_columns())
    out.say(f"{kept} labels")
    compared = own.machine.comparison()
    assert compared is not None
    out.write(compared.table(), of=compared)
