"""Decimal numbers from bytes, a whole column at a time: eight characters are one 64-bit word.

A plain decimal is a whole number divided by a power of ten. Up to 2^53 both are exact, so the quotient is the nearest
64-bit float, the same that Python reads. Longer ones are divided with a precision of 64 bits, where the machine has
it, and rounded again. What is not certain then, and everything else (exponents, inf), is left to Python.
"""

from __future__ import annotations

import contextlib
import math

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints, Words
from assay.core.ids import MASKS, WORD, Ids, aligned_words, first_mark, load_window

_ZEROS = np.uint64(0x3030303030303030)
_DOTS = np.uint64(0x2E2E2E2E2E2E2E2E)
_LOW = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_PAST_NINE = np.uint64(0x7676767676767676)
_BYTE, _BITS_OF_BYTE = np.uint64(0xFF), np.uint64(8)
_FROM_BYTE = ~MASKS
MOST_WORDS = 3
"""Words of eight digits that a number may have."""
MOST_DECIMALS = 22
"""10^22 is the last power of ten that is a 64-bit float."""
_TENS = np.array([float(10**n) for n in range(MOST_DECIMALS + 1)])
_WHOLE_TENS = np.array([10**n for n in range(WORD + 1)], dtype=np.uint64)
_ROOM = np.array([2**63 // 10**n - 1 for n in range(WORD + 1)], dtype=np.uint64)
"""By a number of digits: the largest number behind which that many can be written without leaving 63 bits."""
_EXACT = 2**53
FEW = 32
"""Numbers that are read one by one sooner than their column is made."""
_HAS_64_BITS = np.finfo(np.longdouble).nmant == 63 and np.dtype(np.longdouble).itemsize == 16
"""Whether a long float is one of x86: 64 bits of precision, in the first of its two words."""
_CUT_OFF, _MIDDLE = np.uint64(2**11 - 1), np.uint64(2**10)
"""Those of the 64 bits that a float of 53 has no room for, and what they are in the middle between two of them."""


def read_decimals(fields: Ids) -> Floats:
    """The numbers that the fields hold; NaN where a field is not a number, or one that is too large for a float.

    >>> read_decimals(Ids.of(["12.5", "-0.25", "7", "1e3", "inf", "1e400", "NA"])).tolist()
    [12.5, -0.25, 7.0, 1000.0, inf, nan, nan]
    """
    values, others = _plain_decimals(fields)
    if len(others):
        values[others] = _by_python(fields.take(others))
    return values


def fixed_point(before: Words, size: npt.NDArray[np.uint8], after: Words, decimals: int) -> Floats | None:
    """Numbers [−]digits.digits, all with the same 1 to 7 decimals; None where one is not such a number.

    before: the eight characters before the dot, of which the last `size` (1 to 7) are the number's. after: the eight
    that end with its last decimal. What a word holds before the number is shifted out.
    """
    others = np.uint64(8 * (8 - decimals))
    outside = ((8 - size) << 3).astype(np.uint64)
    negative = (before >> outside) & _BYTE == ord("-")
    if negative.any():
        outside += negative * _BITS_OF_BYTE
    marks = np.zeros(len(before), dtype=np.uint64)
    fraction = _number_of((after ^ _ZEROS) >> others << others, marks)
    number = _number_of((before ^ _ZEROS) >> outside << outside, marks)
    if (marks & _HIGH).any() or outside.max(initial=0) > 56:
        return None
    number *= _WHOLE_TENS[decimals]
    number += fraction
    values = number / _TENS[decimals]
    return np.negative(values, out=values, where=negative) if negative.any() else values


def _plain_decimals(fields: Ids) -> tuple[Floats, Ints]:
    """Numbers [−]digits[.digits], and the places of the fields that are none or whose value is not certain."""
    window, lengths, negative = _without_sign(fields)
    dot = _before_dot(window[0])
    size = lengths - (dot < lengths)
    number, others = _whole_number(_without_dot(window, dot), size)
    others |= (dot == WORD) & (lengths > WORD)  # its dot may stand later
    decimals = size - dot  # negative where there is no dot
    others |= decimals > MOST_DECIMALS
    values, uncertain = _quotient(number, decimals)
    others |= uncertain
    if negative.any():
        np.negative(values, out=values, where=negative)
    return values, np.flatnonzero(others)


def _without_sign(fields: Ids) -> tuple[list[Words], Ints, Bools]:
    """The characters of each field behind its minus, as words; how many they are; whether there is a minus."""
    words = aligned_words(fields.buffer)
    longest = int(fields.lengths.max(initial=1))
    count = min(-(-longest // WORD), MOST_WORDS + 1)
    window = load_window(words, fields.starts, count)
    negative = (window[0] & _BYTE) == ord("-")
    if not negative.any():
        return window, fields.lengths, negative
    return load_window(words, fields.starts + negative, count), fields.lengths - negative, negative


def _before_dot(word: Words) -> Ints:
    """How many characters of each word stand before its first dot; 8 if there is none."""
    others = word ^ _DOTS
    marks = others - _LOW
    marks &= ~others
    marks &= _HIGH
    return first_mark(marks).astype(np.int64)


def _without_dot(window: list[Words], dot: Ints) -> list[Words]:
    """The characters with the dot of the first word taken out: what stands behind it moves up by one."""
    moved = []
    for place, word in enumerate(window):
        up = word >> _BITS_OF_BYTE
        if place + 1 < len(window):
            up |= window[place + 1] << np.uint64(56)
        if place == 0:  # the bytes of the word up to the dot, those of the other from there on
            up ^= word
            up &= _FROM_BYTE.take(dot)
            up ^= word
        moved.append(up)
    return moved


def _whole_number(characters: list[Words], size: Ints) -> tuple[Words, Bools]:
    """The number that the first `size` characters make, and which are not digits alone, or too many."""
    shortest = int(size.min(initial=0))
    longest = int(size.max(initial=0))
    number = np.zeros(len(size), dtype=np.uint64)
    marks = np.zeros(len(size), dtype=np.uint64)
    others = (size == 0) | (size > WORD * MOST_WORDS)
    for place, word in enumerate(characters[:MOST_WORDS]):
        before = WORD * place
        if longest <= before:
            break
        word ^= _ZEROS
        if shortest < before + WORD:
            outside = np.maximum(before + WORD - size, 0)
            outside <<= 3
            word <<= outside.view(np.uint64)  # a shift by 64 or more leaves 0
        if place:
            own = size - before
            if place > 1:
                others |= number > _ROOM.take(own, mode="clip")
            number *= _WHOLE_TENS.take(own, mode="clip")
        number += _number_of(word, marks)
    marks &= _HIGH
    others |= marks != 0
    return number, others


def _number_of(digits: Words, marks: Words) -> Words:
    """The number whose eight digits are the bytes of a word, the highest first; marked are bytes that are no digit."""
    wrong = digits + _PAST_NINE
    wrong |= digits
    marks |= wrong
    number = digits * np.uint64(2561)
    number >>= np.uint64(8)
    number &= np.uint64(0x00FF00FF00FF00FF)
    number *= np.uint64(6553601)
    number >>= np.uint64(16)
    number &= np.uint64(0x0000FFFF0000FFFF)
    number *= np.uint64(42949672960001)
    number >>= np.uint64(32)
    return number


def _quotient(number: Words, decimals: Ints) -> tuple[Floats, Bools]:
    """number / 10^decimals as the nearest 64-bit float, and where that is not certain.

    A quotient of 64 bits is the nearest one of 64. Rounded to 53 it is the nearest of 53, unless it lies in the middle
    between two of them: what it was rounded from may lie on either side.
    """
    tens = _TENS.take(decimals, mode="clip")
    values = number / tens
    uncertain = number > _EXACT
    if _HAS_64_BITS and uncertain.any():
        places = np.flatnonzero(uncertain)
        long = number[places].view(np.int64).astype(np.longdouble)
        long /= tens[places]
        values[places] = long
        rest = long.view(np.uint64)[::2] & _CUT_OFF
        uncertain[places] = rest == _MIDDLE
    return values, uncertain


def _by_python(fields: Ids) -> Floats:
    """Whatever Python reads; NaN for anything else."""
    if len(fields) <= FEW:
        return _one_by_one(fields)
    texts = fields.prefixes()
    # A byte string of numpy is cut at its width and forgets zero bytes at its end.
    whole = bool((np.strings.str_len(texts) == fields.lengths).all())
    if whole and not np.strings.find(texts, b"_").max(initial=-1) >= 0:
        with contextlib.suppress(ValueError):
            values = texts.astype(np.float64)
            infinite = np.flatnonzero(np.isinf(values))
            values[infinite] = _one_by_one(fields.take(infinite))
            return values
    return _one_by_one(fields)


def _one_by_one(fields: Ids) -> Floats:
    return np.array([_number(fields.raw(i)) for i in range(len(fields))], dtype=np.float64)


def _number(text: bytes) -> float:
    """A number as people write it in a run file; NaN for anything else."""
    try:
        value = float("nan") if b"_" in text else float(text)
    except ValueError:
        return float("nan")
    return float("nan") if math.isinf(value) and b"n" not in text.lower() else value
