"""`assay similarity`: how alike are result lists, or rankings of runs?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import Command
from assay.cli.inputs import load_qrels, load_runs, load_scores, qrels_option
from assay.cli.modes import refuse_others
from assay.cli.options import Output, jobs_option, output_and_figure_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.core.tables import Table
    from assay.data import Run

LISTS = frozenset({"p", "carry", "depth"})
MODES = {
    "two runs": LISTS | {"ties", "measures", "topics", "by_depth"},
    "--sweep": frozenset({"sweep", "ties", "depth"}),
    "three runs or more": LISTS | {"measures", "pairs"},
    "--series": LISTS | {"in_time", "window"},
    "--preferences": frozenset({"preferences", "qrels_path", "among", "depth"}),
    "--scores": frozenset({"as_scores", "measures", "transpose", "d_rank", "resamples"}),
}
MEASURE_HELP = "Another measure, e.g. 'average-overlap(k=10)'; with --scores a correlation. May be given again."


@click.command(cls=Command)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--scores", "as_scores", is_flag=True, help="FILES are score tables: compare how they rank the runs.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="NAME", help=MEASURE_HELP)
@click.option("--p", type=float, default=0.9, show_default=True, help="Persistence of RBO: depth 1/(1−p) on average.")
@click.option(
    "--carry", type=(int, float), metavar="DEPTH WEIGHT",
    help="Choose p so that the first DEPTH ranks carry WEIGHT (0 to 1) of the score.",
)  # fmt: skip
@click.option(
    "--ties", type=click.Choice(["order", "w", "a", "b"]), default="order", show_default=True,
    help="Docs of equal score: in the order of the run, or one of RBO's tie forms (two runs only).",
)  # fmt: skip
@click.option("--depth", type=click.IntRange(min=1), help="Compare only the first docs of each topic.")
@click.option("--topics", type=click.IntRange(min=0), default=5, show_default=True, help="Most different topics shown.")
@click.option("--pairs", is_flag=True, help="With many runs: one row per pair of runs.")
@click.option("--sweep", metavar="LIST", help="Two runs: RBO at each of these p, e.g. '.5 .8 .9 .95 .98'.")
@click.option("--series", "in_time", is_flag=True, help="FILES are one engine's results in order of time.")
@click.option(
    "--window", type=click.IntRange(min=1), default=1, show_default=True, help="Runs at each end of a series."
)
@click.option("--preferences", is_flag=True, help="Share of ordered pairs of docs that runs have in common.")
@qrels_option
@click.option(
    "--among", type=click.Choice(["all", "relevant", "nonrelevant"]), default="all", show_default=True,
    help="Preferences among these docs; other than all needs --qrels, which also shows how similarity goes with AP.",
)  # fmt: skip
@click.option("--transpose", is_flag=True, help="Score tables have one row per topic.")
@click.option(
    "--d-rank", is_flag=True, help="With --scores: also Carterette's d_rank of the second ranking, with its p."
)
@click.option(
    "-B", "--resamples", type=click.IntRange(min=0), default=1000, show_default=True, help="Bootstrap samples."
)
@click.option("--by-depth", is_flag=True, help="--figure shows EXT with [MIN, MAX] of two runs over depth.")
@click.option("--list", "listing", is_flag=True, help="List the measures and stop.")
@seed_option
@jobs_option
@output_and_figure_options
def command(
    files: Sequence[Path], as_scores: bool, measures: tuple[str, ...], p: float, carry: tuple[int, float] | None,
    ties: str, depth: int | None, topics: int, pairs: bool, sweep: str | None, by_depth: bool, in_time: bool,
    window: int, preferences: bool, qrels_path: Path | None, among: str, transpose: bool, d_rank: bool, resamples: int,
    listing: bool, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """How alike are result lists, or rankings of runs?

    Two run files: RBO as EXT [MIN – MAX], topic by topic. Many: a matrix of all against all. With --scores: do two
    score tables (or the measures of one) put the runs in the same order?

    \b
    assay similarity a.run b.run
    assay similarity runs/* --carry 10 .86
    assay similarity a.run b.run --sweep '.5 .8 .9 .98'
    assay similarity --series monday.run tuesday.run wednesday.run
    assay similarity --preferences runs/* --qrels qrels.txt --among relevant
    assay similarity --scores a.csv b.csv -m tau-b -m 'tau-ap(ties=b)' --d-rank
    """
    if listing:
        out.write(*_listed())
        return
    if as_scores:
        refuse_others("--scores", MODES)
        _scores(files, transpose, measures, d_rank, resamples, seed, out)
        return
    if not files:
        raise UsageError("name two run files or more, or a folder of them")
    runs = load_runs(files, jobs=jobs)
    if len(runs) < 2:
        raise UsageError(f"two runs or more are needed, and there is {len(runs)}")
    if len(runs) > 2 and sweep is not None:
        raise UsageError(f"--sweep compares two runs, and there are {len(runs)}")
    several = "two runs" if len(runs) == 2 else "three runs or more"
    named = {"--preferences": preferences, "--series": in_time, "--sweep": sweep is not None}
    mode = next((m for m, wanted in named.items() if wanted), several)
    refuse_others(mode, MODES)
    if by_depth and out.figure is None:
        raise UsageError("--by-depth says what --figure draws; give --figure FILE as well")
    persistence = _persistence(p, carry, out)
    if mode == "--preferences":
        _preferences(runs, qrels_path, among, depth, jobs, out)
    elif mode == "--series":
        _series(runs, persistence, window, depth, out)
    elif mode == "three runs or more":
        _many(runs, persistence, measures, depth, pairs, out)
    else:
        _two(runs, persistence, ties, measures, depth, topics, sweep, by_depth, out)


def _persistence(p: float, carry: tuple[int, float] | None, out: Output) -> float:
    """The p given, or the one for which a prefix carries its weight."""
    from assay.rankings.rank_biased import persistence_for

    if carry is None:
        return p
    found = persistence_for(*carry)
    out.say(f"p = {found:.4f}: the first {carry[0]} ranks carry {100 * carry[1]:.0f} % of the score")
    return found


def _listed() -> list[Table]:
    from assay.core.tables import Table
    from assay.rankings.correlation import CORRELATIONS
    from assay.similarity.overlap import LIST_SIMILARITIES

    def of(title: str, entries: object) -> Table:
        rows = [
            (e.name, ", ".join(f"{k}={v}" for k, v in e.parameters.items()), e.summary)
            for e in entries  # type: ignore[attr-defined]
        ]
        return Table.of({"name": "", "parameters": "", "what": ""}, rows, caption=title)

    return [of("Of result lists", LIST_SIMILARITIES), of("Of rankings of runs (--scores)", CORRELATIONS)]


def _two(
    runs: Sequence[Run], p: float, ties: str, measures: Sequence[str], depth: int | None, topics: int,
    sweep: str | None, by_depth: bool, out: Output,
) -> None:  # fmt: skip
    from assay.similarity.by_topic import compare_runs, p_sweep

    if sweep is not None:
        result = p_sweep(runs[0], runs[1], _numbers(sweep), ties=ties, depth=depth)
        out.write(result.table(), of=result)
        return
    found = compare_runs(runs[0], runs[1], p=p, ties=ties, measures=measures, depth=depth)
    shown = [found.topic_table(topics)] if topics else []
    out.write(found.table(), *shown, of=_over_depth(runs, p) if by_depth else found)


def _over_depth(runs: Sequence[Run], p: float) -> object:
    from assay.report.curves import overlap_by_depth

    return overlap_by_depth(runs[0], runs[1], p=p)


def _many(runs: Sequence[Run], p: float, measures: Sequence[str], depth: int | None, pairs: bool, out: Output) -> None:
    from assay.similarity.matrix import rbo_matrix, similarity_matrix

    with out.progress("comparing") as progress:
        found = [similarity_matrix(runs, m, depth=depth, progress=progress) for m in measures] or [
            rbo_matrix(runs, p=p, depth=depth, progress=progress)
        ]
    out.write(*(f.pairs() if pairs else f.table() for f in found), of=found[0])


def _series(runs: Sequence[Run], p: float, window: int, depth: int | None, out: Output) -> None:
    from assay.similarity.over_time import series

    found = series(runs, p=p, window=window, depth=depth)
    out.write(found.table(), found.step_table(), of=found)


def _preferences(
    runs: Sequence[Run], qrels_path: Path | None, among: str, depth: int | None, jobs: int, out: Output
) -> None:
    from assay.scoring import evaluate
    from assay.similarity.shared_preferences import likeness_and_scores, preference_similarity

    qrels = None if qrels_path is None else load_qrels(qrels_path)
    with out.progress("counting preferences") as progress:
        found = preference_similarity(runs, qrels=qrels, among=among, depth=depth, jobs=jobs, progress=progress)
    scores = [] if qrels is None or len(runs) < 3 else evaluate(runs, qrels, "AP")
    out.write(found.table(), *(likeness_and_scores(found, s) for s in scores), of=found)


def _scores(
    files: Sequence[Path],
    transpose: bool,
    measures: Sequence[str],
    d_rank: bool,
    resamples: int,
    seed: int,
    out: Output,
) -> None:
    from assay.similarity.drank import d_rank_test
    from assay.similarity.systems import USUAL, compare_rankings

    if not files:
        raise UsageError("name two score tables, or one that holds several measures")
    matrices = load_scores(files, qrels_path=None, measures=None, transpose=transpose)
    if len(matrices) < 2:
        raise UsageError(f"{files[0]}: it holds one measure only; name a second score table to compare it with")
    tables = []
    for other in matrices[1:]:
        found = compare_rankings(matrices[0], other, measures=measures or USUAL, resamples=resamples, seed=seed)
        tables.append(found.table())
        if d_rank:
            truth = matrices[0].select(runs=found.runs)
            ranking = other.select(runs=found.runs).by_mean().runs
            tables.append(d_rank_test(truth, ranking, resamples=resamples, seed=seed).table())
    out.write(*tables, of=found)


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise UsageError(f"--sweep {text!r}: write numbers parted by blanks, e.g. '.5 .8 .9'") from None
