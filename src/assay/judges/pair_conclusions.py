"""Would the same runs be called better? Pairs of runs that are significant under people, under a judge, or under both.

Both sides are corrected over all pairs. A judge may order runs well and still call differences real that people do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.stats.pair_tests import PairsResult
from assay.stats.pairwise import all_pairs

SURE = 0.95
"""Of the pairs that are at least so far apart under the judge, the share that people must order alike."""


@dataclass(frozen=True)
class PairOutcomes:
    """How many pairs of runs each side calls different, and how far apart a judge must put runs to be believed."""

    judge: str
    same: int
    opposite: int
    only_judge: int
    only_humans: int
    neither: int
    same_order_from: float | None
    """From this difference under the judge on, at least SURE of the pairs have the same order under people."""
    significant_from: float | None
    """From this difference on, at least SURE of the pairs are also significant under people, with the same sign."""


@dataclass(frozen=True, eq=False)
class Conclusions(Result):
    """What would be concluded of all pairs of runs, with people and with each judge."""

    unit = "topic"

    measure: str
    outcomes: tuple[PairOutcomes, ...]
    pairs: int
    test: str
    correction: str
    alpha: float

    def of(self, judge: str) -> PairOutcomes:
        """The outcomes of one judge."""
        return next(row for row in self.outcomes if row.judge == judge)

    def table(self) -> Table:
        """One row for each judge."""
        columns = {
            "judge": "", "same sign": "d", "opposite sign": "d", "only judge": "d", "only humans": "d", "neither": "d",
            "same order from": ".4f", "significant from": ".4f",
        }  # fmt: skip
        rows = [
            (row.judge, row.same, row.opposite, row.only_judge, row.only_humans, row.neither, row.same_order_from,
             row.significant_from)
            for row in self.outcomes
        ]  # fmt: skip
        notes = [
            f"pairs significant at {self.alpha:g} by the {self.test} test, corrected by {self.correction} over "
            f"{self.pairs} pairs, for people and for the judge",
            f"same order from: of the pairs that differ by at least this under the judge, {100 * SURE:g} % have the "
            "same order under people; significant from: the same for pairs significant under people; –: no such point",
        ]
        return Table.of(
            columns, rows, caption=f"{self.measure}: conclusions on {self.pairs} pairs of runs", notes=notes
        )


def conclusions(
    human: ScoreMatrix,
    machine: Sequence[ScoreMatrix],
    judges: Sequence[str],
    *,
    test: str = "t",
    correction: str = "holm",
    level: float = 0.95,
    seed: int = 0,
) -> Conclusions:
    """Tests of all pairs of runs under people and under every judge, compared."""
    by_people = _tested(human, test, correction, level, seed)
    outcomes = []
    for judge, matrix in zip(judges, machine, strict=True):
        by_judge = _tested(matrix, test, correction, level, seed)
        outcomes.append(_outcomes(judge, by_people, by_judge))
    return Conclusions(human.measure, tuple(outcomes), len(by_people), test, correction, by_people.alpha)


def _tested(matrix: ScoreMatrix, test: str, correction: str, level: float, seed: int) -> PairsResult:
    return all_pairs(matrix, test, correction=correction, interval=None, level=level, seed=seed)


def _outcomes(judge: str, people: PairsResult, machine: PairsResult) -> PairOutcomes:
    real = people.corrected() < people.alpha
    claimed = machine.corrected() < machine.alpha
    alike = np.sign(people.difference) == np.sign(machine.difference)
    size = np.abs(machine.difference)
    return PairOutcomes(
        judge=judge,
        same=int((real & claimed & alike).sum()),
        opposite=int((real & claimed & ~alike).sum()),
        only_judge=int((claimed & ~real).sum()),
        only_humans=int((real & ~claimed).sum()),
        neither=int((~real & ~claimed).sum()),
        same_order_from=believed_from(size, alike),
        significant_from=believed_from(size, real & alike),
    )


def believed_from(size: Floats, right: Bools) -> float | None:
    """The smallest size such that at least SURE of the pairs of that size or more, and of any larger size, are right.

    >>> believed_from(np.array([0.3, 0.2, 0.1]), np.array([True, True, False]))
    0.2
    """
    order = np.argsort(-size, kind="stable")
    ordered = size[order]
    share = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    # Pairs of one size are taken together: only the last of them counts.
    last = np.append(ordered[1:] < ordered[:-1], True)
    ends = np.flatnonzero(last)
    good = share[ends] >= SURE
    if not len(good) or not good[0]:
        return None
    until = len(good) if good.all() else int(np.argmin(good))
    return float(ordered[ends[until - 1]])
