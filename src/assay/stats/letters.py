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
    groups = [np.flatnonzero(group).tolist() for group in _without_redundant(_cover(alike))]
    groups.sort()
    letters_of_run: list[list[int]] = [[] for _ in array]
    for letter, group in enumerate(groups):
        for run in group:
            letters_of_run[run].append(letter)
    labels = [_label(letters, len(groups)) for letters in letters_of_run]
    return Letters(tuple(map(tuple, groups)), tuple(labels))


def _cover(alike: Bools) -> list[Bools]:
    """Groups of mutually alike runs that cover every alike pair; a run alike to none is a group by itself."""
    runs = len(alike)
    open_pairs = np.triu(alike, 1)
    covered = np.zeros(runs, dtype=bool)
    groups: list[Bools] = []
    for i in range(runs):
        while open_pairs[i].any():
            furthest = int(np.flatnonzero(open_pairs[i])[-1])
            group = _grown(alike, i, furthest)
            open_pairs &= ~np.outer(group, group)
            covered |= group
            groups.append(group)
    for alone in np.flatnonzero(~covered):
        groups.append(np.arange(runs) == alone)
    return groups


def _grown(alike: Bools, i: int, j: int) -> Bools:
    """A largest-possible extension of the pair (i, j): no further run is alike to all of its members."""
    group = np.zeros(len(alike), dtype=bool)
    group[[i, j]] = True
    candidates = alike[i] & alike[j] & ~group
    while candidates.any():
        chosen = int(np.argmax(candidates))
        group[chosen] = True
        candidates &= alike[chosen]
        candidates[chosen] = False
    return group


def _without_redundant(groups: list[Bools]) -> list[Bools]:
    """Groups without those whose every pair is in another one."""
    if not groups:
        return []
    members = np.array(groups, dtype=np.int64)
    times = members.T @ members
    kept = []
    for group in groups:
        if (times[np.ix_(group, group)] > 1).all():
            times -= np.outer(group, group)
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
        letters = [nth_letter(place) for place in stretch.tolist()]
        if len(letters) > 2:
            parts.append(f"{letters[0]}-{letters[-1]}")
        else:
            parts += letters
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
