"""Where certain bytes of a text are, by 64 bytes at a time: one bit says of each byte whether it is one of them.

To list the places of all blanks costs more than anything else that is done with a line. The bits of a line are one or
two words, and the first few that are set are found in all lines at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Bytes, Ints, Words
from assay.core.ids import WORD

Places = npt.NDArray[np.uint8]
NEWLINE, TAB, BLANK = 10, 9, 32
BITS = 64
_ONE = np.uint64(1)


def newlines(text: Bytes) -> Ints:
    """The places of all newlines, ascending.

    >>> newlines(np.frombuffer(b"a line of text\\nanother\\n", np.uint8)).tolist()
    [14, 22]
    """
    is_newline = text == NEWLINE
    packed = np.packbits(is_newline, bitorder="little")
    if len(packed) % 2:
        packed = np.append(packed, np.uint8(0))
    # Lines of less than 16 bytes are rare: mostly sixteen bytes have one newline or none.
    sixteens = packed.view("<u2")
    (at,) = (sixteens != 0).nonzero()
    bits = sixteens.take(at)
    below = bits - np.uint16(1)
    if (bits & below).any():  # two of them
        return np.flatnonzero(is_newline)
    at *= 16
    at += np.bitwise_count(below & ~bits)
    return at


def has_other_controls(text: Bytes, lines: int) -> bool:
    """Whether there are bytes below the blank that are neither tabs nor newlines; lines: the number of newlines.

    >>> [has_other_controls(np.frombuffer(text, np.uint8), 1) for text in (b"a\\tb\\n", b"a\\r\\n")]
    [False, True]
    """
    others = int(np.count_nonzero(text < BLANK)) - lines
    return others > 0 and others != int(np.count_nonzero(text == TAB))


def bit_words(marked: Bools) -> Words:
    """A bit for each byte, the first in the lowest bit of the first word; two words without any at the end."""
    packed = np.packbits(marked, bitorder="little")
    words = np.zeros(len(packed) // WORD + 3, dtype="<u8")
    words.view(np.uint8)[: len(packed)] = packed
    return words


def set_bits(words: Words, starts: Ints, count: int) -> list[Places] | None:
    """How far behind each start the first `count` bits are that are set: first the first of all starts, and so on.

    None where a start has fewer within 128 bits.

    >>> words = bit_words(np.frombuffer(b"12 Q0 x", np.uint8) <= 32)
    >>> [places.tolist() for places in set_bits(words, np.array([0, 3]), 1)]
    [[2, 2]]
    """
    near = _window(words, starts)
    if np.bitwise_count(near).min(initial=BITS) >= count:
        return _first_bits(near, count)
    far = _window(words, starts + BITS)
    places: list[Places] = []
    for _ in range(count):
        is_near = near != 0
        (in_far,) = _first_bits(far, 1)
        (in_near,) = _first_bits(near, 1)
        places.append(np.where(is_near, in_near, in_far + BITS))
        far = np.where(is_near, far, far & (far - _ONE))
        near &= near - _ONE
    return None if max(int(last.max(initial=0)) for last in places) >= 2 * BITS else places


def _first_bits(words: Words, count: int) -> list[Places]:
    """The places of the first bits of each word that are set; 64 where there is none left."""
    left = words
    places = []
    for _ in range(count):
        below = left - _ONE
        without_first = left & below
        below ^= without_first  # the bits below the first, and no other
        places.append(np.bitwise_count(below))
        left = without_first
    return places


def _window(words: Words, starts: Ints) -> Words:
    """The 64 bits from each place on."""
    index = starts >> 6
    shift = (starts & (BITS - 1)).astype(np.uint64)
    window = words.take(index, mode="clip")
    index += 1
    later = words.take(index, mode="clip")
    window >>= shift
    later <<= np.uint64(BITS) - shift  # a shift by 64 leaves 0
    window |= later
    return window
