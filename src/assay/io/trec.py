"""TREC files: runs `topic Q0 doc rank score tag`, qrels `topic 0 doc grade`, and topics.

Millions of lines are read as whole columns (`_bytes`); where anything is not as it should be, the line
reader (`rows`) finds the line and says what is wrong with it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bytes, Floats, Growing, Ints, Keys
from assay.core.engine import thread_stream
from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.core.ids import Ids, coded
from assay.data import Qrels, Run, RunInfo
from assay.data.grade_scales import GradeScale
from assay.data.order import short_keys
from assay.data.topic_rows import bounds_of
from assay.io import rows
from assay.io._bytes.alike_lines import RunLines, alike_lines
from assay.io._bytes.decimals import read_decimals
from assay.io._bytes.fields import Text, fields, pieces
from assay.io.content import Content
from assay.io.files import write_whole

_BLANK = re.compile(r"[\x00-\x20]")
RUN_FIELDS, QRELS_FIELDS = 6, 4
FIRST_LINES = 1 << 16
TOPIC, DOC, GRADE, RANK, SCORE, TAG = 0, 2, 3, 3, 4, 5


def run_in(content: Content, *, ranks: bool = False, threads: int = 1) -> Run:
    """A TREC run. Its name is the tag of its last line, as in trec_eval.

    ranks: keep the rank column, for ties="rank".
    """
    where = content.where
    text = content.text
    run = _run_in_file_order(text, ranks, threads)
    if run is None:  # lines that end in a bare CR are rare enough to be tried last
        text = Text.of(rows.with_line_feeds(text.bytes()))
        run = _run_in_file_order(text, ranks, threads)
    if run is None or run.duplicate(threads=threads) is not None:
        layout = rows.RANKED_RUN if ranks else rows.RUN
        raise rows.first_problem(where, text.bytes(), layout)
    if not len(run):
        raise DataError(f'{where}: there is no line of results; a run line is "{rows.RUN.form}"')
    metadata = rows.metadata(content.head)
    if metadata or not run.name:
        run = replace(run, name=run.name or Path(where).name, info=RunInfo(metadata=metadata))
    return run.ordered(own=True)


def qrels_in(content: Content) -> Qrels:
    """TREC judgments: `topic 0 doc grade`, with a fifth column the probability with which the doc was sampled."""
    where = content.where
    text = Text.of(rows.with_line_feeds(content.bytes()))
    columns = _qrels_columns(text)
    if columns is None:
        raise rows.first_problem(where, text.bytes(), rows.QRELS)
    topics, docs, grades, probabilities = columns
    if not len(grades):
        raise DataError(f'{where}: there is no judgment; a qrels line is "{rows.QRELS.form}"')
    qrels = grouped_qrels(topics, docs, grades, probabilities, name=Path(where).name)
    if qrels is None:
        raise rows.first_problem(where, text.bytes(), rows.QRELS)
    return replace(qrels, scale=_told_scale(content.bytes()))


def _told_scale(data: bytes) -> GradeScale | None:
    """The scale that the second column of the first line tells of, if it does."""
    for line in data[:FIRST_LINES].splitlines():
        words = line.split()
        if len(words) > 2 and not words[0].startswith(b"#"):
            return GradeScale.read(words[1].decode("ascii", "replace"))
    return None


def grouped_qrels(topics: Ids, docs: Ids, grades: Floats, probabilities: Floats | None, *, name: str) -> Qrels | None:
    """Judgments from the columns of a file, topics in natural order; None if a doc is twice in a topic."""
    names, code = coded_topics(topics)
    order = np.argsort(code, kind="stable")
    sizes = np.bincount(code, minlength=len(names))
    qrels = Qrels(
        names,
        bounds_of(sizes),
        docs.take(order),
        grades[order],
        None if probabilities is None else probabilities[order],
        name=name,
    )
    return None if qrels.duplicate() is not None else qrels


def write_run(path: str | Path, run: Run) -> None:
    """A run as a TREC file, ranks from 1, scores with all their digits."""
    refuse_blanks(path, run)
    docs = run.docs.tolist()
    scores = run.scores.tolist()
    lines = []
    for topic, (first, after) in zip(run.topics, pairwise(run.bounds.tolist()), strict=True):
        for i in range(first, after):
            rank = i - first + 1
            lines.append(f"{topic} Q0 {docs[i]} {rank} {scores[i]!r} {run.name}\n")
    write_whole(path, "".join(lines))


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments as a TREC file; a scale of many levels as the second column, a probability as the fifth."""
    refuse_blanks(path, qrels)
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    columns = zip(topics, qrels.docs.tolist(), qrels.grades.tolist(), strict=True)
    told = qrels.scale.written() if qrels.scale is not None and qrels.scale.is_fine else "0"
    lines = [f"{topic} {told} {doc} {grade}" for topic, doc, grade in columns]
    if qrels.probabilities is not None:
        probabilities = qrels.probabilities.tolist()
        lines = [f"{line} {p!r}" for line, p in zip(lines, probabilities, strict=True)]
    write_whole(path, "".join(line + "\n" for line in lines))


def refuse_blanks(path: str | Path, table: Run | Qrels) -> None:
    """Ids with white space would be two fields of a line, and a topic that starts with # a comment."""
    unfit = [f"topic {topic!r}" for topic in table.topics if _BLANK.search(topic) or topic.startswith("#")]
    unfit += [f"doc {doc!r}" for doc in table.docs.tolist() if _BLANK.search(doc)]
    if unfit:
        why = "TREC files have no white space in ids, and no # at the start of a topic"
        raise DataError(f"{path}: {unfit[0]}: {why}; write a table instead (.csv, .jsonl, .parquet)")


def refuse_fractions(path: str | Path, qrels: Qrels, format: str) -> None:
    """An error for judgments that a format of plain whole grades cannot hold: fractions, and sampled ones."""
    if qrels.probabilities is not None:
        what = f"the judgments are sampled, and {format} has no probabilities"
        raise DataError(f"{path}: {what}; write a TREC file or a table (.csv, .jsonl, .parquet)")
    if qrels.grades.dtype.kind == "f":
        fraction = qrels.grades[qrels.grades != np.floor(qrels.grades)][:1].tolist()
        what = f"a grade is {fraction[0] if fraction else 'a fraction'}, and {format} has whole grades"
        raise DataError(f"{path}: {what}; write a TREC file or a table (.csv, .jsonl, .parquet)")


class _Piece(NamedTuple):
    """What a piece of a run file says: its columns, the topics that start in it and where, the tag of its last line."""

    doc_starts: npt.NDArray[Any]
    doc_lengths: npt.NDArray[Any]
    keys: Keys
    scores: Floats
    ranks: Ints | None
    changes: Ints
    topics: list[str]
    tag: str


def _run_in_file_order(text: Text, ranks: bool, threads: int) -> Run | None:
    """The run of a file, docs in the order of its lines, or None where a line is not as it should be."""
    cuts = pieces(text.buffer[: text.length])
    columns = _Columns(len(cuts), ranks)
    for piece in thread_stream(lambda cut: _piece(text, *cut, ranks), cuts, threads=threads):
        if piece is None:
            return None
        columns.add(piece)
    return columns.run(text)


def _piece(text: Text, start: int, stop: int, ranked: bool) -> _Piece | None:
    """A piece of a run file; None where a line is not as it should be."""
    buffer, at = text.piece(start, stop)
    end = at + stop - start
    lines = None if ranked else alike_lines(buffer, at, end)
    if not lines:
        lines = _lines_of_any_layout(buffer, at, end, ranked)
    if lines is None or not is_utf8(buffer[at:end]):
        return None
    if lines.ranks is not None and not are_ranks(lines.ranks):
        return None
    doc_starts = lines.docs.starts + (start - at)
    return _Piece(
        doc_starts.astype(np.int32) if text.length < 2**31 else doc_starts,
        lines.docs.lengths.astype(np.int32),
        lines.keys,
        lines.scores,
        None if lines.ranks is None else lines.ranks.astype(np.int64),
        lines.changes,
        lines.topics.tolist(),
        "".join(lines.tag.tolist()),
    )


def _lines_of_any_layout(buffer: Bytes, start: int, stop: int, ranked: bool) -> RunLines | None:
    """The lines of a piece of any layout, or None where one is not as it should be."""
    parts = fields(buffer, start, stop, RUN_FIELDS)
    if parts is None:
        return None
    scores = read_decimals(parts.column(SCORE))
    if np.isnan(scores).any():
        return None
    ranks = read_decimals(parts.column(RANK)) if ranked else None
    topics = parts.column(TOPIC)
    docs = parts.column(DOC)
    changes = topics.changes()
    return RunLines(
        changes,
        topics.take(changes),
        docs,
        short_keys(docs.hashes()),
        scores,
        parts.column(TAG, slice(-1, None)),
        ranks,
    )


def are_ranks(values: Floats) -> bool:
    """Whether all are whole numbers that are not too large; not-a-number is not."""
    is_whole = values == np.floor(values)
    is_small = np.abs(values) <= rows.LARGEST_RANK
    return bool((is_whole & is_small).all())


def is_utf8(text: Bytes) -> bool:
    """Whether all lines are UTF-8, comments aside; pure ASCII is seen at a glance."""
    if not len(text) or int(text.max()) < 128:
        return True
    data = text.tobytes()
    if _decodes(data):
        return True
    without_comments = re.sub(rb"(?m)^[\x00-\x20]*#.*", b"", data)
    return _decodes(without_comments)


def _decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Columns:
    """The columns of a run file, and its topics with the rows in which they start, put together piece by piece."""

    def __init__(self, pieces: int, ranks: bool) -> None:
        self._doc_starts = Growing(pieces, np.int64)
        self._doc_lengths = Growing(pieces, np.int64)
        self._keys = Growing(pieces, np.uint32)
        self._scores = Growing(pieces, np.float64)
        self._ranks = Growing(pieces, np.int64) if ranks else None
        self._topics: list[str] = []
        self._first_rows = [np.zeros(0, np.int64)]
        self._rows = 0
        self._tag = ""

    def add(self, piece: _Piece) -> None:
        """The next piece of the file."""
        self._doc_starts.add(piece.doc_starts)
        self._doc_lengths.add(piece.doc_lengths)
        self._keys.add(piece.keys)
        self._scores.add(piece.scores)
        if self._ranks is not None and piece.ranks is not None:
            self._ranks.add(piece.ranks)
        self._topics += piece.topics
        self._first_rows.append(piece.changes + self._rows)
        self._rows += len(piece.scores)
        self._tag = piece.tag or self._tag

    def run(self, text: Text) -> Run:
        """The run, the lines of a topic brought together if they are scattered."""
        topics = self._topics
        first_rows = np.concatenate(self._first_rows)
        # A piece starts a topic of its own, which mostly is the last one of the piece before.
        new = [i for i, topic in enumerate(topics) if i == 0 or topic != topics[i - 1]]
        run = Run(
            self._tag,
            tuple(topics[i] for i in new),
            np.append(first_rows[new], self._rows),
            Ids(text.buffer, self._doc_starts.whole(), self._doc_lengths.whole()),
            self._scores.whole(),
            None if self._ranks is None else self._ranks.whole(),
            keys=self._keys.whole(),
        )
        return run.together()


def _qrels_columns(text: Text) -> tuple[Ids, Ids, Floats, Floats | None] | None:
    """Topics, docs, grades and perhaps probabilities, or None where a line is not as it should be."""
    buffer = text.buffer
    parts = fields(buffer, 0, text.length, QRELS_FIELDS, exact=True)
    probabilities = None
    if not parts:
        parts = fields(buffer, 0, text.length, QRELS_FIELDS + 1, exact=True)
        if parts is None:
            return None
        probabilities = read_decimals(parts.column(QRELS_FIELDS))
    grades = read_decimals(parts.column(GRADE))
    is_grade = np.abs(grades) <= rows.LARGEST_GRADE  # not-a-number is none
    if not is_grade.all():
        return None
    if probabilities is not None and not _are_probabilities(probabilities):
        return None
    if not is_utf8(buffer[: text.length]):
        return None
    return parts.column(TOPIC), parts.column(DOC), grades, probabilities


def _are_probabilities(values: Floats) -> bool:
    """Whether all are above 0 and at most 1."""
    return bool(((values > 0) & (values <= 1)).all())


def coded_topics(topics: Ids) -> tuple[tuple[str, ...], Ints]:
    """Distinct topics in natural order, and the place of each line's topic among them."""
    changes = topics.changes()  # mostly the lines of a topic stand together
    (number,), distinct = coded([topics.take(changes)])
    names = distinct.tolist()
    ordered = natural_order(names)
    place = {topic: i for i, topic in enumerate(ordered)}
    places = np.array([place[topic] for topic in names], dtype=np.int64)
    lines = np.diff(changes, append=len(topics))
    return tuple(ordered), np.repeat(places[number], lines)
