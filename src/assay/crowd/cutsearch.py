"""Every cut, or a climb among them, and the best with all its ties."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.crowd.cutways import Source

CLOSE = 1e-10
MOST_WORK = 20_000_000_000
"""Cuts × tasks beyond which trying all would take more than some minutes."""
MOST_SECONDS = 300
SECONDS_PER_TASK = 1.1e-8
SECONDS_PER_PART = 1.5e-7
"""Measured on 161,700 cuts of the 0–100 labels of TREC-8, by task and by topic."""
STARTS = 9
MOST_ROUNDS = 50
"""A climb that still moves after this many rounds over its points ends where it is."""
KEPT_TIES = 10_000
BLOCK = 500_000
MANY_TIES = 0.5


@dataclass(frozen=True)
class BestCut:
    """The best cut of one topic (or of all): its points, α, the range of tied cuts, and what is wrong with it."""

    topic: str
    points: tuple[float, ...]
    alpha: float
    tied: int
    low: tuple[float, ...]
    high: tuple[float, ...]
    trouble: str = ""


@dataclass(frozen=True)
class SearchCost:
    """What trying all cuts would cost: cuts, tasks (or topics) with an α of their own, and seconds, roughly."""

    cuts: int
    tasks: int
    parts: int

    @property
    def seconds(self) -> float:
        """On a machine of 2024, to an order of magnitude."""
        return self.cuts * (SECONDS_PER_TASK * self.tasks + SECONDS_PER_PART * self.parts)

    @property
    def search(self) -> str:
        """`exact` where trying all cuts takes minutes at most, else `climb`."""
        if self.seconds > MOST_SECONDS or self.cuts * self.tasks > MOST_WORK:
            return "climb"
        return "exact"

    def in_words(self) -> str:
        """What will be done, and how long it takes."""
        work = f"{self.cuts:,} cuts × {self.tasks:,} tasks"
        if self.search == "exact":
            return f"{work}: all are tried, about {max(1, round(self.seconds)):,} s"
        return f"{work} would take about {self.seconds / 60:,.0f} min; climbing from {STARTS} starts instead"


def every(places: int, points: int, groups: int) -> Iterator[Ints]:
    """All cuts of `points` points among the places, in lexicographic order and blocks; `groups` will be scored."""
    count = comb(places, points)
    if count * groups > MOST_WORK:
        raise UsageError(
            f"{count} cuts × {groups} tasks are too many to try all; use search='climb', a D way, or Tw_alpha"
        )
    if points == 1:
        yield np.arange(places)[:, None]
        return
    rest = combinations(places, points - 1)
    for first in range(places - points + 1):
        tail = _from_first(rest, first + 1)
        for start in range(0, len(tail), BLOCK):
            block = tail[start : start + BLOCK]
            firsts = np.full(len(block), first)
            yield np.column_stack([firsts, block])


def combinations(n: int, k: int) -> Ints:
    """All increasing k-tuples of 0 … n−1, one per row, in lexicographic order.

    >>> combinations(3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    if k == 1:
        return np.arange(n)[:, None]
    rest = combinations(n, k - 1)
    tails = [_from_first(rest, first + 1) for first in range(n - k + 1)]
    sizes = [len(tail) for tail in tails]
    firsts = np.repeat(np.arange(len(tails)), sizes)
    return np.column_stack([firsts, np.concatenate([*tails, rest[:0]])])


def _from_first(rows: Ints, least: int) -> Ints:
    """The rows, in lexicographic order, whose first value is at least this."""
    return rows[np.searchsorted(rows[:, 0], least) :]


def climbed(score: Callable[[Ints], Floats], places: int, points: int) -> Iterator[Ints]:
    """Local maxima: from starts spread over the scale, the best place for one point at a time until none moves."""
    ends = []
    for bend in np.linspace(0.5, 1.5, STARTS):
        cut = _spread(places, points, bend)
        for _ in range(MOST_ROUNDS):
            before = cut
            for j in range(points):
                cut = _moved(score, cut, j, places)
            if (cut == before).all():
                break
        ends.append(cut)
    yield np.unique(ends, axis=0)


def _spread(places: int, points: int, bend: float) -> Ints:
    """Different places spread over the scale: evenly for a bend of 1, towards the top below 1."""
    share = np.arange(1, points + 1) / (points + 1)
    highest = places - 1
    cut = np.floor(share**bend * highest).astype(np.int64)
    # Two points on one place are moved apart, upwards.
    apart = np.arange(points)
    lowest_free = np.maximum.accumulate(cut - apart)
    return lowest_free + apart


def _moved(score: Callable[[Ints], Floats], cut: Ints, j: int, places: int) -> Ints:
    """The cut with its j-th point at the best place between its neighbours; it stays where nothing is better."""
    low = cut[j - 1] + 1 if j else 0
    high = cut[j + 1] if j + 1 < len(cut) else places
    tried = np.repeat(cut[None], high - low, axis=0)
    tried[:, j] = np.arange(low, high)
    scores = score(tried)
    best = int(np.argmax(scores))
    now = scores[cut[j] - low]
    if scores[best] > now:
        return tried[best]
    return cut


class Keeper:
    """The best cuts seen so far, and all that tie with them."""

    def __init__(self) -> None:
        self.alpha = -np.inf
        self._forget()

    def _forget(self) -> None:
        self.tied = 0
        self.cuts: list[Ints] = []
        self.low: Ints | None = None
        self.high: Ints | None = None

    def add(self, cuts: Ints, alpha: Floats) -> None:
        """Look at more cuts."""
        top = float(alpha.max(initial=-np.inf))
        if not np.isfinite(top) or top < self.alpha - CLOSE:
            return
        if top > self.alpha + CLOSE:
            self._forget()
        self.alpha = max(self.alpha, top)
        is_best = alpha >= self.alpha - CLOSE
        equal = np.unique(cuts[is_best], axis=0)
        self.tied += len(equal)
        low = equal.min(axis=0)
        high = equal.max(axis=0)
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)
        kept = sum(map(len, self.cuts))
        if kept < KEPT_TIES:
            self.cuts.append(equal[:KEPT_TIES])

    def best(self, topic: str, parts: list[Source]) -> BestCut:
        """Of the tied cuts the one nearest to their middle."""
        if self.low is None or self.high is None:
            return BestCut(topic, (), np.nan, 0, (), (), "nothing varies: no cut has an α")
        tied = np.concatenate(self.cuts)
        distance = np.abs(tied - tied.mean(axis=0)).sum(axis=1)
        middle = tied[int(np.argmin(distance))]
        levels = np.array(parts[0].scale.levels)
        count = comb(len(levels) - 1, len(middle))
        trouble = _trouble(middle, parts)
        if not trouble and self.tied > MANY_TIES * count:
            trouble = f"{self.tied} of {count} cuts do as well"
        return BestCut(
            topic=topic,
            points=tuple(levels[middle].tolist()),
            alpha=self.alpha,
            tied=self.tied,
            low=tuple(levels[self.low].tolist()),
            high=tuple(levels[self.high].tolist()),
            trouble=trouble,
        )


def _trouble(cut: Ints, parts: list[Source]) -> str:
    """Why a best cut should not be trusted, or nothing."""
    x = np.concatenate([part.x for part in parts])
    labels = np.bincount(np.searchsorted(cut, x), minlength=len(cut) + 1)
    if (labels == len(x)).any():
        return "all labels fall on one level"
    empty = np.flatnonzero(labels == 0)
    if len(empty):
        return f"level {int(empty[0])} stays empty"
    targets = np.concatenate([part.target for part in parts])
    judged = targets[targets >= 0]
    if len(judged) and len(np.unique(judged)) == 1:
        return f"the target has grade {judged[0]:g} only"
    return ""
