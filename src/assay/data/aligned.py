"""A run joined with judgments: which of its docs are judged, and how. Done once, for all measures.

Where the flow stands: **tables → grades** → scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Codes, Floats, Ints, Words, places_within, sealed
from assay.core.engine import thread_map
from assay.core.errors import UsageError
from assay.core.ids import coded
from assay.data.given import small_grades
from assay.data.grades import UNJUDGED, Grades
from assay.data.qrels import Qrels
from assay.data.runs import Run
from assay.data.topic_rows import bounds_of

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""Odd: the hashes of different words differ."""
CROWDED = 16
"""Buckets hold a word or two; more than this many are no chance."""


@dataclass(frozen=True, eq=False)
class Match:
    """Which docs of a run are pooled, and as which row of the qrels."""

    run: Run
    qrels: Qrels
    topic_in_run: Ints
    """For each topic of the qrels its number in the run, −1 where the run lacks it."""
    topic: Ints
    """Of each pooled retrieved doc the number of its topic in the qrels, ascending; its rank from 0; its row there."""
    rank: Ints
    judged_as: Ints

    def grades(self, *, topics: slice = slice(None), lengths: Mapping[str, float] | None = None) -> Grades:
        """The grades of these topics of the qrels."""
        start, stop, _ = topics.indices(len(self.qrels.topics))
        wanted = slice(start, stop)
        in_run = self.topic_in_run[wanted]
        retrieved = np.append(self.run.sizes, 0)[in_run]  # of a topic that the run lacks: 0
        shape = (len(in_run), int(retrieved.max(initial=0)))
        first, after = np.searchsorted(self.topic, [start, stop]).tolist()
        found = slice(first, after)
        cells = (self.topic[found] - start, self.rank[found])
        rows = self.judged_as[found]
        ideal, ideal_inclusion = _ideal(self.qrels)
        return Grades(
            self.qrels.topics[wanted],
            _table(shape, UNJUDGED, cells, small_grades(self.qrels.grades[rows])),
            retrieved,
            ideal[wanted],
            top=self.qrels.top_grade(),
            tied=self._tied(in_run, shape) if self.run.ties == "average" else None,
            lengths=None if lengths is None else self._lengths(in_run, shape, lengths),
            inclusion=self._inclusion(shape, cells, rows),
            judged_inclusion=None if ideal_inclusion is None else ideal_inclusion[wanted],
        )

    def _inclusion(self, shape: tuple[int, int], cells: tuple[Ints, Ints], rows: Ints) -> Floats | None:
        """The probability with which each ranked doc was sampled, 1 where it was not."""
        if self.qrels.probabilities is None:
            return None
        return _table(shape, 1.0, cells, self.qrels.probabilities[rows])

    def _tied(self, in_run: Ints, shape: tuple[int, int]) -> Bools:
        """Whether each ranked doc has the score of the one above it."""
        tied = self.run.tied()
        table = np.zeros(shape, dtype=bool)
        for row, rows in self._rows_in_run(in_run):
            table[row, : rows.stop - rows.start] = tied[rows]
        return table

    def _lengths(self, in_run: Ints, shape: tuple[int, int], lengths: Mapping[str, float]) -> Floats:
        """The length of each ranked doc."""
        table = np.zeros(shape)
        for row, rows in self._rows_in_run(in_run):
            docs = self.run.docs.take(rows).tolist()
            missing = next((doc for doc in docs if doc not in lengths), None)
            if missing is not None:
                raise UsageError(f"no length for doc {missing!r}; this measure needs the words of every retrieved doc")
            table[row, : len(docs)] = [lengths[doc] for doc in docs]
        return table

    def _rows_in_run(self, in_run: Ints) -> Iterator[tuple[int, slice]]:
        """The topics that the run has, by their number among the wanted, and their rows in the run."""
        for row, topic in enumerate(in_run.tolist()):
            if topic >= 0:
                yield row, slice(int(self.run.bounds[topic]), int(self.run.bounds[topic + 1]))


def _table(
    shape: tuple[int, int], filled: float, cells: tuple[Ints, Ints], values: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """A table of one value but for these cells."""
    table = np.full(shape, filled, dtype=values.dtype)
    table[cells] = values
    return table


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
    place = {topic: i for i, topic in enumerate(run.topics)}
    places = [place.get(topic, -1) for topic in qrels.topics]
    topic_in_run = np.array(places, dtype=np.int64)
    in_both = np.flatnonzero(topic_in_run >= 0)
    # A topic without judgments gets a number that no topic of the qrels has.
    topic_in_qrels = np.full(len(run.topics), len(qrels.topics), dtype=np.int64)
    topic_in_qrels[topic_in_run[in_both]] = in_both
    rows, judged_as = _joined_rows(run, qrels, topic_in_qrels, threads)
    topic = _topic_of_judgment(qrels)[judged_as]
    order = np.argsort(topic, kind="stable")
    topic = topic[order]
    rank = rows[order] - run.bounds[topic_in_run[topic]]
    return Match(run, qrels, topic_in_run, topic, rank, judged_as[order])


def _joined_rows(run: Run, qrels: Qrels, topic_in_qrels: Ints, threads: int) -> tuple[Ints, Ints]:
    """The rows of the run that are judged, and their judgments."""
    buckets = _buckets(qrels)
    keys = run.doc_keys()

    def in_block(block: slice) -> _Candidates:
        rows, words = run.keyed(block, topic_in_qrels, keys)
        return buckets.find(words, rows.start)

    parts = thread_map(in_block, run.topic_blocks(), threads=threads)
    found = _Candidates.joined(parts)
    if found.are_crowded():
        return _joined_by_ids(run, qrels, found.rows, topic_in_qrels)
    rows, judged_as = found.pairs(buckets.order)
    same = run.docs.take(rows).same_as(qrels.docs.take(judged_as))
    return (rows, judged_as) if same.all() else (rows[same], judged_as[same])


def _joined_by_ids(run: Run, qrels: Qrels, rows: Ints, topic_in_qrels: Ints) -> tuple[Ints, Ints]:
    """The rows of the run that are judged, and their judgments, where ids that share a key would make many pairs."""
    (ours, theirs), vocabulary = coded([run.docs.take(rows), qrels.docs])
    width = len(vocabulary)
    topic_of_row = np.searchsorted(run.bounds, rows, side="right") - 1
    wanted = topic_in_qrels[topic_of_row] * width + ours
    known = qrels.topic_of_row() * width + theirs
    order = np.argsort(known, kind="stable")
    place = np.searchsorted(known[order], wanted)
    judged_as = order.take(place, mode="clip")
    there = known[judged_as] == wanted
    return rows[there], judged_as[there]


# Many runs are scored with the same judgments; what depends on them alone is made once.
@lru_cache(maxsize=2)
def _topic_of_judgment(qrels: Qrels) -> Ints:
    return sealed(qrels.topic_of_row())


@lru_cache(maxsize=2)
def _buckets(qrels: Qrels) -> _Buckets:
    topic = _topic_of_judgment(qrels).astype(np.uint64) << np.uint64(32)
    return _Buckets.of(topic | qrels.doc_keys())


@dataclass(frozen=True, eq=False)
class _Buckets:
    """Words to be found, in buckets by the leading bits of their hashes; an empty bucket settles most docs at once."""

    hashes: Words
    """Ascending, so that those of a bucket stand together. Different words have different hashes."""
    order: Ints
    filled: Bools
    """Whether a bucket holds any: it is asked for every doc, and small enough for the cache."""
    starts: Codes
    """Where each bucket starts, and the end of the last."""
    most: int
    """The most hashes that a bucket holds."""
    shift: np.uint64

    @classmethod
    def of(cls, words: Words) -> _Buckets:
        bits_for_words = int(np.ceil(np.log2(len(words) + 1)))
        bits = max(8, min(24, bits_for_words + 4))
        shift = np.uint64(64 - bits)
        hashes = words * _SPREAD
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        sizes = np.bincount((hashes >> shift).view(np.int64), minlength=1 << bits)
        starts = bounds_of(sizes).astype(np.int32)
        return cls(hashes, order, sizes > 0, starts, int(sizes.max(initial=0)), shift)

    def find(self, wanted: Words, first_row: int) -> _Candidates:
        """The wanted words that are there, and where; words that are there twice are found twice.

        first_row: the number of the first of them in the run.
        """
        hashes = wanted * _SPREAD
        bucket = (hashes >> self.shift).view(np.int64)
        rows = np.flatnonzero(self.filled.take(bucket, mode="clip"))
        hashes = hashes[rows]
        first = self._first_places(hashes, bucket[rows])
        there = self.hashes.take(first, mode="clip") == hashes  # most are in a bucket by chance
        rows = rows[there]
        first = first[there]
        rows += first_row
        if not self._has_twins:
            return _Candidates(rows, first)
        count = np.searchsorted(self.hashes, hashes[there], side="right") - first
        return _Candidates(rows, first, count)

    @cached_property
    def _has_twins(self) -> bool:
        return bool((self.hashes[1:] == self.hashes[:-1]).any())

    def _first_places(self, hashes: Words, bucket: Ints) -> Ints:
        """The place of the first hash that is not below each of these."""
        if self.most > CROWDED:  # nothing that happens by chance
            return np.searchsorted(self.hashes, hashes)
        place = self.starts.take(bucket).astype(np.int64)
        for _ in range(self.most):
            below = self.hashes.take(place, mode="clip") < hashes
            if not below.any():
                break
            place += below
        return place


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Rows of a run and, for each, the judgments that have its key: `count` of them from `first` in sorted order."""

    rows: Ints
    first: Ints
    count: Ints | None = None
    """None if each has one."""

    @classmethod
    def joined(cls, parts: Sequence[_Candidates]) -> _Candidates:
        """Several, one after the other, as one; either all or none of them have a count."""
        if len(parts) == 1:
            return parts[0]
        none = np.zeros(0, np.int64)
        counts = [part.count for part in parts if part.count is not None]
        return cls(
            rows=np.concatenate([none, *(part.rows for part in parts)]),
            first=np.concatenate([none, *(part.first for part in parts)]),
            count=np.concatenate(counts) if counts else None,
        )

    def are_crowded(self) -> bool:
        """Whether the pairs are many more than the rows: by chance they never are, by craft they can be all pairs."""
        return self.count is not None and int(self.count.sum()) > 2 * len(self.rows) + 1000

    def pairs(self, order: Ints) -> tuple[Ints, Ints]:
        """Each row with each of its judgments."""
        if self.count is None:
            return self.rows, order[self.first]
        rows = np.repeat(self.rows, self.count)
        first = np.repeat(self.first, self.count)
        return rows, order[first + places_within(self.count)]


@lru_cache(maxsize=2)
def _ideal(qrels: Qrels) -> tuple[npt.NDArray[Any], Floats | None]:
    """All grades of each topic, best first, with their inclusion probabilities."""
    topic = qrels.topic_of_row()
    best_first = np.lexsort((-qrels.grades, topic))
    longest = int(qrels.sizes.max(initial=0))
    shape = (len(qrels.topics), longest)
    cells = (topic, qrels.place_of_row())
    grades = small_grades(qrels.grades[best_first])
    ideal = sealed(_table(shape, UNJUDGED, cells, grades))
    if qrels.probabilities is None:
        return ideal, None
    probabilities = qrels.probabilities[best_first]
    return ideal, sealed(_table(shape, 1.0, cells, probabilities))
