"""Which labels are accepted, whose tasks are not, and who deserves a bonus? The three lists after a campaign.

A task that fails a check of the protocol is rejected, with its reasons; the others are accepted. Nothing else is held
against a worker: suspicion is for a person to look at, and only keeps somebody from the bonus list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.protocol import Failure, ProtocolCheck
from assay.crowd.quality import FEW, WorkerQuality
from assay.crowd.units import task_of
from assay.data import Labels
from assay.io.sheet import write_sheet

BONUS_SHARE = 0.25


@dataclass(frozen=True)
class RejectedTask:
    """What one worker did of a task, and why it is rejected."""

    task: str
    worker: str
    topic: str
    labels: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class BonusWorker:
    """A worker whose tasks all pass and who agrees with the others more than most do."""

    worker: str
    tasks: int
    labels: int
    agreement: float


@dataclass(frozen=True, eq=False)
class Acceptance(Result):
    """The accepted labels, the rejected tasks and the workers with a bonus."""

    accepted: Labels
    rejected: tuple[RejectedTask, ...]
    bonus: tuple[BonusWorker, ...]
    tasks: int
    share: float

    def table(self) -> Table:
        """How many of what."""
        rejected_labels = sum(task.labels for task in self.rejected)
        workers = {task.worker for task in self.rejected}
        rows = [
            ("tasks accepted", self.tasks - len(self.rejected)),
            ("labels accepted", len(self.accepted)),
            ("tasks rejected", len(self.rejected)),
            ("labels rejected", rejected_labels),
            ("workers with a rejected task", len(workers)),
            ("workers with a bonus", len(self.bonus)),
        ]
        note = (
            f"Rejected: fails a check of the protocol. Bonus: the {100 * self.share:g} % with the highest agreement of "
            f"the workers whose tasks all pass, with {FEW} labels or more and no reason of suspicion."
        )
        return Table.of({"what": "", "count": "d"}, rows, caption="Accepted and rejected", notes=(note,))


def acceptance(
    labels: Labels, check: ProtocolCheck, workers: WorkerQuality, *, share: float = BONUS_SHARE
) -> Acceptance:
    """The lists that follow from the checks of these labels; share: of the workers who may get a bonus.

    >>> from assay.crowd.protocol import Protocol, check_protocol
    >>> from assay.crowd.quality import worker_quality
    >>> labels = Labels.from_rows([("1", d, w, i % 2) for w in "uv" for i, d in enumerate("abcdef")])
    >>> short = labels.select(np.arange(11))
    >>> found = acceptance(short, check_protocol(short, Protocol(docs=6)), worker_quality(short), share=1.0)
    >>> [(task.worker, task.reasons) for task in found.rejected], [worker.worker for worker in found.bonus]
    ([('v', ('docs: 5 docs, not 6',))], ['u'])
    """
    if not 0 <= share <= 1:
        raise UsageError(f"a share of {share:g} of the workers; it lies between 0 and 1")
    task = task_of(labels)
    size = np.bincount(task)
    failed: dict[int, list[Failure]] = {}
    for failure in check.failures:
        failed.setdefault(int(task[failure.row]), []).append(failure)
    rejected = []
    for number, failures in failed.items():
        first = failures[0]
        reasons = tuple(f"{failure.check}: {failure.why}" for failure in failures)
        rejected.append(RejectedTask(first.task, first.worker, first.topic, int(size[number]), reasons))
    is_failed = np.isin(task, list(failed))
    accepted = labels.select(~is_failed)
    bad_workers = {found.worker for found in rejected}
    bonus = _bonus(workers, bad_workers, share)
    return Acceptance(accepted, tuple(rejected), bonus, len(size), share)


def _bonus(workers: WorkerQuality, rejected: set[str], share: float) -> tuple[BonusWorker, ...]:
    """The share with the highest agreement of the workers without a rejected task or a reason of suspicion."""
    agreement = workers.facts["agreement"]
    count = workers.facts["labels"]
    fit = []
    for i, name in enumerate(workers.workers):
        is_known = count[i] >= FEW and np.isfinite(agreement[i])
        if is_known and name not in rejected and not workers.reasons[i]:
            fit.append(i)
    best_first = sorted(fit, key=lambda i: (-agreement[i], workers.workers[i]))
    chosen = best_first[: ceil(share * len(best_first))]
    tasks = workers.facts["tasks"]
    return tuple(BonusWorker(workers.workers[i], int(tasks[i]), int(count[i]), float(agreement[i])) for i in chosen)


def write_rejected(path: str | Path, rejected: Iterable[RejectedTask]) -> None:
    """The rejected tasks as a table: worker, task, topic, labels, reasons."""
    rows = ((found.worker, found.task, found.topic, found.labels, "; ".join(found.reasons)) for found in rejected)
    write_sheet(path, ("worker", "task", "topic", "labels", "reasons"), rows)


def write_bonus(path: str | Path, bonus: Iterable[BonusWorker]) -> None:
    """The workers with a bonus as a table: worker, tasks, labels, agreement."""
    rows = ((found.worker, found.tasks, found.labels, round(found.agreement, 6)) for found in bonus)
    write_sheet(path, ("worker", "tasks", "labels", "agreement"), rows)


def refuse_nothing_accepted(found: Acceptance) -> None:
    """An error where no task passes, so that there is nothing to write."""
    if not len(found.accepted):
        raise DataError(f"none of {found.tasks} tasks passes the checks; there are no accepted labels to write")
