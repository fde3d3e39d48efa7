"""What did the runs retrieve? Many runs, and judgments, coded once, so that all that compares runs works on integers.

Where it stands: runs, qrels → **lists** → similarity, pooling, methods without judgments. A distinct (topic, doc) is an
*item*; each retrieved doc is a row (run, topic, rank, item). Counting is then `bincount`: nothing loops over docs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Codes, Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.core.ids import Ids, coded
from assay.core.registry import did_you_mean
from assay.data import Qrels, Run, RunInfo
from assay.data.grades import UNJUDGED

NONE = -1
"""Stands in `codes` and `ranked` past the end of a list."""


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
        run, place = np.nonzero(self.ranked >= 0)
        return run, place, self.ranked[run, place]

    @cached_property
    def ranks(self) -> Codes:
        """Rank of each doc in each run, runs × docs, 0 where the run has not retrieved it."""
        out = np.zeros((len(self.runs), len(self.docs)), dtype=np.int32)
        run, place, doc = self.cells
        out[run, doc] = place + 1
        return out

    @cached_property
    def sizes(self) -> Ints:
        """Length of each run's list."""
        return (self.ranked >= 0).sum(axis=1)

    def best_ranks(self) -> Ints:
        """The best rank of each doc in any run."""
        return np.where(self.ranks > 0, self.ranks, np.iinfo(np.int32).max).min(axis=0).astype(np.int64)

    def shared(self) -> Ints:
        """runs × runs: docs in common."""
        held = np.zeros((len(self.runs), len(self.docs) + 1), dtype=np.float32)  # counts are exact below 2²⁴
        held[np.arange(len(self.runs))[:, None], self.ranked] = 1
        held[:, NONE] = 0  # where the padding went
        return np.rint(held @ held.T).astype(np.int64)

    def number(self, doc: str) -> int:
        """The number of a doc; an error if no run has it."""
        found = self._numbers.get(doc)
        if found is None:
            raise DataError(
                f"topic {self.topic}: doc {doc!r} is not in the pool; judge docs that a run retrieved, or pool deeper"
            )
        return found

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {doc: number for number, doc in enumerate(self.docs)}

    def only(self, keep: Bools) -> TopicLists:
        """The lists without the other docs, closed up; docs keep their order."""
        numbers = np.where(keep, np.cumsum(keep) - 1, NONE).astype(np.int32)
        ranked = np.where(self.ranked >= 0, numbers[self.ranked], NONE).astype(np.int32)
        order = np.argsort(ranked < 0, axis=1, kind="stable")
        depth = int((ranked >= 0).sum(axis=1).max(initial=0))
        kept = np.flatnonzero(keep)
        return replace(
            self,
            docs=self.docs.take(kept),
            ranked=np.take_along_axis(ranked, order, axis=1)[:, :depth],
            scores=np.take_along_axis(self.scores, order, axis=1)[:, :depth],
            items=self.items[kept],
        )

    def cut(self, depth: int | None) -> TopicLists:
        """The lists down to a depth (or whole), without the docs that no run has there."""
        cut = replace(self, ranked=self.ranked[:, :depth], scores=self.scores[:, :depth])
        seen = np.zeros(len(self.docs), dtype=bool)
        seen[cut.ranked[cut.ranked >= 0]] = True
        return cut if seen.all() else cut.only(seen)


@dataclass(frozen=True, eq=False)
class Lists:
    """The ranked docs of several runs: rows grouped by run, then topic, best first.

    The rows of run r on topic t are `bounds[r·T + t]:bounds[r·T + t + 1]`, T the number of topics. Items, every doc of
    a topic that a run retrieved or that was judged, stand in the order of topics and, within a topic, of the bytes of
    the doc id, so that an item's number also settles ties. `grades` are theirs, UNJUDGED where there is none.

    >>> lists = collected([Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})])
    >>> lists.item.tolist(), lists.rank.tolist(), lists.docs.tolist()
    ([0, 1, 1, 2], [1, 2, 1, 2], ['x', 'y', 'z'])
    >>> lists.holders().tolist(), lists.topic(0).ranked.tolist()
    ([1, 2, 1], [[0, 1], [1, 2]])
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    bounds: Ints
    item: Ints
    scores: Floats
    topic_of_item: Ints
    docs: Ids
    grades: Codes
    infos: tuple[RunInfo, ...]
    dropped: tuple[str, ...] = ()
    """Topics that a run answers and that are left out."""

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

    @property
    def groups(self) -> tuple[str, ...]:
        """The group of each run; its own name where none is known."""
        return tuple(info.group or run for run, info in zip(self.runs, self.infos, strict=True))

    @property
    def top(self) -> int:
        """The highest grade, at least 1."""
        return int(self.grades.max(initial=1))

    @property
    def depth(self) -> int:
        """Length of the longest list."""
        return int(self.sizes.max(initial=0))

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
        return np.repeat(np.arange(len(self.runs)), np.diff(self.run_bounds))

    @cached_property
    def run_bounds(self) -> Ints:
        """Where the rows of each run begin, and the end."""
        return np.concatenate([[0], np.cumsum(self.sizes.sum(axis=1))])

    @cached_property
    def item_bounds(self) -> Ints:
        """Where the items of each topic begin, and the end."""
        return np.searchsorted(self.topic_of_item, np.arange(len(self.topics) + 1))

    @cached_property
    def codes(self) -> Codes:
        """The item at each rank, runs × topics × depth, −1 past the end of a list: 4 bytes for each place."""
        out = np.full((*self.shape, self.depth), NONE, dtype=np.int32)
        out[np.arange(self.depth) < self.sizes[:, :, None]] = self.item
        return out

    def topic(self, t: int) -> TopicLists:
        """The lists of topic number t, with all items of the topic as docs."""
        items = np.arange(self.item_bounds[t], self.item_bounds[t + 1])
        starts, sizes = self.bounds[:-1][t :: len(self.topics)], self.sizes[:, t]
        place = np.arange(sizes.max(initial=0))
        inside = place < sizes[:, None]
        rows = np.where(inside, starts[:, None] + place, 0)
        ranked = np.where(inside, self.item[rows] - self.item_bounds[t], NONE).astype(np.int32)
        scores = np.where(inside, self.scores[rows], 0.0)
        return TopicLists(self.topics[t], self.runs, self.docs.take(items), ranked, scores, items)

    def matrix(self, weights: npt.NDArray[np.floating | np.integer | np.bool_] | None = None) -> Floats:
        """The sum of a weight per row (or the number of rows), runs × topics."""
        total = np.bincount(self.segment, weights, minlength=len(self.bounds) - 1)
        return np.asarray(total, dtype=np.float64).reshape(self.shape)

    def holders(self, rows: Bools | slice = slice(None)) -> Ints:
        """How many runs retrieved each item, counting only these rows."""
        return np.bincount(self.item[rows], minlength=self.items)

    def select(self, runs: Sequence[str]) -> Lists:
        """Only these runs, in this order, and only the items they retrieved or that are judged; the topics stay."""
        at = np.array([self._place(name) for name in runs], dtype=np.int64)
        rows = np.concatenate([np.arange(0), *(np.arange(self.run_bounds[r], self.run_bounds[r + 1]) for r in at)])
        return replace(self._kept(rows, self.sizes[at]), runs=tuple(runs), infos=tuple(self.infos[r] for r in at))

    def cut(self, depth: int) -> Lists:
        """Only the first `depth` docs of each run and topic, and only the items among them or judged."""
        if self.depth <= depth:
            return self
        return self._kept(np.flatnonzero(self.rank <= depth), np.minimum(self.sizes, depth))

    def graded(self, qrels: Qrels) -> Lists:
        """The same lists with the grades of these qrels; what they judge beyond the items is left out."""
        (ours, theirs), vocabulary = coded([self.docs, qrels.docs])
        place = {t: i for i, t in enumerate(self.topics)}
        topic = np.array([place.get(t, NONE) for t in qrels.topics], dtype=np.int64)[qrels.topic_of_row()]
        width = max(1, len(vocabulary))
        keys, wanted = self.topic_of_item * width + ours, topic * width + theirs
        at = np.searchsorted(keys, wanted)
        found = np.append(keys, NONE)[at] == np.where(topic >= 0, wanted, UNJUDGED)
        grades = np.full(self.items, UNJUDGED, dtype=np.int32)
        grades[at[found]] = qrels.grades[found]
        return replace(self, grades=grades)

    def relevant(self, rel: int = 1) -> Bools:
        """Whether each item is judged relevant."""
        return np.asarray(self.grades >= rel)

    def to_runs(self) -> list[Run]:
        """The lists as runs again, with scores that agree with the ranks.

        >>> lists = collected([Run.from_lists("a", {"1": ["y", "x"]}), Run.from_lists("b", {"1": ["x"]})])
        >>> lists.to_runs()[0].to_dict()
        {'1': {'y': -1.0, 'x': -2.0}}
        """
        bounds = [np.concatenate([[0], np.cumsum(sizes)]) for sizes in self.sizes]
        return [
            Run(name, self.topics, b, self.docs.take(self.item[a:z]), -self.rank[a:z].astype(np.float64), info=info)
            for name, info, b, (a, z) in zip(self.runs, self.infos, bounds, pairwise(self.run_bounds), strict=True)
        ]

    def _place(self, name: str) -> int:
        try:
            return self.runs.index(name)
        except ValueError:
            raise UsageError(f"no run {name!r}{did_you_mean(name, self.runs)}") from None

    def _kept(self, rows: Ints, sizes: Ints) -> Lists:
        """The lists of these rows, items numbered anew."""
        item = self.item[rows]
        used = self.grades != UNJUDGED
        used[item] = True
        return replace(
            self,
            bounds=np.concatenate([[0], np.cumsum(sizes)]),
            item=(np.cumsum(used) - 1)[item],
            scores=self.scores[rows],
            topic_of_item=self.topic_of_item[used],
            docs=self.docs.take(np.flatnonzero(used)),
            grades=self.grades[used],
        )


def collected(
    runs: Sequence[Run],
    qrels: Qrels | None = None,
    *,
    topics: Sequence[str] | None = None,
    depth: int | None = None,
    groups: Mapping[str, str] | None = None,
) -> Lists:
    """Runs (and judgments) as integers, to a depth. Topics: those given, else of the qrels, else of any run.

    A run that lacks a topic has an empty list there. A run's group is that of `groups`, else of its information, else
    its own name. A doc twice in a list, or a name twice, is an error.

    >>> lists = collected([Run.from_lists("a", {"1": ["x"]})], Qrels.from_dict({"1": {"w": 1, "x": 0}}))
    >>> lists.docs.tolist(), lists.item.tolist(), lists.grades.tolist()
    (['w', 'x'], [1], [1, 0])
    """
    check_names(runs)
    if depth is not None and depth < 1:
        raise UsageError(f"depth is {depth}; a list is cut at 1 doc or deeper")
    if topics is None:
        topics = qrels.topics if qrels is not None else natural_order({t for run in runs for t in run.topics})
    cut = [run if depth is None or np.diff(run.bounds).max(initial=0) <= depth else run.cut(depth) for run in runs]
    tables = [_in_order(run, topics) for run in cut] + ([] if qrels is None else [_in_order(qrels, topics)])
    sizes = np.array([size for _, _, size in tables])
    item, topic_of_item, docs = _coded([docs for docs, _, _ in tables], sizes)
    rows, grades = int(sizes[: len(runs)].sum()), np.full(len(docs), UNJUDGED, dtype=np.int32)
    if qrels is not None:
        grades[item[rows:]] = tables[-1][1]
    lists = Lists(
        runs=tuple(run.name for run in runs),
        topics=tuple(topics),
        bounds=np.concatenate([[0], np.cumsum(sizes[: len(runs)])]),
        item=item[:rows],
        scores=np.concatenate([scores for _, scores, _ in tables[: len(runs)]]),
        topic_of_item=topic_of_item,
        docs=docs,
        grades=grades,
        infos=tuple(replace(run.info, group=(groups or {}).get(run.name) or run.info.group) for run in runs),
        dropped=_dropped(runs, topics),
    )
    _refuse_duplicates(lists)
    return lists


def check_names(runs: Sequence[Run]) -> None:
    """Refuse no runs at all, and two of one name."""
    if not runs:
        raise UsageError("no runs; give at least one")
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise DataError(f"run {twice!r} is there twice; names must differ")


def _in_order(table: Run | Qrels, topics: Sequence[str]) -> tuple[Ids, Floats | Ints, Ints]:
    """Docs, scores (or grades) and their number per topic, on these topics in their order."""
    values = table.scores if isinstance(table, Run) else table.grades
    sizes = np.zeros(len(topics), dtype=np.int64)
    place = {t: i for i, t in enumerate(topics)}
    at = np.array([place.get(t, NONE) for t in table.topics], dtype=np.int64)
    sizes[at[at >= 0]] = np.diff(table.bounds)[at >= 0]
    if (np.diff(at, prepend=-1) > 0).all():
        return table.docs, values, sizes
    of_row = at[table.topic_of_row()]
    order = np.argsort(of_row, kind="stable")[int(np.sum(of_row < 0)) :]
    return table.docs.take(order), values[order], sizes


def _coded(columns: Sequence[Ids], sizes: Ints) -> tuple[Ints, Ints, Ids]:
    """The item of each row, and the topic and doc of each item; sizes: rows of each column on each topic."""
    codes, vocabulary = coded(columns)
    topics, width = sizes.shape[1], max(1, len(vocabulary))
    topic = np.repeat(np.tile(np.arange(topics), len(columns)), sizes.ravel())
    keys, item = _distinct(topic * width + np.concatenate(codes), topics * width)
    return item, keys // width, vocabulary.take(keys % width)


def _distinct(keys: Ints, below: int) -> tuple[Ints, Ints]:
    """The distinct keys, all less than `below`, ascending, and the number of each key among them."""
    if below > 16 * len(keys):
        return np.unique(keys, return_inverse=True)
    present = np.zeros(below, dtype=bool)  # a table of all keys is faster than sorting those that occur
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


def _dropped(runs: Sequence[Run], topics: Sequence[str]) -> tuple[str, ...]:
    answered = {t for run in runs for t, n in zip(run.topics, np.diff(run.bounds), strict=True) if n}
    return tuple(natural_order(answered - set(topics)))


def _refuse_duplicates(lists: Lists) -> None:
    last = np.zeros(lists.items, dtype=np.int64)
    for r, (a, b) in enumerate(pairwise(lists.run_bounds)):
        items = lists.item[a:b]
        last[items] = np.arange(len(items))
        twice = np.flatnonzero(last[items] != np.arange(len(items)))
        if len(twice):
            i = int(items[twice[0]])
            topic = lists.topics[lists.topic_of_item[i]]
            raise DataError(f"run {lists.runs[r]!r}: doc {lists.docs[i]!r} is there twice on topic {topic!r}; keep one")
