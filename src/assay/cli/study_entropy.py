"""assay study entropy: how much a score says of the list behind it."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.inputs import FILE, chosen_measures, load_qrels, load_runs, measures_option, rel_option, runs_argument
from assay.cli.options import Output, output_and_figure_options
from assay.cli.study import command


@command.command()
@runs_argument
@click.option("--qrels", "qrels_path", type=FILE, required=True, help="Judgments: topic 0 doc grade, or irds:ID.")
@measures_option
@click.option("--depth", type=click.IntRange(min=2), default=100, show_default=True, help="Ranks of each list.")
@rel_option
@output_and_figure_options
def entropy(
    runs: tuple[Path, ...], qrels_path: Path, measures: str | None, depth: int, rel: float, out: Output
) -> None:
    """How much does a score say of the list behind it? The maximum entropy method.

    Of all lists with a score the most uncertain one is guessed; the nearer its precision-recall curve is to that of
    the real list, the more the measure says.

    \b
    assay study entropy runs/ --qrels qrels.txt -m 'AP Rprec nDCG P@10'
    """
    from assay.studies.max_entropy import entropy_study

    chosen = chosen_measures(measures or "AP Rprec nDCG RBP P@10")
    with out.progress("guessing lists") as progress:
        found = entropy_study(load_runs(runs), load_qrels(qrels_path), chosen, depth=depth, rel=rel, progress=progress)
    out.write(found.table(), of=found)
