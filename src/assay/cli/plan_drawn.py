"""assay plan sigma and inclusion: what a few drawn topics say, and which topics an experiment ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.cli.inputs import one_matrix, scores_input
from assay.cli.options import Output, jobs_option, output_and_figure_options, seed_option
from assay.cli.plan import command, pair_of, planned_test, power_option

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.stats.t_power import TTest


@command.command()
@scores_input
@click.option("--topics", type=click.IntRange(min=2), default=30, show_default=True, help="Topics drawn at a time.")
@click.option("--pairs", type=click.IntRange(min=1), default=1000, show_default=True, help="Pairs of runs at most.")
@click.option("--samples", type=click.IntRange(min=1), default=1000, show_default=True, help="Draws of topics.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@seed_option
@jobs_option
@output_and_figure_options
def sigma(
    matrices: list[ScoreMatrix], topics: int, pairs: int, samples: int, level: float, seed: int, jobs: int, out: Output
) -> None:
    """How far is the σ of a few topics from that of all?

    The formula that a trial is planned with takes differences for normal; this shows where σ really falls.

    \b
    assay plan sigma trec8.csv --topics 30 --figure sigma.svg
    """
    from assay.plan.drawn_topics import sigma_samples

    with out.progress("drawing topics") as progress:
        found = sigma_samples(
            one_matrix(matrices), topics=topics, pairs=pairs, samples=samples, level=level, seed=seed, jobs=jobs,
            progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@scores_input
@click.option("--runs", help="The two runs, as NEW,OLD, if the score file has more.")
@click.option("--delta", type=float, required=True, help="Difference that the experiment must be able to find.")
@click.option("--minimum", type=int, default=10, show_default=True, help="Topics before the first look.")
@click.option("--trials", type=click.IntRange(min=1), default=20_000, show_default=True, help="Experiments simulated.")
@power_option
@planned_test
@seed_option
@jobs_option
@output_and_figure_options
def inclusion(
    matrices: list[ScoreMatrix], runs: str | None, delta: float, minimum: int, trials: int, power: float, test: TTest,
    seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Which topics does an experiment end with that stops on power?

    Topics are drawn until the power is reached; those with a usual difference are in more of the final sets.

    \b
    assay plan inclusion scores.csv --runs new,old --delta 0.06 --figure inclusion.svg
    """
    from assay.plan.drawn_topics import topic_inclusion

    pair = pair_of(matrices, runs)
    with out.progress("drawing topics") as progress:
        found = topic_inclusion(
            pair, delta=delta, power=power, minimum=minimum, trials=trials, test=test, seed=seed, jobs=jobs,
            progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)
