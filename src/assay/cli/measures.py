"""assay measures: list the measures, or explain one with formula, edges and paper."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.commands import Command
from assay.cli.options import Output, output_options


@click.command(cls=Command)
@click.argument("name", required=False)
@click.option("--plugin", type=click.Path(path_type=Path, exists=True), help="A Python file with measures of your own.")
@output_options
def command(name: str | None, plugin: Path | None, out: Output) -> None:
    """List the measures, or explain one.

    \b
    assay measures
    assay measures nDCG
    assay measures MRR
    """
    if plugin is not None:
        from assay.measures.plugins import load_plugin

        load_plugin(plugin)
    from assay.measures.explained import MeasureList, explained

    if name is None:
        out.write(MeasureList().table())
        return
    explanation = explained(name)
    if out.format == "text":
        out.text(explanation.text())
    else:
        out.write(explanation.table())
