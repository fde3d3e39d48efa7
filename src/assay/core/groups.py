"""Names in natural order, and columns of names as whole numbers into them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from assay.core.arrays import Ints

_DIGITS = re.compile(r"(\d+)")


def coded_names(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """Distinct names in natural order, and each name's place among them.

    >>> coded_names(["10", "9", "10"])
    (('9', '10'), array([1, 0, 1]))
    """
    distinct = tuple(natural_order(set(names)))
    place = {n: i for i, n in enumerate(distinct)}
    return distinct, np.array([place[n] for n in names], dtype=np.int64)


def natural_order(names: Iterable[str]) -> list[str]:
    """Names with the numbers in them compared as numbers.

    >>> natural_order(["q10", "q9", "010", "10"])
    ['010', '10', 'q9', 'q10']
    """
    listed = list(names)
    plain = all(n.isdecimal() and n.isascii() for n in listed)
    return sorted(listed, key=_number_key if plain else _natural_key)


def _natural_key(name: str) -> tuple[list[tuple[int, int, str]], str]:
    parts = _DIGITS.split(name)
    key = [(0, *_number_key(p)[:2]) if p.isdecimal() and p.isascii() else (1, 0, p) for p in parts if p]
    return key, name


def _number_key(digits: str) -> tuple[int, str, str]:
    """Orders numbers by their value, however many digits they have, and equal ones by their text."""
    value = digits.lstrip("0")
    return len(value), value, digits
