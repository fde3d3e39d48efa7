"""`assay store add experiment` and `tasks`: crowd experiments that the workbench serves to workers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import KnownWord
from assay.cli.crowd_tasks import AMOUNT, price_options
from assay.cli.inputs import FILE, one_measure
from assay.cli.label_files import has_effect
from assay.cli.options import Output, output_options
from assay.cli.store_add import add
from assay.cli.store_options import with_store

if TYPE_CHECKING:
    from assay.store import Store

COUNT = click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)


@add.command()
@click.argument("name")
@click.argument("collection")
@click.option("--pool", type=FILE, help="Docs to judge: topic doc lines, qrels, or a table with topic and doc.")
@click.option(
    "--depth", type=COUNT, help="Instead of --pool, the first docs of each run of the collection.  [default: 10]"
)
@click.option("--gold", type=FILE, help="Qrels of gold docs; each task gets the lowest and the highest in turn.")
@click.option("--form", type=KnownWord("assay.crowd.task_forms:FORMS"), default="slider", show_default=True,
              help="How workers answer.")  # fmt: skip
@click.option("--scale", help="Scale of the slider, e.g. 0-100, or of radio buttons, e.g. 'not<partly<fully'.")
@click.option("--docs", type=COUNT, default=8, show_default=True, help="Docs (or pairs) per task, including gold.")
@click.option("--gold-docs", type=click.IntRange(min=0), default=2, show_default=True,
              help="Gold docs (or pairs) per task, where there is --gold.")  # fmt: skip
@click.option("--workers", type=COUNT, default=10, show_default=True, help="Workers per doc (or pair).")
@click.option("--pairs-per-doc", type=click.IntRange(min=2), help="In how many pairs a doc stands, for --form pairs.")
@click.option("--tasks-per-worker", type=COUNT, help="Maximum tasks of a worker.  [default: one of each topic]")
@click.option("--questions", type=FILE, help="Test questions: topic, question, options (separated by |), answer.")
@click.option("--consent", type=FILE, help="Text of the first screen.")
@click.option("--guidelines", type=FILE, help="Text beside the topic.")
@click.option("--title", help="Title of the pages.")
@click.option("--seconds", type=SECONDS, help="Minimum seconds on --on-docs docs.")
@click.option("--on-docs", type=COUNT, help="Docs that must take --seconds.  [default: all of a task]")
@click.option("--moved", type=click.IntRange(min=0), help="Docs on which the slider must be moved.  [default: half]")
@click.option("--attempts", type=COUNT, default=3, show_default=True, help="Maximum attempts.")
@click.option("--away", type=AMOUNT, default=1800, show_default=True,
              help="Seconds after which a task that a worker left goes to another.")  # fmt: skip
@price_options
@click.option("--seconds-per-doc", type=SECONDS, default=30, show_default=True,
              help="Time for one doc, for the estimate.")  # fmt: skip
@click.option("--failing", type=click.FloatRange(0, 1, max_open=True), default=0.1, show_default=True,
              help="Share of the tasks that fail a check, for the estimate.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the order of docs.  [default: a random one]")
@click.option("--estimate", is_flag=True, help="Only say what it will cost; nothing is stored.")
@output_options
@with_store
def experiment(
    name: str, collection: str, pool: Path | None, depth: int | None, gold: Path | None, questions: Path | None,
    estimate: bool, store: Store, out: Output, **choices: Any,
) -> None:  # fmt: skip
    """Add the crowd experiment NAME on docs of COLLECTION, whose topics and docs have texts in the store.

    What it will cost is printed, and the link that workers get from `assay serve`; a platform adds &worker=ID to it.

    \b
    assay store add experiment s100 robust --pool pool.txt --gold gold.qrels --seconds 20 --on-docs 6 --estimate
    assay store add experiment s100 robust --pool pool.txt --gold gold.qrels --seconds 20 --on-docs 6
    """
    from assay.store.experiment_inputs import chosen_of_files
    from assay.store.store_tables import experiments_table

    has_effect("gold_docs", gold is not None, "without --gold")
    has_effect("pairs_per_doc", choices["form"] == "pairs", "without --form pairs")
    chosen = chosen_of_files(pool=pool, depth=depth, gold=gold, questions=questions, **choices)
    cost = store.experiments.estimate(collection, **chosen)
    if estimate:
        out.write(cost.table(), of=cost)
        return
    store.experiments.add(name, collection, **chosen)
    added = experiments_table(store, collection)
    shown = [added] if out.format == "csv" else [cost.table(), added]
    out.write(*shown, of=cost)


@add.command()
@click.argument("name")
@click.option("--labels", type=COUNT, default=20, show_default=True, help="More labels, about.")
@one_measure("Measure that compares the runs: DCG, RBP, SDCG or INSQ.", "DCG@10")
@output_options
@with_store
def tasks(name: str, labels: int, measure: str, store: Store, out: Output) -> None:
    """Add tasks to the crowd experiment NAME, on the docs whose labels still move comparisons of the stored runs.

    \b
    assay store add tasks s100 --labels 100 -m DCG@10
    """
    from assay.store.experiment_growth import add_tasks

    added = add_tasks(store, name, labels=labels, measure=measure)
    shown = added.tables()
    out.write(*(shown[:1] if out.format == "csv" else shown), of=added)
