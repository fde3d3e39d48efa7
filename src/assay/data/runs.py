"""Run: ranked docs per topic. It is the one place that orders documents; nothing else sorts them.

Where the flow stands: files → **tables** → grades.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints, Keys, Words
from assay.core.engine import ordered_map
from assay.core.errors import DataError, UsageError
from assay.core.ids import Ids
from assay.core.registry import did_you_mean
from assay.data.order import Moves, first_repeat, ranked_order, short_keys, sort_keys

TIES: tuple[str, ...] = ("docid", "docid-asc", "rank", "file", "average")


@dataclass(frozen=True)
class RunInfo:
    """What is known of a run beside its docs: who made it, when, and whether a person had a hand in it."""

    group: str | None = None
    year: int | None = None
    manual: bool | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Run:
    """A name and ranked docs per topic: rows `bounds[t]:bounds[t + 1]` are those of topic t, best first.

    Order: score descending as a 64-bit float, ties by the bytes of the doc id descending; see `ordered` for the others.

    >>> run = Run.from_dict("bm25", {"q1": {"a": 1.0, "b": 2.0, "c": 1.0}})
    >>> run.ranking("q1")
    ['b', 'c', 'a']
    """

    name: str
    topics: tuple[str, ...]
    bounds: Ints
    docs: Ids
    scores: Floats
    ranks: Ints | None = None
    came: Moves | None = None
    """How the rows came here from the lines of the file; None if they stand as they stood there."""
    ties: str = "docid"
    compat: str | None = None
    info: RunInfo = field(default_factory=RunInfo)
    keys: Keys | None = None
    """Keys of the docs, where the reader has made them already."""

    @classmethod
    def from_rows(
        cls,
        name: str,
        topics: Sequence[str],
        bounds: Ints,
        docs: Ids,
        scores: Floats,
        *,
        ranks: Ints | None = None,
        info: RunInfo | None = None,
        keys: Keys | None = None,
    ) -> Run:
        """A run from columns grouped by topic, in any order within a topic. A doc twice in a topic is an error."""
        unordered = cls(name, tuple(topics), bounds, docs, scores, ranks, info=info or RunInfo(), keys=keys)
        twice = unordered.duplicate()
        if twice is not None:
            topic = unordered.topics[int(np.searchsorted(bounds, twice, side="right")) - 1]
            raise DataError(
                f"{name}: doc {docs[twice]!r} is twice in topic {topic!r}; a doc has one place in a ranking"
            )
        return unordered.ordered(own=True)

    @classmethod
    def from_dict(cls, name: str, scores: Mapping[str, Mapping[str, float]], *, info: RunInfo | None = None) -> Run:
        """A run from {topic: {doc: score}}."""
        sizes = [len(docs) for docs in scores.values()]
        values = np.array([s for docs in scores.values() for s in docs.values()], dtype=np.float64)
        if np.isnan(values).any():
            raise DataError(f"{name}: a score is not a number; every doc needs one")
        return cls.from_rows(
            name,
            tuple(scores),
            np.cumsum([0, *sizes], dtype=np.int64),
            Ids.of(d for docs in scores.values() for d in docs),
            values,
            info=info,
        )

    @classmethod
    def from_lists(cls, name: str, rankings: Mapping[str, Sequence[str]]) -> Run:
        """A run from {topic: docs, best first}; scores are made to agree."""
        return cls.from_dict(
            name, {t: {d: float(len(docs) - i) for i, d in enumerate(docs)} for t, docs in rankings.items()}
        )

    def __len__(self) -> int:
        return len(self.scores)

    def topic_rows(self, topic: str) -> slice:
        """The rows of a topic; an error if the run lacks it."""
        try:
            t = self.topics.index(topic)
        except ValueError:
            near = did_you_mean(topic, self.topics[:20])
            raise UsageError(f"run {self.name!r} has no topic {topic!r}{near}") from None
        return slice(int(self.bounds[t]), int(self.bounds[t + 1]))

    def ranking(self, topic: str) -> list[str]:
        """The docs of a topic, best first."""
        rows = self.topic_rows(topic)
        return self.docs.take(np.arange(rows.start, rows.stop)).tolist()

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{topic: {doc: score}}, docs best first."""
        docs, scores, bounds = self.docs.tolist(), self.scores.tolist(), self.bounds.tolist()
        return {
            t: dict(zip(docs[a:b], scores[a:b], strict=True))
            for t, a, b in zip(self.topics, bounds, bounds[1:], strict=False)
        }

    def topic_of_row(self) -> Ints:
        """The number of the topic of each row."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.bounds))

    def doc_keys(self) -> Keys:
        """A 32-bit key of each doc id: equal ids have equal keys, and equal keys are always confirmed by the ids."""
        return short_keys(self.docs.hashes()) if self.keys is None else self.keys

    def seams(self) -> Ints:
        """The last row of every topic but the last: the rows that have no follower in their topic."""
        return np.unique(self.bounds[(self.bounds > 0) & (self.bounds < len(self))]) - 1

    def topic_blocks(self, rows: int = 1 << 16) -> Iterator[slice]:
        """Slices of the topics, each of about that many rows: what is worked on at a time."""
        first, n = 0, len(self.topics)
        while first < n:
            after = max(first + 1, int(np.searchsorted(self.bounds, self.bounds[first] + rows, side="right")) - 1)
            yield slice(first, after)
            first = after

    def keyed(self, block: slice, numbers: Ints) -> tuple[slice, Words]:
        """The rows of a block of topics, and for each a word made of its topic's number and its doc's key."""
        bounds = self.bounds[block.start : block.stop + 1]
        rows = slice(int(bounds[0]), int(bounds[-1]))
        topic = np.repeat(numbers[block].astype(np.uint64) << np.uint64(32), np.diff(bounds))
        return rows, topic | self.doc_keys()[rows]

    def duplicate(self, *, threads: int = 1) -> int | None:
        """A row whose doc stands in the same topic before, or None."""
        run, numbers = replace(self, keys=self.doc_keys()), np.arange(len(self.topics))
        blocks = list(self.topic_blocks())
        suspect = ordered_map(run.repeats, blocks, jobs=threads, threads=True)
        for block in (b for b, s in zip(blocks, suspect, strict=True) if s):
            rows, words = run.keyed(block, numbers)
            found = first_repeat(words, self.docs.take(np.arange(rows.start, rows.stop)))
            if found is not None:
                return rows.start + found
        return None

    def repeats(self, block: slice) -> bool:
        """Whether a key is twice in a topic of the block: mostly a doc that is there twice, now and then chance."""
        bounds = self.bounds[block.start : block.stop + 1]
        keys, sizes = self.doc_keys()[bounds[0] : bounds[-1]], np.diff(bounds)
        if (sizes == sizes[0]).all():  # the common case, and small sorts are the fastest
            ordered: npt.NDArray[Any] = np.sort(keys.reshape(len(sizes), -1), axis=1)
            return bool((ordered[:, 1:] == ordered[:, :-1]).any())
        words = np.sort(self.keyed(block, np.arange(len(self.topics)))[1])
        return bool((words[1:] == words[:-1]).any())

    def tied(self) -> npt.NDArray[np.bool_]:
        """Whether a doc has the same score as the doc before it in the same topic."""
        keys = sort_keys(self.scores, self.compat)
        same = np.zeros(len(self), dtype=bool)
        same[1:] = keys[1:] == keys[:-1]
        same[self.seams() + 1] = False
        return same

    def ordered(self, ties: str = "docid", *, compat: str | None = None, own: bool = False) -> Run:
        """The same run with its docs in the order of another policy.

        ties: `docid` bytes of the id descending, `docid-asc`, `rank` the file's rank column, `file` the order of its
        lines, `average` as `docid`, while scores are expected values over all orders of tied docs.
        compat="trec_eval-9" compares scores as 32-bit floats. own: nobody else has the columns, they may be changed.
        """
        if ties not in TIES:
            raise UsageError(f"no tie policy {ties!r}; known: {', '.join(TIES)}")
        if ties == "rank" and self.ranks is None:
            raise UsageError(f"run {self.name!r} has no rank column; ties='rank' needs one")
        moves = ranked_order(replace(self, compat=compat), ties)
        return replace(self if moves is None else self.moved(moves, own=own), ties=ties, compat=compat)

    def moved(self, moves: Moves, *, own: bool = False) -> Run:
        """The rows where the moves bring them; the bounds are left to the caller."""
        return replace(
            self,
            docs=Ids(self.docs.buffer, moves.of(self.docs.starts, own), moves.of(self.docs.lengths, own)),
            scores=moves.of(self.scores, own),
            ranks=None if self.ranks is None else moves.of(self.ranks, own),
            came=moves if self.came is None else Moves(moves.of(self.file_rows())),
            keys=None if self.keys is None else moves.of(self.keys, own),
        )

    def together(self) -> Run:
        """The same run with the rows of each topic together, topics in the order in which they first appear."""
        names = list(dict.fromkeys(self.topics))
        if len(names) == len(self.topics):
            return self
        place = {t: i for i, t in enumerate(names)}
        code = np.array([place[t] for t in self.topics])[self.topic_of_row()]
        bounds = np.concatenate([[0], np.cumsum(np.bincount(code))])
        return replace(self.moved(Moves(np.argsort(code, kind="stable"))), topics=tuple(names), bounds=bounds)

    def file_rows(self) -> Ints:
        """Where each doc stood in the file."""
        if self.came is not None and self.came.places is None:
            return self.came.rows
        every = np.arange(len(self))
        return every if self.came is None else self.came.of(every, own=True)

    def cut(self, depth: int) -> Run:
        """Only the first `depth` docs of each topic."""
        place = np.arange(len(self)) - np.repeat(self.bounds[:-1], np.diff(self.bounds))
        keep = np.flatnonzero(place < depth)
        sizes = np.minimum(np.diff(self.bounds), depth)
        return replace(self.moved(Moves(keep)), bounds=np.concatenate([[0], np.cumsum(sizes)]))
