"""What came back? Answers of pages, held against the tasks that were planned: labels, and tasks to offer again.

An answer that does not belong to its code, to a planned task or to its docs is left out, and so is a second one of the
same task, or of the same worker on a topic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.task_costs import Prices
from assay.crowd.task_forms import TestQuestion
from assay.crowd.tasks import TaskRow, Tasks
from assay.data import Labels
from assay.io.files import read_text
from assay.io.json_values import json_value
from assay.io.sheet import write_sheet

NEEDED = ("topic", "doc", "worker", "label", "task", "position", "seconds", "attempt", "back", "answer", "code")
"""The entries of each row of an answer."""
TEXTS = ("topic", "doc", "worker", "task", "answer", "code")
"""Those of them that are texts; the others are numbers."""
LETTERS_OF_CODE = 12
LARGEST = 2**53
"""The largest number of an answer: a page counts no further exactly."""


@dataclass(frozen=True)
class Answer:
    """What one worker did of one task: the rows that a page gave back, and where they were read."""

    where: str
    rows: tuple[Mapping[str, Any], ...]

    @property
    def task(self) -> str:
        return str(self.rows[0]["task"])

    @property
    def worker(self) -> str:
        return str(self.rows[0]["worker"])

    @property
    def topic(self) -> str:
        return str(self.rows[0]["topic"])

    @property
    def seconds(self) -> float:
        return float(sum(row["seconds"] for row in self.rows))


def submit_code(rows: Sequence[Mapping[str, Any]]) -> str:
    """The code of an answer, as the page shows it: FNV-1a of task, worker, attempt, answer and labels.

    >>> row = {"task": "1-0001", "worker": "w", "attempt": 1, "answer": "", "doc": "a", "label": 50}
    >>> submit_code([row])
    '393785694E0B'
    """
    first = rows[0]
    parts = [str(first["task"]), str(first["worker"]), str(first["attempt"]), str(first["answer"])]
    parts += [f"{row['doc']}={_written(row['label'])}" for row in rows]
    code = 0xCBF29CE484222325
    for byte in "\n".join(parts).encode():
        code = ((code ^ byte) * 0x100000001B3) % 2**64
    return f"{code:016X}"[:LETTERS_OF_CODE]


def _written(label: float) -> str:
    """A number as a page writes it: without exponent, and without a point where it is whole."""
    if float(label).is_integer():
        return str(int(label))
    return format(Decimal(repr(label)), "f")


def read_answers(paths: Iterable[str | Path]) -> list[Answer]:
    """The answers of files, and of all .json files of folders; a file may hold one answer or a list of them."""
    found = []
    for given in paths:
        path = Path(given)
        places = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not places:
            raise DataError(f"{path}: no .json file in this folder; download answers into it")
        for place in places:
            found += _answers_in(place)
    return found


def _answers_in(path: Path) -> list[Answer]:
    try:
        text = read_text(path).decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error.reason} at byte {error.start}); copy the whole answer") from None
    given = json_value(str(path), text)
    lists = given if isinstance(given, list) and given and isinstance(given[0], list) else [given]
    return [answer_of(str(path), rows) for rows in lists]


def answer_of(where: str, rows: Any) -> Answer:
    """An answer as a page gave it back, each row with all its entries and numbers where numbers belong."""
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{where}: an answer is a list of objects, one for each doc; copy the whole answer")
    for number, row in enumerate(rows, 1):
        for name in NEEDED:
            if name not in row:
                raise DataError(f"{where}: doc {number} of the answer has no {name!r}; copy the whole answer")
        for name in TEXTS:
            if not isinstance(row[name], str):
                raise DataError(f"{where}: {name} of doc {number} is {row[name]!r}; it must be a text")
        for name in ("label", "position", "seconds", "attempt", "back"):
            value = row[name]
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not abs(value) <= LARGEST:
                raise DataError(f"{where}: {name} of doc {number} is {value!r}; it must be a number")
    return Answer(where, tuple(rows))


@dataclass(frozen=True)
class LeftOut:
    """An answer that is not used, and why."""

    task: str
    worker: str
    where: str
    why: str


@dataclass(frozen=True, eq=False)
class Collected(Result):
    """The answers that fit the plan, those that do not, and the tasks that are still open."""

    tasks: Tasks
    answers: tuple[Answer, ...]
    left_out: tuple[LeftOut, ...]
    questions: Mapping[str, TestQuestion]
    rejected: frozenset[tuple[str, str]]
    """(task, worker) of answers that failed a check."""
    prices: Prices

    def open_tasks(self) -> Tasks:
        """The tasks without an answer that fits and was not rejected: to be offered, or offered again."""
        done = {answer.task for answer in self.answers if (answer.task, answer.worker) not in self.rejected}
        rows = tuple(row for row in self.tasks.rows if row.task not in done)
        return Tasks(rows, self.tasks.docs, self.tasks.gold, self.tasks.workers, self.tasks.seed)

    def columns(self) -> dict[str, list[Any]]:
        """The answers as the columns of a labels file; of a preferences file where docs were compared in pairs."""
        names = ["topic", "doc", "worker", "label", "task", "position", "seconds", "attempt", "gold", "back", "tested"]
        if self.tasks.are_pairs:
            names.insert(2, "other")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        planned = self.tasks.by_task()
        for answer in self.answers:
            tested = self._tested(answer)
            for row, wanted in zip(answer.rows, planned[answer.task], strict=True):
                cells = {**row, "gold": wanted.gold, "tested": tested}
                for name in names:
                    columns[name].append(cells[name])
        return columns

    def _tested(self, answer: Answer) -> int | None:
        """1 where the test question was answered right, 0 where not, None where there is none."""
        question = self.questions.get(answer.topic)
        if question is None:
            return None
        return int(answer.rows[0]["answer"] == question.right)

    def labels(self) -> Labels:
        """The answers as labels."""
        if self.tasks.are_pairs:
            raise UsageError("preferences between two docs are no labels; write them, and read them as preferences")
        columns = self.columns()
        rows = zip(columns["topic"], columns["doc"], columns["worker"], columns["label"], strict=True)
        extra: dict[str, Any] = {"task": np.array(columns["task"], dtype=object)}
        for name in ("position", "attempt", "back"):
            extra[name] = np.array(columns[name], dtype=np.int64)
        for name in ("seconds", "gold", "tested"):
            extra[name] = np.array([np.nan if cell is None else cell for cell in columns[name]], dtype=np.float64)
        return Labels.from_rows(rows, name="answers", **extra)

    def write(self, path: str | Path) -> None:
        """Write the answers as a table that `assay crowd check` and `aggregate` (or `preferences`) read."""
        columns = self.columns()
        if not any(cell is not None for cell in columns["tested"]):
            del columns["tested"]
        write_sheet(path, list(columns), zip(*columns.values(), strict=True))

    def table(self) -> Table:
        """How far the campaign is, and what it has cost."""
        planned = len(self.tasks.by_task())
        rejected = sum((answer.task, answer.worker) in self.rejected for answer in self.answers)
        paid = len(self.answers) if self.prices.pays_failed else len(self.answers) - rejected
        still_open = len(self.open_tasks().by_task())
        rows = [
            ("tasks planned", float(planned)),
            ("answers that fit", float(len(self.answers))),
            ("of them rejected", float(rejected)),
            ("answers left out", float(len(self.left_out))),
            ("tasks still open", float(still_open)),
            ("hours of work so far", sum(answer.seconds for answer in self.answers) / 3600),
            ("cost so far", paid * self.prices.per_task),
            ("cost when all are done", (paid + still_open) * self.prices.per_task),
        ]
        return Table.of({"what": "", "amount": ".2f"}, rows, caption="Answers")

    def left_out_table(self) -> Table:
        """One row per answer that is not used."""
        formats = {"task": "", "worker": "", "file": "", "why": ""}
        rows = [(found.task, found.worker, found.where, found.why) for found in self.left_out]
        return Table.of(formats, rows, caption="Answers left out")

    def tables(self) -> list[Table]:
        """How far the campaign is, and what was left out."""
        return [self.table(), self.left_out_table()] if self.left_out else [self.table()]


def collected(
    tasks: Tasks,
    answers: Sequence[Answer],
    *,
    questions: Mapping[str, TestQuestion] | None = None,
    rejected: Iterable[tuple[str, str]] = (),
    prices: Prices | None = None,
) -> Collected:
    """The answers that fit the planned tasks; of several of one task, or of one worker on a topic, the first.

    rejected: (task, worker) of answers that failed a check; their tasks are open again.
    """
    planned = tasks.by_task()
    failed = frozenset(rejected)
    kept: list[Answer] = []
    left_out = []
    done: set[str] = set()
    topics_of_worker: set[tuple[str, str]] = set()
    for answer in answers:
        why = answer_problem(answer, planned.get(answer.task))
        # A task whose answer was rejected is offered again, and its second answer counts.
        if why is None and answer.task in done:
            why = "the task has an answer already"
        if why is None and (answer.worker, answer.topic) in topics_of_worker:
            why = "the worker has another task of this topic"
        if why is not None:
            left_out.append(LeftOut(answer.task, answer.worker, answer.where, why))
            continue
        kept.append(answer)
        topics_of_worker.add((answer.worker, answer.topic))
        if (answer.task, answer.worker) not in failed:
            done.add(answer.task)
    return Collected(tasks, tuple(kept), tuple(left_out), questions or {}, failed, prices or Prices())


def answer_problem(answer: Answer, planned: Sequence[TaskRow] | None) -> str | None:
    """Why an answer does not fit the task that was planned, or None."""
    if planned is None:
        return "no such task was planned"
    docs = [(row["doc"], row.get("other", "")) for row in answer.rows]
    if docs != [(row.doc, row.other) for row in planned]:
        return "other docs than the task has"
    if len({(row["task"], row["worker"], row["topic"], row["attempt"]) for row in answer.rows}) != 1:
        return "rows of several answers"
    if answer.topic != planned[0].topic:
        return f"topic {answer.topic}, not {planned[0].topic}"
    if answer.rows[0]["code"] != submit_code(answer.rows):
        return "the code does not belong to the answers"
    return None


def next_task(
    tasks: Tasks,
    worker: str,
    *,
    done: Iterable[tuple[str, str]],
    under_way: Iterable[tuple[str, str]] = (),
    failed: Iterable[tuple[str, str]] = (),
) -> str | None:
    """The task that a worker is offered next: the one under way, else the first open one of a topic new to the worker.

    Each is (task, worker): accepted answers, tasks that somebody is at, answers that failed a check. A failed task is
    offered again, to somebody else. None: there is nothing left for this worker.

    >>> from assay.crowd.tasks import make_tasks
    >>> tasks = make_tasks({"1": ["a", "b"], "2": ["c", "d"]}, docs=2, workers=1)
    >>> next_task(tasks, "w", done=[]), next_task(tasks, "w", done=[], failed=[("1-0001", "w")])
    ('1-0001', '2-0001')
    >>> next_task(tasks, "v", done=[("2-0001", "w")], failed=[("1-0001", "w")])
    '1-0001'
    """
    accepted = list(done)
    begun = list(under_way)
    for task, who in begun:
        if who == worker:
            return task
    topic_of = {task: rows[0].topic for task, rows in tasks.by_task().items()}
    closed = {task for task, _ in [*accepted, *begun]}
    own_topics = {topic_of.get(task) for task, who in [*accepted, *failed] if who == worker}
    for task, topic in topic_of.items():
        if task not in closed and topic not in own_topics:
            return task
    return None
