"""assay board: who leads over many collections?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from assay.cli.board_inputs import collections_input
from assay.cli.commands import Group, KnownWord, RegistryOption
from assay.cli.options import Output, output_and_figure_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.board import Board
    from assay.data.scores import ScoreMatrix

C = TypeVar("C", bound=Callable[..., Any])
COUNT = click.IntRange(min=1)

aggregate_option = click.option(
    "--aggregate", type=KnownWord("assay.board.aggregates:AGGREGATES"), default="standardized", show_default=True,
    help="What the systems are ordered by.",
)  # fmt: skip
form_option = click.option(
    "--form", cls=RegistryOption, registry="assay.standard.factors:FORMS", default="cdf", show_default=True,
    metavar="NAME", help="Form of the standardized scores, one of: {names}.",
)  # fmt: skip
level_option = click.option(
    "--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
    help="Level of the intervals.",
)  # fmt: skip
top_option = click.option("--top", type=COUNT, help="Show at most N systems.")


@click.group(cls=Group, default="systems")
def command() -> None:
    """Who leads over many collections?

    One score file for each collection, with the same runs in them; or tables with a column collection; or the
    collections of a store.

    \b
    assay board trec6.csv trec7.csv trec8.csv --top 20 --figure board.png
    assay board --store lab -m nDCG@10
    assay board effects trec6.csv trec7.csv trec8.csv --baseline bm25
    """


def sample_options(command: C) -> C:
    """The options of a board: what orders the systems, and what its sample consists of."""
    options = (
        collections_input,
        aggregate_option,
        form_option,
        click.option(
            "--over", type=KnownWord("assay.board.told_apart:OVER"), default="collections", show_default=True,
            help="What the sample consists of: collections speak of others like these, topics of these collections.",
        ),
        level_option,
        click.option(
            "--resamples", "-B", type=COUNT,
            help="Flips of more than 13 collections.  [default: 9999; 999 for more than 2000 pairs]",
        ),
        seed_option,
    )  # fmt: skip
    wrapped: Any = command
    for option in reversed(options):
        wrapped = option(wrapped)
    return cast("C", wrapped)


@command.command()
@sample_options
@top_option
@click.option("--intervals", is_flag=True, help="Instead of the board, a row for each system and aggregate.")
@click.option("--map", "as_map", is_flag=True, help="--figure is the map of systems and collections.")
@output_and_figure_options
def systems(
    collections: dict[str, ScoreMatrix], top: int | None, intervals: bool, as_map: bool, out: Output, **options: Any
) -> None:
    """Systems by five aggregates, and what can be told apart (the default).

    Mean, standardized mean, Borda, mean rank and win probability side by side, with intervals, ranks that each system
    may have, and letters. With collections as the sample there are none for two collections, and none for ranks on up
    to five; topics as the sample speak of these collections alone.

    \b
    assay board trec6.csv trec7.csv trec8.csv
    assay board robust.csv --part trec6=301-350 --part trec7=351-400 --over topics
    """
    if as_map and out.figure is None:
        raise UsageError("--map says what the figure shows; name its file with --figure")
    result = _board(collections, options)
    if top is not None:
        result = result.best(top)
    table = result.intervals() if intervals else result.table()
    drawn = None
    if as_map:
        from assay.report.figures.board import collection_map

        drawn = collection_map(result)
    out.write(table, of=result, drawn=drawn)
    out.say(result.verdict)


@command.command()
@sample_options
@output_and_figure_options
def conclusions(collections: dict[str, ScoreMatrix], out: Output, **options: Any) -> None:
    """Which conclusions survive all aggregates?

    For each aggregate who is first, how many systems cannot be told apart from it, and how many pairs are
    significantly different; then what all of them agree on.

    \b
    assay board conclusions trec6.csv trec7.csv trec8.csv
    """
    result = _board(collections, options)
    out.write(result.conclusions(), of=result)
    out.say(result.verdict)


def _board(collections: dict[str, ScoreMatrix], options: dict[str, Any]) -> Board:
    """The board; an error if nothing is drawn, and a number of draws or a seed is given."""
    from assay.board import board
    from assay.cli.modes import is_given

    result = board(collections, **options)
    for name, option in (("resamples", "-B"), ("seed", "--seed")):
        if is_given(name) and not result.draws:
            raise UsageError(f"{option} has no effect: {result.leading.pairs.how}; leave it out")
    return result


@command.command()
@collections_input
@click.option("--baseline", required=True, metavar="RUN", help="The system that all others are compared with.")
@click.option("--system", metavar="RUN", help="Show this system on every collection, as a forest plot.")
@click.option("--standardized", is_flag=True, help="Differences of standardized scores.")
@click.option(
    "--form", cls=RegistryOption, registry="assay.standard.factors:FORMS", default="cdf", show_default=True,
    metavar="NAME", help="With --standardized: form of the scores, one of: {names}.",
)  # fmt: skip
@click.option(
    "--interval", type=KnownWord("assay.board.meta_analysis:INTERVALS"), default="hartung-knapp", show_default=True,
    help="Interval of the mean difference.",
)  # fmt: skip
@level_option
@top_option
@output_and_figure_options
def effects(
    collections: dict[str, ScoreMatrix],
    common: str,
    baseline: str,
    system: str | None,
    standardized: bool,
    form: str,
    interval: str,
    level: float,
    top: int | None,
    out: Output,
) -> None:
    """How much better than a baseline, here and on a new collection?

    Random-effects mean of the paired differences over collections, how much the true difference varies between them
    (τ), and a prediction interval.

    \b
    assay board effects trec6.csv trec7.csv trec8.csv --baseline bm25 --system dense --figure forest.png
    """
    from assay.board import random_effects
    from assay.cli.modes import is_given

    if is_given("form") and not standardized:
        raise UsageError("--form is that of standardized scores; give --standardized as well")
    if system is not None and top is not None:
        raise UsageError("--top limits the rows of all systems, and --system shows one; give one of them")
    result = random_effects(
        collections, baseline, standardized=standardized, form=form, interval=interval, common=common, level=level
    )
    if system is not None:
        result = result.of(system)
    elif top is not None:
        result = result.best(top)
    out.write(result.table(), of=result)


@command.command("leave-out")
@collections_input
@aggregate_option
@form_option
@output_and_figure_options
def leave_out(collections: dict[str, ScoreMatrix], common: str, aggregate: str, form: str, out: Output) -> None:
    """Which collections decide the order?

    The order of the systems without each collection in turn, compared with that by all.
    """
    from assay.board import leave_one_out

    result = leave_one_out(collections, aggregate=aggregate, common=common, form=form)
    out.write(result.table(), of=result)


@command.command()
@collections_input
@aggregate_option
@form_option
@seed_option
@output_and_figure_options
def subsets(
    collections: dict[str, ScoreMatrix], common: str, aggregate: str, form: str, seed: int, out: Output
) -> None:
    """Which collections would do?

    For every number of collections the subset that ranks the systems most as all of them do, and the worst one.
    """
    from assay.board import best_collections

    with out.progress("searching") as progress:
        result = best_collections(
            collections, aggregate=aggregate, common=common, form=form, seed=seed, progress=progress
        )
    out.write(result.table(), of=result)
