"""`assay replicate`: does an improvement replicate, and do scores last over a series of collections?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.board import COUNT, form_option, level_option, top_option
from assay.cli.board_inputs import collections_input
from assay.cli.columns import named_columns, with_columns
from assay.cli.commands import Group, KnownWord, RegistryOption
from assay.cli.inputs import (
    FILE,
    chosen_measures,
    decimals,
    force_option,
    load_scores,
    measures_option,
    name_option,
    numbers,
    qrels_option,
    transpose_option,
)
from assay.cli.modes import is_given
from assay.cli.options import Output, output_and_figure_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.replication import Replication

OF_RUNS = ("replicated_qrels", "p", "depth")
OF_TABLES = ("system", "replicated_system", "transpose", "name", "force")
RESAMPLES = 2000

resamples_option = click.option(
    "--resamples", "-B", type=COUNT, default=RESAMPLES, show_default=True, help="Draws of the bootstrap."
)


@click.group(cls=Group, default="improvement")
def command() -> None:
    """Does it replicate, does it last?

    Without a subcommand: whether an improvement replicates, as `assay replicate improvement`.

    \b
    assay replicate mine.run theirs.run --baseline bm25.run --qrels qrels.txt
    assay replicate original.csv replicated.csv --baseline bm25
    assay replicate series 2022.csv 2023.csv 2024.csv
    """


@command.command()
@with_columns(click.argument("original", type=FILE))
@click.argument("replicated", type=FILE)
@click.option("--baseline", required=True, metavar="RUN", help="File of the baseline; of score tables its run.")
@click.option(
    "--replicated-baseline", metavar="RUN", help="The baseline of the replicated experiment.  [default: --baseline]"
)
@qrels_option
@click.option("--replicated-qrels", type=FILE, help="Judgments of another collection, for the replicated runs.")
@click.option("--system", metavar="RUN", help="Run of the score tables that is compared.  [default: the only other]")
@click.option("--replicated-system", metavar="RUN", help="Its name in the replicated scores.  [default: --system]")
@measures_option
@click.option(
    "--topic-ids", type=KnownWord("assay.replication.experiments:TOPICS"),
    help="Topics of one id are the same, or other topics.  [default: same if all ids are in both, other if none is]",
)  # fmt: skip
@click.option(
    "--least-ratio", type=click.FloatRange(min=0), default=0.5, show_default=True, metavar="SHARE",
    help="Share of the original improvement that must be exceeded for the word 'replicated'.",
)  # fmt: skip
@click.option(
    "--interval", type=KnownWord("assay.replication.ratios:RATIO_INTERVALS"), default="fieller", show_default=True,
    help="Intervals of all that is no mean: by Fieller's theorem and t, or by topics drawn again.",
)  # fmt: skip
@click.option(
    "--test", cls=RegistryOption, registry="assay.stats.two_sample:TWO_SAMPLE_TESTS", default="welch",
    show_default=True, metavar="NAME", help="Test of means on other topics, one of: {names}.",
)  # fmt: skip
@click.option("--p", type=float, default=0.9, show_default=True, help="Persistence of RBO: depth 1/(1−p) on average.")
@click.option(
    "--depth", type=COUNT, default=1000, show_default=True, help="Compare only the first N docs of each topic."
)
@level_option
@resamples_option
@seed_option
@click.option("--by-topic", is_flag=True, help="A row for each topic, and a point in the figure; same topics only.")
@transpose_option
@name_option
@force_option
@output_and_figure_options
def improvement(
    original: Path, replicated: Path, qrels_path: Path | None, topic_ids: str | None, by_topic: bool, out: Output,
    **given: Any,
) -> None:  # fmt: skip
    """Does an improvement over a baseline replicate (the default)?

    ORIGINAL and REPLICATED are runs of the system, with --qrels, or score tables that hold the baseline too. The
    verdict comes first and rests on the effect ratio, the replicated improvement over the original one: the word
    "replicated" needs a ratio that is shown to be above --least-ratio. On the same topics scores are paired, and with
    runs the order of docs is compared; on another collection (--replicated-qrels, or score tables of other topics) the
    two are independent samples.

    \b
    assay replicate mine.run theirs.run --baseline bm25.run --replicated-baseline their-bm25.run --qrels qrels.txt
    assay replicate trec7.csv trec8.csv --baseline bm25 --system dense
    """
    _refuse_idle_draws(given["interval"], given["test"])
    if qrels_path is None:
        results = _of_tables(original, replicated, topic_ids, given)
    else:
        results = _of_runs(original, replicated, qrels_path, topic_ids, given)
    if is_given("test") and any(result.experiments.paired for result in results):
        raise UsageError(
            "--test is for other topics, and these are the same, compared by a paired t test; leave it out"
        )
    for name in ("p", "depth"):
        if is_given(name) and not any(result.experiments.paired for result in results):
            raise UsageError(f"--{name} is about docs of the same topics, and these are others; leave it out")
    _write(results, by_topic, out)


def _write(results: list[Replication], by_topic: bool, out: Output) -> None:
    """The tables, the verdicts as their captions; where captions are not seen, the verdicts are said."""
    if by_topic:
        if not all(result.experiments.paired for result in results):
            raise UsageError("--by-topic pairs the topics of both experiments, and these are others; leave it out")
        from assay.report.figures.replication import topic_improvements

        drawn = [topic_improvements(result) for result in results] if out.figure is not None else None
        out.write(*(result.topic_table() for result in results), of=results, drawn=drawn)
    else:
        out.write(*(result.table() for result in results), of=results)
    if out.path is not None or out.format not in ("text", "markdown", "html", "latex"):
        for result in results:
            out.say(result.verdict)


def _of_runs(
    original: Path, replicated: Path, qrels: Path, topic_ids: str | None, given: dict[str, Any]
) -> list[Replication]:
    """A result for each measure of the runs."""
    from assay.replication import replicate_runs

    _refuse(OF_TABLES, "score tables, not with runs and --qrels")
    how = {key: given[key] for key in ("least_ratio", "interval", "test", "level", "resamples", "seed", "p", "depth")}
    other = given["replicated_baseline"]
    return replicate_runs(
        original,
        replicated,
        qrels,
        baseline=Path(given["baseline"]),
        replicated_baseline=None if other is None else Path(other),
        replicated_qrels=given["replicated_qrels"],
        measures=chosen_measures(given["measures"] or "AP nDCG@10"),
        topics=topic_ids,
        columns=named_columns(),
        **how,
    )


def _of_tables(original: Path, replicated: Path, topic_ids: str | None, given: dict[str, Any]) -> list[Replication]:
    """A result for each measure that both tables have."""
    from assay.replication import replicate
    from assay.replication.experiments import same_measures

    _refuse(OF_RUNS, "runs and --qrels, not with score tables")
    tables = {key: given[key] for key in ("measures", "transpose", "name", "force")}
    first = load_scores([original], qrels_path=None, **tables)
    second = load_scores([replicated], qrels_path=None, **tables)
    keys = ("baseline", "replicated_baseline", "system", "replicated_system")
    how = {key: given[key] for key in (*keys, "least_ratio", "interval", "test", "level", "resamples", "seed")}
    return [replicate(one, other, topics=topic_ids, **how) for one, other in same_measures(first, second)]


def _refuse_idle_draws(interval: str, test: str) -> None:
    """An error where nothing is drawn and a number of draws or a seed is given."""
    if interval == "percentile" or test == "bootstrap":
        return
    for name, option in (("resamples", "-B"), ("seed", "--seed")):
        if is_given(name):
            raise UsageError(f"{option} has no effect: --interval {interval} draws no topics; leave it out")


def _refuse(names: tuple[str, ...], what: str) -> None:
    """An error for an option of the other way of use."""
    for parameter in click.get_current_context().command.params:
        if parameter.name in names and is_given(str(parameter.name)):
            raise UsageError(f"{max(parameter.opts, key=len)} goes with {what}; leave it out")


@command.command()
@collections_input
@click.option("--baseline", metavar="RUN", help="Show effect ratio and ΔRI of every system over this one.")
@click.option("--order", is_flag=True, help="Instead of the systems, how stable their order is.")
@form_option
@level_option
@resamples_option
@seed_option
@top_option
@output_and_figure_options
def series(
    collections: dict[str, Any], baseline: str | None, order: bool, top: int | None, out: Output,
    **how: Any,
) -> None:  # fmt: skip
    """Do scores, improvements and the order last over collections?

    One score file for each collection, in the order of time, with the same runs in them. Every collection is compared
    with the first: relative drop of the mean, change of the standardized mean, rank; with --baseline effect ratio and
    ΔRI.

    \b
    assay replicate series 2022.csv 2023.csv 2024.csv
    assay replicate series 2022.csv 2023.csv 2024.csv --baseline bm25
    assay replicate series robust.csv --part trec6=301-350 --part trec7=351-400 --order
    """
    from assay.replication import score_series

    if order and baseline is not None:
        raise UsageError("--order shows the order and --baseline the effects; give one of them")
    if order and top is not None:
        raise UsageError("--top limits the systems, and --order shows collections; give one of them")
    result = score_series(collections, baseline=baseline, **how)
    if top is not None:
        result = result.best(top)
    table = result.order_table() if order else result.table()
    out.write(table, of=result)
    if out.path is not None or out.format not in ("text", "markdown", "html", "latex"):
        out.say(result.verdict)


@command.command()
@click.option("--topics", default="25,50", show_default=True, metavar="LIST", help="Numbers of topics.")
@click.option(
    "--effects", default=".3 .5 1", show_default=True, metavar="LIST",
    help="Original improvements, in standard deviations over topics.",
)  # fmt: skip
@click.option("--ratio", type=float, default=0.8, show_default=True, help="The true effect ratio.")
@level_option
@click.option("--trials", type=COUNT, default=500, show_default=True, help="Replications that are simulated.")
@click.option("--resamples", "-B", type=COUNT, default=500, show_default=True, help="Draws of the bootstrap.")
@seed_option
@output_and_figure_options
def coverage(topics: str, effects: str, out: Output, **how: Any) -> None:
    """How often do intervals hold the true effect ratio?

    Simulated replications with a known effect ratio: normal and skewed improvements, on the same topics and on others.
    It is why Fieller's interval is the default.
    """
    from assay.replication import ratio_coverage

    sizes = numbers(topics)
    result = ratio_coverage(topics=sizes, effects=decimals(effects, "write numbers, e.g. '.3 .5 1'"), **how)
    out.write(result.table(), of=result)
