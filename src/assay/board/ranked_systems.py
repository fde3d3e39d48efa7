"""Who leads over many collections, how surely, and does it depend on how one averages? `board` and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.board.aggregates import AGGREGATES, EXPLAINED, FORMATS, PER_TOPIC, better
from assay.board.common_set import CommonSet, common_set
from assay.board.standings import Standing, standings_on_like_these, standings_on_these
from assay.board.told_apart import OVER
from assay.core.arrays import Bools
from assay.core.errors import UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.rankings import kendall_tau_a
from assay.rankings.counts import settled
from assay.standard.factors import FORM
from assay.stats.max_t import EVERY_FLIP
from assay.stats.resampling import checked_generator, checked_resamples, checked_share, percent

UNITS = {
    "collections": "t over collections, which are taken as a sample of others like them",
    "topics": "t over topics, which are taken as a sample of others like them within these collections",
}
"""How the interval of a mean is made, by what the sample consists of."""


@dataclass(frozen=True, eq=False)
class Board(Result):
    """Systems over many collections by five aggregates. Rows go by one of them, `aggregate`; missing cells are counted.

    `top` limits the rows that tables and pictures show, never what was compared.

    >>> from assay.board import board
    >>> one = {"a": {"1": 0.1, "2": 0.5}, "b": {"1": 0.3, "2": 0.6}}
    >>> two = {"a": {"1": 0.2, "2": 0.2}, "b": {"1": 0.4, "2": 0.7}}
    >>> board({"first": one, "second": two}).table().column("system")
    ['b', 'a']
    """

    data: CommonSet
    standings: Mapping[str, Standing]
    aggregate: str
    over: str
    form: str
    level: float
    resamples: int | None
    seed: int
    top: int | None = None

    @property
    def unit(self) -> str:
        """What the sample consists of: collections, or their topics."""
        return "collection" if self.over == "collections" else "topic"

    @property
    def leading(self) -> Standing:
        """The aggregate that the rows go by."""
        return self.standings[self.aggregate]

    @property
    def draws(self) -> bool:
        """Whether flips of collections were drawn, so that their number and the seed have an effect."""
        return self.over == "collections" and len(self.data.collections) > EVERY_FLIP

    def best(self, top: int) -> Board:
        """The same board, of which only the `top` best systems are shown."""
        return replace(self, top=top)

    def agreed(self) -> Bools:
        """systems × systems: the first is significantly better than the second by every aggregate that has a test."""
        nothing = np.zeros((len(self.data.systems),) * 2, dtype=bool)
        return np.logical_and.reduce([standing.pairs.above for standing in self.decided]) if self.decided else nothing

    @property
    def verdict(self) -> str:
        """The finding in one sentence."""
        systems = self.data.systems
        firsts = {systems[standing.order[0]] for standing in self.standings.values()}
        first = systems[self.leading.order[0]]
        agree = (
            "first by every aggregate" if len(firsts) == 1 else f"other aggregates put others first ({_named(firsts)})"
        )
        where = f"{len(systems)} systems on {len(self.data.collections)} collections"
        return f"{first} leads {where} by {AGGREGATES[self.aggregate]}, {self._sure()}; {agree}"

    def _sure(self) -> str:
        """What the lead says of other topics, or of other collections."""
        pairs = self.leading.pairs
        if not pairs.decided:
            return f"which says nothing of {OVER[self.over]} ({pairs.how})"
        others = len(self.data.systems) - 1
        ahead = int(pairs.above[self.leading.order[0]].sum())
        on = f"on {OVER[self.over]}"
        if ahead == others:
            return f"{on} significantly better than all {others} others ({pairs.how})"
        return f"{on} significantly better than {ahead} of the {others} others ({pairs.how})"

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
        decided = leading.pairs.decided
        labels = leading.pairs.letters(order).labels if decided else ()
        rows: list[Sequence[Any]] = []
        for place, at in enumerate(order.tolist()):
            row: list[Any] = [self.data.systems[at], leading.ranks[at]]
            if decided:
                row += [leading.pairs.rank_low[at], leading.pairs.rank_high[at], labels[place]]
            else:
                row += [None, None, None]
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
        title = AGGREGATES[self.aggregate]
        notes = [self._of_pairs(level)]
        if np.isfinite(self.leading.low).any():
            notes.append(f"low, high: {level} interval of the {title}; {UNITS[self.over]}")
        else:
            notes.append(f"no interval of the {title}: {self._no_interval()}")
        return [*notes, *EXPLAINED, *self.data.notes()]

    def _of_pairs(self, level: str) -> str:
        """What ranks and letters rest on."""
        pairs = self.leading.pairs
        if not pairs.decided:
            return f"no letters and no ranks that a system may have: {pairs.how}"
        return (
            f"from, to: ranks that the system may have on {OVER[self.over]}, all systems considered together "
            f"({level}); systems that share a letter are not significantly different; {pairs.how}"
        )

    def _no_interval(self) -> str:
        if self.aggregate not in PER_TOPIC:
            return "ranks have the ends from and to"
        if self.over == "collections":
            return "too few collections, or values that hardly vary"
        return "values that hardly vary"

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
            first = systems[standing.order[0]]
            told: list[int | None] = [None, None, None]
            if standing.pairs.decided:
                told = [len(standing.first_group), int(standing.pairs.above.sum()), standing.neighbours_apart]
            rows.append([AGGREGATES[name], first, *told[:2], pairs, told[2], tau])
        firsts = {row[1] for row in rows}
        same_first = rows[0][1] if len(firsts) == 1 else None
        kept: list[int | None] = [None, None, None]
        if self.decided:
            kept = [len(self.common_group()), int(self.agreed().sum()), self._neighbours_agreed()]
        rows.append(["all of them", same_first, *kept[:2], pairs, kept[2], None])
        notes = [
            "group of the first: systems that are not significantly different from it, itself included; of all: those "
            "that are in every group",
            "neighbours apart: neighbours in the order that are significantly different; of all: neighbours in the "
            f"order by {AGGREGATES[self.aggregate]} that are so by every aggregate",
            f"τ: Kendall's τ-a with the order by {AGGREGATES[self.aggregate]}",
            *self._contradictions(),
            *self._of_tests(),
        ]
        keys = {"τ": "tau", "of pairs": "pairs", "pairs significant": "significant"}
        return Table.of(columns, rows, caption="What survives all aggregates", notes=notes, keys=keys)

    def _of_tests(self) -> list[str]:
        """How the aggregates were tested; those without a test, and why."""
        tests: dict[str, list[str]] = {}
        for name, standing in self.standings.items():
            tests.setdefault(standing.pairs.how, []).append(AGGREGATES[name])
        return [f"{', '.join(names)}: {how}" for how, names in tests.items()]

    @property
    def decided(self) -> list[Standing]:
        """The aggregates that have a test."""
        return [standing for standing in self.standings.values() if standing.pairs.decided]

    def common_group(self) -> list[str]:
        """Systems that are in the group of the first by every aggregate that has a test."""
        groups = [set(standing.first_group.tolist()) for standing in self.decided or self.standings.values()]
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
                may = [standing.pairs.rank_low[at], standing.pairs.rank_high[at]]
                ranks = may if standing.pairs.decided else [None, None]
                rows.append([self.data.systems[at], AGGREGATES[name], *ends, *ranks])
        keys = {"from": "rank_low", "to": "rank_high"}
        notes = [f"{percent(self.level)} intervals; {UNITS[self.over]}", *self._of_tests(), *self.data.notes()]
        return Table.of(columns, rows, caption="All aggregates with intervals", notes=notes, keys=keys)

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
            "test": self.leading.pairs.how,
            "decided": self.leading.pairs.decided,
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
    over: str = "collections",
    common: str = "systems",
    form: str = FORM,
    level: float = 0.95,
    resamples: int | None = None,
    seed: int = 0,
) -> Board:
    """Systems over many collections: mean, standardized mean, Borda, mean rank and win probability side by side.

    collections: {collection: scores}, a run of the same name in two of them is one system. aggregate: the one that
    orders the rows. over: what the sample consists of. "collections" speaks of collections like these, and says nothing
    with two of them and nothing of ranks with five; "topics" speaks of these collections, and says nothing of ranks.
    common: where cells are missing, keep the "systems" that are on all collections or the "collections" that have all
    systems. form: the form of the standardized scores. resamples: flips of more than 13 collections, by default 9,999,
    and 999 for more than 2,000 pairs; seed: of these.

    Letters, ranks that a system may have and the group of the first rest on all pairs at once.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> quality = np.array([[0.6], [0.4], [0.38]])
    >>> collections = {name: quality + rng.normal(0, 0.1, (3, 30)) for name in "abcdefgh"}
    >>> from assay.data import ScoreMatrix
    >>> made = board({name: ScoreMatrix.of(scores) for name, scores in collections.items()})
    >>> made.verdict
    'run1 leads 3 systems on 8 collections by standardized mean, on collections like these significantly better ...'
    >>> made.table().column("letters")
    ['a', 'b', 'b']
    """
    one_of("aggregate", aggregate, AGGREGATES)
    one_of("over", over, OVER)
    checked_share(level, "level")
    if resamples is not None:
        checked_resamples(resamples)
    checked_generator(seed)
    data = common_set(collections, common=common, form=form)
    if data.means_only and over == "topics":
        raise UsageError("only means are known, so there is no sample of topics; take collections as the sample")
    if over == "topics":
        standings = standings_on_these(data, form, level)
    else:
        standings = standings_on_like_these(data, form, level, resamples, seed)
    return Board(data, standings, aggregate, over, form, level, resamples, seed)


def _named(systems: set[str]) -> str:
    """Some names, in order."""
    names = sorted(systems)
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
