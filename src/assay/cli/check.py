"""assay check: what is odd in the files, with line numbers."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assay.cli.commands import Command
from assay.cli.inputs import FILE, run_files, runs_argument
from assay.cli.options import Output, output_options


@click.command(cls=Command)
@runs_argument
@click.option("--qrels", "qrels_path", type=FILE, help="Judgments to check too, and to check the runs against.")
@output_options
def command(runs: tuple[Path, ...], qrels_path: Path | None, out: Output) -> None:
    """Say what is odd in run and qrels files, with line numbers.

    \b
    assay check --qrels qrels.txt bm25.run

    Exit code 1 if there are errors, 0 if there are only remarks.
    """
    from assay.check import Findings, check_qrels, check_run, read_run_leniently, tie_sensitivity
    from assay.core.errors import AssayError
    from assay.io import read_qrels

    found = check_qrels(qrels_path) if qrels_path else []
    bad_qrels = any(f.level == "error" for f in found)
    qrels = read_qrels(qrels_path) if qrels_path and not bad_qrels else None
    tables = []
    files = run_files(runs)
    with out.progress("checking") as progress:
        for i, path in enumerate(files):
            found += check_run(path, qrels)
            progress(i + 1, len(files))
            try:
                run = read_run_leniently(path)[0] if qrels else None
            except AssayError:
                continue
            if qrels is not None and run is not None and run.tied().any() and set(run.topics) & set(qrels.topics):
                tables.append(tie_sensitivity(match(run.ordered("average"), qrels).grades(), run.name))
    findings = Findings(tuple(found))
    out.write(findings.table(), *tables)
    sys.exit(1 if findings.errors else 0)
