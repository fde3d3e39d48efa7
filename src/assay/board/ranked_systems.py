"""Who leads over many collections, how surely, and does it depend on how one averages? `board` and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.board.aggregates import (
    AGGREGATES,
    EXPLAINED,
    FORMATS,
    better,
    collection_cells,
    over_collections,
)
from assay.board.common_set import CommonSet, common_set
from assay.board.simultaneous import Comparisons, comparisons
from assay.board.two_stage import replicates
from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.rankings import kendall_tau_a
from assay.rankings.counts import settled, tie_groups
from assay.standard.factors import FORM
from assay.stats.resampling import checked_share, drawn_in_words, percent

FEW_COLLECTIONS = 6
"""Fewer say little of how collections differ: intervals over collections are then too narrow."""
DRAWN = {
    "both": "collections, then topics within each, are drawn again",
    "collections": "collections are drawn again, their topics are not",
    "topics": "topics are drawn again within these collections, which stay",
}


@dataclass(frozen=True, eq=False)
class Standing:
    """One aggregate of all systems: values with intervals, cells (collections × systems), and all pairs compared."""

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


@dataclass(frozen=True, eq=False)
class Board(Result):
    """Systems over many collections by five aggregates. Rows go by one of them, `aggregate`; missing cells are counted.

    `top` limits the rows that tables and pictures show, never what was compared.

    >>> from assay.board import board
    >>> one = {"a": {"1": 0.1, "2": 0.5}, "b": {"1": 0.3, "2": 0.6}}
    >>> two = {"a": {"1": 0.2, "2": 0.2}, "b": {"1": 0.4, "2": 0.7}}
    >>> board({"first": one, "second": two}, resamples=20).table().column("system")
    ['b', 'a']
    """

    data: CommonSet
    standings: Mapping[str, Standing]
    aggregate: str
    over: str
    form: str
    level: float
    resamples: int
    seed: int
    top: int | None = None

    @property
    def leading(self) -> Standing:
        """The aggregate that the rows go by."""
        return self.standings[self.aggregate]

    def best(self, top: int) -> Board:
        """The same board, of which only the `top` best systems are shown."""
        return replace(self, top=top)

    def agreed(self) -> Bools:
        """systems × systems: the first is significantly better than the second by every aggregate."""
        return np.logical_and.reduce([standing.pairs.above for standing in self.standings.values()])

    @property
    def verdict(self) -> str:
        """The finding in one sentence."""
        systems = self.data.systems
        firsts = {systems[standing.order[0]] for standing in self.standings.values()}
        group = self.leading.first_group
        first = systems[self.leading.order[0]]
        where = f"{len(systems)} systems on {len(self.data.collections)} collections"
        others = len(group) - 1
        if others:
            sure = f"not significantly different from it: {others} of the other {len(systems) - 1}"
        else:
            sure = "significantly better than all others"
        agree = (
            "first by every aggregate" if len(firsts) == 1 else f"other aggregates put others first ({_named(firsts)})"
        )
        return f"{first} leads {where} by {AGGREGATES[self.aggregate]}, {sure}; {agree}"

    def table(self) -> Table:
        """One row per system, best first: rank with its interval, letters, and all aggregates side by side."""
        leading = self.leading
        title = AGGREGATES[self.aggregate]
        columns = {"system": "", "rank": "d", "from": "d", "to": "d", "letters": ""}
        for name, heading in AGGREGATES.items():
            columns[heading] = FORMATS[name]
            if name == self.aggregate:
                columns |= {"low": FORMATS[name], "high": FORMATS[name]}
        columns["collections"] = "d"
        order = leading.order
        labels = leading.pairs.letters(order).labels
        rows: list[Sequence[Any]] = []
        for place, at in enumerate(order.tolist()):
            row: list[Any] = [self.data.systems[at], leading.ranks[at]]
            row += [leading.pairs.rank_low[at], leading.pairs.rank_high[at], labels[place]]
            for name, standing in self.standings.items():
                row.append(standing.values[at])
                if name == self.aggregate:
                    row += [standing.low[at], standing.high[at]]
            rows.append([*row, len(self.data.collections)])
        rows = [*rows[: self.top], *([] if self.top else self._unranked(len(columns)))]
        shown = len(order) if self.top is None else min(self.top, len(order))
        some = "" if shown == len(order) else f"{shown} of "
        caption = (
            f"{self.data.measure}: {some}{len(order)} systems on {len(self.data.collections)} collections, by {title}"
        )
        keys = {"from": "rank_low", "to": "rank_high", "Borda": "borda"}
        return Table.of(columns, rows, caption=caption, notes=self._notes(), keys=keys)

    def _unranked(self, width: int) -> list[list[Any]]:
        """Rows of the systems that lack a collection: no rank, no mean, and on how many collections they are."""
        counts = self.data.present.sum(axis=1)
        rows = []
        for system, count in zip(self.data.every_system, counts, strict=True):
            if system not in self.data.systems:
                rows.append([system, *[None] * (width - 2), count])
        return rows

    def _notes(self) -> list[str]:
        level = percent(self.level)
        drawn = drawn_in_words(self.resamples, self.seed)
        notes = [
            f"low, high: {level} interval of the {AGGREGATES[self.aggregate]}; {DRAWN[self.over]}; {drawn}",
            f"from, to: ranks that the system may have, all systems considered together ({level}); systems that share "
            "a letter are not significantly different",
            *EXPLAINED,
            self.data.note(),
        ]
        collections = len(self.data.collections)
        if self.over != "topics" and collections < FEW_COLLECTIONS:
            notes.append(
                f"{collections} collections say little of how collections differ: the intervals are too narrow for new "
                "ones; over topics alone they are about these collections"
            )
        if self.data.means_only and self.over == "both":
            notes.append("only means are known: collections are drawn again, topics cannot be")
        return [note for note in notes if note]

    def conclusions(self) -> Table:
        """One row per aggregate: the first systems, how many pairs are significant; and what all agree on."""
        columns = {
            "aggregate": "", "first": "", "group of the first": "d", "pairs significant": "d", "of pairs": "d",
            "neighbours apart": "d", "τ": ".3f",
        }  # fmt: skip
        systems = self.data.systems
        pairs = len(systems) * (len(systems) - 1) // 2
        by = better(self.aggregate, settled(self.leading.values))
        rows: list[Sequence[Any]] = []
        for name, standing in self.standings.items():
            tau = kendall_tau_a(by, better(name, settled(standing.values)))
            significant = int(standing.pairs.above.sum())
            group = len(standing.first_group)
            first = systems[standing.order[0]]
            rows.append([AGGREGATES[name], first, group, significant, pairs, standing.neighbours_apart, tau])
        firsts = {row[1] for row in rows}
        same_first = rows[0][1] if len(firsts) == 1 else None
        kept = int(self.agreed().sum())
        rows.append(["all of them", same_first, len(self.common_group()), kept, pairs, self._neighbours_agreed(), None])
        notes = [
            "group of the first: systems that are not significantly different from it, itself included; of all: those "
            "that are in every group",
            "neighbours apart: neighbours in the order that are significantly different; of all: neighbours in the "
            f"order by {AGGREGATES[self.aggregate]} that are so by every aggregate",
            f"τ: Kendall's τ-a with the order by {AGGREGATES[self.aggregate]}",
            *self._contradictions(),
        ]
        keys = {"τ": "tau", "of pairs": "pairs", "pairs significant": "significant"}
        return Table.of(columns, rows, caption="What survives all aggregates", notes=notes, keys=keys)

    def common_group(self) -> list[str]:
        """Systems that are in the group of the first by every aggregate."""
        groups = [set(standing.first_group.tolist()) for standing in self.standings.values()]
        inside = set.intersection(*groups)
        return [self.data.systems[at] for at in self.leading.order.tolist() if at in inside]

    def _neighbours_agreed(self) -> int:
        order = self.leading.order
        return int(self.agreed()[order[:-1], order[1:]].sum())

    def _contradictions(self) -> list[str]:
        """How many pairs two aggregates order in opposite ways, both significantly."""
        above = np.logical_or.reduce([standing.pairs.above for standing in self.standings.values()])
        opposite = int((above & above.T).sum()) // 2
        if not opposite:
            return []
        return [f"{opposite} pairs are significantly better one way by one aggregate and the other way by another"]

    def intervals(self) -> Table:
        """One row per system and aggregate: value, interval, rank, rank interval."""
        columns = {"system": "", "aggregate": "", "value": ".4f", "low": ".4f", "high": ".4f"}
        columns |= {"rank": "d", "from": "d", "to": "d"}
        rows = []
        for at in self.leading.order.tolist()[: self.top]:
            for name, standing in self.standings.items():
                ends = [standing.values[at], standing.low[at], standing.high[at], standing.ranks[at]]
                ranks = [standing.pairs.rank_low[at], standing.pairs.rank_high[at]]
                rows.append([self.data.systems[at], AGGREGATES[name], *ends, *ranks])
        keys = {"from": "rank_low", "to": "rank_high"}
        return Table.of(columns, rows, caption="All aggregates with intervals", keys=keys)

    def tables(self) -> list[Table]:
        """The board, and what survives all aggregates."""
        return [self.table(), self.conclusions()]

    def record(self) -> dict[str, Any]:
        """The tables, the verdict, and the missing cells."""
        facts = {
            "verdict": self.verdict,
            "measure": self.data.measure,
            "aggregate": self.aggregate,
            "over": self.over,
            "form": self.form,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "missing_cells": self.data.missing,
            "collection_names": list(self.data.collections),
        }
        return {**super().record(), **facts}


def board(
    collections: Mapping[str, Any],
    *,
    aggregate: str = "standardized",
    over: str = "both",
    common: str = "systems",
    form: str = FORM,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Board:
    """Systems over many collections: mean, standardized mean, Borda, mean rank and win probability side by side.

    collections: {collection: scores}, a run of the same name in two of them is one system. aggregate: the one that
    orders the rows. over: what is drawn again for intervals: "both" (collections, then topics), "collections" or
    "topics". common: where cells are missing, keep the "systems" that are on all collections or the "collections" that
    have all systems. form: the form of the standardized scores.

    Intervals are percentiles over the draws. Letters, rank intervals and the group of the first rest on all pairs at
    once, see `assay.board.Board`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> quality = np.array([[0.6], [0.4], [0.38]])
    >>> collections = {name: quality + rng.normal(0, 0.1, (3, 30)) for name in "abcdefgh"}
    >>> from assay.data import ScoreMatrix
    >>> made = board({name: ScoreMatrix.of(scores) for name, scores in collections.items()})
    >>> made.verdict
    'run1 leads 3 systems on 8 collections by standardized mean, significantly better than all others; first by ...'
    >>> made.table().column("letters")
    ['a', 'b', 'b']
    """
    one_of("aggregate", aggregate, AGGREGATES)
    checked_share(level, "level")
    data = common_set(collections, common=common, form=form)
    if data.means_only and over == "topics":
        raise UsageError("only means are known, so that no topics can be drawn; draw collections")
    cells = collection_cells(data)
    draws = replicates(data, over=over, resamples=resamples, seed=seed)
    ends = [(1 - level) / 2, (1 + level) / 2]
    standings = {}
    for name in AGGREGATES:
        values = over_collections(name, cells[name])
        low, high = np.quantile(draws[name], ends, axis=0)
        pairs = comparisons(better(name, values), better(name, draws[name]), level=level)
        standings[name] = Standing(name, values, low, high, cells[name], pairs)
    return Board(data, standings, aggregate, over, form, level, resamples, seed)


def _named(systems: set[str]) -> str:
    """Some names, in order."""
    names = sorted(systems)
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
