"""`assay study similarity` and `exchange`: why can runs be ranked without judgments, and when can they not?"""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.inputs import (
    FILE,
    load_qrels,
    load_runs,
    one_measure,
    preferences_option,
    rel_option,
    runs_argument,
)
from assay.cli.options import Output, jobs_option, output_and_figure_options, seed_option
from assay.cli.run_info import by_option, info_for
from assay.cli.study import command

truth_option = click.option(
    "--qrels", "qrels_path", type=FILE, required=True, help="Judgments: topic 0 doc grade, or irds:ID."
)
depth_option = click.option(
    "--depth", type=click.IntRange(min=1), default=100, show_default=True, help="Docs of each list to compare."
)


@command.command()
@runs_argument
@truth_option
@one_measure("Measure of quality, e.g. 'AP(rel=2)'.", "AP")
@by_option("Also the runs of each group among themselves, by a column of --info, e.g. type.")
@preferences_option
@depth_option
@jobs_option
@output_and_figure_options
def similarity(
    runs: tuple[Path, ...], qrels_path: Path, measure: str, by: str | None, preferences: str, depth: int,
    jobs: int, out: Output,
) -> None:  # fmt: skip
    """Do runs that resemble the others score well? All runs, by type, among relevant docs and among others.

    \b
    assay study similarity runs/ --qrels qrels.txt --info leaderboard.csv --by type
    """
    from assay.studies import similarity_study

    loaded = load_runs(runs, jobs=jobs)
    names = [run.name for run in loaded]
    groups = {} if by is None else info_for("--by").groups(by, names)
    with out.progress("comparing runs") as progress:
        found = similarity_study(
            loaded, load_qrels(qrels_path), measure=measure, groups=groups, preferences=preferences, depth=depth,
            jobs=jobs, progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@runs_argument
@truth_option
@rel_option
@preferences_option
@depth_option
@seed_option
@jobs_option
@output_and_figure_options
def exchange(
    runs: tuple[Path, ...], qrels_path: Path, rel: float, preferences: str, depth: int, seed: int, jobs: int,
    out: Output,
) -> None:  # fmt: skip
    """What if runs had other docs of the same relevance? Every AP stays, only the similarity of runs changes.

    \b
    assay study exchange runs/ --qrels qrels.txt
    """
    from assay.studies import exchange_study

    loaded = load_runs(runs, jobs=jobs)
    with out.progress("exchanging docs") as progress:
        found = exchange_study(
            loaded, load_qrels(qrels_path), rel=rel, preferences=preferences, depth=depth, seed=seed, jobs=jobs,
            progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)
