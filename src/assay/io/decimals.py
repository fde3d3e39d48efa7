"""Decimal numbers from bytes, a whole column at a time: eight characters are one 64-bit word.

A plain decimal of at most 2^53 / 10^n is a whole number divided by a power of ten, both exact, so the quotient is the
nearest 64-bit float, the same that Python reads. Longer ones are divided in 80-bit floats; what is still not certain,
and everything else (exponents, inf), is left to Python.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.ids import Ids, Ints, Words, aligned_words, first_mark, load_words

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_ZEROS = np.uint64(0x3030303030303030)
_DOTS = np.uint64(0x2E2E2E2E2E2E2E2E)
_LOW = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_PAST_NINE = np.uint64(0x7676767676767676)
_EIGHT = np.uint64(8)
_TENS = 10.0 ** np.arange(23)
_LONG_TENS = np.cumprod(np.array([1, *[10] * 24], dtype=np.longdouble))
_EXACT = float(2**53)
_LARGEST = 1.8e19


def read_decimals(fields: Ids) -> Floats:
    """The numbers that the fields hold; NaN where a field is not a number.

    >>> read_decimals(Ids.of(["12.5", "-0.25", "7", "1e3", "NA"])).tolist()
    [12.5, -0.25, 7.0, 1000.0, nan]
    """
    values, done = _short_decimals(fields)
    for read in (_long_decimals, _by_python):
        left = np.flatnonzero(~done)
        if len(left):
            values[left], done[left] = read(fields.take(left))
    return values


def fixed_point(before: Words, size: npt.NDArray[np.uint8], after: Words, decimals: int) -> Floats | None:
    """Numbers [−]digits.digits, all with the same 1 to 7 decimals; None where one is not such a number.

    before: the eight characters before the dot, of which the last `size` (1 to 7) are the number's. after: the eight
    that end with its last decimal. What a word holds before the number is shifted out.
    """
    others = np.uint64(8 * (8 - decimals))
    fraction, fine = _number_of((after ^ _ZEROS) >> others << others)
    outside = ((8 - size) << 3).astype(np.uint64)
    negative = (before >> outside) & np.uint64(0xFF) == ord("-")
    if negative.any():
        outside += negative * _EIGHT
    number, also = _number_of((before ^ _ZEROS) >> outside << outside)
    if not fine.all() or not also.all() or outside.max(initial=0) > 56:
        return None
    number *= np.uint64(10**decimals)
    number += fraction
    values = number / _TENS[decimals]
    return np.negative(values, out=values, where=negative)


def _short_decimals(fields: Ids) -> tuple[Floats, Bools]:
    """Numbers [−]digits[.digits] with at most 8 and 16 digits, and which fields are such and exact."""
    parts = _Parts.of(fields)
    first, fine = _digits(parts.fraction(0), np.minimum(parts.length, 8))
    fine &= parts.fine & (parts.length <= 16)
    number = parts.whole * _TENS[np.minimum(parts.length, 8)] + first
    if (parts.length > 8).any():
        more = np.clip(parts.length - 8, 0, 8)
        rest, also = _digits(parts.fraction(8), more)
        fine &= also
        number = number * _TENS[more] + rest
    fine &= number <= _EXACT
    return parts.signed(number / _TENS[np.minimum(parts.length, 22)]), fine


def _long_decimals(fields: Ids) -> tuple[Floats, Bools]:
    """Numbers [−]digits[.digits] whose digits make a 64-bit integer, divided in 80-bit floats.

    Rounding twice, to 80 and then to 64 bits, is wrong only where the first lands in the very middle between two 64-bit
    floats: those are left to Python, and all of them where there are no 80-bit floats.
    """
    if np.finfo(np.longdouble).nmant != 63:
        return np.zeros(len(fields)), np.zeros(len(fields), dtype=bool)
    parts = _Parts.of(fields)
    fine = parts.fine & (parts.length <= 24)
    number, size = parts.whole.astype(np.uint64), parts.whole.copy()
    for offset in (0, 8, 16):
        length = np.clip(parts.length - offset, 0, 8)
        digits, also = _digits(parts.fraction(offset), length)
        fine &= also
        tens = _TENS[length]
        number, size = number * tens.astype(np.uint64) + digits.astype(np.uint64), size * tens + digits
    quotient = number.astype(np.longdouble) / _LONG_TENS[np.minimum(parts.length, 24)]
    value = quotient.astype(np.float64)
    middle = np.abs(quotient - value) * 2 == np.spacing(np.abs(value))
    return parts.signed(value), fine & (size < _LARGEST) & ~middle


@dataclass(frozen=True, eq=False)
class _Parts:
    """The sign, the digits before the dot as a number, and where the digits after it are."""

    words: Words
    negative: Bools
    whole: Floats
    start: Ints
    length: Ints
    fine: Bools

    @classmethod
    def of(cls, fields: Ids) -> _Parts:
        words = aligned_words(fields.buffer)
        head = load_words(words, fields.starts)
        negative = (head & np.uint64(0xFF)) == ord("-")
        starts, lengths = fields.starts, fields.lengths
        if negative.any():
            starts, lengths = starts + negative, lengths - negative
            head = load_words(words, starts)
        before_dot = np.minimum(_first_dot(head), lengths)
        whole, fine = _digits(head, before_dot)
        # Eight characters without a dot may be all there is, but not the start of more; a dot alone is no number.
        fine &= (before_dot < 8 + (lengths <= 8)) & (lengths > (before_dot < lengths))
        return cls(words, negative, whole, starts + before_dot + 1, np.maximum(lengths - before_dot - 1, 0), fine)

    def fraction(self, offset: int) -> Words:
        """Eight characters from that place after the dot."""
        return load_words(self.words, self.start + offset)

    def signed(self, value: Floats) -> Floats:
        """The value with its sign."""
        return np.where(self.negative, -value, value)


def _first_dot(word: Words) -> Ints:
    """How many characters stand before the first dot of each word; 8 if there is none."""
    difference = word ^ _DOTS
    return first_mark((difference - _LOW) & ~difference & _HIGH).astype(np.int64)


def _digits(word: Words, length: Ints) -> tuple[Floats, Bools]:
    """The number that the first `length` characters write, and whether they are all digits."""
    shift = ((8 - length) << 3).astype(np.uint64)
    # A shift by 64 is undefined: no characters at all are shifted out in two steps.
    digits = (word ^ _ZEROS) << np.minimum(shift, np.uint64(63))
    digits <<= (shift == np.uint64(64)).astype(np.uint64)
    number, fine = _number_of(digits)
    return number.astype(np.float64), fine


def _number_of(digits: Words) -> tuple[Words, Bools]:
    """The number whose eight digits are the bytes of a word, the highest first, and whether each of them is a digit."""
    fine = ((digits + _PAST_NINE) | digits) & _HIGH == 0
    number = digits * np.uint64(2561)
    number >>= _EIGHT
    number &= np.uint64(0x00FF00FF00FF00FF)
    number *= np.uint64(6553601)
    number >>= np.uint64(16)
    number &= np.uint64(0x0000FFFF0000FFFF)
    number *= np.uint64(42949672960001)
    number >>= np.uint64(32)
    return number, fine


def _by_python(fields: Ids) -> tuple[Floats, Bools]:
    """Whatever Python reads; NaN for anything else. Nothing is left."""
    texts, done = fields.fixed(), np.ones(len(fields), dtype=bool)
    if not np.strings.find(texts, b"_").max(initial=-1) >= 0:
        try:
            return texts.astype(np.float64), done
        except ValueError:
            pass
    return np.array([_number(t) for t in texts.tolist()]), done


def _number(text: bytes) -> float:
    """A number as people write it in a run file; NaN for anything else."""
    try:
        return float("nan") if b"_" in text else float(text)
    except ValueError:
        return float("nan")
