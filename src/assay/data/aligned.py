"""A run joined with judgments: which of its docs are judged, and how. Done once, for all measures.

Where the flow stands: **tables → grades** → scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints, Words
from assay.core.engine import ordered_map
from assay.core.errors import UsageError
from assay.core.ids import coded
from assay.data.grades import UNJUDGED, Grades
from assay.data.qrels import Qrels
from assay.data.runs import Run

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


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
    keys = run.doc_keys()

    def in_block(block: slice) -> _Candidates:
        place, words = run.keyed(block, shared, keys)
        return table.find(words).shifted(place.start)

    found = _Candidates.joined(ordered_map(in_block, run.topic_blocks(), jobs=threads, threads=True))
    if found.are_crowded():
        rows, judgments = _joined_by_ids(run, qrels, found.rows, shared)
    else:
        rows, judgments = found.pairs(table.order)
        same = run.docs.take(rows).same_as(qrels.docs.take(judgments))
        rows, judgments = rows[same], judgments[same]
    return _by_topic(run, qrels, topic_in_run, rows, judgments)


def _joined_by_ids(run: Run, qrels: Qrels, rows: Ints, shared: Ints) -> tuple[Ints, Ints]:
    """The rows of the run that are judged, and their judgments, where ids that share a key would make many pairs."""
    (ours, theirs), vocabulary = coded([run.docs.take(rows), qrels.docs])
    width = len(vocabulary)
    topic_in_qrels = shared[np.searchsorted(run.bounds, rows, side="right") - 1]
    wanted = topic_in_qrels * width + ours
    known = qrels.topic_of_row() * width + theirs
    order = np.argsort(known, kind="stable")
    at = order.take(np.searchsorted(known[order], wanted), mode="clip")
    there = known[at] == wanted
    return rows[there], at[there]


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
    return _Buckets.of(topic | qrels.doc_keys())


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

    def find(self, wanted: Words) -> _Candidates:
        """The wanted words that are there, and where; words that are there twice are found twice."""
        rows = np.flatnonzero(self.filled.take(_bucket(wanted, self.shift), mode="clip"))
        first = np.searchsorted(self.words, wanted[rows])
        there = self.words.take(first, mode="clip") == wanted[rows]  # most are in a bucket by chance
        rows, first = rows[there], first[there]
        count = np.searchsorted(self.words, wanted[rows], side="right") - first
        return _Candidates(rows, first, count)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Rows of a run and, for each, the judgments that have its key: `count` of them from `first` in sorted order."""

    rows: Ints
    first: Ints
    count: Ints

    @classmethod
    def joined(cls, parts: Sequence[_Candidates]) -> _Candidates:
        """Several, one after the other, as one."""
        none = np.zeros(0, np.int64)
        return cls(
            np.concatenate([none, *(p.rows for p in parts)]),
            np.concatenate([none, *(p.first for p in parts)]),
            np.concatenate([none, *(p.count for p in parts)]),
        )

    def shifted(self, by: int) -> _Candidates:
        """The same with rows counted from another place."""
        return replace(self, rows=self.rows + by)

    def are_crowded(self) -> bool:
        """Whether the pairs are many more than the rows: by chance they never are, by craft they can be all pairs."""
        return int(self.count.sum()) > 2 * len(self.rows) + 1000

    def pairs(self, order: Ints) -> tuple[Ints, Ints]:
        """Each row with each of its judgments."""
        before = np.cumsum(self.count) - self.count
        place = np.arange(self.count.sum()) - np.repeat(before, self.count)
        return np.repeat(self.rows, self.count), order[np.repeat(self.first, self.count) + place]


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
