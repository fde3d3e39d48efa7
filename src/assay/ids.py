"""Ids: a column of doc ids as bytes, never as Python strings unless somebody looks.

A run of seven million docs is one buffer with seven million starts and lengths. Ids are hashed and compared eight bytes
at a time; equal hashes are always confirmed byte by byte, so that a collision cannot lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

WORD = 8
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(WORD)] + [2**64 - 1], dtype=np.uint64)
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
        longest = int(self.lengths.max(initial=0))
        words = aligned_words(self.buffer)
        for offset in range(0, longest, WORD):
            rows = slice(None) if int(self.lengths.min()) > offset else np.flatnonzero(self.lengths > offset)
            left = np.minimum(self.lengths[rows] - offset, WORD)
            word = load_words(words, self.starts[rows] + offset) & _MASKS[left]
            mixed = (state[rows] ^ word) * _MIX
            state[rows] = mixed ^ (mixed >> np.uint64(29))
        return state * _ODD

    def same_as(self, other: Ids) -> npt.NDArray[np.bool_]:
        """Whether each id equals the id at the same place of the other column, byte for byte."""
        same: npt.NDArray[np.bool_] = self.lengths == other.lengths
        ours, theirs = aligned_words(self.buffer), aligned_words(other.buffer)
        for offset in range(0, int(self.lengths.max(initial=0)), WORD):
            rows = np.flatnonzero(same & (self.lengths > offset))
            mask = _MASKS[np.minimum(self.lengths[rows] - offset, WORD)]
            a = load_words(ours, self.starts[rows] + offset)
            b = load_words(theirs, other.starts[rows] + offset)
            same[rows] = ((a ^ b) & mask) == 0
        return same

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
    """The eight bytes from each position, wherever it lies, as one little-endian word.

    A position in the last word reads zeros past the end.
    """
    index = at >> 3
    shift = ((at & 7) << 3).astype(np.uint64)
    low = words.take(index, mode="clip") >> shift
    high = words.take(index + 1, mode="clip")
    # A shift by 64 is undefined: shift by 63 − s and then by one more.
    high <<= np.uint64(63) - shift
    high <<= np.uint64(1)
    return low | high
