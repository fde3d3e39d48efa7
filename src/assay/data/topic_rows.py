"""TopicRows: docs in rows, grouped by topic. What runs, judgments and judgments by intent have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Ints, Keys, Sealed, Words
from assay.core.engine import thread_map
from assay.core.errors import DataError, UsageError
from assay.core.ids import Ids
from assay.core.registry import did_you_mean
from assay.data.given import refuse_twice
from assay.data.order import first_repeat, short_keys

V = TypeVar("V")
BLOCK = 1 << 16
"""Rows that are worked on at a time: few enough for the cache."""


class TopicRows(Sealed):
    """A name, and docs grouped by topic: rows `bounds[t]:bounds[t + 1]` are those of `topics[t]`."""

    kind: ClassVar[str] = "table"
    name: str
    topics: tuple[str, ...]
    bounds: Ints
    docs: Ids

    def __len__(self) -> int:
        return len(self.docs)

    def __repr__(self) -> str:
        described = [
            repr(self.name),
            counted(len(self.topics), "topic"),
            counted(len(self), "doc"),
            *self._described(),
        ]
        kind = type(self).__name__
        return f"{kind}({', '.join(described)})"

    def _described(self) -> list[str]:
        """What the short form says beside the name and the sizes."""
        return []

    @property
    def sizes(self) -> Ints:
        """The number of docs of each topic."""
        return self.bounds[1:] - self.bounds[:-1]

    def topic_rows(self, topic: str) -> slice:
        """The rows of a topic; an error if it is not there."""
        t = self._topic_numbers.get(topic)
        if t is None:
            near = did_you_mean(topic, self.topics[:20])
            raise UsageError(f"{self.kind} {self.name!r} has no topic {topic!r}{near}")
        first = int(self.bounds[t])
        after = int(self.bounds[t + 1])
        return slice(first, after)

    @cached_property
    def _topic_numbers(self) -> dict[str, int]:
        numbers = range(len(self.topics))
        return dict(zip(self.topics, numbers, strict=True))

    def topic_of_row(self) -> Ints:
        """The number of the topic of each row."""
        numbers = np.arange(len(self.topics))
        return np.repeat(numbers, self.sizes)

    def place_of_row(self) -> Ints:
        """The place of each row among those of its topic, from 0."""
        starts = self.bounds[:-1]
        first_of_topic = np.repeat(starts, self.sizes)
        return np.arange(len(self)) - first_of_topic

    def by_topic(self, values: Sequence[V]) -> dict[str, dict[str, V]]:
        """{topic: {doc: value}} of a value for each row."""
        docs = self.docs.tolist()
        bounds = self.bounds.tolist()
        nested = {}
        for topic, (first, after) in zip(self.topics, pairwise(bounds), strict=True):
            docs_of_topic = docs[first:after]
            values_of_topic = values[first:after]
            nested[topic] = dict(zip(docs_of_topic, values_of_topic, strict=True))
        return nested

    def seams(self) -> Ints:
        """The last row of every topic but the last: the rows that have no follower in their topic."""
        bounds = self.bounds[1:][self.sizes > 0]  # a topic without rows ends where it starts
        return bounds[bounds < len(self)] - 1

    def topic_blocks(self, rows: int = BLOCK) -> Iterator[slice]:
        """Slices of the topics, each of about that many rows: what is worked on at a time."""
        first = 0
        while first < len(self.topics):
            end = self.bounds[first] + rows
            not_beyond = self.bounds.searchsorted(end, side="right")
            after = max(first + 1, int(not_beyond) - 1)
            yield slice(first, after)
            first = after

    def doc_keys(self) -> Keys:
        """A 32-bit key of each doc id. Equal ids have equal keys; that equal keys are equal ids must be confirmed."""
        return short_keys(self.docs.hashes())

    def keyed(self, block: slice, numbers: Ints, keys: Keys) -> tuple[slice, Words]:
        """The rows of a block of topics, and for each a word made of its topic's number and its doc's key."""
        bounds = self._bounds_of_block(block)
        first = int(bounds[0])
        after = int(bounds[-1])
        rows = slice(first, after)
        number = numbers[block].astype(np.uint64)
        upper_half = number << np.uint64(32)
        topic = np.repeat(upper_half, bounds[1:] - bounds[:-1])
        return rows, topic | keys[rows]

    def _bounds_of_block(self, block: slice) -> Ints:
        return self.bounds[block.start : block.stop + 1]

    def duplicate(self, *, threads: int = 1) -> int | None:
        """A row whose doc stands in the same topic before, or None: keys find candidates, bytes decide."""
        keys = self.doc_keys()
        numbers = np.arange(len(self.topics))
        blocks = list(self.topic_blocks())
        suspect = thread_map(lambda block: self._repeats(block, keys), blocks, threads=threads)
        for block, is_suspect in zip(blocks, suspect, strict=True):
            if not is_suspect:
                continue
            rows, words = self.keyed(block, numbers, keys)
            repeat = first_repeat(words, self.docs.take(rows))
            if repeat is not None:
                return rows.start + repeat
        return None

    def _repeats(self, block: slice, keys: Keys) -> bool:
        """Whether a key is twice in a topic of the block: mostly a doc that is there twice, now and then chance."""
        bounds = self._bounds_of_block(block)
        sizes = bounds[1:] - bounds[:-1]
        if (sizes == sizes[0]).all():  # the common case, and small sorts are the fastest
            of_block = keys[bounds[0] : bounds[-1]]
            table = of_block.reshape(len(sizes), -1)
            ordered: npt.NDArray[Any] = np.sort(table, axis=1)
            same_as_next = ordered[:, 1:] == ordered[:, :-1]
            return bool(same_as_next.any())
        numbers = np.arange(len(self.topics))
        _, words = self.keyed(block, numbers, keys)
        words = np.sort(words)
        is_repeat = words[1:] == words[:-1]
        return bool(is_repeat.any())

    def checked(self, what: str) -> None:
        """Refuse a topic that is there twice, an empty doc id and a doc twice in a topic; what: why the last."""
        refuse_twice(self.topics, "topic", self.name)
        topics = len(self.topics)
        docs = len(self.docs)
        if len(self.bounds) != topics + 1 or self.bounds[-1] != docs:
            raise DataError(f"{self.name}: {topics} topics need one bound more, up to {docs} docs")
        if not self.docs.lengths.all():
            raise DataError(f"{self.name}: the id of a doc is empty; every doc needs one")
        row = self.duplicate()
        if row is not None:
            starts_up_to_row = np.searchsorted(self.bounds, row, side="right")
            topic = self.topics[int(starts_up_to_row) - 1]
            doc = self.docs[row]
            raise DataError(f"{self.name}: doc {doc!r} is twice in topic {topic!r}; {what}")


def bounds_of(sizes: Sequence[int] | Ints) -> Ints:
    """Where the rows of each topic begin, and the end."""
    ends = np.cumsum(sizes, dtype=np.int64)
    return np.concatenate([[0], ends])


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "topic"), counted(50_000, "doc")
    ('1 topic', '50,000 docs')
    """
    plural = "" if count == 1 else "s"
    return f"{count:,} {noun}{plural}"
