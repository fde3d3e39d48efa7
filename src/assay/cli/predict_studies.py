"""assay predict, the methods themselves: do they agree, which is best over collections, are the same topics hard?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.columns import column_option
from assay.cli.commands import KnownWord, RegistryOption
from assay.cli.inputs import (
    FILE,
    load_qrels,
    load_runs,
    load_scores,
    measures_option,
    name_option,
    one_matrix,
    transpose_option,
)
from assay.cli.modes import is_given
from assay.cli.options import Output, jobs_option, output_and_figure_options, seed_option
from assay.cli.predict import (
    command,
    common_options,
    depth_option,
    level_option,
    measure_option,
    method_option,
    predicted_ranking,
)
from assay.cli.run_info import info_options
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.nojudgments.learn import Collection

collections_option = click.option(
    "--collection", "collections", multiple=True, required=True, nargs=3, metavar="NAME QRELS RUNS",
    type=(str, FILE, click.Path(path_type=Path)), help="A name, judgments and a folder of runs; repeatable.",
)  # fmt: skip
measure_of_option = click.option(
    "--measure-of", "own_measures", multiple=True, nargs=2, metavar="NAME MEASURE", type=(str, str),
    help="Another measure for one collection, e.g. dl19 'AP(rel=2)'; repeatable.",
)  # fmt: skip
statistic_option = click.option(
    "--statistic", type=KnownWord("assay.nojudgments.over_collections:STATISTICS"), default="tau", show_default=True,
    help="Measure of accuracy. Of the error, which is that of --level cells, less is better.",
)  # fmt: skip


@command.command()
@common_options
@level_option
@click.option(
    "--correlation", cls=RegistryOption, registry="assay.rankings:CORRELATIONS", default="pearson", show_default=True,
    metavar="NAME", help="One of: {names}.",
)  # fmt: skip
@output_and_figure_options
def agreement(
    runs: Sequence[Path], methods: Sequence[str], level: str, correlation: str, depth: int, seed: int, jobs: int,
    out: Output,
) -> None:  # fmt: skip
    """Show how far the methods agree with each other.

    Methods that are good and disagree are worth combining. --figure draws a map.

    \b
    Example: assay predict agreement runs/ --level cells --figure map.svg
    """
    result = predicted_ranking(out, runs, methods, depth=depth, seed=seed, jobs=jobs)
    found = result.agreement(level, correlation)
    out.write(found.table(), of=found)


@command.command()
@collections_option
@info_options
@method_option
@click.option(
    "--combine", "fusions", multiple=True, cls=RegistryOption, registry="assay.nojudgments.combine:FUSIONS",
    default=("average",), show_default=True, help="Combinations to show beside the methods; repeatable. Of: {names}.",
)  # fmt: skip
@measure_option
@measure_of_option
@statistic_option
@level_option
@click.option(
    "--test", cls=RegistryOption, registry="assay.stats.paired:TESTS", default="wilcoxon(exact=true)",
    show_default=True, metavar="NAME", help="Paired test between methods, collections as the units. One of: {names}.",
)  # fmt: skip
@click.option(
    "--correction", cls=RegistryOption, registry="assay.stats.multiple:CORRECTIONS", default="bonferroni",
    show_default=True, metavar="NAME", help="Correction over all pairs. One of: {names}.",
)  # fmt: skip
@click.option("--tests", "show_tests", is_flag=True, help="Show the tests of all pairs instead of the accuracy.")
@click.option(
    "--boxes", type=KnownWord("assay.nojudgments.over_collections:BOXES"), default="method", show_default=True,
    help="With --figure: a box plot for each method, over collections, or for each collection, over methods.",
)  # fmt: skip
@depth_option
@seed_option
@jobs_option
@output_and_figure_options
def compare(
    collections: Sequence[tuple[str, Path, Path]], methods: Sequence[str], fusions: Sequence[str], measure: str,
    own_measures: Sequence[tuple[str, str]], statistic: str, level: str, test: str, correction: str, show_tests: bool,
    boxes: str, depth: int, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Compare all methods over several judged collections.

    The oracle is the method that is best on each collection, which nobody knows beforehand. --figure draws box plots.

    \b
    Example: assay predict compare --collection dl19 dl19/qrels.txt dl19/runs --collection dl21 dl21/qrels.txt dl21/runs
    """
    from assay.nojudgments.over_collections import methods_compared

    if is_given("boxes") and out.figure is None:
        raise UsageError("--boxes says what the figure shows; give --figure")
    if show_tests and len(collections) < 2:
        raise UsageError("tests between methods need two collections or more; give another, or leave out --tests")
    judged = _judged(collections, list(methods), measure, own_measures, depth=depth, seed=seed, jobs=jobs)
    found = methods_compared(
        judged, statistic=statistic, level=level, fusions=fusions, test=test, correction=correction
    )
    drawn = None
    if out.figure is not None:
        drawn = found.figure(by=boxes)
    out.write(found.tests() if show_tests else found.table(), of=found, drawn=drawn)


@command.command()
@collections_option
@info_options
@method_option
@click.option(
    "--model", cls=RegistryOption, registry="assay.nojudgments.regressors:MODELS", default="svr", show_default=True,
    help="Model to train, one of: {names}.",
)  # fmt: skip
@click.option(
    "--adaptation", cls=RegistryOption, registry="assay.nojudgments.adaptation:ADAPTATIONS", default="none",
    show_default=True, help="How features of two collections are made alike first: {names}.",
)  # fmt: skip
@measure_option
@measure_of_option
@statistic_option
@level_option
@depth_option
@seed_option
@jobs_option
@output_and_figure_options
def transfer(
    collections: Sequence[tuple[str, Path, Path]], methods: Sequence[str], model: str, adaptation: str,
    measure: str, own_measures: Sequence[tuple[str, str]], statistic: str, level: str, depth: int, seed: int, jobs: int,
    out: Output,
) -> None:  # fmt: skip
    """Train a model on each collection and test it on the others.

    The last rows are a model trained on all other collections, and the plain mean of the methods, which needs no
    training. --figure draws a map.

    \b
    Example: assay predict transfer --collection a a/qrels.txt a/runs --collection b b/qrels.txt b/runs --model ridge
    """
    from assay.nojudgments.between_collections import transfer as study
    from assay.nojudgments.predictors import METHODS
    from assay.nojudgments.ranking import taken

    features = list(methods) or taken(METHODS.names())
    judged = _judged(collections, features, measure, own_measures, depth=depth, seed=seed, jobs=jobs)
    with out.progress("training") as progress:
        found = study(
            judged, model, adaptation=adaptation, statistic=statistic, level=level, seed=seed, progress=progress
        )
    out.write(found.table(), of=found)


@command.command()
@click.argument("first", type=FILE)
@column_option
@click.argument("second", type=FILE)
@info_options
@measures_option
@transpose_option
@name_option
@click.option("--geometric", is_flag=True, help="Geometric means over runs (GAAP), which weigh runs that fail.")
@output_and_figure_options
def ease(
    first: Path, second: Path, measures: str | None, transpose: bool, name: str | None, geometric: bool, out: Output
) -> None:
    """Compare the ease of topics in two score tables.

    The ease of a topic is its mean over runs. The tables may have different runs; topics that only one of them has are
    left out. A table may hold predicted scores, saved with `assay predict --save`.

    \b
    Example: assay predict ease trec8.csv robust2004.csv --measure AP
    """
    from assay.io.files import file_stem
    from assay.nojudgments.ease import ease_comparison

    tables = []
    for path in (first, second):
        scores = load_scores([path], qrels_path=None, measures=measures, transpose=transpose, name=name)
        tables.append(one_matrix(scores))
    names = (file_stem(first), file_stem(second))
    if names[0] == names[1]:
        names = (str(first), str(second))
    found = ease_comparison(tables[0], tables[1], geometric=geometric, names=names)
    out.write(found.table(), of=found)


def _judged(
    collections: Sequence[tuple[str, Path, Path]],
    methods: Sequence[str],
    measure: str,
    own_measures: Sequence[tuple[str, str]],
    *,
    depth: int,
    seed: int,
    jobs: int,
) -> list[Collection]:
    """The collections with their predictions and true scores; all methods where none is named."""
    from assay.nojudgments.learn import judged_collection
    from assay.nojudgments.predictors import METHODS

    known = [name for name, _, _ in collections]
    for name, _ in own_measures:
        if name not in known:
            raise UsageError(f"--measure-of {name}: no such collection; the collections are: {', '.join(known)}")
    measures = dict(own_measures)
    names = list(methods) or METHODS.names()
    judged = []
    for name, qrels, runs in collections:
        collection = judged_collection(
            name,
            0,
            load_runs([runs], jobs=jobs),
            load_qrels(qrels),
            names,
            measure=measures.get(name, measure),
            depth=depth,
            seed=seed,
            jobs=jobs,
        )
        judged.append(collection)
    return judged
