"""Runs and judgments as tables: CSV, TSV, JSONL and Parquet with the columns topic, doc and score or grade.

Plain tables are taken by column (`frames`); any other is read row by row (`sheet`), where an error names its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.core.ids import Ids
from assay.data import Qrels, Run
from assay.io.files import read_bytes
from assay.io.frames import Frame, read_frame
from assay.io.rows import LARGEST_GRADE, LARGEST_RANK
from assay.io.sheet import Sheet, read_sheet, write_sheet
from assay.io.trec import grouped_qrels

TOPIC = ("topic", "query", "qid", "query_id", "topic_id")
DOC = ("doc", "docid", "docno", "doc_id", "did")
SCORE = ("score", "sim")
GRADE = ("grade", "relevance", "rel", "label")
RANK = ("rank",)
TAG = ("run", "tag")
PROBABILITY = ("probability", "inclusion")
"""The names under which each column is looked for, whatever their case; the first is the one that is written."""


def read_run(path: str | Path) -> Run:
    """A run from a table; its name is the last row's `run` or `tag`, or the file's."""
    raw = read_bytes(path)
    name_of_file = Path(path).name.partition(".")[0]
    frame = read_frame(path, raw)
    run = None if frame is None else _run_by_column(frame, name_of_file)
    if run is None:
        run = _run_by_row(read_sheet(path, raw=raw), name_of_file)
    return run


def read_qrels(path: str | Path) -> Qrels:
    """Judgments from a table, with a column `probability` sampled ones."""
    raw = read_bytes(path)
    name = Path(path).name
    frame = read_frame(path, raw)
    qrels = None if frame is None else _qrels_by_column(frame, name)
    if qrels is None:
        qrels = _qrels_by_row(read_sheet(path, raw=raw), name)
    return qrels


def write_run(path: str | Path, run: Run) -> None:
    """A run as a table, ranks from 1."""
    topics = [run.topics[t] for t in run.topic_of_row().tolist()]
    first_rows = np.repeat(run.bounds[:-1], np.diff(run.bounds))
    ranks = np.arange(len(run)) - first_rows + 1
    tags = [run.name] * len(run)
    rows = zip(topics, run.docs.tolist(), ranks.tolist(), run.scores.tolist(), tags, strict=True)
    write_sheet(path, ["topic", "doc", "rank", "score", "run"], rows)


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments as a table; sampled ones with their probability."""
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    header = ["topic", "doc", "grade"]
    columns: list[Sequence[object]] = [topics, qrels.docs.tolist(), qrels.grades.tolist()]
    if qrels.probabilities is not None:
        header.append("probability")
        columns.append(qrels.probabilities.tolist())
    write_sheet(path, header, zip(*columns, strict=True))


def _run_by_column(frame: Frame, name_of_file: str) -> Run | None:
    """The run of a plain table; None where anything is not as it should be."""
    topics = frame.ids(*TOPIC)
    docs = frame.ids(*DOC)
    scores = frame.numbers(*SCORE)
    if topics is None or docs is None or scores is None:
        return None
    ranks = None
    if frame.has(*RANK):
        ranks = frame.wholes(*RANK, largest=LARGEST_RANK)
        if ranks is None:
            return None
    name = frame.last(*TAG) if frame.has(*TAG) else name_of_file
    if name is None:
        return None
    starts = topics.changes()
    bounds = np.append(starts, len(docs))
    run = Run(name, tuple(topics.take(starts).tolist()), bounds, docs, scores, ranks).together()
    if run.duplicate() is not None:
        return None
    return run.ordered(own=True)


def _qrels_by_column(frame: Frame, name: str) -> Qrels | None:
    """The judgments of a plain table; None where anything is not as it should be."""
    topics = frame.ids(*TOPIC)
    docs = frame.ids(*DOC)
    grades = frame.numbers(*GRADE)
    if topics is None or docs is None or grades is None or (np.abs(grades) > LARGEST_GRADE).any():
        return None
    probabilities = None
    if frame.has(*PROBABILITY):
        probabilities = frame.numbers(*PROBABILITY)
        if probabilities is None or ((probabilities <= 0) | (probabilities > 1)).any():
            return None
    return grouped_qrels(topics, docs, grades, probabilities, name=name)


def _run_by_row(sheet: Sheet, name_of_file: str) -> Run:
    """The run of a table, row by row; an error names the line."""
    topic_at, doc_at, score_at = sheet.place(*TOPIC), sheet.place(*DOC), sheet.place(*SCORE)
    rank_at, tag_at = sheet.find(*RANK), sheet.find(*TAG)
    groups = _rows_by_topic(sheet, topic_at, doc_at)
    rows = [row for group in groups.values() for row in group]
    ranks = None
    if rank_at is not None:
        ranks = np.array([_rank(sheet, row, rank_at) for row in rows])
    return Run.from_rows(
        name_of_file if tag_at is None else sheet.rows[-1][tag_at],
        tuple(groups),
        _bounds(groups.values()),
        Ids.of(sheet.rows[row][doc_at] for row in rows),
        np.array([_score(sheet, row, score_at) for row in rows]),
        ranks=ranks,
    )


def _qrels_by_row(sheet: Sheet, name: str) -> Qrels:
    """The judgments of a table, row by row; an error names the line."""
    topic_at, doc_at, grade_at = sheet.place(*TOPIC), sheet.place(*DOC), sheet.place(*GRADE)
    probability_at = sheet.find(*PROBABILITY)
    groups = _rows_by_topic(sheet, topic_at, doc_at)
    topics = natural_order(groups)
    rows = [row for topic in topics for row in groups[topic]]
    probabilities: Floats | None = None
    if probability_at is not None:
        probabilities = np.array([_probability(sheet, row, probability_at) for row in rows])
    return Qrels(
        tuple(topics),
        _bounds([groups[topic] for topic in topics]),
        Ids.of(sheet.rows[row][doc_at] for row in rows),
        np.array([sheet.finite(row, grade_at, largest=LARGEST_GRADE) for row in rows]),
        probabilities,
        name=name,
    )


def _rows_by_topic(sheet: Sheet, topic_at: int, doc_at: int) -> dict[str, list[int]]:
    """The rows of each topic; a doc twice in a topic is an error with its line."""
    groups: dict[str, list[int]] = {}
    seen: dict[tuple[str, str], int] = {}
    for i, cells in enumerate(sheet.rows):
        topic, doc = cells[topic_at], cells[doc_at]
        if not topic or not doc:
            raise DataError.at(sheet.where, sheet.lines[i], "the topic or the doc is empty; every row needs both")
        first = seen.setdefault((topic, doc), i)
        if first != i:
            what = f"doc {doc!r} is twice in topic {topic!r} (first on line {sheet.lines[first]})"
            raise DataError.at(sheet.where, sheet.lines[i], f"{what}; keep one of the two lines")
        groups.setdefault(topic, []).append(i)
    if not groups:
        raise DataError(f"{sheet.where}: there is a header but no row")
    return groups


def _bounds(groups: Iterable[Sequence[int]]) -> Ints:
    """Where the rows of each group begin, and where the last group ends."""
    sizes = [len(group) for group in groups]
    return np.cumsum([0, *sizes])


def _score(sheet: Sheet, row: int, column: int) -> float:
    value = sheet.number(row, column)
    if np.isnan(value):
        raise DataError.at(sheet.where, sheet.lines[row], f"score is not a number: {sheet.rows[row][column]!r}")
    return value


def _rank(sheet: Sheet, row: int, column: int) -> int:
    value = sheet.number(row, column)
    if not abs(value) <= LARGEST_RANK or value != np.floor(value):
        raise DataError.at(sheet.where, sheet.lines[row], f"rank is not a whole number: {sheet.rows[row][column]!r}")
    return int(value)


def _probability(sheet: Sheet, row: int, column: int) -> float:
    value = sheet.number(row, column)
    if not 0 < value <= 1:
        what = f"probability is not in (0, 1]: {sheet.rows[row][column]!r}"
        raise DataError.at(sheet.where, sheet.lines[row], what)
    return value
