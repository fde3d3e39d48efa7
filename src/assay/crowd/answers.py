"""Answers: labels as integers, items × workers × levels, ready for counting. Every aggregation starts here.

Also here: what to do when a worker labelled the same doc twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.crowd.scales import Scale, scale_in
from assay.data import Labels

REPEATS = ("all", "first", "last")


@dataclass(frozen=True, eq=False)
class Answers:
    """One row per label: the item (topic, doc), the worker, the value, and the value's place among the levels."""

    scale: Scale
    item: Ints
    worker: Ints
    value: Floats
    answer: Ints
    levels: Floats
    items: tuple[tuple[str, str], ...]
    topic: Ints
    """The topic of each item, as a place in `topics`."""
    topics: tuple[str, ...]
    workers: tuple[str, ...]

    @classmethod
    def of(cls, labels: Labels, *, scale: Scale | None = None, repeats: str = "all") -> Answers:
        """Labels, checked against their scale and coded; levels are the scale's, or the values seen where it has none.

        >>> Answers.of(Labels.from_rows([("1", "b", "w", 1), ("1", "a", "v", 0)])).items
        (('1', 'a'), ('1', 'b'))
        """
        if not len(labels):
            raise DataError(f"{labels.name}: there are no labels")
        chosen = (scale or scale_in(labels)).checked(labels)
        scale = scale or scale_in(labels)
        kept = single(chosen, repeats)
        item, pairs = kept.items()
        levels = np.array(scale.levels) if scale.kind == "categories" else np.unique(kept.label)
        place = {t: i for i, t in enumerate(kept.topics)}
        return cls(
            scale,
            item,
            kept.worker,
            kept.label,
            np.searchsorted(levels, kept.label).astype(np.int64),
            levels,
            tuple(pairs),
            np.array([place[t] for t, _ in pairs], dtype=np.int64),
            kept.topics,
            kept.workers,
        )

    def __len__(self) -> int:
        return len(self.value)

    def counts(self) -> Ints:
        """Labels per item."""
        return np.bincount(self.item, minlength=len(self.items))

    def votes(self, weights: Floats | None = None) -> Floats:
        """Items × levels: how many (or how much weight) answered so."""
        k = len(self.levels)
        flat = np.bincount(self.item * k + self.answer, weights, minlength=len(self.items) * k)
        return flat.reshape(len(self.items), k).astype(np.float64)

    def in_order(self) -> tuple[Floats, Ints]:
        """Values sorted within each item, and where each item begins (one more than the items)."""
        order = np.lexsort((self.value, self.item))
        return self.value[order], np.concatenate([[0], np.cumsum(self.counts())])


def single(labels: Labels, repeats: str = "first") -> Labels:
    """Labels with one per worker and doc: the first or the last of repeated ones; `all` keeps them.

    >>> rows = [("1", "a", "w", 0), ("1", "a", "w", 1)]
    >>> [single(Labels.from_rows(rows), r).label.tolist() for r in REPEATS]
    [[0.0, 1.0], [0.0], [1.0]]
    """
    if repeats not in REPEATS:
        raise UsageError(f"no way {repeats!r} to treat repeated labels; known: {', '.join(REPEATS)}")
    again = repeated(labels)
    if repeats == "all" or not again.any():
        return labels
    return labels.select(~(again if repeats == "first" else repeated(labels, from_last=True)))


def repeated(labels: Labels, *, from_last: bool = False) -> npt.NDArray[np.bool_]:
    """Which rows repeat an earlier (or foreshadow a later) label by the same worker on the same doc of the topic."""
    key = (labels.topic * len(labels.docs) + labels.doc) * len(labels.workers) + labels.worker
    seen = key[::-1] if from_last else key
    _, first = np.unique(seen, return_index=True)
    mask = np.ones(len(key), dtype=bool)
    mask[first] = False
    return mask[::-1] if from_last else mask
