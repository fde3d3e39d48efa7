"""assay crowd transform, effort and profile: what scales do, and what judging on them costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import TARGET, KnownWord
from assay.cli.crowd import command
from assay.cli.cut_options import cut_options, refuse_idle_target
from assay.cli.inputs import FILE, load_qrels, one_measure
from assay.cli.label_files import (
    has_effect,
    labels_input,
    read_reference,
    reference_option,
    say_repeats,
    show_option,
    shown_parts,
)
from assay.cli.options import Output, output_and_figure_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.agreement.scales import Scale
    from assay.data import Labels

NOTICED = 10
"""A search of more seconds than this is announced."""


@command.command()
@output_and_figure_options
@labels_input
@cut_options(levels=2, way="H_t+a")
@click.option("--scope", type=KnownWord("assay.crowd.cuts:SCOPES"), default="topics", show_default=True,
              help="A cut per topic; one by the mean of the topics; one on all labels.")  # fmt: skip
@click.option("--unjudged", type=KnownWord("assay.crowd.cuts:UNJUDGED_DOCS"), default="zero", show_default=True,
              help="Docs without a grade in the target.")  # fmt: skip
@click.option("--undefined", type=KnownWord("assay.crowd.cuts:UNDEFINED_TASKS"), default="skip", show_default=True,
              help="Tasks in which nothing varies.")  # fmt: skip
@click.option("--ties", type=KnownWord("assay.crowd.cuts:MEDIAN_TIES"), default="low", show_default=True,
              help="Which of two central labels is the median.")  # fmt: skip
@click.option("--aggregate", type=KnownWord("assay.crowd.cuts:AGGREGATES"), default="median", show_default=True,
              help="How labels are aggregated before the cut, for a+t.")  # fmt: skip
@click.option("--search", type=KnownWord("assay.crowd.cuts:SEARCHES"), default="auto", show_default=True,
              help="Try all cuts, climb from several starts, or whichever takes minutes at most.")  # fmt: skip
@click.option("--qrels", "qrels_path", type=TARGET, help="Write the transformed judgments here.")
@click.option("--run", "runs", multiple=True, type=FILE, help="Runs that are ranked with both judgments; repeatable.")
@one_measure("Measure of that ranking.", "nDCG")
@reference_option
@show_option("assay.crowd.cuts:PARTS")
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
    show: tuple[str, ...],
    out: Output,
) -> None:
    """From a fine scale to a coarse one: the cut with the highest agreement, per topic or for all.

    \b
      assay crowd transform labels.csv --scale S100 --levels 4 --way D_a+t --target graded.qrels
    """
    from assay.crowd import best_cuts, transformed
    from assay.crowd.system_ranking import ranking_agreement
    from assay.io import write_qrels
    from assay.io.writers import refuse_unfit

    if runs and reference is None:
        raise UsageError("--run needs --reference: the judgments that rank the runs rightly")
    _refuse_idle_options(way, is_ranked=bool(runs), is_written=qrels_path is not None)
    _say_cost(labels, way, levels, scale, search, out)
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
    if qrels_path:
        refuse_unfit(qrels_path, judged)
    known = read_reference(reference)
    ranking = None if known is None else ranking_agreement(list(runs), judged, known, measure=measure)
    out.write(*shown_parts(found.parts(ranking=ranking), show), of=found)
    say_repeats(labels, scale, out, "the first counts")
    warning = found.warning()
    if warning is not None:
        out.say(warning)
    if qrels_path:
        write_qrels(qrels_path, judged)
        out.say(f"qrels written to {qrels_path}")


def _say_cost(labels: Labels, way: str, levels: int, scale: Scale, search: str, out: Output) -> None:
    """Before a search that takes more than some seconds, how long it takes and what is done about it."""
    from assay.crowd.cuts import search_cost

    cost = search_cost(labels, way, levels=levels, source=scale)
    if search in ("auto", cost.search) and search != "climb" and cost.seconds > NOTICED:
        out.say(cost.in_words(), now=True)


def _refuse_idle_options(way: str, *, is_ranked: bool, is_written: bool) -> None:
    """An error where an option of `transform` is given that this way, or what is asked for, has no use for."""
    from assay.crowd.cutways import WAYS

    has_effect("reference", is_ranked, "without --run")
    has_effect("measure", is_ranked, "without --run")
    refuse_idle_target(way)
    has_effect("unjudged", WAYS[way].facts["target"], f"with the way {way}, which has no target")
    aggregates_first = way.endswith("a+t")
    has_effect("aggregate", aggregates_first, f"with the way {way}, which cuts before it aggregates")
    has_effect("ties", not aggregates_first, f"with the way {way}, which aggregates as --aggregate says")
    decides = way.endswith("t+a") or is_written or is_ranked
    has_effect("ties", decides, f"on the cut of {way}, only on judgments (--qrels, --run)")


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
    help="Maximum labels per doc that are drawn.",
)
@click.option("--untied", is_flag=True, help="Divide by the pairs that the reference orders, not by all.")
@seed_option
@show_option("assay.crowd.effort_summary:PARTS")
def effort(
    labels: Labels,
    scale: Scale,
    reference: Path | None,
    repeats: int,
    most_labels: int,
    untied: bool,
    seed: int,
    show: tuple[str, ...],
    out: Output,
) -> None:
    """Values running out, time by position, and what fewer docs or labels would have given.

    \b
      assay crowd effort labels.tsv --scale S100 --times 100 --reference trec8.qrels
    """
    from assay.crowd.effort_summary import judging_effort

    for option in ("repeats", "most_labels", "untied", "seed"):
        has_effect(option, reference is not None, "without --reference")
    with out.progress("fewer labels per doc") as progress:
        found = judging_effort(
            labels,
            scale=scale,
            reference=read_reference(reference),
            most=most_labels,
            repeats=repeats,
            untied=untied,
            seed=seed,
            progress=progress,
        )
    out.write(*shown_parts(found.parts(), show), of=found, drawn=found.results())


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

    scale.checked(labels)
    result = gain_profile(labels, load_qrels(reference), aggregated=aggregated)
    out.write(result.table(), of=result)
