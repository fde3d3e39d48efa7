"""What does the pool hide? Each run (or group) left out of the pool in turn: what it alone found, and what it loses.

Where it stands: lists with judgments → **leave-one-out** → the adjustment in `adjust`. The docs that only the
left-out run has in the first `depth` are hidden, as if never judged, and the run is scored again. What nobody judged
in the first place counts as not relevant throughout: a change is due to the hidden docs alone (Webber 2010, ch. 6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Bools, Codes, Floats, Ints
from assay.core.errors import DataError
from assay.core.tables import Table, shown
from assay.data.grades import UNJUDGED
from assay.data.lists import Lists
from assay.pooling.rescoring import TREATMENTS, check_judged, rescored, without
from assay.pooling.voters import contributors


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Every run scored with the whole pool and with the pool that lacks it (or its group)."""

    runs: tuple[str, ...]
    groups: tuple[str, ...]
    alone: Ints
    relevant_alone: Ints
    pooled: Floats
    """Mean score with all judgments, unjudged docs not relevant."""
    unpooled: dict[str, Floats]
    """Mean score when left out, for each treatment of the hidden docs."""
    rank: Ints
    rank_unpooled: Ints
    measure: str
    depth: int
    by: str
    topics: int

    @property
    def loss(self) -> Floats:
        """Score left out minus score pooled, unjudged docs not relevant: the pool's bias against the run."""
        return self.unpooled["nonrelevant"] - self.pooled

    def table(self) -> Table:
        """One row per run, the greatest loss first."""
        change = np.divide(self.loss, self.pooled, out=np.zeros_like(self.loss), where=self.pooled > 0)
        order = np.lexsort((np.arange(len(self.runs)), self.loss))
        grouped = self.groups != self.runs
        rows = [
            (
                self.runs[i], *([self.groups[i]] if grouped else []), self.alone[i], self.relevant_alone[i],
                self.pooled[i], self.unpooled["nonrelevant"][i], self.loss[i], 100 * change[i],
                self.unpooled["condensed"][i], self.unpooled["relevant"][i], self.rank[i], self.rank_unpooled[i],
            )
            for i in order
        ]  # fmt: skip
        formats = {
            "run": "", **({"group": ""} if grouped else {}), "alone": "d", "relevant": "d", "pooled": ".4f",
            "left out": ".4f", "Δ": "+.4f", "Δ %": "+.1f", "condensed": ".4f", "at most": ".4f", "rank": "d",
            "then": "d",
        }  # fmt: skip
        return Table.of(formats, rows, caption=f"Leave one {self.by} out, {self.measure}", notes=self.notes())

    def notes(self) -> list[str]:
        """The recipe and the sum of it."""
        worst = int(self.loss.argmin())
        loss = shown(self.loss[worst], "+.4f")
        return [
            f"pool depth {self.depth}, {self.topics} topics",
            f"alone: judged docs in the first {self.depth} of no other {self.by}; relevant: how many of them are",
            "left out: they count as not relevant; condensed: they are taken out of the list; at most: they are of the "
            "top grade",
            "then: the rank left out, among the others with the whole pool",
            f"mean Δ {shown(self.loss.mean(), '+.4f')}, greatest loss {loss} ({self.runs[worst]})",
        ]


def left_out(lists: Lists, measure: str = "AP", *, depth: int = 100, by: str = "run", rel: int = 1) -> LeftOut:
    """Leave each run, or with by="group" each group, out of the pool of that depth, and score it again.

    The docs that it alone brought count as not relevant, are taken out of its list (condensed), or are of the top grade
    (relevant). A run that alone retrieved a topic loses all judgments of that topic. One run (or group) alone has no
    pool to be left out of, and without judgments of its docs there is nothing to hide: both are errors. For measures
    that divide by the number of relevant docs, that number falls too.

    >>> from assay.data import Qrels, Run
    >>> from assay.data.lists import collected
    >>> runs = [Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})]
    >>> result = left_out(collected(runs, Qrels.from_dict({"1": {"x": 1, "y": 0, "z": 1}})), "P@2", depth=2)
    >>> result.pooled.tolist(), result.unpooled["nonrelevant"].tolist()
    ([0.5, 0.5], [0.0, 0.0])
    """
    names, has = contributors(lists, depth, by=by)
    if len(names) < 2:
        raise DataError(f"one {by} alone ({names[0]}); leaving it out leaves no pool: give at least two {by}s")
    check_judged(lists)
    labels = lists.runs if by == "run" else lists.groups
    only = unique_items(has)
    judged = lists.grades != UNJUDGED
    hit = lists.relevant(rel)
    pooled = rescored(lists, measure).mean(axis=1)
    unpooled = {how: np.zeros(len(lists.runs)) for how in TREATMENTS}
    for i, name in enumerate(names):
        runs = [s for s, label in enumerate(labels) if label == name]
        for how in TREATMENTS:
            base = lists.grades if how == "nonrelevant" else _filled(lists, runs)
            grades = without(base, only[i])
            unpooled[how][runs] = rescored(lists, measure, grades=grades, runs=runs, unjudged=how).mean(axis=1)
    place = [names.index(label) for label in labels]
    return LeftOut(
        lists.runs,
        lists.groups,
        (only & judged).sum(axis=1)[place],
        (only & hit).sum(axis=1)[place],
        pooled,
        unpooled,
        *_ranks(pooled, unpooled["nonrelevant"]),
        measure,
        depth,
        by,
        len(lists.topics),
    )


def _filled(lists: Lists, runs: list[int]) -> Codes:
    """The grades, those docs of the runs that nobody judged counting as judged and not relevant."""
    own = np.zeros(lists.items, dtype=bool)
    for r in runs:
        own[lists.item[lists.run_bounds[r] : lists.run_bounds[r + 1]]] = True
    return np.where(own & (lists.grades == UNJUDGED), 0, lists.grades).astype(np.int32)


def unique_items(has: Bools) -> Bools:
    """Of a table contributors × items the items that one contributor alone has."""
    return np.asarray(has & (has.sum(axis=0) == 1))


def _ranks(pooled: Floats, unpooled: Floats) -> tuple[Ints, Ints]:
    """Rank of each run among all, and with its unpooled score among the others' pooled ones; ties share the best."""
    better = np.round(pooled[None, :] - pooled[:, None], 12) > 0
    against = np.round(pooled[None, :] - unpooled[:, None], 12) > 0
    np.fill_diagonal(against, False)
    return 1 + better.sum(axis=1), 1 + against.sum(axis=1)
