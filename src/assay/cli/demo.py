"""assay demo: the first thing a newcomer runs."""

from __future__ import annotations

import functools
from pathlib import Path

import click

from assay.cli.commands import Command
from assay.cli.options import Output, seed_option, with_output

FORMATS = ("text", "json", "markdown", "latex")
"""Two tables of different columns are written, which a CSV cannot hold."""
NEXT = """
Try next:
  assay check --qrels {0}/qrels.txt {0}/runs/eridan1.run
  assay score --qrels {0}/qrels.txt {0}/runs -m 'AP nDCG@10' --save {0}/scores.csv
  assay compare {0}/scores.csv -m nDCG@10 --baseline borea1
  assay plan audit {0}/scores.csv -m AP
  assay similarity {0}/runs/atlas1.run {0}/runs/atlas2.run
  assay predict {0}/runs --qrels {0}/qrels.txt
  assay crowd check {0}/labels.csv"""


@click.command(cls=Command)
@click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False), default="demo", show_default=True,
    help="Where the collection and the report are written.",
)  # fmt: skip
@click.option("--report/--no-report", default=True, help="Write the HTML report too.")
@seed_option
@functools.partial(with_output, formats=FORMATS)
def command(folder: Path, report: bool, seed: int, out: Output) -> None:
    """Make a small collection, score it, compare, plan, and write the report.

    \b
    assay demo
    assay demo --folder somewhere --seed 7
    """
    from assay.plan import audit
    from assay.scoring import evaluate
    from assay.stats import compare
    from assay.studies import simulate, write_collection

    collection = simulate(seed)
    write_collection(collection, folder)
    runs = len(collection.runs)
    out.say(
        f"{folder}: {runs} runs, {len(collection.qrels.topics)} topics, {len(collection.qrels)} judgments (seed {seed})"
    )
    matrix = evaluate(collection.runs, collection.qrels, "AP")[0]
    tables = [compare(matrix, seed=seed).table(), audit(matrix).table()]
    out.write(*tables)
    if report:
        from assay.report import report as write_report

        path = folder / "report.html"
        with out.progress("report") as progress:
            write_report(
                collection.runs, collection.qrels, path=path, labels=collection.labels,
                pool_runs=collection.pool_runs, seed=seed, progress=progress,
            )  # fmt: skip
        out.say(f"\nThe report: {path}  (open it in a browser; it needs no network)")
    out.say(NEXT.format(folder))
