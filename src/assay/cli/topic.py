"""`assay topic`: what happened on one topic? The lists of runs side by side, with grades, texts and scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli.columns import named_columns
from assay.cli.commands import Command
from assay.cli.inputs import FILE, load_qrels, measures_option, run_sources, runs_argument
from assay.cli.modes import is_given
from assay.cli.options import Output, output_options
from assay.core.errors import UsageError


@click.command(cls=Command)
@click.argument("topic")
@runs_argument
@click.option("--qrels", "qrels_path", type=FILE, required=True, help="Judgments: topic 0 doc grade.")
@measures_option
@click.option(
    "--topics", "topics_path", type=FILE, help="Topics with their texts: TREC topics, id<tab>text, a table, or irds:ID."
)
@click.option("--docs", type=FILE, help="Texts of docs: doc<tab>text lines, corpus.jsonl, a table, or irds:ID.")
@click.option("--depth", type=click.IntRange(min=1), default=20, show_default=True, help="Show the first N docs.")
@click.option(
    "--characters", type=click.IntRange(min=1), default=200, show_default=True,
    help="Show that many characters of each text of --docs.",
)  # fmt: skip
@output_options
def command(
    topic: str, runs: Sequence[Path], qrels_path: Path, measures: str | None, topics_path: Path | None,
    docs: Path | None, depth: int, characters: int, out: Output,
) -> None:  # fmt: skip
    """What happened on this topic?

    The first docs of each run side by side with their grades: which are not judged, where the other run has them, the
    scores of the runs on this topic, and with --topics and --docs the texts. CSV has one row per run and rank.

    \b
    assay topic 156493 --qrels qrels.txt bm25.run dense.run
    assay topic 156493 --qrels qrels.txt bm25.run dense.run --topics queries.tsv --docs corpus.jsonl --depth 10
    """
    from assay.scoring import topic_view

    if is_given("characters") and (docs is None or out.format in ("csv", "json")):
        raise UsageError("--characters cuts the texts of --docs, and CSV and JSON have them whole; leave it out")
    chosen: dict[str, Any] = {} if measures is None else {"measures": measures}
    view = topic_view(
        topic, run_sources(runs), load_qrels(qrels_path), topics=topics_path, docs=docs, depth=depth,
        characters=characters, columns=named_columns(), **chosen,
    )  # fmt: skip
    if out.format == "json":
        out.text(json.dumps(view.record(), ensure_ascii=False, indent=2, allow_nan=False))
    elif out.format == "csv":
        out.write(view.long_table())
    else:
        out.write(*view.tables())
