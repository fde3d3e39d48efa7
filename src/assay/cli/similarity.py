"""`assay similarity`: how alike are result lists, or rankings of runs? One command per question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.columns import with_columns
from assay.cli.commands import Group, KnownWord, RegistryOption
from assay.cli.inputs import (
    decimals,
    load_qrels,
    load_runs,
    load_scores,
    name_option,
    preferences_option,
    qrels_option,
    transpose_option,
)
from assay.cli.modes import is_given, refuse_others
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.cli.run_info import info_options
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data import Run
    from assay.data.scores import ScoreMatrix

C = TypeVar("C", bound=Callable[..., Any])

HOSTS = "assay.similarity.hosts"
"""Where the context of a command keeps whether only the first doc of a host counts."""
MODES = {
    "two runs": frozenset({"ties", "by_depth"}),
    "three runs or more": frozenset({"pairs"}),
}
paths_argument = with_columns(click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True)))
depth_option = click.option("--depth", type=click.IntRange(min=1), help="Compare only the first N docs of each topic.")
ties_option = click.option(
    "--ties", type=KnownWord("assay.similarity.by_topic:TIED"), default="order", show_default=True,
    help="Docs of equal score: in the order of the run, or one of RBO's tie forms.",
)  # fmt: skip
lists_option = click.option(
    "-m", "--measures", multiple=True, metavar="NAME", cls=RegistryOption,
    registry="assay.similarity.overlap:LIST_SIMILARITIES", help="Another similarity, repeatable: {names}.",
)  # fmt: skip


def files_argument(command: C) -> C:
    """FILES, --column, --info and --where."""
    return paths_argument(info_options(command))


def _keep_hosts(context: click.Context, option: click.Parameter, value: bool) -> None:
    context.meta[HOSTS] = value


hosts_option = click.option(
    "--one-per-host", is_flag=True, expose_value=False, callback=_keep_hosts,
    help="Docs are addresses: only the first doc of each host on each topic.",
)  # fmt: skip


def run_files_argument(command: C) -> C:
    """Run files, with --one-per-host."""
    return files_argument(hosts_option(command))


def one_per_host(runs: Sequence[Run]) -> list[Run]:
    """The runs, with --one-per-host only the first doc of each host."""
    if not click.get_current_context().meta.get(HOSTS):
        return list(runs)
    from assay.similarity.hosts import first_per_host

    return [first_per_host(run) for run in runs]


resamples_option = click.option(
    "-B", "--resamples", type=click.IntRange(min=0), default=1000, show_default=True, help="Bootstrap samples."
)


def persistence_options(command: C) -> C:
    """--p, or --carry for the p by which a prefix carries its weight."""
    p = click.option(
        "--p", type=float, default=0.9, show_default=True, help="Persistence of RBO: depth 1/(1−p) on average."
    )
    carry = click.option(
        "--carry", type=(int, float), metavar="DEPTH WEIGHT",
        help="Choose p so that the first DEPTH ranks carry WEIGHT (0 to 1) of the score.",
    )  # fmt: skip
    return p(carry(command))


@click.group(cls=Group, default="runs")
def command() -> None:
    """How alike are result lists, or rankings of runs?

    Without a subcommand, run files are compared: two as RBO with its bounds, more as a matrix.

    \b
    assay similarity a.run b.run
    assay similarity runs/* --carry 10 .86
    assay similarity topics a.run b.run
    assay similarity sweep a.run b.run --at '.5 .8 .9 .98'
    assay similarity depths a.run b.run -m 'rbo(p=0.98)' -m kendall-top-k --figure depths.svg
    assay similarity days google/ yahoo/ --one-per-host
    assay similarity series monday.run tuesday.run wednesday.run
    assay similarity preferences runs/* --qrels qrels.txt --among relevant
    assay similarity scores a.csv b.csv -m tau-b -m 'tau-ap(ties=b)'
    """


@command.command(name="runs")
@run_files_argument
@lists_option
@persistence_options
@ties_option
@depth_option
@click.option("--pairs", is_flag=True, help="Three runs or more: one row per pair of runs.")
@click.option("--by-depth", is_flag=True, help="Two runs: --figure shows EXT with [MIN, MAX] over depth.")
@jobs_option
@output_and_figure_options
def of_runs(
    files: Sequence[Path], measures: tuple[str, ...], p: float, carry: tuple[int, float] | None, ties: str,
    depth: int | None, pairs: bool, by_depth: bool, jobs: int, out: Output,
) -> None:  # fmt: skip
    """How alike are two runs, or all of many? (The default.)

    Two run files: RBO as EXT [MIN – MAX], mean over topics. More: a matrix of all against all.
    """
    runs = runs_of(files, jobs)
    persistence = the_persistence(p, carry, out)
    if len(runs) > 2:
        refuse_others("three runs or more", MODES)
        if measures and (carry is not None or is_given("p")):
            raise UsageError(f"--p has no effect on {measures[0]}; write it as -m 'rbo(p=0.8)'")
        _matrix(runs, persistence, measures, depth, pairs, jobs, out)
        return
    refuse_others("two runs", MODES)
    if by_depth and out.figure is None:
        raise UsageError("--by-depth says what --figure draws; give --figure FILE as well")
    from assay.similarity.by_topic import compare_runs

    found = compare_runs(runs[0], runs[1], p=persistence, ties=ties, measures=measures, depth=depth)
    out.write(found.table(), of=_over_depth(runs, persistence) if by_depth else found)


@command.command()
@run_files_argument
@lists_option
@persistence_options
@ties_option
@depth_option
@click.option("--most", type=click.IntRange(min=1), help="Show at most N topics, the most different first.")
@jobs_option
@output_and_figure_options
def topics(
    files: Sequence[Path], measures: tuple[str, ...], p: float, carry: tuple[int, float] | None, ties: str,
    depth: int | None, most: int | None, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Where do two runs differ? One row per topic, the most different first."""
    from assay.similarity.by_topic import compare_runs

    a, b = two_of(runs_of(files, jobs), "topics")
    found = compare_runs(a, b, p=the_persistence(p, carry, out), ties=ties, measures=measures, depth=depth)
    out.write(found.topic_table(most), of=found)


@command.command()
@run_files_argument
@click.option("--at", "at", metavar="LIST", required=True, help="The values of p, e.g. '.5 .8 .9 .95 .98'.")
@ties_option
@depth_option
@jobs_option
@output_and_figure_options
def sweep(files: Sequence[Path], at: str, ties: str, depth: int | None, jobs: int, out: Output) -> None:
    """How deep does similarity go? RBO at several p.

    Of two runs, or of the first run with each of the others.
    """
    from assay.similarity.by_topic import p_sweep
    from assay.similarity.depth_curves import persistence_curves

    ps = decimals(at, "write numbers separated by blanks, e.g. '.5 .8 .9'")
    runs = runs_of(files, jobs)
    if len(runs) == 2:
        two = p_sweep(runs[0], runs[1], ps, ties=ties, depth=depth)
        out.write(two.table(), of=two)
        return
    if is_given("ties"):
        raise UsageError("--ties goes with two runs; leave it out or give two")
    many = persistence_curves(runs, ps, depth=depth)
    out.write(many.table(), of=many)


@command.command()
@run_files_argument
@persistence_options
@depth_option
@click.option(
    "--window", type=click.IntRange(min=1), default=1, show_default=True, help="Runs at each end of the series."
)
@click.option("--steps", is_flag=True, help="One row per step instead of the summary.")
@jobs_option
@output_and_figure_options
def series(
    files: Sequence[Path], p: float, carry: tuple[int, float] | None, depth: int | None, window: int, steps: bool,
    jobs: int, out: Output,
) -> None:  # fmt: skip
    """How stable are one engine's results, given in order of time?"""
    from assay.similarity.over_time import series as stability

    found = stability(runs_of(files, jobs), p=the_persistence(p, carry, out), window=window, depth=depth)
    out.write(found.step_table() if steps else found.table(), of=found)


@command.command()
@run_files_argument
@qrels_option
@click.option(
    "--among", type=KnownWord("assay.similarity.shared_preferences:AMONG"), default="all", show_default=True,
    help="Preferences among these docs; all but 'all' need --qrels, which also shows the correlation with AP.",
)  # fmt: skip
@preferences_option
@depth_option
@jobs_option
@output_and_figure_options
def preferences(
    files: Sequence[Path], qrels_path: Path | None, among: str, preferences: str, depth: int | None, jobs: int,
    out: Output,
) -> None:  # fmt: skip
    """What share of their ordered pairs of docs do runs have in common?"""
    from assay.similarity.shared_preferences import preference_similarity, with_scores

    runs = runs_of(files, jobs)
    qrels = None if qrels_path is None else load_qrels(qrels_path)
    with out.progress("counting preferences") as progress:
        found = preference_similarity(
            runs, qrels=qrels, among=among, preferences=preferences, depth=depth, jobs=jobs, progress=progress
        )
    shown = found if qrels is None else with_scores(found, runs, qrels)
    out.write(shown.table(), of=found)


@command.command()
@files_argument
@click.option(
    "-m", "--measures", "correlations", multiple=True, metavar="NAME", cls=RegistryOption,
    registry="assay.rankings:CORRELATIONS", help="A correlation, repeatable: {names}.",
)  # fmt: skip
@transpose_option
@name_option
@resamples_option
@seed_option
@output_and_figure_options
def scores(
    files: Sequence[Path], correlations: tuple[str, ...], transpose: bool, name: str | None, resamples: int, seed: int,
    out: Output,
) -> None:  # fmt: skip
    """Do two score tables, or the measures of one, put the runs in the same order?"""
    from assay.similarity.systems import USUAL, compare_rankings

    truth, *others = _matrices(files, transpose, name)
    chosen = correlations or USUAL
    found = [compare_rankings(truth, m, measures=chosen, resamples=resamples, seed=seed) for m in others]
    out.write(*(f.table() for f in found), of=found[0] if len(found) == 1 else found)


@command.command(name="d-rank")
@files_argument
@transpose_option
@name_option
@click.option(
    "-B", "--resamples", type=click.IntRange(min=1), default=999, show_default=True,
    help="Random splits of the topics of both, or swaps of two measures on the same topics.",
)  # fmt: skip
@seed_option
@output_options
def d_rank(files: Sequence[Path], transpose: bool, name: str | None, resamples: int, seed: int, out: Output) -> None:
    """How far is the second ranking of the runs from the first scores? Carterette's d_rank, with its p.

    The topics of both are dealt out again for p: pooled and split if they are different, swapped if they are the same.
    """
    from assay.similarity.drank import d_rank_test

    truth, *others = _matrices(files, transpose, name)
    found = [d_rank_test(truth, m, resamples=resamples, seed=seed) for m in others]
    out.write(*(f.table() for f in found), of=found)


@command.command(name="list")
@output_options
def listed(out: Output) -> None:
    """Explain every similarity of lists and every correlation of rankings."""
    from assay.similarity.overlap import named_similarities

    out.write(*named_similarities())


def runs_of(files: Sequence[Path], jobs: int) -> list[Run]:
    """The runs of the files; an error if there are fewer than two."""
    if not files:
        raise UsageError("name two run files or more, or a folder of them")
    runs = one_per_host(load_runs(files, jobs=jobs))
    if len(runs) < 2:
        raise UsageError(f"two runs or more are needed, and there is {len(runs)}")
    return runs


def two_of(runs: Sequence[Run], name: str) -> tuple[Run, Run]:
    """The two runs of a command that compares two."""
    if len(runs) != 2:
        raise UsageError(f"similarity {name} compares two runs, and there are {len(runs)}")
    return runs[0], runs[1]


def _matrix(
    runs: Sequence[Run], p: float, measures: Sequence[str], depth: int | None, pairs: bool, jobs: int, out: Output
) -> None:
    from assay.similarity.matrix import rbo_matrix, similarity_matrix

    with out.progress("comparing") as progress:
        if measures:
            found = [similarity_matrix(runs, m, depth=depth, jobs=jobs, progress=progress) for m in measures]
        else:
            found = [rbo_matrix(runs, p=p, depth=depth, jobs=jobs, progress=progress)]
    out.write(*(f.pairs() if pairs else f.table() for f in found), of=found[0] if len(found) == 1 else found)


def _matrices(files: Sequence[Path], transpose: bool, name: str | None) -> list[ScoreMatrix]:
    if not files:
        raise UsageError("name two score tables, or one that holds several measures")
    matrices = list(load_scores(files, qrels_path=None, measures=None, transpose=transpose, name=name))
    if len(matrices) < 2:
        raise UsageError(f"{files[0]}: it holds one measure only; name a second score table to compare it with")
    return matrices


def the_persistence(p: float, carry: tuple[int, float] | None, out: Output) -> float:
    """The p given, or the one for which a prefix carries its weight."""
    if carry is None:
        return p
    if is_given("p"):
        raise UsageError("--carry chooses p; give it or --p, not both")
    from assay.rankings import persistence_for

    chosen = persistence_for(*carry)
    out.say(f"p = {chosen:.4f}: the first {carry[0]} ranks carry {100 * carry[1]:.0f} % of the score")
    return chosen


def _over_depth(runs: Sequence[Run], p: float) -> object:
    from assay.report.curves import overlap_by_depth

    return overlap_by_depth(runs[0], runs[1], p=p)


# The commands of this group that stand in another file are added when that file is imported.
from assay.cli import similarity_curves  # noqa: E402, F401
