"""Does what was learnt on one collection hold on another? A model trained on each collection and tested on the others.

A study, not a forecast: the years do not matter. Where the flow stands: judged collections → **accuracy of a model on
each, trained on each other**, beside the plain mean of the methods (Roitero 2020, §7.5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.nojudgments.adaptation import ADAPTATIONS
from assay.nojudgments.learn import Collection, distance, fitted
from assay.nojudgments.over_collections import COLUMNS, check_collections, column_keys, fused_value, matrix_value

ALL_OTHERS = "all others"
PLAIN = "none: mean of methods"


@dataclass(frozen=True, eq=False)
class Transfer(Result):
    """Accuracy of a model: rows are what it was trained on, columns what it was tested on; NaN on the diagonal."""

    model: str
    collections: tuple[str, ...]
    values: Floats
    """The collections, then all others together, then no training at all; × collections."""
    distances: Floats
    """Kolmogorov–Smirnov distances between the predictions of each two collections."""
    statistic: str
    level: str
    adaptation: str = "none"

    def rows(self) -> list[str]:
        """What each row was trained on."""
        return [*self.collections, ALL_OTHERS, PLAIN]

    def table(self) -> Table:
        """One row for each collection to train on, and for all others and for none; a column for each tested one."""
        rows = []
        for name, values in zip(self.rows(), self.values, strict=True):
            rows.append((name, *[None if np.isnan(value) else value for value in values]))
        statistic = COLUMNS[self.statistic]
        how = "" if self.adaptation == "none" else f" on features adapted by {self.adaptation}"
        return Table.of(
            {"trained on": "", **dict.fromkeys(self.collections, ".3f")},
            rows,
            caption=f"{self.model} trained on one collection and tested on another{how}: {statistic} of {self.level}",
            notes=["–: not tested on what it was trained on", *self._distance_notes()],
            keys=column_keys(self.collections),
        )

    def _distance_notes(self) -> list[str]:
        """How far the predictions of each two collections are apart."""
        said = []
        for a, b in combinations(range(len(self.collections)), 2):
            said.append(f"{self.collections[a]} and {self.collections[b]} {self.distances[a, b]:.2f}")
        return [f"distance of the predictions (Kolmogorov–Smirnov): {'; '.join(said)}"]


def transfer(
    collections: Sequence[Collection],
    model: str = "svr",
    *,
    adaptation: str = "none",
    statistic: str = "tau",
    level: str = "runs",
    seed: int = 0,
    progress: Progress = silent,
) -> Transfer:
    """Accuracy of a model on each collection, trained on each other one, and on all others together.

    adaptation: one of ADAPTATIONS, which makes the features of what a model is trained on and tested on alike.

    >>> from assay.data import ScoreMatrix
    >>> truth = ScoreMatrix.of([[0.1, 0.5], [0.3, 0.6], [0.2, 0.1]], measure="AP")
    >>> good = ScoreMatrix.of([[1, 5], [3, 6], [2, 1]], measure="emap")
    >>> both = [Collection(name, 2001, (good,), truth) for name in ("old", "new")]
    >>> transfer(both, "ridge").table().column("old")
    [None, 1.0, 1.0, 1.0]
    """
    check_collections(collections, statistic, level)
    count = len(collections)
    if count < 2:
        raise UsageError("transfer needs two collections or more: one to train on, another to test on")
    values = np.full((count + 2, count), np.nan)
    for row, source in enumerate(collections):
        for column, target in enumerate(collections):
            if column != row:
                scores = _learnt([source], target, model, adaptation, seed)
                values[row, column] = matrix_value(scores, target, statistic, level)
        progress(row + 1, 2 * count)
    for column, target in enumerate(collections):
        others = [*collections[:column], *collections[column + 1 :]]
        scores = _learnt(others, target, model, adaptation, seed)
        values[count, column] = matrix_value(scores, target, statistic, level)
        values[count + 1, column] = fused_value(target, "average", statistic, level)
        progress(count + column + 1, 2 * count)
    names = tuple(collection.name for collection in collections)
    return Transfer(model, names, values, _distances(collections), statistic, level, adaptation)


def _learnt(sources: Sequence[Collection], target: Collection, model: str, adaptation: str, seed: int) -> ScoreMatrix:
    """The scores of a collection by a model of others; the years do not matter here."""
    from_sources = np.vstack([source.features() for source in sources])
    labels = np.concatenate([source.labels() for source in sources])
    known, unknown = ADAPTATIONS.call(adaptation, from_sources, target.features())
    values = fitted(model, known, labels, seed=seed).predict(unknown)
    first = target.predictions[0]
    return ScoreMatrix(first.runs, first.topics, values.reshape(first.shape), f"learned-{model}")


def _distances(collections: Sequence[Collection]) -> Floats:
    """The distance between the predictions of each two collections."""
    count = len(collections)
    distances = np.zeros((count, count))
    for a, b in combinations(range(count), 2):
        distances[a, b] = distances[b, a] = distance(collections[a], collections[b])
    return distances
