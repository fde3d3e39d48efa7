"""Which docs go to the judges? Pools to a depth, of a size, or by fusing the runs; and who contributed what.

Where it stands: runs → lists → **pools** → a file to judge. A pool is chosen before any judgment; orders that learn
from judgments are in `orders`, pools of a random sample in `sampling`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import UsageError
from assay.core.ids import Ids
from assay.core.registry import Registry, Within
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels
from assay.data.lists import Lists, TopicLists
from assay.io.column_names import Named
from assay.pooling.budgets import cut_by_depth, cut_by_topic
from assay.pooling.voters import POOLED, Collected, contributors, lists_of, scaled_scores, voters

Chosen = tuple[Ints, Floats]
"""Docs of one topic in the order of judging, and the weight that put each there."""

POOLS: Registry[Callable[..., Chosen]] = Registry("pool")
"""Ways to pool; each takes the lists of one topic and returns the chosen docs, best first, with their weights."""

PAIRS_AT_ONCE = 20_000_000


@dataclass(frozen=True, eq=False)
class Pool(Result):
    """The docs to judge: items `items` of the lists, topic after topic, each topic in the order of judging."""

    method: str
    topics: tuple[str, ...]
    topic: Ints
    items: Ints
    docs: Ids
    weights: Floats
    by: str = "run"
    budget: int | None = None
    """The most docs that the pool may have over all topics, where that was asked for."""

    def __len__(self) -> int:
        return len(self.items)

    def qrels(self) -> Qrels:
        """The pool as judgments still to be made: grade −1, which means pooled and not judged."""
        bounds = np.searchsorted(self.topic, np.arange(len(self.topics) + 1))
        grades = np.full(len(self), POOLED, dtype=np.int64)
        return Qrels(self.topics, bounds, self.docs, grades, name="pool")

    def table(self) -> Table:
        """One row per doc, in the order of judging."""
        rows = []
        for t, doc, weight in zip(self.topic.tolist(), self.docs, self.weights, strict=True):
            rows.append((self.topics[t], doc, weight))
        note = f"{len(self)} docs of {len(self.topics)} topics; pool {self.method}, voters: each {self.by}"
        if self.budget is not None:
            note += f"; budget {self.budget}, {self.budget - len(self)} not spent"
        return Table.of(
            {"topic": "", "doc": "", "weight": ".5f"},
            rows,
            caption="Docs to judge",
            notes=[note],
        )


def pool(
    runs: Collected,
    method: str = "depth(k=100)",
    *,
    depth: int | None = None,
    by: str = "run",
    budget: int | None = None,
    columns: Named = None,
) -> Pool:
    """The docs to judge of every topic. With by="group" the voters are groups: each group's runs are merged first.

    runs: {run: {topic: {doc: score}}}, paths, data frames, Run objects, a list of these, or Lists;
    depth: only the first docs of each are looked at. A topic that one run alone retrieved is pooled from that run; a
    topic that none retrieved has no docs. budget: the most docs over all topics. A pool by depth then has the greatest
    depth (at most its k) whose docs are no more; any other gives every topic the same number of docs (at most its n),
    and what a topic cannot use goes to the others, the odd docs to the first topics.
    columns: our column → that of the tables which have it.

    >>> from assay.data import Run
    >>> runs = [Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})]
    >>> pool(runs, "rrf(n=2)").docs.tolist(), pool(runs, depth=1).docs.tolist()
    (['y', 'x'], ['x', 'y'])
    """
    if depth is not None and depth < 1:
        raise UsageError(f"depth is {depth}; a pool is at least 1 doc deep")
    if budget is not None and budget < 1:
        raise UsageError(f"budget is {budget}; a pool has at least 1 doc")
    lists = lists_of(runs, columns=columns)
    topics = [np.zeros(0, dtype=np.int64)]
    items = [np.zeros(0, dtype=np.int64)]
    weights = [np.zeros(0)]
    for t in range(len(lists.topics)):
        seen = voters(lists, t, by=by, depth=depth)
        docs, weight = POOLS.call(method, seen)
        topics.append(np.full(len(docs), t))
        items.append(seen.items[docs])
        weights.append(weight)

    topic, chosen, weight = np.concatenate(topics), np.concatenate(items), np.concatenate(weights)
    if budget is not None:
        if POOLS.entry(method).name == "depth":
            k, kept = cut_by_depth(weight, budget)
            method = f"depth(k={k})"
        else:
            kept = cut_by_topic(topic, len(lists.topics), budget)
        topic, chosen, weight = topic[kept], chosen[kept], weight[kept]
    return Pool(
        method=method if depth is None else f"{method}, first {depth} docs",
        topics=lists.topics,
        topic=topic,
        items=chosen,
        docs=lists.docs.take(chosen),
        weights=weight,
        by=by,
        budget=budget,
    )


@POOLS.register("depth", paper="Spärck Jones & van Rijsbergen 1975")
def depth(lists: TopicLists, *, k: Annotated[int, Within(1)] = 100) -> Chosen:
    """Every doc in the first k of any run, by its best rank."""
    docs, weights = take(lists)
    shallow = lists.best_ranks()[docs] <= k
    return docs[shallow], weights[shallow]


@POOLS.register("take", paper="Lipani, Zuccon, Lupu, Koopman & Hanbury 2016")
def take(lists: TopicLists, *, n: Annotated[int, Within(1)] | None = None) -> Chosen:
    """The first n docs when the runs give one doc each in turn, rank by rank, in the order of the runs."""
    turns = lists.ranked.T.ravel()
    turns = turns[turns >= 0]
    docs, first = np.unique(turns, return_index=True)
    order = np.argsort(first, kind="stable")
    chosen = docs[order].astype(np.int64)[:n]
    return chosen, 1.0 / lists.best_ranks()[chosen]


@POOLS.register("rrf", paper="Cormack, Clarke & Büttcher 2009")
def reciprocal(
    lists: TopicLists, *, n: Annotated[int, Within(1)] | None = None, c: Annotated[float, Within(0)] = 60.0
) -> Chosen:
    """Reciprocal rank fusion: the sum of 1 / (c + rank) over the runs that have the doc."""
    votes = 1.0 / (c + _places(lists))
    return _heaviest(_sum(lists, votes), n)


@POOLS.register("borda", paper="Aslam & Montague 2001; Nuray & Can 2006")
def borda(lists: TopicLists, *, n: Annotated[int, Within(1)] | None = None) -> Chosen:
    """Borda count: of m docs the first gets m points, the next m − 1, …; what a run left over is shared equally."""
    m = len(lists.docs)
    points = _sum(lists, m + 1.0 - _places(lists))
    # A run that has s docs leaves 1 + 2 + … + (m − s) points, shared by the m − s docs that it lacks.
    left = m - lists.sizes
    shared = left * (left + 1) / 2 / np.maximum(1, left)
    lacks = lists.ranks == 0
    return _heaviest(points + shared @ lacks, n)


@POOLS.register("condorcet", paper="Nuray & Can 2006")
def condorcet(lists: TopicLists, *, n: Annotated[int, Within(1)] | None = None) -> Chosen:
    """Pairwise majorities: docs by duels won, then by fewer lost; a doc that a run has beats one that it lacks."""
    wins, losses = majorities(lists)
    docs = len(wins)
    # Always below 1: fewer losses decide only between docs with the same wins.
    by_losses = (docs - losses) / (docs + 1.0)
    return _heaviest(wins + by_losses, n)


def majorities(lists: TopicLists) -> tuple[Ints, Ints]:
    """How many other docs each doc beats in the votes of the runs, and how many beat it.

    The votes for x over y are c(x) − c(y) + n(x ≻ y) − n(y ≻ x), c the number of runs that have a doc and n counting
    the runs that have both: only those need a look. Memory: PAIRS_AT_ONCE pairs of docs, each one or two bytes.

    >>> from assay.data import Run
    >>> from assay.data.lists import collected
    >>> runs = [Run.from_lists("a", {"1": list("xyz")}), Run.from_lists("b", {"1": list("yx")})]
    >>> majorities(collected(runs).topic(0))
    (array([1, 1, 0]), array([0, 0, 2]))
    """
    m = len(lists.docs)
    # No vote exceeds the number of runs, so the smallest type that holds it does.
    small = np.min_scalar_type(-max(1, len(lists.runs)))
    held = (lists.ranks > 0).sum(axis=0).astype(small)
    place = np.arange(lists.ranked.shape[1])
    ahead = np.sign(place - place[:, None]).astype(small)

    wins = np.zeros(m, dtype=np.int64)
    losses = np.zeros(m, dtype=np.int64)
    docs_at_once = max(1, PAIRS_AT_ONCE // max(1, m))
    for block in chunks(m, docs_at_once):
        votes = held[block, None] - held[None, :]
        cells = votes.ravel()  # the same memory: one number finds a pair faster than two
        for row, size in zip(lists.ranked, lists.sizes, strict=True):
            docs = row[:size].astype(np.int64)
            in_block = (docs >= block.start) & (docs < block.stop)
            places = np.flatnonzero(in_block)
            pairs = (docs[places, None] - block.start) * m + docs
            cells[pairs] += ahead[places, :size]
        wins[block] = (votes > 0).sum(axis=1)
        losses[block] = (votes < 0).sum(axis=1)
    return wins, losses


@POOLS.register("combsum", paper="Fox & Shaw 1994")
def comb_sum(lists: TopicLists, *, n: Annotated[int, Within(1)] | None = None) -> Chosen:
    """The sum of the runs' scores, each run scaled to 0…1 within the topic."""
    total = _sum(lists, scaled_scores(lists))
    return _heaviest(total, n)


@POOLS.register("combmnz", paper="Fox & Shaw 1994")
def comb_mnz(lists: TopicLists, *, n: Annotated[int, Within(1)] | None = None) -> Chosen:
    """As combsum, times the number of runs that have the doc."""
    total = _sum(lists, scaled_scores(lists))
    holders = (lists.ranks > 0).sum(axis=0)
    return _heaviest(total * holders, n)


@POOLS.register("dcg", paper="Lipani, Palotti, Lupu, Piroi, Zuccon & Hanbury 2017")
def dcg(lists: TopicLists, *, n: Annotated[int, Within(1)] | None = None) -> Chosen:
    """The sum of the discounts 1 / log₂(rank + 1) over the runs."""
    discounts = 1.0 / np.log2(_places(lists) + 1)
    return _heaviest(_sum(lists, discounts), n)


@POOLS.register("rbp", paper="Moffat, Webber & Zobel 2007")
def rbp(
    lists: TopicLists, *, n: Annotated[int, Within(1)] | None = None, p: Annotated[float, Within(0, 1, open=True)] = 0.8
) -> Chosen:
    """The sum of the RBP weights (1 − p)·p^(rank − 1) over the runs: how much the doc can move all scores together."""
    if not 0 < p < 1:
        raise UsageError(f"rbp(p={p}): the persistence lies between 0 and 1")
    weights = (1 - p) * p ** (_places(lists) - 1)
    return _heaviest(_sum(lists, weights), n)


def _places(lists: TopicLists) -> Floats:
    """1, 2, 3, … along the lists."""
    _, depth = lists.ranked.shape
    places = np.arange(1.0, depth + 1)
    return np.broadcast_to(places, lists.ranked.shape)


def _sum(lists: TopicLists, weights: Floats) -> Floats:
    """The total weight of each doc, from a weight per run and rank."""
    inside = lists.ranked >= 0
    total = np.bincount(
        lists.ranked[inside],
        weights=weights[inside],
        minlength=len(lists.docs),
    )
    return np.asarray(total, dtype=np.float64)


def _heaviest(weights: Floats, n: int | None) -> Chosen:
    """The n heaviest docs; equal weights by doc id, ascending."""
    rounded = to_twelve_digits(weights)
    heaviest = np.argsort(-rounded, kind="stable")[:n]
    return heaviest, weights[heaviest]


def to_twelve_digits(values: Floats) -> Floats:
    """Values to twelve digits: sums taken in another order differ in the last ones, and equal docs must tie."""
    mantissa, exponent = np.frexp(values)
    rounded = np.round(mantissa, 12)
    return np.asarray(np.ldexp(rounded, exponent))


@dataclass(frozen=True)
class Contributions(Result):
    """What each run or group brought to a pool."""

    names: tuple[str, ...]
    contributed: Ints
    alone: Ints
    relevant: Ints | None
    relevant_alone: Ints | None
    method: str
    by: str

    def table(self) -> Table:
        """One row per run or group: docs in the pool, docs that nobody else brought, and how many are relevant."""
        formats = {
            self.by: "",
            "docs": "d",
            "alone": "d",
            "relevant": "d",
            "relevant alone": "d",
        }
        rows = zip(
            self.names,
            self.contributed.tolist(),
            self.alone.tolist(),
            self._known(self.relevant),
            self._known(self.relevant_alone),
            strict=True,
        )
        caption = f"Contributions to the pool {self.method}"
        note = "alone: no other has the doc in its list; relevant: of the docs, or of those brought alone"
        return Table.of(formats, rows, caption=caption, notes=[note])

    def _known(self, counts: Ints | None) -> Sequence[int | None]:
        """The counts, or nothing for each name where there are no judgments."""
        if counts is None:
            return [None] * len(self.names)
        return counts.tolist()


def contributions(
    lists: Lists, chosen: Pool, *, depth: int | None = None, by: str = "run", rel: float = 1
) -> Contributions:
    """Docs of the pool that each run (or group) has in its first `depth`, and those that it alone has there.

    With judgments in the lists also how many of them are relevant.
    """
    inside = np.zeros(lists.items, dtype=bool)
    inside[chosen.items] = True
    names, has = contributors(lists, depth or lists.depth, by=by)
    brought = has[:, inside]
    has_alone = has & (has.sum(axis=0) == 1)
    alone = has_alone[:, inside]

    relevant = None
    relevant_alone = None
    if (lists.grades >= 0).any():
        is_relevant = lists.relevant(rel)[inside]
        relevant = (brought & is_relevant).sum(axis=1)
        relevant_alone = (alone & is_relevant).sum(axis=1)
    return Contributions(
        names,
        brought.sum(axis=1),
        alone.sum(axis=1),
        relevant,
        relevant_alone,
        chosen.method,
        by,
    )
