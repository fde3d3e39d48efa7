"""Are crowd experiments whole? Tasks and who was given them against the log of all answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from assay.store.experiment_schema import assignments, submissions, tasks
from assay.store.schema import sa


def check_experiments(connection: sa.Connection, looked_at: list[str]) -> list[tuple[str, str, str]]:
    """(error, where, what) for each task or assignment that stands otherwise than its answers say."""
    log: dict[str, list[Any]] = defaultdict(list)
    for row in connection.execute(sa.select(submissions).order_by(submissions.c.number)):
        log[row.assignment_id].append(row)
    given = connection.execute(sa.select(assignments)).all()
    sizes = {row.id: len(row.rows) for row in connection.execute(sa.select(tasks.c.id, tasks.c.rows))}
    found = []
    for row in given:
        for what in _wrong(row, log.get(row.id, []), sizes[row.task_id]):
            found.append(("error", f"worker {row.worker!r}, task {row.task_id}", what))
    accepted = Counter(row.task_id for row in given if row.state == "accepted")
    for task in connection.execute(sa.select(tasks.c.id, tasks.c.task, tasks.c.is_done)):
        if accepted[task.id] != int(task.is_done):
            what = f"{accepted[task.id]} accepted answers, and it is marked as {'' if task.is_done else 'not '}done"
            found.append(("error", f"task {task.task!r}", what))
    if sizes:
        looked_at.append(f"{sum(map(len, log.values()))} answers to {len(sizes)} tasks of experiments")
    return found


def _wrong(row: Any, sent: list[Any], docs: int) -> list[str]:
    """What is wrong with one task that was given."""
    wrong = []
    if [one.attempt for one in sent] != list(range(1, row.attempts + 1)):
        wrong.append(f"{row.attempts} attempts are written down, and the log has {len(sent)}")
    if any(len(one.rows) != docs for one in sent):
        wrong.append(f"an answer has another number of labels than the {docs} docs of the task")
    last = sent[-1].state if sent else "open"
    expected = {"accepted": ("accepted",), "failed": ("failed",), "again": ("open", "failed")}.get(
        last, ("open", "left")
    )
    if row.state not in expected:
        wrong.append(f"it is marked as {row.state}, and its last answer is {last}")
    return wrong
