"""assay plan: how many topics, how deep?"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.commands import Group
from assay.cli.inputs import FILE, load_qrels, load_runs, load_scores, numbers, one_matrix, runs_argument, scores_input
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.plan.audit import Audit, OneSigma
    from assay.plan.power import TTest

C = TypeVar("C", bound=Callable[..., Any])
Scores = tuple[Path, ...]
PAIRED_VARIANCE = (
    "The variance of paired differences is taken as twice that of scores, as if two runs had nothing in common; pairs "
    "of real runs need fewer topics, see `assay plan audit`."
)
FIXED = ("delta", "sigma", "power", "alpha", "one_sided", "normal", "minimum", "step")
"""Options of a planned experiment that hold from its start to its end."""

power_option = click.option("--power", type=float, default=0.8, show_default=True, help="Wanted power, 1 − β.")
delta_option = click.option("--delta", type=float, required=True, help="Smallest difference worth finding.")
some_scores = click.argument("scores", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
measure_option = click.option("-m", "--measure", help="The measure, where a score file has several.")
transpose_option = click.option("--transpose", is_flag=True, help="Score matrices have one row per topic.")


def planned_test(command: C) -> C:
    """--alpha, --one-sided, --normal; the command gets them as one TTest named `test`."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        from assay.plan.power import TTest

        sides = 1 if kwargs.pop("one_sided") else 2
        design = "two-sample" if kwargs.pop("two_sample", False) else "paired"
        law = "normal" if kwargs.pop("normal") else "t"
        return command(*args, test=TTest(kwargs.pop("alpha"), sides, design, law), **kwargs)

    wrapped: Any = run
    for option in (
        click.option("--normal", is_flag=True, help="Normal approximation instead of the noncentral t law."),
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
@click.option("--power", type=float, help="Power, 1 − β; .8 where it is needed and not given.")
@click.option("--delta", type=float, help="True difference of the means.")
@click.option("--sigma", type=float, help="Standard deviation of the differences per topic.")
@click.option("--effect", type=float, help="Effect size δ/σ, instead of --delta and --sigma.")
@designed_test
@output_options
def power(
    topics: float | None, power: float | None, delta: float | None, sigma: float | None, effect: float | None,
    test: TTest, out: Output,
) -> None:  # fmt: skip
    """Power, topics, difference or σ, from the rest.

    Whichever of topics, power, detectable difference and bearable σ is missing.

    \b
    assay plan power --delta 0.03 --sigma 0.13             topics needed
    assay plan power --topics 50 --sigma 0.16              detectable difference
    assay plan power --topics 50 --delta 0.05 --sigma 0.16 power
    """
    from assay.plan.power import power_plan

    out.write(power_plan(topics=topics, power=power, delta=delta, sigma=sigma, effect=effect, test=test).table())


@command.command()
@click.option("--topics", default="25,50,75,100,150,200,250", show_default=True, help="Numbers of topics.")
@click.option("--sigma", "sigmas", type=float, multiple=True, required=True, help="σ of differences; may be repeated.")
@click.option("--delta", type=float, help="Also the power to find this difference.")
@power_option
@designed_test
@output_and_figure_options
def curve(topics: str, sigmas: tuple[float, ...], delta: float | None, power: float, test: TTest, out: Output) -> None:
    """Detectable difference over numbers of topics.

    With --delta also the power to find it.

    \b
    assay plan curve --sigma 0.13 --sigma 0.19 --topics 50,100,150,200
    """
    from assay.plan.power import power_curve

    found = power_curve(numbers(topics), sigmas=sigmas, delta=delta, power=power, test=test)
    out.write(found.table(), of=found)


@command.command()
@some_scores
@measure_option
@transpose_option
@click.option("--variance", type=float, help="Variance of the scores of a run; estimated from SCORES if not given.")
@click.option("--best", type=click.IntRange(min=1), help="Estimate it on the best runs only.")
@click.option("--difference", type=float, default=0.05, show_default=True, help="Difference, range or width wanted.")
@click.option("--runs", type=click.IntRange(min=2), default=10, show_default=True, help="Runs of the ANOVA design.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level.")
@power_option
@output_options
def topics(
    scores: Scores, measure: str | None, transpose: bool, variance: float | None, best: int | None, difference: float,
    runs: int, alpha: float, power: float, out: Output,
) -> None:  # fmt: skip
    """Topics for a new collection (Sakai's designs).

    By the t test, by ANOVA and by the width of an interval, exact and by his approximation.
    Several score files are several earlier collections; their variances are pooled.

    \b
    assay plan topics earlier.csv --difference 0.1 --runs 20
    """
    from assay.plan.power import positive
    from assay.plan.sizes import score_variance, sizes_table, topics_by_anova, topics_by_interval, topics_by_t

    if (variance is None) == (not scores):
        raise UsageError("give --variance, or score files to estimate it from")
    earlier = _read(scores, measure, transpose)
    if len(earlier) > len(scores):
        raise UsageError(f"a file has several measures ({', '.join(m.measure for m in earlier)}); choose one with -m")
    found = positive("variance", score_variance(*earlier, runs=best) if variance is None else variance)
    sizes = [
        topics_by_t(difference, variance=2 * found, alpha=alpha, power=power),
        topics_by_t(difference, variance=found, alpha=alpha, power=power, design="two-sample"),
        topics_by_anova(difference, runs=runs, variance=found, alpha=alpha, power=power),
        topics_by_interval(difference, variance=2 * found, alpha=alpha),
        topics_by_interval(difference, variance=found, alpha=alpha, design="two-sample"),
    ]
    out.write(sizes_table(sizes, remarks=[PAIRED_VARIANCE]))


@command.command()
@scores_input
@power_option
@planned_test
@click.option(
    "--weights", type=click.Choice(["baselines", "pairs"]), default="baselines", show_default=True,
    help="Every baseline counts the same, or every pair does.",
)  # fmt: skip
@click.option("--one-sigma", "samples", type=click.IntRange(min=0), default=0, help="Samples to test for one σ.")
@seed_option
@jobs_option
@output_and_figure_options
def audit(
    matrices: list[ScoreMatrix], power: float, test: TTest, weights: str, samples: int, seed: int, jobs: int,
    out: Output,
) -> None:  # fmt: skip
    """What this collection can find.

    σ of all pairs of runs, detectable differences, baselines against better runs.

    \b
    assay plan audit trec8.csv --one-sigma 1000
    """
    from assay.plan.audit import audit as audit_of
    from assay.plan.audit import one_sigma

    found: list[Audit | OneSigma] = [audit_of(m, power=power, weights=weights, test=test) for m in matrices]
    if samples:
        with out.progress("resampling") as progress:
            found += [one_sigma(m, samples=samples, seed=seed, jobs=jobs, progress=progress) for m in matrices]
    out.write(*(f.table() for f in found), of=found)


@command.command()
@some_scores
@measure_option
@transpose_option
@click.option("--runs", help="The two runs of the trial, as A,B, where the score file has more.")
@click.option("--sigma", type=float, help="σ expected, or seen in the trial.")
@click.option("--topics", type=int, help="Topics of the trial; without it the best size is sought.")
@delta_option
@click.option("--confidence", type=float, default=0.95, show_default=True, help="That power is reached.")
@click.option("--exact", is_flag=True, help="Limit of σ by χ² instead of the thesis's normal one, which is a bit low.")
@power_option
@planned_test
@output_and_figure_options
def trial(
    scores: Scores, measure: str | None, transpose: bool, runs: str | None, sigma: float | None, topics: int | None,
    delta: float, confidence: float, exact: bool, power: float, test: TTest, out: Output,
) -> None:  # fmt: skip
    """From a trial to the main experiment.

    Topics with an inflated σ, or the best size of a trial.

    \b
    assay plan trial --sigma 0.15 --delta 0.033             how large a trial?
    assay plan trial --sigma 0.15 --topics 40 --delta 0.033 after it, how many topics?
    assay plan trial trial.csv --runs new,old --delta 0.033 the same from its scores
    """
    from assay.plan.trial import best_trial, trial_plan, trial_sigma

    if (sigma is None) == (not scores):
        raise UsageError("give --sigma, or the scores of the two runs in the trial")
    seen = sigma or 0.0
    if scores:
        pair = _pair(_read(scores, measure, transpose), runs)
        seen, topics = trial_sigma(pair), pair.shape[1]
    asked: dict[str, Any] = {"delta": delta, "power": power, "confidence": confidence, "exact": exact, "test": test}
    found = best_trial(seen, **asked) if topics is None else trial_plan(seen, topics, **asked)
    out.write(found.table(), of=found)


@command.command(name="next")
@some_scores
@measure_option
@transpose_option
@click.option("--plan", "plan_path", type=FILE, required=True, help="File of the experiment; made if it is not there.")
@click.option("--runs", help="The two runs, as NEW,OLD, where the score file has more.")
@click.option("--delta", type=float, help="Difference worth finding; needed to start, fixed afterwards.")
@click.option("--sigma", type=float, help="Best guess of σ, to start with.")
@click.option("--minimum", type=int, default=30, show_default=True, help="Topics before the first look.")
@click.option("--step", type=int, help="Topics between looks; by default as many as σ so far asks for.")
@power_option
@planned_test
@output_options
def next_(
    scores: Scores, measure: str | None, transpose: bool, plan_path: Path, runs: str | None, delta: float | None,
    sigma: float | None, minimum: int, step: int | None, power: float, test: TTest, out: Output,
) -> None:  # fmt: skip
    """What to do next, judging in steps.

    Stops on power, never on significance; keeps the looks in a file.

    \b
    assay plan next --plan exp.json --delta 0.04 --sigma 0.14      start: how many topics first?
    assay plan next --plan exp.json scores-so-far.csv --runs a,b   look, and what to do now
    """
    from assay.plan.sequential import Experiment, next_step, read_experiment, write_experiment

    if plan_path.exists():
        given = [f"--{name.replace('_', '-')}" for name in FIXED if _is_given(name)]
        if given:
            raise UsageError(f"{plan_path}: the plan was fixed at the start; leave {', '.join(given)} out")
        experiment = read_experiment(plan_path)
    elif delta is None:
        raise UsageError(f"{plan_path}: no such experiment yet; start it with --delta, and --sigma if you have a guess")
    else:
        experiment = Experiment(delta, sigma, power, test, minimum, step)
    step_now = next_step(experiment, _pair(_read(scores, measure, transpose), runs) if scores else None)
    write_experiment(plan_path, step_now.experiment)
    tables = [step_now.table(), *([step_now.comparison.table()] if step_now.comparison else [])]
    out.write(*tables)


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
    from assay.plan.stopping import stopping_bias

    with out.progress("simulating experiments") as progress:
        found = stopping_bias(
            one_matrix(matrices), pairs=pairs, target=target, minimum=minimum, step=step, samples=samples,
            power=power, test=test, seed=seed, jobs=jobs, progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@runs_argument
@click.option("--qrels", "-q", "qrels_path", type=FILE, required=True, help="Judgments: topic 0 doc grade.")
@click.option("--depths", default="2,5,10,20,50,100", show_default=True, help="Depths to compare.")
@click.option("--budget", type=click.IntRange(min=1), default=5000, show_default=True, help="Judgments to spend.")
@click.option("--pairs", type=click.IntRange(min=1), default=1000, show_default=True, help="Random pairs of runs.")
@click.option("--rel", type=int, default=1, show_default=True, help="Least grade that counts as relevant.")
@power_option
@planned_test
@seed_option
@output_and_figure_options
def depth(
    runs: tuple[Path, ...], qrels_path: Path, depths: str, budget: int, pairs: int, rel: int, power: float,
    test: TTest, seed: int, out: Output,
) -> None:  # fmt: skip
    """Judge deep or broad?

    Few topics judged deep or many judged shallow, for the same number of judgments.

    \b
    assay plan depth --qrels qrels.txt run1 run2 run3
    """
    from assay.plan.depth import depth_tradeoff

    with out.progress("pairs of runs") as progress:
        found = depth_tradeoff(
            load_runs(runs), load_qrels(qrels_path), depths=numbers(depths), budget=budget, pairs=pairs, rel=rel,
            power=power, test=test, seed=seed, progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


def _is_given(name: str) -> bool:
    """Whether the user wrote the option, rather than left it at its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def _read(scores: Scores, measure: str | None, transpose: bool) -> list[ScoreMatrix]:
    return load_scores(scores, qrels_path=None, measures=measure, transpose=transpose)


def _pair(matrices: list[ScoreMatrix], runs: str | None) -> ScoreMatrix:
    """The two runs of an experiment, in the order named."""
    matrix = one_matrix(matrices)
    names = [r.strip() for r in runs.split(",")] if runs else list(matrix.runs)
    if len(names) != 2:
        raise UsageError(f"{len(names)} runs; an experiment compares two, name them with --runs NEW,OLD")
    return matrix.select(runs=names)
