"""Lists: all runs of a collection in one coded form, on which every method without judgments works.

Where the flow stands: runs → **lists** → a runs × topics matrix of predicted scores. A distinct (topic, doc) is an
*item*; each retrieved doc is a row (run, topic, rank, item). Counting is then `bincount`: no method loops over docs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from assay.data import Qrels, Run, RunInfo, natural_order
from assay.errors import DataError, UsageError
from assay.ids import Ids, Ints, coded
from assay.registry import did_you_mean

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

UNJUDGED = -(2**31)
"""The grade of an item that the qrels do not have."""


@dataclass(frozen=True, eq=False)
class Lists:
    """The ranked docs of several runs: rows grouped by run, then topic, best first.

    The rows of run r on topic t are `bounds[r·T + t]:bounds[r·T + t + 1]`, T the number of topics. Items stand in the
    order of topics and, within a topic, of the bytes of the doc id, so that an item's number also settles ties.

    >>> lists = collected([Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})])
    >>> lists.item.tolist(), lists.rank.tolist(), lists.docs.tolist()
    ([0, 1, 1, 2], [1, 2, 1, 2], ['x', 'y', 'z'])
    >>> lists.holders().tolist()
    [1, 2, 1]
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    bounds: Ints
    item: Ints
    scores: Floats
    topic_of_item: Ints
    docs: Ids
    infos: tuple[RunInfo, ...]
    lonely: tuple[str, ...] = ()
    """Topics that one run alone answered: nothing can be learnt there, and they are left out."""

    def __len__(self) -> int:
        return len(self.item)

    @property
    def shape(self) -> tuple[int, int]:
        """(number of runs, number of topics)."""
        return len(self.runs), len(self.topics)

    @property
    def items(self) -> int:
        """How many distinct (topic, doc) there are."""
        return len(self.topic_of_item)

    @cached_property
    def sizes(self) -> Ints:
        """Retrieved docs, runs × topics."""
        return np.diff(self.bounds).reshape(self.shape)

    @cached_property
    def segment(self) -> Ints:
        """run · T + topic of each row."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @cached_property
    def rank(self) -> Ints:
        """The rank of each row, from 1."""
        return np.arange(1, len(self) + 1) - np.repeat(self.bounds[:-1], np.diff(self.bounds))

    @cached_property
    def run(self) -> Ints:
        """The run of each row."""
        return np.repeat(np.arange(len(self.runs)), self.sizes.sum(axis=1))

    @cached_property
    def item_bounds(self) -> Ints:
        """Where the items of each topic begin, and the end."""
        return np.searchsorted(self.topic_of_item, np.arange(len(self.topics) + 1))

    def matrix(self, weights: npt.NDArray[np.floating | np.integer | np.bool_] | None = None) -> Floats:
        """The sum of a weight per row (or the number of rows), runs × topics."""
        total = np.bincount(self.segment, weights, minlength=len(self.bounds) - 1)
        return np.asarray(total, dtype=np.float64).reshape(self.shape)

    def holders(self, rows: Mask | slice = slice(None)) -> Ints:
        """How many runs retrieved each item, counting only these rows."""
        return np.bincount(self.item[rows], minlength=self.items)

    def select(self, runs: Sequence[str]) -> Lists:
        """Only these runs, in this order, and only the items they retrieved; the topics stay."""
        at = np.array([self._place(name) for name in runs], dtype=np.int64)
        topics = len(self.topics)
        rows = np.concatenate(
            [np.arange(0), *(np.arange(self.bounds[r * topics], self.bounds[(r + 1) * topics]) for r in at)]
        )
        return self._kept(rows, self.sizes[at], tuple(runs), tuple(self.infos[r] for r in at))

    def cut(self, depth: int) -> Lists:
        """Only the first `depth` docs of each run and topic, and only the items among them."""
        if self.sizes.max(initial=0) <= depth:
            return self
        rows = np.flatnonzero(self.rank <= depth)
        return self._kept(rows, np.minimum(self.sizes, depth), self.runs, self.infos)

    def relevant(self, qrels: Qrels, *, rel: int = 1) -> Mask:
        """Which items the qrels judge relevant (grade ≥ rel)."""
        return self.grades(qrels) >= rel

    def grades(self, qrels: Qrels, *, unjudged: int = UNJUDGED) -> Ints:
        """The grade of each item, or `unjudged`."""
        (ours, theirs), vocabulary = coded([self.docs, qrels.docs])
        place = {t: i for i, t in enumerate(self.topics)}
        topic = np.array([place.get(t, -1) for t in qrels.topics], dtype=np.int64)[qrels.topic_of_row()]
        width = max(1, len(vocabulary))
        keys = self.topic_of_item * width + ours
        judged = np.flatnonzero(topic >= 0)
        at = np.searchsorted(keys, wanted := topic[judged] * width + theirs[judged])
        found = keys.take(at, mode="clip") == wanted if len(keys) else np.zeros(len(at), dtype=bool)
        grades = np.full(self.items, unjudged, dtype=np.int64)
        grades[at[found]] = qrels.grades[judged[found]]
        return grades

    def to_runs(self) -> list[Run]:
        """The lists as runs again, with scores that agree with the ranks.

        >>> lists = collected([Run.from_lists("a", {"1": ["y", "x"]}), Run.from_lists("b", {"1": ["x"]})])
        >>> lists.to_runs()[0].to_dict()
        {'1': {'y': -1.0, 'x': -2.0}}
        """
        ends = self.bounds[:: len(self.topics)]
        bounds = [self.bounds[r * len(self.topics) : (r + 1) * len(self.topics) + 1] for r in range(len(self.runs))]
        return [
            Run(name, self.topics, b - a, self.docs.take(self.item[a:z]), -self.rank[a:z].astype(np.float64), info=info)
            for name, info, b, a, z in zip(self.runs, self.infos, bounds, ends, ends[1:], strict=False)
        ]

    def _place(self, name: str) -> int:
        try:
            return self.runs.index(name)
        except ValueError:
            raise UsageError(f"no run {name!r}{did_you_mean(name, self.runs)}") from None

    def _kept(self, rows: Ints, sizes: Ints, runs: tuple[str, ...], infos: tuple[RunInfo, ...]) -> Lists:
        """The lists of these rows, items numbered anew."""
        item = self.item[rows]
        used = np.zeros(self.items, dtype=bool)
        used[item] = True
        return replace(
            self,
            runs=runs,
            bounds=np.concatenate([[0], np.cumsum(sizes)]),
            item=(np.cumsum(used) - 1)[item],
            scores=self.scores[rows],
            topic_of_item=self.topic_of_item[used],
            docs=self.docs.take(np.flatnonzero(used)),
            infos=infos,
        )


def collected(runs: Sequence[Run], *, depth: int = 1000) -> Lists:
    """The runs as Lists, each cut at `depth`; topics are those that two runs or more answer, in natural order.

    A run that lacks a topic has an empty list there. Without judgments a run is known only by the others: topics that
    one run alone answers are left out and named in `lonely`; one run, or no topic in common, is an error.
    """
    _check(runs)
    answered = Counter(t for r in runs for t, n in zip(r.topics, np.diff(r.bounds), strict=True) if n)
    topics = tuple(natural_order(t for t, n in answered.items() if n > 1))
    if not topics:
        raise DataError("the runs have no topic in common; methods without judgments compare runs on the same topics")
    cut = [_in_topic_order(r.cut(depth) if np.diff(r.bounds).max(initial=0) > depth else r, topics) for r in runs]
    codes, vocabulary = coded([docs for docs, _, _ in cut])
    sizes = np.array([s for _, _, s in cut])
    topic = np.repeat(np.tile(np.arange(len(topics)), len(runs)), sizes.ravel())
    width = max(1, len(vocabulary))
    keys, item = np.unique(topic * width + np.concatenate(codes), return_inverse=True)
    lists = Lists(
        runs=tuple(r.name for r in runs),
        topics=topics,
        bounds=np.concatenate([[0], np.cumsum(sizes)]),
        item=item.astype(np.int64),
        scores=np.concatenate([scores for _, scores, _ in cut]),
        topic_of_item=keys // width,
        docs=vocabulary.take(keys % width),
        infos=tuple(r.info for r in runs),
        lonely=tuple(natural_order(t for t, n in answered.items() if n == 1)),
    )
    _refuse_duplicates(lists)
    return lists


def average_precision(lists: Lists, relevant: Mask, *, totals: npt.ArrayLike | None = None) -> Floats:
    """AP of every run on every topic with these items relevant, runs × topics.

    AP = 1/R · Σ over relevant retrieved docs of (their number so far)/rank; R counts the relevant items of the topic,
    or is given by `totals`. No relevant doc: 0.

    >>> lists = collected([Run.from_lists("a", {"1": ["x", "y", "z"]}), Run.from_lists("b", {"1": ["y", "z"]})])
    >>> average_precision(lists, np.array([True, False, True])).round(4).tolist()
    [[0.8333], [0.25]]
    """
    hit = np.flatnonzero(relevant[lists.item])
    segment = lists.segment[hit]
    found = np.bincount(segment, minlength=len(lists.bounds) - 1)
    nth = np.arange(1, len(hit) + 1) - (np.cumsum(found) - found)[segment]
    gained = np.bincount(segment, nth / lists.rank[hit], minlength=len(found)).reshape(lists.shape)
    if totals is None:
        totals = np.bincount(lists.topic_of_item[relevant], minlength=len(lists.topics))
    return gained / np.maximum(np.asarray(totals, dtype=np.float64), 1.0)


def best_share(
    lists: Lists, keys: Sequence[npt.NDArray[np.floating | np.integer]], members: Mask, share: float
) -> Mask:
    """The best `share` (rounded up) of each topic's member items: keys ascending, the first deciding, then doc id.

    >>> lists = collected([Run.from_lists("a", {"1": ["x", "y", "z"]}), Run.from_lists("b", {"1": ["y", "z"]})])
    >>> best_share(lists, [np.array([2, 1, 1])], np.array([True, True, True]), 0.3).tolist()
    [False, True, False]
    """
    if not 0 < share <= 1:
        raise UsageError(f"share: must lie in (0, 1], not {share}; 0.3 takes the best 30 %")
    pool = np.flatnonzero(members)
    topic = lists.topic_of_item[pool]
    order = pool[np.lexsort([k[pool] for k in reversed(keys)] + [topic])]
    size = np.bincount(topic, minlength=len(lists.topics))
    nth = np.arange(len(order)) - (np.cumsum(size) - size)[lists.topic_of_item[order]]
    # 0.3 · 10 is 3.0000000000000004 in floats: round first, so that ceil does not take a fourth.
    wanted = np.ceil(np.round(share * size, 9))
    chosen = np.zeros(lists.items, dtype=bool)
    chosen[order[nth < wanted[lists.topic_of_item[order]]]] = True
    return chosen


def _check(runs: Sequence[Run]) -> None:
    if len(runs) < 2:
        raise DataError(f"{len(runs)} run(s) given; without judgments a run is known only by others: give two or more")
    names = [r.name for r in runs]
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise DataError(f"run {twice!r} is there twice; names must differ")


def _in_topic_order(run: Run, topics: tuple[str, ...]) -> tuple[Ids, Floats, Ints]:
    """Docs, scores and list lengths of a run on these topics, in their order."""
    sizes = np.zeros(len(topics), dtype=np.int64)
    place = {t: i for i, t in enumerate(topics)}
    at = np.array([place.get(t, -1) for t in run.topics], dtype=np.int64)
    sizes[at[at >= 0]] = np.diff(run.bounds)[at >= 0]
    if (np.diff(at, prepend=-1) > 0).all():
        return run.docs, run.scores, sizes
    of_row = at[run.topic_of_row()]
    order = np.argsort(of_row, kind="stable")[int(np.sum(of_row < 0)) :]
    return run.docs.take(order), run.scores[order], sizes


def _refuse_duplicates(lists: Lists) -> None:
    last = np.zeros(lists.items, dtype=np.int64)
    ends = lists.bounds[:: len(lists.topics)]
    for r, (a, b) in enumerate(pairwise(ends)):
        items = lists.item[a:b]
        last[items] = np.arange(len(items))
        twice = np.flatnonzero(last[items] != np.arange(len(items)))
        if len(twice):
            i = int(items[twice[0]])
            topic = lists.topics[lists.topic_of_item[i]]
            raise DataError(f"run {lists.runs[r]!r}: doc {lists.docs[i]!r} is there twice on topic {topic!r}; keep one")
