"""How did workers get through their tasks? Attempts, back actions, test questions, and labels of the gold docs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.protocol import gold_order
from assay.crowd.units import task_of
from assay.data import Labels


@dataclass(frozen=True)
class ConductRow:
    """How many tasks went a certain way, and what share that is of those of which it is known."""

    fact: str
    value: str
    tasks: int
    share: float


@dataclass(frozen=True, eq=False)
class Conduct(Result):
    """Tasks by attempts, back actions, test question and order of the gold docs, as far as the file says it."""

    rows: tuple[ConductRow, ...]

    def table(self) -> Table:
        """One row for each way that a task can go."""
        formats = {"fact": "", "value": "", "tasks": "d", "share": ".3f"}
        rows = [(row.fact, row.value, row.tasks, row.share) for row in self.rows]
        return Table.of(formats, rows, caption="How tasks went")


def conduct(labels: Labels) -> Conduct:
    """Tasks by attempts, back actions (none, one, more), test question and order of the gold docs.

    A task is what one worker did of it. Attempts and back actions of a task: the largest attempt of its labels, the sum
    of their back actions.

    >>> rows = [("1", d, w, 0) for w in "uv" for d in "ab"]
    >>> labels = Labels.from_rows(rows, back=np.array([0, 0, 1, 2]), attempt=np.array([1, 1, 2, 2]))
    >>> [(row.fact, row.value, row.tasks) for row in conduct(labels).rows]
    [('attempts', '1', 1), ('attempts', '2', 1), ('back actions', 'none', 1), ('back actions', 'two or more', 1)]
    """
    task = task_of(labels)
    tasks = int(task.max(initial=-1)) + 1
    rows: list[ConductRow] = []
    if labels.attempt is not None:
        attempts = np.zeros(tasks, dtype=np.int64)
        np.maximum.at(attempts, task, labels.attempt)
        values = np.unique(attempts)
        rows += _counted("attempts", {str(value): attempts == value for value in values.tolist()})
    if labels.back is not None:
        back = np.bincount(task, labels.back, tasks)
        rows += _counted("back actions", {"none": back == 0, "one": back == 1, "two or more": back > 1})
    if labels.tested is not None:
        known = np.bincount(task, ~np.isnan(labels.tested), tasks) > 0
        wrong = np.bincount(task, labels.tested == 0, tasks) > 0
        rows += _counted("test question", {"right": known & ~wrong, "wrong": wrong})
    if labels.gold is not None:
        ordered, misordered = _gold_tasks(labels, task, tasks)
        rows += _counted("gold docs", {"in order": ordered, "out of order": misordered})
    return Conduct(tuple(rows))


def _counted(fact: str, kinds: dict[str, Bools]) -> list[ConductRow]:
    """A row for each kind of task that there is."""
    counts = {value: int(rows.sum()) for value, rows in kinds.items()}
    known = sum(counts.values())
    return [ConductRow(fact, value, count, count / known) for value, count in counts.items() if count]


def _gold_tasks(labels: Labels, task: Ints, tasks: int) -> tuple[Bools, Bools]:
    """Tasks that put their gold docs in order, and those that do not; tasks without two different ones are neither."""
    _, better, is_wrong = gold_order(labels, task)
    compared = np.bincount(task[better], minlength=tasks) > 0
    misordered = np.bincount(task[better], is_wrong, tasks) > 0
    return compared & ~misordered, misordered


@dataclass(frozen=True, eq=False)
class GoldDocs(Result):
    """What workers said of each gold doc: quartiles of the labels, and how often it stood in the wrong order."""

    items: tuple[tuple[str, str], ...]
    gold: Floats
    labels: Ints
    quartiles: Floats
    misordered: Ints
    """Labels that put the doc and another gold doc of the task in the wrong order."""

    def table(self, *, most: int | None = None) -> Table:
        """Gold docs, most often in the wrong order first."""
        formats = {
            "topic": "", "doc": "", "gold": "g", "labels": "d", "lower quartile": ".1f", "median": ".1f",
            "upper quartile": ".1f", "out of order": "d", "share": ".3f",
        }  # fmt: skip
        share = self.misordered / self.labels
        rows = []
        for i in np.argsort(-share, kind="stable")[:most].tolist():
            numbers = (*self.quartiles[i].tolist(), int(self.misordered[i]), float(share[i]))
            rows.append((*self.items[i], float(self.gold[i]), int(self.labels[i]), *numbers))
        return Table.of(formats, rows, caption="Gold docs, most often out of order first")


def gold_docs(labels: Labels) -> GoldDocs | None:
    """What workers said of the gold docs; None where no label is of one."""
    if labels.gold is None or np.isnan(labels.gold).all():
        return None
    worse, better, is_wrong = gold_order(labels, task_of(labels))
    wrong_rows = np.zeros(len(labels), dtype=bool)
    wrong_rows[worse[is_wrong]] = True
    wrong_rows[better[is_wrong]] = True

    item, pairs = labels.items()
    rows = np.flatnonzero(~np.isnan(labels.gold))
    by_doc = rows[np.argsort(item[rows], kind="stable")]
    docs, first, count = np.unique(item[by_doc], return_index=True, return_counts=True)
    labels_of_doc = np.split(labels.label[by_doc], first[1:])
    return GoldDocs(
        items=tuple(pairs[i] for i in docs.tolist()),
        gold=labels.gold[by_doc[first]],
        labels=count,
        quartiles=np.array([np.percentile(values, [25, 50, 75]) for values in labels_of_doc]),
        misordered=np.bincount(item, wrong_rows, len(pairs))[docs].astype(np.int64),
    )
