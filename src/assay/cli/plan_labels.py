"""assay plan labels: how many human labels beside those of a machine?"""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.inputs import load_qrels, load_runs, one_measure, runs_argument
from assay.cli.judge import LEVEL, both_labels, judge_option, read_machine, scales_of
from assay.cli.options import Output, jobs_option, output_options
from assay.cli.plan import command


@command.command()
@runs_argument
@both_labels
@one_measure("Measure of the runs.", "nDCG@10")
@judge_option
@click.option("--baseline", metavar="RUN", help="Plan for differences from this run.  [default: of any two]")
@click.option("--width", type=float, help="Width of the interval that is wanted.")
@click.option("--delta", type=float, help="Or: the difference to find.")
@click.option("--power", type=float, default=0.8, show_default=True, help="Wanted power, with --delta.")
@click.option("--level", type=LEVEL, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--human-cost", type=float, default=1.0, show_default=True, help="Cost of a human label.")
@click.option("--machine-cost", type=float, default=0.01, show_default=True, help="Cost of a machine label.")
@click.option("--strata", is_flag=True, help="Show where to judge within topics, instead of how many topics.")
@jobs_option
@output_options
def labels(
    runs: tuple[Path, ...], human: Path, machine: Path, scales: tuple[str, ...], measure: str, judge: str | None,
    baseline: str | None, width: float | None, delta: float | None, power: float, level: float, human_cost: float,
    machine_cost: float, strata: bool, jobs: int, out: Output,
) -> None:  # fmt: skip
    """How many human topics, how many machine topics?

    From a pilot that both judged: the cheapest mix that reaches a width or a power.

    \b
    assay plan labels --human pilot.qrels --machine labels.tsv runs/ --judge gpt --width 0.1
    assay plan labels --human pilot.qrels --machine labels.tsv runs/ --delta 0.03 --human-cost 0.5
    """
    from assay.cli.label_files import has_effect
    from assay.judges import plan_labels

    has_effect("power", delta is not None, "without --delta")
    found = plan_labels(
        load_qrels(human), read_machine(machine), load_runs(runs, jobs=jobs), measure=measure, judge=judge,
        baseline=baseline, width=width, delta=delta, power=power, level=level, human_cost=human_cost,
        machine_cost=machine_cost, scale=scales_of(scales), jobs=jobs,
    )  # fmt: skip
    out.write(found.strata_table() if strata else found.table(), of=found)
