"""Ids: a column of doc ids as bytes, never as Python strings unless somebody looks.

A run of seven million docs is one buffer with seven million starts and lengths. Ids are hashed and compared eight bytes
at a time; equal hashes are always confirmed byte by byte, so that a collision cannot lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bytes, Ints, Words

WORD = 8
MASKS = np.array([(1 << (8 * n)) - 1 for n in range(WORD)] + [2**64 - 1], dtype=np.uint64)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True, eq=False)
class Ids:
    """A column of UTF-8 ids, each `lengths[i]` bytes from `starts[i]` of the buffer.

    The buffer is padded, so that the word at any start can be read whole.

    >>> ids = Ids.of(["doc-1", "doc-2"])
    >>> ids[1], len(ids), ids.take([1, 1]).tolist()
    ('doc-2', 2, ['doc-2', 'doc-2'])
    """

    buffer: Bytes
    starts: Ints
    lengths: Ints

    @classmethod
    def of(cls, texts: Iterable[str | bytes]) -> Ids:
        """A column from strings or bytes."""
        raw = [t.encode() if isinstance(t, str) else t for t in texts]
        lengths = np.fromiter(map(len, raw), dtype=np.int64, count=len(raw))
        buffer = np.frombuffer(b"".join(raw) + bytes(2 * WORD), dtype=np.uint8)
        return cls(buffer, np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> str:
        return self.raw(i).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    def raw(self, i: int) -> bytes:
        """The bytes of one id."""
        start = int(self.starts[i])
        return self.buffer[start : start + int(self.lengths[i])].tobytes()

    def tolist(self) -> list[str]:
        """All ids as strings."""
        data = np.ascontiguousarray(self.buffer).data
        ends = (self.starts + self.lengths).tolist()
        return [str(data[s:e], "utf-8") for s, e in zip(self.starts.tolist(), ends, strict=True)]

    def take(self, index: npt.ArrayLike) -> Ids:
        """The ids at these places; the buffer is shared."""
        at = np.asarray(index)
        return Ids(self.buffer, self.starts[at], self.lengths[at])

    def packed(self) -> Ids:
        """The same ids in a buffer that holds nothing else."""
        matrix, inside = self._matrix()
        buffer = np.concatenate([matrix[inside], np.zeros(2 * WORD, np.uint8)])
        return Ids(buffer, np.cumsum(self.lengths) - self.lengths, self.lengths)

    def fixed(self) -> npt.NDArray[np.bytes_]:
        """The ids as numpy byte strings, which compare and sort by their bytes."""
        matrix, inside = self._matrix()
        matrix = np.where(inside, matrix, 0).astype(np.uint8)
        width = max(1, matrix.shape[1])
        return np.ascontiguousarray(matrix).view(f"S{width}").reshape(-1) if len(self) else np.zeros(0, "S1")

    def hashes(self) -> Words:
        """A 64-bit hash of each id; equal ids have equal hashes, whatever buffer they stand in."""
        state = self.lengths.astype(np.uint64) * _ODD
        shortest, longest = int(self.lengths.min(initial=0)), int(self.lengths.max(initial=0))
        for offset in range(0, longest, WORD):
            rows = slice(None) if shortest > offset else np.flatnonzero(self.lengths > offset)
            state[rows] = _mixed(state[rows], self._words(rows, offset))
        state *= _ODD
        return state

    def changes(self) -> Ints:
        """The places where an id is not the one before it, the first place among them.

        >>> Ids.of(["a", "a", "b"]).changes().tolist()
        [0, 2]
        """
        new = np.ones(len(self), dtype=bool)
        new[1:] = self.lengths[1:] != self.lengths[:-1]
        for offset in range(0, int(self.lengths.max(initial=0)), WORD):
            word = self._words(slice(None), offset)
            new[1:] |= word[1:] != word[:-1]
        return np.flatnonzero(new)

    def same_as(self, other: Ids) -> npt.NDArray[np.bool_]:
        """Whether each id equals the id at the same place of the other column, byte for byte."""
        same: npt.NDArray[np.bool_] = self.lengths == other.lengths
        for offset in range(0, int(self.lengths.max(initial=0)), WORD):
            rows = np.flatnonzero(same & (self.lengths > offset))
            same[rows] = self._words(rows, offset) == other._words(rows, offset)
        return same

    def _words(self, rows: slice | Ints, offset: int) -> Words:
        """The eight bytes of these ids from `offset` on, zeros past the end of an id."""
        word = load_words(aligned_words(self.buffer), self.starts[rows] + offset)
        word &= MASKS.take(self.lengths[rows] - offset, mode="clip")
        return word

    def _matrix(self) -> tuple[Bytes, npt.NDArray[np.bool_]]:
        """Each id as a row of bytes, and where a row holds bytes of the id."""
        span = np.arange(int(self.lengths.max(initial=0)))
        inside = span[None, :] < self.lengths[:, None]
        at = np.minimum(self.starts[:, None] + span[None, :], max(0, len(self.buffer) - 1))
        return self.buffer[at], inside


def joined(columns: Sequence[Ids]) -> Ids:
    """Several columns, one after the other, as one."""
    packed = [c.packed() for c in columns]
    sizes = np.cumsum([0, *(len(c.buffer) for c in packed)])
    starts = [c.starts + at for c, at in zip(packed, sizes[:-1], strict=True)]
    return Ids(
        np.concatenate([np.zeros(0, np.uint8), *(c.buffer for c in packed)]),
        np.concatenate([np.zeros(0, np.int64), *starts]),
        np.concatenate([np.zeros(0, np.int64), *(c.lengths for c in packed)]),
    )


def coded(columns: Sequence[Ids]) -> tuple[list[Ints], Ids]:
    """Each column as integers into one vocabulary, which is ascending by bytes: codes compare as ids do.

    >>> codes, vocabulary = coded([Ids.of(["b", "a"]), Ids.of(["c", "b"])])
    >>> [c.tolist() for c in codes], vocabulary.tolist()
    ([[1, 0], [2, 1]], ['a', 'b', 'c'])
    """
    first: list[Ids] = []
    uniques: list[Words] = []
    for column in columns:
        unique, at = np.unique(column.hashes(), return_index=True)
        uniques.append(unique)
        first.append(column.take(at))
    every = np.concatenate([np.zeros(0, np.uint64), *uniques])
    keys, at = np.unique(every, return_index=True)
    vocabulary = joined(first).take(at)
    order = np.argsort(vocabulary.fixed(), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    vocabulary = vocabulary.take(order)
    codes = [place[np.searchsorted(keys, c.hashes())] for c in columns]
    for column, code in zip(columns, codes, strict=True):
        if not column.same_as(vocabulary.take(code)).all():
            raise RuntimeError("two ids share a 64-bit hash")
    return codes, vocabulary


def aligned_words(buffer: Bytes) -> Words:
    """The buffer as 64-bit words, padded at its end by at least one word if it is not already."""
    whole = len(buffer) // WORD * WORD
    return buffer[:whole].view("<u8")


def load_words(words: Words, at: Ints) -> Words:
    """The eight bytes from each position, wherever it lies, as one little-endian word."""
    return load_window(words, at, 1)[0]


def load_window(words: Words, at: Ints, count: int) -> list[Words]:
    """The `count` words of eight bytes each from each position on.

    Bytes before the first word or past the last are anything: who reads there masks them.
    """
    index, shift = at >> 3, ((at & 7) << 3).astype(np.uint64)
    rest = np.uint64(63) - shift
    low, window = words.take(index, mode="clip"), []
    for _ in range(count):
        index += 1
        high = words.take(index, mode="clip")
        # A shift by 64 is undefined: shift by 63 − s and then by one more.
        word = high << rest
        word <<= np.uint64(1)
        low >>= shift
        word |= low
        window.append(word)
        low = high
    return window


def short_hashes(word: Words, lengths: Ints) -> Words:
    """The hashes of ids of at most eight bytes, each given as a word with zeros past its end."""
    state = _mixed(lengths.astype(np.uint64) * _ODD, word)
    state *= _ODD
    return state


def _mixed(state: Words, word: Words) -> Words:
    """The state of a hash after one more word."""
    mixed = state ^ word
    mixed *= _MIX
    mixed ^= mixed >> np.uint64(29)
    return mixed


def first_mark(marks: Words) -> npt.NDArray[np.uint8]:
    """How many bytes of each word stand before the first one whose high bit is set; 8 if there is none."""
    below = marks - np.uint64(1)
    below &= ~marks
    return np.bitwise_count(below) >> 3
