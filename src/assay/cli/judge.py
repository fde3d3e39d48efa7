"""assay judge: is a machine judge any good, and how is it used without fooling oneself?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.columns import column_option, named_columns, with_columns
from assay.cli.commands import Group, KnownWord, RegistryOption
from assay.cli.inputs import FILE, load_qrels, load_runs, load_scores, one_matrix, one_measure
from assay.cli.label_files import has_effect, show_option, shown_parts
from assay.cli.modes import is_given
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.cli.run_info import info_options, runs_info

if TYPE_CHECKING:
    from assay.data import Labels, Qrels, ScoreMatrix

C = TypeVar("C", bound=Callable[..., Any])
LEVEL = click.FloatRange(0, 1, min_open=True, max_open=True)

human_option = click.option("--human", type=FILE, required=True, help="Judgments of people: topic 0 doc grade.")
machine_option = click.option(
    "--machine", type=FILE, required=True,
    help="Labels of machine judges: topic, doc, worker (the judge), label; or the qrels of one judge.",
)  # fmt: skip
judge_option = click.option("--judge", help="The judge to take, where the labels are of several.")
scale_option = click.option(
    "--scale", "scales", multiple=True, metavar="[NAME=]SCALE",
    help="Scale of everybody, e.g. S4 or 0-5, or of one judge, e.g. gpt=0-5; `human` are the people. Repeatable.",
)  # fmt: skip
rel_option = click.option("--rel", "-l", type=float, default=1, show_default=True, help="Lowest relevant human grade.")
level_option = click.option("--level", type=LEVEL, default=0.95, show_default=True, help="Level of the intervals.")
baseline_option = click.option("--baseline", metavar="RUN", help="Estimate differences from this run.")
resamples_option = click.option(
    "-B", "--resamples", type=click.IntRange(min=1), default=1000, show_default=True,
    help="Sign flips of topics where judges are compared, and sets of resampled topics where their rankings are.",
)  # fmt: skip


def some_runs(required: bool) -> Callable[[C], C]:
    """RUN… as paths, --info and --where, and --column."""
    argument = click.argument("runs", nargs=-1, required=required, type=click.Path(path_type=Path, allow_dash=True))
    return with_columns(lambda command: argument(info_options(command)))


def both_labels(command: C) -> C:
    """--human, --machine and --scale."""
    return human_option(machine_option(scale_option(command)))


def read_machine(path: Path) -> Labels | Qrels:
    """Labels of machine judges; a file of judgments is one judge, named as the file is."""
    from assay.io.labels import read_labels
    from assay.io.recognition import WrongKind

    try:
        return read_labels(path, columns=named_columns())
    except WrongKind:
        return load_qrels(path)


def scales_of(texts: tuple[str, ...]) -> Any:
    """One scale for everybody, or {judge: scale}; None where none is given."""
    from assay.core.errors import UsageError

    named = dict(text.rsplit("=", 1) for text in texts if "=" in text)
    plain = [text for text in texts if "=" not in text]
    if len(plain) > 1 or (plain and named):
        raise UsageError("--scale is one scale for everybody, or NAME=SCALE for each; not both")
    return plain[0] if plain else named or None


def _one_of_scores(path: Path, option: str, measure: str | None) -> ScoreMatrix:
    """The scores of one measure in a file; a file of something else says that runs are missing."""
    from assay.core.errors import UsageError
    from assay.io.recognition import WrongKind

    try:
        return one_matrix(load_scores([path], qrels_path=None, measures=measure))
    except WrongKind as error:
        what = f"no runs are given, and {error.where} ({option}) holds no scores"
        raise UsageError(f"{what}; give RUNS with judgments, or scores by people and by the machine") from None


@click.group(cls=Group)
def command() -> None:
    """Is a machine judge any good, and how is it used without fooling oneself?

    A judge is a worker of a file of labels. assay calls no model: it reads what one said.

    \b
    Is this judge any good:
      assay judge audit --human qrels.txt --machine labels.tsv runs/
    Few human topics, many machine topics, an interval that holds:
      assay judge estimate --human few.qrels --machine labels.tsv runs/ --baseline bm25
    A human sample of docs, machine labels of all:
      assay judge docs --human sample.qrels --machine labels.tsv runs/ -m DCG@10
    How many docs are relevant:
      assay judge prevalence --human qrels.txt --machine labels.tsv
    """


@command.command()
@some_runs(False)
@both_labels
@one_measure("Measure of the runs.", "nDCG@10")
@click.option("--humans", type=FILE, help="Labels of several people: their agreement stands beside that of the judges.")
@rel_option
@click.option("--by", multiple=True, metavar="COLUMN", help="Bias by this column of --info; repeatable.")
@click.option("--top", type=click.IntRange(min=2), default=10, show_default=True, help="Best runs of the last τ.")
@click.option("--k", type=click.IntRange(min=1), default=20, show_default=True, help="Docs of each run to rerank.")
@click.option(
    "--correction", cls=RegistryOption, registry="assay.stats.multiple:CORRECTIONS", default="holm", show_default=True,
    help="Correction of tests of runs and pairs: {names}.",
)  # fmt: skip
@level_option
@resamples_option
@show_option("assay.judges.audit:PARTS")
@seed_option
@jobs_option
@output_and_figure_options
def audit(
    runs: tuple[Path, ...], human: Path, machine: Path, scales: tuple[str, ...], measure: str, humans: Path | None,
    rel: float, by: tuple[str, ...], top: int, k: int, correction: str, level: float,
    resamples: int, show: tuple[str, ...], seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Audit machine judges against people: labels, and with RUNS also rankings, bias, conclusions and gaming.

    \b
    assay judge audit --human qrels.txt --machine labels.tsv runs/ --show summary --show words
    assay judge audit --human qrels.txt --machine labels.tsv --humans annotators.tsv
    """
    from assay.io.labels import read_labels
    from assay.judges import judge

    for name in ("measure", "info", "where", "by", "top", "k", "correction"):
        has_effect(name, bool(runs), "without runs")
    found = judge(
        load_qrels(human), read_machine(machine), load_runs(runs, jobs=jobs) if runs else None, measure=measure,
        scale=scales_of(scales), rel=rel, humans=None if humans is None else read_labels(humans),
        info=runs_info(), by=by, top=top, k=k, correction=correction, level=level,
        resamples=resamples, seed=seed, jobs=jobs,
    )  # fmt: skip
    tables = shown_parts(found.parts(), show or (("summary", "words", "faults") if out.format != "csv" else ()))
    out.write(*tables, of=found)


@command.command()
@some_runs(False)
@both_labels
@one_measure("Measure of the runs.", "nDCG@10")
@judge_option
@baseline_option
@click.option(
    "--method", cls=RegistryOption, registry="assay.judges.topic_estimators:ESTIMATORS", default="cross-fitted",
    show_default=True, help="How much weight the machine gets: {names}.",
)  # fmt: skip
@click.option("--normal", is_flag=True, help="Formulas for very many topics: normal quantiles instead of t.")
@level_option
@jobs_option
@output_and_figure_options
def estimate(
    runs: tuple[Path, ...], human: Path, machine: Path, scales: tuple[str, ...], measure: str, judge: str | None,
    baseline: str | None, method: str, normal: bool, level: float, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Estimate scores from few topics that people judged and more that a machine judged.

    Without RUNS both files hold scores of one measure, as `assay answers nuggets --save` writes them: by people on few
    topics, by a machine on all.

    \b
    assay judge estimate --human few.qrels --machine labels.tsv runs/
    assay judge estimate --human few.qrels --machine labels.tsv runs/ --baseline bm25 --method tuned
    assay judge estimate --human people.csv --machine gpt.csv -m V_strict
    """
    from assay.judges import estimate as estimated
    from assay.judges import estimate_scores

    if not runs:
        from assay.io.files import file_stem

        for name in ("scales", "jobs", "judge"):
            has_effect(name, False, "without runs")
        wanted = measure if is_given("measure") else None
        found = estimate_scores(
            _one_of_scores(human, "--human", wanted), _one_of_scores(machine, "--machine", wanted),
            judge=file_stem(machine), baseline=baseline, method=method, level=level, normal=normal,
        )  # fmt: skip
        out.write(found.table(), of=found)
        return
    found = estimated(
        load_qrels(human), read_machine(machine), load_runs(runs, jobs=jobs), measure=measure, judge=judge,
        baseline=baseline, method=method, level=level, normal=normal, scale=scales_of(scales), jobs=jobs,
    )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@some_runs(True)
@both_labels
@one_measure("Measure of the runs: one that adds up gains, or nDCG.", "DCG@10")
@judge_option
@baseline_option
@click.option(
    "--calibration", cls=RegistryOption, registry="assay.judges.calibration:CALIBRATIONS", default="isotonic",
    show_default=True, help="Machine labels as human grades: {names}.",
)  # fmt: skip
@click.option(
    "--topics", type=KnownWord("assay.judges.doc_estimates:TOPICS"), default="fixed", show_default=True,
    help="Interval of the score on these topics, or on topics like these.",
)  # fmt: skip
@level_option
@jobs_option
@output_and_figure_options
def docs(
    runs: tuple[Path, ...], human: Path, machine: Path, scales: tuple[str, ...], measure: str, judge: str | None,
    baseline: str | None, calibration: str, topics: str, level: float, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Estimate scores from a random sample of docs that people judged, and machine labels of all docs.

    The file of --human is a sample as `assay pool sample --save` writes it, with the probability of every doc.

    \b
    assay judge docs --human sample.qrels --machine labels.tsv runs/ -m DCG@10
    """
    from assay.judges import estimate_docs

    found = estimate_docs(
        load_qrels(human), read_machine(machine), load_runs(runs, jobs=jobs), measure=measure, judge=judge,
        baseline=baseline, calibration=calibration, topics=topics, level=level, scale=scales_of(scales), jobs=jobs,
    )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@column_option
@both_labels
@rel_option
@level_option
@output_options
def prevalence(human: Path, machine: Path, scales: tuple[str, ...], rel: float, level: float, out: Output) -> None:
    """Estimate the share of relevant docs among those that only a machine judged.

    \b
    assay judge prevalence --human qrels.txt --machine labels.tsv --rel 2
    """
    from assay.judges import prevalence as share

    found = share(load_qrels(human), read_machine(machine), rel=rel, level=level, scale=scales_of(scales))
    out.write(found.table(), of=found)


@command.command()
@some_runs(True)
@both_labels
@one_measure("Measure of the runs.", "nDCG@10")
@judge_option
@click.option("--draws", type=click.IntRange(min=1), default=100, show_default=True, help="Random fillings of holes.")
@level_option
@seed_option
@jobs_option
@output_options
def fill(
    runs: tuple[Path, ...], human: Path, machine: Path, scales: tuple[str, ...], measure: str, judge: str | None,
    draws: int, level: float, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Score runs with unjudged docs filled by a machine, beside other ways to treat them.

    \b
    assay judge fill --human qrels.txt --machine labels.tsv runs/ --judge gpt
    """
    from assay.judges import filled

    found = filled(
        load_qrels(human), read_machine(machine), load_runs(runs, jobs=jobs), measure=measure, judge=judge,
        scale=scales_of(scales), draws=draws, level=level, seed=seed, jobs=jobs,
    )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@some_runs(True)
@both_labels
@one_measure("Measure of the runs.", "nDCG@10")
@click.option("--topics", type=click.IntRange(min=2), default=20, show_default=True, help="Human topics of a sample.")
@click.option("--others", type=click.IntRange(min=2), help="Machine topics of a sample.  [default: the rest]")
@click.option("--samples", type=click.IntRange(min=1), default=200, show_default=True, help="Samples of topics.")
@level_option
@seed_option
@jobs_option
@output_options
def coverage(
    runs: tuple[Path, ...], human: Path, machine: Path, scales: tuple[str, ...], measure: str, topics: int,
    others: int | None, samples: int, level: float, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Try the estimators on your own topics: how often their intervals hold, and how wide they are.

    \b
    assay judge coverage --human qrels.txt --machine labels.tsv runs/ --topics 20
    """
    from assay.judges.interval_coverage import coverage_of_judges

    found = coverage_of_judges(
        load_qrels(human), read_machine(machine), load_runs(runs, jobs=jobs), measure=measure, scale=scales_of(scales),
        topics=topics, others=others, samples=samples, level=level, seed=seed, jobs=jobs,
    )  # fmt: skip
    out.write(found.table(), of=found)
