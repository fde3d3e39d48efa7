"""assay compare density: what the scores of a run, or of a topic, look like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.cli.commands import KnownWord
from assay.cli.compare import command
from assay.cli.inputs import scores_input
from assay.cli.options import Output, output_and_figure_options

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix


@command.command()
@scores_input
@click.option(
    "--of", type=KnownWord("assay.stats.shape:SAMPLES"), default="run", show_default=True,
    help="Scores of each run over the topics, or of each topic over the runs.",
)  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="NAME", help="Only this run or topic; repeatable.")
@click.option("--baseline", metavar="RUN", help="Of the differences from this run instead.")
@click.option(
    "--bandwidth", type=click.FloatRange(min=0, min_open=True),
    help="Width of the kernel.  [default: Silverman's rule of thumb]",
)  # fmt: skip
@output_and_figure_options
def density(
    matrices: list[ScoreMatrix], of: str, names: tuple[str, ...], baseline: str | None, bandwidth: float | None,
    out: Output,
) -> None:  # fmt: skip
    """What do the scores look like? Kernel densities.

    Quartiles and the most frequent score of each run or topic; --figure draws the densities, which stay within the
    range of the measure.

    \b
    assay compare density scores.csv --name bm25 --name dense --figure density.svg
    assay compare density scores.csv --of topic --name 401 --name 402
    assay compare density scores.csv --baseline bm25 --name dense
    """
    from assay.data.scores import joined
    from assay.stats.shape import score_densities

    chosen = list(names) or None
    found = []
    for matrix in joined(matrices):
        found.append(score_densities(matrix, of=of, names=chosen, baseline=baseline, bandwidth=bandwidth))
    out.write(*(result.table() for result in found), of=found)
