"""How does a crowd experiment stand? Progress, cost and time so far, and how good its workers are."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.acceptance import RejectedTask
from assay.crowd.checkup import Checkup, check_labels
from assay.crowd.task_answers import Answer, Collected
from assay.crowd.task_costs import CostEstimate, estimated_cost
from assay.store.crowd_experiment import CrowdExperiment
from assay.store.experiment_schema import assignments, submissions, tasks
from assay.store.schema import sa


@dataclass(frozen=True)
class Given:
    """A task that a worker was given, and what came of it."""

    worker: str
    task: str
    topic: str
    state: str
    attempts: int
    code: str
    given: float
    until: float
    seconds: float
    back: int
    failed: tuple[str, ...]
    """The checks that the last attempt fails."""


@dataclass(frozen=True, eq=False)
class ExperimentStanding(Result):
    """Everything that was given, the answers that are final, and what the whole was estimated to cost."""

    name: str
    labels_per_doc: int
    given: tuple[Given, ...]
    answers: Collected
    estimate: CostEstimate
    now: float

    @property
    def tasks(self) -> int:
        """Tasks in all."""
        return self.estimate.tasks

    @property
    def done(self) -> int:
        """Tasks with an accepted answer."""
        return self._count("accepted")

    @property
    def under_way(self) -> int:
        """Tasks that somebody is at."""
        return sum(one.state == "open" and one.until > self.now for one in self.given)

    @property
    def failed(self) -> int:
        """Tasks given that failed all attempts, or were left after one; they are offered again."""
        return self._count("failed")

    @property
    def left(self) -> int:
        """Tasks given that their workers left."""
        return self._count("left") + sum(one.state == "open" and one.until <= self.now for one in self.given)

    @property
    def workers(self) -> int:
        """Different workers who were given a task."""
        return len({one.worker for one in self.given})

    @property
    def hours(self) -> float:
        """Time that workers spent on docs, failed tasks included."""
        return sum(one.seconds for one in self.given) / 3600

    @property
    def cost(self) -> float:
        """What accepted tasks cost so far, and failed ones where they are paid."""
        prices = self.answers.prices
        paid = self.done + (self.failed if prices.pays_failed else 0)
        return paid * prices.per_task

    def _count(self, state: str) -> int:
        return sum(one.state == state for one in self.given)

    def table(self) -> Table:
        """How far it is, beside what is planned."""
        rows = [
            ("tasks accepted", self.done, self.tasks),
            ("labels accepted", self._labels(), self.estimate.labels),
            ("tasks under way", self.under_way, None),
            ("tasks failed, offered again", self.failed, None),
            ("tasks left by their workers", self.left, None),
            ("different workers", self.workers, self.estimate.workers),
        ]
        formats = {"what": "", "so far": "d", "planned": "d"}
        note = "Different workers: at least as many as the topic with most tasks has."
        return Table.of(formats, rows, caption=f"{self.name}: progress", notes=(note,))

    def cost_table(self) -> Table:
        """What it has cost so far, in hours and money, beside what was estimated."""
        still_open = self.tasks - self.done
        rows = [
            ("hours of work", self.hours, self.estimate.hours),
            ("cost", self.cost, self.estimate.money),
            ("cost of the tasks still open", still_open * self.answers.prices.per_task, None),
        ]
        formats = {"what": "", "so far": ".2f", "estimated": ".2f"}
        return Table.of(formats, rows, caption="Cost and time", notes=self.estimate.table().notes)

    def accepted(self) -> Collected:
        """The answers of accepted tasks alone."""
        every = self.answers
        kept = tuple(one for one in every.answers if (one.task, one.worker) not in every.rejected)
        return replace(every, answers=kept)

    def _labels(self) -> int:
        return sum(len(one.rows) for one in self.accepted().answers)

    def workers_table(self) -> Table:
        """One row for each task that was given, the latest first."""
        formats = {"worker": "", "topic": "", "task": "", "state": "", "attempts": "d", "seconds": ".1f"}
        formats |= {"back": "d", "last attempt fails": "", "code": ""}
        rows = []
        for one in sorted(self.given, key=lambda one: -one.given):
            facts = (one.worker, one.topic, one.task, one.state, one.attempts, one.seconds, one.back)
            rows.append((*facts, ", ".join(one.failed), one.code))
        return Table.of(formats, rows, caption="Tasks given to workers")

    def topics_table(self) -> Table:
        """One row per topic: its tasks, and how many are accepted."""
        planned = Counter(rows[0].topic for rows in self.answers.tasks.by_task().values())
        accepted = Counter(one.topic for one in self.given if one.state == "accepted")
        failed = Counter(one.topic for one in self.given if one.state == "failed")
        rows = [(topic, count, accepted[topic], failed[topic]) for topic, count in planned.items()]
        formats = {"topic": "", "tasks": "d", "accepted": "d", "failed": "d"}
        return Table.of(formats, rows, caption="Progress by topic")

    def tables(self) -> list[Table]:
        """Progress, cost, topics and workers."""
        return [self.table(), self.cost_table(), self.topics_table(), self.workers_table()]

    def record(self) -> dict[str, Any]:
        """The tables, and the numbers of the first by name."""
        numbers: dict[str, float] = {
            "tasks": self.tasks,
            "done": self.done,
            "under_way": self.under_way,
            "failed": self.failed,
        }
        numbers |= {"left": self.left, "workers": self.workers, "hours": self.hours, "cost": self.cost}
        return {**super().record(), **numbers}


def standing_of(experiment: CrowdExperiment) -> ExperimentStanding:
    """How an experiment stands now."""
    wanted = (
        sa.select(assignments, tasks.c.task, tasks.c.topic)
        .join_from(assignments, tasks, tasks.c.id == assignments.c.task_id)
        .where(assignments.c.experiment_id == experiment.id)
        .order_by(assignments.c.given, assignments.c.id)
    )
    with experiment.database.snapshot() as connection:
        rows = [dict(row) for row in connection.execute(wanted).mappings()]
        last = _last_submissions(connection, experiment.id)
    planned = experiment.tasks()
    by_task = planned.by_task()
    given = []
    answers = []
    rejected = set()
    for row in rows:
        sent = last.get(row["id"])
        given.append(_given(row, sent))
        if sent is None or row["state"] not in ("accepted", "failed"):
            continue
        answers.append(_answer(row, sent, by_task[row["task"]]))
        if row["state"] == "failed":
            rejected.add((row["task"], row["worker"]))
    plan = experiment.plan
    collected = Collected(planned, tuple(answers), (), plan.questions, frozenset(rejected), plan.prices)
    estimate = estimated_cost(planned, plan.prices)
    return ExperimentStanding(experiment.name, plan.workers, tuple(given), collected, estimate, time.time())


def _last_submissions(connection: sa.Connection, experiment: int) -> dict[str, Any]:
    """{assignment: its last attempt}."""
    wanted = (
        sa.select(submissions)
        .join_from(submissions, assignments, assignments.c.id == submissions.c.assignment_id)
        .where(assignments.c.experiment_id == experiment)
        .order_by(submissions.c.number)
    )
    return {row.assignment_id: row for row in connection.execute(wanted)}


def _given(row: Mapping[str, Any], sent: Any) -> Given:
    facts = {name: row[name] for name in ("worker", "task", "topic", "state", "attempts", "code", "given", "until")}
    rows = [] if sent is None else sent.rows
    failed = () if sent is None else tuple(sent.failed)
    seconds = float(sum(seconds for _, seconds, _ in rows))
    back = sum(back for _, _, back in rows)
    return Given(**facts, seconds=seconds, back=back, failed=failed)


def _answer(row: Mapping[str, Any], sent: Any, planned: Any) -> Answer:
    """The last attempt of a task, under the true names of its docs."""
    rows = []
    for (label, seconds, back), wanted in zip(sent.rows, planned, strict=True):
        entry: dict[str, Any] = {"topic": wanted.topic, "doc": wanted.doc, "worker": row["worker"], "label": label}
        entry |= {"task": wanted.task, "position": wanted.position, "seconds": seconds, "attempt": sent.attempt}
        entry |= {"back": back, "answer": sent.answer, "code": row["code"]}
        if wanted.other:
            entry["other"] = wanted.other
        rows.append(entry)
    return Answer(row["id"], tuple(rows))


def checkup_of(experiment: CrowdExperiment, standing: ExperimentStanding) -> Checkup | None:
    """What `assay crowd check` says of the answers; None of pairs, and where there are none yet."""
    if experiment.plan.compares or not standing.answers.answers:
        return None
    labels = standing.answers.labels()
    return check_labels(labels, scale=experiment.plan.scale_of_labels, protocol=experiment.plan.rules)


def rejected_tasks(standing: ExperimentStanding) -> list[RejectedTask]:
    """The tasks that failed, with the checks that their last attempts fail."""
    sizes = {task: len(rows) for task, rows in standing.answers.tasks.by_task().items()}
    failed = [one for one in standing.given if one.state == "failed"]
    return [RejectedTask(one.task, one.worker, one.topic, sizes[one.task], one.failed) for one in failed]
