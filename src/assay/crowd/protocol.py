"""Would every task have passed the checks of the protocol, and if not, which check, and why?

A protocol says how tasks are made and checked: docs per task, gold docs, minimum seconds, a slider that must be moved,
attempts. It is held against a labels file after the fact; a check whose column the file lacks is named so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.agreement.across_scales import grades_of
from assay.agreement.ratings import repeated
from assay.agreement.scales import Scale
from assay.core.arrays import Ints
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.units import task_of
from assay.data import Labels, Qrels


@dataclass(frozen=True)
class Protocol:
    """What a task must fulfil; the defaults are those of the 0–100 collection of Roitero et al. 2018.

    docs: docs of a task, gold among them. gold: gold docs of a task. seconds, on_docs: at least `seconds` on `on_docs`
    docs or more. start, moved: labels other than the preset value on at least `moved` docs. attempts: at most.
    once_per_topic: a worker may do one task of a topic. Set a number to None to leave its check out.
    """

    docs: int | None = 8
    gold: int | None = 2
    seconds: float | None = 20.0
    on_docs: int = 6
    start: float | None = 50.0
    moved: int = 4
    attempts: int | None = 3
    once_per_topic: bool = True


@dataclass(frozen=True)
class Failure:
    """A task that fails a check."""

    task: str
    worker: str
    topic: str
    check: str
    why: str
    line: int | None


@dataclass(frozen=True, eq=False)
class ProtocolCheck(Result):
    """All failures, how many tasks there are, and the checks that the file's columns do not allow."""

    protocol: Protocol
    tasks: int
    failures: tuple[Failure, ...]
    unchecked: tuple[str, ...]

    def failed(self, check: str) -> int:
        """How many tasks fail a check."""
        return sum(f.check == check for f in self.failures)

    def table(self, *, most: int | None = None) -> Table:
        """One row per failure."""
        rows = [(f.check, f.task, f.worker, f.topic, f.why, f.line) for f in self.failures[:most]]
        formats = {"check": "", "task": "", "worker": "", "topic": "", "why": "", "line": "d"}
        shown = f" (the first {most} of {len(self.failures)})" if most and len(self.failures) > most else ""
        return Table.of(formats, rows, caption=f"Tasks that fail a check{shown}", notes=self._notes())

    def tables(self) -> list[Table]:
        """The checks, and every failure."""
        return [self.summary(), self.table()]

    def summary(self) -> Table:
        """One row per check."""
        names = list(dict.fromkeys(f.check for f in self.failures))
        rows = [(n, self.failed(n), self.failed(n) / max(1, self.tasks)) for n in names]
        formats = {"check": "", "tasks that fail": "d", "share": ".3f"}
        return Table.of(formats, rows, caption=f"Protocol: {self.tasks} tasks", notes=self._notes())

    def _notes(self) -> tuple[str, ...]:
        return tuple(f"Not checkable: {u}." for u in self.unchecked)


def check_protocol(labels: Labels, protocol: Protocol | None = None) -> ProtocolCheck:
    """Which tasks fail which check of the protocol.

    gold order: of two gold docs with different gold labels, the better one must get the strictly higher label.
    A task here is what one worker did of it: platforms give the same task, with one name, to several workers.
    Without a task column it is all labels of one worker on one topic.
    """
    protocol = protocol or Protocol()
    task = task_of(labels)
    size, first = np.bincount(task), np.unique(task, return_index=True)[1]
    found: list[Failure] = []
    unchecked: list[str] = []
    for check, failing, why in _counted_checks(labels, task, size, protocol):
        if failing is None:
            unchecked.append(f"{check} ({why[0]})")
            continue
        found.extend(_failure(labels, int(first[t]), check, why[t]) for t in np.flatnonzero(failing))
    if protocol.gold is not None:
        found.extend(_gold_failures(labels, task, size, first, protocol.gold, unchecked))
    if protocol.once_per_topic:
        found.extend(_twice(labels, first))
    return ProtocolCheck(protocol, len(size), tuple(found), tuple(unchecked))


def _counted_checks(
    labels: Labels, task: Ints, size: Ints, protocol: Protocol
) -> Iterator[tuple[str, npt.NDArray[np.bool_] | None, list[str]]]:
    """Checks that count something per task: name, which tasks fail (None: not checkable), and why, one per task."""

    def count(rows: npt.NDArray[np.bool_]) -> Ints:
        return np.bincount(task, rows, len(size)).astype(np.int64)

    if protocol.docs is not None:
        yield "docs", size != protocol.docs, [f"{n} docs, not {protocol.docs}" for n in size]
    if protocol.seconds is not None and labels.seconds is None:
        yield "seconds", None, ["no column of seconds"]
    elif protocol.seconds is not None and labels.seconds is not None:
        slow = count(np.nan_to_num(labels.seconds) >= protocol.seconds)
        why = [f"{n} docs with {protocol.seconds:g} s or more" for n in slow]
        yield "seconds", slow < np.minimum(protocol.on_docs, size), why
    if protocol.start is not None:
        moved = count(labels.label != protocol.start)
        why = [f"{n} labels moved from the preset" for n in moved]
        yield "moved", moved < np.minimum(protocol.moved, size), why
    if protocol.attempts is not None and labels.attempt is None:
        yield "attempts", None, ["no column of attempts"]
    elif protocol.attempts is not None and labels.attempt is not None:
        most = np.zeros(len(size), dtype=np.int64)
        np.maximum.at(most, task, labels.attempt)
        yield "attempts", most > protocol.attempts, [f"{n} attempts" for n in most]


def _failure(labels: Labels, row: int, check: str, why: str) -> Failure:
    line = None if labels.lines is None else int(labels.lines[row])
    worker, topic = labels.workers[labels.worker[row]], labels.topics[labels.topic[row]]
    name = f"{topic}/{worker}" if labels.task is None else str(labels.task[row])
    return Failure(name, worker, topic, check, why, line)


def _gold_failures(
    labels: Labels, task: Ints, size: Ints, first: Ints, gold: int, unchecked: list[str]
) -> Iterator[Failure]:
    if labels.gold is None:
        unchecked.append("gold docs (no column of gold labels)")
        return
    rows = np.flatnonzero(~np.isnan(labels.gold))
    count = np.bincount(task[rows], minlength=len(size))
    for t in np.flatnonzero(count != gold):
        yield _failure(labels, int(first[t]), "gold docs", f"{count[t]} gold docs, not {gold}")
    order = rows[np.lexsort((labels.gold[rows], task[rows]))]
    a, b = order[:-1], order[1:]
    wrong = (task[a] == task[b]) & (labels.gold[a] < labels.gold[b]) & (labels.label[a] >= labels.label[b])
    for i, j in zip(a[wrong].tolist(), b[wrong].tolist(), strict=True):
        better, worse = labels.docs[labels.doc[j]], labels.docs[labels.doc[i]]
        why = f"gold doc {better} got {labels.label[j]:g}, {worse}, which is worse, {labels.label[i]:g}"
        yield _failure(labels, j, "gold order", why)


def _twice(labels: Labels, first: Ints) -> Iterator[Failure]:
    """Workers with several tasks of a topic, or with two labels of a doc."""
    key = labels.topic[first] * len(labels.workers) + labels.worker[first]
    again = np.ones(len(first), dtype=bool)
    again[np.unique(key, return_index=True)[1]] = False
    for t in np.flatnonzero(again):
        yield _failure(labels, int(first[t]), "topic twice", "the worker has another task of this topic")
    for row in np.flatnonzero(repeated(labels)):
        yield _failure(labels, int(row), "doc twice", f"a second label of doc {labels.docs[labels.doc[row]]}")


def with_gold(labels: Labels, gold: Qrels, *, scale: Scale, shared: float = 0.9) -> Labels:
    """Labels with the gold column filled from qrels, on docs that at least this share of a topic's tasks judged.

    For files that do not mark gold docs: those are the docs that (nearly) every worker of the topic judged. Grades 0
    to the top grade are stretched over the scale of the labels.
    """
    task, (item, pairs) = task_of(labels), labels.items()
    tasks = np.zeros(len(labels.topics), dtype=np.int64)
    first = np.unique(task, return_index=True)[1]
    np.add.at(tasks, labels.topic[first], 1)
    known = grades_of(pairs, gold, labels.name)
    width = (scale.high if np.isfinite(scale.high) else float(labels.label.max())) - scale.low
    grade = scale.low + known / gold.top_grade() * width
    common = np.bincount(item)[item] >= shared * tasks[labels.topic]
    marked = np.where(common, grade[item], np.nan)
    if np.isnan(marked).all():
        raise DataError(
            f"{labels.name}: no doc that {100 * shared:.0f} % of its topic's tasks hold has a grade in {gold.name}"
        )
    return replace(labels, gold=marked)
