"""Would every task have passed the checks of the protocol, and if not, which check, and why?

A protocol says how tasks are made and checked: docs per task, gold docs, minimum seconds, a slider that must be moved,
attempts, a test question. It is held against a labels file after the fact; a check whose column is missing is named so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.agreement.across_scales import grades_of
from assay.agreement.ratings import repeated
from assay.agreement.scales import Scale
from assay.core.arrays import Bools, Ints
from assay.core.errors import DataError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.units import task_of
from assay.data import Labels, Qrels


@dataclass(frozen=True)
class Protocol:
    """What a task must fulfil; by default only what any labels can show: gold docs are put in the right order.

    docs: docs of a task, gold among them. gold: gold docs of a task. seconds, on_docs: at least `seconds` on `on_docs`
    docs or more, by default on all docs of the task. start, moved: labels other than the preset value on at least
    `moved` docs. attempts: at most. test_question: it must be answered right. once_per_topic: a worker may do one task
    of a topic. A number that is None is not checked.
    """

    docs: int | None = None
    gold: int | None = None
    seconds: float | None = None
    on_docs: int | None = None
    start: float | None = None
    moved: int = 1
    attempts: int | None = None
    test_question: bool = False
    once_per_topic: bool = False


PROTOCOLS = {
    "none": Protocol(),
    "s100": Protocol(
        docs=8,
        gold=2,
        seconds=20.0,
        on_docs=6,
        start=50.0,
        moved=4,
        attempts=3,
        test_question=True,
        once_per_topic=True,
    ),
}
"""Protocols by name: none asks nothing of a task; s100 is that of the 0–100 collection of Roitero et al. 2018."""


def protocol_of(name: str = "none", **rules: Any) -> Protocol:
    """A named protocol with some of its rules set otherwise; a rule that is None stays as the protocol has it.

    >>> protocol_of("s100", docs=10).docs, protocol_of("s100").docs, protocol_of().docs
    (10, 8, None)
    """
    named = PROTOCOLS[one_of("protocol", name, PROTOCOLS)]
    given = {rule: value for rule, value in rules.items() if value is not None}
    return replace(named, **given)


@dataclass(frozen=True)
class Failure:
    """A task that fails a check."""

    task: str
    worker: str
    topic: str
    check: str
    why: str
    line: int | None
    row: int
    """A row of the labels that belongs to the task."""


@dataclass(frozen=True, eq=False)
class ProtocolCheck(Result):
    """All failures, how many tasks there are, and the checks that the file's columns do not allow."""

    protocol: Protocol
    tasks: int
    failures: tuple[Failure, ...]
    unchecked: tuple[str, ...]

    def failed(self, check: str) -> int:
        """How many tasks fail a check."""
        return sum(failure.check == check for failure in self.failures)

    def table(self, *, most: int | None = None) -> Table:
        """One row per failure."""
        formats = {
            "check": "",
            "task": "",
            "worker": "",
            "topic": "",
            "why": "",
            "line": "d",
        }
        rows = []
        for f in self.failures[:most]:
            rows.append((f.check, f.task, f.worker, f.topic, f.why, f.line))
        caption = "Tasks that fail a check"
        if most and len(self.failures) > most:
            caption += f" (the first {most} of {len(self.failures)})"
        return Table.of(formats, rows, caption=caption, notes=self._notes())

    def tables(self) -> list[Table]:
        """The checks, and every failure."""
        return [self.summary(), self.table()]

    def summary(self) -> Table:
        """One row per check."""
        formats = {"check": "", "tasks that fail": "d", "share": ".3f"}
        checks = dict.fromkeys(failure.check for failure in self.failures)
        rows = []
        for check in checks:
            count = self.failed(check)
            share = count / max(1, self.tasks)
            rows.append((check, count, share))
        caption = f"Protocol: {self.tasks} tasks"
        return Table.of(formats, rows, caption=caption, notes=self._notes())

    def _notes(self) -> tuple[str, ...]:
        notes = [f"Not checkable: {check}." for check in self.unchecked]
        if self.protocol == Protocol():
            notes.append("Only the order of gold docs is checked, where there are any; a protocol says what else.")
        return tuple(notes)


def check_protocol(labels: Labels, protocol: Protocol | None = None) -> ProtocolCheck:
    """Which tasks fail which check of the protocol.

    gold order: of two gold docs with different gold labels, the better one must get the strictly higher label.
    A task here is what one worker did of it: platforms give the same task, with one name, to several workers.
    Without a task column it is all labels of one worker on one topic.
    """
    rules = protocol or Protocol()
    tasks = _Tasks.of(labels)
    failures = [
        *_of_wrong_size(tasks, rules),
        *_too_fast(tasks, rules),
        *_not_moved(tasks, rules),
        *_too_many_attempts(tasks, rules),
        *_failed_test(tasks, rules),
        *_wrong_gold(tasks, rules),
        *_done_twice(tasks, rules),
    ]
    return ProtocolCheck(rules, len(tasks.size), tuple(failures), _unchecked(labels, rules))


def _unchecked(labels: Labels, rules: Protocol) -> tuple[str, ...]:
    """The checks that the protocol asks for and the file has no column for."""
    missing = []
    if rules.seconds is not None and labels.seconds is None:
        missing.append("seconds (no column of seconds)")
    if rules.attempts is not None and labels.attempt is None:
        missing.append("attempts (no column of attempts)")
    if rules.test_question and labels.tested is None:
        missing.append("test question (no column of tested)")
    if rules.gold is not None and labels.gold is None:
        missing.append("gold docs (no column of gold labels)")
    return tuple(missing)


@dataclass(frozen=True, eq=False)
class _Tasks:
    """The labels by task: the task of each label, how many labels each task has, and the row of its first one."""

    labels: Labels
    task: Ints
    size: Ints
    first: Ints

    @classmethod
    def of(cls, labels: Labels) -> _Tasks:
        task = task_of(labels)
        _, first = np.unique(task, return_index=True)
        return cls(labels, task, np.bincount(task), first)

    def count(self, rows: Bools) -> Ints:
        """How many of these rows each task has."""
        return np.bincount(self.task, rows, len(self.size)).astype(np.int64)

    def failures(self, check: str, *, failing: Bools, amounts: Ints, why: str) -> Iterator[Failure]:
        """A failure for each failing task; why: a text with {} in the place of the task's amount."""
        first_rows = self.first[failing].tolist()
        failing_amounts = amounts[failing].tolist()
        for row, amount in zip(first_rows, failing_amounts, strict=True):
            yield self.failure(row, check, why.format(amount))

    def failure(self, row: int, check: str, why: str) -> Failure:
        """The failure of the task that this row belongs to."""
        labels = self.labels
        worker = labels.workers[labels.worker[row]]
        topic = labels.topics[labels.topic[row]]
        name = f"{topic}/{worker}"
        if labels.task is not None:
            name = str(labels.task[row])
        line = None
        if labels.lines is not None:
            line = int(labels.lines[row])
        return Failure(name, worker, topic, check, why, line, row)


def _of_wrong_size(tasks: _Tasks, rules: Protocol) -> Iterator[Failure]:
    if rules.docs is None:
        return
    yield from tasks.failures(
        "docs",
        failing=tasks.size != rules.docs,
        amounts=tasks.size,
        why=f"{{}} docs, not {rules.docs}",
    )


def _too_fast(tasks: _Tasks, rules: Protocol) -> Iterator[Failure]:
    seconds = tasks.labels.seconds
    if rules.seconds is None or seconds is None:
        return
    long_enough = tasks.count(np.nan_to_num(seconds) >= rules.seconds)
    # A task with fewer docs than the protocol asks for needs the time on all of them.
    needed = tasks.size if rules.on_docs is None else np.minimum(rules.on_docs, tasks.size)
    yield from tasks.failures(
        "seconds",
        failing=long_enough < needed,
        amounts=long_enough,
        why=f"{{}} docs with {rules.seconds:g} s or more",
    )


def _not_moved(tasks: _Tasks, rules: Protocol) -> Iterator[Failure]:
    if rules.start is None:
        return
    moved = tasks.count(tasks.labels.label != rules.start)
    needed = np.minimum(rules.moved, tasks.size)
    yield from tasks.failures(
        "moved",
        failing=moved < needed,
        amounts=moved,
        why="{} labels moved from the preset",
    )


def _too_many_attempts(tasks: _Tasks, rules: Protocol) -> Iterator[Failure]:
    attempt = tasks.labels.attempt
    if rules.attempts is None or attempt is None:
        return
    attempts = np.zeros(len(tasks.size), dtype=np.int64)
    np.maximum.at(attempts, tasks.task, attempt)
    yield from tasks.failures(
        "attempts",
        failing=attempts > rules.attempts,
        amounts=attempts,
        why="{} attempts",
    )


def _failed_test(tasks: _Tasks, rules: Protocol) -> Iterator[Failure]:
    tested = tasks.labels.tested
    if not rules.test_question or tested is None:
        return
    wrong = tasks.count(tested == 0)
    yield from tasks.failures("test question", failing=wrong > 0, amounts=wrong, why="answered wrong")


def _wrong_gold(tasks: _Tasks, rules: Protocol) -> Iterator[Failure]:
    """Tasks with another number of gold docs, and gold docs that got labels in the wrong order."""
    gold = tasks.labels.gold
    if gold is None:
        return
    has_gold = ~np.isnan(gold)
    if rules.gold is not None:
        count = tasks.count(has_gold)
        yield from tasks.failures(
            "gold docs",
            failing=count != rules.gold,
            amounts=count,
            why=f"{{}} gold docs, not {rules.gold}",
        )

    worse, better, is_wrong = gold_order(tasks.labels, tasks.task)
    for place in np.flatnonzero(is_wrong).tolist():
        better_row = int(better[place])
        why = _misordered(tasks.labels, int(worse[place]), better_row)
        yield tasks.failure(better_row, "gold order", why)


def gold_order(labels: Labels, task: Ints) -> tuple[Ints, Ints, Bools]:
    """Rows of gold docs of one task that are compared, the worse and the better one, and whether that order is wrong.

    Gold docs of each task are put in order from the worst to the best, and neighbours that differ are compared: the
    better one must get the strictly higher label.
    """
    assert labels.gold is not None
    rows = np.flatnonzero(~np.isnan(labels.gold))
    order = rows[np.lexsort((labels.gold[rows], task[rows]))]
    same_task = task[order[:-1]] == task[order[1:]]
    differ = labels.gold[order[:-1]] < labels.gold[order[1:]]
    compared = same_task & differ
    worse = order[:-1][compared]
    better = order[1:][compared]
    is_wrong = labels.label[better] <= labels.label[worse]
    return worse, better, is_wrong


def _misordered(labels: Labels, worse_row: int, better_row: int) -> str:
    better = labels.docs[labels.doc[better_row]]
    worse = labels.docs[labels.doc[worse_row]]
    got = labels.label
    return f"gold doc {better} got {got[better_row]:g}, {worse}, which is worse, {got[worse_row]:g}"


def _done_twice(tasks: _Tasks, rules: Protocol) -> Iterator[Failure]:
    """Workers with several tasks of a topic, or with two labels of a doc."""
    if not rules.once_per_topic:
        return
    labels = tasks.labels
    topic = labels.topic[tasks.first]
    worker = labels.worker[tasks.first]
    _, first_of_pair = np.unique(topic * len(labels.workers) + worker, return_index=True)
    again = np.ones(len(topic), dtype=bool)
    again[first_of_pair] = False
    for row in tasks.first[again].tolist():
        yield tasks.failure(row, "topic twice", "the worker has another task of this topic")
    for row in np.flatnonzero(repeated(labels)).tolist():
        doc = labels.docs[labels.doc[row]]
        yield tasks.failure(row, "doc twice", f"a second label of doc {doc}")


def with_gold(labels: Labels, gold: Qrels, *, scale: Scale, shared: float = 0.9) -> Labels:
    """Labels with the gold column filled from qrels, on docs that at least this share of a topic's tasks judged.

    For files that do not mark gold docs: those are the docs that (nearly) every worker of the topic judged. Grades 0
    to the top grade are stretched over the scale of the labels.
    """
    item, pairs = labels.items()
    grades = grades_of(pairs, gold, labels.name)
    top = scale.high
    if not np.isfinite(top):
        top = float(labels.label.max())
    stretched = scale.low + grades / gold.top_grade() * (top - scale.low)

    times_judged = np.bincount(item)[item]
    is_common = times_judged >= shared * _tasks_by_topic(labels)[labels.topic]
    marked = np.where(is_common, stretched[item], np.nan)
    if np.isnan(marked).all():
        raise DataError(
            f"{labels.name}: no doc that {100 * shared:.0f} % of its topic's tasks hold has a grade in {gold.name}"
        )
    return replace(labels, gold=marked)


def _tasks_by_topic(labels: Labels) -> Ints:
    """How many tasks each topic has."""
    first = _Tasks.of(labels).first
    return np.bincount(labels.topic[first], minlength=len(labels.topics))
