"""TopicNames: the names of millions of topics, as one column of bytes instead of a tuple of strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np

from assay.core.arrays import Ints, Words
from assay.core.ids import WORD, Ids

AT_ONCE = 1 << 16
"""Names that are made strings at a time."""


class TopicNames(Sequence[str]):
    """Names of topics that behave as a tuple of strings does, in a tenth of its memory.

    >>> names = TopicNames(Ids.of(["301", "302", "303"]))
    >>> names[1], len(names), names[1:], names == ("301", "302", "303")
    ('302', 3, ('302', '303'), True)
    """

    def __init__(self, ids: Ids) -> None:
        self.ids = ids

    @classmethod
    def joined(cls, columns: Sequence[Ids]) -> TopicNames:
        """The names of several columns, one after the other, each of which fills its own buffer."""
        sizes = [len(column.buffer) for column in columns]
        small = np.int32 if sum(sizes) < 2**31 else np.int64
        firsts = np.cumsum([0, *sizes])[:-1].tolist()
        starts = [(column.starts + first).astype(small) for column, first in zip(columns, firsts, strict=True)]
        lengths = [column.lengths.astype(np.int32) for column in columns]
        buffers = [column.buffer for column in columns]
        none = np.zeros(0, dtype=np.int32)
        padding = np.zeros(2 * WORD, dtype=np.uint8)
        together = Ids(
            np.concatenate([*buffers, padding]), np.concatenate([none, *starts]), np.concatenate([none, *lengths])
        )
        return cls(together)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), AT_ONCE):
            yield from self.ids.take(slice(start, start + AT_ONCE)).tolist()

    @overload
    def __getitem__(self, which: int) -> str: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[str, ...]: ...
    def __getitem__(self, which: int | slice) -> str | tuple[str, ...]:
        if isinstance(which, slice):
            return tuple(self.ids.take(which).tolist())
        return self.ids[range(len(self))[which]]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TopicNames):
            return len(self) == len(other) and bool(self.ids.same_as(other.ids).all())
        if not isinstance(other, tuple) or len(other) != len(self):
            return False
        return all(ours == theirs for ours, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((len(self), *(self[i] for i in range(min(len(self), 3)))))

    def __repr__(self) -> str:
        return f"TopicNames({len(self):,} topics)"

    def __add__(self, other: Any) -> tuple[str, ...]:
        return (*self, *other)

    @cached_property
    def repeated(self) -> str | None:
        """A name that is there twice, or None; looked for once, since every matrix of these topics asks."""
        hashes = self._hashes()
        ordered = np.sort(hashes)
        shared = ordered[1:][ordered[1:] == ordered[:-1]]
        if not len(shared):
            return None
        suspects = self.ids.take(np.flatnonzero(np.isin(hashes, shared)))
        by_bytes = suspects.take(suspects.byte_order())
        distinct = by_bytes.changes()
        if len(distinct) == len(by_bytes):
            return None
        is_first = np.zeros(len(by_bytes), dtype=bool)
        is_first[distinct] = True
        return by_bytes[int(np.argmin(is_first))]

    def places_of(self, wanted: TopicNames) -> Ints:
        """The place of each of the wanted names; -1 for one that is not there.

        >>> TopicNames(Ids.of(["301", "302"])).places_of(TopicNames(Ids.of(["302", "9"]))).tolist()
        [1, -1]
        """
        if not len(self):
            return np.full(len(wanted), -1)
        own = self._hashes()
        order = np.argsort(own, kind="stable")
        sought = wanted._hashes()
        at = np.searchsorted(own[order], sought)
        places = order[np.minimum(at, len(order) - 1)]
        same = wanted.ids.same_as(self.ids.take(places))
        # A name that is not the first of its hash may be a later one: two names seldom share a hash.
        shares_hash = own[places] == sought
        for i in np.flatnonzero(shares_hash & ~same).tolist():
            candidates = np.flatnonzero(own == sought[i]).tolist()
            equal = [place for place in candidates if self[place] == wanted[i]]
            if equal:
                places[i] = equal[0]
                same[i] = True
        return np.where(same, places, -1)

    def _hashes(self) -> Words:
        """The hash of each name, made of some at a time so that little memory is used on the way."""
        hashes = np.empty(len(self), dtype=np.uint64)
        for start in range(0, len(self), AT_ONCE):
            block = slice(start, start + AT_ONCE)
            hashes[block] = self.ids.take(block).hashes()
        return hashes


def places_of(names: Sequence[str], wanted: Sequence[str]) -> Ints:
    """The place among the names of each of the wanted ones; -1 for one that is not there.

    >>> places_of(("301", "302"), ("302", "9")).tolist()
    [1, -1]
    """
    if isinstance(names, TopicNames) or isinstance(wanted, TopicNames):
        return _as_bytes(names).places_of(_as_bytes(wanted))
    place_of = {name: place for place, name in enumerate(names)}
    return np.array([place_of.get(name, -1) for name in wanted], dtype=np.int64)


def names_in(names: Sequence[str], rows: slice) -> Any:
    """The names in these rows; as bytes where they are bytes."""
    return TopicNames(names.ids.take(rows)) if isinstance(names, TopicNames) else names[rows]


def _as_bytes(names: Sequence[str]) -> TopicNames:
    return names if isinstance(names, TopicNames) else TopicNames(Ids.of(names))


def repeated_name(names: Sequence[str]) -> str | None:
    """A name that is there twice, or None."""
    if isinstance(names, TopicNames):
        return names.repeated
    if len(set(names)) == len(names):
        return None
    return next(name for name in names if names.count(name) > 1)
