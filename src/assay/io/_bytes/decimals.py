"""Decimal numbers from bytes, a whole column at a time: eight characters are one 64-bit word.

A plain decimal is a whole number divided by a power of ten. Up to 2^53 both are exact, so the quotient is the nearest
64-bit float, the same that Python reads; longer ones are divided to twice the digits. What is still not certain, and
everything else (exponents, inf), is left to Python.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints, Words
from assay.core.ids import Ids, aligned_words, first_mark, load_words

_ZEROS = np.uint64(0x3030303030303030)
_DOTS = np.uint64(0x2E2E2E2E2E2E2E2E)
_LOW = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_PAST_NINE = np.uint64(0x7676767676767676)
_EIGHT = np.uint64(8)
MOST_DECIMALS = 22
"""10^22 is the last power of ten that is a 64-bit float."""
_TENS = np.array([float(10**n) for n in range(MOST_DECIMALS + 1)])
_WHOLE_TENS = 10 ** np.arange(9, dtype=np.uint64)
_EXACT = 2**53
_LARGEST = 1.8e19


def read_decimals(fields: Ids) -> Floats:
    """The numbers that the fields hold; NaN where a field is not a number.

    >>> read_decimals(Ids.of(["12.5", "-0.25", "7", "1e3", "NA"])).tolist()
    [12.5, -0.25, 7.0, 1000.0, nan]
    """
    values, done = _plain_decimals(fields)
    left = np.flatnonzero(~done)
    if len(left):
        values[left] = _by_python(fields.take(left))
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


def _plain_decimals(fields: Ids) -> tuple[Floats, Bools]:
    """Numbers [−]digits[.digits] whose digits make a 64-bit integer, and which fields are such and certain."""
    parts = _Parts.of(fields)
    number = parts.whole
    size = number.astype(np.float64)
    fine = parts.fine & (parts.length <= MOST_DECIMALS)
    longest = min(int(parts.length.max(initial=0)), MOST_DECIMALS)
    for offset in range(0, longest, 8):
        length = np.clip(parts.length - offset, 0, 8)
        digits, also = _digits(parts.fraction(offset), length)
        number = number * _WHOLE_TENS[length] + digits
        # The same as a float, which does not overflow, says whether the number is one of 64 bits.
        size = size * _TENS[length] + digits
        fine &= also
    decimals = np.minimum(parts.length, MOST_DECIMALS)
    quotient, certain = _quotient(number, decimals)
    return parts.signed(quotient), fine & certain & (size < _LARGEST)


def _quotient(number: Words, decimals: Ints) -> tuple[Floats, Bools]:
    """number / 10^decimals as the nearest 64-bit float, and where that is certain.

    A number of more than 53 bits is the sum of two floats. The quotient of the first and what it leaves, divided once
    more, make the whole quotient to twice the digits; it is uncertain only in the middle between two 64-bit floats.
    """
    tens = _TENS[decimals]
    high = number.astype(np.float64)
    first = high / tens
    if number.max(initial=0) <= _EXACT:
        return first, np.ones(len(number), dtype=bool)
    low = (number - high.astype(np.uint64)).view(np.int64).astype(np.float64)
    product, error = _product(first, tens)
    rest = (high - product) - error + low
    second = rest / tens
    value = first + second
    # Halves of a spacing are the middles; below a power of two the spacing is half as wide.
    left_over = (first - value) + second
    in_halves = np.abs(left_over) * 2 / np.spacing(value)
    certain = (np.abs(in_halves - 1) > 1e-9) & (np.abs(in_halves - 0.5) > 1e-9)
    return value, certain


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a·b as a float, and what is missing to the exact product (Dekker 1971)."""
    product = a * b
    a_head, a_tail = _halves(a)
    b_head, b_tail = _halves(b)
    error = a_head * b_head - product + a_head * b_tail + a_tail * b_head + a_tail * b_tail
    return product, error


def _halves(x: Floats) -> tuple[Floats, Floats]:
    """x as the sum of two floats of half the digits each."""
    large = x * 134217729.0
    head = large - (large - x)
    return head, x - head


@dataclass(frozen=True, eq=False)
class _Parts:
    """The sign, the digits before the dot as a number, and where the digits after it are."""

    words: Words
    negative: Bools
    whole: Words
    start: Ints
    length: Ints
    fine: Bools

    @classmethod
    def of(cls, fields: Ids) -> _Parts:
        words = aligned_words(fields.buffer)
        starts = fields.starts
        lengths = fields.lengths
        head = load_words(words, starts)
        negative = (head & np.uint64(0xFF)) == ord("-")
        if negative.any():
            starts = starts + negative
            lengths = lengths - negative
            head = load_words(words, starts)
        before_dot = np.minimum(_first_dot(head), lengths)
        whole, fine = _digits(head, before_dot)
        # Eight characters without a dot may be all there is, but not the start of more; a dot alone is no number.
        fine &= before_dot < 8 + (lengths <= 8)
        fine &= lengths > (before_dot < lengths)
        after_dot = starts + before_dot + 1
        decimals = np.maximum(lengths - before_dot - 1, 0)
        return cls(words, negative, whole, after_dot, decimals, fine)

    def fraction(self, offset: int) -> Words:
        """Eight characters from that place after the dot."""
        return load_words(self.words, self.start + offset)

    def signed(self, value: Floats) -> Floats:
        """The value with its sign."""
        return np.where(self.negative, -value, value)


def _first_dot(word: Words) -> Ints:
    """How many characters stand before the first dot of each word; 8 if there is none."""
    difference = word ^ _DOTS
    marks = (difference - _LOW) & ~difference & _HIGH
    return first_mark(marks).astype(np.int64)


def _digits(word: Words, length: Ints) -> tuple[Words, Bools]:
    """The number that the first `length` characters write, and whether they are all digits."""
    shift = ((8 - length) << 3).astype(np.uint64)
    # A shift by 64 is undefined: no characters at all are shifted out in two steps.
    digits = (word ^ _ZEROS) << np.minimum(shift, np.uint64(63))
    digits <<= (shift == np.uint64(64)).astype(np.uint64)
    return _number_of(digits)


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


def _by_python(fields: Ids) -> Floats:
    """Whatever Python reads; NaN for anything else."""
    texts = fields.prefixes()
    # A byte string of numpy is cut at its width and forgets zero bytes at its end.
    whole = bool((np.strings.str_len(texts) == fields.lengths).all())
    if whole and not np.strings.find(texts, b"_").max(initial=-1) >= 0:
        try:
            return texts.astype(np.float64)
        except ValueError:
            pass
    return np.array([_number(fields.raw(i)) for i in range(len(fields))], dtype=np.float64)


def _number(text: bytes) -> float:
    """A number as people write it in a run file; NaN for anything else."""
    try:
        return float("nan") if b"_" in text else float(text)
    except ValueError:
        return float("nan")
