"""assay crowd cuts, cut-groups and cuts-by-tau: how sure is a cut, where do cuts lie, what do they do to runs?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.commands import TARGET, KnownWord
from assay.cli.crowd import command, write_judgments
from assay.cli.cut_options import cut_options, refuse_idle_target
from assay.cli.inputs import FILE, load_runs, one_measure
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
    from assay.core.results import Result
    from assay.data import Labels

C = TypeVar("C", bound=Callable[..., Any])


@command.command()
@output_and_figure_options
@labels_input
@cut_options(levels=2, way="H_t+a")
@click.option("--scope", type=KnownWord("assay.crowd.cuts:SCOPES"), default="topics", show_default=True,
              help="A set per topic; one by the mean of the topics; one on all labels.")  # fmt: skip
@click.option("--cut", "named", multiple=True, metavar="POINTS",
              help="Can this cut be distinguished from the best? E.g. 28,58,82; repeatable.")  # fmt: skip
@click.option("--halves", type=click.IntRange(min=4), default=40, show_default=True,
              help="Random halves of the workers, of the docs and of the labels.")  # fmt: skip
@click.option("--candidates", type=click.IntRange(min=1), default=1000, show_default=True,
              help="How many of the best cuts are looked at.")  # fmt: skip
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
              help="Confidence, for all cuts together.")  # fmt: skip
@click.option("--run", "runs", multiple=True, type=FILE, help="Runs ranked under cuts of the set; repeatable.")
@click.option("--uncertainty", type=TARGET, help="Write each doc's grade and the share of the cuts that give it here.")
@one_measure("Measure of that ranking.", "nDCG")
@click.option(
    "--draws", type=click.IntRange(min=1), default=50, show_default=True, help="Cuts drawn for --run and --uncertainty."
)
@reference_option
@seed_option
@show_option("assay.crowd.cutsets:PARTS")
def cuts(
    labels: Labels,
    scale: Scale,
    levels: int,
    way: str,
    target: Path | None,
    scope: str,
    named: tuple[str, ...],
    halves: int,
    candidates: int,
    level: float,
    runs: tuple[Path, ...],
    uncertainty: Path | None,
    measure: str,
    draws: int,
    reference: Path | None,
    seed: int,
    show: tuple[str, ...],
    out: Output,
) -> None:
    """Which cuts cannot be distinguished from the best one, and what the choice among them does to the ranking of runs.

    \b
      assay crowd cuts labels.tsv --scale S100 --times 100 --way D_a+t --target expert.qrels
      assay crowd cuts labels.tsv --scale S100 --scope mean --run a.run --run b.run --reference expert.qrels
    """
    from assay.crowd.cut_rankings import ranking_over_cuts
    from assay.crowd.cut_uncertainty import judgments_over_cuts
    from assay.crowd.cutsets import honest_cuts

    for option in ("measure", "reference"):
        has_effect(option, bool(runs), "without --run")
    has_effect("draws", bool(runs) or uncertainty is not None, "without --run and --uncertainty")
    refuse_idle_target(way)
    asked = [_points(text) for text in named]
    with out.progress("cuts") as progress:
        found = honest_cuts(
            labels,
            way,
            levels=levels,
            source=scale,
            target=read_reference(target),
            scope=scope,
            named=asked,
            halves=halves,
            candidates=candidates,
            level=level,
            seed=seed,
            progress=progress,
        )
    drawn: list[Result] = [found]
    ranked = None
    if runs:
        known = read_reference(reference)
        with out.progress("runs") as progress:
            ranked = ranking_over_cuts(
                load_runs(list(runs)),
                labels,
                found,
                reference=known,
                measure=measure,
                draws=draws,
                seed=seed,
                progress=progress,
            )
        drawn.append(ranked)
    out.write(*shown_parts(found.parts(ranking=ranked), show), of=found, drawn=drawn)
    say_repeats(labels, scale, out, "the first counts")
    if uncertainty is not None:
        judged = judgments_over_cuts(labels, found, draws=draws, seed=seed)
        write_judgments(judged, None, uncertainty, out)


def _points(text: str) -> list[float]:
    """The points of a cut that is written as 28,58,82."""
    try:
        return [float(point) for point in text.replace(",", " ").split()]
    except ValueError:
        raise UsageError(f"--cut {text}: points are numbers separated by commas, e.g. 28,58,82") from None


@command.command("cut-groups")
@output_and_figure_options
@labels_input
@cut_options(levels=4, way="Tw_alpha")
@click.option("--size", type=click.IntRange(min=1),
              help="Cuts in a group.  [default: 1000, or a third of all cuts]")  # fmt: skip
@click.option("--reference", type=FILE, help="Qrels that say which docs are relevant, for the width of cuts.")
@click.option("--rel", "-l", type=float, default=1, show_default=True, help="Lowest relevant grade of the reference.")
@show_option("assay.crowd.cutgroups:PARTS")
def cut_groups(
    labels: Labels,
    scale: Scale,
    levels: int,
    way: str,
    target: Path | None,
    size: int | None,
    reference: Path | None,
    rel: float,
    show: tuple[str, ...],
    out: Output,
) -> None:
    """The best, the median and the worst cuts of each topic by α: where they lie, and how wide they are.

    \b
      assay crowd cut-groups labels.tsv --scale S100 --times 100 --reference expert.qrels --figure groups.svg
    """
    from assay.crowd.cutgroups import cut_groups as groups_of

    refuse_idle_target(way)
    has_effect("rel", reference is not None, "without --reference")
    has_effect("reference", levels > 2, "with two levels, whose cuts have no width")
    with out.progress("topics") as progress:
        found = groups_of(
            labels,
            way,
            levels=levels,
            source=scale,
            target=read_reference(target),
            reference=read_reference(reference),
            size=size,
            rel=rel,
            progress=progress,
        )
    out.write(*shown_parts(found.parts(), show), of=found)
    say_repeats(labels, scale, out, "the first counts")


@command.command("cuts-by-tau")
@output_and_figure_options
@labels_input
@cut_options(levels=2, way="H_t+a")
@click.option("--run", "runs", multiple=True, required=True, type=FILE,
              help="Runs that are ranked under each cut; repeatable.")  # fmt: skip
@click.option("--reference", type=FILE, required=True, help="Qrels that rank the runs as they should be ranked.")
@one_measure("Measure of the ranking.", "nDCG")
@click.option("--candidates", type=click.IntRange(min=1), default=1000, show_default=True,
              help="How many cuts are tried: those with the highest α.")  # fmt: skip
@click.option("--most", type=click.IntRange(min=1), default=20, show_default=True, help="Show at most N cuts.")
def cuts_by_tau(
    labels: Labels,
    scale: Scale,
    levels: int,
    way: str,
    target: Path | None,
    runs: tuple[Path, ...],
    reference: Path,
    measure: str,
    candidates: int,
    most: int,
    out: Output,
) -> None:
    """Under which cut are runs ranked most like under a reference? τ of every cut, beside its α.

    \b
      assay crowd cuts-by-tau labels.tsv --scale 4 --run a.run --run b.run --run c.run --reference expert.qrels
    """
    from assay.crowd.cut_rankings import cuts_by_tau as by_tau

    refuse_idle_target(way)
    known = read_reference(reference)
    assert known is not None
    with out.progress("cuts") as progress:
        found = by_tau(
            load_runs(list(runs)),
            labels,
            known,
            way,
            levels=levels,
            source=scale,
            target=read_reference(target),
            measure=measure,
            candidates=candidates,
            progress=progress,
        )
    out.write(found.table(most=most), of=found)
    say_repeats(labels, scale, out, "the first counts")
