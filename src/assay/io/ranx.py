"""ranx's files: nested JSON, or a Parquet table with the columns q_id, doc_id and score. Both are read as any other."""

from __future__ import annotations

from pathlib import Path

from assay.data import Qrels, Run
from assay.io.files import table_format
from assay.io.nested import write_nested
from assay.io.sheet import write_sheet
from assay.io.trec import refuse_fractions

HEADER = ("q_id", "doc_id", "score")


def write_run(path: str | Path, run: Run) -> None:
    """A run for ranx; its name is left out."""
    if table_format(path) != "parquet":
        write_nested(path, run)
        return
    topics = [run.topics[t] for t in run.topic_of_row().tolist()]
    rows = zip(topics, run.docs.tolist(), run.scores.tolist(), strict=True)
    write_sheet(path, HEADER, rows, format="parquet")


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments for ranx; grades are whole numbers."""
    refuse_fractions(path, qrels, "ranx")
    if table_format(path) != "parquet":
        write_nested(path, qrels)
        return
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    rows = zip(topics, qrels.docs.tolist(), qrels.grades.tolist(), strict=True)
    write_sheet(path, HEADER, rows, format="parquet")
