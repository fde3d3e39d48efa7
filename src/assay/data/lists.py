"""What did the runs retrieve? Many runs, and judgments, coded once, so that all that compares runs works on integers.

Where it stands: runs, qrels → **lists** → similarity, pooling, methods without judgments. A distinct (topic, doc) is an
*item*; each retrieved doc is a row (run, topic, rank, item). Counting is then `bincount`: nothing loops over docs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Codes, Floats, Ints, sealed
from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.core.ids import Ids, coded
from assay.core.registry import did_you_mean
from assay.data import Qrels, Run, RunInfo
from assay.data.given import small_grades
from assay.data.grades import UNJUDGED
from assay.data.topic_lists import NONE, TopicLists
from assay.data.topic_rows import bounds_of, counted

__all__ = ["NONE", "Lists", "TopicLists", "check_names", "collected"]


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """The ranked docs of several runs: rows grouped by run, then topic, best first.

    The rows of run r on topic t are `bounds[r·T + t]:bounds[r·T + t + 1]`, T the number of topics. Items, every doc of
    a topic that a run retrieved or that is in the pool of the qrels, stand in the order of topics and, within a topic,
    of the bytes of the doc id, so that an item's number also settles ties. `grades` are theirs: UNJUDGED for items
    that are not in the pool, negative for those that are in it and not judged.

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
    grades: npt.NDArray[Any]
    infos: tuple[RunInfo, ...]
    dropped: tuple[str, ...] = ()
    """Topics that a run answers and that are left out."""

    def __len__(self) -> int:
        return len(self.item)

    def __repr__(self) -> str:
        sizes = [counted(len(self.runs), "run"), counted(len(self.topics), "topic"), counted(len(self), "doc")]
        return f"Lists({', '.join(sizes)})"

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
        groups = []
        for run, info in zip(self.runs, self.infos, strict=True):
            groups.append(info.group or run)
        return tuple(groups)

    @property
    def top(self) -> float:
        """The highest grade, at least 1."""
        return max(1, self.grades.max(initial=1).item())

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
        start_of_row = np.repeat(self.bounds[:-1], np.diff(self.bounds))
        return np.arange(1, len(self) + 1) - start_of_row

    @cached_property
    def run(self) -> Ints:
        """The run of each row."""
        return np.repeat(np.arange(len(self.runs)), np.diff(self.run_bounds))

    @cached_property
    def run_bounds(self) -> Ints:
        """Where the rows of each run begin, and the end."""
        return bounds_of(self.sizes.sum(axis=1))

    @cached_property
    def item_bounds(self) -> Ints:
        """Where the items of each topic begin, and the end."""
        return np.searchsorted(self.topic_of_item, np.arange(len(self.topics) + 1))

    @cached_property
    def codes(self) -> Codes:
        """The item at each rank, runs × topics × depth, −1 past the end of a list: 4 bytes for each place."""
        table = np.full((*self.shape, self.depth), NONE, dtype=np.int32)
        place = np.arange(self.depth)
        inside = place < self.sizes[:, :, None]
        table[inside] = self.item
        return table

    def topic(self, t: int) -> TopicLists:
        """The lists of topic number t, with all items of the topic as docs."""
        first_item = int(self.item_bounds[t])
        after = int(self.item_bounds[t + 1])
        items = np.arange(first_item, after)
        sizes = self.sizes[:, t]
        place = np.arange(sizes.max(initial=0))
        inside = place < sizes[:, None]
        # Row 0 stands in for places past the end of a list.
        starts = self.bounds[:-1][t :: len(self.topics)]
        rows = np.where(inside, starts[:, None] + place, 0)
        doc = self.item[rows] - first_item
        ranked = np.where(inside, doc, NONE).astype(np.int32)
        scores = np.where(inside, self.scores[rows], 0.0)
        docs = self.docs.take(items)
        return TopicLists(self.topics[t], self.runs, docs, ranked, scores, items)

    def matrix(self, weights: npt.NDArray[np.floating | np.integer | np.bool_] | None = None) -> Floats:
        """The sum of a weight per row (or the number of rows), runs × topics."""
        total = np.bincount(self.segment, weights, minlength=len(self.bounds) - 1)
        return np.asarray(total, dtype=np.float64).reshape(self.shape)

    def holders(self, rows: Bools | slice = slice(None)) -> Ints:
        """How many runs retrieved each item, counting only these rows."""
        return np.bincount(self.item[rows], minlength=self.items)

    def select(self, runs: Sequence[str]) -> Lists:
        """Only these runs, in this order, and only the items they retrieved or that are pooled; the topics stay."""
        places = [self._place(name) for name in runs]
        rows = [np.arange(0)]
        for run in places:
            rows.append(np.arange(self.run_bounds[run], self.run_bounds[run + 1]))
        sizes = self.sizes[np.array(places, dtype=np.int64)]
        only = self._kept(np.concatenate(rows), sizes)
        infos = tuple(self.infos[run] for run in places)
        return replace(only, runs=tuple(runs), infos=infos)

    def cut(self, depth: int) -> Lists:
        """Only the first `depth` docs of each run and topic, and only the items among them or pooled."""
        if self.depth <= depth:
            return self
        rows = np.flatnonzero(self.rank <= depth)
        return self._kept(rows, np.minimum(self.sizes, depth))

    def graded(self, qrels: Qrels) -> Lists:
        """The same lists with the grades of these qrels; docs that they grade beyond the items are left out."""
        (doc_of_item, doc_of_row), vocabulary = coded([self.docs, qrels.docs])
        width = max(1, len(vocabulary))
        topic_of_row = _places(qrels.topics, self.topics)[qrels.topic_of_row()]
        item_keys = self.topic_of_item * width + doc_of_item  # ascending, as items stand in this order
        row_keys = topic_of_row * width + doc_of_row
        item = np.searchsorted(item_keys, row_keys)
        # A key above all others is looked up in the place after the last.
        key_there = np.append(item_keys, NONE)[item]
        is_item = (key_there == row_keys) & (topic_of_row >= 0)
        grades = _item_grades(self.items, item[is_item], qrels.grades[is_item])
        return replace(self, grades=grades)

    def pooled(self) -> Bools:
        """Whether each item is in the pool of the qrels: it is judged, or has a negative grade."""
        return np.asarray(self.grades != UNJUDGED)

    def judged(self) -> Bools:
        """Whether each item is judged: its grade is at least 0."""
        return np.asarray(self.grades >= 0)

    def relevant(self, rel: float = 1) -> Bools:
        """Whether each item is judged relevant; an item that is not judged never is."""
        return np.asarray(self.grades >= max(rel, 0))

    def to_runs(self) -> list[Run]:
        """The lists as runs again, with scores that agree with the ranks.

        >>> lists = collected([Run.from_lists("a", {"1": ["y", "x"]}), Run.from_lists("b", {"1": ["x"]})])
        >>> lists.to_runs()[0].to_dict()
        {'1': {'y': -1.0, 'x': -2.0}}
        """
        runs = []
        for r, name in enumerate(self.runs):
            rows = slice(int(self.run_bounds[r]), int(self.run_bounds[r + 1]))
            docs = self.docs.take(self.item[rows])
            scores = sealed(-self.rank[rows].astype(np.float64))
            bounds = bounds_of(self.sizes[r])
            runs.append(Run(name, self.topics, bounds, docs, scores, info=self.infos[r]))
        return runs

    def _place(self, name: str) -> int:
        try:
            return self.runs.index(name)
        except ValueError:
            raise UsageError(f"no run {name!r}{did_you_mean(name, self.runs)}") from None

    def _kept(self, rows: Ints, sizes: Ints) -> Lists:
        """The lists of these rows, items numbered anew."""
        item = self.item[rows]
        used = self.pooled()
        used[item] = True
        new_number = np.cumsum(used) - 1
        return replace(
            self,
            bounds=bounds_of(sizes.ravel()),
            item=new_number[item],
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
    tables = [_in_order(_cut(run, depth), topics) for run in runs]
    retrieved = np.array([table.sizes for table in tables])
    judgments = None if qrels is None else _in_order(qrels, topics)
    if judgments is not None:
        tables.append(judgments)
    item, topic_of_item, docs = _numbered(tables)
    rows = int(retrieved.sum())
    if judgments is None:
        grades = np.full(len(docs), UNJUDGED, dtype=np.int32)
    else:
        grades = _item_grades(len(docs), item[rows:], judgments.values)
    lists = Lists(
        runs=tuple(run.name for run in runs),
        topics=tuple(topics),
        bounds=bounds_of(retrieved.ravel()),
        item=item[:rows],
        scores=np.concatenate([table.values for table in tables[: len(runs)]]),
        topic_of_item=topic_of_item,
        docs=docs,
        grades=grades,
        infos=tuple(_in_group(run, groups or {}) for run in runs),
        dropped=_dropped(runs, topics),
    )
    _refuse_duplicates(lists)
    return lists


def check_names(runs: Sequence[Run]) -> None:
    """Refuse no runs at all, and two of one name."""
    if not runs:
        raise UsageError("no runs; give at least one")
    times = Counter(run.name for run in runs)
    for name, count in times.items():
        if count > 1:
            raise DataError(f"run {name!r} is there twice; names must differ")


def _cut(run: Run, depth: int | None) -> Run:
    """The run to that depth; itself where it is not deeper."""
    if depth is None or run.sizes.max(initial=0) <= depth:
        return run
    return run.cut(depth)


def _in_group(run: Run, groups: Mapping[str, str]) -> RunInfo:
    """What is known of a run, with the group that a person gave."""
    return replace(run.info, group=groups.get(run.name) or run.info.group)


class _Table(NamedTuple):
    """Docs and scores (or grades) of a run (or qrels), on the topics wanted in their order."""

    docs: Ids
    values: npt.NDArray[Any]
    sizes: Ints
    """Docs of each topic."""


def _in_order(table: Run | Qrels, topics: Sequence[str]) -> _Table:
    """A run or qrels on these topics in their order."""
    values = table.scores if isinstance(table, Run) else table.grades
    place = _places(table.topics, topics)
    wanted = place >= 0
    sizes = np.zeros(len(topics), dtype=np.int64)
    sizes[place[wanted]] = table.sizes[wanted]
    rises = np.diff(place, prepend=NONE) > 0
    if rises.all():  # all topics are wanted, and stand in this order already
        return _Table(table.docs, values, sizes)
    place_of_row = place[table.topic_of_row()]
    unwanted = int(np.sum(place_of_row < 0))
    order = np.argsort(place_of_row, kind="stable")[unwanted:]
    return _Table(table.docs.take(order), values[order], sizes)


def _places(names: Sequence[str], among: Sequence[str]) -> Ints:
    """The place of each name among others, −1 where it is not there."""
    place = {name: i for i, name in enumerate(among)}
    return np.array([place.get(name, NONE) for name in names], dtype=np.int64)


def _item_grades(items: int, graded: Ints, grades: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A grade for each item: these for the graded ones, UNJUDGED for the others."""
    small = small_grades(grades)
    every = np.full(items, UNJUDGED, dtype=small.dtype)
    every[graded] = small
    return every


def _numbered(tables: Sequence[_Table]) -> tuple[Ints, Ints, Ids]:
    """The item of each row of all tables, and the topic and doc of each item."""
    codes, vocabulary = coded([table.docs for table in tables])
    sizes = np.array([table.sizes for table in tables])
    topics = sizes.shape[1]
    width = max(1, len(vocabulary))
    topic_of_list = np.tile(np.arange(topics), len(tables))
    topic_of_row = np.repeat(topic_of_list, sizes.ravel())
    # (topic, doc) as one number.
    key_of_row = topic_of_row * width + np.concatenate(codes)
    keys, item = _distinct(key_of_row, topics * width)
    return item, keys // width, vocabulary.take(keys % width)


def _distinct(keys: Ints, below: int) -> tuple[Ints, Ints]:
    """The distinct keys, all less than `below`, ascending, and the number of each key among them."""
    if below > 16 * len(keys):
        return np.unique(keys, return_inverse=True)
    present = np.zeros(below, dtype=bool)  # a table of all keys is faster than sorting those that occur
    present[keys] = True
    number = np.cumsum(present) - 1
    return np.flatnonzero(present), number[keys]


def _dropped(runs: Sequence[Run], topics: Sequence[str]) -> tuple[str, ...]:
    """The topics for which a run has docs and which are not among these."""
    answered: set[str] = set()
    for run in runs:
        answered.update(compress(run.topics, run.sizes.tolist()))
    others = answered.difference(topics)
    return tuple(natural_order(others))


def _refuse_duplicates(lists: Lists) -> None:
    """An error if a run has a doc twice in a topic."""
    last_place = np.zeros(lists.items, dtype=np.int64)
    for run, (first, after) in zip(lists.runs, pairwise(lists.run_bounds), strict=True):
        items = lists.item[first:after]
        places = np.arange(len(items))
        last_place[items] = places
        earlier = np.flatnonzero(last_place[items] != places)
        if len(earlier):
            item = int(items[earlier[0]])
            topic = lists.topics[lists.topic_of_item[item]]
            raise DataError(f"run {run!r}: doc {lists.docs[item]!r} is there twice on topic {topic!r}; keep one")
