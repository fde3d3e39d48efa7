"""How should a pool be dealt to crowd workers? In tasks of a few docs of one topic, some gold, every doc equally often.

The table that comes out is what a crowd platform is fed: task, topic, position, doc, gold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.engine import generator
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.io.column_names import Named, column_places, listed
from assay.io.content import Content
from assay.io.samples import Sample, sample_of
from assay.io.sheet import decoded, sheet_in, write_sheet


@dataclass(frozen=True)
class TaskRow:
    """One doc of one task; gold is the label expected of it, or None."""

    task: str
    topic: str
    position: int
    doc: str
    gold: float | None


@dataclass(frozen=True, eq=False)
class Tasks(Result):
    """All rows, grouped by task, and how they were dealt."""

    rows: tuple[TaskRow, ...]
    docs: int
    gold: int
    workers: int
    seed: int

    def table(self) -> Table:
        """One row per topic: docs, tasks, and how many workers a doc gets at least and at most."""
        rows = []
        for topic, rows_of_topic in self._by_topic().items():
            tasks = {row.task for row in rows_of_topic}
            workers = Counter(row.doc for row in rows_of_topic if row.gold is None)
            if workers:
                rows.append((topic, len(workers), len(tasks), min(workers.values()), max(workers.values())))
        note = f"{self.docs} docs per task, {self.gold} of them gold; {self.workers} workers; seed {self.seed}."
        formats = {"topic": "", "docs": "d", "tasks": "d", "fewest workers": "d", "most workers": "d"}
        return Table.of(formats, rows, caption="Tasks", notes=(note,))

    def _by_topic(self) -> dict[str, list[TaskRow]]:
        topics: dict[str, list[TaskRow]] = {}
        for row in self.rows:
            topics.setdefault(row.topic, []).append(row)
        return topics


def make_tasks(
    pool: Mapping[str, Sequence[str]],
    *,
    gold: Mapping[str, Mapping[str, float]] | None = None,
    docs: int = 8,
    gold_docs: int = 2,
    workers: int = 10,
    seed: int = 0,
) -> Tasks:
    """Tasks of `docs` docs, `gold_docs` of them gold, so that each doc of the pool gets `workers` workers.

    A task never holds a doc twice; where the last task of a topic would stay short it is filled up with docs that then
    get one worker more. A topic with fewer docs than a task has room for makes shorter tasks. Of the gold docs of a
    topic each task gets the lowest and the highest grades in turn; positions are shuffled.
    Gold docs are not part of the pool: a doc in both is judged as gold only.
    """
    gold_in_task = gold_docs if gold else 0
    room = docs - gold_in_task
    if workers < 1 or gold_docs < 0:
        raise UsageError(f"{workers} workers per doc and {gold_docs} gold docs per task; take at least 1 and 0")
    if room < 1:
        raise UsageError(
            f"tasks of {docs} docs with {gold_in_task} gold leave {room} for the pool; at least 1 is needed"
        )
    rng = generator(seed)
    rows: list[TaskRow] = []
    for topic, names in pool.items():
        graded = gold.get(topic, {}) if gold else {}
        # A grade below 0 says that the doc was not judged, so that it can check nobody.
        known = {doc: grade for doc, grade in graded.items() if grade >= 0}
        if len(known) < gold_in_task:
            raise DataError(f"topic {topic}: {len(known)} gold docs; {gold_docs} are needed")
        todo = [doc for doc in dict.fromkeys(names) if doc not in known]
        groups = _dealt(len(todo), min(room, len(todo)), workers, rng)
        for number, group in enumerate(groups, 1):
            task = f"{topic}-{number:04d}"
            chosen: list[tuple[str, float | None]] = [(todo[i], None) for i in group]
            chosen += _gold_of(known, gold_in_task, rng)
            order = rng.permutation(len(chosen)).tolist()
            for position, place in enumerate(order, 1):
                doc, grade = chosen[place]
                rows.append(TaskRow(task, topic, position, doc, grade))
    return Tasks(tuple(rows), docs, gold_in_task, workers, seed)


def _dealt(n: int, room: int, times: int, rng: np.random.Generator) -> list[list[int]]:
    """Groups of `room` different docs in which each of n docs stands `times` times, or once more in the last group.

    Shuffled packs are laid end to end and cut into groups; a doc that would stand twice in a group is moved back in its
    pack.
    """
    if not n:
        return []
    laid: list[int] = []
    for _ in range(times):
        pack = rng.permutation(n).tolist()
        laid += _continued(laid, pack, room)
    missing = -len(laid) % room
    if missing:
        last = set(laid[len(laid) - (room - missing) :])
        others = [doc for doc in rng.permutation(n).tolist() if doc not in last]
        laid += others[:missing]
    return [laid[start : start + room] for start in range(0, len(laid), room)]


def _continued(laid: list[int], pack: list[int], room: int) -> list[int]:
    """The pack, with docs that the open group holds already moved behind the others."""
    open_size = len(laid) % room
    if not open_size:
        return pack
    held = set(laid[len(laid) - open_size :])
    free = [doc for doc in pack if doc not in held]
    head = free[: room - open_size]
    first = set(head)
    tail = [doc for doc in pack if doc not in first]
    return head + tail


def _gold_of(known: Mapping[str, float], number: int, rng: np.random.Generator) -> list[tuple[str, float | None]]:
    """`number` gold docs, the lowest and the highest grades in turn, at random among equal grades."""
    names = list(known)
    shuffled = [names[i] for i in rng.permutation(len(names)).tolist()]
    ranked = sorted(shuffled, key=lambda doc: known[doc])
    picked: list[tuple[str, float | None]] = []
    while len(picked) < number:
        is_lowest_next = len(picked) % 2 == 0
        doc = ranked.pop(0 if is_lowest_next else -1)
        picked.append((doc, known[doc]))
    return picked


def write_tasks(path: str | Path, tasks: Tasks) -> None:
    """The tasks as a table: task, topic, position, doc, gold (empty where the doc is not gold)."""
    header = ("task", "topic", "position", "doc", "gold")
    rows = ((row.task, row.topic, row.position, row.doc, row.gold) for row in tasks.rows)
    write_sheet(path, header, rows)


def read_pool(path: str | Path, *, columns: Named = None) -> dict[str, list[str]]:
    """Docs to judge per topic: a table with the columns topic and doc, or lines of a qrels or a run file."""
    content = Content.of(path)
    sample = sample_of(content)
    pool: dict[str, list[str]] = {}
    is_text = sample.syntax in ("lines", "empty", "sgml")
    pairs = _from_lines(content) if is_text else _from_table(content, sample, columns)
    for topic, doc in pairs:
        pool.setdefault(topic, []).append(doc)
    return pool


def _from_table(content: Content, sample: Sample, columns: Named) -> Iterator[tuple[str, str]]:
    """(topic, doc) of a table with these two columns."""
    sheet = sheet_in(content, sample)
    places = column_places(sheet.header, ("topic", "doc"), columns, "pools", sheet.where)
    for ours in ("topic", "doc"):
        if ours not in places:
            raise DataError(f"{sheet.where}: no column {ours!r}; the columns are: {listed(sheet.header)}")
    for row in sheet.rows:
        yield row[places["topic"]], row[places["doc"]]


def _from_lines(content: Content) -> Iterator[tuple[str, str]]:
    """(topic, doc) of lines with two fields, or with four or more of which the third is the doc."""
    where = content.where
    text = decoded(where, content.bytes())
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) in (1, 3):
            raise DataError.at(where, number, f"{len(fields)} fields; a pool line is 'topic doc' or a qrels line")
        doc = fields[1] if len(fields) == 2 else fields[2]
        yield fields[0], doc
