"""How are magnitudes of different workers made comparable? Each worker's own modulus is taken out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.agreement.scales import MAGNITUDE
from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError
from assay.crowd.units import units
from assay.data import Labels

SHORT_UNIT = 4


def comparable_magnitudes(labels: Labels, *, task: Ints | None = None) -> Labels:
    """Magnitudes with each worker's own modulus taken out: geometric averaging within a topic.

    log s' = log s − mean log s of the unit (one worker, one topic) + mean log s of the topic. Units of fewer than four
    docs lose true differences with their mean: `short_units` counts them. Zero or negative labels are an error.
    Turpin et al. 2015; Maddalena et al. 2017.

    >>> rows = [("t", "a", "1", 10), ("t", "b", "1", 100), ("t", "a", "2", 1), ("t", "b", "2", 10)]
    >>> comparable_magnitudes(Labels.from_rows(rows)).label.round(3).tolist()
    [3.162, 31.623, 3.162, 31.623]
    """
    MAGNITUDE.checked(labels)
    unit = units(labels) if task is None else task
    logs = np.log(labels.label)
    of_unit = _group_mean(unit, logs)
    of_topic = _group_mean(labels.topic, logs)
    with np.errstate(over="ignore"):
        comparable = np.exp(logs - of_unit + of_topic)
    if not np.isfinite(comparable).all():
        low = labels.label.min()
        high = labels.label.max()
        raise DataError(f"{labels.name}: magnitudes from {low:g} to {high:g} lie too far apart to be averaged")
    return replace(labels, label=comparable)


def short_units(labels: Labels) -> int:
    """How many (topic, worker) units hold fewer than four docs."""
    docs = np.bincount(units(labels))
    return int((docs < SHORT_UNIT).sum())


def _group_mean(group: Ints, values: Floats) -> Floats:
    """The mean of each row's group, one number per row."""
    size = np.maximum(1, np.bincount(group))
    mean = np.bincount(group, values) / size
    return mean[group]
