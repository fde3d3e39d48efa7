"""A user who goes down a list: what she finds and spends at each rank, and what C(i) makes of it.

This is what all C/W/L measures share; their functions C(i) are in `cwl` and `adaptive`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.data.grades import Grades, gain_mapping
from assay.measures.base import Scores, in_order
from assay.measures.gain import unit_gains

DEPTH = 1000
"""Ranks that a user may see at most: cwl_eval's."""

VALUES = ("EU", "ETU", "EC", "ETC", "items")


@dataclass(frozen=True, eq=False)
class BrowsingUser:
    """What a user meets at each rank: topics × ranks down to a fixed depth."""

    gains: Scores
    """In [0, 1]; 0 past the end of a list."""
    costs: Scores
    stops_at_end: bool = False
    """Whether nobody goes on after the last rank: it is the cutoff of a measure."""

    @classmethod
    def of(cls, g: Grades, gain: str, top: float | None, cost: str, k: int | None = None) -> BrowsingUser:
        """The gains and costs of the lists, down to a cutoff if there is one."""
        depth = DEPTH if k is None else k
        found = unit_gains(g, gain, depth, top)
        gains = np.zeros((len(g.topics), depth))
        gains[:, : found.shape[1]] = found
        return cls(gains, _costs(g, cost, depth), stops_at_end=k is not None)

    @property
    def ranks(self) -> Scores:
        """1, 2, 3, …"""
        return np.arange(1, self.gains.shape[1] + 1, dtype=np.float64)

    @cached_property
    def found(self) -> Scores:
        """Gain of all docs down to each rank."""
        return self.gains.cumsum(axis=1)

    @cached_property
    def spent(self) -> Scores:
        """Cost of all docs down to each rank."""
        return self.costs.cumsum(axis=1)

    @property
    def spent_above(self) -> Scores:
        """Cost of all docs above each rank."""
        return self.spent - self.costs

    def expected(self, goes_on: Scores, value: str) -> Scores:
        """What C(i) makes of the gains and costs."""
        if value not in VALUES:
            raise UsageError(f"no value {value!r} of a C/W/L measure; known: {', '.join(VALUES)}")
        onward = np.broadcast_to(goes_on, self.gains.shape).copy()
        if self.stops_at_end:
            onward[:, -1] = 0.0
        reached = np.ones(onward.shape)
        reached[:, 1:] = np.cumprod(onward[:, :-1], axis=1)
        items = in_order(reached)
        if value == "items":
            return items
        if value in ("EU", "EC"):
            per_rank = self.gains if value == "EU" else self.costs
            return in_order(reached * per_rank) / items
        stops = (1 - onward) * reached
        so_far = self.found if value == "ETU" else self.spent
        return in_order(stops * so_far)


def _costs(g: Grades, cost: str, depth: int) -> Scores:
    """What the doc at each rank costs; 1 past the end of a list."""
    costs = np.ones((len(g.topics), depth))
    if cost == "lengths":
        known = g.lengths
    else:
        known = _costs_by_grade(g, gain_mapping(cost))
    if known is not None:
        seen = known[:, :depth]
        costs[:, : seen.shape[1]] = np.where(g.inside(depth), seen, 1.0)
    return costs


def _costs_by_grade(g: Grades, mapping: dict[float, float]) -> Scores:
    """What a doc costs by its grade; an unjudged doc costs what a doc of grade 0 costs."""
    if not all(0 <= price < np.inf for price in mapping.values()):
        raise UsageError("a cost must be at least 0; write cost=0:4/1:20")
    grades = np.where(g.judged(), g.ranked, 0)
    costs = np.full(grades.shape, np.nan)
    for grade, price in mapping.items():
        costs[grades == grade] = price
    without = np.isnan(costs) & g.inside()
    if without.any():
        raise UsageError(f"no cost for grade {grades[without][0]:g}; name every grade, as in cost=0:4/1:20")
    return costs


def squared_step(x: Scores) -> Scores:
    """((x − 1)/x)²: the step of INSQ and its kin."""
    return ((x - 1) / x) ** 2
