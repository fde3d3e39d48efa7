"""MS MARCO's runs, `topic doc rank` separated by tabs and without scores; its judgments are those of TREC with tabs.

The docs of a topic are in the order of their ranks; the first of n docs gets the score n, the last 1.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from assay.core.errors import DataError
from assay.data import Qrels, Run
from assay.data.topic_rows import bounds_of
from assay.io import rows
from assay.io._bytes.decimals import read_decimals
from assay.io._bytes.fields import Text, fields
from assay.io.content import Content
from assay.io.files import file_stem, write_whole
from assay.io.ranked import scores_of_ranks, shared_rank
from assay.io.trec import are_ranks, coded_topics, is_utf8, refuse_blanks, refuse_fractions

COLUMNS = 3


def run_in(content: Content) -> Run:
    """A run of lines `topic doc rank`, called as its file; topics in natural order."""
    where = content.where
    text = Text.of(rows.with_line_feeds(content.bytes()))
    parts = fields(text.buffer, 0, text.length, COLUMNS, exact=True)
    if parts is None or not is_utf8(text.buffer[: text.length]):
        raise rows.first_problem(where, text.bytes(), rows.RANKS)
    values = read_decimals(parts.column(2))
    if not are_ranks(values):
        raise rows.first_problem(where, text.bytes(), rows.RANKS)
    if not len(values):
        raise DataError(f'{where}: there is no line of results; a run line is "{rows.RANKS.form}"')
    topics, topic = coded_topics(parts.column(0))
    ranks = values.astype(np.int64)
    docs = parts.column(1)
    shared = shared_rank(topic, ranks)
    if shared is not None:
        what = f"two docs of topic {topics[int(topic[shared])]!r} have rank {ranks[shared]}"
        raise DataError(f"{where}: {what}, and there are no scores; every doc needs a rank of its own")
    scores = scores_of_ranks(topic, ranks)
    order = np.argsort(topic, kind="stable")
    bounds = bounds_of(np.bincount(topic, minlength=len(topics)))
    run = Run(file_stem(where) or "run", topics, bounds, docs.take(order), scores[order], ranks[order])
    if run.duplicate() is not None:
        raise rows.first_problem(where, text.bytes(), rows.RANKS)
    return run.ordered(own=True)


def write_run(path: str | Path, run: Run) -> None:
    """A run as lines `topic doc rank`; its scores and its name are left out."""
    refuse_blanks(path, run)
    docs = run.docs.tolist()
    lines = []
    for topic, (first, after) in zip(run.topics, pairwise(run.bounds.tolist()), strict=True):
        lines += [f"{topic}\t{docs[i]}\t{i - first + 1}\n" for i in range(first, after)]
    write_whole(path, "".join(lines))


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments as lines `topic 0 doc grade`, separated by tabs; grades are whole numbers."""
    refuse_blanks(path, qrels)
    refuse_fractions(path, qrels, "MS MARCO")
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    cells = zip(topics, qrels.docs.tolist(), qrels.grades.tolist(), strict=True)
    write_whole(path, "".join(f"{topic}\t0\t{doc}\t{grade}\n" for topic, doc, grade in cells))
