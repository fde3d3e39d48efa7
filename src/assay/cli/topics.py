"""`assay topics`: which topics suffice? Best, average and worst subsets, what they are worth, and which to judge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import TARGET, Group, RegistryOption
from assay.cli.inputs import FILE, numbers, one_matrix, other_scores, scores_input
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.cli.topic_options import (
    COUNT,
    at_option,
    chosen_sizes,
    criterion_option,
    groups_option,
    held_out_groups,
    percentages,
    problem_options,
    refuse,
    repetitions_option,
    scale_option,
    search_option,
    search_options,
    splits_option,
)
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.topics.problem import Problem
    from assay.topics.search import SearchResult

Matrices = list["ScoreMatrix"]


@click.group(cls=Group)
def command() -> None:
    """Which topics suffice to rank the runs as all of them do?

    \b
    How well can c topics do, at best, on average, at worst, and on other runs?
      assay topics best scores.csv
    Which 20 topics should be judged, given scores of earlier runs?
      assay topics choose earlier.csv --count 20
    """


@command.command()
@problem_options
@search_options
@repetitions_option
@click.option("--percentiles", default="1", show_default=True, help="Percentages, e.g. 1,5.")
@click.option("--holdout/--no-holdout", default=True, show_default=True, help="Also test the sets on other runs.")
@splits_option
@groups_option
@at_option
@click.option(
    "--truth", type=FILE, help="Scores of the same runs from judgments: the ranking to reach with topics of FILES."
)
@click.option(
    "--save",
    type=TARGET,
    help="Write the topics of every best and worst subset here, as CSV.",
)
@seed_option
@jobs_option
@output_and_figure_options
def best(
    ready: Problem, look: Callable[..., Any], repetitions: int, percentiles: str, holdout: bool, splits: int,
    by: str | None, at: str | None, save: Path | None, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Best, average and worst subsets for every number of topics, and their value on held-out runs.

    The best subset fits the runs it was chosen on: quote the held-out column. Ctrl-C keeps the best so far. With --at
    the topics of the subsets are listed too; JSON and --save have them for all sizes.

    \b
    assay topics best scores.csv --criterion pearson --runs 96
    assay topics best predicted.csv --truth judged.csv
    assay topics best scores.csv --search 'swap+nsga' --seconds 60 --resume found.json
    assay topics best scores.csv --at 5,10,20 --format latex
    """
    from assay.io.files import write_whole
    from assay.topics import best_topics

    if not holdout:
        refuse("--no-holdout", "splits", "by")
    shown = chosen_sizes(at, ready)
    result = look(
        out, best_topics, cardinalities=() if at is None else shown, repetitions=repetitions,
        percentiles=percentages(percentiles), holdout=holdout, held_out_at=shown, splits=splits,
        groups=held_out_groups(by), jobs=jobs,
    )  # fmt: skip
    tables = [result.table(at=shown)]
    # CSV holds one table, and JSON has the sets beside the rows.
    if at is not None and out.format not in ("csv", "json"):
        tables.append(result.sets_table(at=shown))
    out.write(*tables, of=result)
    if save is not None:
        write_whole(save, result.sets_table().csv())
        out.say(f"topics of the subsets written to {save}")
    for remark in result.remarks():
        out.say(remark)


@command.command()
@problem_options
@click.option(
    "--search", cls=RegistryOption, registry="assay.topics.search:SEARCHES", metavar="NAME",
    help="One of: {names}.  [default: a quick form of swap]",
)  # fmt: skip
@splits_option
@groups_option
@at_option
@seed_option
@jobs_option
@output_and_figure_options
def holdout(
    ready: Problem, search: str | None, splits: int, by: str | None, at: str | None, seed: int, jobs: int, out: Output
) -> None:
    """How good are the best subsets on other runs? Chosen on half of the runs, tested on the rest.

    \b
    assay topics holdout scores.csv --splits 10 --at 5,10,20
    """
    from assay.topics import hold_out
    from assay.topics.holdout import QUICK

    with out.progress("holding out") as progress:
        result = hold_out(
            ready, search=search or QUICK, cardinalities=chosen_sizes(at, ready), splits=splits,
            groups=held_out_groups(by), seed=seed, jobs=jobs, progress=progress,
        )  # fmt: skip
    out.write(result.table(), of=result)


@command.command()
@problem_options
@search_options
@click.option("--count", type=COUNT, required=True, help="Topics in a subset.")
@click.option("--keep", type=COUNT, default=10, show_default=True, help="Distinct subsets per side.")
@seed_option
@output_and_figure_options
def sets(ready: Problem, look: Callable[..., SearchResult], count: int, keep: int, seed: int, out: Output) -> None:
    """The ten best and the ten worst distinct subsets of one size, with their topics.

    \b
    assay topics sets scores.csv --count 12
    """
    found = look(out, keep=keep, cardinalities=(count,))
    tables = [found.table(side, c=count) for side in ("best", "worst")]
    out.write(*tables, drawn=found)


@command.command()
@problem_options
@search_options
@seed_option
@output_and_figure_options
def stability(ready: Problem, look: Callable[..., SearchResult], seed: int, out: Output) -> None:
    """Do the sets keep their topics as they grow? Stability, overlap of best and worst, ease of their topics.

    \b
    assay topics stability scores.csv
    """
    from assay.topics import subset_stability

    result = subset_stability(look(out))
    out.write(result.table(), of=result)


@command.command()
@problem_options
@search_options
@click.option("--at", required=True, metavar="LIST", help="Numbers of topics, e.g. 5,10,20.")
@seed_option
@output_and_figure_options
def means(ready: Problem, look: Callable[..., SearchResult], at: str, seed: int, out: Output) -> None:
    """How do mean scores on the best and worst subsets stand to those on all topics? One point per run.

    \b
    assay topics means scores.csv --at 5,10,20 --figure means.svg
    """
    from assay.topics.subset_means import subset_means

    chosen = chosen_sizes(at, ready)
    result = subset_means(look(out, cardinalities=chosen), chosen)
    out.write(result.table(), of=result)


@command.command(name="top-stability")
@problem_options
@search_options
@at_option
@seed_option
@output_options
def top_stability(ready: Problem, look: Callable[..., SearchResult], at: str | None, seed: int, out: Output) -> None:
    """Do the ten best sets of a size share their topics, and the ten worst?

    \b
    assay topics top-stability scores.csv --at 5,10,20,30,40,45
    """
    from assay.topics import subset_stability

    result = subset_stability(look(out), cardinalities=chosen_sizes(at, ready))
    out.write(result.top_table(), of=result)


@command.command(name="map")
@problem_options
@search_options
@seed_option
@output_options
def pixel_map(ready: Problem, look: Callable[..., SearchResult], seed: int, out: Output) -> None:
    """Which topics are in the best and in the worst sets? A map of topics: + best, x worst, # both.

    \b
    assay topics map scores.csv
    """
    from assay.topics.stability import map_table

    out.write(map_table(look(out)))


@command.command()
@problem_options
@search_options
@click.option(
    "--test", cls=RegistryOption, registry="assay.stats.paired:TESTS", default="t", show_default=True, metavar="NAME",
    help="Paired test, one of: {names}.",
)  # fmt: skip
@click.option(
    "--alpha", type=click.FloatRange(0, 1, True, True), default=0.05, show_default=True, help="Significance level."
)
@at_option
@seed_option
@jobs_option
@output_and_figure_options
def conclusions(
    ready: Problem, look: Callable[..., SearchResult], test: str, alpha: float, at: str | None, seed: int, jobs: int,
    out: Output,
) -> None:  # fmt: skip
    """Would the same differences be significant? Five outcomes over all pairs of runs, subset against all topics.

    \b
    assay topics conclusions scores.csv --test wilcoxon --at 10,20,30
    """
    from assay.topics import compare_conclusions

    found = look(out, cardinalities=chosen_sizes(at, ready))
    with out.progress("testing") as progress:
        result = compare_conclusions(
            found,
            cardinalities=chosen_sizes(at, ready),
            test=test,
            alpha=alpha,
            seed=seed,
            jobs=jobs,
            progress=progress,
        )
    out.write(result.table(), of=result)


@command.command()
@scores_input
@output_and_figure_options
def hits(matrices: Matrices, out: Output) -> None:
    """Which topics tell good runs from bad, and which runs tell easy topics from hard? HITS hubness and authority.

    \b
    assay topics hits scores.csv
    """
    from assay.topics.hits import hits as solved

    result = solved(one_matrix(matrices))
    out.write(*result.tables(), of=result)


@command.command()
@scores_input
@click.option("--to", "target", type=FILE, required=True, help="Scores to test on: another measure, or other runs.")
@click.option("--to-measure", metavar="NAME", help="Which measure of that file, if it has several.")
@criterion_option
@scale_option
@search_option
@at_option
@seed_option
@output_and_figure_options
def transfer(
    matrices: Matrices, target: Path, to_measure: str | None, criterion: str, scale: str, search: str, at: str | None,
    seed: int, out: Output,
) -> None:  # fmt: skip
    """Subsets chosen on one set of scores, tested on another with the same topics.

    \b
    assay topics transfer ap.csv --to ndcg.csv
    assay topics transfer scores.csv -m AP --to scores.csv --to-measure nDCG@10
    assay topics transfer trec8.csv --to robust.csv --at 5,10,20
    """
    from assay.topics import transfer as moved

    targets = other_scores(target, to_measure)
    if len(targets) > 1:
        names = ", ".join(m.measure for m in targets)
        raise UsageError(f"{target}: {len(targets)} measures ({names}); choose one with --to-measure")
    with out.progress("searching") as progress:
        result = moved(
            one_matrix(matrices), targets[0], criterion=criterion, scale=scale, cardinalities=tuple(numbers(at or "")),
            search=search, seed=seed, progress=progress,
        )  # fmt: skip
    out.write(result.table(), of=result)


@command.command()
@scores_input
@click.option("--count", type=COUNT, required=True, help="Topics to judge.")
@criterion_option
@click.option("--truth", type=FILE, help="Scores from judgments, to see what the choice is really worth.")
@splits_option
@groups_option
@seed_option
@jobs_option
@output_options
def choose(
    matrices: Matrices, count: int, criterion: str, truth: Path | None, splits: int, by: str | None, seed: int,
    jobs: int, out: Output,
) -> None:  # fmt: skip
    """Topics to judge, from scores of earlier runs or from predicted scores, with the value to expect on new runs.

    \b
    assay topics choose earlier-runs.csv --count 20
    assay topics choose predicted.csv --count 20 --truth judged.csv
    """
    from assay.topics import choose_topics

    checked = None if truth is None else one_matrix(other_scores(truth))
    with out.progress("holding out") as progress:
        result = choose_topics(
            one_matrix(matrices), count=count, criterion=criterion, truth=checked, groups=held_out_groups(by),
            splits=splits, seed=seed, jobs=jobs, progress=progress,
        )  # fmt: skip
    out.write(result.table(), of=result)


# The commands of this group that stand in another file are added when that file is imported.
from assay.cli import topic_draws, topic_variants  # noqa: E402, F401
