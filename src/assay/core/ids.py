"""Ids: a column of doc ids as bytes, never as Python strings unless somebody looks.

A run of seven million docs is one buffer with seven million starts and lengths. Ids are hashed and compared eight bytes
at a time. The hash is public, so anybody can make ids that share it: a hash only finds candidates. Which ids are equal
is always decided by their bytes, and ids that share a hash are sorted by their bytes, so that many of them cost no
more than many others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Bytes, Ints, Sealed, Words

WORD = 8
MASKS = np.array([(1 << (8 * n)) - 1 for n in range(WORD)] + [2**64 - 1], dtype=np.uint64)
PREFIX = 64
"""Bytes of an id that are sorted as a whole column; where they are equal, Python compares the rest."""
LONG = 1024
"""Ids of more bytes are looked at one by one: a step of eight bytes for the sake of one id is slow."""
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True, eq=False, repr=False)
class Ids(Sealed):
    """A column of UTF-8 ids, each `lengths[i]` bytes from `starts[i]` of the buffer.

    The buffer is padded, so that the word at any start can be read whole. The column takes its arrays over: they are
    read-only from then on.

    >>> ids = Ids.of(["doc-1", "doc-2"])
    >>> ids[1], len(ids), ids.take([1, 1]).tolist()
    ('doc-2', 2, ['doc-2', 'doc-2'])
    """

    buffer: Bytes
    starts: Ints
    lengths: Ints

    def __post_init__(self) -> None:
        """Nobody can change the column."""
        self.buffer.setflags(write=False)
        self.starts.setflags(write=False)
        self.lengths.setflags(write=False)

    @classmethod
    def of(cls, texts: Iterable[str | bytes]) -> Ids:
        """A column from strings or bytes."""
        raw = [text.encode() if isinstance(text, str) else text for text in texts]
        lengths = np.fromiter(map(len, raw), dtype=np.int64, count=len(raw))
        starts = np.cumsum(lengths) - lengths
        padded = b"".join(raw) + bytes(2 * WORD)
        buffer = np.frombuffer(padded, dtype=np.uint8)
        return cls(buffer, starts, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __repr__(self) -> str:
        shown = [repr(self[i]) for i in range(min(3, len(self)))]
        more = f", … {len(self):,}" if len(self) > len(shown) else ""
        return f"Ids({', '.join(shown)}{more})"

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
        starts = self.starts.tolist()
        ends = (self.starts + self.lengths).tolist()
        return [str(data[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]

    def take(self, index: npt.ArrayLike | slice) -> Ids:
        """The ids at these places; the buffer is shared."""
        at = index if isinstance(index, slice) else np.asarray(index)
        return Ids(self.buffer, self.starts[at], self.lengths[at])

    def packed(self) -> Ids:
        """The same ids in a buffer that holds nothing else."""
        starts = np.cumsum(self.lengths) - self.lengths
        source = np.repeat(self.starts - starts, self.lengths)
        source += np.arange(len(source))
        padding = np.zeros(2 * WORD, np.uint8)
        buffer = np.concatenate([self.buffer[source], padding])
        return Ids(buffer, starts, self.lengths)

    def hashes(self) -> Words:
        """A 64-bit hash of each id; equal ids have equal hashes, whatever buffer they stand in."""
        longest = int(self.lengths.max(initial=1))
        if longest <= 2 * WORD:
            window = load_window(aligned_words(self.buffer), self.starts, -(-longest // WORD))
            return hashes_of_words(window, self.lengths)
        state = self.lengths.astype(np.uint64) * _ODD
        for offset, rows in self._steps():
            state[rows] = _mixed(state[rows], self._words(rows, offset))
        state *= _ODD
        for i in self._long():
            checksum = crc32(self.raw(i))
            state[i] = checksum << 32 | checksum
        return state

    def changes(self) -> Ints:
        """The places where an id is not the one before it, the first place among them.

        >>> Ids.of(["a", "a", "b"]).changes().tolist()
        [0, 2]
        """
        new = np.ones(len(self), dtype=bool)
        longest = int(self.lengths.max(initial=0))
        if longest > PREFIX:
            later = self.take(slice(1, None))
            earlier = self.take(slice(None, -1))
            new[1:] = ~later.same_as(earlier)
            return np.flatnonzero(new)
        new[1:] = self.lengths[1:] != self.lengths[:-1]
        for offset in range(0, longest, WORD):
            word = self._words(slice(None), offset)
            new[1:] |= word[1:] != word[:-1]
        return np.flatnonzero(new)

    def same_as(self, other: Ids) -> Bools:
        """Whether each id equals the id at the same place of the other column, byte for byte."""
        same: Bools = self.lengths == other.lengths
        for offset, rows in self._steps():
            ours = self._words(rows, offset)
            theirs = other._words(rows, offset)
            same[rows] &= ours == theirs
        for i in self._long():
            same[i] = same[i] and self.raw(i) == other.raw(i)
        return same

    def byte_order(self) -> Ints:
        """The places of the ids, ascending by their bytes; equal ids in the order in which they stand.

        >>> Ids.of(["b", "a", "ab"]).byte_order().tolist()
        [1, 2, 0]
        """
        return places_ascending(self.byte_ranks(), np.arange(len(self)))

    def byte_ranks(self) -> Ints:
        """A number for each id: equal ids have equal numbers, and numbers compare as the bytes of the ids do.

        >>> Ids.of(["b", "a", "ab", "b"]).byte_ranks().tolist()
        [2, 0, 1, 2]
        """
        ranks = np.zeros(len(self), dtype=np.int64)
        longest = int(self.lengths.max(initial=0))
        for offset in range(0, min(longest, PREFIX), WORD):
            word = self._words(slice(None), offset).byteswap()  # compares as its bytes do
            if (word != word[0]).any():
                ranks = _refined(ranks, _dense_ranks(word))
        # Words hold whole ids, unless an id is longer or ends with a zero byte, which does not count there.
        last_bytes = self.buffer.take(self.starts + self.lengths - 1, mode="clip")
        if longest > PREFIX or not last_bytes.all():
            return self._ranks_beyond(ranks)
        return ranks

    def _ranks_beyond(self, ranks: Ints) -> Ints:
        """The same where ids of one rank may differ: Python compares those."""
        shared = np.flatnonzero(np.bincount(ranks)[ranks] > 1)
        raw = [self.raw(i) for i in shared.tolist()]
        place = {text: i for i, text in enumerate(sorted(set(raw)))}
        within = np.zeros(len(self), dtype=np.int64)
        within[shared] = [place[text] for text in raw]
        return _refined(ranks, within)

    def prefixes(self) -> npt.NDArray[np.bytes_]:
        """The first 64 bytes of each id as numpy byte strings, which compare and sort by their bytes."""
        longest = int(self.lengths.max(initial=1))
        words = -(-min(longest, PREFIX) // WORD)  # rounded up
        table = np.zeros((len(self), words), dtype="<u8")
        for offset, rows in self._steps():
            if offset < PREFIX:
                table[rows, offset // WORD] = self._words(rows, offset)
        as_bytes = table.view(f"S{words * WORD}")
        return as_bytes.reshape(-1)

    def _steps(self) -> Iterator[tuple[int, slice | Ints]]:
        """Offsets 0, 8, 16, … with the rows of the ids that go on there, as far as ids are compared by column."""
        shortest = int(self.lengths.min(initial=0))
        longest = int(self.lengths.max(initial=0))
        rows: slice | Ints = slice(None)
        for offset in range(0, min(longest, LONG), WORD):
            if shortest <= offset:
                rows = np.flatnonzero(self.lengths > offset) if isinstance(rows, slice) else rows
                rows = rows[self.lengths[rows] > offset]
            yield offset, rows

    def _long(self) -> list[int]:
        """The places of the ids that are too long to be compared by column."""
        if int(self.lengths.max(initial=0)) <= LONG:
            return []
        return np.flatnonzero(self.lengths > LONG).tolist()

    def _words(self, rows: slice | Ints, offset: int) -> Words:
        """The eight bytes of these ids from `offset` on, zeros past the end of an id."""
        word = load_words(aligned_words(self.buffer), self.starts[rows] + offset)
        word &= MASKS.take(self.lengths[rows] - offset, mode="clip")
        return word


def places_ascending(first: Ints, then: Ints) -> Ints:
    """The places in the order of the first numbers and, where those are equal, of the others; none is negative.

    Pairs must be distinct. Many times faster than a stable sort: both make one number.

    >>> places_ascending(np.array([1, 0, 1]), np.array([3, 2, 0])).tolist()
    [1, 2, 0]
    """
    width = int(then.max(initial=0)) + 1
    return np.argsort(first * width + then)


def _dense_ranks(values: Words | Ints) -> Ints:
    """0 for the least of the values, 1 for the next, …; equal values have equal ranks."""
    order = np.argsort(values)
    ascending = values[order]
    new = np.zeros(len(values), dtype=np.int64)
    new[1:] = ascending[1:] != ascending[:-1]
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.cumsum(new)
    return ranks


def _distinct(values: Words) -> tuple[Words, Ints, Ints]:
    """The distinct values, ascending, the place where each comes first, and for every value its place among them.

    As np.unique, which first loads numpy's masked arrays: a twentieth of the time of a short command.
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = ascending[1:] != ascending[:-1]
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.cumsum(is_new) - 1
    return ascending[is_new], order[is_new], place


def _refined(ranks: Ints, within: Ints) -> Ints:
    """Ranks by the first numbers and, where those are equal, by the others."""
    if not ranks.any():
        return within
    width = int(within.max(initial=0)) + 1
    return _dense_ranks(ranks * width + within)


def joined(columns: Sequence[Ids]) -> Ids:
    """Several columns, one after the other, as one."""
    packed = [column.packed() for column in columns]
    buffers = [np.zeros(0, np.uint8)]
    starts = [np.zeros(0, np.int64)]
    lengths = [np.zeros(0, np.int64)]
    end = 0
    for column in packed:
        buffers.append(column.buffer)
        starts.append(column.starts + end)
        lengths.append(column.lengths)
        end += len(column.buffer)
    return Ids(np.concatenate(buffers), np.concatenate(starts), np.concatenate(lengths))


def coded(columns: Sequence[Ids]) -> tuple[list[Ints], Ids]:
    """Each column as integers into one vocabulary, which is ascending by bytes: codes compare as ids do.

    >>> codes, vocabulary = coded([Ids.of(["b", "a"]), Ids.of(["c", "b"])])
    >>> [c.tolist() for c in codes], vocabulary.tolist()
    ([[1, 0], [2, 1]], ['a', 'b', 'c'])
    """
    distinct: list[Words] = []
    examples: list[Ids] = []
    places: list[Ints] = []
    for column in columns:
        hashes, first, place = _distinct(column.hashes())
        distinct.append(hashes)
        examples.append(column.take(first))
        places.append(place)
    every = np.concatenate([np.zeros(0, np.uint64), *distinct])
    _, first, number = _distinct(every)
    vocabulary = joined(examples).take(first)
    order = vocabulary.byte_order()
    vocabulary = vocabulary.take(order)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    codes = []
    start = 0
    for column, hashes, place in zip(columns, distinct, places, strict=True):
        code_of_hash = rank[number[start : start + len(hashes)]]
        code = code_of_hash[place]
        if not column.same_as(vocabulary.take(code)).all():  # two ids share a hash
            return _coded_by_bytes(columns)
        codes.append(code)
        start += len(hashes)
    return codes, vocabulary


def _coded_by_bytes(columns: Sequence[Ids]) -> tuple[list[Ints], Ids]:
    """The same where different ids share a hash: all ids are sorted by their bytes."""
    every = joined(columns)
    ranks = every.byte_ranks()
    _, first = np.unique(ranks, return_index=True)
    ends = np.cumsum([len(column) for column in columns])
    codes = np.split(ranks, ends[:-1])
    return codes, every.take(first)


def aligned_words(buffer: Bytes) -> Words:
    """The buffer as 64-bit words, padded at its end by at least one word if it is not already."""
    whole = len(buffer) // WORD * WORD
    return buffer[:whole].view("<u8")


def load_words(words: Words, at: Ints) -> Words:
    """The eight bytes from each position, wherever it lies, as one little-endian word.

    Bytes before the first word or past the last are anything: who reads there masks them.
    """
    index = at >> 3
    shift = (at & 7).astype(np.uint64)
    shift <<= np.uint64(3)
    word = words.take(index, mode="clip")
    word >>= shift
    index += 1
    next_word = words.take(index, mode="clip")
    next_word <<= np.uint64(64) - shift  # a shift by 64 leaves 0
    word |= next_word
    return word


def load_window(words: Words, at: Ints, count: int) -> list[Words]:
    """The `count` words of eight bytes each from each position on; of bytes outside the same holds."""
    size = count * WORD
    last = words.nbytes - size
    if count == 1 or not len(at) or at.min() < 0 or at.max() > last:
        return [load_words(words, at + place * WORD) for place in range(count)]
    # Every place of the buffer as an item of that many bytes: one of them is copied for each position.
    every_place: npt.NDArray[np.void] = np.ndarray((last + 1,), dtype=f"V{size}", buffer=words.data, strides=(1,))
    window = every_place[at].view("<u8")
    return list(np.ascontiguousarray(window.reshape(-1, count).T))


def hashes_of_words(window: Sequence[Words], lengths: Ints) -> Words:
    """The hashes of ids given as words of eight bytes each; bytes past the end of an id do not count."""
    shortest = int(lengths.min(initial=0))
    longest = int(lengths.max(initial=0))
    state = lengths.astype(np.uint64) * _ODD
    for place, word in enumerate(window[: -(-longest // WORD)]):
        before = WORD * place
        if shortest < before + WORD:
            word = word & MASKS.take(lengths - before, mode="clip")
        mixed = _mixed(state, word)
        state = mixed if shortest > before else np.where(lengths > before, mixed, state)
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
