"""assay crowd allocate: which doc should the next worker label, and what does that save?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.crowd import command
from assay.cli.inputs import FILE, load_runs, one_measure
from assay.cli.label_files import (
    has_effect,
    labels_input,
    read_reference,
    say_repeats,
    show_option,
    shown_parts,
)
from assay.cli.options import Output, output_and_figure_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.agreement.scales import Scale
    from assay.data import Labels, Run


@command.command()
@output_and_figure_options
@labels_input
@click.option("--run", "runs", multiple=True, type=FILE, help="Runs that are compared; repeatable.")
@click.option("--made-runs", type=click.IntRange(min=2), help="Compare N runs made from --reference and noise.")
@click.option("--reference", type=FILE, help="Qrels for --made-runs.")
@one_measure("Measure of the comparison: a weighted sum of gains, such as DCG@10 or RBP.", "DCG@10")
@click.option("--baseline", metavar="RUN", help="Only comparisons with this run matter.")
@click.option("--most", type=click.IntRange(min=1), default=20, show_default=True, help="Show at most N docs.")
@click.option("--replay", is_flag=True, help="Give the labels again in random order: what would have been saved?")
@click.option("--most-labels", type=click.IntRange(min=1), default=5, show_default=True,
              help="Labels per doc to compare with, for --replay.")  # fmt: skip
@click.option("--repeats", type=click.IntRange(min=1), default=10, show_default=True,
              help="Random orders of the labels, for --replay.")  # fmt: skip
@click.option("--first", type=click.IntRange(min=1), default=1, show_default=True,
              help="Labels of each doc before the allocator decides, for --replay.")  # fmt: skip
@seed_option
@show_option("assay.crowd.allocation:PARTS")
def allocate(
    labels: Labels,
    scale: Scale,
    runs: tuple[Path, ...],
    made_runs: int | None,
    reference: Path | None,
    measure: str,
    baseline: str | None,
    most: int,
    replay: bool,
    most_labels: int,
    repeats: int,
    first: int,
    seed: int,
    show: tuple[str, ...],
    out: Output,
) -> None:
    """To which docs should the next labels go? To those whose uncertainty still moves a comparison of runs.

    \b
      assay crowd allocate labels.csv --scale S100 --run a.run --run b.run -m DCG@10
      assay crowd allocate labels.csv --scale S100 --made-runs 10 --reference expert.qrels --replay --figure saved.svg
    """
    from assay.crowd.allocation import next_labels
    from assay.crowd.allocation_replay import replay_allocation

    for option in ("most_labels", "repeats", "first"):
        has_effect(option, replay, "without --replay")
    for option in ("most", "show"):
        has_effect(option, not replay, "with --replay")
    has_effect("seed", replay or made_runs is not None, "without --replay or --made-runs")
    compared = _runs(runs, made_runs, reference, seed)
    if not replay:
        found = next_labels(labels, compared, measure, scale=scale, baseline=baseline, most=most)
        out.write(*shown_parts(found.parts(), show), of=found)
    else:
        with out.progress("orders of the labels") as progress:
            saved = replay_allocation(
                labels, compared, measure, scale=scale, baseline=baseline, most_labels=most_labels, repeats=repeats,
                first=first, seed=seed, progress=progress,
            )  # fmt: skip
        out.write(saved.table(), of=saved)
    say_repeats(labels, scale, out, "the first counts")


def _runs(runs: tuple[Path, ...], made: int | None, reference: Path | None, seed: int) -> list[Run]:
    """The runs that are named, or made ones."""
    from assay.crowd.allocation_replay import noisy_runs

    has_effect("reference", made is not None, "without --made-runs")
    if (made is None) == (not runs):
        raise UsageError("give runs with --run, or make some with --made-runs N --reference QRELS")
    if made is None:
        return load_runs(list(runs))
    known = read_reference(reference)
    if known is None:
        raise UsageError("--made-runs needs --reference: the grades by which runs are made")
    return noisy_runs(known, made, seed=seed)
