"""assay standardize: are scores comparable between topics and collections?"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.columns import with_columns
from assay.cli.commands import TARGET, Group, KnownWord, RegistryOption, Target
from assay.cli.inputs import (
    FILE,
    force_option,
    measures_option,
    name_option,
    numbers,
    one_matrix,
    scores_input,
    transpose_option,
)
from assay.cli.modes import is_given
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.cli.reference_inputs import (
    collections_of,
    reference_of,
    reference_scores,
    refuse_force_without,
    standardized,
    standardized_by,
)
from assay.cli.run_info import info_options, kept_collections
from assay.cli.standardize_folders import apply_to_folder, fit_folder
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.io.topic_scores import TopicScores

form_option = click.option(
    "--form", cls=RegistryOption, registry="assay.standard.factors:FORMS", default="cdf", show_default=True,
    metavar="NAME", help="One of: {names}; with parameters as in 'U(A=0.2)'. cdf is Φ of z.",
)  # fmt: skip
smoothing_option = click.option(
    "--smoothing", cls=RegistryOption, registry="assay.standard.factors:SMOOTHINGS", metavar="NAME",
    help="For few reference runs, one of: {names}; with parameters as in 'background(weight=0.3)'.",
)  # fmt: skip
factors_option = click.option("--factors", "factors_path", type=FILE, help="Factors of the reference runs, from fit.")
reference_option = click.option(
    "--reference", type=click.Path(path_type=Path, allow_dash=True),
    help="Scores of the reference runs, instead of --factors.",
)  # fmt: skip
align_option = click.option(
    "--align", metavar="RUNS",
    help="Runs that are on every collection, separated by commas: their mean is made the same everywhere.",
)  # fmt: skip
scores_and_force_input = functools.partial(scores_input, keep_force=True)
scores_or_folder_input = functools.partial(scores_input, in_blocks=True)
scores_folder_and_force_input = functools.partial(scores_input, keep_force=True, in_blocks=True, into_folder=True)
files_argument = with_columns(
    click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
)


@click.group(cls=Group)
def command() -> None:
    """Make scores of different topics and collections comparable.

    \b
    Publish a collection with the factors of its runs, then score a new run without the old ones:
      assay standardize fit trec8.csv --save factors.csv
      assay standardize apply mine.csv --factors factors.csv
    """


@command.command()
@scores_or_folder_input
@click.option("--save", type=TARGET, help="Write the factors here: .csv, .tsv, .jsonl or .parquet.")
@click.option("--keep-scores", is_flag=True, help="With --save: also keep the reference scores, which form E needs.")
@click.option(
    "--sd", type=KnownWord("assay.standard.factors:SDS"), default="population", show_default=True,
    help="Divide squares by the number of runs (population), or by one less (sample); --form has the same word.",
)  # fmt: skip
@output_options
def fit(
    matrices: Sequence[ScoreMatrix], folder: TopicScores | None, save: Path | None, keep_scores: bool, sd: str,
    out: Output,
) -> None:  # fmt: skip
    """Factors of reference runs: mean and sd.

    Of every topic over these runs; save them to standardize other runs. Of millions of topics, in a folder that
    `assay score` wrote, the factors are summed up, and saved as Parquet.

    \b
    assay standardize fit trec8.csv --save factors.csv
    assay standardize fit scores/ --save factors.parquet
    """
    from assay.data.scores import joined
    from assay.standard import fit as fitted
    from assay.standard import write_factors

    if keep_scores and save is None:
        raise UsageError("--keep-scores says what the file holds; name the file with --save")
    if folder is not None:
        fit_folder(folder, save, keep_scores, sd, out)
        return
    factors = [fitted(matrix, keep_scores=keep_scores, sd=sd) for matrix in joined(matrices)]
    out.write(*(part.table() for part in factors), of=factors)
    if save is not None:
        write_factors(save, factors)
        out.say(f"factors written to {save}")


@command.command()
@scores_folder_and_force_input
@factors_option
@reference_option
@form_option
@smoothing_option
@align_option
@click.option(
    "--save", type=Target(dir_okay=True, allow_dash=True),
    help="Write the standardized scores here: a table, or a folder of scores where SCORES is one.",
)  # fmt: skip
@output_and_figure_options
def apply(
    matrices: Sequence[ScoreMatrix],
    folder: TopicScores | None,
    factors_path: Path | None,
    reference: Path | None,
    form: str,
    smoothing: str | None,
    align: str | None,
    force: str | None,
    save: Path | None,
    out: Output,
) -> None:
    """Standardize scores by reference runs.

    By --factors, by --reference, or by the runs themselves if neither is given. With --align also moved so that runs
    that are on every collection have the same mean everywhere. A folder of scores that `assay score` wrote is worked
    through block by block into another such folder.

    \b
    assay standardize apply mine.csv --factors factors.csv --form z --save mine-z.csv
    assay standardize apply trec8.csv --align bm25,rm3 --save trec8-aligned.csv
    assay standardize apply scores/ --form z --save scores-z
    """
    from assay.data.scores import joined
    from assay.io.scores import write_scores
    from assay.standard.before_after import Standardized

    if folder is not None:
        apply_to_folder(folder, save, factors_path, reference, form, smoothing, align, force, out)
        return
    if len(matrices) == 1:
        refuse_force_without(force, factors_path, reference)
    if save is not None and save.is_dir():
        raise UsageError(f"{save} is a folder; scores of a table are written to a file, e.g. {save / 'scores.csv'}")
    results = []
    for raw in joined(matrices):
        by = reference_of(raw, factors_path, reference, force)
        results.append(Standardized(raw, standardized(raw, by, form, smoothing, align)))
    out.write(*(result.table() for result in results), of=[result.after for result in results])
    if save is not None:
        write_scores(save, [result.after for result in results])
        out.say(f"scores written to {save}")


def collections_input(command: click.decorators.FC) -> click.decorators.FC:
    """The options of commands that compare collections, one score file each."""
    factors = click.option(
        "--factors", "factors_paths", type=FILE, multiple=True, help="Factors of the collections; repeatable."
    )
    options = (
        files_argument, measures_option, transpose_option, name_option, force_option, info_options, factors,
        form_option, smoothing_option, align_option,
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@command.command()
@collections_input
@click.option(
    "--permutations", type=click.IntRange(min=0), default=1000, show_default=True, help="Permutations; 0: no p."
)
@seed_option
@output_and_figure_options
def compare(
    files: tuple[Path, ...],
    measures: str | None,
    transpose: bool,
    name: str | None,
    force: str | None,
    factors_paths: tuple[Path, ...],
    form: str,
    smoothing: str | None,
    align: str | None,
    permutations: int,
    seed: int,
    out: Output,
) -> None:
    """Put collections side by side.

    One score file each, with the same runs in all of them.
    Raw scores first, then standardized ones (by --factors, or each collection by its own runs).

    \b
    assay standardize compare trec7.csv trec8.csv --factors trec7-factors.csv --factors trec8-factors.csv
    """
    from assay.standard import comparability

    if permutations == 0 and is_given("seed"):
        raise UsageError("--seed is that of the permutations, and there are none; leave it out")
    raw = kept_collections(collections_of(files, measures, transpose, name, force))
    after = standardized_by(raw, factors_paths, form, smoothing, align, name, force)
    with out.progress("permuting") as progress:
        before_and_after = [
            comparability(scores, permutations=permutations, seed=seed, progress=progress) for scores in (raw, after)
        ]
    out.write(*(result.table() for result in before_and_after), of=before_and_after)


@command.command()
@collections_input
@click.option(
    "--splits", type=click.IntRange(min=1), default=2000, show_default=True, help="Random splits into halves."
)
@seed_option
@output_and_figure_options
def errors(
    files: tuple[Path, ...],
    measures: str | None,
    transpose: bool,
    name: str | None,
    force: str | None,
    factors_paths: tuple[Path, ...],
    form: str,
    smoothing: str | None,
    align: str | None,
    splits: int,
    seed: int,
    out: Output,
) -> None:
    """How often do two-sample tests go wrong, raw and standardized?

    Counts runs that seem significantly different from themselves, and differences that are missed, on random halves
    of the topics of all collections together, for raw and for standardized scores; and κ, how far means move between
    the halves.

    \b
    assay standardize errors trec7.csv trec8.csv --splits 2000
    """
    from assay.standard.collections import pooled
    from assay.standard.halves import half_errors

    raw = kept_collections(collections_of(files, measures, transpose, name, force))
    after = standardized_by(raw, factors_paths, form, smoothing, align, name, force)
    with out.progress("splitting") as progress:
        result = half_errors([pooled(raw), pooled(after)], splits=splits, seed=seed, progress=progress)
    out.write(result.table(), of=result)


@command.command()
@scores_input
@click.option("--target", type=float, multiple=True, default=(0.9, 0.95), show_default=True, help="Wanted reliability.")
@output_and_figure_options
def variance(matrices: Sequence[ScoreMatrix], target: tuple[float, ...], out: Output) -> None:
    """Where the spread of scores comes from.

    Components of variance, φ, ρ, Φ, Eρ², and topics for a wanted reliability.

    \b
    assay standardize variance trec8.csv --target 0.95
    """
    from assay.data.scores import joined
    from assay.standard import variance_components

    results = [variance_components(matrix) for matrix in joined(matrices)]
    out.write(*(result.table(target) for result in results), of=results)


@command.command()
@scores_input
@click.option("--total", is_flag=True, help="Correlate with the mean of all topics, including the topic itself.")
@output_and_figure_options
def items(matrices: Sequence[ScoreMatrix], total: bool, out: Output) -> None:
    """Does each topic agree with the others?

    Item-total correlation of every topic, over the runs.
    """
    from assay.data.scores import joined
    from assay.standard import item_total

    results = [item_total(matrix, rest=not total) for matrix in joined(matrices)]
    out.write(*(result.table() for result in results), of=results)


@command.command()
@scores_and_force_input
@click.option("--reference", type=FILE, required=True, help="Scores of the reference runs on the same topics.")
@form_option
@click.option("--sizes", default="2,3,5,10,15,20,30,50", show_default=True, help="Sizes of the reference set.")
@click.option("--samples", type=click.IntRange(min=1), default=2000, show_default=True, help="Random sets per size.")
@seed_option
@jobs_option
@output_and_figure_options
def references(
    matrices: Sequence[ScoreMatrix],
    reference: Path,
    form: str,
    force: str | None,
    sizes: str,
    samples: int,
    seed: int,
    jobs: int,
    out: Output,
) -> None:
    """How many reference runs are enough?

    Small random sets of them, compared with all of them.

    \b
    assay standardize references mine.csv --reference trec8.csv
    """
    from assay.standard import reference_size

    matrix = one_matrix(matrices)
    by = reference_scores(reference, matrix, force)
    with out.progress("sampling reference runs") as progress:
        result = reference_size(
            matrix, by, sizes=numbers(sizes), samples=samples, form=form, seed=seed, jobs=jobs, progress=progress
        )
    out.write(result.table(), of=result)


@command.command()
@scores_and_force_input
@factors_option
@reference_option
@form_option
@output_options
def longevity(
    matrices: Sequence[ScoreMatrix],
    factors_path: Path | None,
    reference: Path | None,
    form: str,
    force: str | None,
    out: Output,
) -> None:
    """Do old factors still work?

    The order of the runs by the factors of earlier runs, compared with that by their own factors.

    \b
    assay standardize longevity mine.csv --reference trec8.csv
    """
    from assay.standard import longevity as kept

    if factors_path is None and reference is None:
        raise UsageError("name the old factors with --factors, or the old runs with --reference")
    results = []
    for matrix in matrices:
        old = reference_of(matrix, factors_path, reference, force)
        assert old is not None
        results.append(kept(matrix, old, form=form))
    out.write(*(result.table() for result in results), of=results)


# A subcommand that lives in a file of its own; it takes options from this one, which must be complete by now.
from assay.cli import standardize_trend as standardize_trend  # noqa: E402
