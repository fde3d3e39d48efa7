"""`assay agreement`: how far do assessors agree?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import Command
from assay.cli.inputs import FILE, load_qrels
from assay.cli.modes import refuse_others
from assay.cli.options import Output, output_and_figure_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.agreement.ratings import Ratings
    from assay.data import Labels

MEASURE_HELP = (
    "alpha (level=nominal, ordinal, interval or ratio), fleiss, kappa (weighting=none, linear or quadratic), overlap "
    "(rel=1), e.g. 'alpha(level=nominal)'. May be given again."
)

MEASURED = frozenset({"measures", "tables", "rel", "scale"})
READ = frozenset({"where", "columns", "times", "topic", "split", "drop_empty"})
MODES = {"labels": MEASURED | READ, "--qrels": MEASURED | {"as_qrels"}, "--reference": READ | {"reference"}}


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--qrels", "as_qrels", is_flag=True, help="FILES are qrels, one per assessor.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="NAME", help=MEASURE_HELP)
@click.option(
    "--reference", type=FILE,
    help="Qrels: do the labels order docs as these grades do? Pairwise agreement, whatever the scales.",
)  # fmt: skip
@click.option("--per-topic", is_flag=True, help="Also a row for each topic.")
@click.option("--tables", is_flag=True, help="Also the contingency table of each pair of assessors.")
@click.option(
    "--rel",
    type=float,
    metavar="K",
    help="First make labels binary: relevant if at least K, the lowest relevant label.",
)
@click.option("--scale", type=(float, float), metavar="LOW HIGH", help="Ends of the scale: also Φ of Checco et al.")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only these rows of a file of labels; repeatable.")
@click.option("--column", "columns", multiple=True, metavar="OURS=THEIRS", help="E.g. label=score; repeatable.")
@click.option("--times", type=float, default=1.0, help="Multiply labels, e.g. 100 for shares of 0–100.")
@click.option("--topic", help="The topic of all rows, where the file has no such column.")
@click.option("--split", metavar="SEPARATOR", help="The doc column holds topic and doc parted by this.")
@click.option("--drop-empty", is_flag=True, help="Leave out rows without label, and say which.")
@click.option(
    "-B", "--resamples", type=click.IntRange(min=0), default=1000, show_default=True, help="Bootstrap samples."
)
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True)
@seed_option
@output_and_figure_options
def command(
    files: Sequence[Path], as_qrels: bool, measures: tuple[str, ...], reference: Path | None, per_topic: bool,
    tables: bool, rel: float | None, scale: tuple[float, float] | None, resamples: int, level: float, seed: int,
    out: Output, **reading: Any,
) -> None:  # fmt: skip
    """How far do assessors agree?

    Reads crowd labels (columns topic, doc, worker, label), or with --qrels one file of judgments per assessor, and
    shows each measure with its bootstrap interval over docs.

    \b
    assay agreement labels.csv
    assay agreement labels.csv -m 'alpha(level=ordinal)' --per-topic
    assay agreement --qrels anna.qrels ben.qrels -m kappa -m overlap --tables
    assay agreement labels.csv --rel 50 -m 'alpha(level=nominal)'
    assay agreement labels.csv --reference qrels.txt
    """
    from assay.agreement.kappa import contingencies
    from assay.agreement.result import agreement, reference_agreement

    refuse_others("--reference" if reference else "--qrels" if as_qrels else "labels", MODES)
    labels = None if as_qrels else _labels(files, out, **reading)
    if reference is not None and labels is not None:
        found = reference_agreement(labels, load_qrels(reference), resamples=resamples, level=level, seed=seed)
        out.write(found.table(), *([found.topic_table()] if per_topic else []), of=found)
        return
    ratings = _ratings(labels, files)
    ratings = ratings if rel is None else ratings.binary(rel)
    with out.progress("resampling") as progress:
        found = agreement(
            ratings, measures=measures, per_topic=per_topic, resamples=resamples, level=level, seed=seed,
            progress=progress,
        )  # fmt: skip
    shown = [found.table()]
    if scale is not None:
        from assay.agreement.phi import phi

        shown.append(phi(ratings.item, ratings.value, scale=scale, level=level).table())
    if per_topic:
        shown.append(found.topic_table())
    if tables:
        shown += [c.table() for c in contingencies(ratings)]
    out.write(*shown, of=found)


def _labels(
    files: Sequence[Path], out: Output, *, where: tuple[str, ...], columns: tuple[str, ...], times: float,
    topic: str | None, split: str | None, drop_empty: bool,
) -> Labels:  # fmt: skip
    from assay.io.labels import labels_and_empty

    if len(files) != 1:
        raise UsageError(f"one file of labels is read, and {len(files)} are named; with --qrels each is an assessor")
    labels, empty = labels_and_empty(
        files[0], columns=_told("--column", columns), times=times, where=_told("--where", where), topic=topic,
        split=split, empty="drop" if drop_empty else "error",
    )  # fmt: skip
    if empty:
        out.say(f"{len(empty)} rows without label left out: lines {', '.join(map(str, empty[:10]))}")
    return labels


def _told(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Names and values of an option that is given as name=value."""
    for text in texts:
        if not all(text.partition("=")):
            raise UsageError(f"{option} {text!r} is not of the form name=value")
    return {name.strip(): value for name, _, value in (text.partition("=") for text in texts)}


def _ratings(labels: Labels | None, files: Sequence[Path]) -> Ratings:
    from assay.agreement.ratings import Ratings

    if labels is not None:
        return Ratings.of_labels(labels)
    return Ratings.of_qrels([load_qrels(path) for path in files], [path.name for path in files])
