"""How do the mean scores on a best or worst subset stand to those on all topics? One point per run.

Where it stands: search → **means of runs** on the subsets it found. Worst subsets are topics on which all runs score
low and alike, so that their means say little (Roitero 2020, Section 4.3.3.5 and Fig. 4.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.topics.search import SearchResult

Cell = tuple[str, int]
"""A side, best or worst, and a cardinality."""


@dataclass(frozen=True, eq=False)
class SubsetMeans(Result):
    """Mean scores of the runs on all topics, and on the best and worst subset of some cardinalities."""

    found: SearchResult
    full: Floats
    means: dict[Cell, Floats]
    values: dict[Cell, float]

    def table(self) -> Table:
        """One row per subset: mean and spread of the runs' means there, beside those on all topics."""
        problem = self.found.problem
        rows: list[tuple[object, ...]] = []
        for (side, c), means in self.means.items():
            rows.append((side, c, self.values[side, c], *_spread(means)))
        rows.append(("all", problem.n, None, *_spread(self.full)))
        spread = dict.fromkeys(("mean", "sd", "range"), ".4f")
        formats = {"sets": "", "topics": "d", problem.criterion: ".4f", **spread}
        notes = ["mean, sd, range: of the runs' mean scores", self.found.note()]
        keys = {problem.criterion: "value"}
        return Table.of(formats, rows, caption="Means of the runs on subsets", notes=notes, keys=keys)


def _spread(means: Floats) -> tuple[float, float, float]:
    """Mean, sd and range."""
    return float(means.mean()), float(means.std(ddof=1)), float(np.ptp(means))


def subset_means(found: SearchResult, cardinalities: tuple[int, ...]) -> SubsetMeans:
    """Means of the runs on the first best and the first worst subset of each of these cardinalities.

    >>> from assay.data.scores import ScoreMatrix
    >>> from assay.topics import search_subsets
    >>> m = ScoreMatrix.of([[0.5, 0.1, 0.4], [0.3, 0.2, 0.2], [0.1, 0.3, 0.1]])
    >>> subset_means(search_subsets(m), (1,)).means["worst", 1].tolist()
    [0.1, 0.2, 0.3]
    """
    matrix = found.problem.matrix
    means: dict[Cell, Floats] = {}
    values: dict[Cell, float] = {}
    for c in cardinalities:
        for side in ("best", "worst"):
            subset = found.subsets(side, c=c)[0]
            part = matrix.select(topics=list(subset.topics))
            means[side, c] = part.averages()
            values[side, c] = subset.value
    return SubsetMeans(found, matrix.averages(), means, values)
