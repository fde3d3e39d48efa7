"""assay plan: how many topics, how deep, how many labels?"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.columns import with_columns
from assay.cli.commands import Group, RegistryOption
from assay.cli.inputs import (
    FILE,
    force_option,
    load_qrels,
    load_runs,
    load_scores,
    measures_option,
    name_option,
    numbers,
    one_matrix,
    runs_argument,
    scores_input,
    transpose_option,
)
from assay.cli.modes import is_given
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.plan import TTest

C = TypeVar("C", bound=Callable[..., Any])
Scores = tuple[Path, ...]
FIXED = ("delta", "sigma", "power", "alpha", "one_sided", "normal", "minimum", "step")
"""Options of a planned experiment that hold from its start to its end."""

power_option = click.option("--power", type=float, default=0.8, show_default=True, help="Wanted power, 1 − β.")
delta_option = click.option("--delta", type=float, required=True, help="Smallest difference worth finding.")
some_scores = with_columns(click.argument("scores", nargs=-1, type=click.Path(path_type=Path, allow_dash=True)))


def planned_test(command: C) -> C:
    """--alpha, --one-sided, --normal; the command gets them as one TTest named `test`."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        from assay.plan import TTest

        sides = 1 if kwargs.pop("one_sided") else 2
        design = "two-sample" if kwargs.pop("two_sample", False) else "paired"
        law = "normal" if kwargs.pop("normal") else "t"
        return command(*args, test=TTest(kwargs.pop("alpha"), sides, design, law), **kwargs)

    wrapped: Any = run
    for option in (
        click.option("--normal", is_flag=True, help="Normal approximation instead of the noncentral t."),
        click.option("--one-sided", is_flag=True, help="One-sided test."),
        click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level."),
    ):
        wrapped = option(wrapped)
    return wrapped


def designed_test(command: C) -> C:
    """As planned_test, and --two-sample."""
    two_sample = click.option("--two-sample", is_flag=True, help="Two sets of topics, one per run, instead of pairs.")
    return planned_test(two_sample(command))


@click.group(cls=Group)
def command() -> None:
    """How many topics, how deep, and is this collection big enough?

    \b
    Topics that find a difference of .03 where differences have sd .13:
      assay plan power --delta 0.03 --sigma 0.13
    What an existing collection can find:
      assay plan audit scores.csv
    """


@command.command()
@click.option("--topics", type=float, help="Number of topics.")
@click.option("--power", type=float, help="Power, 1 − β; .8 if needed and not given.")
@click.option("--delta", type=float, help="True difference of the means.")
@click.option("--sigma", type=float, help="Standard deviation of the differences per topic.")
@click.option("--effect", type=float, help="Effect size δ/σ, instead of --delta and --sigma.")
@click.option("--turns", type=float, default=1.0, show_default=True, help="Topics are conversations of N turns.")
@click.option("--icc", type=float, default=0.0, show_default=True, help="Intraclass correlation of turns.")
@designed_test
@output_options
def power(test: TTest, out: Output, **given: float) -> None:
    """Power, topics, difference or σ, from the rest.

    Give all but one of topics, power, difference and σ; the missing one is computed.

    \b
    assay plan power --delta 0.03 --sigma 0.13             topics needed
    assay plan power --topics 50 --sigma 0.16              detectable difference
    assay plan power --topics 50 --delta 0.05 --sigma 0.16 power
    assay plan power --delta 0.05 --sigma 0.2 --turns 8 --icc 0.3
    """
    from assay.plan import power as power_plan

    if is_given("turns") != is_given("icc"):
        raise UsageError("--turns and --icc go together: how many turns a conversation has, and how alike they are")
    found = power_plan(test=test, **given)
    out.write(found.table(), of=found)


@command.command()
@click.option("--topics", default="25,50,75,100,150,200,250", show_default=True, help="Numbers of topics.")
@click.option("--sigma", "sigmas", type=float, multiple=True, required=True, help="σ of differences; repeatable.")
@click.option("--delta", type=float, help="Also the power to find this difference.")
@power_option
@designed_test
@output_and_figure_options
def curve(topics: str, sigmas: tuple[float, ...], delta: float | None, power: float, test: TTest, out: Output) -> None:
    """Detectable difference by number of topics.

    With --delta also the power to find it.

    \b
    assay plan curve --sigma 0.13 --sigma 0.19 --topics 50,100,150,200
    """
    from assay.plan import power_curve

    found = power_curve(numbers(topics), sigmas=sigmas, delta=delta, power=power, test=test)
    out.write(found.table(), of=found)


@command.command()
@some_scores
@measures_option
@transpose_option
@name_option
@force_option
@click.option("--variance", type=float, help="Variance of the scores of a run; estimated from SCORES if not given.")
@click.option("--best", type=click.IntRange(min=1), help="Estimate the variance on the N best runs only.")
@click.option("--difference", type=float, default=0.05, show_default=True, help="Difference, range or width wanted.")
@click.option("--runs", type=click.IntRange(min=2), default=10, show_default=True, help="Runs of the ANOVA design.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level.")
@power_option
@output_options
def topics(
    scores: Scores, measures: str | None, transpose: bool, name: str | None, force: str | None, variance: float | None,
    best: int | None, difference: float, runs: int, alpha: float, power: float, out: Output,
) -> None:  # fmt: skip
    """Topics for a new collection (Sakai's designs).

    By the t test, by ANOVA and by the width of an interval, exact and by his approximation.
    Several score files are several earlier collections; their variances are pooled.

    \b
    assay plan topics earlier.csv --difference 0.1 --runs 20
    """
    from assay.plan import sizes

    if (variance is None) == (not scores):
        raise UsageError("give --variance, or score files to estimate it from")
    _refuse_without_scores(scores, "measures", "transpose", "name", "force", "best")
    earlier = _read(scores, measures, transpose, name, force)
    if len(earlier) > len(scores):
        raise UsageError(f"a file has several measures ({', '.join(m.measure for m in earlier)}); choose one with -m")
    found = sizes(*earlier, variance=variance, difference=difference, runs=runs, best=best, alpha=alpha, power=power)
    out.write(found.table(), of=found)


@command.command()
@scores_input
@power_option
@planned_test
@click.option(
    "--weights", cls=RegistryOption, registry="assay.plan.audits:WEIGHTS", default="baselines", show_default=True,
    metavar="NAME", help="What gets equal weight when baselines are compared with better runs, one of: {names}.",
)  # fmt: skip
@output_and_figure_options
def audit(matrices: list[ScoreMatrix], power: float, test: TTest, weights: str, out: Output) -> None:
    """What this collection can find.

    σ of all pairs of runs, detectable differences, baselines against better runs.

    \b
    assay plan audit trec8.csv
    """
    from assay.plan import audit as audit_of

    found = [audit_of(matrix, power=power, weights=weights, test=test) for matrix in matrices]
    out.write(*(result.table() for result in found), of=found)


@command.command(name="one-sigma")
@scores_input
@click.option("-B", "--resamples", type=click.IntRange(min=1), default=1000, show_default=True, help="Resamples.")
@seed_option
@jobs_option
@output_and_figure_options
def one_sigma(matrices: list[ScoreMatrix], resamples: int, seed: int, jobs: int, out: Output) -> None:
    """Do all pairs of runs share one σ?

    A resampling test of the σ of differences: a small p says that no single σ serves every comparison.

    \b
    assay plan one-sigma trec8.csv -B 1000 --figure sigma.svg
    """
    from assay.plan.audits import one_sigma as one_sigma_test

    found = []
    for matrix in matrices:
        with out.progress(f"resampling {matrix.measure}") as progress:
            found.append(one_sigma_test(matrix, resamples=resamples, seed=seed, jobs=jobs, progress=progress))
    out.write(*(result.table() for result in found), of=found)


@command.command()
@some_scores
@measures_option
@transpose_option
@name_option
@force_option
@click.option("--runs", help="The two runs of the trial, as A,B, if the score file has more.")
@click.option("--sigma", type=float, help="σ expected, or seen in the trial.")
@click.option("--topics", type=int, help="Topics of the trial; without it the best size is computed.")
@delta_option
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Confidence that the power is reached.")
@click.option("--exact", is_flag=True, help="Limit of σ by χ² instead of the thesis's normal limit, a bit too low.")
@power_option
@planned_test
@output_and_figure_options
def trial(
    scores: Scores, measures: str | None, transpose: bool, name: str | None, force: str | None, runs: str | None,
    sigma: float | None, topics: int | None, delta: float, confidence: float, exact: bool, power: float, test: TTest,
    out: Output,
) -> None:  # fmt: skip
    """From a trial to the main experiment.

    Topics with an inflated σ, or the best size of a trial.

    \b
    assay plan trial --sigma 0.15 --delta 0.033             how large a trial?
    assay plan trial --sigma 0.15 --topics 40 --delta 0.033 after it, how many topics?
    assay plan trial trial.csv --runs new,old --delta 0.033 the same from its scores
    """
    from assay.plan import trial as plan_trial

    if (sigma is None) == (not scores):
        raise UsageError("give --sigma, or the scores of the two runs in the trial")
    _refuse_without_scores(scores, "measures", "transpose", "name", "force", "runs")
    pair = pair_of(_read(scores, measures, transpose, name, force), runs) if scores else None
    found = plan_trial(
        pair, sigma=sigma, topics=topics, delta=delta, power=power, confidence=confidence, exact=exact, test=test
    )
    out.write(found.table(), of=found)


@command.command(name="next")
@some_scores
@measures_option
@transpose_option
@name_option
@force_option
@click.option("--plan", "plan_path", type=FILE, required=True, help="File of the experiment; created if missing.")
@click.option("--runs", help="The two runs, as NEW,OLD, if the score file has more.")
@click.option("--delta", type=float, help="Difference worth finding; needed to start, fixed afterwards.")
@click.option("--sigma", type=float, help="Best guess of σ, to start with.")
@click.option("--minimum", type=int, default=30, show_default=True, help="Topics before the first look.")
@click.option("--step", type=int, help="Topics between looks; by default as many as the current σ calls for.")
@power_option
@planned_test
@output_options
def next_(
    scores: Scores, measures: str | None, transpose: bool, name: str | None, force: str | None, plan_path: Path,
    runs: str | None, delta: float | None, sigma: float | None, minimum: int, step: int | None, power: float,
    test: TTest, out: Output,
) -> None:  # fmt: skip
    """What to do next, judging in steps.

    Stops on power, never on significance; keeps the looks in a file.

    \b
    assay plan next --plan exp.json --delta 0.04 --sigma 0.14      start: how many topics first?
    assay plan next --plan exp.json scores-so-far.csv --runs a,b   look, and what to do now
    """
    from assay.plan.sequential import Experiment, next_step, read_experiment, write_experiment

    if plan_path.exists():
        given = [f"--{name.replace('_', '-')}" for name in FIXED if is_given(name)]
        if given:
            raise UsageError(f"{plan_path}: the plan was fixed at the start; leave {', '.join(given)} out")
        experiment = read_experiment(plan_path)
    elif delta is None:
        raise UsageError(f"{plan_path}: no such experiment yet; start it with --delta, and --sigma if you have a guess")
    else:
        experiment = Experiment(delta, sigma, power, test, minimum, step)
    _refuse_without_scores(scores, "measures", "transpose", "name", "force", "runs")
    step_now = next_step(experiment, pair_of(_read(scores, measures, transpose, name, force), runs) if scores else None)
    write_experiment(plan_path, step_now.experiment)
    # CSV holds one table: the looks. The verdict of the test stands in the notes and in the other formats.
    tables = [step_now.table()] if out.format == "csv" else step_now.tables()
    out.write(*tables, of=step_now)


@command.command()
@scores_input
@click.option("--pairs", type=click.IntRange(min=1), default=25, show_default=True, help="Random pairs of runs.")
@click.option("--target", type=click.IntRange(min=3), default=100, show_default=True, help="Topics planned for.")
@click.option("--minimum", type=int, default=30, show_default=True, help="Topics before the first look.")
@click.option("--step", type=click.IntRange(min=1), default=1, show_default=True, help="Topics between looks.")
@click.option("--samples", type=click.IntRange(min=1), default=1000, show_default=True, help="Experiments per pair.")
@power_option
@planned_test
@seed_option
@jobs_option
@output_and_figure_options
def bias(
    matrices: list[ScoreMatrix], pairs: int, target: int, minimum: int, step: int, samples: int, power: float,
    test: TTest, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """What looking at the scores costs.

    σ and false positives of experiments that stop on power, or on significance, by simulation.
    """
    from assay.plan import stopping_bias

    with out.progress("simulating experiments") as progress:
        found = stopping_bias(
            one_matrix(matrices), pairs=pairs, target=target, minimum=minimum, step=step, samples=samples,
            power=power, test=test, seed=seed, jobs=jobs, progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@runs_argument
@click.option("--qrels", "qrels_path", type=FILE, required=True, help="Judgments: topic 0 doc grade, or irds:ID.")
@click.option("--depths", default="2,5,10,20,50,100", show_default=True, help="Depths to compare.")
@click.option("--budget", type=click.IntRange(min=1), default=5000, show_default=True, help="Judgments to spend.")
@click.option("--start-up", type=float, default=0, show_default=True, help="Cost of starting a topic, in judgments.")
@click.option("--pairs", type=click.IntRange(min=1), default=1000, show_default=True, help="Random pairs of runs.")
@click.option("--rel", type=float, default=1, show_default=True, help="Lowest relevant grade.")
@power_option
@planned_test
@seed_option
@output_and_figure_options
def depth(
    runs: tuple[Path, ...], qrels_path: Path, depths: str, budget: int, start_up: float, pairs: int, rel: float,
    power: float, test: TTest, seed: int, out: Output,
) -> None:  # fmt: skip
    """Judge deep or broad?

    Few topics judged deep or many judged shallow, for the same number of judgments.

    \b
    assay plan depth --qrels qrels.txt run1 run2 run3
    """
    from assay.plan import depth as depth_tradeoff

    with out.progress("pairs of runs") as progress:
        found = depth_tradeoff(
            load_runs(runs), load_qrels(qrels_path), depths=numbers(depths), budget=budget, start_up=start_up,
            pairs=pairs, rel=rel, power=power, test=test, seed=seed, progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


def _refuse_without_scores(scores: Scores, *options: str) -> None:
    """An error where an option that says how to read score files is given without any."""
    written = {str(p.name): p.opts[-1] for p in click.get_current_context().command.params}
    given = [written[name] for name in options if is_given(name)]
    if given and not scores:
        raise UsageError(f"{', '.join(given)} has no effect without score files; leave it out")


def _read(
    scores: Scores, measures: str | None, transpose: bool, name: str | None, force: str | None
) -> list[ScoreMatrix]:
    return load_scores(scores, qrels_path=None, measures=measures, transpose=transpose, name=name, force=force)


def pair_of(matrices: list[ScoreMatrix], runs: str | None) -> ScoreMatrix:
    """The two runs of an experiment, in the order named."""
    matrix = one_matrix(matrices)
    names = [r.strip() for r in runs.split(",")] if runs else list(matrix.runs)
    if len(names) != 2:
        raise UsageError(f"{len(names)} runs; an experiment compares two, name them with --runs NEW,OLD")
    return matrix.select(runs=names)


# The commands of this group that stand in another file are added when that file is imported.
from assay.cli import plan_drawn as plan_drawn  # noqa: E402
from assay.cli import plan_labels as plan_labels  # noqa: E402
