"""How should a pool be dealt to crowd workers? In tasks of a few docs of one topic, some gold, every doc equally often.

A task is done by one worker. The table that comes out is kept by whoever runs the campaign, since it says which docs
are gold; workers get pages (`task_pages`) that do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.core.engine import generator
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table

BETWEEN = "\x1f"
"""What stands between the two docs of a pair while tasks are dealt; no id has it."""


@dataclass(frozen=True)
class TaskRow:
    """One doc of one task, or a pair of docs; gold is the label expected of it, or None."""

    task: str
    topic: str
    position: int
    doc: str
    gold: float | None
    other: str = ""
    """The second doc of a pair."""


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

    def by_task(self) -> dict[str, list[TaskRow]]:
        """The rows of each task, in the order of their positions."""
        tasks: dict[str, list[TaskRow]] = {}
        for row in self.rows:
            tasks.setdefault(row.task, []).append(row)
        return tasks

    @property
    def are_pairs(self) -> bool:
        """Whether workers compare two docs at a time."""
        return any(row.other for row in self.rows)

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
            what = f"{len(known)} gold docs, and each task has {gold_in_task}"
            raise DataError(f"topic {topic}: {what}; give more gold docs of the topic, or have fewer in a task")
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


def make_pair_tasks(
    pool: Mapping[str, Sequence[str]],
    *,
    gold: Mapping[str, Mapping[str, float]] | None = None,
    pairs_per_doc: int = 4,
    docs: int = 8,
    gold_docs: int = 2,
    workers: int = 10,
    seed: int = 0,
) -> Tasks:
    """Tasks of `docs` pairs, side by side; each doc of a topic stands in `pairs_per_doc` pairs, an even number.

    Gold pairs are a doc of a low and one of a high grade; 1 is expected where the first is the better one, else 0.
    Everything else is as in `make_tasks`.

    >>> tasks = make_pair_tasks({"1": ["a", "b", "c", "d", "e"]}, pairs_per_doc=2, docs=5, workers=1)
    >>> [sorted((row.doc + row.other).count(doc) for row in tasks.rows) for doc in "ab"]
    [[0, 0, 0, 1, 1], [0, 0, 0, 1, 1]]
    """
    if pairs_per_doc < 2 or pairs_per_doc % 2:
        raise UsageError(f"{pairs_per_doc} pairs per doc; take an even number from 2 on")
    rng = generator(seed)
    pairs = {}
    gold_pairs: dict[str, dict[str, float]] = {}
    for topic, names in pool.items():
        graded = gold.get(topic, {}) if gold else {}
        known = {doc: grade for doc, grade in graded.items() if grade >= 0}
        todo = [doc for doc in dict.fromkeys(names) if doc not in known]
        pairs[topic] = _pairs_of(todo, pairs_per_doc, rng)
        gold_pairs[topic] = _gold_pairs(known, rng)
    dealt = make_tasks(
        pairs, gold=gold_pairs if gold else None, docs=docs, gold_docs=gold_docs, workers=workers, seed=seed
    )
    rows = []
    for row in dealt.rows:
        first, _, second = row.doc.partition(BETWEEN)
        rows.append(replace(row, doc=first, other=second))
    return replace(dealt, rows=tuple(rows))


def _pairs_of(docs: Sequence[str], per_doc: int, rng: np.random.Generator) -> list[str]:
    """Pairs in which each doc stands `per_doc` times: neighbours on a circle in random order, then next neighbours …"""
    n = len(docs)
    if n < 2:
        return []
    circle = [docs[i] for i in rng.permutation(n).tolist()]
    pairs: dict[frozenset[str], str] = {}
    for step in range(1, min(per_doc // 2, n // 2) + 1):
        for i in range(n):
            both = [circle[i], circle[(i + step) % n]]
            if rng.random() < 0.5:
                both.reverse()
            # On a circle of two, or halfway round an even one, the same pair comes twice.
            pairs.setdefault(frozenset(both), BETWEEN.join(both))
    return list(pairs.values())


def _gold_pairs(known: Mapping[str, float], rng: np.random.Generator) -> dict[str, float]:
    """Pairs of docs of different grades, the lowest with the highest, and the label that is expected of each."""
    names = list(known)
    shuffled = [names[i] for i in rng.permutation(len(names)).tolist()]
    ranked = sorted(shuffled, key=lambda doc: known[doc])
    pairs = {}
    for low, high in zip(ranked, reversed(ranked), strict=True):
        if known[low] >= known[high]:
            break
        is_better_first = bool(rng.random() < 0.5)
        both = (high, low) if is_better_first else (low, high)
        pairs[BETWEEN.join(both)] = float(is_better_first)
    return pairs
