"""How should a pool be dealt to crowd workers? In tasks of a few docs of one topic, some gold, every doc equally often.

The table that comes out is what a crowd platform is fed: task, topic, position, doc, gold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.engine import generator
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.io.files import TABULAR, kind, read_bytes
from assay.io.sheet import decoded, read_sheet, write_sheet


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
        seen: dict[str, dict[str, int]] = {}
        tasks: dict[str, set[str]] = {}
        for r in self.rows:
            tasks.setdefault(r.topic, set()).add(r.task)
            if r.gold is None:
                seen.setdefault(r.topic, {})[r.doc] = seen.setdefault(r.topic, {}).get(r.doc, 0) + 1
        rows = [
            (t, len(seen[t]), len(tasks[t]), min(seen[t].values()), max(seen[t].values())) for t in tasks if t in seen
        ]
        notes = (f"{self.docs} docs per task, {self.gold} of them gold; {self.workers} workers; seed {self.seed}.",)
        formats = {"topic": "", "docs": "d", "tasks": "d", "fewest workers": "d", "most workers": "d"}
        return Table.of(formats, rows, caption="Tasks", notes=notes)


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
    room = docs - (gold_docs if gold else 0)
    if workers < 1 or gold_docs < 0:
        raise UsageError(f"{workers} workers per doc and {gold_docs} gold docs per task; take at least 1 and 0")
    if room < 1:
        raise UsageError(
            f"tasks of {docs} docs with {docs - room} gold leave {room} for the pool; at least 1 is needed"
        )
    rng = generator(seed)
    rows: list[TaskRow] = []
    for topic, names in pool.items():
        # A grade below 0 says that the doc was not judged, so that it can check nobody.
        known = {doc: grade for doc, grade in (gold or {}).get(topic, {}).items() if grade >= 0}
        if gold and len(known) < gold_docs:
            raise DataError(f"topic {topic}: {len(known)} gold docs; {gold_docs} are needed")
        todo = [d for d in dict.fromkeys(names) if d not in known]
        for number, some in enumerate(_dealt(len(todo), min(room, len(todo)), workers, rng), 1):
            chosen = [(todo[i], None) for i in some] + _gold_of(known, gold_docs if gold else 0, rng)
            for position, at in enumerate(rng.permutation(len(chosen)).tolist(), 1):
                rows.append(TaskRow(f"{topic}-{number:04d}", topic, position, *chosen[at]))
    return Tasks(tuple(rows), docs, gold_docs if gold else 0, workers, seed)


def _dealt(n: int, room: int, times: int, rng: np.random.Generator) -> list[list[int]]:
    """Groups of `room` different docs in which each of n docs stands `times` times, or once more in the last group.

    Shuffled packs are laid end to end and cut into groups; a doc that would stand twice in a group is moved back in its
    pack.
    """
    if not n:
        return []
    laid: list[int] = []
    for _ in range(times):
        laid += _continued(laid, rng.permutation(n).tolist(), room)
    missing = -len(laid) % room
    if missing:
        last = set(laid[len(laid) - (room - missing) :])
        laid += [d for d in rng.permutation(n).tolist() if d not in last][:missing]
    return [laid[i : i + room] for i in range(0, len(laid), room)]


def _continued(laid: list[int], pack: list[int], room: int) -> list[int]:
    """The pack, with docs that the open group holds already moved behind the others."""
    open_size = len(laid) % room
    held = set(laid[len(laid) - open_size :]) if open_size else set()
    free = [d for d in pack if d not in held]
    needed = room - open_size if open_size else 0
    head = free[:needed]
    tail = [d for d in pack if d not in set(head)]
    return head + tail


def _gold_of(known: Mapping[str, float], number: int, rng: np.random.Generator) -> list[tuple[str, float | None]]:
    """`number` gold docs, the lowest and the highest grades in turn, at random among equal grades."""
    names = [list(known)[i] for i in rng.permutation(len(known)).tolist()]
    ranked = sorted(names, key=lambda d: known[d])
    picked: list[str] = []
    while len(picked) < number:
        picked.append(ranked.pop(0 if len(picked) % 2 == 0 else -1))
    return [(d, known[d]) for d in picked]


def write_tasks(path: str | Path, tasks: Tasks) -> None:
    """The tasks as a table: task, topic, position, doc, gold (empty where the doc is not gold)."""
    header = ("task", "topic", "position", "doc", "gold")
    write_sheet(path, header, ((r.task, r.topic, r.position, r.doc, r.gold) for r in tasks.rows))


def read_pool(path: str | Path) -> dict[str, list[str]]:
    """Docs to judge per topic: a table with the columns topic and doc, or lines of a qrels or a run file."""
    if kind(path) in TABULAR:
        sheet = read_sheet(path)
        topic, doc = sheet.place("topic", "query", "qid"), sheet.place("doc", "docid", "docno")
        pairs = [(row[topic], row[doc]) for row in sheet.rows]
    else:
        pairs = list(_from_lines(path))
    pool: dict[str, list[str]] = {}
    for t, d in pairs:
        pool.setdefault(t, []).append(d)
    return pool


def _from_lines(path: str | Path) -> Iterator[tuple[str, str]]:
    """(topic, doc) of lines with two fields, or with four or more of which the third is the doc."""
    where = str(path)
    for number, line in enumerate(decoded(where, read_bytes(path)).splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) in (1, 3):
            raise DataError.at(where, number, f"{len(fields)} fields; a pool line is 'topic doc' or a qrels line")
        yield fields[0], fields[1 if len(fields) == 2 else 2]
