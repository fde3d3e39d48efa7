"""Names in natural order, and columns of names as whole numbers into them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from assay.core.arrays import Ints

_DIGITS = re.compile(r"(\d+)")


def coded_names(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """Distinct names in natural order, and each name's place among them.

    >>> coded_names(["10", "9", "10"])
    (('9', '10'), array([1, 0, 1]))
    """
    distinct = tuple(natural_order(set(names)))
    place = {}
    for i, name in enumerate(distinct):
        place[name] = i
    places = [place[name] for name in names]
    return distinct, np.array(places, dtype=np.int64)


def natural_order(names: Iterable[str]) -> list[str]:
    """Names with the numbers in them compared as numbers.

    >>> natural_order(["q10", "q9", "010", "10"])
    ['010', '10', 'q9', 'q10']
    """
    listed = list(names)
    if all(_is_number(name) for name in listed):
        return sorted(listed, key=_number_key)
    return sorted(listed, key=_natural_key)


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii()


def _natural_key(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """The parts of a name, numbers before words, and the name itself for those whose parts are equal."""
    key = []
    for part in _DIGITS.split(name):
        if _is_number(part):
            length, digits, _ = _number_key(part)
            key.append((0, length, digits))
        elif part:
            key.append((1, 0, part))
    return key, name


def _number_key(digits: str) -> tuple[int, str, str]:
    """Orders numbers by their value, however many digits they have, and equal ones by their text."""
    value = digits.lstrip("0")
    return len(value), value, digits


def name_of_all(names: Collection[str]) -> str:
    """What a row beside those of the topics is called that is of all of them: `all`, where no topic is called that.

    >>> name_of_all(["301", "302"]), name_of_all(["all", "302"])
    ('all', '(all)')
    """
    name = "all"
    while name in names:
        name = f"({name})"
    return name
