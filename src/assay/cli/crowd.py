"""assay crowd: from many workers to judgments one can trust."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.commands import Group
from assay.cli.inputs import FILE
from assay.cli.label_files import labels_input, named_values, read_reference, reference_option
from assay.cli.label_files import load_labels as load_labels
from assay.cli.options import Output, output_and_figure_options, output_options, seed_option

if TYPE_CHECKING:
    from assay.agreement.scales import Scale
    from assay.crowd.uncertain import Uncertain
    from assay.data import Labels

C = TypeVar("C", bound=Callable[..., Any])
COUNT = click.IntRange(min=0)


@click.group(cls=Group)
def command() -> None:
    """From many workers to judgments one can trust.

    LABELS is a table (CSV, TSV, JSONL, Parquet, compressed or not) with the columns topic, doc, worker, label and
    perhaps task, position, seconds, attempt, gold. Other names are told with --column.

    \b
    Are the workers any good, and what is odd in the file:
      assay crowd check labels.csv --scale S100 --reference expert.qrels
    Qrels with their uncertainty:
      assay crowd aggregate labels.csv --method dawid-skene --qrels crowd.qrels --uncertainty crowd.csv
    From 0–100 to relevant or not:
      assay crowd transform labels.csv --scale S100 --levels 2 --way D_a+t --target expert.qrels --qrels binary.qrels
    """


def say_repeats(labels: Labels, scale: Scale, out: Output, what: str) -> None:
    """Where workers labelled a doc more than once, say so, on which lines, and what becomes of it."""
    from assay.crowd.findings import TWICE, findings

    found = next((f for f in findings(labels, scale=scale) if f.problem == TWICE), None)
    if found is not None:
        _, count, lines, _ = found.row()
        out.say(f"{TWICE}, {count} labels (lines {lines}): {what}")


@command.command()
@output_and_figure_options
@labels_input
@reference_option
@click.option("--gold", type=FILE, help="Qrels of gold docs, where the file has no gold column.")
@click.option("--docs", type=COUNT, default=8, show_default=True, help="Docs per task; 0 for no such check.")
@click.option("--gold-docs", type=COUNT, default=2, show_default=True, help="Gold docs per task; 0 for no such check.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=20.0,
    show_default=True,
    help="Least seconds on most docs; 0 for no such check.",
)
@click.option("--on-docs", type=COUNT, default=6, show_default=True, help="On so many docs.")
@click.option("--start", type=float, help="Preset value of the slider; the check that it was moved.")
@click.option("--moved", type=COUNT, default=4, show_default=True, help="Moved on so many docs.")
@click.option("--attempts", type=COUNT, default=3, show_default=True, help="Most attempts.")
@click.option("--most", type=COUNT, default=10, show_default=True, help="Rows shown of workers, docs and failures.")
def check(
    labels: Labels,
    scale: Scale,
    reference: Path | None,
    gold: Path | None,
    docs: int,
    gold_docs: int,
    seconds: float,
    on_docs: int,
    start: float | None,
    moved: int,
    attempts: int,
    most: int,
    out: Output,
) -> None:
    """What is odd, which tasks fail which check, and which workers deserve a second look.

    \b
      assay crowd check labels.tsv --scale S100 --times 100 --reference trec8.qrels --start 50
    """
    from assay.crowd.findings import findings, findings_table
    from assay.crowd.protocol import Protocol, check_protocol, with_gold
    from assay.crowd.quality import doc_quality, topic_quality, worker_quality

    found = findings_table(findings(labels, scale=scale))
    known = read_reference(gold)
    marked = labels if known is None else with_gold(labels, known, scale=scale)
    protocol = Protocol(docs or None, gold_docs or None, seconds or None, on_docs, start, moved, attempts or None)
    checked = check_protocol(marked, protocol)
    outside = scale.outside(labels.label)
    if outside.any():
        out.say(f"{int(outside.sum())} labels outside the scale are left out of the tables of topics, workers and docs")
        marked = marked.select(~outside)
    by_topic = topic_quality(marked, scale=scale, reference=read_reference(reference))
    by_worker, by_doc = worker_quality(marked, scale=scale), doc_quality(marked, scale=scale)
    tables = [found, checked.summary(), by_topic.table()]
    if most:
        tables[2:2] = [checked.table(most=most)]
        tables += [by_worker.table(most=most), by_doc.table(most=most)]
    out.write(*tables, of=[by_worker, by_topic, by_doc])


@command.command()
@output_and_figure_options
@labels_input
@click.option("--method", default="majority", show_default=True, help="See `assay crowd methods`.")
@click.option("--repeats", default="all", show_default=True, type=click.Choice(["all", "first", "last"]),
              help="Where a worker labelled a doc more than once.")  # fmt: skip
@click.option("--qrels", "qrels_path", type=FILE, help="Write the qrels here.")
@click.option("--uncertainty", type=FILE, help="Write grade, low, high, probability and sd of each doc here.")
@click.option("--workers", type=COUNT, default=0, help="Also show so many workers as the model sees them.")
@click.option("--most", type=COUNT, default=10, show_default=True, help="Least certain docs that are shown.")
@reference_option
def aggregate(
    labels: Labels,
    scale: Scale,
    method: str,
    repeats: str,
    qrels_path: Path | None,
    uncertainty: Path | None,
    workers: int,
    most: int,
    reference: Path | None,
    out: Output,
) -> None:
    """Qrels from workers, and how sure each grade is.

    \b
      assay crowd aggregate labels.csv --method 'dawid-skene(restarts=5)' --qrels crowd.qrels --uncertainty crowd.csv
    """
    from assay.crowd.aggregation import aggregate as aggregated
    from assay.crowd.aggregation import agreement_with_reference

    say_repeats(labels, scale, out, "all count" if repeats == "all" else f"the {repeats} counts")
    judged = aggregated(labels, method, scale=scale, repeats=repeats)
    tables = [judged.summary()]
    if most:
        tables.append(judged.table(most=most))
    if workers and judged.workers:
        tables.append(judged.worker_table(most=workers))
    elif workers:
        out.say(f"{judged.method} says nothing about workers; a model does, see `assay crowd methods`")
    known = read_reference(reference)
    if known is not None:
        tables.append(agreement_with_reference(labels, known, [method], scale=scale).table())
    out.write(*tables, of=judged)
    write_judgments(judged, qrels_path, uncertainty, out)


def write_judgments(judged: Uncertain, qrels: Path | None, uncertainty: Path | None, out: Output) -> None:
    """The judgments as qrels, and with their uncertainty, where a path was given."""
    from assay.crowd.uncertain import write_uncertain
    from assay.io import write_qrels

    if qrels:
        write_qrels(qrels, judged.qrels())
        out.say(f"qrels written to {qrels}")
    if uncertainty:
        write_uncertain(uncertainty, judged)
        out.say(f"uncertainty written to {uncertainty}")


@command.command()
@output_options
def methods(out: Output) -> None:
    """The aggregations and the ways of choosing a cut, with their parameters."""
    import assay.crowd.aggregation  # noqa: F401  (it registers the models)
    from assay.core.tables import Table
    from assay.crowd.cutways import WAYS
    from assay.crowd.vote import AGGREGATIONS

    named = [
        (e.name, str(e.facts["kind"]), ", ".join(f"{k}={v}" for k, v in e.parameters.items()), e.summary)
        for e in AGGREGATIONS
    ]
    ways = [(e.name, "with a target" if e.facts["target"] else "without", e.summary) for e in WAYS]
    out.write(
        Table.of({"method": "", "labels": "", "parameters": "", "what": ""}, named, caption="Aggregations"),
        Table.of({"way": "", "target": "", "what": ""}, ways, caption="Ways of choosing a cut"),
    )


@command.command()
@click.argument("path", metavar="PREFERENCES", type=FILE)
@click.option("--column", "columns", multiple=True, metavar="OURS=THEIRS", help="E.g. other=doc2; repeatable.")
@click.option("--prior", default=0.5, show_default=True, help="Imaginary wins and losses of each doc.")
@click.option("--qrels", "qrels_path", type=FILE, help="Write the qrels here.")
@click.option("--uncertainty", type=FILE, help="Write grade, low, high and sd of each doc here.")
@click.option("--most", type=COUNT, default=20, show_default=True, help="Docs that are shown.")
@output_and_figure_options
def preferences(
    path: Path,
    columns: tuple[str, ...],
    prior: float,
    qrels_path: Path | None,
    uncertainty: Path | None,
    most: int,
    out: Output,
) -> None:
    """Grades from preference pairs: columns topic, doc, other, worker, label (1 this doc, 0 the other, .5 a tie).

    \b
      assay crowd preferences pairs.csv --qrels crowd.qrels
    """
    from assay.crowd.aggregation import aggregate as aggregated
    from assay.crowd.bradley_terry import read_preferences

    judged = aggregated(read_preferences(path, columns=named_values(columns, "--column")), "bradley-terry", prior=prior)
    out.write(judged.summary(), judged.table(most=most), of=judged)
    write_judgments(judged, qrels_path, uncertainty, out)


@command.command()
@click.argument("pool", type=FILE)
@click.option("--gold", type=FILE, help="Qrels of gold docs; each task gets the lowest and the highest in turn.")
@click.option("--docs", type=COUNT, default=8, show_default=True, help="Docs per task, gold among them.")
@click.option("--gold-docs", type=COUNT, default=2, show_default=True, help="Gold docs per task.")
@click.option("--workers", type=COUNT, default=10, show_default=True, help="Workers per doc.")
@click.option("--to", type=FILE, required=True, help="Write the tasks here: task, topic, position, doc, gold.")
@seed_option
@output_options
def tasks(
    pool: Path, gold: Path | None, docs: int, gold_docs: int, workers: int, to: Path, seed: int, out: Output
) -> None:
    """Tasks for a crowd platform from a pool (topic doc lines, qrels, or a table with topic and doc).

    \b
      assay crowd tasks pool.txt --gold gold.qrels --to tasks.csv
    """
    from assay.crowd.tasks import make_tasks, read_pool, write_tasks

    known = read_reference(gold)
    made = make_tasks(
        read_pool(pool),
        gold=known.to_dict() if known is not None else None,
        docs=docs,
        gold_docs=gold_docs,
        workers=workers,
        seed=seed,
    )
    write_tasks(to, made)
    out.say(f"{len(made.rows)} rows written to {to}")
    out.write(made.table(), of=made)


# The other commands of the group live in a file of their own and join it when it is imported.
from assay.cli import crowd_scales  # noqa: E402, F401
