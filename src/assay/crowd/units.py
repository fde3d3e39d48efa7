"""What did a worker do in one go? Each label's task, and its place within the task."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from assay.agreement.scales import LARGEST
from assay.core.arrays import Ints
from assay.core.errors import DataError
from assay.data import Labels


def summable(labels: Labels) -> Labels:
    """The labels if they and their seconds can be added up, else an error that names the first that is too large."""
    for name, values in (("label", labels.label), ("seconds", labels.seconds)):
        if values is None:
            continue
        # NaN stands for unknown seconds, and is not larger than anything.
        bad = np.flatnonzero(np.abs(values) > LARGEST)
        if len(bad):
            line = None if labels.lines is None else int(labels.lines[bad[0]])
            what = f"{name} {values[bad[0]]:g} is too large to be added up; it must lie within ±{LARGEST:g}"
            raise DataError.at(labels.name, line, what)
    return labels


def units(labels: Labels) -> Ints:
    """Each row's (topic, worker) as a number: the tasks of a file without a task column."""
    key = labels.topic * len(labels.workers) + labels.worker
    return _numbered(key)


def task_of(labels: Labels) -> Ints:
    """Each row's task as a number: a worker's labels of one task (or, without such a column, of one topic)."""
    if labels.task is None:
        return units(labels)
    name = _numbered(labels.task.astype(str))
    key = name * len(labels.workers) + labels.worker
    return _numbered(key)


def in_task_order(labels: Labels) -> tuple[Ints, Ints, Ints]:
    """Rows ordered by task and position, the task of each, and its place (0, 1, …) within the task."""
    task = task_of(labels)
    of_file = np.arange(len(labels))
    position = of_file if labels.position is None else labels.position
    order = np.lexsort((of_file, position, task)).astype(np.int64)
    ordered_task = task[order]
    size = np.bincount(task)
    begin = np.cumsum(size) - size
    place = np.arange(len(order)) - begin[ordered_task]
    return order, ordered_task, place


def _numbered(values: npt.NDArray[Any]) -> Ints:
    """Each value as a number: its place among the different values, in ascending order."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)
