"""assay convert: a file in one format in, a file in another out."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.columns import column_option, named_columns
from assay.cli.commands import TARGET, Command, RegistryOption
from assay.cli.inputs import FILE
from assay.cli.label_files import grades_of
from assay.cli.options import Output, output_options


@click.command(cls=Command)
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=TARGET)
@click.option(
    "--to", cls=RegistryOption, registry="assay.io.writers:ALL_FORMATS", metavar="FORMAT",
    help="Format of OUT, where its ending does not say it. One of: {names}.",
)  # fmt: skip
@click.option(
    "--kind", cls=RegistryOption, registry="assay.io.conversion:CONVERTED",
    help="What IN holds, where it can be several things. One of: {names}.",
)  # fmt: skip
@click.option(
    "--grades", multiple=True, metavar="WORD=NUMBER", help="Grade of a word of labels, e.g. yes=1; repeatable."
)
@column_option
@output_options
def command(
    source: Path, target: Path, to: str | None, kind: str | None, grades: tuple[str, ...], out: Output
) -> None:  # fmt: skip
    """Write a run, judgments, labels, scores, topics or docs in another format.

    What IN holds and its format are recognised by its content. The ending of OUT says its format: .csv .tsv .jsonl
    .json .parquet .arrow, and any other is TREC's own for runs, judgments and topics; .gz, .xz and .zst compress.

    \b
    assay convert run.dev.small.tsv bm25.run
    assay convert qrels.txt qrels/test.tsv --to beir
    assay convert wwwE.qrels qrels.txt
    assay convert bm25.json bm25.parquet --kind run
    assay convert export.json labels.csv --grades Relevant=1 --grades 'Not relevant=0'
    """
    from assay.io import convert

    columns = named_columns()
    done = convert(source, target, to=to, kind=kind, columns=columns, levels=grades_of(grades) or None)
    out.write(done.table(), of=done)
