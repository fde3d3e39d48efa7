"""`assay compare table`: the table of a paper, runs × measures, with marks against baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import RegistryOption
from assay.cli.compare import alpha_option, alternative_option, command, family_option, resamples_option
from assay.cli.inputs import scores_input
from assay.cli.modes import is_given, longest_form
from assay.cli.options import Output, output_options, seed_option
from assay.cli.run_info import by_option, info_for
from assay.core.errors import UsageError
from assay.core.markup import html_page

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix

OF_TESTS = ("marks", "test", "correction", "family", "alternative", "alpha", "weak_alpha", "resamples", "seed")
"""Options that say how marks are made: without a baseline there are none."""


@command.command()
@scores_input
@click.option("--baseline", multiple=True, metavar="RUN", help="Mark differences from this run; repeatable.")
@click.option(
    "--marks", cls=RegistryOption, registry="assay.stats.paper_tables:MARKS", default="daggers", show_default=True,
    metavar="NAME", help="Kind of marks, one of: {names}.",
)  # fmt: skip
@click.option(
    "--test", cls=RegistryOption, registry="assay.stats.paired:TESTS", default="t", show_default=True, metavar="NAME",
    help="One of: {names}. Parameters in brackets: 'sign(min_difference=0.01)'.",
)  # fmt: skip
@family_option
@click.option(
    "--family", cls=RegistryOption, registry="assay.stats.marked_tests:FAMILIES", default="table", show_default=True,
    metavar="NAME", help="Correct p over all comparisons of the table, or over those of each measure: {names}.",
)  # fmt: skip
@alternative_option
@alpha_option
@click.option(
    "--weak-alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="With --marks arrows: also mark differences at this weaker level, by open triangles.",
)  # fmt: skip
@resamples_option
@seed_option
@click.option(
    "--group", "groups", multiple=True, metavar="TITLE=RUNS", help="Rows under a title, e.g. 'sparse=bm25,ql'."
)
@by_option("Rows grouped by a column of --info.")
@click.option("--best-first", is_flag=True, help="Sort rows by the first measure.  [default: as given]")
@click.option("--bold/--no-bold", default=True, show_default=True, help="The best number of each column in bold.")
@click.option("--underline", is_flag=True, help="The second best number of each column underlined.")
@click.option("--digits", type=click.IntRange(0, 12), default=3, show_default=True, help="Digits after the point.")
@click.option(
    "--leading-zero/--no-leading-zero", default=True, show_default=True, help="Write 0.312, or .312 without the zero."
)
@click.option("--caption", default="", help="Caption of the table.")
@click.option("--label", default="", help="Label for LaTeX, e.g. tab:results.")
@output_options
def table(
    matrices: list[ScoreMatrix], baseline: tuple[str, ...], groups: tuple[str, ...], by: str | None,
    out: Output, **how: Any,
) -> None:  # fmt: skip
    """The table of a paper: runs and measures, with marks.

    One row per run, one column per measure, the best number of each column in bold, and marks where a run is
    significantly different from a baseline. Notes below say which test, which correction over how many comparisons,
    the level, the number of topics, and what each mark means.

    \b
    assay compare table --qrels qrels.txt runs/*.run -m 'nDCG@10 AP RR P@10' --baseline bm25 --format latex
    assay compare table scores.csv --baseline bm25 --baseline ql --marks letters --format markdown
    assay compare table scores.csv --baseline bm25 --group 'sparse=bm25,ql' --group 'dense=ance,splade'
    """
    from assay.stats import paper_table

    _refuse_idle(matrices, baseline, how["test"], how["correction"])
    wanted = _groups(matrices, groups, by)
    found = paper_table(matrices, baseline=baseline, groups=wanted, **how)
    if out.format in ("csv", "json"):
        out.write(found.table(), of=found)
    elif out.format == "text":
        out.text(found.text(out.width()))
    elif out.format == "html":
        out.text(html_page(found.html()))
    else:
        out.text(getattr(found, out.format)())


def _groups(matrices: Sequence[ScoreMatrix], given: Sequence[str], column: str | None) -> dict[str, list[str]]:
    """Titles and their runs, as they are written out or by a column of a table of runs."""
    if column is not None:
        if given:
            raise UsageError("--group and --by both group the rows; give one of them")
        runs = list(dict.fromkeys(run for matrix in matrices for run in matrix.runs))
        return info_for("--by").groups(column, runs)
    groups: dict[str, list[str]] = {}
    for text in given:
        title, equals, runs_of_title = text.partition("=")
        if not equals:
            raise UsageError(f"--group {text!r}: write a title, = and runs separated by commas, e.g. 'sparse=bm25,ql'")
        if title.strip() in groups:
            raise UsageError(f"--group {title.strip()!r} is given twice; give all its runs at once")
        groups[title.strip()] = [run.strip() for run in runs_of_title.split(",") if run.strip()]
    return groups


def _refuse_idle(matrices: Sequence[ScoreMatrix], baseline: Sequence[str], test: str, correction: str) -> None:
    """An error where a given option has no effect."""
    from assay.stats.joint_tests import chosen_correction, draws_flips
    from assay.stats.paired import TESTS
    from assay.stats.pairwise import draws

    context = click.get_current_context()
    for option in context.command.params:
        if not baseline and option.name in OF_TESTS and is_given(option.name):
            raise UsageError(f"{longest_form(option)} has no effect without --baseline; name a run")
    TESTS.entry(test)
    by = chosen_correction(correction, test)
    tests = len(matrices) * (len(matrices[0].runs) - 1) + 1 if matrices else 0
    drawn = draws(test) or any(draws_flips(by, tests, len(matrix.topics)) for matrix in matrices)
    for name, written in (("resamples", "-B"), ("seed", "--seed")):
        if is_given(name) and not drawn:
            raise UsageError(f"{written} has no effect: --test {test} draws no resamples; leave it out")
