"""Which runs can no test tell apart? Compact letters: two runs share one exactly when not significantly different.

Any number of runs and letters: after z come aa, ab, …, and long rows of letters are shown as ranges (c-f).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools
from assay.core.errors import DataError


@dataclass(frozen=True)
class Letters:
    """Groups of runs (places) of which no two are significantly different, and the letters of each run."""

    groups: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...]


def compact_letters(different: npt.ArrayLike) -> Letters:
    """Letters for runs given best first, from a symmetric runs × runs array of "these two differ significantly".

    Every pair that is not significantly different shares a letter, and no other pair does. The groups are grown
    greedily, so that they are few but not always the fewest possible (finding those is NP-hard; Gramm et al. 2007).

    >>> compact_letters([[False, False, True], [False, False, False], [True, False, False]]).labels
    ('a', 'ab', 'b')
    """
    array = np.asarray(different, dtype=bool)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or (array != array.T).any():
        raise DataError("letters need a symmetric runs × runs array of which pairs differ")
    alike = ~array
    np.fill_diagonal(alike, True)
    groups = _without_redundant(_cover(alike), len(array))
    groups.sort()
    letters_of_run: list[list[int]] = [[] for _ in array]
    for letter, group in enumerate(groups):
        for run in group:
            letters_of_run[run].append(letter)
    labels = [_label(letters, len(groups)) for letters in letters_of_run]
    return Letters(tuple(map(tuple, groups)), tuple(labels))


def _cover(alike: Bools) -> list[list[int]]:
    """Groups of mutually alike runs that cover every alike pair; a run alike to none is a group by itself."""
    alike_to = [_bits(row) for row in alike]
    later = [_bits(row) for row in np.triu(alike, 1)]
    covered = 0
    groups: list[list[int]] = []
    for i in range(len(alike)):
        while later[i]:
            furthest = later[i].bit_length() - 1
            group = _grown(alike_to, i, furthest)
            members = sum(1 << run for run in group)
            for run in group:
                later[run] &= ~members
            covered |= members
            groups.append(group)
    groups += [[alone] for alone in range(len(alike)) if not covered >> alone & 1]
    return groups


def _bits(row: Bools) -> int:
    """A whole number with one bit for each run: a step for thousands of runs costs as much as one for a few."""
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


def _grown(alike_to: list[int], i: int, j: int) -> list[int]:
    """A largest-possible extension of the pair (i, j), ascending: no further run is alike to all of its members."""
    group = [i, j]
    candidates = alike_to[i] & alike_to[j] & ~(1 << i | 1 << j)
    while candidates:
        lowest = candidates & -candidates
        chosen = lowest.bit_length() - 1
        group.append(chosen)
        candidates &= alike_to[chosen] & ~lowest
    return sorted(group)


def _without_redundant(groups: list[list[int]], runs: int) -> list[list[int]]:
    """Groups without those whose every pair is in another one."""
    members = np.zeros((len(groups), runs), dtype=np.float32)  # counts, exact, and multiplied fast
    for number, group in enumerate(groups):
        members[number, group] = 1
    times = members.T @ members
    kept = []
    for group in groups:
        if all((times[run, group] > 1).all() for run in group):
            times[np.ix_(group, group)] -= 1
        else:
            kept.append(group)
    return kept


def _label(places: list[int], groups: int) -> str:
    """The letters of one run: `abc`, long stretches as `c-f`, separated by dots once letters have two characters.

    >>> _label([0, 1, 3], 5), _label([0, 1, 2, 3, 5], 6), _label([24, 25, 26, 30], 31)
    ('abd', 'a-df', 'y-aa.ae')
    """
    cuts = np.flatnonzero(np.diff(places) != 1) + 1
    dot = "." if groups > 26 else ""
    parts = []
    for stretch in np.split(np.array(places, dtype=int), cuts):
        if len(stretch) > 2:
            first, last = nth_letter(int(stretch[0])), nth_letter(int(stretch[-1]))
            parts.append(f"{first}-{last}")
        else:
            parts += [nth_letter(place) for place in stretch.tolist()]
    return dot.join(parts)


def nth_letter(place: int) -> str:
    """a … z, aa, ab, …

    >>> [nth_letter(i) for i in (0, 25, 26, 701, 702)]
    ['a', 'z', 'aa', 'zz', 'aaa']
    """
    last = chr(ord("a") + place % 26)
    if place < 26:
        return last
    return nth_letter(place // 26 - 1) + last
