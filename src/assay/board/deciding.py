"""Which collections decide the order, and would fewer do? Each left out in turn; the best subsets of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.board.aggregates import AGGREGATES, better, collection_cells
from assay.board.common_set import common_set
from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.rankings import kendall_rows
from assay.rankings.counts import settled, tie_groups
from assay.standard.factors import FORM
from assay.topics import search_subsets
from assay.topics.search import SearchResult


@dataclass(frozen=True, eq=False)
class LeftOut(Result):
    """What each collection does to the order of the systems: its own order, and the order of all without it."""

    measure: str
    aggregate: str
    systems: tuple[str, ...]
    collections: tuple[str, ...]
    topics: tuple[int, ...]
    tau_own: Floats
    """τ-b of the collection's own order with that by the other collections."""
    tau_without: Floats
    """τ-b of the order without the collection with that by all."""
    ranks: Ints
    """Ranks by all collections."""
    ranks_without: Ints
    """Ranks without each collection, collections × systems."""

    def table(self) -> Table:
        """One row per collection, the one whose absence changes the order most first."""
        columns = {"collection": "", "topics": "d", "τ without it": ".3f", "τ with the others": ".3f"}
        columns |= {"first without it": "", "largest move": "", "systems that move": "d"}
        moves = self.ranks_without - self.ranks
        order = np.argsort(self.tau_without, kind="stable")
        rows = []
        for at in order.tolist():
            first = self.systems[int(self.ranks_without[at].argmin())]
            far = int(np.abs(moves[at]).argmax())
            move = f"{self.systems[far]}: {self.ranks[far]} → {self.ranks_without[at, far]}" if moves[at, far] else None
            moved = int((moves[at] != 0).sum())
            taus = [self.tau_without[at], self.tau_own[at]]
            rows.append([self.collections[at], self.topics[at], *taus, first, move, moved])
        notes = [
            "τ without it: Kendall's τ-b of the order without the collection with that by all; the lowest decides most",
            "τ with the others: of the collection's own order with that by the other collections",
            f"first by all collections: {self.systems[int(self.ranks.argmin())]}",
        ]
        title = AGGREGATES[self.aggregate]
        caption = f"{self.measure}: {len(self.systems)} systems by {title}, each collection left out"
        keys = {"τ without it": "tau_without", "τ with the others": "tau_own"}
        return Table.of(columns, rows, caption=caption, notes=notes, keys=keys)


def leave_one_out(
    collections: Mapping[str, Any], *, aggregate: str = "standardized", common: str = "systems", form: str = FORM
) -> LeftOut:
    """The order of the systems without each collection in turn, compared with that by all.

    >>> a, b, c = ([[0.1], [0.2], [0.3]], [[0.2], [0.1], [0.4]], [[0.3], [0.2], [0.1]])
    >>> made = {name: ScoreMatrix.of(scores) for name, scores in zip("abc", (a, b, c))}
    >>> leave_one_out(made, aggregate="mean").table().column("collection")
    ['a', 'c', 'b']
    """
    one_of("aggregate", aggregate, AGGREGATES)
    data = common_set(collections, common=common, form=form)
    cells = better(aggregate, collection_cells(data)[aggregate])
    count = len(cells)
    sums = cells.sum(axis=0)
    rest = (sums - cells) / (count - 1)
    everything = settled(sums / count)
    without = settled(rest)
    own = settled(cells)
    tau_own = [float(kendall_rows(own[[at]], without[at])[0]) for at in range(count)]
    return LeftOut(
        measure=data.measure,
        aggregate=aggregate,
        systems=data.systems,
        collections=data.collections,
        topics=tuple(data.topics),
        tau_own=np.array(tau_own),
        tau_without=kendall_rows(without, everything),
        ranks=np.asarray(tie_groups(-everything)[0] + 1),
        ranks_without=np.asarray(tie_groups(-without)[0] + 1),
    )


@dataclass(frozen=True, eq=False)
class CollectionSubsets(Result):
    """For each number of collections the subset that ranks the systems most as all collections do, and the worst."""

    measure: str
    aggregate: str
    found: SearchResult

    def table(self) -> Table:
        """One row per number of collections."""
        columns = {"collections": "d", "τ best": ".4f", "τ worst": ".4f", "proved": "", "best set": ""}
        rows: list[Sequence[Any]] = []
        for count in self.found.cardinalities:
            best = self.found.subsets("best", c=count)[0]
            worst = self.found.subsets("worst", c=count)[0]
            proved = " ".join(side for side, subset in (("best", best), ("worst", worst)) if subset.proved)
            rows.append([count, best.value, worst.value, proved, ", ".join(best.topics)])
        matrix = self.found.problem.matrix
        title = AGGREGATES[self.aggregate]
        caption = f"{self.measure}: subsets of {len(matrix.topics)} collections that rank {len(matrix.runs)} systems"
        notes = [
            f"τ: Kendall's τ with the order by {title} over all collections; {self.found.search} search, "
            f"seed {self.found.seed}",
            "best sets are chosen on the systems that they are shown for: on other systems they do less well",
        ]
        keys = {"τ best": "tau_best", "τ worst": "tau_worst"}
        return Table.of(columns, rows, caption=caption, notes=notes, keys=keys)


def best_collections(
    collections: Mapping[str, Any],
    *,
    aggregate: str = "standardized",
    common: str = "systems",
    form: str = FORM,
    search: str = "auto",
    seed: int = 0,
    progress: Progress = silent,
) -> CollectionSubsets:
    """The subsets of collections, of every size, that rank the systems as all collections do, and the worst ones.

    The search is that of `assay.topics`, with a collection in the place of a topic.

    >>> a, b, c = ([[0.1], [0.2], [0.3]], [[0.2], [0.1], [0.4]], [[0.3], [0.2], [0.1]])
    >>> made = {name: ScoreMatrix.of(scores) for name, scores in zip("abc", (a, b, c))}
    >>> best_collections(made, aggregate="mean").table().column("best set")
    ['b', 'b, c']
    """
    one_of("aggregate", aggregate, AGGREGATES)
    data = common_set(collections, common=common, form=form)
    if len(data.collections) < 3:
        raise UsageError(f"{len(data.collections)} collections have no subsets worth a search; give at least three")
    cells = better(aggregate, collection_cells(data)[aggregate])
    matrix = ScoreMatrix.of(cells.T, runs=data.systems, topics=data.collections, measure=data.measure)
    found = search_subsets(matrix, search=search, seed=seed, keep=1, progress=progress)
    return CollectionSubsets(data.measure, aggregate, found)
