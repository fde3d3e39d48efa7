"""What is a machine's label worth in human grades? Calibration from docs that both labelled, fitted on other topics.

A calibrated label is the mean human grade of docs with that label. It is fitted without the topic that it is used on,
so that no doc's own human grade enters its prediction.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError
from assay.core.registry import Registry

Fit = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
CALIBRATIONS: Registry[Fit] = Registry("calibration")
"""Ways to calibrate: labels, human grades and weights → labels (ascending) and what each is worth."""
FOLDS = 5


@CALIBRATIONS.register("isotonic")
def isotonic(labels: Floats, grades: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The rising step function nearest to the grades (least squares): a higher label is never worth less."""
    from scipy.optimize import isotonic_regression

    levels, means, mass = _by_label(labels, grades, weights)
    return levels, np.asarray(isotonic_regression(means, weights=mass).x)


@CALIBRATIONS.register("by-grade")
def by_grade(labels: Floats, grades: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The mean human grade of each label, whichever way it goes."""
    levels, means, _ = _by_label(labels, grades, weights)
    return levels, means


@CALIBRATIONS.register("none")
def none(labels: Floats, grades: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Labels as they are; they must be on the scale of the people."""
    levels = np.unique(labels)
    return levels, levels


def _by_label(labels: Floats, grades: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """The labels that occur, ascending, the weighted mean grade of each, and its weight."""
    levels, place = np.unique(labels, return_inverse=True)
    mass = np.bincount(place, weights).astype(np.float64)
    means = np.bincount(place, weights * grades) / mass
    return levels, means, mass


def calibrated(
    machine: Floats, human: Floats, topic: Ints, *, weights: Floats | None = None, method: str = "isotonic"
) -> Floats:
    """Machine labels in human grades, each from the docs of other topics; NaN stays NaN.

    machine: a label for every doc, NaN where there is none. human: NaN where nobody judged. topic: of each doc.
    weights: of the judged docs, 1/probability where they were sampled. Labels between those seen are interpolated.

    >>> machine = np.array([0.0, 1, 0, 1, 0, 1])
    >>> human = np.array([0.0, 2, 1, 3, np.nan, np.nan])
    >>> calibrated(machine, human, np.array([0, 0, 1, 1, 2, 2])).tolist()
    [1.0, 3.0, 0.0, 2.0, 0.5, 2.5]
    """
    known = ~np.isnan(machine) & ~np.isnan(human)
    if not known.any():
        raise DataError("no doc has both a human grade and a machine label; labels cannot be calibrated")
    mass = np.ones(len(machine)) if weights is None else weights
    numbered = np.unique(topic, return_inverse=True)[1]
    fold = numbered % min(FOLDS, max(2, int(numbered.max()) + 1))
    worth = np.full(len(machine), np.nan)
    for part in range(int(fold.max()) + 1):
        here = (fold == part) & ~np.isnan(machine)
        train = known & (fold != part)
        if not train.any():  # one fold holds all judged docs: there is nothing else to learn from
            train = known
        levels, values = CALIBRATIONS.call(method, machine[train], human[train], mass[train])
        worth[here] = np.interp(machine[here], levels, values)
    return worth
