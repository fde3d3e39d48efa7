"""`assay agreement`: how far do assessors agree?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import Command, RegistryOption
from assay.cli.inputs import FILE, load_qrels
from assay.cli.label_files import READING, read_named, reading_options, reference_option
from assay.cli.modes import refuse_others
from assay.cli.options import Output, output_and_figure_options
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.agreement.ratings import Ratings
    from assay.agreement.scales import Scale

MEASURE_HELP = (
    "One of: {names}; with parameters as in 'alpha(level=ordinal)' (levels: {assay.agreement.scales:LEVELS}), "
    "'kappa(weighting=linear)' (weightings: {assay.agreement.kappa:WEIGHTS}), 'overlap(rel=2)'. Repeatable. Without a "
    "level α takes that of the scale."
)

CLAIMED = frozenset({"per_topic", "level"})
MEASURED = CLAIMED | {"measures", "rel", "scale"}
READ = frozenset(READING)
WAYS = {
    "labels": MEASURED | READ,
    "--qrels": MEASURED | {"as_qrels"},
    "--reference": CLAIMED | READ | {"reference"},
    "--tables": READ | {"as_qrels", "rel", "tables"},
}
SOURCES = {"labels": READ, "--reference": READ, "--qrels": frozenset({"scale"})}


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--qrels", "as_qrels", is_flag=True, help="FILES are qrels, one per assessor.")
@click.option(
    "-m", "--measures", cls=RegistryOption, registry="assay.agreement.result:AGREEMENTS", multiple=True,
    metavar="NAME", help=MEASURE_HELP,
)  # fmt: skip
@reference_option
@click.option("--per-topic", is_flag=True, help="Also a row for each topic.")
@click.option("--tables", is_flag=True, help="Show instead the contingency table of each pair of assessors.")
@click.option(
    "--rel",
    type=float,
    metavar="K",
    help="First make labels binary: relevant if at least K, the lowest relevant label.",
)
@reading_options
@click.option(
    "--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
    help="Confidence of the intervals.",
)  # fmt: skip
@output_and_figure_options
def command(
    files: Sequence[Path], as_qrels: bool, measures: tuple[str, ...], reference: Path | None, per_topic: bool,
    tables: bool, rel: float | None, scale: str | None, level: float, out: Output,
    **reading: Any,
) -> None:  # fmt: skip
    """How far do assessors agree?

    Reads crowd labels (columns topic, doc, worker, label), or with --qrels one file of judgments per assessor, and
    shows each measure with its interval over topics, or over the docs of one topic. The level of α follows from the
    scale: two levels are nominal, graded relevance ordinal, numbers interval, magnitudes ratio. With --reference: do
    the labels order docs as these grades do? Pairwise agreement, whatever the scales.

    \b
    assay agreement labels.csv
    assay agreement labels.csv -m 'alpha(level=ordinal)' --per-topic
    assay agreement --qrels anna.qrels ben.qrels -m kappa -m overlap
    assay agreement --qrels anna.qrels ben.qrels --tables
    assay agreement labels.csv --rel 50 -m alpha
    assay agreement labels.csv --scale 0-100 -m phi
    assay agreement labels.csv --reference qrels.txt
    """
    from assay.agreement.kappa import contingencies
    from assay.agreement.result import agreement, reference_agreement
    from assay.agreement.scales import scale_of

    refuse_others("--reference" if reference else "--tables" if tables else "--qrels" if as_qrels else "labels", WAYS)
    if as_qrels:
        refuse_others("--qrels", SOURCES)
    named = scale_of(scale) if scale else None
    reading["say"] = out.say
    if reference is not None:
        labels = read_named(_one(files), named, **reading)
        checked = labels if named is None else named.checked(labels)
        known = load_qrels(reference)
        found = reference_agreement(checked, known, per_topic=per_topic, level=level)
        out.write(*found.tables(), of=found)
    elif tables:
        pairs = contingencies(_ratings(files, as_qrels, named, rel, reading))
        out.write(*(pair.table() for pair in pairs), of=pairs)
    else:
        ratings = _ratings(files, as_qrels, named, rel, reading)
        with out.progress("leaving out topics") as progress:
            found = agreement(
                ratings, measures=measures, scale=named if rel is None else None, per_topic=per_topic,
                level=level, progress=progress,
            )  # fmt: skip
        out.write(*found.tables(), of=found)


def _ratings(
    files: Sequence[Path], as_qrels: bool, scale: Scale | None, rel: float | None, reading: dict[str, Any]
) -> Ratings:
    from assay.agreement.ratings import Ratings
    from assay.agreement.result import rated

    if as_qrels:
        qrels = [load_qrels(path) for path in files]
        ratings = Ratings.of_qrels(qrels, [path.name for path in files])
        ratings = ratings if scale is None else ratings.on(scale)
    else:
        ratings = rated(read_named(_one(files), scale, **reading), scale=scale)
    return ratings if rel is None else ratings.binary(rel)


def _one(files: Sequence[Path]) -> Path:
    if len(files) != 1:
        raise UsageError(f"one file of labels is read, and {len(files)} are named; with --qrels each is an assessor")
    return files[0]
