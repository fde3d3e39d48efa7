"""What did the runs retrieve? Runs and judgments coded once, so that all of pooling works on integers.

Where it stands: runs, qrels → **lists** → pools, orders, curves, bias. An item is a (topic, doc) pair; items of a topic
lie together, docs ascending by their bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from assay.data import Qrels, Run, natural_order
from assay.errors import DataError, UsageError
from assay.grades import UNJUDGED
from assay.ids import Ids, Ints, coded

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

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
    def ranks(self) -> Codes:
        """Rank of each doc in each run, runs × docs, 0 where the run has not retrieved it."""
        out = np.zeros((len(self.runs), len(self.docs)), dtype=np.int32)
        run, place = np.nonzero(self.ranked >= 0)
        out[run, self.ranked[run, place]] = place + 1
        return out

    @cached_property
    def sizes(self) -> Ints:
        """Length of each run's list."""
        return (self.ranked >= 0).sum(axis=1)

    def best_ranks(self) -> Ints:
        """The best rank of each doc in any run."""
        return np.where(self.ranks > 0, self.ranks, np.iinfo(np.int32).max).min(axis=0).astype(np.int64)

    def number(self, doc: str) -> int:
        """The number of a doc; an error if no run has it."""
        found = int(np.searchsorted(self._names, doc.encode()))
        if found < len(self.docs) and self.docs[found] == doc:
            return found
        raise DataError(
            f"topic {self.topic}: doc {doc!r} is not in the pool; judge docs that a run retrieved, or pool deeper"
        )

    @cached_property
    def _names(self) -> npt.NDArray[np.bytes_]:
        return self.docs.fixed()

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

    def grouped(self, groups: Sequence[str]) -> TopicLists:
        """One list per group: its runs' docs in turn, rank by rank; the score is the best of the scaled scores."""
        names = tuple(dict.fromkeys(groups))
        scaled = scaled_scores(self)
        merged = [self._merged([s for s, g in enumerate(groups) if g == name], scaled) for name in names]
        depth = max((len(docs) for docs, _ in merged), default=0)
        ranked = np.full((len(names), depth), NONE, dtype=np.int32)
        scores = np.zeros((len(names), depth))
        for g, (docs, values) in enumerate(merged):
            ranked[g, : len(docs)], scores[g, : len(docs)] = docs, values
        return replace(self, runs=names, ranked=ranked, scores=scores)

    def _merged(self, rows: list[int], scaled: Floats) -> tuple[Ints, Floats]:
        docs, values = self.ranked[rows].T.ravel(), scaled[rows].T.ravel()
        docs, values = docs[docs >= 0], values[docs >= 0]
        distinct, first = np.unique(docs, return_index=True)
        best = np.zeros(len(self.docs))
        np.maximum.at(best, docs, values)
        order = np.argsort(first, kind="stable")
        return distinct[order].astype(np.int64), best[distinct[order]]


def scaled_scores(lists: TopicLists) -> Floats:
    """Scores of each run scaled to 0…1 within the topic, runs × depth; a run whose scores are all equal has 1."""
    inside = lists.ranked >= 0
    low = np.where(inside, lists.scores, np.inf).min(axis=1, initial=np.inf)[:, None]
    high = np.where(inside, lists.scores, -np.inf).max(axis=1, initial=-np.inf)[:, None]
    varied = inside & (high > low)
    span = np.where(high > low, high - low, 1.0)
    return np.where(varied, (lists.scores - np.where(np.isfinite(low), low, 0.0)) / span, inside.astype(np.float64))


def settled(values: Floats) -> Floats:
    """Values to twelve digits: sums taken in another order differ in the last ones, and equal docs must tie."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(mantissa, 12), exponent))


@dataclass(frozen=True, eq=False)
class Lists:
    """All runs on all topics: `codes[s, t, r]` is the item at rank r + 1 of run s on topic t, or −1.

    Items `bounds[t]:bounds[t + 1]` are those of topic t: every doc that a run retrieved or that was judged.
    `grades` are their grades, UNJUDGED where there is none. Memory: 12 bytes per retrieved doc.
    """

    runs: tuple[str, ...]
    groups: tuple[str, ...]
    topics: tuple[str, ...]
    docs: Ids
    bounds: Ints
    codes: Codes
    scores: Floats
    grades: Codes
    top: float

    @property
    def depth(self) -> int:
        """Length of the longest list."""
        return int(self.codes.shape[2])

    def topic_of_item(self) -> Ints:
        """The number of the topic of each item."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.bounds))

    def relevant(self, rel: int = 1) -> Bools:
        """Whether each item is judged relevant."""
        return np.asarray(self.grades >= rel)

    def topic(self, t: int, *, depth: int | None = None, judged_only: bool = False) -> TopicLists:
        """The lists of topic number t down to a depth, without the docs that no run has there.

        judged_only takes out the docs that nobody judged and closes the lists up, before the cut.
        """
        start, stop = int(self.bounds[t]), int(self.bounds[t + 1])
        codes = self.codes[:, t, :]
        whole = TopicLists(
            self.topics[t],
            self.runs,
            self.docs.take(np.arange(start, stop)),
            np.where(codes >= 0, codes - start, NONE).astype(np.int32),
            self.scores[:, t, :],
            np.arange(start, stop),
        )
        if judged_only:
            whole = whole.only(self.grades[start:stop] >= 0)
        cut = replace(whole, ranked=whole.ranked[:, :depth], scores=whole.scores[:, :depth])
        seen = np.zeros(len(cut.docs), dtype=bool)
        seen[cut.ranked[cut.ranked >= 0]] = True
        return cut.only(seen)

    def select(self, runs: Sequence[int] | Ints) -> Lists:
        """Only these runs, by number; items stay."""
        rows = np.asarray(runs, dtype=np.int64)
        return replace(
            self,
            runs=tuple(self.runs[i] for i in rows),
            groups=tuple(self.groups[i] for i in rows),
            codes=self.codes[rows],
            scores=self.scores[rows],
        )

    def contributors(self, depth: int, *, by: str = "run") -> tuple[tuple[str, ...], Bools]:
        """Who has each item in the first `depth`: names of runs or groups, and a table contributors × items."""
        if by not in ("run", "group"):
            raise UsageError(f"contributions are by 'run' or by 'group', not {by!r}")
        labels = self.runs if by == "run" else self.groups
        names = tuple(dict.fromkeys(labels))
        owner = np.array([names.index(label) for label in labels], dtype=np.int64)
        has = np.zeros((len(names), len(self.grades)), dtype=bool)
        for s in range(len(self.runs)):
            items = self.codes[s, :, :depth]
            has[owner[s], items[items >= 0]] = True
        return names, has


def lists(
    runs: Sequence[Run],
    qrels: Qrels | None = None,
    *,
    depth: int | None = None,
    groups: Mapping[str, str] | None = None,
) -> Lists:
    """Runs (and judgments) as integers, to a depth. Topics: those of the qrels, else those of any run.

    A run that lacks a topic has an empty list there. A run's group is that of `groups`, else of its information, else
    its own name.

    >>> both = lists([Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})])
    >>> both.docs.tolist(), both.codes[:, 0].tolist()
    (['x', 'y', 'z'], [[0, 1], [1, 2]])
    """
    _checked(runs, depth)
    cut = [run if depth is None else run.cut(depth) for run in runs]
    names = qrels.topics if qrels is not None else natural_order({t for run in runs for t in run.topics})
    topic = {t: i for i, t in enumerate(names)}
    columns = [run.docs for run in cut] + ([] if qrels is None else [qrels.docs])
    doc_codes, vocabulary = coded(columns)
    owner = [_topic_numbers(run, topic) for run in cut] + ([] if qrels is None else [qrels.topic_of_row()])
    keys = [np.where(t >= 0, t * len(vocabulary) + d, NONE) for t, d in zip(owner, doc_codes, strict=True)]
    every = np.unique(np.concatenate([np.zeros(0, np.int64), *keys]))
    every = every[every >= 0]
    item_topic = every // max(1, len(vocabulary))
    codes, scores = _tables(cut, owner, [np.searchsorted(every, k) for k in keys], len(names))
    grades = np.full(len(every), UNJUDGED, dtype=np.int32)
    if qrels is not None:
        grades[np.searchsorted(every, keys[-1])] = qrels.grades
    known = groups or {}
    return Lists(
        tuple(run.name for run in runs),
        tuple(known.get(run.name) or run.info.group or run.name for run in runs),
        tuple(names),
        vocabulary.take(every % max(1, len(vocabulary))),
        np.searchsorted(item_topic, np.arange(len(names) + 1)),
        codes,
        scores,
        grades,
        1 if qrels is None else qrels.top_grade(),
    )


def _checked(runs: Sequence[Run], depth: int | None) -> None:
    if not runs:
        raise UsageError("no runs; give at least one")
    if depth is not None and depth < 1:
        raise UsageError(f"depth is {depth}; a list is cut at 1 doc or deeper")
    names = [run.name for run in runs]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise DataError(f"run {twice!r} is there twice; give each run its own name")


def _topic_numbers(run: Run, topic: Mapping[str, int]) -> Ints:
    """The number of each row's topic, −1 for a topic that is left out."""
    return np.array([topic.get(t, NONE) for t in run.topics], dtype=np.int64)[run.topic_of_row()]


def _tables(runs: Sequence[Run], owner: Sequence[Ints], items: Sequence[Ints], topics: int) -> tuple[Codes, Floats]:
    """Items and scores as runs × topics × depth."""
    depth = max((int(np.diff(run.bounds).max(initial=0)) for run in runs), default=0)
    codes = np.full((len(runs), topics, depth), NONE, dtype=np.int32)
    scores = np.zeros(codes.shape)
    for s, run in enumerate(runs):
        place = np.arange(len(run)) - np.repeat(run.bounds[:-1], np.diff(run.bounds))
        rows = owner[s] >= 0
        codes[s, owner[s][rows], place[rows]] = items[s][rows]
        scores[s, owner[s][rows], place[rows]] = run.scores[rows]
    return codes, scores
