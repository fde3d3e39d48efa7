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
    groups = sorted(_without_redundant(_cover(alike)), key=lambda g: np.flatnonzero(g).tolist())
    member = np.array(groups).T if groups else np.zeros((0, 0), dtype=bool)
    labels = tuple(_label(np.flatnonzero(row).tolist(), len(groups)) for row in member)
    return Letters(tuple(tuple(np.flatnonzero(g).tolist()) for g in groups), labels)


def _cover(alike: Bools) -> list[Bools]:
    """Groups of mutually alike runs that cover every alike pair; a run alike to none is a group by itself."""
    open_pairs = np.triu(alike, 1)
    groups: list[Bools] = []
    for i in range(len(alike)):
        while open_pairs[i].any():
            group = _grown(alike, i, int(np.flatnonzero(open_pairs[i])[-1]))
            open_pairs &= ~np.outer(group, group)
            groups.append(group)
    covered = np.any(groups, axis=0) if groups else np.zeros(len(alike), dtype=bool)
    return groups + [np.arange(len(alike)) == i for i in np.flatnonzero(~covered)]


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
    stretches = [s.tolist() for s in np.split(np.array(places, dtype=int), cuts)]
    dot = "." if groups > 26 else ""
    return dot.join(
        f"{nth_letter(s[0])}-{nth_letter(s[-1])}" if len(s) > 2 else dot.join(nth_letter(i) for i in s)
        for s in stretches
    )


def nth_letter(place: int) -> str:
    """a … z, aa, ab, …

    >>> [nth_letter(i) for i in (0, 25, 26, 701, 702)]
    ['a', 'z', 'aa', 'zz', 'aaa']
    """
    head = nth_letter(place // 26 - 1) if place >= 26 else ""
    return head + chr(ord("a") + place % 26)
