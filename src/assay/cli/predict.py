"""`assay predict`: which run is best without judgments? With --qrels also how good the prediction was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.inputs import FILE, load_qrels, load_runs, qrels_option, runs_argument
from assay.cli.options import Output, jobs_option, output_and_figure_options, seed_option
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.data import Run
    from assay.nojudgments.ranking import RunRanking
    from assay.scores import ScoreMatrix
    from assay.tables import Table


@click.command()
@runs_argument
@click.option(
    "--method", "methods", multiple=True, metavar="NAME",
    help="Only this method; may be repeated, parameters in brackets: 'soboroff(duplicates=true)'. --list shows all.",
)  # fmt: skip
@click.option(
    "--combine", default="average", show_default=True, metavar="NAME",
    help="Combination of the methods: average, rank-position, borda, condorcet.",
)  # fmt: skip
@qrels_option
@click.option("--measure", "-m", default="AP", show_default=True, help="With --qrels: the measure of the truth.")
@click.option("--depth", type=click.IntRange(min=1), default=1000, show_default=True, help="Docs of each list to use.")
@click.option("--manual", multiple=True, metavar="RUN", help="A run made with a person's help; may be repeated.")
@click.option("--manual-list", type=FILE, help="A file with the names of the manual runs, one a line.")
@click.option("--topics", is_flag=True, help="Also which topics are hard, by the mean of the methods.")
@click.option("--save", type=FILE, help="Write the predicted scores (runs × topics) to this file.")
@click.option(
    "--scale", default="none", show_default=True, metavar="NAME",
    help="Scale of the saved scores: none, min-max, z, min-max-topic, z-topic.",
)  # fmt: skip
@click.option("--list", "listed", is_flag=True, is_eager=True, expose_value=False, callback=lambda c, p, v: _list(c, v),
              help="List the methods and stop.")  # fmt: skip
@click.option("--calibration", is_flag=True, help="--figure shows how well EMAP's probabilities fit --qrels.")
@seed_option
@jobs_option
@output_and_figure_options
def command(
    runs: Sequence[Path], methods: Sequence[str], combine: str, qrels_path: Path | None, measure: str, depth: int,
    manual: Sequence[str], manual_list: Path | None, topics: bool, calibration: bool, save: Path | None, scale: str,
    seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Rank runs without judgments.

    RUN… are run files of one collection, or folders of them. Each method scores a run by what the other runs
    retrieved; the table gives the rank by every method and by their combination. With --qrels a second table says how
    well each agrees with the true ranking.

    \b
    assay predict runs/
    assay predict runs/ --qrels qrels.txt -m nDCG@10 --manual-list manual.txt
    assay predict a.run b.run c.run --method emap --method 'soboroff(duplicates=true)'
    """
    from assay.nojudgments import comparable
    from assay.nojudgments.ranking import ranked

    loaded = _marked(load_runs(runs, jobs=jobs), [*manual, *_names(manual_list)])
    truth = None if qrels_path is None else _truth(loaded, qrels_path, measure)
    with out.progress("methods") as progress:
        result = ranked(
            comparable(loaded, depth=depth), methods or None, combine=combine, truth=truth, scale=scale,
            seed=seed, jobs=jobs,
            progress=progress,
        )  # fmt: skip
    if save is not None:
        from assay.scorefiles import write_scores

        write_scores(save, result.predictions)
        out.say(f"predicted scores written to {save}")
    shown = [result.table(), *([] if truth is None else [result.accuracy_table()])]
    drawn = _calibration(loaded, qrels_path, depth) if calibration and out.figure else result
    out.write(*shown, *(_difficulty(result) if topics else []), of=drawn)


def _calibration(runs: Sequence[Run], qrels_path: Path | None, depth: int) -> object:
    """How well the probabilities of EMAP fit the judgments."""
    from assay.cli.inputs import load_qrels
    from assay.nojudgments import comparable
    from assay.nojudgments.expected import calibration, relevance

    if qrels_path is None:
        raise UsageError("--calibration needs --qrels")
    lists = comparable(runs, depth=depth).cut(min(depth, 100))
    return calibration(relevance(lists), lists.graded(load_qrels(qrels_path)).relevant())


def _list(ctx: click.Context, wanted: bool) -> None:
    if not wanted:
        return
    from assay.nojudgments import METHODS
    from assay.tables import Table

    rows = [
        (e.name, e.facts["short"], "more" if e.facts["higher"] else "less", e.facts["paper"], e.summary)
        for e in METHODS
    ]
    click.echo(Table.of({"method": "", "id": "", "better": "", "paper": "", "what it scores": ""}, rows).text())
    ctx.exit()


def _marked(runs: Sequence[Run], manual: Sequence[str]) -> list[Run]:
    """The runs, those named marked as manual."""
    from assay.registry import did_you_mean

    known = [r.name for r in runs]
    for name in manual:
        if name not in known:
            raise UsageError(f"--manual: no run {name!r}{did_you_mean(name, known)}")
    return [replace(r, info=replace(r.info, manual=True)) if r.name in set(manual) else r for r in runs]


def _names(path: Path | None) -> list[str]:
    if path is None:
        return []
    with click.open_file(str(path), encoding="utf-8") as lines:
        return [line.strip() for line in lines if line.strip()]


def _truth(runs: Sequence[Run], qrels_path: Path, measure: str) -> ScoreMatrix:
    from assay.scoring import evaluate

    return evaluate(runs, load_qrels(qrels_path), measure)[0]


def _difficulty(result: RunRanking) -> list[Table]:
    """Topics by predicted ease, the hardest first; with the truth also how well that was predicted."""
    from assay.nojudgments.difficulty import average_ap, difficulty
    from assay.tables import Table

    combined = result.by_topic()
    if result.truth is not None:
        found = difficulty(combined, result.truth)
        return [found.table(), *([found.quarters()] if found.tests else [])]
    ease = average_ap(combined)
    rows = [(combined.topics[i], ease[i]) for i in ease.argsort(kind="stable")]
    caption = f"Topic difficulty by {combined.measure}: mean over runs, the hardest first"
    return [Table.of({"topic": "", "predicted": ".4f"}, rows, caption=caption, notes=[combined.signature])]
