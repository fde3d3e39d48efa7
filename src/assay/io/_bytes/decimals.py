"""Decimal numbers from bytes, a whole column at a time: eight characters are one 64-bit word.

A plain decimal is a whole number divided by a power of ten. Up to 2^53 both are exact, so the quotient is the nearest
64-bit float, the same that Python reads; longer ones are divided to twice the digits. What is still not certain, and
everything else (exponents, inf), is left to Python.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints, Words
from assay.core.ids import WORD, Ids, aligned_words, first_mark, load_window

_ZEROS = np.uint64(0x3030303030303030)
_DOTS = np.uint64(0x1E1E1E1E1E1E1E1E)
"""What is left of dots where the zeros are taken off."""
_LOW = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_PAST_NINE = np.uint64(0x7676767676767676)
_EIGHT = np.uint64(8)
MOST_DECIMALS = 22
"""10^22 is the last power of ten that is a 64-bit float."""
_TENS = np.array([float(10**n) for n in range(MOST_DECIMALS + 1)])
MOST_WORDS = 3
"""Words of eight characters that a number may have."""
_WORD_TENS = np.array([1, 10**8, 10**16], dtype=np.uint64)
_LARGEST_TOP = 1843
"""The largest number in front of sixteen digits with which it is still one of 64 bits."""
NO_DOT = 255
_LAST_BYTES = np.array(
    [[2**64 - 2 ** (64 - 8 * min(max(n - 8 * place, 0), 8)) for n in range(8 * MOST_WORDS + 1)] for place in range(3)],
    dtype=np.uint64,
)
"""By place from the last word on and number of bytes: the bytes of that word that are among the last of that number."""
_EXACT = 2**53
_SIGNED = np.uint64(2**63)


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
    """Numbers [−]digits[.digits] whose digits make a 64-bit integer, and which fields are such and certain.

    A field is taken as the words of eight characters that end with it. The dot is taken out, so that what is left is
    the digits of one whole number, and the quotient of that and a power of ten is the value.
    """
    negative = fields.buffer.take(fields.starts, mode="clip") == ord("-")
    lengths = fields.lengths
    if negative.any():
        lengths = lengths - negative
    digits = _last_words(fields, lengths)
    after_dot = _after_dot(digits)
    digits = _without_dot(digits, after_dot)
    number, fine = _number_of(digits[0])
    for place, word in enumerate(digits[1:], 1):
        more, are_digits = _number_of(word)
        fine &= are_digits
        if place == MOST_WORDS - 1:
            fine &= more <= _LARGEST_TOP
        more *= _WORD_TENS[place]
        number += more
    has_dot = after_dot < NO_DOT
    fine &= (lengths > has_dot) & (lengths <= WORD * MOST_WORDS)
    decimals = np.where(has_dot, after_dot, np.uint8(0))
    fine &= decimals <= MOST_DECIMALS
    quotient, certain = _quotient(number, np.minimum(decimals, MOST_DECIMALS))
    return np.where(negative, -quotient, quotient), fine & certain


def _last_words(fields: Ids, lengths: Ints) -> list[Words]:
    """The digits of the fields as the words that end with them, the last word first; zero what stands before a field.

    Each byte is the value of its digit; that of a character that is no digit is above 9.
    """
    longest = int(lengths.max(initial=1))
    shortest = int(lengths.min(initial=longest))
    count = min(MOST_WORDS, -(-longest // WORD))
    ends = fields.starts + fields.lengths
    window = load_window(aligned_words(fields.buffer), ends - WORD * count, count)
    words = []
    for place, word in enumerate(reversed(window)):
        word ^= _ZEROS
        if shortest < WORD * (place + 1):
            word &= _LAST_BYTES[place].take(lengths, mode="clip")
        words.append(word)
    return words


def _after_dot(digits: list[Words]) -> npt.NDArray[np.uint8]:
    """How many characters of each field stand behind its dot; NO_DOT if there is none."""
    after = np.full(len(digits[0]), NO_DOT, dtype=np.uint8)
    for place, word in enumerate(digits):
        others = word ^ _DOTS
        marks = (others - _LOW) & ~others & _HIGH
        before = first_mark(marks)
        in_word = np.uint8(WORD * (place + 1) - 1) - before
        after = np.where(before < WORD, in_word, after)
    return after


def _without_dot(digits: list[Words], after_dot: npt.NDArray[np.uint8]) -> list[Words]:
    """The digits with the dot taken out: what stands before it moves up by one."""
    moved = []
    for place, word in enumerate(digits):
        behind = _LAST_BYTES[place].take(after_dot, mode="clip")
        up = word << _EIGHT
        if place + 1 < len(digits):
            up |= digits[place + 1] >> np.uint64(56)
        moved.append((word & behind) | (up & ~behind))
    return moved


def _quotient(number: Words, decimals: Ints) -> tuple[Floats, Bools]:
    """number / 10^decimals as the nearest 64-bit float, and where that is certain.

    A number of more than 53 bits is the sum of two floats. The quotient of the first and what it leaves, divided once
    more, make the whole quotient to twice the digits; it is uncertain only in the middle between two 64-bit floats.
    """
    tens = _TENS[decimals]
    if number.max(initial=0) <= _EXACT:
        return number / tens, np.ones(len(number), dtype=bool)
    is_signed = number < _SIGNED  # the nearest float of a larger one may be 2^64, which is no whole number of 64 bits
    number = np.where(is_signed, number, 0)
    high = number.astype(np.float64)
    first = high / tens
    low = (number - high.astype(np.uint64)).view(np.int64).astype(np.float64)
    product, error = _product(first, tens)
    rest = (high - product) - error + low
    second = rest / tens
    value = first + second
    # Halves of a spacing are the middles; below a power of two the spacing is half as wide.
    left_over = (first - value) + second
    in_halves = np.abs(left_over) * 2 / np.spacing(value)
    certain = (np.abs(in_halves - 1) > 1e-9) & (np.abs(in_halves - 0.5) > 1e-9)
    return value, certain & is_signed


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
