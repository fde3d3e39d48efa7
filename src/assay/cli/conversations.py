"""`assay compare conversations`: is the difference real where topics are turns of conversations?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import KnownWord
from assay.cli.compare import alpha_option, baseline_option, command, correction_option
from assay.cli.inputs import scores_input
from assay.cli.options import Output, output_and_figure_options

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix


@command.command()
@scores_input
@baseline_option
@click.option(
    "--separator", metavar="TEXT",
    help="What stands between conversation and turn in topic ids.  [default: the first of / _ - . : that all ids have]",
)  # fmt: skip
@click.option(
    "--weights", type=KnownWord("assay.hierarchy.conversations:WEIGHTS"), default="conversations", show_default=True,
    help="What counts alike: every conversation, or every turn.",
)  # fmt: skip
@correction_option
@alpha_option
@output_and_figure_options
def conversations(matrices: list[ScoreMatrix], alpha: float, out: Output, **how: Any) -> None:
    """Is the difference real where topics are turns of conversations?

    Topics are called conversation_turn, as in TREC CAsT. Conversations are taken for independent, turns are not:
    intervals and p rest on conversations, beside the p that turns would have, the intraclass correlation and the design
    effect.

    \b
    assay compare conversations cast.csv --baseline bm25
    assay compare conversations --qrels qrels.txt runs/*.run -m nDCG@3 --weights turns
    """
    from assay.hierarchy import compare_conversations

    results = [compare_conversations(matrix, level=round(1 - alpha, 12), **how) for matrix in matrices]
    out.write(*(result.table() for result in results), of=results)
    for result in results:
        out.say(result.verdict)
