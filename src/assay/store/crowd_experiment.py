"""Who gets which task, and what becomes of an answer? One crowd experiment: tasks given, checked and recorded.

A task is for one worker at a time: it is kept for who was given it, goes to another when it was left or failed, and is
done when an answer is accepted. Whoever gives or takes holds the row of the experiment, so that two workers at the same
moment take turns.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np

from assay.core.errors import UsageError
from assay.crowd.attempt_checks import AttemptCheck, check_attempt
from assay.crowd.task_answers import Answer, answer_of, answer_problem
from assay.crowd.task_pages import positioned, served_plan
from assay.crowd.tasks import TaskRow, Tasks
from assay.store.database import Database, plain
from assay.store.experiment_plan import ExperimentPlan
from assay.store.experiment_schema import assignments, experiments, submissions, tasks
from assay.store.schema import sa
from assay.store.stored_collections import Collections

STATES = ("open", "accepted", "failed", "left")
"""How a task that was given stands: under way, accepted, all attempts failed, or given to another meanwhile."""
LONGEST_WORKER = 200
LONGEST_ID = 100
SLACK_SECONDS = 5.0
"""A page may have counted this many seconds more than went by at the server."""
MOST_SECONDS = 10**6
CODE_BYTES = 6


@dataclass(frozen=True)
class GivenTask:
    """A task that a worker was given."""

    id: str
    worker: str
    attempt: int
    """The attempt that comes next, from 1."""
    rows: tuple[TaskRow, ...]


@dataclass(frozen=True)
class Reply:
    """What a worker's page is answered when an attempt is on the disk: accepted with a code, again, or failed."""

    state: str
    attempt: int
    warnings: tuple[str, ...]
    code: str
    again: bool
    """Whether the same answer was here before, so that it counts once."""


class CrowdExperiment:
    """One experiment of a store."""

    def __init__(self, database: Database, row: Mapping[str, Any], known: Collections) -> None:
        self.database = database
        self._collections = known
        self.id: int = row["id"]
        self.name: str = row["name"]
        self.collection: str = row["collection"]
        self.key: str = row["key"]
        self.made: float = row["made"]
        self.plan = ExperimentPlan.of(row["plan"])

    @property
    def link(self) -> str:
        """The link for workers, behind the address of the server; a platform adds `&worker=` and an id."""
        return f"/crowd/{quote(self.name, safe='')}?{urlencode({'key': self.key})}"

    @property
    def is_open(self) -> bool:
        """Whether workers get tasks; who has one may finish it in any case."""
        wanted = sa.select(experiments.c.is_open).where(experiments.c.id == self.id)
        with self.database.reading() as connection:
            return bool(connection.execute(wanted).scalar_one())

    def close(self) -> None:
        """Give no more tasks."""
        self._set_open(False)

    def reopen(self) -> None:
        """Give tasks again."""
        self._set_open(True)

    def _set_open(self, is_open: bool) -> None:
        with self.database.writing() as connection:
            connection.execute(sa.update(experiments).where(experiments.c.id == self.id).values(is_open=is_open))

    def has_key(self, key: str) -> bool:
        """Whether a link has the key of this experiment."""
        return secrets.compare_digest(self.key.encode(), key.encode(errors="replace"))

    def given(self, worker: str) -> GivenTask | None:
        """The task of a worker: the one under way, else the next; None where there is nothing for this worker.

        A worker gets one task of each topic, and a task that was left or failed goes to others.
        """
        who = checked_worker(worker)
        now = time.time()
        until = now + self.plan.away
        with self.database.writing() as connection:
            is_open = self._locked(connection)
            own = self._under_way(connection, who)
            if own is not None:
                connection.execute(sa.update(assignments).where(assignments.c.id == own.id).values(until=until))
                return self._given(connection, own)
            task = self._next(connection, who, now) if is_open else None
            if task is None:
                return None
            self._take_away(connection, task)
            values = {"id": secrets.token_urlsafe(16), "experiment_id": self.id, "task_id": task, "worker": who}
            values |= {"state": "open", "attempts": 0, "code": "", "given": now, "until": until}
            connection.execute(sa.insert(assignments).values(values))
            return self._given(connection, self._under_way(connection, who))

    def _locked(self, connection: sa.Connection) -> bool:
        """Whether the experiment is open; nobody else gives or takes a task until the end of the transaction."""
        wanted = sa.select(experiments.c.is_open).where(experiments.c.id == self.id).with_for_update()
        return bool(connection.execute(wanted).scalar_one())

    def _under_way(self, connection: sa.Connection, worker: str) -> Any:
        own = (assignments.c.experiment_id == self.id) & (assignments.c.worker == worker)
        wanted = sa.select(assignments).where(own, assignments.c.state == "open")
        return connection.execute(wanted).first()

    def _next(self, connection: sa.Connection, worker: str, now: float) -> int | None:
        """The first open task of a topic that is new to the worker."""
        own = (assignments.c.experiment_id == self.id) & (assignments.c.worker == worker)
        used = own & assignments.c.state.in_(("accepted", "failed"))
        most = self.plan.tasks_per_worker
        if most is not None:
            count = sa.select(sa.func.count()).select_from(assignments).where(used)
            if connection.execute(count).scalar_one() >= most:
                return None
        other = tasks.alias("other")
        topics = sa.select(other.c.topic).join_from(assignments, other, other.c.id == assignments.c.task_id)
        is_held = (assignments.c.task_id == tasks.c.id) & (assignments.c.state == "open")
        held = sa.select(assignments.c.id).where(is_held, assignments.c.until > now).exists()
        wanted = (
            sa.select(tasks.c.id)
            .where(tasks.c.experiment_id == self.id, tasks.c.is_done.is_(False))
            .where(~held, tasks.c.topic.not_in(topics.where(used)))
            .order_by(tasks.c.place)
        )
        return connection.execute(wanted.limit(1)).scalar()

    def _take_away(self, connection: sa.Connection, task: int) -> None:
        """Who was given the task and did not finish it in time no longer has it; attempts that failed stay failed."""
        late = (assignments.c.task_id == task) & (assignments.c.state == "open")
        failed = late & (assignments.c.attempts > 0)
        connection.execute(sa.update(assignments).where(failed).values(state="failed"))
        connection.execute(sa.update(assignments).where(late).values(state="left"))

    def _given(self, connection: sa.Connection, row: Any) -> GivenTask:
        return GivenTask(row.id, row.worker, row.attempts + 1, self._rows(connection, row.task_id))

    def _rows(self, connection: sa.Connection, task: int) -> tuple[TaskRow, ...]:
        row = connection.execute(sa.select(tasks).where(tasks.c.id == task)).one()
        return task_rows(row)

    def page_plan(self, given: GivenTask, address: str) -> dict[str, Any]:
        """What the page of a task needs; nothing in it tells which docs are gold."""
        docs = {row.doc for row in given.rows} | {row.other for row in given.rows if row.other}
        topics = self._collections.topics(self.collection).to_dict()
        texts = self.plan.texts(topics, self._collections.docs(self.collection, sorted(docs)))
        server = {"task": given.id, "worker": given.worker, "attempt": given.attempt, "address": address}
        server["codes"] = self.codes(given.worker)
        return served_plan(given.rows, texts, self.plan.task_form, self.plan.rules, server=server)

    def codes(self, worker: str) -> list[str]:
        """The codes of the tasks of a worker that were accepted, the earliest first."""
        own = (assignments.c.experiment_id == self.id) & (assignments.c.worker == worker)
        wanted = sa.select(assignments.c.code).where(own, assignments.c.state == "accepted")
        with self.database.reading() as connection:
            return list(connection.execute(wanted.order_by(assignments.c.given)).scalars())

    def answer(self, rows: Any, *, id: str) -> Reply:
        """Check an attempt that a page sent, and record it; sent again under the same id it counts once.

        rows: as a page gives them back, docs called by their positions. An answer that does not belong to a task under
        way is an error, and nothing is recorded; one that fails a check is recorded as a failed attempt.
        """
        given = answer_of("answer", rows)
        sent_id = plain(id, "id of an answer")
        if not 8 <= len(sent_id) <= LONGEST_ID:
            raise UsageError(f"the id of an answer is {sent_id[:40]!r}; give 8 to {LONGEST_ID} characters")
        with self.database.writing() as connection:
            self._locked(connection)
            row = self._assignment(connection, given)
            before = connection.execute(sa.select(submissions).where(submissions.c.id == sent_id)).first()
            if before is not None:
                return _said_before(before, row, given)
            planned = self._rows(connection, row.task_id)
            self._refuse_unfit(given, row, planned)
            question = self.plan.questions.get(planned[0].topic)
            checked = check_attempt(given, planned, self.plan.rules, question)
            return self._recorded(connection, row, given, sent_id, checked)

    def _assignment(self, connection: sa.Connection, given: Answer) -> Any:
        """The task that an answer is for, of the worker who was given it."""
        own = (assignments.c.id == plain(given.task, "task")) & (assignments.c.experiment_id == self.id)
        row = connection.execute(sa.select(assignments).where(own)).first()
        if row is None or row.worker != given.worker:
            raise UsageError("no such task was given to this worker; open the link of the experiment again")
        return row

    def _refuse_unfit(self, given: Answer, row: Any, planned: tuple[TaskRow, ...]) -> None:
        """An error where an answer is not one that the page of the task gives back now."""
        ended = {
            "accepted": "the task was submitted already; its answers are stored",
            "failed": "all attempts of the task are used; it cannot be submitted again",
            "left": "the task was given to another worker meanwhile; open the link again for a new one",
        }
        if row.state in ended:
            raise UsageError(ended[row.state])
        problem = answer_problem(given, positioned(planned, row.id))
        if problem is not None:
            raise UsageError(f"the answer does not fit the task: {problem}")
        if [one["position"] for one in given.rows] != [wanted.position for wanted in planned]:
            raise UsageError("the answer does not fit the task: other positions than the task has")
        attempt = given.rows[0]["attempt"]
        if attempt != row.attempts + 1:
            raise UsageError(f"attempt {attempt!r} where attempt {row.attempts + 1} comes next; load the page again")
        if given.seconds > time.time() - row.given + SLACK_SECONDS:
            raise UsageError(f"{given.seconds:g} seconds are more than went by since the task was given; load the page")
        self._refuse_odd_values(given)

    def _refuse_odd_values(self, given: Answer) -> None:
        scale = self.plan.scale_of_labels
        labels = np.array([float(one["label"]) for one in given.rows])
        outside = scale.outside(labels)
        if outside.any():
            raise UsageError(f"label {labels[outside][0]:g} is not on the scale ({scale.described()})")
        for one in given.rows:
            if not 0 <= one["seconds"] <= MOST_SECONDS:
                raise UsageError(f"seconds is {one['seconds']!r}; a number of at least 0 is expected")
            if not isinstance(one["back"], int) or not 0 <= one["back"] <= MOST_SECONDS:
                raise UsageError(f"back is {one['back']!r}; a whole number of at least 0 is expected")

    def _recorded(self, connection: sa.Connection, row: Any, given: Answer, id: str, checked: AttemptCheck) -> Reply:
        attempt = row.attempts + 1
        state = "accepted"
        if not checked.passes:
            state = "again" if attempt < self.plan.attempts else "failed"
        values = {"id": id, "assignment_id": row.id, "attempt": attempt, "rows": _kept_rows(given)}
        values |= {"answer": plain(given.rows[0]["answer"], "answer"), "state": state, "made": time.time()}
        values |= {"failed": list(checked.failed), "warnings": list(checked.warnings)}
        connection.execute(sa.insert(submissions).values(values))
        code = secrets.token_hex(CODE_BYTES).upper() if state == "accepted" else ""
        change = {"attempts": attempt, "state": "open" if state == "again" else state, "code": code}
        change["until"] = time.time() + self.plan.away
        connection.execute(sa.update(assignments).where(assignments.c.id == row.id).values(change))
        if state == "accepted":
            connection.execute(sa.update(tasks).where(tasks.c.id == row.task_id).values(is_done=True))
        return Reply(state, attempt + 1, checked.warnings, code, again=False)

    def tasks(self) -> Tasks:
        """All tasks, as they were dealt."""
        wanted = sa.select(tasks).where(tasks.c.experiment_id == self.id).order_by(tasks.c.place)
        with self.database.reading() as connection:
            found = connection.execute(wanted).all()
        rows = tuple(row for task in found for row in task_rows(task))
        has_gold = any(row.gold is not None for row in rows)
        gold = self.plan.gold_docs if has_gold else 0
        return Tasks(rows, self.plan.docs, gold, self.plan.workers, self.plan.seed or 0)


def task_rows(row: Any) -> tuple[TaskRow, ...]:
    """The rows of a stored task."""
    numbered = enumerate(row.rows, 1)
    return tuple(TaskRow(row.task, row.topic, position, doc, gold, other) for position, (doc, other, gold) in numbered)


def _kept_rows(given: Answer) -> list[list[float]]:
    return [[one["label"], one["seconds"], one["back"]] for one in given.rows]


def _said_before(before: Any, row: Any, given: Answer) -> Reply:
    """What an answer got that was here before; another answer under the same id is an error."""
    if before.assignment_id != row.id or before.rows != _kept_rows(given):
        raise UsageError(f"the id {before.id!r} stands for another answer; make a new id for each")
    code = row.code if before.state == "accepted" else ""
    return Reply(before.state, before.attempt + 1, tuple(before.warnings), code, again=True)


def checked_worker(worker: str) -> str:
    """The id of a worker as it is stored; an empty or very long one is an error."""
    who = plain(worker, "worker id").strip()
    if not who or len(who) > LONGEST_WORKER or not who.isprintable():
        raise UsageError(f"worker id {who[:40]!r}; give 1 to {LONGEST_WORKER} letters, digits or signs")
    return who
