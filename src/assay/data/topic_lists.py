"""What did the runs retrieve for one topic? Their lists as a table of doc numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.core.arrays import Bools, Codes, Floats, Ints, true_cells
from assay.core.errors import DataError
from assay.core.ids import Ids

NONE = -1
"""Stands for a doc past the end of a list."""


@dataclass(frozen=True, eq=False)
class TopicLists:
    """The lists of one topic: `ranked[s, r]` is the number of the doc that run s has at rank r + 1, or −1.

    Docs are numbered in ascending order of their bytes; `items[d]` is the doc's place among the items of the whole.
    """

    topic: str
    runs: tuple[str, ...]
    docs: Ids
    ranked: Codes
    scores: Floats
    items: Ints

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Codes]:
        """Run, rank − 1 and doc of all that was retrieved."""
        run, place = true_cells(self.ranked >= 0)
        return run, place, self.ranked[run, place]

    @cached_property
    def ranks(self) -> Codes:
        """Rank of each doc in each run, runs × docs, 0 where the run has not retrieved it."""
        table = np.zeros((len(self.runs), len(self.docs)), dtype=np.int32)
        run, place, doc = self.cells
        table[run, doc] = place + 1
        return table

    @cached_property
    def sizes(self) -> Ints:
        """Length of each run's list."""
        return (self.ranked >= 0).sum(axis=1)

    def best_ranks(self) -> Ints:
        """The best rank of each doc in any run."""
        behind_all = np.iinfo(np.int32).max
        retrieved_at = np.where(self.ranks > 0, self.ranks, behind_all)
        return retrieved_at.min(axis=0).astype(np.int64)

    def shared(self) -> Ints:
        """runs × runs: docs in common."""
        every_run = np.arange(len(self.runs))[:, None]
        holds = np.zeros((len(self.runs), len(self.docs) + 1), dtype=np.float32)  # counts are exact below 2²⁴
        holds[every_run, self.ranked] = 1
        holds[:, NONE] = 0  # where the padding went
        return np.rint(holds @ holds.T).astype(np.int64)

    def number(self, doc: str) -> int:
        """The number of a doc; an error if no run has it."""
        number = self._numbers.get(doc)
        if number is None:
            raise DataError(
                f"topic {self.topic}: doc {doc!r} is not in the pool; judge docs that a run retrieved, or pool deeper"
            )
        return number

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {doc: number for number, doc in enumerate(self.docs)}

    def only(self, keep: Bools) -> TopicLists:
        """The lists without the other docs, closed up; docs keep their order."""
        new_number = np.where(keep, np.cumsum(keep) - 1, NONE)
        ranked = np.where(self.ranked >= 0, new_number[self.ranked], NONE).astype(np.int32)
        is_gone = ranked < 0
        order = np.argsort(is_gone, axis=1, kind="stable")
        depth = int((~is_gone).sum(axis=1).max(initial=0))
        kept_docs = np.flatnonzero(keep)
        return replace(
            self,
            docs=self.docs.take(kept_docs),
            ranked=np.take_along_axis(ranked, order, axis=1)[:, :depth],
            scores=np.take_along_axis(self.scores, order, axis=1)[:, :depth],
            items=self.items[kept_docs],
        )

    def cut(self, depth: int | None) -> TopicLists:
        """The lists down to a depth (or whole), without the docs that no run has there."""
        cut = replace(self, ranked=self.ranked[:, :depth], scores=self.scores[:, :depth])
        seen = np.zeros(len(self.docs), dtype=bool)
        seen[cut.ranked[cut.ranked >= 0]] = True
        return cut if seen.all() else cut.only(seen)
