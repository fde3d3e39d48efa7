"""`assay compare anova`, `one-way` and `friedman`: do the runs differ at all?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.cli.compare import command
from assay.cli.inputs import scores_input
from assay.cli.options import Output, output_options

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix


@command.command()
@scores_input
@output_options
def anova(matrices: list[ScoreMatrix], out: Output) -> None:
    """Do the runs differ at all? Two-way analysis of variance.

    Runs and topics as sources of variance, with F, p, η² and ω².

    \b
    assay compare anova scores.csv
    """
    from assay.data.scores import joined
    from assay.stats import two_way

    found = [two_way(matrix) for matrix in joined(matrices)]
    out.write(*(result.table() for result in found), of=found)


@command.command(name="one-way")
@scores_input
@output_options
def one_way(matrices: list[ScoreMatrix], out: Output) -> None:
    """Do runs on different topics differ at all? One-way analysis of variance.

    Every run is a group of scores; files may have different topics, and different numbers of them. Runs on the same
    topics are better compared by `assay compare anova`, which takes the topics out.

    \b
    assay compare one-way this-year.csv last-year.csv -m AP
    """
    from assay.stats.anova import one_way_by_measure

    found = one_way_by_measure(matrices)
    out.write(*(result.table() for result in found), of=found)


@command.command()
@scores_input
@output_options
def friedman(matrices: list[ScoreMatrix], out: Output) -> None:
    """Do the runs differ at all? Friedman's test on ranks.

    Mean rank of every run over the topics, with χ², p and Kendall's W.

    \b
    assay compare friedman scores.csv
    """
    from assay.data.scores import joined
    from assay.stats import friedman as friedman_test

    found = [friedman_test(matrix) for matrix in joined(matrices)]
    out.write(*(result.table() for result in found), of=found)
