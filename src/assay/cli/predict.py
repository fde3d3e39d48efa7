"""`assay predict`: which run is best without judgments? With judgments also how good the prediction was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.commands import TARGET, Group, KnownWord, RegistryOption
from assay.cli.inputs import (
    FILE,
    load_qrels,
    load_runs,
    numbers,
    one_measure,
    preferences_option,
    runs_argument,
)
from assay.cli.modes import is_given, refuse_others
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.cli.run_info import by_option, groups_by
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.nojudgments.ranking import RunRanking

C = TypeVar("C", bound=Callable[..., Any])

method_option = click.option(
    "--method", "methods", multiple=True, cls=RegistryOption, registry="assay.nojudgments.predictors:METHODS",
    help="Only this method; repeatable, parameters in brackets: 'soboroff(duplicates=true)'. One of: {names}.",
)  # fmt: skip
combine_option = click.option(
    "--combine", cls=RegistryOption, registry="assay.nojudgments.combine:FUSIONS", default="average",
    show_default=True, help="How the methods are combined. One of: {names}.",
)  # fmt: skip
truth_option = click.option(
    "--qrels", "qrels_path", type=FILE, required=True, help="Judgments: topic 0 doc grade, or irds:ID."
)
measure_option = one_measure("Measure of the true ranking, e.g. 'AP(rel=2)'.", "AP")
level_option = click.option(
    "--level", type=KnownWord("assay.nojudgments.against_truth:LEVELS"), default="runs", show_default=True,
    help="Means of runs, means of topics, or every run on every topic.",
)  # fmt: skip
depth_option = click.option(
    "--depth", type=click.IntRange(min=1), default=1000, show_default=True, help="Docs of each list to use."
)


def common_options(command: C) -> C:
    """RUNS, --method, --depth, --seed and --jobs, which all predictions share."""
    for option in (jobs_option, seed_option, depth_option, method_option, runs_argument):
        command = option(command)
    return command


def group_options(command: C) -> C:
    """--by and --per-group: one run of each group instead of all."""
    which = click.option(
        "--per-group", type=KnownWord("assay.nojudgments.representatives:REPRESENTATIVES"),
        help="With --by: the first run of each group, one at random, or the best by the true measure (a study: needs "
        "--qrels).  [default: first]",
    )  # fmt: skip
    return by_option("Use one run of each group, by a column of --info, e.g. team.")(which(command))


def table_options(command: C) -> C:
    """What the tables of ranked runs share."""
    options = [
        click.option("--manual", multiple=True, metavar="RUN", help="A run made with a person's help; repeatable."),
        click.option("--manual-list", type=FILE, help="A file with the names of the manual runs, one per line."),
        click.option("--ranks", is_flag=True, help="Show the rank by every method, even if they are many."),
        click.option(
            "--save",
            type=TARGET,
            help="Write the scores of each method and of the combination (runs × topics) to this file.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.group(cls=Group, default="rank")
def command() -> None:
    """Rank runs without judgments.

    RUNS are run files of one collection, or folders of them. Each method scores a run by what the other runs
    retrieved. Without a command below: `rank`.

    \b
    assay predict runs/
    assay predict runs/ --method emap --method 'soboroff(duplicates=true)'
    assay predict accuracy runs/ --qrels qrels.txt -m nDCG@10
    assay predict learn runs/ --year 2021 --earlier dl19 2019 dl19/qrels.txt dl19/runs
    assay predict inject runs/ --qrels qrels.txt --choice P1 --choice P3 --sizes 5,10,20
    assay predict reweight runs/ --qrels qrels.txt
    """


@command.command()
@common_options
@combine_option
@click.option(
    "--judged", type=FILE,
    help="Judgments of some topics: on these, true scores replace the predicted ones in the combination.",
)  # fmt: skip
@click.option(
    "--mix", cls=RegistryOption, registry="assay.nojudgments.inject:MIXTURES", metavar="NAME",
    help="With --judged: what predicted scores become beside true ones. One of: {names}.  [default: weighted]",
)  # fmt: skip
@click.option("--qrels", "qrels_path", type=FILE, help="Judgments, to show the true ranks beside the predicted ones.")
@one_measure("With --qrels or --judged: the true measure, AP by default.")
@group_options
@table_options
@click.option(
    "--scale", type=KnownWord("assay.nojudgments.predictors:SCALES"),
    help="With --save: the scale of the saved scores.  [default: none]",
)  # fmt: skip
@output_and_figure_options
def rank(
    runs: Sequence[Path], methods: Sequence[str], combine: str, judged: Path | None, mix: str | None,
    qrels_path: Path | None, measure: str | None, by: str | None, per_group: str | None, depth: int,
    manual: Sequence[str], manual_list: Path | None, ranks: bool, save: Path | None, scale: str | None, seed: int,
    jobs: int, out: Output,
) -> None:  # fmt: skip
    """Rank the runs by each method and by their combination.

    \b
    Example: assay predict runs/ --judged few.qrels --manual-list manual.txt
    """
    if measure is not None and qrels_path is None and judged is None:
        raise UsageError("--measures says what is true; give --qrels or --judged")
    if mix is not None and judged is None:
        raise UsageError("--mix is for predicted scores beside true ones; give --judged")
    if scale is not None and save is None:
        raise UsageError("--scale is that of the saved scores; give --save")
    if per_group is not None and by is None:
        raise UsageError("--per-group chooses among the runs of a group; give --by and --info")
    result = predicted_ranking(
        out, runs, methods, combine=combine, judged=None if judged is None else load_qrels(judged), mix=mix,
        qrels=None if qrels_path is None else load_qrels(qrels_path), measure=measure,
        groups=None if by is None else groups_by(by), per_group=per_group,
        manual=[*manual, *_names(manual_list)], depth=depth, scale=scale or "none", seed=seed, jobs=jobs,
    )  # fmt: skip
    _show(result, ranks, save, out)


@command.command()
@common_options
@click.option(
    "--earlier", multiple=True, nargs=4, metavar="NAME YEAR QRELS RUNS",
    type=(str, int, FILE, click.Path(path_type=Path)),
    help="A judged collection of an earlier year: a name, its year, judgments, a folder of runs. Repeatable.",
)  # fmt: skip
@click.option("--year", type=int, required=True, help="The year of RUNS: only earlier collections are used to train.")
@click.option(
    "--model", cls=RegistryOption, registry="assay.nojudgments.regressors:MODELS", default="svr", show_default=True,
    help="Model to train, one of: {names}.",
)  # fmt: skip
@click.option("--nearest", type=click.IntRange(min=1), help="Train on the N most similar earlier collections only.")
@click.option("--save-model", "model_file", type=TARGET, help="Write the trained model to this file, as JSON.")
@click.option("--saved", type=FILE, help="Use a model that was saved with --save-model, in place of --earlier.")
@click.option("--qrels", "qrels_path", type=FILE, help="Judgments, to show the true ranks beside the predicted ones.")
@measure_option
@table_options
@output_and_figure_options
def learn(
    runs: Sequence[Path], methods: Sequence[str], earlier: Sequence[tuple[str, int, Path, Path]], year: int, model: str,
    nearest: int | None, model_file: Path | None, saved: Path | None, qrels_path: Path | None, measure: str, depth: int,
    manual: Sequence[str], manual_list: Path | None, ranks: bool, save: Path | None, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Rank the runs by a model trained on earlier, judged collections.

    \b
    Example: assay predict learn runs/ --year 2021 --earlier dl19 2019 dl19/qrels.txt dl19/runs --model ridge
    """
    if bool(earlier) == (saved is not None):
        raise UsageError("give judged collections to train on with --earlier, or a trained model with --saved")
    if saved is not None:
        refuse_others("--saved", {"--earlier": frozenset({"methods", "model", "nearest", "model_file", "measure"})})
    judged = []
    for name, when, known, folder in earlier:
        judged.append((name, when, load_runs([folder], jobs=jobs, filtered=False), load_qrels(known)))
    result = predicted_ranking(
        out, runs, methods, combine=None if saved else model, earlier=judged, year=year, nearest=nearest, saved=saved,
        measure=None if saved else measure, qrels=None if qrels_path is None else load_qrels(qrels_path),
        manual=[*manual, *_names(manual_list)], depth=depth, seed=seed, jobs=jobs,
    )  # fmt: skip
    if model_file is not None:
        result.model().save(model_file)
        out.say(f"trained model written to {model_file}")
    _show(result, ranks, save, out)


@command.command()
@common_options
@combine_option
@truth_option
@measure_option
@level_option
@group_options
@output_and_figure_options
def accuracy(
    runs: Sequence[Path], methods: Sequence[str], combine: str, qrels_path: Path, measure: str, level: str,
    by: str | None, per_group: str | None, depth: int, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Show how well each method and the combination agree with the true scores.

    --figure draws each method against the truth, with a fitted line.

    \b
    Example: assay predict accuracy runs/ --qrels qrels.txt -m 'AP(rel=2)' --level topics
    """
    if per_group is not None and by is None:
        raise UsageError("--per-group chooses among the runs of a group; give --by and --info")
    result = predicted_ranking(
        out, runs, methods, combine=combine, qrels=load_qrels(qrels_path), measure=measure,
        groups=None if by is None else groups_by(by), per_group=per_group, depth=depth, seed=seed, jobs=jobs,
    )  # fmt: skip
    found = result.accuracy(level)
    out.write(found.table(), of=found)


@command.command()
@common_options
@combine_option
@click.option("--qrels", "qrels_path", type=FILE, help="Judgments, to say how well the ease of topics was predicted.")
@one_measure("With --qrels: the true measure, AP by default.")
@click.option("--geometric", is_flag=True, help="Geometric means over runs (GAAP), which weigh runs that fail.")
@click.option("--quarters", is_flag=True, help="With --qrels: the quarters of the topics compared with each other.")
@click.option(
    "--order", type=KnownWord("assay.nojudgments.difficulty:ORDERS"), default="predicted", show_default=True,
    help="With --quarters: quarters of predicted ease, compared by true ease; or of true ease, compared by predicted "
    "ease.",
)  # fmt: skip
@output_and_figure_options
def difficulty(
    runs: Sequence[Path], methods: Sequence[str], combine: str, qrels_path: Path | None, measure: str | None,
    geometric: bool, quarters: bool, order: str, depth: int, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Show which topics are hard, by the combination of the methods.

    \b
    Example: assay predict difficulty runs/ --qrels qrels.txt
    """
    from assay.nojudgments.difficulty import Difficulty

    if qrels_path is None and (measure is not None or quarters):
        raise UsageError("--measures and --quarters compare with the truth; give --qrels")
    if is_given("order") and not quarters:
        raise UsageError("--order says what the quarters are of; give --quarters")
    qrels = None if qrels_path is None else load_qrels(qrels_path)
    result = predicted_ranking(
        out, runs, methods, combine=combine, qrels=qrels, measure=measure, depth=depth, seed=seed, jobs=jobs
    )
    found = result.difficulty(geometric=geometric, by=order)
    if not quarters or not isinstance(found, Difficulty):
        out.write(found.table(), of=found)
        return
    drawn = None if out.figure is None else found.figure(quarters=True)
    out.write(found.quarters(), of=found, drawn=drawn)


@command.command()
@common_options
@combine_option
@truth_option
@measure_option
@click.option(
    "--choice", "choices", multiple=True, cls=RegistryOption, registry="assay.nojudgments.inject:CHOICES",
    default=("P1",), show_default=True,
    help="How the topics to judge are chosen: by chance (P1), from predictions (P2 to P4) or, as a bound, knowing the "
    "truth (T1 to T5). Repeatable. Of: {names}.",
)  # fmt: skip
@click.option(
    "--mix", cls=RegistryOption, registry="assay.nojudgments.inject:MIXTURES", metavar="NAME", default="plain",
    show_default=True, help="What predicted scores become beside true ones. One of: {names}.",
)  # fmt: skip
@click.option("--sizes", metavar="LIST", help="Numbers of judged topics, e.g. 5,10,20.")
@click.option("--repetitions", "-r", type=click.IntRange(min=1), default=100, show_default=True,
              help="Repetitions of choices that are partly random.")  # fmt: skip
@output_and_figure_options
def inject(
    runs: Sequence[Path], methods: Sequence[str], combine: str, qrels_path: Path, measure: str, choices: Sequence[str],
    mix: str, sizes: str | None, repetitions: int, depth: int, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Show how τ with the true ranking grows if more and more topics are judged.

    \b
    Example: assay predict inject runs/ --qrels qrels.txt --choice P1 --choice P3 --sizes 5,10,20
    """
    from assay.nojudgments import injection

    result = predicted_ranking(
        out, runs, methods, combine=combine, qrels=load_qrels(qrels_path), measure=measure, depth=depth, seed=seed,
        jobs=jobs,
    )  # fmt: skip
    chosen = numbers(sizes) if sizes else None
    with out.progress("judging topics") as progress:
        found = [
            injection(
                result.by_topic(), result.true_scores(), choice, sizes=chosen, repetitions=repetitions, mix=mix,
                seed=seed, progress=progress,
            )
            for choice in choices
        ]  # fmt: skip
    out.write(*(f.table() for f in found), of=found)


@command.command()
@runs_argument
@truth_option
@measure_option
@preferences_option
@output_and_figure_options
def calibration(runs: Sequence[Path], qrels_path: Path, measure: str, preferences: str, out: Output) -> None:
    """Show how well EMAP's probabilities of relevance fit the judgments.

    The measure says what is relevant: its lowest relevant grade and its cutoff (100 docs by default).

    \b
    Example: assay predict calibration runs/ --qrels qrels.txt -m 'AP(rel=2)'
    """
    from assay.nojudgments.expected import emap_calibration

    found = emap_calibration(load_runs(runs), load_qrels(qrels_path), measure, preferences=preferences)
    out.write(found.table(), of=found)


@command.command()
@output_options
def methods(out: Output) -> None:
    """List methods, combinations, models and choices of topics."""
    from assay.nojudgments.catalogue import Catalogue

    out.write(Catalogue().table())


def predicted_ranking(
    out: Output, runs: Sequence[Path], methods: Sequence[str], *, jobs: int, **options: Any
) -> RunRanking:
    """The ranking of the runs of these files."""
    from assay.nojudgments import predict

    loaded = load_runs(runs, jobs=jobs)
    with out.progress("methods") as progress:
        return predict(loaded, list(methods) or None, jobs=jobs, progress=progress, **options)


def _show(result: RunRanking, ranks: bool, save: Path | None, out: Output) -> None:
    """The table of ranked runs, for programs with all ranks; and the predicted scores in a file."""
    if save is not None:
        from assay.io.scores import write_scores

        write_scores(save, result.matrices())
        out.say(f"predicted scores written to {save}")
    out.write(result.table(wide=ranks or out.format in ("csv", "json")), of=result)


def _names(path: Path | None) -> list[str]:
    """The names in a file, one per line."""
    from assay.io.run_files import read_names

    return [] if path is None else read_names(path)


# Commands that live in files of their own join the group when these are imported.
from assay.cli import predict_studies, reweighting  # noqa: E402, F401
