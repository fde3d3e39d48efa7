"""assay crowd transform, effort and profile: what scales do, and what judging on them costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.crowd import command, say_repeats
from assay.cli.inputs import FILE
from assay.cli.label_files import labels_input, read_reference, reference_option
from assay.cli.options import Output, output_and_figure_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.agreement.scales import Scale
    from assay.data import Labels


@command.command()
@output_and_figure_options
@labels_input
@click.option("--levels", default=2, show_default=True, help="Levels of the coarse scale.")
@click.option("--way", default="H_t+a", show_default=True, help="How to choose the cut: see `assay crowd methods`.")
@click.option("--target", type=FILE, help="Qrels on the coarse scale, for H, D_a+t and D_t+a.")
@click.option("--scope", type=click.Choice(["topics", "mean", "pooled"]), default="topics", show_default=True,
              help="A cut per topic; one by the mean of the topics; one on all labels.")  # fmt: skip
@click.option("--unjudged", type=click.Choice(["zero", "drop"]), default="zero", show_default=True,
              help="Docs that the target lacks.")  # fmt: skip
@click.option("--undefined", type=click.Choice(["skip", "one"]), default="skip", show_default=True,
              help="Tasks in which nothing varies.")  # fmt: skip
@click.option("--ties", type=click.Choice(["low", "high"]), default="low", show_default=True,
              help="Which of two central labels is the median.")  # fmt: skip
@click.option("--aggregate", type=click.Choice(["median", "mean"]), default="median", show_default=True,
              help="Aggregate before the cut, for a+t.")  # fmt: skip
@click.option("--search", type=click.Choice(["exact", "climb"]), default="exact", show_default=True)
@click.option("--qrels", "qrels_path", type=FILE, help="Write the transformed judgments here.")
@click.option("--run", "runs", multiple=True, type=FILE, help="Runs that are ranked with both judgments; repeatable.")
@click.option("-m", "--measure", default="nDCG", show_default=True, help="Measure of that ranking.")
@reference_option
def transform(
    labels: Labels,
    scale: Scale,
    levels: int,
    way: str,
    target: Path | None,
    scope: str,
    unjudged: str,
    undefined: str,
    ties: str,
    aggregate: str,
    search: str,
    qrels_path: Path | None,
    runs: tuple[Path, ...],
    measure: str,
    reference: Path | None,
    out: Output,
) -> None:
    """From a fine scale to a coarse one: the cut with the highest agreement, per topic or for all.

    \b
      assay crowd transform labels.csv --scale S100 --levels 4 --way D_a+t --target graded.qrels
    """
    from assay.crowd.cuts import best_cuts, transformed
    from assay.io import write_qrels

    if runs and reference is None:
        raise UsageError("--run needs --reference: the judgments that rank the runs rightly")
    say_repeats(labels, scale, out, "the first counts")
    with out.progress("cuts") as progress:
        found = best_cuts(
            labels,
            way,
            levels=levels,
            source=scale,
            target=read_reference(target),
            scope=scope,
            unjudged=unjudged,
            undefined=undefined,
            ties=ties,
            aggregate=aggregate,
            search=search,
            progress=progress,
        )
    judged = transformed(labels, found, ties=ties, aggregate=aggregate)
    if found.degenerate():
        out.say(f"look at these before you use the cuts: topics {', '.join(found.degenerate())}")
    tables = [found.table()]
    known = read_reference(reference)
    if runs and known is not None:
        from assay.crowd.system_ranking import ranking_agreement

        tables.append(ranking_agreement(list(runs), judged, known, measure=measure).table())
    out.write(*tables, of=found)
    if qrels_path:
        write_qrels(qrels_path, judged)
        out.say(f"qrels written to {qrels_path}")


@command.command()
@output_and_figure_options
@labels_input
@reference_option
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Repetitions of drawing fewer labels per doc.",
)
@click.option(
    "--most-labels",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Labels per doc up to which is drawn.",
)
@click.option("--untied", is_flag=True, help="Divide by pairs whose reference differs, not by all pairs.")
@seed_option
def effort(
    labels: Labels,
    scale: Scale,
    reference: Path | None,
    repeats: int,
    most_labels: int,
    untied: bool,
    seed: int,
    out: Output,
) -> None:
    """Running out of values, time by position, and what fewer docs or fewer labels would have given.

    \b
      assay crowd effort labels.tsv --scale S100 --times 100 --reference trec8.qrels
    """
    from assay.crowd.effort import fewer_docs, fewer_judgments, run_out, time_by_position

    scale.checked(labels)
    gone = [run_out(labels, scale=scale)] if scale.kind == "interval" else []
    drawn: list[object] = [*gone]
    tables = [g.table() for g in gone]
    if labels.seconds is not None:
        times = time_by_position(labels)
        drawn.append(times)
        tables += [times.table(), times.learning_table()]
    known = read_reference(reference)
    if known is not None:
        fewer_in_task = fewer_docs(labels, known, untied=untied)
        tables.append(fewer_in_task.table())
        with out.progress("fewer labels per doc") as progress:
            fewer = fewer_judgments(
                labels, known, most=most_labels, repeats=repeats, untied=untied, seed=seed, progress=progress
            )
        tables.append(fewer.table())
        drawn += [fewer_in_task, fewer]
    if not tables:
        raise UsageError("nothing to show: give --reference, a column of seconds, or a numeric scale")
    out.write(*tables, of=drawn)


@command.command()
@output_and_figure_options
@labels_input
@click.option("--reference", type=FILE, required=True, help="Qrels whose levels are profiled.")
@click.option("--aggregated", is_flag=True, help="Mean label of each doc instead of single labels.")
def profile(labels: Labels, scale: Scale, reference: Path, aggregated: bool, out: Output) -> None:
    """What each level of a reference is worth on the scale of the labels: median and quartiles.

    \b
      assay crowd profile labels.tsv --scale S100 --times 100 --reference graded.qrels
    """
    from assay.crowd.profiles import gain_profile
    from assay.io import read_qrels

    scale.checked(labels)
    result = gain_profile(labels, read_qrels(reference), aggregated=aggregated)
    out.write(result.table(), of=result)
