"""BEIR's judgments: a table `query-id<tab>corpus-id<tab>score` with a header. Its queries and corpora are read by
`topics` and `docs`, its judgments as any table."""

from __future__ import annotations

from pathlib import Path

from assay.data import Qrels
from assay.io.sheet import write_sheet
from assay.io.trec import refuse_fractions

HEADER = ("query-id", "corpus-id", "score")


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments as BEIR has them; grades are whole numbers."""
    refuse_fractions(path, qrels, "BEIR")
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    rows = zip(topics, qrels.docs.tolist(), qrels.grades.tolist(), strict=True)
    write_sheet(path, HEADER, rows, format="tsv")
