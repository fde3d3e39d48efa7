"""`assay predict reweight`: which run is best after a few judgments, believing the runs that were right?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from assay.cli.commands import TARGET
from assay.cli.inputs import FILE, load_qrels, load_runs, preferences_option, runs_argument
from assay.cli.options import Output, output_and_figure_options
from assay.cli.predict import command, measure_option, truth_option
from assay.cli.run_info import by_option, info_for


@command.command()
@runs_argument
@truth_option
@measure_option
@click.option(
    "--rounds", type=click.IntRange(min=0), help="Docs judged for each topic.  [default: ⌊ln(number of runs)⌋]"
)
@click.option(
    "--epsilon", type=float, default=0.1, show_default=True,
    help="A right preference multiplies the weight of a run by 1 + this, a wrong one by 1 − this; at most 1/2.",
)  # fmt: skip
@preferences_option
@click.option("--judged", type=FILE, help="Judgments made before: not asked again, their preferences count first.")
@click.option("--depth", type=click.IntRange(min=1), default=100, show_default=True, help="Docs of each list to use.")
@by_option("Show the mean weight of groups, by a column of --info, e.g. type.")
@click.option("--save", type=TARGET, help="Write what was judged to this qrels file.")
@output_and_figure_options
def reweight(
    runs: Sequence[Path], qrels_path: Path, measure: str, rounds: int | None, epsilon: float, preferences: str,
    judged: Path | None, depth: int, by: str | None, save: Path | None, out: Output,
) -> None:  # fmt: skip
    """Rank the runs after a few judgments, each run weighted by how often it was right.

    In each round the most probable doc of every topic is looked up in --qrels, and runs that preferred relevant to
    nonrelevant docs gain weight. To judge docs yourself: assay pool next --order reweighting.

    \b
    Example: assay predict reweight runs/ --qrels qrels.txt --info runs.csv --by type
    """
    from assay.nojudgments.after_reweighting import reweighted_ranking

    loaded = load_runs(runs)
    names = [run.name for run in loaded]
    groups = {} if by is None else info_for("--by").groups(by, names)
    with out.progress("judging and reweighting") as progress:
        result = reweighted_ranking(
            loaded, load_qrels(qrels_path), measure=measure, rounds=rounds, epsilon=epsilon, preferences=preferences,
            judged=None if judged is None else load_qrels(judged), groups=groups, depth=depth, progress=progress,
        )  # fmt: skip
    if save is not None:
        from assay.io import write_qrels

        write_qrels(save, result.reweighted.judged)
        out.say(f"{len(result.reweighted.judged)} judgments written to {save}")
    out.write(result.table(), of=result)
