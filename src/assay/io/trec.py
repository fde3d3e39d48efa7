"""TREC files: runs `topic Q0 doc rank score tag`, qrels `topic 0 doc grade`, and topics.

Millions of lines are read as whole columns (`_bytes`); where anything is not as it should be, the line
reader (`rows`) finds the line and says what is wrong with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assay.core.arrays import Bytes, Floats, Ints, Keys, sealed
from assay.core.engine import ordered_map
from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.core.ids import WORD, Ids, coded
from assay.data import Qrels, Run, RunInfo
from assay.data.order import short_keys
from assay.io import rows
from assay.io._bytes.alike_lines import RunLines, alike_lines
from assay.io._bytes.decimals import read_decimals
from assay.io._bytes.fields import BYTE_ORDER_MARK, Text, fields, pieces
from assay.io.files import (
    STANDARD_INPUT,
    decompressed,
    is_compressed,
    read_bytes,
    read_room,
    refuse_other_encodings,
    write_whole,
)  # fmt: skip

_BLANK = re.compile(r"[\x00-\x20]")
RUN_FIELDS, QRELS_FIELDS = 6, 4
TOPIC, DOC, GRADE, RANK, SCORE, TAG = 0, 2, 3, 3, 4, 5


def read_run(path: str | Path, *, ranks: bool = False, threads: int = 1) -> Run:
    """A TREC run. Its name is the tag of its last line, as in trec_eval.

    ranks: keep the rank column, for ties="rank".
    """
    where = str(path)
    text = _text(path)
    run = _run_in_file_order(text, ranks, threads)
    if run is None:  # lines that end in a bare CR are rare enough to be tried last
        text = Text.of(rows.with_line_feeds(text.bytes()))
        run = _run_in_file_order(text, ranks, threads)
    if run is None or run.duplicate(threads=threads) is not None:
        raise rows.first_problem(where, text.bytes(), rows.RANKED_RUN if ranks else rows.RUN)
    if not len(run):
        raise DataError(f'{where}: there is no line of results; a run line is "{rows.RUN.form}"')
    info = RunInfo(metadata=rows.metadata(text.buffer[: min(1 << 16, text.length)].tobytes()))
    return replace(run, name=run.name or Path(where).name, info=info).ordered(own=True)


def read_qrels(path: str | Path) -> Qrels:
    """TREC judgments: `topic 0 doc grade`, with a fifth column the probability with which the doc was sampled."""
    where = str(path)
    text = Text.of(rows.with_line_feeds(_text(path).bytes()))
    found = _qrels_columns(text)
    if found is None:
        raise rows.first_problem(where, text.bytes(), rows.QRELS)
    topics, docs, grades, probabilities = found
    if not len(grades):
        raise DataError(f'{where}: there is no judgment; a qrels line is "{rows.QRELS.form}"')
    qrels = grouped_qrels(topics, docs, grades, probabilities, name=Path(where).name)
    if qrels is None:
        raise rows.first_problem(where, text.bytes(), rows.QRELS)
    return qrels


def grouped_qrels(topics: Ids, docs: Ids, grades: Floats, probabilities: Floats | None, *, name: str) -> Qrels | None:
    """Judgments from the columns of a file, topics in natural order; None if a doc is twice in a topic."""
    names, code = _coded_topics(topics)
    order = np.argsort(code, kind="stable")
    qrels = Qrels(
        names,
        np.concatenate([[0], np.cumsum(np.bincount(code, minlength=len(names)))]),
        docs.take(order),
        grades[order],
        None if probabilities is None else probabilities[order],
        name=name,
    )
    return None if qrels.duplicate() is not None else qrels


def write_run(path: str | Path, run: Run) -> None:
    """A run as a TREC file, ranks from 1, scores with all their digits."""
    refuse_blanks(path, run)
    docs, scores, bounds = run.docs.tolist(), run.scores.tolist(), run.bounds.tolist()
    lines = (
        f"{topic} Q0 {docs[i]} {i - a + 1} {scores[i]!r} {run.name}\n"
        for topic, a, b in zip(run.topics, bounds, bounds[1:], strict=False)
        for i in range(a, b)
    )
    write_whole(path, "".join(lines))


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments as a TREC file; sampled ones with their probability as the fifth column."""
    refuse_blanks(path, qrels)
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    columns = zip(topics, qrels.docs.tolist(), qrels.grades.tolist(), strict=True)
    lines = [f"{topic} 0 {doc} {grade}" for topic, doc, grade in columns]
    if qrels.probabilities is not None:
        lines = [f"{line} {p!r}" for line, p in zip(lines, qrels.probabilities.tolist(), strict=True)]
    write_whole(path, "".join(line + "\n" for line in lines))


def refuse_blanks(path: str | Path, table: Run | Qrels) -> None:
    """Ids with white space would be two fields of a line, and a topic that starts with # a comment."""
    for what, ids in (("topic", table.topics), ("doc", table.docs.tolist())):
        unfit = next((i for i in ids if _BLANK.search(i) or (what == "topic" and i.startswith("#"))), None)
        if unfit is not None:
            why = "TREC files have no white space in ids, and no # at the start of a topic"
            raise DataError(f"{path}: {what} {unfit!r}: {why}; write a table instead (.csv, .jsonl, .parquet)")


def _text(path: str | Path) -> Text:
    """The text of a file; one that is not compressed is read once, straight to where it is worked on."""
    where = str(path)
    if where == STANDARD_INPUT:
        data = read_bytes(path)
        refuse_other_encodings(where, data[:8])
        return Text.of(data)
    buffer = read_room(path, room=2 * WORD)
    head = buffer[:8].tobytes()
    if is_compressed(head):
        data = decompressed(where, buffer[: -2 * WORD].tobytes())
        refuse_other_encodings(where, data[:8])
        return Text.of(data)
    refuse_other_encodings(where, head)
    if head.startswith(BYTE_ORDER_MARK):  # words are read from whole addresses
        return Text.of(buffer[: -2 * WORD].tobytes())
    return Text(buffer, len(buffer) - 2 * WORD)


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of a run file, filled piece by piece by several threads."""

    doc_starts: Ints
    doc_lengths: Ints
    keys: Keys
    scores: Floats
    ranks: Ints | None

    @classmethod
    def empty(cls, n: int, size: int, ranks: bool) -> _Columns:
        """Room for n lines of a file of that size."""
        small = np.int32 if size < 2**31 else np.int64
        return cls(
            np.empty(n, small), np.empty(n, np.int32), np.empty(n, np.uint32), np.empty(n),
            np.empty(n, np.int64) if ranks else None,
        )  # fmt: skip

    def only(self, rows: Ints) -> _Columns:
        """These rows of every column."""
        return _Columns(
            self.doc_starts[rows], self.doc_lengths[rows], self.keys[rows], self.scores[rows],
            None if self.ranks is None else self.ranks[rows],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Piece:
    """What a piece of a run file says beside its columns: its lines, the topics that start in it, its last tag."""

    size: int
    changes: Ints
    topics: list[str]
    tag: str


def _run_in_file_order(text: Text, ranks: bool, threads: int) -> Run | None:
    """The run of a file, docs in the order of its lines, or None where a line is not as it should be."""
    cuts = pieces(text.buffer[: text.length])
    most = ordered_map(lambda cut: text.count_lines(*cut), cuts, jobs=threads, threads=True)
    room = np.cumsum([0, *most])
    columns = _Columns.empty(int(room[-1]), text.length, ranks)
    todo = list(zip(room.tolist(), cuts, strict=False))
    parts = ordered_map(lambda item: _fill(columns, item[0], text, *item[1]), todo, jobs=threads, threads=True)
    found = [p for p in parts if p is not None]
    if len(found) < len(parts):
        return None
    sizes = np.array([p.size for p in found], dtype=np.int64)
    if sizes.sum() < room[-1]:  # blank lines and comments leave gaps
        columns = columns.only(np.concatenate([r + np.arange(n) for r, n in zip(room, sizes, strict=False)]))
    return _grouped(text, columns, found, np.cumsum([0, *sizes]))


def _fill(columns: _Columns, row: int, text: Text, start: int, stop: int) -> _Piece | None:
    """Fill the columns from `row` on with the lines of a piece; None where a line is not as it should be."""
    buffer, at = text.piece(start, stop)
    found = None if columns.ranks is not None else alike_lines(buffer, at, at + stop - start)
    found = found or _parted_lines(buffer, at, at + stop - start, columns.ranks is not None)
    if found is None or not _is_utf8(buffer[at : at + stop - start]):
        return None
    rows_ = slice(row, row + len(found.docs))
    columns.doc_starts[rows_] = found.docs.starts + (start - at)
    columns.doc_lengths[rows_] = found.docs.lengths
    columns.keys[rows_] = found.keys
    columns.scores[rows_] = found.scores
    if columns.ranks is not None and found.ranks is not None:
        columns.ranks[rows_] = found.ranks
    return _Piece(len(found.docs), found.changes, found.topics.tolist(), "".join(found.tag.tolist()))


def _parted_lines(buffer: Bytes, start: int, stop: int, ranked: bool) -> RunLines | None:
    """The lines of a piece of any layout, or None where one is not as it should be."""
    found = fields(buffer, start, stop, RUN_FIELDS)
    if found is None:
        return None
    topics, docs, scores = found.column(TOPIC), found.column(DOC), read_decimals(found.column(SCORE))
    ranks = read_decimals(found.column(RANK)) if ranked else None
    whole = ranks is None or bool(((np.abs(ranks) <= rows.LARGEST_RANK) & (ranks == np.floor(ranks))).all())
    if np.isnan(scores).any() or not whole:
        return None
    changes = topics.changes()
    tag = found.column(TAG).take(np.arange(len(docs))[-1:])
    return RunLines(changes, topics.take(changes), docs, short_keys(docs.hashes()), scores, tag, ranks)


def _is_utf8(text: Bytes) -> bool:
    """Whether all lines are UTF-8, comments aside; pure ASCII is told at a glance."""
    if not len(text) or int(text.max()) < 128:
        return True
    data = text.tobytes()
    return _decodes(data) or _decodes(re.sub(rb"(?m)^[\x00-\x20]*#.*", b"", data))


def _decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _grouped(text: Text, columns: _Columns, parts: list[_Piece], room: Ints) -> Run:
    """The columns as a run, the lines of a topic brought together if they are scattered."""
    topics = [t for p in parts for t in p.topics]
    starts = np.concatenate([np.zeros(0, np.int64), *(p.changes + at for p, at in zip(parts, room, strict=False))])
    # A piece starts a topic of its own, which mostly is the last one of the piece before.
    new = [i for i, t in enumerate(topics) if i == 0 or t != topics[i - 1]]
    run = Run(
        next((p.tag for p in reversed(parts) if p.tag), ""),
        tuple(topics[i] for i in new),
        np.append(starts[new], len(columns.scores)),
        Ids(text.buffer, columns.doc_starts, columns.doc_lengths),
        sealed(columns.scores),  # no copies of large columns: the run takes them over
        None if columns.ranks is None else sealed(columns.ranks),
        keys=sealed(columns.keys),
    )
    return run.together()


def _qrels_columns(text: Text) -> tuple[Ids, Ids, Floats, Floats | None] | None:
    """Topics, docs, grades and perhaps probabilities, or None where a line is not as it should be."""
    plain = fields(text.buffer, 0, text.length, QRELS_FIELDS, exact=True)
    found = plain or fields(text.buffer, 0, text.length, QRELS_FIELDS + 1, exact=True)
    if found is None:
        return None
    grades = read_decimals(found.column(GRADE))
    probabilities = read_decimals(found.column(QRELS_FIELDS)) if found is not plain else None
    fits = np.abs(grades) <= rows.LARGEST_GRADE  # which NaN does not
    fit = probabilities is None or bool(((probabilities > 0) & (probabilities <= 1)).all())
    if not fits.all() or not fit or not _is_utf8(text.buffer[: text.length]):
        return None
    return found.column(TOPIC), found.column(DOC), grades, probabilities


def _coded_topics(topics: Ids) -> tuple[tuple[str, ...], Ints]:
    """Distinct topics in natural order, and the place of each line's topic among them."""
    changes = topics.changes()  # mostly the lines of a topic stand together
    (number,), distinct = coded([topics.take(changes)])
    names = distinct.tolist()
    ordered = natural_order(names)
    place = {t: i for i, t in enumerate(ordered)}
    code = np.array([place[t] for t in names], dtype=np.int64)[number]
    return tuple(ordered), np.repeat(code, np.diff(changes, append=len(topics)))
