"""assay demo: the first thing a newcomer runs."""

from __future__ import annotations

import functools
import shlex
import shutil
import sys
from pathlib import Path

import click

from assay.cli.commands import Command
from assay.cli.options import Output, seed_option, with_output
from assay.core.tables import FORMATS_OF_SEVERAL

NEXT = """
Try next:
  {assay} compare --qrels {folder}/qrels.txt {folder}/runs/atlas1.run {folder}/runs/borea1.run -m nDCG@10
  {assay} check --qrels {folder}/qrels.txt {folder}/runs/eridan1.run
  {assay} score --qrels {folder}/qrels.txt {folder}/runs -m 'AP nDCG@10' --save {folder}/scores.csv
And in the browser:
  {assay} serve --qrels {folder}/qrels.txt {folder}/runs"""


@click.command(cls=Command)
@click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False), default="demo", show_default=True,
    help="Where the collection and the report are written.",
)  # fmt: skip
@click.option("--report/--no-report", default=True, help="Write the HTML report too.")
@seed_option
@functools.partial(with_output, formats=FORMATS_OF_SEVERAL)
def command(folder: Path, report: bool, seed: int, out: Output) -> None:
    """Make a small collection, score it, compare, plan, and write the report.

    \b
    assay demo
    assay demo --folder somewhere --seed 7
    """
    from assay.plan import audit
    from assay.scoring import evaluate
    from assay.stats import compare
    from assay.studies.simulate import simulate, write_collection
    from assay.studies.simulated_answers import simulate_answers, write_answers

    collection = simulate(seed)
    write_collection(collection, folder)
    write_answers(simulate_answers(seed), folder)
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
    out.say(NEXT.format(assay=_as_typed(), folder=shlex.quote(str(folder))))


def _as_typed() -> str:
    """What to type for this program: its name where the shell finds it, else the path by which it was called."""
    called = Path(sys.argv[0])
    on_path = shutil.which(called.name)
    if on_path is not None and Path(on_path).resolve() == called.resolve():
        return called.name
    # python -m assay.cli.main, and tests that call the function
    if not called.is_file() or called.suffix == ".py":
        return "assay"
    return shlex.quote(str(called))
