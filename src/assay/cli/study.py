"""assay study: are measures and methods any good? One question per command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.columns import column_option, named_columns
from assay.cli.commands import Group, RegistryOption
from assay.cli.inputs import (
    FILE,
    chosen_measures,
    decimals,
    load_qrels,
    load_runs,
    measures_option,
    numbers,
    one_measure,
    rel_option,
    runs_argument,
    scores_input,
)
from assay.cli.modes import is_given
from assay.cli.options import Output, jobs_option, output_and_figure_options, seed_option
from assay.cli.run_info import by_option, groups_by, info_options
from assay.core.errors import UsageError
from assay.core.tables import Table

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix

keep_option = click.option(
    "--keep", type=float, default=0.75, show_default=True, help="Share of runs kept: the best under any measure."
)


class Studies(Group):
    """A group that can list its commands with a sentence each."""

    def table(self) -> Table:
        """Every study in a sentence."""
        rows = [(name, c.get_short_help_str(200)) for name, c in sorted(self.commands.items())]
        return Table.of({"study": "", "asks": ""}, rows)


@click.group(cls=Studies, invoke_without_command=True)
@click.option("--list", "listed", is_flag=True, help="Explain each study in a sentence.")
@click.pass_context
def command(ctx: click.Context, listed: bool) -> None:
    """Study measures and methods themselves.

    \b
    assay study --list
    assay study predictivity scores.csv
    """
    if listed and ctx.invoked_subcommand is not None:
        raise UsageError(f"--list has no effect on {ctx.invoked_subcommand}; leave one of them out")
    if ctx.invoked_subcommand is None:
        text = command.table().text() if listed else ctx.get_help()
        click.echo(text)


@command.command(name="measure-tau")
@scores_input
@keep_option
@output_and_figure_options
def measure_tau(matrices: list[ScoreMatrix], keep: float, out: Output) -> None:
    """Do the measures rank the runs alike? Kendall's τ of every pair of measures."""
    from assay.data.scores import joined
    from assay.studies.measure_rankings import measure_tau as study

    found = study(joined(matrices), keep=keep)
    out.write(found.table(), of=found)


@command.command()
@scores_input
@keep_option
@click.option(
    "--splits", type=click.IntRange(min=2), default=2000, show_default=True, help="Random splits of the topics."
)
@seed_option
@output_and_figure_options
def predictivity(matrices: list[ScoreMatrix], keep: float, splits: int, seed: int, out: Output) -> None:
    """Does a measure on half of the topics predict measures on the other half?"""
    from assay.data.scores import joined
    from assay.studies.measure_rankings import predictivity as study

    with out.progress("splitting") as progress:
        found = study(joined(matrices), splits=splits, keep=keep, seed=seed, progress=progress)
    out.write(found.table(), of=found)


@command.command()
@scores_input
@click.option(
    "--test", default="bootstrap-shift-t", show_default=True, metavar="NAME", cls=RegistryOption,
    registry=["assay.stats.paired:TESTS", "assay.stats.tukey:SIMULTANEOUS"], help="One of: {names}.",
)  # fmt: skip
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level.")
@click.option(
    "-B", "--resamples", type=click.IntRange(min=1), default=10_000, show_default=True,
    help="Number of resamples, for tests that resample.",
)  # fmt: skip
@click.option(
    "--two-sample", is_flag=True, help="Also test each pair as if its runs had different topics: what pairing is worth."
)
@seed_option
@jobs_option
@output_and_figure_options
def discriminative(
    matrices: list[ScoreMatrix], test: str, alpha: float, resamples: int, two_sample: bool, seed: int, jobs: int,
    out: Output,
) -> None:  # fmt: skip
    """How many pairs of runs does each measure tell apart, and what difference does it need?

    --test takes tests of pairs, since all runs have the same topics; --two-sample adds what a two-sample t test would
    find without that.
    """
    from assay.data.scores import joined
    from assay.studies.discriminative import discriminative_power, draws_samples

    if is_given("resamples") and not draws_samples(test):
        raise UsageError(f"--resamples has no effect on {test}, which draws no samples; leave it out")
    with out.progress("testing") as progress:
        found = discriminative_power(
            joined(matrices), test=test, alpha=alpha, two_sample=two_sample, resamples=resamples, seed=seed, jobs=jobs,
            progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@scores_input
@click.option("--sizes", help="Topics per set, e.g. 5,10,25; by default eight sizes up to half of the topics.")
@click.option(
    "--draws", type=click.IntRange(min=1), default=50, show_default=True, help="Pairs of topic sets of each size."
)
@click.option("--no-ties", is_flag=True, help="A difference of 0 on one set is not a swap.")
@click.option("--relative", is_flag=True, help="Differences as a share of the better mean (Sanderson & Zobel).")
@click.option("--significant", type=float, help="Only pairs with p below this on the first set (Sanderson & Zobel).")
@click.option("--overlapping", is_flag=True, help="The two sets may share topics (Sanderson & Zobel).")
@seed_option
@output_and_figure_options
def swaps(
    matrices: list[ScoreMatrix], sizes: str | None, draws: int, no_ties: bool, relative: bool,
    significant: float | None, overlapping: bool, seed: int, out: Output,
) -> None:  # fmt: skip
    """How often would another topic set reverse a difference, by its size?"""
    from assay.studies.swaps import swap_rates

    chosen = numbers(sizes) if sizes else None
    with out.progress("drawing") as progress:
        found = [
            swap_rates(
                m, sizes=chosen, draws=draws, ties=not no_ties, relative=relative, significant=significant,
                overlapping=overlapping, seed=seed, progress=progress,
            )
            for m in matrices
        ]  # fmt: skip
    out.write(*(f.table() for f in found), of=found[0] if len(found) == 1 else found)


@command.command()
@scores_input
@click.option("--pair", required=True, metavar="M1,M2", help="The two measures to compare.")
@click.option("--gold", required=True, metavar="M[,M]", help="One or more simple measures that say who is right.")
@output_and_figure_options
def concordance(matrices: list[ScoreMatrix], pair: str, gold: str, out: Output) -> None:
    """Where two measures disagree, which one is right by a simple gold measure?"""
    from assay.data.scores import joined
    from assay.studies.concordance import concordance_of

    found = concordance_of(joined(matrices), pair.split(","), gold.split(","))
    out.write(found.table(), of=found)


@command.command()
@runs_argument
@click.option("--qrels", "qrels_path", type=FILE, required=True, help="Judgments, from which parts are taken.")
@measures_option
@click.option("--shares", help="Parts of the judgments, 1 for all, e.g. '1 .5 .1'; by default seven, down to a tenth.")
@click.option("--draws", type=click.IntRange(min=1), default=5, show_default=True, help="Random parts of each size.")
@rel_option
@click.option(
    "--test", default="t", show_default=True, metavar="NAME", cls=RegistryOption,
    registry=["assay.stats.paired:TESTS", "assay.stats.tukey:SIMULTANEOUS"], help="Test of pairs, one of: {names}.",
)  # fmt: skip
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level.")
@seed_option
@jobs_option
@output_and_figure_options
def incompleteness(
    runs: tuple[Path, ...], qrels_path: Path, measures: str | None, shares: str | None, draws: int, rel: float,
    test: str, alpha: float, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """What do measures lose where judgments are missing?

    Random parts of the judgments: how well each measure still ranks the runs as it does with all of them (τ), and how
    many pairs of runs it tells apart.

    \b
    assay study incompleteness runs/ --qrels qrels.txt -m "AP AP' bpref nDCG nDCG'" --figure parts.svg
    """
    from assay.studies.incompleteness import MEASURES
    from assay.studies.incompleteness import incompleteness as study

    chosen = chosen_measures(measures) if measures else list(MEASURES)
    kept = decimals(shares, "write parts of the judgments as decimals, e.g. '1 .5 .1'") if shares else None
    with out.progress("leaving judgments out") as progress:
        found = study(
            load_runs(runs), load_qrels(qrels_path), chosen, shares=kept, draws=draws, rel=rel, test=test, alpha=alpha,
            seed=seed, jobs=jobs, progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@scores_input
@click.option("--votes", type=FILE, required=True, help="Table: topic, left, right, vote (left, right, equal).")
@output_and_figure_options
def votes(matrices: list[ScoreMatrix], votes: Path, out: Output) -> None:
    """Does a measure prefer the list that people prefer when they see both?"""
    from assay.studies.votes import predictive_power, read_votes

    cast = read_votes(votes)
    found = [predictive_power(m, cast) for m in matrices]
    out.write(*(f.table() for f in found), of=found[0] if len(found) == 1 else found)


@command.command()
@runs_argument
@click.option("--qrels", "qrels_path", type=FILE, required=True, help="Judgments: topic 0 doc grade, or irds:ID.")
@one_measure("Measure of the runs.", "AP")
@click.option("--depth", type=click.IntRange(min=1), default=100, show_default=True, help="Depth of the pool.")
@click.option("--rel", "-l", type=float, help="Lowest relevant grade.  [default: the measure's own]")
@by_option("Also group by group, by a column of --info, e.g. team.")
@output_and_figure_options
def reusability(
    runs: tuple[Path, ...],
    qrels_path: Path,
    measure: str,
    depth: int,
    rel: float | None,
    by: str | None,
    out: Output,
) -> None:
    """What would each run, and each group, lose if it had not been in the pool?"""
    from assay.data.lists import collected
    from assay.pooling.bias import left_out

    groups = {} if by is None else groups_by(by)
    seen = collected(load_runs(runs), load_qrels(qrels_path), groups=groups)
    ways = ("run",) if by is None else ("run", "group")
    found = [left_out(seen, measure, depth=depth, by=way, rel=rel) for way in ways]
    out.write(*(f.table() for f in found), of=found if by else found[0])


@command.command(name="rbo-and-ap")
@click.option(
    "--repetitions", type=click.IntRange(min=1), default=100, show_default=True, help="Repetitions of the simulation."
)
@seed_option
@output_and_figure_options
def rbo_and_ap(repetitions: int, seed: int, out: Output) -> None:
    """Does similarity to the ideal list say how effective a list is? A simulation."""
    from assay.studies.swapped_lists import swapped_lists

    with out.progress("swapping") as progress:
        found = swapped_lists(repetitions=repetitions, seed=seed, progress=progress)
    out.write(found.table(), of=found)


@command.command()
@click.argument("first")
@column_option
@click.argument("others", nargs=-1, required=True)
@click.option(
    "--collection", "collections", multiple=True, required=True, nargs=3, metavar="NAME QRELS RUNS",
    type=(str, FILE, click.Path(path_type=Path)), help="A name, judgments and a folder of runs; give at least two.",
)  # fmt: skip
@info_options
@click.option(
    "--labels", "labelled", multiple=True, nargs=2, metavar="NAME LABELS", type=(str, FILE),
    help="The labels of a crowd for a collection: topic, doc, worker, label; for the arm crowd.",
)  # fmt: skip
@one_measure("Measure for the true ranking.", "AP")
@click.option("--sizes", default="2,4,6,8,10", show_default=True, help="Numbers of runs in a subset.")
@click.option("--subsets", type=click.IntRange(min=2), default=50, show_default=True, help="Subsets of each size.")
@seed_option
@jobs_option
@output_and_figure_options
def methods(
    first: str, others: tuple[str, ...], collections: tuple[tuple[str, Path, Path], ...],
    labelled: tuple[tuple[str, Path], ...], measure: str, sizes: str, subsets: int, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Is one low-cost method better than another, over subsets of runs and several collections?

    FIRST is compared with each of the OTHERS. All are arms: a method without judgments, predict(method=emap); EMAP
    after a few judgments, reweight(rounds=3); a judging order, judge(order=hedge,judgments=3); a topic subset,
    topics(count=10); a crowd, crowd(aggregation=majority,labels=3). τ on all runs of a collection is shown last.

    \b
    assay study methods 'predict(method=emap)' 'predict(method=soboroff)' \\
        --collection dl21 dl21/qrels.txt dl21/runs --collection covid covid/qrels.txt covid/runs
    """
    from assay.io.labels import read_labels
    from assay.studies.arms import ARMS, Case
    from assay.studies.method_comparison import method_tests

    _check_names([name for name, _, _ in collections], [name for name, _ in labelled])
    if labelled and not any(ARMS.entry(arm).name == "crowd" for arm in (first, *others)):
        raise UsageError("--labels has no effect, for no arm is crowd; leave it out")
    labels = {name: read_labels(path, columns=named_columns()) for name, path in labelled}
    loaded = {}
    for name, qrels, runs in collections:
        loaded[name] = Case(load_runs([runs], jobs=jobs), load_qrels(qrels), labels.get(name))
    with out.progress("testing") as progress:
        found = method_tests(
            first, others, loaded, sizes=numbers(sizes), subsets=subsets, measure=measure, seed=seed, jobs=jobs,
            progress=progress,
        )  # fmt: skip
    one = found.tests[0]
    if len(found.tests) == 1:
        out.write(one.table(), of=one)
    else:
        out.write(found.table(), of=found, drawn=list(found.tests) if out.figure else None)


@command.command()
@click.argument("papers", type=FILE)
@click.option(
    "--track", "tracks", multiple=True, nargs=2, metavar="COLLECTION SCORES", type=(str, FILE),
    help="Scores of the original runs of a collection; several files of one collection are put together.",
)  # fmt: skip
@click.option(
    "--collection", "collections", multiple=True, metavar="NAME",
    help="Only this collection; repeatable.  [default: all]",
)  # fmt: skip
@click.option("--split", type=int, metavar="YEAR", help="Also give means before this year and from it on.")
@click.option(
    "--show", cls=RegistryOption, registry="assay.studies.survey:SHOWN", metavar="NAME",
    help="Only this table, one of: {names}.  [default: all; in CSV the summary]",
)  # fmt: skip
@output_and_figure_options
def survey(
    papers: Path, tracks: tuple[tuple[str, Path], ...], collections: tuple[str, ...], split: int | None,
    show: str | None, out: Output,
) -> None:  # fmt: skip
    """Do published improvements add up?

    PAPERS is a table of what papers report: paper, venue, year, collection, query type, measure, baseline, improved,
    significant (yes or no), excluded (a reason). Or one score a row: year, score, kind (baseline or improved; run for a
    run of the original track) and the same further columns. Of each paper, collection, query type and measure the
    strongest baseline and the best improved score count. --figure draws each collection in each measure.

    \b
    assay study survey papers.csv --track TREC-8 trec8.csv --figure trec8.svg
    """
    from assay.io.published import read_published
    from assay.io.scores import read_scores
    from assay.report.figures.studies import published_scores
    from assay.studies.survey import survey as study

    runs: dict[str, list[ScoreMatrix]] = {}
    for name, path in tracks:
        runs.setdefault(name, []).extend(read_scores(path))
    found = study(read_published(papers), tracks=runs, split=split)
    if collections:
        found = found.only(collections)
    shown = show or ("summary" if out.format == "csv" else None)
    tables = found.tables() if shown is None else [found.shown(shown)]
    drawn = None
    if out.figure:
        drawn = [published_scores(found, collection=name, measure=measure) for name, measure in found.groups]
    out.write(*tables, of=found, drawn=drawn)


def _check_names(collections: list[str], labelled: list[str]) -> None:
    """Every collection has a name of its own, and labels belong to one of them, once."""
    for name in [*collections, *labelled]:
        if collections.count(name) != 1:
            raise UsageError(f"there must be one collection named {name!r}, and there are {collections.count(name)}")
        if labelled.count(name) > 1:
            raise UsageError(f"--labels {name} is given twice; give one file of labels for a collection")


# Subcommands that live in a file of their own; they take options from this one, which must be complete by now.
from assay.cli import run_studies as run_studies  # noqa: E402
from assay.cli import study_entropy  # noqa: E402, F401
