"""Large Parquet and Arrow files of judgments: some rows at a time go into the columns that are held in the end.

Read whole, a file would be held several times over: as bytes, as a table, as texts. Here a judgment costs little more
than what it takes for good.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from assay.core.arrays import Bytes, Floats, Ints
from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.core.ids import WORD, Ids
from assay.data import Qrels
from assay.data.topic_rows import bounds_of
from assay.io.column_names import Named
from assay.io.row_cuts import opened_table
from assay.io.tabular import judged_rows, qrels_places

ROWS = 1 << 18
"""Rows that are read, and rows that are searched for docs that are there twice, at a time."""


@dataclass
class _Held:
    """The judgments so far. The rows of a topic that stand together are one stretch."""

    lengths: Ints
    grades: Floats
    probabilities: Floats | None
    docs: list[Bytes] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    """Of each stretch its topic, and below its first row."""
    starts: list[int] = field(default_factory=list)

    def add(self, start: int, topics: Ids, docs: Ids, grades: Floats, probabilities: Floats | None) -> None:
        """Put some rows to their places."""
        rows = slice(start, start + len(docs))
        self.lengths[rows] = docs.lengths
        self.grades[rows] = grades
        if self.probabilities is not None and probabilities is not None:
            self.probabilities[rows] = probabilities
        self.docs.append(docs.buffer[: int(docs.lengths.sum())])
        changes = topics.changes()
        for topic, row in zip(topics.take(changes).tolist(), changes.tolist(), strict=True):
            if not self.topics or topic != self.topics[-1]:
                self.topics.append(topic)
                self.starts.append(start + row)

    def ids(self) -> Ids:
        """All docs in the order of the file."""
        buffer = np.concatenate([*self.docs, np.zeros(2 * WORD, dtype=np.uint8)])
        self.docs.clear()
        starts = np.cumsum(self.lengths) - self.lengths
        return Ids(buffer, starts, self.lengths)


def large_qrels(where: str, how: str, columns: Named = None) -> Qrels | None:
    """The judgments of a large Parquet or Arrow file; None where cells are neither texts nor numbers.

    columns: our column → that of the table.
    """
    table = opened_table(where, how, lambda names: qrels_places(names, columns, where))
    held = _Held(
        np.zeros(table.rows, dtype=np.int64),
        np.zeros(table.rows),
        np.zeros(table.rows) if "probability" in table.places else None,
    )
    for start in range(0, table.rows, ROWS):
        rows = table.columns(table.names, start, min(start + ROWS, table.rows))
        read = judged_rows(where, rows, table.places, first=start + 1)
        if read is None:
            return None
        held.add(start, *read)
    if not table.rows:
        raise DataError(f"{where}: there is a header but no row")
    return _grouped(held, where)


def _grouped(held: _Held, where: str) -> Qrels:
    """The judgments with the rows of each topic together, topics in natural order."""
    names = natural_order(dict.fromkeys(held.topics))
    order = _order(held, names)
    sizes = _sizes(held, names)
    docs = held.ids()
    if order is not None:
        docs = docs.take(order)
        held.grades = held.grades[order]
        held.probabilities = None if held.probabilities is None else held.probabilities[order]
    qrels = Qrels(tuple(names), bounds_of(sizes), docs, held.grades, held.probabilities, name=Path(where).name)
    _refuse_twice(qrels, order, where)
    return qrels


def _places(held: _Held, names: list[str]) -> Ints:
    """The place of each stretch's topic among the names."""
    place = {topic: i for i, topic in enumerate(names)}
    return np.array([place[topic] for topic in held.topics], dtype=np.int64)


def _stretches(held: _Held) -> Ints:
    """The number of rows of each stretch."""
    bounds = np.array([*held.starts, len(held.lengths)], dtype=np.int64)
    return bounds[1:] - bounds[:-1]


def _order(held: _Held, names: list[str]) -> Ints | None:
    """The rows in the order of their topics; None where they stand so already."""
    if held.topics == names:
        return None
    of_row = np.repeat(_places(held, names), _stretches(held))
    return np.argsort(of_row, kind="stable")


def _sizes(held: _Held, names: list[str]) -> Ints:
    """The number of rows of each topic."""
    sizes = np.zeros(len(names), dtype=np.int64)
    np.add.at(sizes, _places(held, names), _stretches(held))
    return sizes


def _refuse_twice(qrels: Qrels, order: Ints | None, where: str) -> None:
    """An error where a doc is twice in a topic, looked for in some topics at a time."""
    for block in qrels.topic_blocks(ROWS):
        some = qrels.only(np.arange(block.start, block.stop))
        row = some.duplicate()
        if row is None:
            continue
        t = int(np.searchsorted(some.bounds, row, side="right")) - 1
        topic, doc = some.topics[t], some.docs[row]
        first = int(some.bounds[t]) + some.docs.take(some.topic_rows(topic)).tolist().index(doc)
        lines = np.array([first, row]) + int(qrels.bounds[block.start])
        if order is not None:
            lines = order[lines]
        what = f"doc {doc!r} is twice in topic {topic!r} (first on line {lines[0] + 1})"
        raise DataError.at(where, int(lines[1]) + 1, f"{what}; keep one of the two lines")
