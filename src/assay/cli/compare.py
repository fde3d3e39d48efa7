"""`assay compare`: is the difference real? Leaderboard, all pairs, two topic sets, analysis of variance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import Command
from assay.cli.inputs import FILE, chosen_measures, load_runs, load_scores, measures_option, qrels_option
from assay.cli.options import Output, jobs_option, output_and_figure_options, seed_option
from assay.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from assay.core.tables import Table
    from assay.data.scores import ScoreMatrix
    from assay.stats.topic_sets import TopicSets

TEST_HELP = (
    "Of each pair: t, normal, wilcoxon, sign, bootstrap, bootstrap-t, randomisation; of all pairs at once: tukey, "
    "randomised-tukey; with --against: welch, student, bootstrap. Parameters in brackets: 'sign(min_difference=0.01)'. "
    "[default: t; with --against welch]"
)


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@qrels_option
@measures_option
@click.option("--transpose", is_flag=True, help="Score matrices have one row per topic.")
@click.option("--baseline", metavar="RUN", help="Test every run against this one.  [default: the best mean]")
@click.option("--test", metavar="NAME", help=TEST_HELP)
@click.option(
    "--correction", default="holm", show_default=True, metavar="NAME",
    help="For many tests: holm, bonferroni (family-wise error), bh (false discovery rate), none.",
)  # fmt: skip
@click.option(
    "--alternative", type=click.Choice(["two-sided", "greater", "less"]), default="two-sided", show_default=True,
    help="greater: the run is better than the baseline.",
)  # fmt: skip
@click.option(
    "--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
    help="Significance; intervals have level 1 − alpha.",
)  # fmt: skip
@click.option("--interval", default="t", show_default=True, metavar="NAME", help="t, basic or percentile (bootstrap).")
@click.option(
    "-B", "--resamples", type=click.IntRange(min=1), default=10_000, show_default=True,
    help="Draws of the resampling methods.",
)  # fmt: skip
@click.option("--top", type=click.IntRange(min=2), help="Show only so many runs: the best, the baseline among them.")
@click.option("--letters/--no-letters", default=True, show_default=True, help="Groups of runs that do not differ.")
@click.option("--pairs", is_flag=True, help="Also the table of all pairs.")
@click.option("--anova", is_flag=True, help="Also two-way analysis of variance and Friedman's test.")
@click.option("--normality", is_flag=True, help="Also whether the differences to the baseline look normal.")
@click.option("--against", type=FILE, help="Scores on another topic set: compare runs of the same name, unpaired.")
@click.option("--uncertainty", type=FILE, help="Judgments in doubt (`assay crowd aggregate`); FILES are then runs.")
@click.option("--differences", is_flag=True, help="--figure shows the best run against --baseline, topic by topic.")
@click.option("--factorial", is_flag=True, help="FILE has columns of factors, then topics: which factor matters?")
@seed_option
@jobs_option
@output_and_figure_options
def command(
    files: Sequence[Path], qrels_path: Path | None, measures: str | None, transpose: bool, against: Path | None,
    uncertainty: Path | None, differences: bool, factorial: bool, baseline: str | None, correction: str, alpha: float,
    top: int | None, letters: bool, pairs: bool, anova: bool, normality: bool, jobs: int, out: Output,
    test: str | None, **how: Any,
) -> None:  # fmt: skip
    """Is the difference real?

    Reads score tables, or with --qrels run files, and shows one leaderboard per measure: mean with its interval,
    letters (runs that share one do not differ), and against the baseline the difference, its interval, corrected p,
    effect size, wins, ties and losses.

    \b
    assay compare scores.csv --baseline bm25
    assay compare --qrels qrels.txt runs/*.run -m nDCG@10 --test randomisation --format latex
    assay compare scores.csv --test randomised-tukey --pairs
    assay compare new.csv --against old.csv --test welch
    assay compare --factorial grid.csv
    assay compare --uncertainty crowd.csv runs/*.run -m nDCG@10 --baseline bm25
    """
    if differences and out.figure is None:
        raise UsageError("--differences is a picture; name its file with --figure")
    if factorial:
        _factorial(files, alpha, out)
        return
    if uncertainty is not None:
        _in_doubt(files, uncertainty, measures or "nDCG@10", baseline, how["seed"], out)
        return
    matrices = joined_by_measure(load_scores(files, qrels_path=qrels_path, measures=measures, transpose=transpose))
    if against is not None:
        others = load_scores([against], qrels_path=None, measures=measures, transpose=transpose)
        sets = [_unpaired(m, others, test or "welch", correction=correction, alpha=alpha, **how) for m in matrices]
        out.write(*(found.table() for found in sets), of=sets)
        return
    from assay.stats.leaderboard import leaderboard

    tables: list[Table] = []
    boards = []
    for matrix in matrices:
        with out.progress(f"testing {matrix.measure}") as progress:
            board = leaderboard(
                matrix, baseline=baseline, test=test or "t", correction=correction, alpha=alpha, letters=letters,
                pairs=pairs, jobs=jobs, progress=progress, **how,
            )  # fmt: skip
        board = board if top is None else board.best(top)
        tables += [board.table(), *([board.pairs_table()] if pairs else []), *(_analyses(matrix) if anova else [])]
        tables += [_normality(matrix, board.baseline)] if normality else []
        boards.append(board)
    out.write(*tables, of=[_differences(m, baseline) for m in matrices] if differences else boards)


def _differences(matrix: ScoreMatrix, baseline: str | None) -> object:
    """The picture of the best other run minus the baseline on every topic."""
    from assay.report.figures.stats import differences

    if baseline is None or len(matrix.runs) < 2:
        raise UsageError("--differences needs --baseline and another run")
    best = next(run for run in matrix.by_mean().runs if run != baseline)
    values = matrix.of_run(best) - matrix.of_run(baseline)
    return differences(values, topics=matrix.topics, runs=(best, baseline), measure=matrix.measure)


def _in_doubt(
    files: Sequence[Path], uncertainty: Path, measures: str, baseline: str | None, seed: int, out: Output
) -> None:
    """Leaderboards and differences whose intervals hold the doubt of the judgments."""
    from assay.crowd import read_uncertain, score_uncertainty

    judgments, runs = read_uncertain(uncertainty), load_runs(files)
    tables: list[Table] = []
    for measure in chosen_measures(measures):
        with out.progress(f"drawing judgments for {measure}") as progress:
            found = score_uncertainty(runs, judgments, str(measure), baseline=baseline, seed=seed, progress=progress)
        tables += [found.table(), *([found.differences()] if baseline else [])]
    out.write(*tables)


def joined_by_measure(matrices: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """One matrix per measure, with the runs of all files; they must have the same topics."""
    import numpy as np

    from assay.data.scores import ScoreMatrix

    by_measure: dict[str, list[ScoreMatrix]] = {}
    for matrix in matrices:
        by_measure.setdefault(matrix.measure, []).append(matrix)
    result = []
    for measure, (head, *rest) in by_measure.items():
        for other in rest:
            odd = sorted(set(head.topics) ^ set(other.topics))
            if odd:
                what = f"topic {odd[0]!r} is in one file only ({len(odd)} such topics)"
                raise DataError(f"{measure}: {what}; runs on different topics are compared with --against")
        parts = [head, *(m.select(topics=head.topics) for m in rest)]
        runs = [r for m in parts for r in m.runs]
        values = np.concatenate([m.values for m in parts])
        result.append(ScoreMatrix.of(values, runs=runs, topics=head.topics, measure=measure, signature=head.signature))
    return result


def _analyses(matrix: ScoreMatrix) -> list[Table]:
    from assay.stats.anova import friedman, two_way

    return [two_way(matrix).table(), friedman(matrix).table()]


def _normality(matrix: ScoreMatrix, baseline: str) -> Table:
    from assay.stats.shape import normality_table

    return normality_table(matrix.by_mean(), baseline)


def _factorial(files: Sequence[Path], alpha: float, out: Output) -> None:
    from assay.stats.factorial import factorial, read_grid

    if len(files) != 1:
        raise UsageError(f"--factorial takes one file, not {len(files)}")
    result = factorial(*read_grid(files[0]), level=1 - alpha)
    out.write(*result.tables(), of=result)


def _unpaired(matrix: ScoreMatrix, others: Sequence[ScoreMatrix], test: str, **how: Any) -> TopicSets:
    """Runs on two topic sets; a file of a single measure serves whatever its name."""
    from assay.stats.topic_sets import on_topic_sets

    other = next((m for m in others if m.measure == matrix.measure), others[0] if len(others) == 1 else None)
    if other is None:
        raise UsageError(f"--against has no scores of {matrix.measure}")
    return on_topic_sets(matrix, other, test, **how)
