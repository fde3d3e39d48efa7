"""assay crowd compare: two campaigns or more, or one file with several, on the same docs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.columns import named_values
from assay.cli.crowd import command
from assay.cli.label_files import (
    read_named,
    read_reference,
    reading_options,
    reference_option,
    show_option,
    shown_parts,
)
from assay.cli.options import Output, output_and_figure_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.crowd.campaigns import Campaign

SHOWN = ("campaigns", "differences", "grades")
"""The tables that are shown unless --show names others; curves are long."""


def several_scales(command: Any) -> Any:
    """The reading options, with a --scale that can be given for each campaign."""
    wrapped = reading_options(command)
    scale = click.Option(
        ["--scale", "scales"],
        multiple=True,
        metavar="[CAMPAIGN=]SCALE",
        help="Scale of all campaigns or, as name=scale, of one; repeatable: S100, S4, 0-5, magnitude …",
    )
    others = [option for option in wrapped.__click_params__ if option.name != "scale"]
    wrapped.__click_params__ = [*others, scale]
    return wrapped


@command.command()
@output_and_figure_options
@click.argument("files", metavar="LABELS…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--by", metavar="COLUMN", help="The file holds several campaigns, named by this column.")
@several_scales
@reference_option
@click.option("--untied", is_flag=True, help="Divide by the pairs that the reference orders, not by all.")
@click.option("--repeats", type=click.IntRange(min=1), default=100, show_default=True,
              help="Repetitions of drawing fewer labels per doc.")  # fmt: skip
@click.option("--most-labels", type=click.IntRange(min=1), default=10, show_default=True,
              help="Maximum labels per doc that are drawn.")  # fmt: skip
@click.option("--resamples", type=click.IntRange(min=20), default=1000, show_default=True,
              help="Draws of the docs for the intervals of differences.")  # fmt: skip
@seed_option
@show_option("assay.crowd.campaigns:PARTS")
def compare(
    files: tuple[Path, ...],
    by: str | None,
    scales: tuple[str, ...],
    reference: Path | None,
    untied: bool,
    repeats: int,
    most_labels: int,
    resamples: int,
    seed: int,
    show: tuple[str, ...],
    out: Output,
    **how_read: Any,
) -> None:
    """Two campaigns or scales on the same docs: agreement, labels, time, fewer labels, and what differs beyond chance.

    Docs that only some campaigns judged are left out. Figures: --figure comparison.html, or .svg for one file each.

    \b
      assay crowd compare s100.tsv s4.tsv --scale s100=S100 --scale s4=S4 --reference expert.qrels
      assay crowd compare judgments.tsv --by pilot --reference expert.qrels --figure pilots.html
    """
    from assay.cli.label_files import has_effect
    from assay.crowd.campaigns import compare_campaigns

    for option in ("untied", "repeats", "most_labels"):
        has_effect(option, reference is not None, "without --reference")
    campaigns = _campaigns(files, by, scales, how_read, out.say)
    with out.progress("campaigns") as progress:
        found = compare_campaigns(
            campaigns,
            reference=read_reference(reference),
            untied=untied,
            most=most_labels,
            repeats=repeats,
            resamples=resamples,
            seed=seed,
            progress=progress,
        )
    parts = found.parts()
    if not show:
        parts = {name: table for name, table in parts.items() if name in SHOWN}
    out.write(*shown_parts(parts, show), of=found, drawn=list(found.curves))


def _campaigns(
    files: tuple[Path, ...],
    by: str | None,
    scales: tuple[str, ...],
    how_read: dict[str, Any],
    say: Callable[[str], None],
) -> list[Campaign]:
    """The campaigns of the files, or of the values of a column of one file, each with its scale."""
    sources: list[tuple[str, Path, tuple[str, ...]]]
    if by is None:
        sources = [(path.name.partition(".")[0], path, ()) for path in files]
    else:
        sources = [(value, path, (f"{by}={value}",)) for path in files for value in _values(path, by)]
    names = [name for name, _, _ in sources]
    of_all, of_one = _scales(scales, names)
    campaigns = []
    for name, path, rows in sources:
        campaigns.append(_read(name, path, rows, of_one.get(name, of_all), how_read, say))
    return campaigns


def _read(
    name: str,
    path: Path,
    rows: tuple[str, ...],
    scale: str | None,
    how_read: dict[str, Any],
    say: Callable[[str], None],
) -> Campaign:
    from assay.agreement.scales import scale_in, scale_of
    from assay.crowd.campaigns import Campaign

    named = scale_of(scale) if scale else None
    reading = {**how_read, "where": (*how_read["where"], *rows)}
    labels = read_named(path, named, **reading, say=lambda remark: say(f"{name}: {remark}"))
    if named is None:
        named = scale_in(labels)
        say(f"{name}: scale taken to be {named.name} ({named.described()}); --scale {name}=… says otherwise")
    return Campaign.of(name, labels, named)


def _values(path: Path, column: str) -> list[str]:
    """The different values of a column, in the order in which they come."""
    from assay.io.sheet import read_sheet

    sheet = read_sheet(path)
    place = sheet.place(column.strip().lower())
    return list(dict.fromkeys(row[place] for row in sheet.rows))


def _scales(given: tuple[str, ...], names: list[str]) -> tuple[str | None, dict[str, str]]:
    """The scale of all campaigns, and those of single ones by name."""
    of_all = [text for text in given if "=" not in text]
    of_one = named_values(tuple(text for text in given if "=" in text), "--scale")
    if len(of_all) > 1:
        raise UsageError(f"--scale {of_all[1]}: {of_all[0]} is given for all campaigns already; write name=scale")
    for name in of_one:
        if name not in names:
            raise UsageError(f"--scale {name}: there is no such campaign; there are: {', '.join(names)}")
    return (of_all[0] if of_all else None), of_one
