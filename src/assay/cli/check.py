"""assay check: what is odd in the files, with line numbers."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assay.cli.commands import Command
from assay.cli.inputs import FILE, binary_option, rel_option, run_files, runs_argument
from assay.cli.modes import is_given
from assay.cli.options import Output, output_options
from assay.core.errors import UsageError


@click.command(cls=Command)
@runs_argument
@click.option("--qrels", "qrels_path", type=FILE, help="Judgments to check too, and to check the runs against.")
@click.option("--ties", is_flag=True, help="Only the table that says how far ties could move a score; with --qrels.")
@click.option("--all", "every", is_flag=True, help="Every finding, also of many files.  [default for CSV and JSON]")
@rel_option
@binary_option
@output_options
def command(
    runs: tuple[Path, ...], qrels_path: Path | None, ties: bool, every: bool, rel: float, binary: bool, out: Output
) -> None:
    """Say what is odd in run and qrels files, with line numbers.

    \b
    assay check --qrels qrels.txt bm25.run
    assay check --qrels qrels.txt runs/ --all

    Of more than 10 files with findings: how many files have each kind of finding and the worst file of each, the first
    errors, and the scores that ties could move most; --all shows the rest.

    Exit code 1 if there are errors, 0 if there are only remarks.
    """
    from assay.check import check

    if ties and qrels_path is None:
        raise UsageError("--ties says how far scores could move; give --qrels")
    if binary and qrels_path is None:
        raise UsageError("--binary changes judgments; give --qrels")
    if is_given("rel") and not binary:
        raise UsageError("--rel says from which grade on --binary counts a doc as relevant; give both")
    if ties and every:
        raise UsageError("--all has no effect with --ties, which shows the whole table; leave it out")
    with out.progress("checking") as progress:
        findings = check(run_files(runs), qrels_path, binary=rel if binary else False, progress=progress)
    if ties:
        out.write(findings.ties)
    elif out.format == "csv":
        # CSV holds one table.
        out.write(findings.table(), of=findings)
    else:
        out.write(*findings.shown(every=every or out.format == "json"), of=findings)
    sys.exit(1 if findings.errors else 0)
