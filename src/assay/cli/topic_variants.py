"""`assay topics` variants and groups: variants of queries as a third factor, and one score for each group of topics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import TARGET, KnownWord
from assay.cli.inputs import numbers, one_matrix, scores_input
from assay.cli.modes import is_given
from assay.cli.options import Output, output_and_figure_options
from assay.cli.topics import command
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix

Matrices = list["ScoreMatrix"]

separator_option = click.option(
    "--separator", metavar="TEXT",
    help="What stands between group and member in topic ids.  [default: the first of / _ - . : that all ids have]",
)  # fmt: skip


@command.command()
@scores_input
@separator_option
@click.option("--systems", is_flag=True, help="Instead of the analysis, mean, worst and best variant of each system.")
@click.option("--plan", is_flag=True, help="Instead of the analysis, how many topics and variants it takes.")
@click.option("--difference", type=float, default=0.05, show_default=True, help="With --plan: difference to find.")
@click.option("--power", type=float, default=0.8, show_default=True, help="With --plan: power to find it.")
@click.option(
    "--per-topic", default="1,2,3,5,10", show_default=True, metavar="LIST", help="With --plan: variants per topic."
)
@output_and_figure_options
def variants(
    matrices: Matrices, separator: str | None, systems: bool, plan: bool, difference: float, power: float,
    per_topic: str, out: Output,
) -> None:  # fmt: skip
    """What variants of queries do to scores.

    Topics are called topic/variant. Analysis of variance and components of variance of systems, topics, variants within
    topics and their interactions; the worst variant of each system; how many variants and topics it takes.

    \b
    assay topics variants scores.csv
    assay topics variants scores.csv --systems --figure variants.png
    assay topics variants scores.csv --plan --difference .03
    """
    from assay.hierarchy import query_variants

    if systems and plan:
        raise UsageError("--systems and --plan are two tables; give one of them")
    for name in ("difference", "power", "per_topic"):
        if is_given(name) and not plan:
            raise UsageError(f"--{name.replace('_', '-')} is about the plan; give --plan as well")
    matrix = one_matrix(matrices)
    result = query_variants(
        matrix, separator=separator, difference=difference, power=power, per_topic=numbers(per_topic)
    )
    table = result.table()
    if systems:
        table = result.systems_table()
    if plan:
        table = result.plan_table()
    out.write(table, of=result)


@command.command()
@scores_input
@separator_option
@click.option(
    "--per", type=KnownWord("assay.hierarchy.groups_of_ids:PER_GROUP"), default="mean", show_default=True,
    help="How the scores of a group become one.",
)  # fmt: skip
@click.option("--save", type=TARGET, help="Write the scores of the groups here, for any other command.")
@output_and_figure_options
def groups(matrices: Matrices, separator: str | None, per: str, save: Path | None, out: Output) -> None:
    """One score for each group of topics.

    The mean, worst or best of the variants of a topic (topic/variant), or of the turns of a conversation (31_4). With
    --save every other command works on groups: compare, standardize, plan, board.

    \b
    assay topics groups cast.csv --save conversations.csv
    assay topics groups variants.csv --per worst --save worst.csv
    """
    from assay.hierarchy import by_group
    from assay.io.scores import write_scores

    results = [by_group(matrix, per=per, separator=separator) for matrix in matrices]
    out.write(*(result.table() for result in results), of=results)
    if save is not None:
        write_scores(save, results)
        out.say(f"scores written to {save}")
