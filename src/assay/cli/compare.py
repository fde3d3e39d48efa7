"""`assay compare`: is the difference real? Leaderboard, all pairs, two topic sets, analyses of variance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.board_details import (
    differences_of,
    losses_of,
    places_of,
    refuse_idle_places,
    shown_details,
    topic_queries,
)
from assay.cli.columns import column_option
from assay.cli.commands import Group, KnownWord, RegistryOption
from assay.cli.inputs import (
    FILE,
    chosen_measures,
    force_option,
    load_runs,
    load_scores,
    measures_option,
    name_option,
    scores_input,
    transpose_option,
)
from assay.cli.label_files import gold_options
from assay.cli.modes import is_given
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.cli.run_info import by_option, info_alone, info_options
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.stats.leaderboard import Leaderboard

C = TypeVar("C", bound=Callable[..., Any])

test_option = click.option(
    "--test", cls=RegistryOption, registry=["assay.stats.paired:TESTS", "assay.stats.tukey:SIMULTANEOUS"],
    default="t", show_default=True, metavar="NAME",
    help="One of: {names}. Parameters in brackets: 'sign(min_difference=0.01)'.",
)  # fmt: skip
sets_test_option = click.option(
    "--test", cls=RegistryOption, registry="assay.stats.two_sample:TWO_SAMPLE_TESTS", default="welch",
    show_default=True, metavar="NAME", help="One of: {names}.",
)  # fmt: skip
correction_option = click.option(
    "--correction", cls=RegistryOption, registry="assay.stats.multiple:CORRECTIONS", default="holm", show_default=True,
    metavar="NAME", help="Correction of p for the number of tests, one of: {names}.",
)  # fmt: skip
family_option = click.option(
    "--correction", cls=RegistryOption, registry=["assay.stats.joint_tests:JOINT", "assay.stats.multiple:CORRECTIONS"],
    default="auto", show_default=True, metavar="NAME",
    help="Correction of p for the number of tests, one of: {names}; auto: max-t for the t test, holm for others.",
)  # fmt: skip
alternative_option = click.option(
    "--alternative", type=KnownWord("assay.stats.resampling:ALTERNATIVES"), default="two-sided", show_default=True,
    help="greater: the run is better than what it is compared with.",
)  # fmt: skip
alpha_option = click.option(
    "--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
    help="Significance level; intervals have level 1 − alpha.",
)  # fmt: skip
interval_option = click.option(
    "--interval", cls=RegistryOption, registry="assay.stats.effect:INTERVALS", default="auto", show_default=True,
    metavar="NAME", help="Kind of interval, one of: {names}; each holds alone. auto: that of the test and correction.",
)  # fmt: skip
resamples_option = click.option(
    "-B", "--resamples", type=click.IntRange(min=1), default=10_000, show_default=True,
    help="Number of resamples, for tests and intervals that resample.",
)  # fmt: skip
baseline_option = click.option("--baseline", metavar="RUN", help="Compare with this run.  [default: the best mean]")


sets_interval_option = click.option(
    "--interval", cls=RegistryOption, registry="assay.stats.two_sample:SET_INTERVALS", default="auto",
    show_default=True, metavar="NAME", help="Kind of interval, one of: {names}. auto: that of the test.",
)  # fmt: skip


def drawing_options(interval: Callable[[C], C]) -> Callable[[C], C]:
    """--alpha, -B, --seed and this --interval: what tests and intervals share."""

    def wrapped(command: C) -> C:
        whole: Any = command
        for option in (seed_option, resamples_option, interval, alpha_option):
            whole = option(whole)
        return whole

    return wrapped


@click.group(cls=Group, default="runs")
def command() -> None:
    """Is the difference real?

    Without a subcommand: the leaderboard of `assay compare runs`.

    \b
    assay compare scores.csv --baseline bm25
    assay compare --qrels qrels.txt runs/*.run -m nDCG@10 --test randomisation --format latex
    assay compare pairs scores.csv --test randomised-tukey
    assay compare sets new.csv old.csv --test welch
    assay compare factorial grid.csv
    assay compare table --qrels qrels.txt runs/*.run -m 'nDCG@10 AP' --baseline bm25 --format latex
    """


@command.command()
@scores_input
@click.option("--baseline", metavar="RUN", help="Compare with this run.  [default: the best mean, tested in all pairs]")
@test_option
@family_option
@alternative_option
@drawing_options(interval_option)
@click.option("--top", type=click.IntRange(min=2), help="Show at most N runs: the best, and the baseline.")
@click.option(
    "--letters/--no-letters", default=True, show_default=True,
    help="Letters: runs that share one are not significantly different.",
)  # fmt: skip
@info_alone("the team is shown unless --show names other columns")
@click.option("--show", metavar="COLUMNS", help="Columns of --info, e.g. team,type.  [default: team]")
@click.option("--places", "with_places", is_flag=True, help="Also show percentiles and distances to best and median.")
@click.option(
    "--best-of", multiple=True, metavar="COLUMN=TEXT",
    help="With --places: also the distance to the best of these runs of --info, e.g. type=automatic; repeatable.",
)  # fmt: skip
@by_option("With --places: also the place among the runs of the same group, by a column of --info.")
@click.option(
    "--power", type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Also show the true difference that each comparison finds with this power; smaller ones may be missed.",
)  # fmt: skip
@click.option(
    "--worst", type=click.IntRange(min=1),
    help="Also show the N topics on which a run lost most against the baseline: of the best run, in CSV of all.",
)  # fmt: skip
@click.option("--topics", "topics_path", type=FILE, help="Topics with their texts, for --worst.")
@click.option("--differences", is_flag=True, help="--figure shows the best run against --baseline, topic by topic.")
@jobs_option
@output_and_figure_options
def runs(
    matrices: list[ScoreMatrix], baseline: str | None, test: str, correction: str, interval: str,
    top: int | None, show: str | None, with_places: bool, best_of: tuple[str, ...], by: str | None,
    power: float | None, worst: int | None, topics_path: Path | None, differences: bool, out: Output, **how: Any,
) -> None:  # fmt: skip
    """Leaderboard: every run against a baseline.

    Reads score tables, or with --qrels run files, and shows one leaderboard per measure: rank, mean with its interval,
    letters (runs that share one are not significantly different), and against the baseline the difference, its
    interval, corrected p, effect size, wins, ties and losses. Without --baseline p and intervals hold for all pairs of
    runs, and the runs that may be the best are named.

    \b
    assay compare scores.csv --baseline bm25
    assay compare --qrels qrels.txt runs/*.run -m nDCG@10 --test randomisation --format latex
    assay compare scores.csv --baseline bm25 --info runs.csv --show team --worst 10 --topics topics.txt
    assay compare scores.csv --info runs.csv --where type=automatic --places --best-of type=automatic --power .8
    """
    from assay.data.scores import joined
    from assay.stats import compare

    if differences and (out.figure is None or baseline is None):
        raise UsageError("--differences is a picture of a run and the baseline; give --figure FILE and --baseline RUN")
    every = joined(matrices)
    _refuse_idle_options(every, test, interval, correction)
    _refuse_idle_top(top, every)
    details = shown_details(show)
    refuse_idle_places(with_places, best_of, by)
    queries = topic_queries(topics_path, worst, baseline, every)
    boards: list[Leaderboard] = []
    for matrix in every:
        with out.progress(f"testing {matrix.measure}") as progress:
            board = compare(
                matrix, baseline=baseline, test=test, correction=correction, interval=interval, progress=progress, **how
            )
        if details is not None:
            board = board.showing(*details)
        if power is not None:
            board = board.with_power(power)
        boards.append(board if top is None else board.best(top))
    pictures = differences_of(boards) if differences else boards
    losses = [] if worst is None else losses_of(boards, worst, queries, of_all=out.format in ("csv", "json"))
    placed = [places_of(matrix, best_of, by, top) for matrix in every] if with_places else []
    more = [*placed, *losses]
    shown = more if more and out.format == "csv" else [*boards, *more]
    out.write(*(result.table() for result in shown), of=shown, drawn=pictures)


@command.command()
@scores_input
@test_option
@family_option
@drawing_options(interval_option)
@click.option("--top", type=click.IntRange(min=2), help="Show only pairs of the N best runs.")
@jobs_option
@output_and_figure_options
def pairs(
    matrices: list[ScoreMatrix], test: str, correction: str, alpha: float, interval: str,
    top: int | None, out: Output, **how: Any,
) -> None:  # fmt: skip
    """Every pair of runs.

    Difference with its interval, effect size, p before and after correction over all pairs, wins, ties and losses.

    \b
    assay compare pairs scores.csv --correction bh --format csv
    assay compare pairs scores.csv --test randomised-tukey
    """
    from assay.data.scores import joined
    from assay.stats import all_pairs
    from assay.stats.pair_tests import by_average

    every = joined(matrices)
    _refuse_idle_options(every, test, interval, correction, of_means=False)
    _refuse_idle_top(top, every)
    found = []
    for matrix in every:
        with out.progress(f"testing {matrix.measure}") as progress:
            tested = all_pairs(
                by_average(matrix), test, correction=correction, interval=interval, level=1 - alpha, progress=progress,
                **how,
            )  # fmt: skip
        found.append(tested.best(top))
    out.write(*(tested.table() for tested in found), of=found)


@command.command()
@scores_input
@baseline_option
@output_options
def normality(matrices: list[ScoreMatrix], baseline: str | None, out: Output) -> None:
    """Do the differences to the baseline look normal?

    Shapiro and Wilk's test of every other run, with skewness and kurtosis.

    \b
    assay compare normality scores.csv --baseline bm25
    """
    from assay.data.scores import joined
    from assay.stats import runs_normality

    found = [runs_normality(matrix, baseline=baseline) for matrix in joined(matrices)]
    out.write(*(result.table() for result in found), of=found)


@command.command()
@click.argument("first", type=FILE)
@column_option
@click.argument("second", type=FILE)
@measures_option
@transpose_option
@name_option
@force_option
@info_options
@sets_test_option
@correction_option
@alternative_option
@drawing_options(sets_interval_option)
@output_and_figure_options
def sets(
    first: Path, second: Path, measures: str | None, transpose: bool, name: str | None, force: str | None, test: str,
    interval: str, out: Output, **how: Any,
) -> None:  # fmt: skip
    """The same runs on two topic sets, unpaired.

    FIRST and SECOND are score tables of one measure on different topics. Runs of the same name are compared, first
    minus second; a single run on each side whatever its name.

    \b
    assay compare sets this-year.csv last-year.csv --test welch --figure sets.svg
    """
    from assay.stats import compare_sets
    from assay.stats.topic_sets import same_measures
    from assay.stats.two_sample import sets_draw

    _refuse_idle_resamples(sets_draw(test, interval), f"--test {test}", interval)
    how_read: dict[str, Any] = {"qrels_path": None, "measures": measures, "transpose": transpose, "name": name}
    of_first = load_scores([first], **how_read)
    of_second = load_scores([second], **how_read)
    found = []
    for one, other in same_measures(of_first, of_second, force=force):
        found.append(compare_sets(one, other, test, measure=force, interval=interval, **how))
    out.write(*(result.table() for result in found), of=found)


@command.command()
@click.argument("file", type=FILE)
@click.option("--measure", default="score", metavar="NAME", help="What the scores are, for captions.")
@click.option(
    "--only", type=KnownWord("assay.stats.crossed:PARTS"),
    help="Show only the analysis of variance, or only the levels of the factors; CSV can hold only one of them.",
)  # fmt: skip
@alpha_option
@output_and_figure_options
def factorial(file: Path, measure: str, only: str | None, alpha: float, out: Output) -> None:
    """Which part of a system matters?

    FILE has columns of factors, then one column of scores per topic; every combination of levels is one row.

    \b
    assay compare factorial grid.csv
    assay compare factorial grid.csv --only levels --format csv
    """
    from assay.stats import factorial as factorial_analysis
    from assay.stats import read_grid

    if only is None and out.format == "csv":
        raise UsageError("CSV holds one table; choose it with --only analysis or --only levels")
    matrix, design = read_grid(file, measure=measure)
    result = factorial_analysis(matrix, design, level=1 - alpha)
    out.write(*(result.tables() if only is None else [result.part(only)]), of=result)


@command.command()
@click.argument("judgments", type=FILE)
@column_option
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@info_options
@measures_option
@click.option("--baseline", metavar="RUN", help="Show the differences to this run instead of the means.")
@gold_options
@seed_option
@output_options
def uncertain(
    judgments: Path, files: Sequence[Path], measures: str | None, baseline: str | None, reference: Path | None,
    calibration: str | None, seed: int, out: Output,
) -> None:  # fmt: skip
    """Compare runs under uncertain judgments.

    JUDGMENTS is what `assay crowd aggregate` writes: labels with their uncertainty; FILES are runs. Gold docs in
    --reference give scores with 95 % intervals over topics, for measures that add up their ranks (DCG, P, RBP). Without
    them there is no interval of the true score, only how far the labels' uncertainty moves it.

    \b
    assay compare uncertain crowd.csv runs/*.run -m 'DCG@10 P@10' --baseline bm25 --reference gold.qrels
    assay compare uncertain crowd.csv runs/*.run -m nDCG@10 --baseline bm25
    """
    from assay.cli.score import uncertain_scores

    default = "nDCG@10" if reference is None else "DCG@10"
    measured = chosen_measures(measures or default)
    found = uncertain_scores(
        load_runs(files), judgments, measured, reference, calibration, seed, out, baseline=baseline
    )
    out.write(*(result.tables()[-1] for result in found), of=found)


def _refuse_idle_options(
    matrices: Sequence[ScoreMatrix], test: str, interval: str, correction: str, *, of_means: bool = True
) -> None:
    """An error where a given option has no effect on this test of runs."""
    from assay.stats.joint_tests import chosen_correction, draws_flips
    from assay.stats.pairwise import draws, is_simultaneous

    simultaneous = is_simultaneous(test)
    by = chosen_correction(correction, "t" if simultaneous else test)
    if simultaneous and is_given("correction"):
        raise UsageError(f"--correction has no effect: p of {test} holds for all pairs at once; leave it out")
    if simultaneous and is_given("interval") and not of_means:
        raise UsageError(f"--interval has no effect: {test} has intervals of its own; leave it out")
    flips = not simultaneous and any(draws_flips(by, *matrix.shape) for matrix in matrices)
    _refuse_idle_resamples(flips or draws(test, interval), f"--test {test}", interval)


def _refuse_idle_resamples(drawn: bool, test: str, interval: str) -> None:
    for name, option in (("resamples", "-B"), ("seed", "--seed")):
        if is_given(name) and not drawn:
            what = f"{option} has no effect: neither {test} nor --interval {interval} draws resamples"
            raise UsageError(f"{what}; leave it out")


def _refuse_idle_top(top: int | None, matrices: Sequence[ScoreMatrix]) -> None:
    if top is not None and all(top >= len(matrix.runs) for matrix in matrices):
        most = max((len(matrix.runs) for matrix in matrices), default=0)
        raise UsageError(f"--top {top} has no effect on {most} runs; leave it out")


# Subcommands that live in a file of their own; they take options from this one, which must be complete by now.
from assay.cli import analyses as analyses  # noqa: E402
from assay.cli import compare_density as compare_density  # noqa: E402
from assay.cli import conversations as conversations  # noqa: E402
from assay.cli import paper_tables as paper_tables  # noqa: E402
