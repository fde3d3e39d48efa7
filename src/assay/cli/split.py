"""assay split: runs and judgments that are too large, as parts of whole topics."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.commands import Command
from assay.cli.inputs import FILE, run_files
from assay.cli.options import Output
from assay.core.tables import FORMATS


@click.command(cls=Command)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--qrels", "qrels_path", type=FILE, help="Also split these judgments, by the same rule.")
@click.option("--parts", type=click.IntRange(min=1), required=True, help="Number of parts.")
@click.option(
    "-o", "--output", "folder", type=click.Path(path_type=Path, file_okay=False), required=True,
    help="Folder to write, new or empty.",
)  # fmt: skip
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--quiet", is_flag=True, help="No progress, no remarks.")
def command(runs: tuple[Path, ...], qrels_path: Path | None, parts: int, folder: Path, form: str, quiet: bool) -> None:
    """Split runs into parts of whole topics.

    A line goes to the part of its topic, so that the lines of a topic need not stand together. Memory does not grow
    with the files: TREC runs and tables (CSV, TSV, JSONL, Parquet, Arrow; parts of these are CSV). Text may be
    compressed or come from standard input (-). The folder has a folder run=NAME for each run, and qrels for the
    judgments; `assay score FOLDER --qrels FOLDER/qrels` scores it part by part.

    \b
    assay split bm25.run.zst dense.parquet --qrels qrels.txt --parts 64 -o parts
    assay score parts --qrels parts/qrels -o scores
    """
    from assay.parts import split_runs

    out = Output(form, None, quiet)
    with out.progress("splitting") as progress:
        done = split_runs(run_files(runs), parts, folder, qrels=qrels_path, progress=progress)
    out.write(done.table(), of=done)
