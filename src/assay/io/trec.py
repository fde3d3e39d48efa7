"""TREC files: runs `topic Q0 doc rank score tag`, qrels `topic 0 doc grade`, and topics.

Millions of lines are read as whole columns (`lines`, `decimals`); where anything is not as it should be, the line
reader (`rows`) finds the line and says what is wrong with it.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.data import Qrels, Run, RunInfo, natural_order
from assay.errors import DataError
from assay.ids import Ids, Ints, Words
from assay.io import rows
from assay.io.decimals import read_decimals
from assay.io.files import STANDARD_INPUT, read_bytes, write_whole
from assay.io.lines import Fields, Text, fields

RUN_FIELDS, QRELS_FIELDS = 6, 4
TOPIC, DOC, GRADE, RANK, SCORE, TAG = 0, 2, 3, 3, 4, 5


def read_run(path: str | Path, *, ranks: bool = False, threads: int = 1, mapped: bool = False) -> Run:
    """A TREC run. Its name is the tag of its last line, as in trec_eval.

    ranks: keep the rank column, for ties="rank". mapped: leave the doc ids in the file instead of in memory; the file
    must then not change while the run is used.
    """
    where = str(path)
    text = _text(path, mapped=mapped)
    columns = _run_columns(text, ranks, threads)
    if columns is None:
        raise rows.first_problem(where, text.bytes(), rows.RUN)
    if not len(columns.scores):
        raise DataError(f'{where}: there is no line of results; a run line is "{rows.RUN.form}"')
    info = RunInfo(metadata=rows.metadata(text.buffer[: min(1 << 16, text.length)].tobytes()))
    name = columns.tag or Path(where).name
    run = _grouped(name, columns, info)
    if run.duplicate() is not None:
        raise rows.first_problem(where, text.bytes(), rows.RUN)
    return run.ordered()


def read_qrels(path: str | Path) -> Qrels:
    """TREC judgments: `topic 0 doc grade`, with a fifth column the probability with which the doc was sampled."""
    where = str(path)
    text = Text.of(read_bytes(path))
    found = _qrels_columns(text)
    if found is None:
        raise rows.first_problem(where, text.bytes(), rows.QRELS)
    topics, docs, grades, probabilities = found
    if not len(grades):
        raise DataError(f'{where}: there is no judgment; a qrels line is "{rows.QRELS.form}"')
    names, code = _coded_topics(topics)
    order = np.argsort(code, kind="stable")
    qrels = Qrels(
        names,
        np.concatenate([[0], np.cumsum(np.bincount(code, minlength=len(names)))]),
        docs.take(order),
        grades[order],
        None if probabilities is None else probabilities[order],
        name=Path(where).name,
    )
    as_run = Run("", names, qrels.bounds, qrels.docs, np.zeros(len(qrels)))
    if as_run.duplicate() is not None:
        raise rows.first_problem(where, text.bytes(), rows.QRELS)
    return qrels


def write_run(path: str | Path, run: Run) -> None:
    """A run as a TREC file, ranks from 1, scores with all their digits."""
    docs, scores, bounds = run.docs.tolist(), run.scores.tolist(), run.bounds.tolist()
    lines = (
        f"{topic} Q0 {docs[i]} {i - a + 1} {scores[i]!r} {run.name}\n"
        for topic, a, b in zip(run.topics, bounds, bounds[1:], strict=False)
        for i in range(a, b)
    )
    write_whole(path, "".join(lines))


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments as a TREC file; sampled ones with their probability as the fifth column."""
    topics = [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    columns = zip(topics, qrels.docs.tolist(), qrels.grades.tolist(), strict=True)
    lines = [f"{topic} 0 {doc} {grade}" for topic, doc, grade in columns]
    if qrels.probabilities is not None:
        lines = [f"{line} {p!r}" for line, p in zip(lines, qrels.probabilities.tolist(), strict=True)]
    write_whole(path, "".join(line + "\n" for line in lines))


def _text(path: str | Path, *, mapped: bool) -> Text:
    """The text of a file; an uncompressed one may stay in the page cache."""
    if not mapped or str(path) == STANDARD_INPUT:
        return Text.of(read_bytes(path))
    with open(path, "rb") as file:
        head = file.read(6)
        file.seek(0, 2)
        if file.tell() == 0 or _is_compressed(head):
            return Text.of(read_bytes(path))
        return Text.mapped(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _is_compressed(head: bytes) -> bool:
    return head.startswith((b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"))


@dataclass(frozen=True, eq=False)
class _RunColumns:
    """The columns of a run file, and where a new topic starts."""

    docs: Ids
    hashes: Words
    scores: npt.NDArray[np.float64]
    ranks: Ints | None
    starts: Ints
    topics: list[str]
    tag: str


def _run_columns(text: Text, ranks: bool, threads: int) -> _RunColumns | None:
    """All columns of a run, or None where a line is not as it should be."""
    parts = text.over_pieces(lambda a, b: _run_piece(text, a, b, ranks), threads=threads)
    found = [p for p in parts if p is not None]
    if len(found) < len(parts):
        return None
    sizes = np.cumsum([0, *(len(p.scores) for p in found)])
    starts = np.concatenate([np.zeros(0, np.int64), *(p.changes + at for p, at in zip(found, sizes, strict=False))])
    topics = [t for p in found for t in p.topics]
    # A piece always starts a topic of its own: it is the same as the last one of the piece before, mostly.
    new = [i for i, t in enumerate(topics) if i == 0 or t != topics[i - 1]]
    docs = Ids(
        text.buffer,
        np.concatenate([np.zeros(0, np.int64), *(p.doc_starts for p in found)]),
        np.concatenate([np.zeros(0, np.int64), *(p.doc_lengths for p in found)]),
    )
    return _RunColumns(
        docs,
        np.concatenate([np.zeros(0, np.uint64), *(p.hashes for p in found)]),
        np.concatenate([np.zeros(0), *(p.scores for p in found)]),
        np.concatenate([p.ranks for p in found if p.ranks is not None]) if ranks and found else None,
        starts[new],
        [topics[i] for i in new],
        next((p.tag for p in reversed(found) if p.tag), ""),
    )


@dataclass(frozen=True, eq=False)
class _RunPiece:
    """What is kept of a piece of a run file."""

    doc_starts: Ints
    doc_lengths: Ints
    hashes: Words
    scores: npt.NDArray[np.float64]
    ranks: Ints | None
    changes: Ints
    topics: list[str]
    tag: str


def _run_piece(text: Text, start: int, stop: int, ranks: bool) -> _RunPiece | None:
    buffer, at = text.piece(start, stop)
    found = fields(buffer, at, at + stop - start, RUN_FIELDS)
    if found is None:
        return None
    docs, scores = found.column(DOC), read_decimals(found.column(SCORE))
    places = read_decimals(found.column(RANK)) if ranks else None
    if np.isnan(scores).any() or (places is not None and not np.isfinite(places).all()):
        return None
    changes = _changes(found)
    names = _names(found.column(TOPIC).take(changes))
    tags = _names(found.column(TAG).take([len(found) - 1])) if len(found) else [""]
    if names is None or tags is None or not _is_utf8(docs):
        return None
    return _RunPiece(
        docs.starts + (start - at), docs.lengths, docs.hashes(), scores,
        None if places is None else places.astype(np.int64), changes, names, tags[0],
    )  # fmt: skip


def _changes(found: Fields) -> Ints:
    """The lines whose topic is not that of the line before."""
    topics = found.column(TOPIC).hashes()
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(topics)), bool), topics[1:] != topics[:-1]]))


def _names(ids: Ids) -> list[str] | None:
    try:
        return ids.tolist()
    except UnicodeDecodeError:
        return None


def _is_utf8(docs: Ids) -> bool:
    """Whether all doc ids are UTF-8; pure ASCII is told at a glance."""
    if not len(docs):
        return True
    first, last = int(docs.starts[0]), int(docs.starts[-1] + docs.lengths[-1])
    if int(docs.buffer[first:last].max()) < 128:
        return True
    return _names(docs) is not None


def _grouped(name: str, columns: _RunColumns, info: RunInfo) -> Run:
    """The columns as a run, the lines of a topic brought together if they are scattered."""
    bounds = np.append(columns.starts, len(columns.scores))
    run = Run(
        name, tuple(columns.topics), bounds, columns.docs, columns.scores, columns.ranks,
        info=info, hashes=columns.hashes,
    )  # fmt: skip
    if len(set(columns.topics)) == len(columns.topics):
        return run
    names = list(dict.fromkeys(columns.topics))
    place = {t: i for i, t in enumerate(names)}
    code = np.repeat(np.array([place[t] for t in columns.topics]), np.diff(bounds))
    order = np.argsort(code, kind="stable")
    return replace(
        run,
        topics=tuple(names),
        bounds=np.concatenate([[0], np.cumsum(np.bincount(code))]),
        docs=run.docs.take(order),
        scores=run.scores[order],
        ranks=None if run.ranks is None else run.ranks[order],
        rows=order,
        hashes=columns.hashes[order],
    )


def _qrels_columns(text: Text) -> tuple[Ids, Ids, Ints, npt.NDArray[np.float64] | None] | None:
    """Topics, docs, grades and perhaps probabilities, or None where a line is not as it should be."""
    sampled = fields(text.buffer, 0, text.length, QRELS_FIELDS + 1)
    found = sampled if sampled is not None and len(sampled) else fields(text.buffer, 0, text.length, QRELS_FIELDS)
    if found is None:
        return None
    grades = read_decimals(found.column(GRADE))
    probabilities = read_decimals(found.column(QRELS_FIELDS)) if found.starts.shape[1] > QRELS_FIELDS else None
    whole = np.isfinite(grades) & (grades == np.floor(grades)) & (np.abs(grades) < 2**31)
    fit = probabilities is None or bool(((probabilities > 0) & (probabilities <= 1)).all())
    if not whole.all() or not fit or not _is_utf8(found.column(DOC)):
        return None
    return found.column(TOPIC), found.column(DOC), grades.astype(np.int64), probabilities


def _coded_topics(topics: Ids) -> tuple[tuple[str, ...], Ints]:
    """Distinct topics in natural order, and the place of each line's topic among them."""
    _, first, inverse = np.unique(topics.hashes(), return_index=True, return_inverse=True)
    names = topics.take(first).tolist()
    ordered = natural_order(names)
    place = {t: i for i, t in enumerate(ordered)}
    return tuple(ordered), np.array([place[t] for t in names], dtype=np.int64)[inverse]
