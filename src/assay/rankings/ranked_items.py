"""In which order do items stand, and which of them are tied? A ranking from lists, sets, scores or a text."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Ints
from assay.core.errors import DataError, UsageError
from assay.rankings.counts import tie_groups

Items = Sequence[Any] | npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Items best first; `top` is the first rank of an item's tie group, `size` how many share it."""

    items: tuple[Hashable, ...]
    top: Ints
    size: Ints

    def __len__(self) -> int:
        return len(self.items)

    @classmethod
    def of(cls, items: Items | Ranking) -> Ranking:
        """A ranking from items best first; tied items stand together in a set.

        >>> Ranking.of(["red", {"blue", "green"}, "pink"]).top.tolist()
        [1, 2, 2, 4]
        """
        if isinstance(items, Ranking):
            return items
        if isinstance(items, str | bytes):
            raise UsageError(f"a ranking is a list of items, not a text ({items!r:.40}); parse_ranking reads a text")
        if isinstance(items, set | frozenset | Mapping):
            raise UsageError(f"a ranking is a list, best first; a {type(items).__name__} has no order ({items!r:.40})")
        plain = items.tolist() if isinstance(items, np.ndarray) else items
        if not isinstance(plain, Iterable):
            raise UsageError(f"a ranking is a list of items, best first, not {plain!r:.40}")
        flat: list[Hashable] = []
        group_sizes = []
        for group in plain:
            if isinstance(group, Set):
                flat += sorted(group, key=str)
                group_sizes.append(len(group))
            else:
                flat.append(group)
                group_sizes.append(1)
        _check(flat)
        size = np.array(group_sizes, dtype=np.int64)
        first_rank = np.cumsum(size) - size + 1
        return cls(
            items=tuple(flat),
            top=np.repeat(first_rank, size),
            size=np.repeat(size, size),
        )

    @classmethod
    def of_scores(cls, scores: npt.ArrayLike, items: Items | None = None) -> Ranking:
        """Items by falling score (0, 1, … by default); equal scores are tied.

        >>> Ranking.of_scores([0.1, 0.7, 0.7]).top.tolist()
        [1, 1, 3]
        """
        values = np.asarray(scores, dtype=np.float64)
        if np.isnan(values).any():
            raise DataError("a score is not a number; every item needs one")
        order = np.argsort(-values, kind="stable")
        above, size = tie_groups(-values)
        if items is None:
            names = np.arange(len(values)).tolist()
        else:
            names = list(items)
        best_first = [names[i] for i in order.tolist()]
        _check(best_first)
        return cls(
            items=tuple(best_first),
            top=above[order] + 1,
            size=size[order],
        )


def _check(items: Sequence[Hashable]) -> None:
    """Refuses a ranking without items, and one with an item twice."""
    if not items:
        raise DataError("a ranking is empty; it needs at least one item")
    odd = next((item for item in items if not isinstance(item, Hashable)), None)
    if odd is not None:
        raise UsageError(f"a ranking holds {odd!r:.40}, which is no item; tied items stand together in a set")
    if len(set(items)) == len(items):
        return
    seen: set[Hashable] = set()
    for item in items:
        if item in seen:
            raise DataError(f"a ranking holds {item!r} twice; an item has one rank")
        seen.add(item)


def parse_ranking(text: str) -> Ranking:
    """A ranking from items separated by blanks, tied items in brackets.

    >>> parse_ranking("red (blue green) pink").size.tolist()
    [1, 2, 2, 1]
    """
    outside = re.sub(r"\([^()]*\)", "", text)
    if "(" in outside or ")" in outside:
        raise DataError(
            f"the brackets of a ranking do not match ({text!r:.60}); each ( needs one ), none inside another"
        )
    groups: list[str | set[str]] = []
    for tied, alone in re.findall(r"\(([^()]*)\)|([^\s()]+)", text):
        if tied:
            groups.append(set(tied.split()))
        elif alone:
            groups.append(alone)
    _check(re.findall(r"[^\s()]+", text))  # a set has dropped what stands twice within brackets
    return Ranking.of(groups)
