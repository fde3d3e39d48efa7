"""assay fairness: score the exposure that rankings give to groups of docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.commands import Command, KnownWord
from assay.cli.inputs import FILE, load_qrels, load_runs, runs_argument
from assay.cli.options import Output, output_and_figure_options
from assay.cli.score_tables import called_measures, named_option, save_option, show_scores


@click.command(cls=Command)
@runs_argument
@click.option("--qrels", "qrels_path", type=FILE, required=True, help="Judgments: topic 0 doc grade.")  # fmt: skip
@click.option(
    "--groups", "groups_path", type=FILE, required=True,
    help="Groups of docs: a table with doc and group, perhaps attribute and share.",
)  # fmt: skip
@named_option("assay.measures.fairness:FAIRNESS_MEASURES")  # fmt: skip
@click.option(
    "--attribute", "attributes", multiple=True, metavar="NAME",
    help="Groups of this attribute; of several together if repeated.  [default: all of the file together]",
)  # fmt: skip
@click.option(
    "--target", type=KnownWord("assay.measures.fairness:TARGETS"), default="relevant", show_default=True,
    help="What the groups should get.",
)  # fmt: skip
@click.option("--population", type=FILE, help="Shares of a population, for --target population or both: group, share.")
@click.option(
    "--unknown", type=KnownWord("assay.data.doc_groups:ON_UNKNOWN"), default="error", show_default=True,
    help="Docs without a group: refuse them, put them in a group of their own, or give them no exposure.",
)  # fmt: skip
@click.option("--rel", type=float, default=1.0, show_default=True, help="Least grade of a relevant doc.")  # fmt: skip
@click.option(
    "--separator", help="Runs have several rankings of a topic, 12-1, 12-2 …: what stands before their number."
)  # fmt: skip
@click.option("--per-topic", "-q", is_flag=True, help="Also a row for every topic.")  # fmt: skip
@save_option
@output_and_figure_options
def command(
    runs: tuple[Path, ...], qrels_path: Path, groups_path: Path, measures: str | None, population: Path | None,
    per_topic: bool, save: Path | None, out: Output, **choices: Any,
) -> None:  # fmt: skip
    """Score group fairness of exposure: AWRF, the track score M1, expected exposure EE-L, EE-D, EE-R.

    The groups of docs come as a table; a doc may belong to several, with shares that sum to 1. EE-L and EE-D are better
    the lower they are. Scores are compared as any others.

    \b
    assay fairness --qrels qrels.txt --groups groups.csv runs/* -m 'AWRF M1(k=500)' --save scores.csv
    assay fairness --qrels qrels.txt --groups groups.csv drawn.run -m 'EE-L(k=20)' --separator -
    assay compare scores.csv -m AWRF --baseline bm25
    """
    from assay.io.doc_groups import read_doc_groups, read_population
    from assay.scoring.fairness_scores import MEASURES, evaluate_fairness

    scores = evaluate_fairness(
        load_runs(runs), load_qrels(qrels_path), read_doc_groups(groups_path), called_measures(measures, MEASURES),
        population=None if population is None else read_population(population), **choices,
    )  # fmt: skip
    show_scores(scores, per_topic, save, out)
