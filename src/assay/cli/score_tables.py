"""What commands share that score something else than runs of docs: names of measures, and the scores as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.commands import TARGET, RegistryOption
from assay.cli.inputs import one_list
from assay.cli.options import Output

if TYPE_CHECKING:
    from assay.data.scores import Scores

C = TypeVar("C", bound=Callable[..., Any])

save_option = click.option("--save", type=TARGET, help="Write all scores to a .csv, .tsv or .parquet file.")


def named_option(registry: str) -> Callable[[C], C]:
    """--measures, -m: names of a registry with their parameters in brackets, separated by blanks."""
    return click.option(
        "--measures", "-m", multiple=True, callback=one_list, cls=RegistryOption, registry=registry, metavar="LIST",
        help="Measures separated by blanks, parameters in brackets; of: {names}.",
    )  # fmt: skip


def called_measures(text: str | None, usual: Sequence[str]) -> list[str]:
    """The measures of a list such as 'nsDCG(k=10) esnDCG', each once; the usual ones where none is named."""
    return list(dict.fromkeys((text or "").split())) or list(usual)


def show_scores(scores: Scores, per_topic: bool, save: Path | None, out: Output) -> None:
    """Print scores, one row per run or also one per topic, and save them where that is asked for."""
    more = [scores.per_topic()] if per_topic else []
    # CSV holds one table: the one that was asked for, which has the scores in it.
    tables = more if out.format == "csv" and more else [scores.table(), *more]
    out.write(*tables, of=scores, drawn=list(scores) if out.figure else None)
    save_scores(scores, save, out)


def save_scores(scores: Scores, save: Path | None, out: Output) -> None:
    """Write all scores to the file of --save, where it is given."""
    if save:
        from assay.io.scores import write_scores

        write_scores(save, scores)
        out.say(f"scores written to {save}")
