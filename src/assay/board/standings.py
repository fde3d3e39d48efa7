"""Where does each system stand by one aggregate, and what is that worth? Values, intervals and all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.board.aggregates import PER_TOPIC, better, collection_cells, limits_of, over_collections, topic_values
from assay.board.common_set import CommonSet
from assay.board.strata import Strata
from assay.board.told_apart import Comparisons, ends_on_like_these, on_like_these, on_these, undecided
from assay.core.arrays import Floats, Ints
from assay.rankings.counts import settled, tie_groups
from assay.stats.pairwise import alpha_of


@dataclass(frozen=True, eq=False)
class Standing:
    """One aggregate of all systems: values, cells (collections × systems), and all pairs compared.

    low, high: ends of an interval, nan where there is none.
    """

    name: str
    values: Floats
    low: Floats
    high: Floats
    cells: Floats
    pairs: Comparisons

    @property
    def order(self) -> Ints:
        """Places of the systems, best first; equal ones in the order given."""
        return np.argsort(-settled(better(self.name, self.values)), kind="stable")

    @property
    def ranks(self) -> Ints:
        """1 + how many systems are better; equal ones share a rank."""
        ahead, _ = tie_groups(-settled(better(self.name, self.values)))
        return np.asarray(ahead + 1)

    @property
    def first_group(self) -> Ints:
        """The first, and all systems that are not significantly different from it; best first."""
        order = self.order
        beaten = self.pairs.different[order[0], order]
        return np.asarray(order[~beaten])

    @property
    def neighbours_apart(self) -> int:
        """Pairs of neighbours in the order that are significantly different."""
        order = self.order
        return int(self.pairs.different[order[:-1], order[1:]].sum())


def standings_on_these(data: CommonSet, form: str, level: float) -> dict[str, Standing]:
    """The aggregates with topics as units; those by ranks have no test."""
    values = topic_values(data)
    standings = {}
    for name, of_collections in collection_cells(data).items():
        if name in PER_TOPIC:
            strata = Strata(values[name], limits_of(name, data, form))
            low, high = strata.ends(level)
            pairs = on_these(strata, alpha=alpha_of(level))
        else:
            low = high = np.full(len(data.systems), np.nan)
            pairs = undecided(len(data.systems), "an order only: ranks are of collections, and topics are the sample")
        standings[name] = Standing(name, over_collections(name, of_collections), low, high, of_collections, pairs)
    return standings


def standings_on_like_these(
    data: CommonSet, form: str, level: float, resamples: int | None = None, seed: int = 0
) -> dict[str, Standing]:
    """The aggregates with collections as units."""
    standings = {}
    cells = collection_cells(data)
    how: dict[str, Any] = {"alpha": alpha_of(level), "resamples": resamples, "seed": seed}
    of_ranks = on_like_these(cells["borda"], ranks=True, **how)
    for name, of_collections in cells.items():
        if name in PER_TOPIC:
            low, high = ends_on_like_these(of_collections, limits_of(name, data, form), level)
            pairs = on_like_these(of_collections, **how)
        else:
            low = high = np.full(len(data.systems), np.nan)
            pairs = of_ranks
        standings[name] = Standing(name, over_collections(name, of_collections), low, high, of_collections, pairs)
    return standings
