"""Crowd labels in and out: tables with topic, doc, worker, label and a few optional columns; exports of label tools.

Where the flow stands: **files** → tables. Released files name their columns as they like, so every name can be given;
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
from assay.data import Labels
from assay.data.labels import number_in
from assay.io import doccano, label_studio
from assay.io.column_names import OF_LABELS, Named, column_places, listed
from assay.io.content import Content
from assay.io.recognition import looked_at, refuse_other_table
from assay.io.rows import LARGEST_RANK
from assay.io.samples import SEEN_LINES
from assay.io.sheet import LARGEST, Sheet, sheet_in, sheet_of_records, write_sheet

OPTIONAL = ("task", "position", "seconds", "attempt", "gold", "back", "tested")


def read_labels(
    path: str | Path,
    *,
    columns: Named = None,
    levels: Mapping[str, float] | None = None,
    times: float = 1.0,
    where: Mapping[str, str] | None = None,
    topic: str | None = None,
    split: str | None = None,
    empty: str = "error",
) -> Labels:
    """The labels of a file; each row keeps the line it stood on.

    Tables are CSV, TSV, JSON, JSONL, Parquet or Arrow; JSON may also be {topic: {doc: {worker: label}}}. Exports of
    Label Studio and of doccano are recognised.
    columns: our name → the file's, e.g. {"label": "value"}; without it the usual names are looked for.
    levels: words of an ordered scale → numbers; any other word is an error, numbers stay what they are.
    times: labels are multiplied by it and rounded to nine digits (a file with 0–100 divided by 100: times=100).
    where: only rows whose column has this value, e.g. {"pilot": "2P-Doc-High"}.
    topic: the topic of every row of a file without that column. split: the separator of a doc column that holds
    topic and doc, which is split at its first occurrence.
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
    columns: Named = None,
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
    topic_is_given = topic is not None or split is not None
    sheet = _sheet(path, columns, where or {}, topic_is_given)
    place = _places(sheet, columns, topic_is_given)
    label_at = place["label"]
    sheet, left_out = _without_empty(sheet, label_at, empty)
    topics, docs = _topics_and_docs(sheet, place, topic, split)
    workers = _names(sheet, place["worker"])
    in_numbers = _without_words(sheet, label_at, levels or {})
    label = _numbers(in_numbers, label_at, "; words need a scale, e.g. no<yes")
    topic_names, topic_of_row = _coded(topics)
    doc_names, doc_of_row = _coded(docs)
    worker_names, worker_of_row = _coded(workers)
    bare = Labels(
        topic_names,
        doc_names,
        worker_names,
        topic_of_row,
        doc_of_row,
        worker_of_row,
        label,
        name=Path(path).name,
    )
    if times != 1.0:
        label = np.round(label * times, 9)
    lines = np.array(sheet.lines)
    optional = _optional(sheet, place)
    return replace(bare, label=label, lines=lines, **optional), left_out


def _coded(names: list[str]) -> tuple[tuple[str, ...], Ints]:
    """As `data.coded_names`, for millions of names: distinct ones in natural order, and each name's place."""
    distinct = tuple(natural_order(dict.fromkeys(names)))
    numbers = range(len(distinct))
    place = dict(zip(distinct, numbers, strict=True))
    places = map(place.__getitem__, names)
    return distinct, np.fromiter(places, np.int64, len(names))


def write_labels(path: str | Path, labels: Labels, *, format: str | None = None) -> None:
    """Labels as a table in that format, or in the one of the ending; optional columns where they are there."""
    columns: dict[str, Sequence[Any]] = {
        "topic": [labels.topics[t] for t in labels.topic.tolist()],
        "doc": [labels.docs[d] for d in labels.doc.tolist()],
        "worker": [labels.workers[w] for w in labels.worker.tolist()],
        "label": _tidy_numbers(labels.label),
    }
    for name in OPTIONAL:
        values = getattr(labels, name)
        if values is not None:
            is_float = values.dtype.kind == "f"
            columns[name] = _tidy_numbers(values) if is_float else values.tolist()
    rows = zip(*columns.values(), strict=True)
    write_sheet(path, list(columns), rows, format=format)


def _tidy_numbers(values: Floats) -> list[int | float | None]:
    """Whole numbers without a point; not-a-number as an empty cell."""
    tidy: list[int | float | None] = []
    for value in values.tolist():
        if value != value:
            tidy.append(None)
        elif value == int(value):
            tidy.append(int(value))
        else:
            tidy.append(value)
    return tidy


def _sheet(path: str | Path, columns: Named, where: Mapping[str, str], topic_is_given: bool) -> Sheet:
    """The rows of a file, of a table or of what a label tool exports."""
    content = Content.of(path)
    looked = looked_at(content, columns)
    # A person who says how to read the file knows what it is; else a file of another kind is an error.
    format = looked.sample.syntax if topic_is_given or columns else looked.as_kind(content, "labels")
    formats = {known.format for known in looked.possible if known.kind == "labels"}
    if "label-studio" in formats:
        sheet = _rows_where(label_studio.sheet_of_tasks(content, looked.sample), where)
        label_studio.refuse_several_answers(sheet)
        return sheet
    if "doccano" in formats:
        return _rows_where(doccano.sheet_of_texts(content, looked.sample), where)
    if format == "json" and isinstance(looked.sample.value, dict):
        return _rows_where(_from_nested(content.where, looked.sample.value), where)
    sheet = sheet_in(content, looked.sample)
    if not topic_is_given and not columns and not doccano.is_doccano(sheet.header):
        refuse_other_table(sheet.header, sheet.rows[:SEEN_LINES], "labels", sheet.where)
    return _rows_where(sheet, where)


def _from_nested(where: str, nested: Mapping[str, Any]) -> Sheet:
    """The rows of {topic: {doc: {worker: label}}}."""
    records = []
    for topic, docs in nested.items():
        if not isinstance(docs, dict) or not all(isinstance(workers, dict) for workers in docs.values()):
            raise DataError(f"{where}: topic {topic!r}: labels are {{topic: {{doc: {{worker: label}}}}}}")
        for doc, workers in docs.items():
            for worker, label in workers.items():
                records.append({"topic": topic, "doc": doc, "worker": worker, "label": label})
    return sheet_of_records(where, records, range(1, len(records) + 1))


def _places(sheet: Sheet, columns: Named, topic_is_given: bool) -> dict[str, int]:
    """Where each of our columns stands in the file."""
    place = column_places(sheet.header, OF_LABELS, columns, "labels", sheet.where)
    _refuse_same_names(sheet, place)
    needed = ["doc", "worker", "label"] if topic_is_given else ["topic", "doc", "worker", "label"]
    for name in needed:
        if name not in place:
            example = next(iter(sheet.header), "name")
            raise DataError(
                f"{sheet.where}: no column {name!r}; the columns are: {listed(sheet.header)}; "
                f"say which one holds it, e.g. --column {name}={example}"
            )
    return place


def _refuse_same_names(sheet: Sheet, place: Mapping[str, int]) -> None:
    """An error where another column has the name of one that is used."""
    names = [name.strip().lower() for name in sheet.header]
    for column in place.values():
        if names.count(names[column]) > 1:
            what = f"more than one column is called {sheet.header[column]!r}; rename all but one"
            raise DataError(f"{sheet.where}: {what}")


def _rows_where(sheet: Sheet, where: Mapping[str, str]) -> Sheet:
    """The sheet with only the rows whose columns have these values."""
    for name, value in where.items():
        column = sheet.place(name.strip().lower())
        keep = [i for i, row in enumerate(sheet.rows) if row[column] == value]
        if not keep:
            values = {row[column] for row in sheet.rows}
            known = ", ".join(sorted(values)[:10])
            raise DataError(f"{sheet.where}: no row where {name} is {value!r}; it is one of: {known}")
        sheet = _taken(sheet, keep)
    return sheet


def _taken(sheet: Sheet, rows: Sequence[int]) -> Sheet:
    kept_rows = [sheet.rows[i] for i in rows]
    kept_lines = [sheet.lines[i] for i in rows]
    return Sheet(sheet.where, sheet.header, kept_rows, kept_lines)


def _without_empty(sheet: Sheet, column: int, empty: str) -> tuple[Sheet, list[int]]:
    """The sheet without the rows that have no label, and their lines."""
    with_label = []
    empty_lines = []
    for i, row in enumerate(sheet.rows):
        if row[column].strip():
            with_label.append(i)
        else:
            empty_lines.append(sheet.lines[i])
    if not empty_lines:
        return sheet, []
    if empty == "error":
        count = f"{len(empty_lines)} such rows"
        what = f"{sheet.header[column]} is empty ({count}); fill it, or drop such rows (--drop-empty)"
        raise DataError.at(sheet.where, empty_lines[0], what)
    return _taken(sheet, with_label), empty_lines


def _topics_and_docs(
    sheet: Sheet, place: Mapping[str, int], topic: str | None, split: str | None
) -> tuple[list[str], list[str]]:
    """The topic and the doc of each row."""
    docs = _names(sheet, place["doc"])
    if split is not None:
        return _split(sheet, place["doc"], docs, split)
    if topic is not None:
        return [topic] * len(docs), docs
    return _names(sheet, place["topic"]), docs


def _split(sheet: Sheet, column: int, cells: Sequence[str], separator: str) -> tuple[list[str], list[str]]:
    """The topics and the docs of cells that hold both."""
    topics = []
    docs = []
    for line, cell in zip(sheet.lines, cells, strict=True):
        topic, _, doc = cell.partition(separator)
        if not topic or not doc:
            what = f"{sheet.header[column]} {cell!r} is not topic{separator}doc"
            raise DataError.at(sheet.where, line, what)
        topics.append(topic)
        docs.append(doc)
    return topics, docs


def _names(sheet: Sheet, column: int) -> list[str]:
    cells = [row[column].strip() for row in sheet.rows]
    if "" in cells:
        line = sheet.lines[cells.index("")]
        raise DataError.at(sheet.where, line, f"{sheet.header[column]} is empty")
    return cells


def _without_words(sheet: Sheet, column: int, levels: Mapping[str, float]) -> Sheet:
    """The sheet with the words of a scale written as numbers; a file may hold numbers already."""
    if not levels:
        return sheet
    # A word that is a number stands for every way to write that number: 1 is 1.0.
    number_of = {_as_label(word): repr(float(value)) for word, value in levels.items()}
    written: dict[str, str] = {}
    rows = []
    for line, row in zip(sheet.lines, sheet.rows, strict=True):
        cell = row[column]
        if cell not in written:
            label = _as_label(cell)
            if label not in number_of and isinstance(label, str):
                what = f"{sheet.header[column]} {cell!r} is neither a number nor a level ({', '.join(levels)})"
                raise DataError.at(sheet.where, line, what)
            written[cell] = number_of.get(label, cell)
        with_number = list(row)
        with_number[column] = written[cell]
        rows.append(with_number)
    return Sheet(sheet.where, sheet.header, rows, sheet.lines)


def _as_label(text: str) -> str | float:
    """The number that a label is written as, or else its word."""
    number = number_in(text)
    return text.strip() if number is None else number


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
        is_too_large = LARGEST < np.abs(values[bad]) < np.inf
        problem = "too large" if is_too_large else "not a number"
        cell = cells[bad].strip()
        what = f"{sheet.header[column]} is {problem}: {cell[:60]!r}{advice}"
        raise DataError.at(sheet.where, sheet.lines[bad], what)
    return values


def _number_or_nan(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def _whole(sheet: Sheet, column: int) -> Ints:
    values = _numbers(sheet, column)
    is_fraction = values != np.floor(values)
    is_too_large = np.abs(values) > LARGEST_RANK
    bad = np.flatnonzero(is_fraction | is_too_large)
    if len(bad):
        first = bad[0]
        cell = sheet.rows[first][column]
        what = f"{sheet.header[column]} is not a whole number: {cell!r}"
        raise DataError.at(sheet.where, sheet.lines[first], what)
    return values.astype(np.int64)


def _optional(sheet: Sheet, place: Mapping[str, int]) -> dict[str, Any]:
    """The optional columns that the file has; seconds, gold and tested may have empty cells."""
    columns: dict[str, Any] = {}
    if "task" in place:
        tasks = _names(sheet, place["task"])
        columns["task"] = np.array(tasks, dtype=object)
    for name in ("position", "attempt", "back"):
        if name in place:
            columns[name] = _whole(sheet, place[name])
    for name in ("seconds", "gold", "tested"):
        if name in place:
            columns[name] = _numbers(sheet, place[name], may_be_empty=True)
    if "seconds" in place:
        _refuse_negative(sheet, place["seconds"], columns["seconds"])
    return columns


def _refuse_negative(sheet: Sheet, column: int, values: Floats) -> None:
    bad = np.flatnonzero(values < 0)
    if len(bad):
        first = int(bad[0])
        cell = sheet.rows[first][column].strip()
        what = f"{sheet.header[column]} is below 0: {cell!r}"
        raise DataError.at(sheet.where, sheet.lines[first], what)
