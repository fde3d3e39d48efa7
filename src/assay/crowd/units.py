"""What did a worker do in one go? Each label's task, and its place within the task."""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Ints
from assay.data import Labels


def units(labels: Labels) -> Ints:
    """Each row's (topic, worker) as a number: the tasks of a file without a task column."""
    key = labels.topic * len(labels.workers) + labels.worker
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def task_of(labels: Labels) -> Ints:
    """Each row's task as a number: a worker's labels of one task (or, without such a column, of one topic)."""
    if labels.task is None:
        return units(labels)
    name = np.unique(labels.task.astype(str), return_inverse=True)[1].astype(np.int64)
    key = name * len(labels.workers) + labels.worker
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def in_task_order(labels: Labels) -> tuple[Ints, Ints, Ints]:
    """Rows ordered by task and position, the task of each, and its place (0, 1, …) within the task."""
    task = task_of(labels)
    of_file = np.arange(len(labels))
    position = of_file if labels.position is None else labels.position
    order = np.lexsort((of_file, position, task)).astype(np.int64)
    size = np.bincount(task)
    begin = np.cumsum(size) - size
    return order, task[order], np.arange(len(order)) - begin[task[order]]
