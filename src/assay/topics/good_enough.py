"""How many subsets are good enough? The share of random subsets of each size that reach one or several thresholds.

Where it stands: scores → problems, one per criterion → random subsets → **shares**. Many good subsets exist, even where
the best one is of little use (Berto, Mizzaro and Robertson 2013).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.topics.archive import sizes
from assay.topics.conclusions import spaced
from assay.topics.criteria import CRITERIA
from assay.topics.extremes import all_where_few, random_values
from assay.topics.problem import Problem, problem

Reached = list[npt.NDArray[np.bool_]]
"""For each cardinality, which subsets reach a threshold."""


@dataclass(frozen=True, eq=False)
class GoodSubsets(Result):
    """For each cardinality the share of random subsets that reach each threshold, and all of them."""

    c: tuple[int, ...]
    thresholds: dict[str, float]
    shares: dict[str, Floats]
    """By criterion."""
    together: Floats
    """Subsets that reach every threshold."""
    runs: int
    topics: int
    repetitions: int
    seed: int

    def enough(self, share: float = 0.5) -> int | None:
        """The fewest topics from which on at least this share of the subsets is good; None if there is no such size."""
        too_few = np.flatnonzero(self.together < share)
        first = too_few[-1] + 1 if len(too_few) else 0
        return self.c[first] if first < len(self.c) else None

    def named_shares(self) -> dict[str, Floats]:
        """The shares by what a subset has to reach, such as `tau ≥ 0.85`; then all at once, if there are several."""
        named = {}
        for criterion, threshold in self.thresholds.items():
            sign = "≥" if CRITERIA.entry(criterion).facts["higher"] else "≤"
            named[f"{criterion} {sign} {threshold:g}"] = self.shares[criterion]
        if len(named) > 1:
            named["all"] = self.together
        return named

    def table(self) -> Table:
        """One row per threshold and cardinality; then those of all thresholds at once."""
        rows = []
        for reached, shares in self.named_shares().items():
            for c, share_of_subsets in zip(self.c, shares.tolist(), strict=True):
                rows.append((reached, c, c / self.topics, share_of_subsets))
        formats = {"reached": "", "topics": "d", "share": ".3f", "subsets": ".4f"}
        notes = [
            f"subsets: share of {self.repetitions} random subsets per cardinality, seed {self.seed}; of all where "
            "those are no more",
            f"rankings of {self.runs} runs, compared with that by all {self.topics} topics",
        ]
        return Table.of(formats, rows, caption="Good subsets", notes=notes)


def good_subsets(
    matrix: ScoreMatrix,
    thresholds: Mapping[str, float],
    *,
    scale: str = "plain",
    top: float = 1.0,
    runs: int | None = None,
    cardinalities: tuple[int, ...] = (),
    repetitions: int = 5000,
    seed: int = 0,
    progress: Progress = silent,
) -> GoodSubsets:
    """The share of subsets that reach a value of one criterion, or values of several at once, by cardinality.

    thresholds: {criterion: value}, e.g. {"tau": 0.85, "pearson": 0.96}; a criterion where less is better (error-rate)
    is reached at or below its value. Without `cardinalities` all are taken, or about fifty of them.

    >>> rng = np.random.default_rng(0)
    >>> m = ScoreMatrix.of(np.round(0.1 * np.arange(8)[:, None] + 0.2 * rng.random((8, 6)), 4), measure="AP")
    >>> good_subsets(m, {"tau": 0.8, "pearson": 0.9}).together.round(2).tolist()
    [0.83, 1.0, 1.0, 1.0, 1.0]
    """
    if not thresholds:
        raise UsageError("no threshold; name a criterion and its value, e.g. tau=0.85")
    shares: dict[str, Floats] = {}
    reached_all: Reached = []
    for criterion, threshold in thresholds.items():
        ready = problem(matrix, criterion=criterion, scale=scale, top=top, runs=runs)
        wanted = sizes(cardinalities or spaced(ready.n), ready.n)
        reached = _reached(ready, threshold, wanted, repetitions, seed)
        shares[criterion] = _share(reached)
        if reached_all:
            reached = [before & now for before, now in zip(reached_all, reached, strict=True)]
        reached_all = reached
        progress(len(shares), len(thresholds))
    return GoodSubsets(
        c=wanted,
        thresholds=dict(thresholds),
        shares=shares,
        together=_share(reached_all),
        runs=len(ready.matrix.runs),
        topics=ready.n,
        repetitions=repetitions,
        seed=seed,
    )


def _reached(ready: Problem, threshold: float, wanted: tuple[int, ...], repetitions: int, seed: int) -> Reached:
    """Which of the random subsets are good enough; with one seed the subsets are the same under every criterion."""
    drawn = random_values(ready, wanted, repetitions, seed)
    values = all_where_few(ready, wanted, drawn, repetitions)
    bar = ready.goodness(np.array([threshold]))
    # What differs from the threshold by rounding alone reaches it.
    return [ready.goodness(row) >= bar - 1e-12 for row in values]


def _share(reached: Reached) -> Floats:
    return np.array([row.mean() for row in reached])
