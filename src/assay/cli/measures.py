"""assay measures: list the measures, or explain one with formula, edges and paper."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.commands import Command
from assay.cli.inputs import chosen_measures
from assay.cli.modes import is_given
from assay.cli.options import Output, output_and_figure_options
from assay.core.errors import UsageError


@click.command(cls=Command)
@click.argument("name", required=False)
@click.option("--weights", metavar="LIST", help="Instead: the weight of each rank under measures, e.g. 'DCG RBP'.")
@click.option("--depth", type=click.IntRange(min=1), default=20, show_default=True, help="Ranks that --weights shows.")
@click.option("--plugin", type=click.Path(path_type=Path, exists=True), help="A Python file with measures of your own.")
@output_and_figure_options
def command(name: str | None, weights: str | None, depth: int, plugin: Path | None, out: Output) -> None:
    """List the measures, or explain one.

    \b
    assay measures
    assay measures nDCG
    assay measures MRR
    assay measures --weights 'DCGjk RBP(p=0.5) RBP(p=0.95)' --depth 100 --figure weights.svg
    """
    _refuse_mixed(name, weights, out)
    if plugin is not None:
        from assay.measures.plugins import load_plugin

        load_plugin(plugin)
    from assay.measures.explained import MeasureList, explained

    if weights is not None:
        from assay.measures.rank_weights import rank_weights

        found = rank_weights(chosen_measures(weights), depth=depth)
        out.write(found.table(), of=found)
        return
    if name is None:
        out.write(MeasureList().table())
        return
    explanation = explained(name)
    if out.format == "text":
        out.text(explanation.text())
    else:
        out.write(explanation.table())


def _refuse_mixed(name: str | None, weights: str | None, out: Output) -> None:
    """An error where options are given that go only with --weights, or a name beside it."""
    if weights is not None and name is not None:
        raise UsageError(f"{name}: --weights names the measures itself; leave {name} out or add it to the list")
    if weights is None and is_given("depth"):
        raise UsageError("--depth is the number of ranks that --weights shows; give that as well")
    if weights is None and out.figure is not None:
        raise UsageError("--figure draws the weights of ranks; name measures with --weights")
