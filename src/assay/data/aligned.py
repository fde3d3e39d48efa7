"""Grades: all that a measure may see. Ranked grades (topics × depth), what was judged, and no ids.

Where the flow stands: tables → **grades** → scores. `align` joins a run with judgments once, for all measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints, Words
from assay.core.engine import ordered_map
from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.order import short_keys

UNJUDGED = -(2**31)
"""Stands in `ranked` for a doc without judgment and past the end of a list, in `ideal` past its end."""

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Grades:
    """The grades of one run: a row per topic.

    ranked[t, r] is the grade of the doc at rank r + 1; ideal[t] are all judged grades of the topic, best first.
    top is the highest grade of the collection. tied[t, r] says that the doc has the score of the one above it.
    """

    topics: tuple[str, ...]
    ranked: npt.NDArray[Any]
    retrieved: Ints
    ideal: npt.NDArray[Any]
    top: float = 1
    tied: Bools | None = None
    lengths: Floats | None = None
    """Words of each ranked doc, for measures of time."""
    inclusion: Floats | None = None
    """Probability with which each ranked judged doc was sampled for judging."""
    judged_inclusion: Floats | None = None
    """The same for the docs of `ideal`."""
    mixed: bool = False
    """Whether hits and gains are means over tied docs: set by ties="average" for measures linear in them."""

    @property
    def depth(self) -> int:
        """Length of the longest list."""
        return int(self.ranked.shape[1])

    def ranks(self, k: int | None = None) -> Floats:
        """1, 2, 3, … down to k or the depth."""
        return np.arange(1, self.ranked[:, :k].shape[1] + 1, dtype=np.float64)

    def hits(self, rel: float = 1, k: int | None = None) -> npt.NDArray[Any]:
        """Whether the doc at each rank is relevant; under ties="average" the share of its tied docs that are."""
        return self._over_ties(self.ranked >= rel)[:, :k] if self.mixed else self.ranked[:, :k] >= rel

    def gains(self, gain: str = "grade", k: int | None = None) -> Floats:
        """Gain of the doc at each rank; unjudged docs and negative grades gain 0."""
        return self._over_ties(gain_of(self.ranked, gain))[:, :k] if self.mixed else gain_of(self.ranked[:, :k], gain)

    def ideal_gains(self, gain: str = "grade", k: int | None = None) -> Floats:
        """Gains of all judged docs, best first."""
        gains = gain_of(self.ideal, gain)
        return (gains if gain == "grade" else -np.sort(-gains, axis=1))[:, :k]

    def relevant(self, rel: float = 1) -> Floats:
        """R: judged docs of at least that grade, retrieved or not."""
        return (self.ideal >= rel).sum(axis=1).astype(np.float64)

    def nonrelevant(self, rel: float = 1) -> Floats:
        """N: judged docs below that grade; negative grades mean pooled but not judged and do not count."""
        return ((self.ideal >= 0) & (self.ideal < rel)).sum(axis=1).astype(np.float64)

    def judged(self, k: int | None = None) -> Bools:
        """Whether the doc at each rank has a judgment."""
        return self.ranked[:, :k] != UNJUDGED

    def inside(self, k: int | None = None) -> Bools:
        """Whether there is a doc at each rank."""
        return self.ranks(k)[None, :] <= self.retrieved[:, None]

    def condensed(self) -> Grades:
        """The lists without their unjudged docs, closed up."""
        known = self.ranked >= 0 if np.issubdtype(self.ranked.dtype, np.integer) else self.judged()
        order = np.argsort(~known, axis=1, kind="stable")
        kept = known.sum(axis=1)
        depth = int(kept.max(initial=0))
        closed = np.take_along_axis(np.where(known, self.ranked, UNJUDGED), order, axis=1)[:, :depth]
        lengths = None if self.lengths is None else np.take_along_axis(self.lengths, order, axis=1)[:, :depth]
        inclusion = None if self.inclusion is None else np.take_along_axis(self.inclusion, order, axis=1)[:, :depth]
        return replace(
            self, ranked=closed, retrieved=kept, tied=self._tied_condensed(known, order, depth),
            lengths=lengths, inclusion=inclusion,
        )  # fmt: skip

    def cut(self, depth: int) -> Grades:
        """Only the first `depth` ranks, as if the run had no more."""
        return replace(
            self,
            ranked=self.ranked[:, :depth],
            retrieved=np.minimum(self.retrieved, depth),
            tied=None if self.tied is None else self.tied[:, :depth],
            lengths=None if self.lengths is None else self.lengths[:, :depth],
            inclusion=None if self.inclusion is None else self.inclusion[:, :depth],
        )

    def supposing(self, grade: float) -> Grades:
        """As if every retrieved unjudged doc had been judged with that grade; the judged set grows by them."""
        unknown = self.inside() & ~self.judged()
        added = np.where(unknown, grade, UNJUDGED)
        judged = np.concatenate([self.ideal, added], axis=1)
        order = np.argsort(-judged, axis=1, kind="stable")
        inclusion = self.judged_inclusion
        if inclusion is not None:
            inclusion = np.take_along_axis(np.concatenate([inclusion, np.ones(added.shape)], axis=1), order, axis=1)
        return replace(
            self, ranked=np.where(unknown, grade, self.ranked), ideal=np.take_along_axis(judged, order, axis=1),
            judged_inclusion=inclusion,
        )  # fmt: skip

    def with_order(self, order: Ints) -> Grades:
        """The lists rearranged: rank r of topic t takes the doc of rank order[t, r]."""
        lengths = None if self.lengths is None else np.take_along_axis(self.lengths, order, axis=1)
        inclusion = None if self.inclusion is None else np.take_along_axis(self.inclusion, order, axis=1)
        ranked = np.take_along_axis(self.ranked, order, axis=1)
        return replace(self, ranked=ranked, tied=None, lengths=lengths, inclusion=inclusion)

    def blocks(self) -> Ints:
        """The number of the tied block of each rank, counted within the topic."""
        if self.tied is None:
            raise UsageError("this alignment does not know which docs are tied")
        return np.cumsum(~self.tied, axis=1)

    def _over_ties(self, values: npt.NDArray[Any]) -> Floats:
        """Each value replaced by the mean over its tied block."""
        if self.tied is None or not self.tied.any():
            return values.astype(np.float64)
        inside = self.inside()
        block = np.cumsum((~self.tied).ravel())
        total = np.bincount(block, weights=(values * inside).ravel())
        size = np.bincount(block, weights=inside.ravel())
        mean = total / np.maximum(size, 1)
        return np.where(inside, mean[block].reshape(values.shape), 0.0)

    def _tied_condensed(self, known: Bools, order: Ints, depth: int) -> Bools | None:
        if self.tied is None:
            return None
        block = np.where(known, self.blocks(), 0)
        closed = np.take_along_axis(block, order, axis=1)[:, :depth]
        tied = np.zeros(closed.shape, dtype=bool)
        tied[:, 1:] = (closed[:, 1:] == closed[:, :-1]) & (closed[:, 1:] > 0)
        return tied


def gain_of(grades: npt.NDArray[Any], gain: str) -> Floats:
    """Gains of grades: `grade`, `exp` (2^grade − 1), `binary`, or a mapping such as `1:3/2:9`.

    Unjudged docs and negative grades gain 0; a grade that a mapping does not name gains itself.

    >>> gain_of(np.array([0, 1, 2, -1]), "exp")
    array([0., 1., 3., 0.])
    >>> gain_of(np.array([0, 1, 2]), "1:0.5/2:0.9")
    array([0. , 0.5, 0.9])
    """
    positive = np.maximum(grades, 0).astype(np.float64)
    if gain == "grade":
        return positive
    if gain == "exp":
        return np.exp2(positive) - 1
    if gain == "binary":
        return (positive > 0).astype(np.float64)
    out = positive.copy()
    for grade, value in gain_mapping(gain).items():
        out[grades == grade] = value
    return out


def gain_mapping(text: str) -> dict[float, float]:
    """The grades and gains of a text such as `1:3/2:9`."""
    try:
        pairs = (part.split(":") for part in text.split("/"))
        return {float(grade): float(value) for grade, value in pairs}
    except ValueError:
        raise UsageError(f"no gain {text!r}; known: grade, exp, binary, or a mapping such as 1:3/2:9") from None


def grades(
    *ranked: Sequence[int | None],
    judged: Sequence[Sequence[int]] | Sequence[int] | None = None,
    top: float | None = None,
) -> Grades:
    """Grades by hand, for examples and tests: a list per topic, None for an unjudged doc.

    judged are all judged grades of the topic (or of each topic); by default those in the list.

    >>> g = grades([1, None, 1], judged=[1, 1, 1])
    >>> g.relevant().tolist(), g.hits().tolist()
    ([3.0], [[True, False, True]])
    """
    lists = [[UNJUDGED if x is None else x for x in row] for row in ranked]
    pools: list[list[int]]
    if judged is None:
        pools = [[x for x in row if x != UNJUDGED] for row in lists]
    elif len(judged) and isinstance(judged[0], Sequence):
        pools = [list(p) for p in judged if isinstance(p, Sequence)]
    else:
        pools = [[int(x) for x in judged if not isinstance(x, Sequence)]] * len(lists)
    best = max([1, *(x for p in pools for x in p)])
    return Grades(
        tuple(str(t + 1) for t in range(len(lists))),
        _padded(lists),
        np.array([len(row) for row in lists], dtype=np.int64),
        _padded([sorted(p, reverse=True) for p in pools]),
        top=best if top is None else top,
    )


def _padded(rows: Sequence[Sequence[int]]) -> npt.NDArray[np.int32]:
    out = np.full((len(rows), max(map(len, rows), default=0)), UNJUDGED, dtype=np.int32)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


@dataclass(frozen=True, eq=False)
class Match:
    """Which docs of a run are judged, and as which row of the qrels."""

    run: Run
    qrels: Qrels
    topic_in_run: Ints
    """For each topic of the qrels its number in the run, −1 where the run lacks it."""
    topic: Ints
    """Of each judged retrieved doc the number of its topic in the qrels, ascending; its rank from 0; its judgment."""
    rank: Ints
    judged_as: Ints

    def grades(self, *, topics: slice = slice(None), lengths: Mapping[str, float] | None = None) -> Grades:
        """The grades of these topics of the qrels."""
        start, stop, _ = topics.indices(len(self.qrels.topics))
        numbers = np.arange(start, stop)
        sizes = _sizes(self.run, self.topic_in_run[numbers])
        depth = int(sizes.max(initial=0))
        found = slice(*np.searchsorted(self.topic, [start, stop]).tolist())
        row, rank, judgment = self.topic[found] - start, self.rank[found], self.judged_as[found]
        ranked = np.full((len(numbers), depth), UNJUDGED, dtype=np.int32)
        ranked[row, rank] = self.qrels.grades[judgment]
        ideal, judged_inclusion = _ideal(self.qrels)
        inclusion = None
        if self.qrels.probabilities is not None:
            inclusion = np.ones(ranked.shape)
            inclusion[row, rank] = self.qrels.probabilities[judgment]
        return Grades(
            tuple(self.qrels.topics[i] for i in numbers),
            ranked,
            sizes,
            ideal[numbers],
            top=self.qrels.top_grade(),
            tied=self._tied(numbers, depth) if self.run.ties == "average" else None,
            lengths=None if lengths is None else self._lengths(numbers, depth, lengths),
            inclusion=inclusion,
            judged_inclusion=None if judged_inclusion is None else judged_inclusion[numbers],
        )

    def _tied(self, numbers: Ints, depth: int) -> Bools:
        same, out = self.run.tied(), np.zeros((len(numbers), depth), dtype=bool)
        for i, t in enumerate(self.topic_in_run[numbers].tolist()):
            if t >= 0:
                start, stop = int(self.run.bounds[t]), int(self.run.bounds[t + 1])
                out[i, : stop - start] = same[start:stop]
        return out

    def _lengths(self, numbers: Ints, depth: int, lengths: Mapping[str, float]) -> Floats:
        out = np.zeros((len(numbers), depth))
        for i, t in enumerate(self.topic_in_run[numbers].tolist()):
            docs = self.run.ranking(self.run.topics[t]) if t >= 0 else []
            missing = next((d for d in docs if d not in lengths), None)
            if missing is not None:
                raise UsageError(f"no length for doc {missing!r}; this measure needs the words of every retrieved doc")
            out[i, : len(docs)] = [lengths[d] for d in docs]
        return out


def align(run: Run, qrels: Qrels) -> Grades:
    """The grades of a run: one row per topic of the qrels.

    A topic that the run lacks is an empty list; a topic of the run without qrels is left out.

    >>> run = Run.from_dict("r", {"1": {"a": 3.0, "x": 2.0, "b": 1.0}})
    >>> align(run, Qrels.from_dict({"1": {"a": 1, "b": 0, "c": 2}})).ranked.tolist() == [[1, UNJUDGED, 0]]
    True
    """
    return match(run, qrels).grades()


def match(run: Run, qrels: Qrels, *, threads: int = 1) -> Match:
    """Join a run with judgments on (topic, doc): by keys, a block of topics at a time, confirmed by the ids."""
    number = {t: i for i, t in enumerate(run.topics)}
    topic_in_run = np.array([number.get(t, -1) for t in qrels.topics], dtype=np.int64)
    shared = np.full(len(run.topics), len(qrels.topics), dtype=np.int64)
    shared[topic_in_run[topic_in_run >= 0]] = np.flatnonzero(topic_in_run >= 0)
    table = _buckets(qrels)
    known = replace(run, keys=run.doc_keys())

    def in_block(block: slice) -> tuple[Ints, Ints]:
        place, words = known.keyed(block, shared)
        found, judgment = table.find(words)
        return found + place.start, judgment

    parts = ordered_map(in_block, run.topic_blocks(), jobs=threads, threads=True)
    nothing = np.zeros(0, np.int64)
    every_row, every_judgment = (
        np.concatenate([nothing, *column]) for column in zip(*parts, (nothing, nothing), strict=True)
    )
    same = run.docs.take(every_row).same_as(qrels.docs.take(every_judgment))
    return _by_topic(run, qrels, topic_in_run, every_row[same], every_judgment[same])


def _by_topic(run: Run, qrels: Qrels, topic_in_run: Ints, rows: Ints, judged_as: Ints) -> Match:
    """The match of these rows of the run with these of the qrels, in the order of the qrels' topics."""
    topic = np.searchsorted(qrels.bounds, judged_as, side="right") - 1
    rank = rows - run.bounds[topic_in_run[topic]]
    order = np.argsort(topic, kind="stable")
    return Match(run, qrels, topic_in_run, topic[order], rank[order], judged_as[order])


# Many runs are scored with the same judgments; what depends on them alone is made once.
@lru_cache(maxsize=2)
def _buckets(qrels: Qrels) -> _Buckets:
    topic = qrels.topic_of_row().astype(np.uint64) << np.uint64(32)
    return _Buckets.of(topic | short_keys(qrels.docs.hashes()))


@dataclass(frozen=True, eq=False)
class _Buckets:
    """Words to be found, and which buckets (by a hash of the word) hold any: most docs are settled by one look."""

    words: Words
    order: Ints
    filled: Bools
    shift: np.uint64

    @classmethod
    def of(cls, words: Words) -> _Buckets:
        bits = max(8, min(24, int(np.ceil(np.log2(len(words) + 1))) + 4))
        shift = np.uint64(64 - bits)
        filled = np.zeros(1 << bits, dtype=bool)
        filled[_bucket(words, shift)] = True
        order = np.argsort(words, kind="stable")
        return cls(words[order], order, filled, shift)

    def find(self, wanted: Words) -> tuple[Ints, Ints]:
        """All (i, j) with wanted[i] equal to word j; words that are there twice are found twice."""
        rows = np.flatnonzero(self.filled.take(_bucket(wanted, self.shift), mode="clip"))
        first = np.searchsorted(self.words, wanted[rows])
        there = self.words.take(first, mode="clip") == wanted[rows]  # most are in a bucket by chance
        rows, first = rows[there], first[there]
        count = np.searchsorted(self.words, wanted[rows], side="right") - first
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        return np.repeat(rows, count), self.order[np.repeat(first, count) + place]


def _bucket(words: Words, shift: np.uint64) -> Ints:
    """The bucket of each word: the leading bits of a hash of it."""
    bucket = words * _SPREAD
    bucket >>= shift
    return bucket.view(np.int64)


def _sizes(run: Run, topic_in_run: Ints) -> Ints:
    sizes = np.append(np.diff(run.bounds), 0)
    return sizes[topic_in_run]


@lru_cache(maxsize=2)
def _ideal(qrels: Qrels) -> tuple[npt.NDArray[np.int32], Floats | None]:
    """All judged grades of each topic, best first, with their inclusion probabilities."""
    topic = qrels.topic_of_row()
    order = np.lexsort((-qrels.grades, topic))
    place = np.arange(len(order)) - np.repeat(qrels.bounds[:-1], np.diff(qrels.bounds))
    ideal = np.full((len(qrels.topics), int(np.diff(qrels.bounds).max(initial=0))), UNJUDGED, dtype=np.int32)
    ideal[topic, place] = qrels.grades[order]
    if qrels.probabilities is None:
        return ideal, None
    inclusion = np.ones(ideal.shape)
    inclusion[topic, place] = qrels.probabilities[order]
    return ideal, inclusion
