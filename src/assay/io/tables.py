"""Runs and judgments as tables: CSV, TSV, JSONL and Parquet with the columns topic, doc and score or grade."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.core.ids import Ids
from assay.data import Qrels, Run, RunInfo
from assay.io.files import read_bytes
from assay.io.frames import Frame, read_frame
from assay.io.rows import LARGEST_GRADE, LARGEST_RANK
from assay.io.sheet import Sheet, read_sheet, write_sheet
from assay.io.trec import grouped_qrels

TOPIC, DOC = ("topic", "query", "qid", "query_id", "topic_id"), ("doc", "docid", "docno", "doc_id", "did")
SCORE, GRADE = ("score", "sim"), ("grade", "relevance", "rel", "label")
TAG, PROBABILITY = ("run", "tag"), ("probability", "inclusion")


def read_run(path: str | Path) -> Run:
    """A run from a table; its name is the last row's `run` or `tag`, or the file's."""
    raw, named = read_bytes(path), Path(path).name.partition(".")[0]
    frame = read_frame(path, raw)
    run = None if frame is None else _framed_run(frame, named)
    return _listed_run(read_sheet(path, raw=raw), named) if run is None else run


def read_qrels(path: str | Path) -> Qrels:
    """Judgments from a table, with a column `probability` sampled ones."""
    raw, named = read_bytes(path), Path(path).name
    frame = read_frame(path, raw)
    qrels = None if frame is None else _framed_qrels(frame, named)
    return _listed_qrels(read_sheet(path, raw=raw), named) if qrels is None else qrels


def _framed_run(frame: Frame, named: str) -> Run | None:
    """The run of a large plain table; None where anything is not as it should be."""
    topics, docs, scores = frame.ids(*TOPIC), frame.ids(*DOC), frame.numbers(*SCORE)
    ranks = frame.wholes("rank", largest=LARGEST_RANK) if frame.has("rank") else None
    name = frame.last(*TAG) if frame.has(*TAG) else named
    if topics is None or docs is None or scores is None or name is None or (ranks is None and frame.has("rank")):
        return None
    changes = topics.changes()
    run = Run(name, tuple(topics.take(changes).tolist()), np.append(changes, len(docs)), docs, scores, ranks).together()
    return None if run.duplicate() is not None else run.ordered(own=True)


def _framed_qrels(frame: Frame, named: str) -> Qrels | None:
    """The judgments of a large plain table; None where anything is not as it should be."""
    topics, docs, grades = frame.ids(*TOPIC), frame.ids(*DOC), frame.wholes(*GRADE, largest=LARGEST_GRADE)
    sampled = frame.has(*PROBABILITY)
    probabilities = frame.numbers(*PROBABILITY) if sampled else None
    fit = not sampled or (probabilities is not None and bool(((probabilities > 0) & (probabilities <= 1)).all()))
    if topics is None or docs is None or grades is None or not fit:
        return None
    return grouped_qrels(topics, docs, grades, probabilities, name=named)


def _listed_run(sheet: Sheet, named: str) -> Run:
    """The run of a table, row by row; an error names the line."""
    topic, doc, score = sheet.place(*TOPIC), sheet.place(*DOC), sheet.place(*SCORE)
    rank, tag = sheet.find("rank"), sheet.find(*TAG)
    groups = _grouped(sheet, topic, doc)
    rows = [i for group in groups.values() for i in group]
    return Run.from_rows(
        named if tag is None else sheet.rows[-1][tag],
        tuple(groups),
        np.cumsum([0, *map(len, groups.values())]),
        Ids.of(sheet.rows[i][doc] for i in rows),
        np.array([_finite(sheet, i, score) for i in rows]),
        ranks=np.array([_whole(sheet, i, rank, LARGEST_RANK) for i in rows]) if rank is not None else None,
        info=RunInfo(),
    )


def _listed_qrels(sheet: Sheet, named: str) -> Qrels:
    """The judgments of a table, row by row; an error names the line."""
    topic, doc, grade = sheet.place(*TOPIC), sheet.place(*DOC), sheet.place(*GRADE)
    probability = sheet.find(*PROBABILITY)
    groups = _grouped(sheet, topic, doc)
    topics = natural_order(groups)
    rows = [i for t in topics for i in groups[t]]
    return Qrels(
        tuple(topics),
        np.cumsum([0, *(len(groups[t]) for t in topics)]),
        Ids.of(sheet.rows[i][doc] for i in rows),
        np.array([_whole(sheet, i, grade, LARGEST_GRADE) for i in rows], dtype=np.int64),
        None if probability is None else np.array([_probability(sheet, i, probability) for i in rows]),
        name=named,
    )


def write_run(path: str | Path, run: Run) -> None:
    """A run as a table, ranks from 1."""
    topic = [run.topics[t] for t in run.topic_of_row().tolist()]
    place = np.arange(len(run)) - np.repeat(run.bounds[:-1], np.diff(run.bounds)) + 1
    columns = (topic, run.docs.tolist(), place.tolist(), run.scores.tolist(), [run.name] * len(run))
    write_sheet(path, ["topic", "doc", "rank", "score", "run"], zip(*columns, strict=True))


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments as a table."""
    header = ["topic", "doc", "grade"]
    columns: list[Sequence[object]] = [
        [qrels.topics[t] for t in qrels.topic_of_row().tolist()], qrels.docs.tolist(), qrels.grades.tolist()
    ]  # fmt: skip
    if qrels.probabilities is not None:
        header.append("probability")
        columns.append(qrels.probabilities.tolist())
    write_sheet(path, header, zip(*columns, strict=True))


def _grouped(sheet: Sheet, topic: int, doc: int) -> dict[str, list[int]]:
    """The rows of each topic; a doc twice in a topic is an error with its line."""
    groups: dict[str, list[int]] = {}
    seen: dict[tuple[str, str], int] = {}
    for i, row in enumerate(sheet.rows):
        if not row[topic] or not row[doc]:
            raise DataError.at(sheet.where, sheet.lines[i], "the topic or the doc is empty; every row needs both")
        before = seen.setdefault((row[topic], row[doc]), i)
        if before != i:
            what = f"doc {row[doc]!r} is twice in topic {row[topic]!r} (first on line {sheet.lines[before]})"
            raise DataError.at(sheet.where, sheet.lines[i], f"{what}; keep one of the two lines")
        groups.setdefault(row[topic], []).append(i)
    if not groups:
        raise DataError(f"{sheet.where}: there is a header but no row")
    return groups


def _finite(sheet: Sheet, row: int, column: int) -> float:
    value = sheet.number(row, column)
    if np.isnan(value):
        raise DataError.at(sheet.where, sheet.lines[row], f"score is not a number: {sheet.rows[row][column]!r}")
    return value


def _whole(sheet: Sheet, row: int, column: int, largest: int) -> int:
    value = sheet.number(row, column)
    if not abs(value) <= largest or value != np.floor(value):
        name = sheet.header[column].strip()
        what = f"{name} is not a whole number of at most {largest}: {sheet.rows[row][column]!r}"
        raise DataError.at(sheet.where, sheet.lines[row], f"{what}; map the {name}s to whole numbers")
    return int(value)


def _probability(sheet: Sheet, row: int, column: int) -> float:
    value = sheet.number(row, column)
    if not 0 < value <= 1:
        what = f"probability is not in (0, 1]: {sheet.rows[row][column]!r}"
        raise DataError.at(sheet.where, sheet.lines[row], what)
    return value
