"""assay pool accuracy and widths: what random pools do to a run that they lack, and how well that can be undone."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.inputs import load_qrels, load_runs, numbers, one_measure, runs_argument
from assay.cli.options import Output, jobs_option, output_and_figure_options, seed_option
from assay.cli.pool import command, judgments_option, unjudged_option
from assay.cli.run_info import info_for

if TYPE_CHECKING:
    from assay.data.lists import Lists

C = TypeVar("C", bound=Callable[..., Any])


def drawn_runs(command: C) -> C:
    """RUNS, --qrels, and which of the runs are pooled and which estimated: the command gets seen, pooled and new."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        from assay.data.lists import collected

        runs = load_runs(kwargs.pop("runs"))
        seen = collected(runs, load_qrels(kwargs.pop("qrels_path")))
        conditions = [kwargs.pop(name) for name in ("pooled", "new", "best")]
        pooled, new = _chosen(seen, kwargs["measure"], *conditions)
        return command(*args, seen=seen, pooled=pooled, new=new, **kwargs)

    options = (
        runs_argument,
        judgments_option,
        one_measure("Measure of the runs, e.g. 'AP(rel=2)'.", "tRBP@10"),
        click.option("--depth", type=click.IntRange(min=1), default=10, show_default=True, help="Pool depth."),
        click.option("--widths", default="2 4 10", show_default=True, help="Numbers of pooled runs."),
        click.option("--samples", type=click.IntRange(min=1), default=100, show_default=True, help="Draws of runs."),
        click.option("--pooled", metavar="COLUMN=TEXT", help="Draw pools from these runs only, e.g. type=automatic."),
        click.option("--new", metavar="COLUMN=TEXT", help="Estimate these runs only, e.g. type=manual."),
        click.option("--best", type=click.IntRange(min=1), help="Of the runs to estimate only the N best."),
    )
    wrapped: Any = run
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def _chosen(
    seen: Lists, measure: str, pooled: str | None, new: str | None, best: int | None
) -> tuple[Sequence[str] | None, Sequence[str] | None]:
    """Names of the runs that are pooled and of those that are estimated; None for all."""
    from assay.pooling.adjustment_errors import best_runs

    in_pools = None if pooled is None else info_for("--pooled").matching(pooled, seen.runs)
    estimated = None if new is None else info_for("--new").matching(new, seen.runs)
    if best is not None:
        estimated = best_runs(seen, measure, best, among=estimated)
    return in_pools, estimated


@command.command()
@drawn_runs
@click.option("--common", default="10", show_default=True, help="Numbers of common topics.")
@click.option("--topic-samples", type=click.IntRange(min=1), default=200, show_default=True, help="Draws of topics.")
@unjudged_option
@seed_option
@jobs_option
@output_and_figure_options
def accuracy(
    seen: Lists, pooled: Sequence[str] | None, new: Sequence[str] | None, measure: str, depth: int, widths: str,
    samples: int, common: str, topic_samples: int, unjudged: str, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Show how far adjusted scores are from the truth: random runs pooled, one more estimated.

    \b
    assay pool accuracy runs/ --qrels q.txt --widths '2 4 10 20' --common '10 20'
    Manual runs against pools of automatic ones:
      assay pool accuracy runs/ --qrels q.txt --info runs.csv --pooled type=automatic --new type=manual
    """
    from assay.pooling.adjustment_errors import adjustment_accuracy

    with out.progress("drawing pools") as progress:
        found = adjustment_accuracy(
            seen, measure, depth=depth, widths=numbers(widths), common=numbers(common), samples=samples,
            topic_samples=topic_samples, unjudged=unjudged, pooled=pooled, new=new, seed=seed, jobs=jobs,
            progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@drawn_runs
@seed_option
@jobs_option
@output_and_figure_options
def widths(
    seen: Lists, pooled: Sequence[str] | None, new: Sequence[str] | None, measure: str, depth: int, widths: str,
    samples: int, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Show what a run loses or gains outside pools of several widths: bias and quartiles.

    Unjudged docs count as not relevant, or are taken out (condensed).

    \b
    assay pool widths runs/ --qrels q.txt --widths '2 4 10 20 40' --figure bias.svg
    """
    from assay.pooling.adjustment_errors import unpooled_bias

    with out.progress("drawing pools") as progress:
        found = unpooled_bias(
            seen, measure, depth=depth, widths=numbers(widths), samples=samples, pooled=pooled, new=new, seed=seed,
            jobs=jobs, progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)
