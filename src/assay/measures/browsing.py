"""A user who goes down a list: what she finds and spends at each rank, and what C(i) makes of it.

This is what all C/W/L measures share; their functions C(i) are in `cwl` and `adaptive`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.data.grades import Grades, gain_mapping
from assay.measures.base import Scores, in_order
from assay.measures.gain import unit_gains
from assay.measures.long_tails import sums_past

DEPTH = 1000
"""Ranks that a user may see at most unless a measure has a cutoff: cwl_eval's."""

VALUES = ("EU", "ETU", "EC", "ETC", "items")


@dataclass(frozen=True, eq=False)
class BrowsingUser:
    """What a user meets at each rank: topics × ranks, down to a cutoff or as far as the lists go.

    A cutoff may lie deeper; between the end of a list and it nothing is gained, and each doc costs 1.
    """

    gains: Scores
    """In [0, 1]; 0 past the end of a list."""
    costs: Scores
    ends: Ints
    """The last rank of each topic that is counted here; what comes after, down to the cutoff, `sums_past` counts."""
    k: int | None = None
    """The cutoff, after which nobody goes on."""

    @classmethod
    def of(cls, g: Grades, gain: str, top: float | None, cost: str, k: int | None = None) -> BrowsingUser:
        """The gains and costs of the lists, down to a cutoff if there is one and a list is that long."""
        deepest = DEPTH if k is None else min(k, max(DEPTH, g.depth))
        found = unit_gains(g, gain, deepest, top)
        gains = np.zeros((len(g.topics), deepest))
        gains[:, : found.shape[1]] = found
        ends = np.minimum(deepest, np.maximum(DEPTH, g.retrieved))
        return cls(gains, _costs(g, cost, deepest), ends, k)

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

    def expected(self, goes_on: Scores, value: str, weight: Callable[[Floats], Floats] | None = None) -> Scores:
        """What C(i) makes of the gains and costs; weight: W(i) past the end of a list up to a factor, if not even."""
        if value not in VALUES:
            raise UsageError(f"no value {value!r} of a C/W/L measure; known: {', '.join(VALUES)}")
        onward = np.broadcast_to(goes_on, self.gains.shape).copy()
        if onward.shape[1] == self.k:
            onward[:, -1] = 0.0
        reached = np.ones(onward.shape)
        reached[:, 1:] = np.cumprod(onward[:, :-1], axis=1)
        goes_past, seen_past = self._past(reached, onward, weight or np.ones_like)
        items = in_order(reached) + seen_past
        if value == "items":
            return items
        if value == "EU":
            return in_order(reached * self.gains) / items
        if value == "EC":
            return (in_order(reached * self.costs) + seen_past) / items
        stops = (1 - onward) * reached
        if value == "ETU":
            return in_order(stops * self.found) + goes_past * self.found[:, -1]
        topics = np.arange(len(self.ends))
        return in_order(stops * self.spent) + goes_past * self.spent[topics, self.ends - 1] + seen_past

    def _past(self, reached: Scores, onward: Scores, weight: Callable[[Floats], Floats]) -> tuple[Scores, Scores]:
        """The chance to go on past the ranks of each topic that are counted here, and the docs seen there.

        Where a cutoff lies deeper than the end of a list, `reached` is set to 0 after that end.
        """
        if self.k is None or (self.ends == self.k).all():
            return np.zeros(len(reached)), np.zeros(len(reached))
        last = self.ends - 1
        topics = np.arange(len(last))
        goes_past = np.where(self.ends < self.k, reached[topics, last] * onward[topics, last], 0.0)
        reached *= self.ranks <= self.ends[:, None]
        per_doc = sums_past(weight, self.ends, self.k) / weight(self.ends.astype(np.float64) + 1)
        return goes_past, goes_past * per_doc


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
