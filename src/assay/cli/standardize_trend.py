"""`assay standardize trend`: did runs get better over the years?"""

from __future__ import annotations

import click

from assay.cli.columns import with_columns
from assay.cli.commands import RegistryOption
from assay.cli.inputs import force_option, measures_option, name_option, transpose_option
from assay.cli.options import Output, output_and_figure_options
from assay.cli.reference_inputs import reference_files, years_of
from assay.cli.run_info import info_options, kept_collections
from assay.cli.standardize import command, form_option
from assay.core.errors import UsageError


@command.command()
@with_columns(click.argument("collections", nargs=-1, required=True, metavar="YEAR=SCORES…"))
@click.option("--reference", help="Names of the reference runs, separated by commas; all files need them.")
@click.option(
    "--reference-scores", "sets", multiple=True, metavar="YEAR=SCORES",
    help="Instead: scores of the reference runs in a file of their own for each year; repeatable.",
)  # fmt: skip
@measures_option
@transpose_option
@name_option
@force_option
@info_options
@form_option
@click.option(
    "--smoothing", cls=RegistryOption, registry="assay.standard.factors:SMOOTHINGS", default="virtual",
    show_default=True, metavar="NAME", help="One of: {names}, or none.",
)  # fmt: skip
@output_and_figure_options
def trend(
    collections: tuple[str, ...], reference: str | None, sets: tuple[str, ...], measures: str | None,
    transpose: bool, name: str | None, force: str | None, form: str, smoothing: str, out: Output,
) -> None:  # fmt: skip
    """Did runs get better over the years?

    All standardized by the same reference runs. The change of the mean per year has an interval from 4 years on.

    \b
    assay standardize trend 2019=y19.csv 2020=y20.csv --reference bm25,rm3
    assay standardize trend 2019=y19.csv 2020=y20.csv --reference-scores 2019=r19.csv --reference-scores 2020=r20.csv \\
      --info runs.csv --where type=automatic --figure trend.svg
    """
    from assay.standard import trend as over_years

    if (reference is None) == (not sets):
        raise UsageError("give --reference RUNS, or the scores of reference runs of every year with --reference-scores")
    years = years_of(collections, measures, transpose, name, force)
    references = reference_files(sets, years, measures, transpose, name, force) if sets else None
    names = [run.strip() for run in (reference or "").split(",") if run.strip()]
    result = over_years(
        kept_collections(years, always=names), names, references=references, form=form,
        smoothing=None if smoothing == "none" else smoothing,
    )  # fmt: skip
    out.write(result.table(), of=result)
