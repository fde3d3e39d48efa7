"""Decimal numbers from bytes, a whole column at a time: eight characters are one 64-bit word.

A plain decimal of at most 2^53 / 10^n is a whole number divided by a power of ten, both exact, so the quotient is the
nearest 64-bit float, the same that Python reads. Everything else (exponents, more digits, inf) is left to Python.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.ids import Ids, Ints, Words, aligned_words, load_words

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_ZEROS = np.uint64(0x3030303030303030)
_DOTS = np.uint64(0x2E2E2E2E2E2E2E2E)
_LOW = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_PAST_NINE = np.uint64(0x7676767676767676)
_EIGHT = np.uint64(8)
_TENS = 10.0 ** np.arange(23)
_EXACT = float(2**53)
_LONGEST = 20


def read_decimals(fields: Ids) -> Floats:
    """The numbers that the fields hold; NaN where a field is not a number.

    >>> read_decimals(Ids.of(["12.5", "-0.25", "7", "1e3", "NA"])).tolist()
    [12.5, -0.25, 7.0, 1000.0, nan]
    """
    values, plain = _plain_decimals(fields)
    odd = np.flatnonzero(~plain)
    if len(odd):
        values[odd] = _by_python(fields.take(odd))
    return values


def _plain_decimals(fields: Ids) -> tuple[Floats, Bools]:
    """Numbers of the form [−]digits[.digits], and which fields are of that form and exact."""
    words = aligned_words(fields.buffer)
    head = load_words(words, fields.starts)
    negative = (head & np.uint64(0xFF)) == ord("-")
    starts, lengths = fields.starts, fields.lengths
    if negative.any():
        starts, lengths = starts + negative, lengths - negative
        head = load_words(words, starts)
    whole_length = np.minimum(_first_dot(head), lengths)
    fraction_start = starts + whole_length + 1
    fraction_length = np.maximum(lengths - whole_length - 1, 0)
    whole, fine = _digits(head, whole_length)
    first, also = _digits(load_words(words, fraction_start), np.minimum(fraction_length, 8))
    fine &= also & (whole_length < 8 + (lengths <= 8)) & (lengths <= _LONGEST) & (lengths > (whole_length < lengths))
    number = whole * _TENS[np.minimum(fraction_length, 8)] + first
    if (fraction_length > 8).any():
        rest_length = np.clip(fraction_length - 8, 0, 8)
        rest, also = _digits(load_words(words, fraction_start + 8), rest_length)
        fine &= also & (fraction_length <= 16)
        number = number * _TENS[rest_length] + rest
    fine &= number <= _EXACT
    value = number / _TENS[np.minimum(fraction_length, 22)]
    return np.where(negative, -value, value), fine


def _first_dot(word: Words) -> Ints:
    """How many characters stand before the first dot of each word; 8 if there is none."""
    difference = word ^ _DOTS
    zero_byte = (difference - _LOW) & ~difference & _HIGH
    before = np.bitwise_count((zero_byte & (~zero_byte + np.uint64(1))) - np.uint64(1))
    return np.asarray(before >> 3, dtype=np.int64)


def _digits(word: Words, length: Ints) -> tuple[Floats, Bools]:
    """The number that the first `length` characters write, and whether they are all digits."""
    shift = ((8 - length) << 3).astype(np.uint64)
    # A shift by 64 is undefined: no characters at all are shifted out in two steps.
    digits = (word ^ _ZEROS) << np.minimum(shift, np.uint64(63))
    digits <<= (shift == np.uint64(64)).astype(np.uint64)
    fine = (((digits + _PAST_NINE) | digits) & _HIGH) == 0
    pairs = (digits * np.uint64(2561)) >> _EIGHT
    fours = ((pairs & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
    eights = ((fours & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)) >> np.uint64(32)
    return eights.astype(np.float64), fine


def _by_python(fields: Ids) -> Floats:
    texts = fields.fixed()
    if not np.strings.find(texts, b"_").max(initial=-1) >= 0:
        try:
            return texts.astype(np.float64)
        except ValueError:
            pass
    return np.array([_number(t) for t in texts.tolist()])


def _number(text: bytes) -> float:
    """A number as people write it in a run file; NaN for anything else."""
    try:
        return float("nan") if b"_" in text else float(text)
    except ValueError:
        return float("nan")
