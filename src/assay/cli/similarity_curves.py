"""assay similarity depths and days: how similarity changes with depth, and between two engines from day to day."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from assay.cli.columns import with_columns
from assay.cli.inputs import load_runs, numbers
from assay.cli.options import Output, jobs_option, output_and_figure_options
from assay.cli.similarity import (
    command,
    depth_option,
    hosts_option,
    lists_option,
    one_per_host,
    persistence_options,
    run_files_argument,
    runs_of,
    the_persistence,
    two_of,
)

FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)


@command.command()
@run_files_argument
@lists_option
@click.option("--at", metavar="LIST", help="Depths, e.g. 5,10,100.  [default: 1 to 1000, as far as the lists reach]")
@jobs_option
@output_and_figure_options
def depths(files: Sequence[Path], measures: tuple[str, ...], at: str | None, jobs: int, out: Output) -> None:
    """How does the similarity of two runs change when their lists are cut?

    RBO settles with depth; what counts pairs of the first k docs is another measure at each depth.

    \b
    assay similarity depths a.run b.run -m 'rbo(p=0.9)' -m 'rbo(p=0.98)' -m kendall-top-k --figure depths.svg
    """
    from assay.similarity.depth_curves import depth_curves

    a, b = two_of(runs_of(files, jobs), "depths")
    chosen = None if at is None else numbers(at)
    found = depth_curves(a, b, measures, depths=chosen) if measures else depth_curves(a, b, depths=chosen)
    out.write(found.table(), of=found)


@command.command()
@with_columns(click.argument("first", type=FOLDER))
@click.argument("second", type=FOLDER)
@hosts_option
@persistence_options
@depth_option
@jobs_option
@output_and_figure_options
def days(
    first: Path, second: Path, p: float, carry: tuple[int, float] | None, depth: int | None, jobs: int, out: Output
) -> None:
    """How similar are two engines, day by day?

    FIRST and SECOND are folders with one run per day; the files are taken in the order of their names.

    \b
    assay similarity days google/ yahoo/ --one-per-host --figure days.svg
    """
    from assay.similarity.depth_curves import day_curves

    mine = one_per_host(load_runs([first], jobs=jobs))
    yours = one_per_host(load_runs([second], jobs=jobs))
    found = day_curves(mine, yours, p=the_persistence(p, carry, out), depth=depth)
    out.write(found.table(), of=found)
