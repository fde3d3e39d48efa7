"""Crowd labels in and out: CSV, TSV, JSONL or Parquet with topic, doc, worker, label and a few optional columns.

Where the flow stands: **files** → tables. Released files name their columns as they like, so every name can be told;
a cell that does not say what it should is an error with its line, and nothing is left out unless that was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.core.registry import did_you_mean
from assay.data import Labels
from assay.io.rows import LARGEST_RANK
from assay.io.sheet import LARGEST, Sheet, read_sheet, write_sheet

KNOWN = {
    "topic": ("topic", "query", "qid"),
    "doc": ("doc", "docid", "docno", "item"),
    "worker": ("worker", "assessor", "annotator", "expert"),
    "label": ("label", "score", "value", "grade", "judgment"),
    "task": ("task", "hit", "unit"),
    "position": ("position",),
    "seconds": ("seconds", "time"),
    "attempt": ("attempt",),
    "gold": ("gold",),
}
"""The columns of Labels and the names under which they are looked for."""

OPTIONAL = ("task", "position", "seconds", "attempt", "gold")


def read_labels(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    levels: Mapping[str, float] | None = None,
    times: float = 1.0,
    where: Mapping[str, str] | None = None,
    topic: str | None = None,
    split: str | None = None,
    empty: str = "error",
) -> Labels:
    """The labels of a file; each row keeps the line it stood on.

    columns: our name → the file's, e.g. {"label": "value"}; without it the usual names are looked for (see KNOWN).
    levels: words of an ordered scale → numbers; any other word is an error, numbers stay what they are.
    times: labels are multiplied by it and rounded to nine digits (a file with 0–100 divided by 100: times=100).
    where: only rows whose column has this value, e.g. {"pilot": "2P-Doc-High"}.
    topic: the topic of every row of a file without that column. split: the separator of a doc column that holds
    topic and doc, parted at its first occurrence.
    empty: what to do with a row without label: `error`, or `drop` (`labels_and_empty` says which lines).

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("topic,doc,worker,label\\n1,a,anna,2\\n1,a,ben,1\\n")
    >>> read_labels(path).label.tolist()
    [2.0, 1.0]
    """
    labels, _ = labels_and_empty(
        path, columns=columns, levels=levels, times=times, where=where, topic=topic, split=split, empty=empty
    )
    return labels


def labels_and_empty(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    levels: Mapping[str, float] | None = None,
    times: float = 1.0,
    where: Mapping[str, str] | None = None,
    topic: str | None = None,
    split: str | None = None,
    empty: str = "drop",
) -> tuple[Labels, list[int]]:
    """As `read_labels`, and the lines that were left out because they hold no label."""
    if empty not in ("error", "drop"):
        raise UsageError(f"no way {empty!r} to treat empty labels; known: error, drop")
    if not (np.isfinite(times) and times > 0):
        raise UsageError(f"labels times {times:g} say nothing; the factor must be above 0")
    sheet = _rows_where(read_sheet(path), where or {})
    place = _places(sheet, columns or {}, topic is not None or split is not None)
    sheet, left_out = _without_empty(sheet, place["label"], empty)
    topics, docs = _topics_and_docs(sheet, place, topic, split)
    workers = _names(sheet, place["worker"])
    label = _numbers(
        _without_words(sheet, place["label"], levels or {}), place["label"], "; words need a scale, e.g. no<yes"
    )
    (topic_names, of_topic), (doc_names, of_doc), (worker_names, of_worker) = map(_coded, (topics, docs, workers))
    bare = Labels(topic_names, doc_names, worker_names, of_topic, of_doc, of_worker, label, name=Path(path).name)
    scaled = label if times == 1.0 else np.round(label * times, 9)
    return replace(bare, label=scaled, lines=np.array(sheet.lines), **_optional(sheet, place)), left_out


def _coded(names: list[str]) -> tuple[tuple[str, ...], Ints]:
    """As `data.coded_names`, for millions of names: distinct ones in natural order, and each name's place."""
    distinct = tuple(natural_order(dict.fromkeys(names)))
    place = dict(zip(distinct, range(len(distinct)), strict=True))
    return distinct, np.fromiter(map(place.__getitem__, names), np.int64, len(names))


def write_labels(path: str | Path, labels: Labels) -> None:
    """Labels as a table in the format of the ending; optional columns are written where they are there."""
    columns: dict[str, Sequence[Any]] = {
        "topic": [labels.topics[t] for t in labels.topic.tolist()],
        "doc": [labels.docs[d] for d in labels.doc.tolist()],
        "worker": [labels.workers[w] for w in labels.worker.tolist()],
        "label": _tidy_numbers(labels.label),
    }
    for name in OPTIONAL:
        values = getattr(labels, name)
        if values is not None:
            columns[name] = _tidy_numbers(values) if values.dtype.kind == "f" else values.tolist()
    write_sheet(path, list(columns), zip(*columns.values(), strict=True))


def _tidy_numbers(values: Floats) -> list[int | float | None]:
    """Whole numbers without a point; not-a-number as an empty cell."""
    return [None if v != v else int(v) if v == int(v) else v for v in values.tolist()]


def _places(sheet: Sheet, columns: Mapping[str, str], topic_is_told: bool) -> dict[str, int]:
    """Where each of our columns stands in the file."""
    for ours in columns:
        if ours not in KNOWN:
            raise UsageError(f"no column {ours!r} in labels{did_you_mean(ours, KNOWN)}")
    place: dict[str, int] = {}
    for ours, names in KNOWN.items():
        found = sheet.place(columns[ours].strip().lower()) if ours in columns else sheet.find(*names)
        if found is not None:
            place[ours] = found
    again = [sheet.header[p] for p in place.values() if _named(sheet, p) > 1]
    if again:
        raise DataError(f"{sheet.where}: more than one column is called {again[0]!r}; rename all but one")
    for needed in ("doc", "worker", "label") if topic_is_told else ("topic", "doc", "worker", "label"):
        if needed not in place:
            raise DataError(
                f"{sheet.where}: no column {needed!r}; the columns are: {', '.join(sheet.header)}; "
                f"say which one holds it, e.g. {needed}={next(iter(sheet.header), 'name')}"
            )
    return place


def _named(sheet: Sheet, column: int) -> int:
    """How many columns have the name of this one."""
    return [h.strip().lower() for h in sheet.header].count(sheet.header[column].strip().lower())


def _rows_where(sheet: Sheet, where: Mapping[str, str]) -> Sheet:
    """The sheet with only the rows whose columns have these values."""
    for name, value in where.items():
        column = sheet.place(name.strip().lower())
        keep = [i for i, row in enumerate(sheet.rows) if row[column] == value]
        if not keep:
            known = ", ".join(sorted({row[column] for row in sheet.rows})[:10])
            raise DataError(f"{sheet.where}: no row where {name} is {value!r}; it is one of: {known}")
        sheet = _taken(sheet, keep)
    return sheet


def _taken(sheet: Sheet, rows: Sequence[int]) -> Sheet:
    return Sheet(sheet.where, sheet.header, [sheet.rows[i] for i in rows], [sheet.lines[i] for i in rows])


def _without_empty(sheet: Sheet, column: int, empty: str) -> tuple[Sheet, list[int]]:
    bare = [i for i, row in enumerate(sheet.rows) if not row[column].strip()]
    if not bare:
        return sheet, []
    if empty == "error":
        what = f"{sheet.header[column]} is empty ({len(bare)} such rows); fill it, or drop such rows (--drop-empty)"
        raise DataError.at(sheet.where, sheet.lines[bare[0]], what)
    out = set(bare)
    return _taken(sheet, [i for i in range(len(sheet.rows)) if i not in out]), [sheet.lines[i] for i in bare]


def _topics_and_docs(
    sheet: Sheet, place: Mapping[str, int], topic: str | None, split: str | None
) -> tuple[list[str], list[str]]:
    docs = _names(sheet, place["doc"])
    if split is not None:
        parted = [d.partition(split) for d in docs]
        bad = next((i for i, (t, _, d) in enumerate(parted) if not t or not d), None)
        if bad is not None:
            what = f"{sheet.header[place['doc']]} {docs[bad]!r} is not topic{split}doc"
            raise DataError.at(sheet.where, sheet.lines[bad], what)
        return [t for t, _, _ in parted], [d for _, _, d in parted]
    return [topic] * len(docs) if topic is not None else _names(sheet, place["topic"]), docs


def _names(sheet: Sheet, column: int) -> list[str]:
    cells = [row[column].strip() for row in sheet.rows]
    if "" in cells:
        raise DataError.at(sheet.where, sheet.lines[cells.index("")], f"{sheet.header[column]} is empty")
    return cells


def _without_words(sheet: Sheet, column: int, levels: Mapping[str, float]) -> Sheet:
    """The sheet with the words of a scale written as numbers; a file may hold numbers already."""
    if not levels:
        return sheet
    text = {word: repr(float(value)) for word, value in levels.items()}
    rows = [[*r[:column], text.get(r[column].strip(), r[column]), *r[column + 1 :]] for r in sheet.rows]
    for i, row in enumerate(rows):
        if row[column] not in text.values() and np.isnan(_number_or_nan(row[column])):
            what = f"{sheet.header[column]} {row[column]!r} is neither a number nor a level ({', '.join(levels)})"
            raise DataError.at(sheet.where, sheet.lines[i], what)
    return Sheet(sheet.where, sheet.header, rows, sheet.lines)


def _numbers(sheet: Sheet, column: int, advice: str = "", *, may_be_empty: bool = False) -> Floats:
    """A column as finite numbers; where it may be empty, an empty cell is not-a-number."""
    cells = [row[column] for row in sheet.rows]
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        values = np.array([_number_or_nan(c) for c in cells])
    good = np.abs(values) <= LARGEST
    if "_" in "".join(cells):  # Python reads 1_000 as a number; a person who typed it may have meant something else
        good &= np.array(["_" not in c for c in cells])
    if may_be_empty and not good.all():
        good |= np.array([not c.strip() for c in cells])
    if not good.all():
        bad = int(np.argmin(good))
        problem = "too large" if LARGEST < np.abs(values[bad]) < np.inf else "not a number"
        what = f"{sheet.header[column]} is {problem}: {cells[bad].strip()[:60]!r}{advice}"
        raise DataError.at(sheet.where, sheet.lines[bad], what)
    return values


def _number_or_nan(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def _whole(sheet: Sheet, column: int) -> Ints:
    values = _numbers(sheet, column)
    bad = np.flatnonzero((values != np.floor(values)) | (np.abs(values) > LARGEST_RANK))
    if len(bad):
        what = f"{sheet.header[column]} is not a whole number: {sheet.rows[bad[0]][column]!r}"
        raise DataError.at(sheet.where, sheet.lines[bad[0]], what)
    return values.astype(np.int64)


def _optional(sheet: Sheet, place: Mapping[str, int]) -> dict[str, Any]:
    """The optional columns that the file has; seconds and gold may have empty cells."""
    found: dict[str, Any] = {}
    if "task" in place:
        found["task"] = np.array(_names(sheet, place["task"]), dtype=object)
    for name in ("position", "attempt"):
        if name in place:
            found[name] = _whole(sheet, place[name])
    for name in ("seconds", "gold"):
        if name in place:
            found[name] = _numbers(sheet, place[name], may_be_empty=True)
    early = np.flatnonzero(found.get("seconds", np.zeros(0)) < 0)
    if len(early):
        bad = int(early[0])
        what = f"{sheet.header[place['seconds']]} is below 0: {sheet.rows[bad][place['seconds']].strip()!r}"
        raise DataError.at(sheet.where, sheet.lines[bad], what)
    return found
