"""assay sessions: score runs whose topics are the queries of sessions."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.commands import Command
from assay.cli.inputs import FILE, load_qrels, load_runs, runs_argument
from assay.cli.options import Output, output_and_figure_options
from assay.cli.score_tables import called_measures, named_option, save_option, show_scores


@click.command(cls=Command)
@runs_argument
@click.option("--qrels", "qrels_path", type=FILE, required=True, help="Judgments of the sessions: session 0 doc grade.")
@named_option("assay.measures.sessions:SESSION_MEASURES")
@click.option(
    "--separator", default="-", show_default=True, help="What stands between session and query in a topic of a run."
)
@click.option("--per-topic", "-q", is_flag=True, help="Also a row for every session.")
@save_option
@output_and_figure_options
def command(
    runs: tuple[Path, ...], qrels_path: Path, measures: str | None, separator: str, per_topic: bool, save: Path | None,
    out: Output,
) -> None:  # fmt: skip
    """Score sessions: several queries for one need.

    The topics of a run are called session-query, such as 12-1 and 12-2; the judgments are those of the session, 12.

    \b
    assay sessions --qrels sessions.qrels mine.run -m 'nsDCG(k=10) esnDCG' --save scores.csv
    assay compare scores.csv -m nsDCG(k=10) --baseline bm25
    """
    from assay.scoring.session_scores import MEASURES, evaluate_sessions

    wanted = called_measures(measures, MEASURES)
    scores = evaluate_sessions(load_runs(runs), load_qrels(qrels_path), wanted, separator=separator)
    show_scores(scores, per_topic, save, out)
