"""Who gave which label to which item: the one form in which agreement is computed.

Where the flow stands: Labels, or several Qrels → **ratings** → κ, α. An item is a doc of a topic. Bootstrap samples are
weights of the items, so that every measure is computed on many samples at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.groups import coded_names
from assay.core.ids import coded
from assay.data import Labels, Qrels


@dataclass(frozen=True, eq=False)
class Ratings:
    """One row per label: item and rater as numbers, and the value. `topic` is the topic of each item."""

    item: Ints
    rater: Ints
    value: Floats
    raters: tuple[str, ...]
    topics: tuple[str, ...]
    topic: Ints
    repeats: int = 0
    """Labels left out because the rater had labelled the item before."""

    @classmethod
    def of(cls, item: npt.ArrayLike, value: npt.ArrayLike, rater: npt.ArrayLike | None = None) -> Ratings:
        """Ratings from columns of any item and rater names; without raters each label counts as another's."""
        _, items = np.unique(np.asarray(item), return_inverse=True)
        values = np.asarray(value, dtype=np.float64)
        if items.shape != values.shape or values.ndim != 1:
            raise DataError(f"one label per item is needed, not {items.shape} items and {values.shape} labels")
        if not np.isfinite(values).all():
            raise DataError("a label is not a finite number; leave missing labels out")
        names, raters = np.unique(np.arange(len(items)) if rater is None else np.asarray(rater), return_inverse=True)
        count = int(items.max(initial=-1)) + 1
        return cls(items, raters, values, tuple(map(str, names.tolist())), ("all",), np.zeros(count, dtype=np.int64))

    @classmethod
    def of_labels(cls, labels: Labels) -> Ratings:
        """Ratings from crowd labels; the workers are the raters.

        A worker's second label of one item is left out and counted in `repeats`: nobody agrees with himself.
        """
        item, pairs = labels.items()
        topics, topic = coded_names([t for t, _ in pairs])
        _, first = np.unique(item * max(1, len(labels.workers)) + labels.worker, return_index=True)
        rows = np.sort(first)
        columns = (item[rows], labels.worker[rows], labels.label[rows])
        return cls(*columns, labels.workers, topics, topic, repeats=len(labels) - len(rows))

    @classmethod
    def of_qrels(cls, qrels: Sequence[Qrels], names: Sequence[str] | None = None) -> Ratings:
        """Ratings from several sets of judgments; each is a rater, named by its file unless told."""
        raters = tuple(q.name for q in qrels) if names is None else tuple(names)
        if len(qrels) < 2 or len(set(raters)) < len(qrels):
            raise DataError(f"two qrels or more with different names are needed, not {', '.join(raters) or 'none'}")
        codes, vocabulary = coded([q.docs for q in qrels])
        topics, _ = coded_names([t for q in qrels for t in q.topics])
        place = {t: i for i, t in enumerate(topics)}
        of_topic = [np.array([place[t] for t in q.topics], dtype=np.int64)[q.topic_of_row()] for q in qrels]
        key = np.concatenate(of_topic) * max(1, len(vocabulary)) + np.concatenate(codes)
        keys, item = np.unique(key, return_inverse=True)
        rater = np.repeat(np.arange(len(qrels)), [len(q) for q in qrels])
        value = np.concatenate([q.grades for q in qrels]).astype(np.float64)
        return cls(item, rater, value, raters, topics, keys // max(1, len(vocabulary)))

    def __len__(self) -> int:
        return len(self.value)

    def of_topic(self, topic: int) -> Ratings:
        """Only the items of one topic, numbered anew."""
        rows = np.flatnonzero(self.topic[self.item] == topic)
        kept, item = np.unique(self.item[rows], return_inverse=True)
        return Ratings(item, self.rater[rows], self.value[rows], self.raters, self.topics, self.topic[kept])

    def binary(self, rel: float) -> Ratings:
        """The labels as relevant or not: 1 from `rel` up, else 0.

        >>> Ratings.of(["a", "a", "b"], [49, 50, 51]).binary(50).value.tolist()
        [0.0, 1.0, 1.0]
        """
        if not np.isfinite(rel):
            raise UsageError(f"rel={rel}: the lowest relevant label is a number")
        return replace(self, value=(self.value >= rel).astype(np.float64))

    @property
    def items(self) -> int:
        """The number of items."""
        return len(self.topic)

    @cached_property
    def sizes(self) -> Ints:
        """The labels of each item."""
        return np.bincount(self.item, minlength=self.items)

    @cached_property
    def values(self) -> Floats:
        """The distinct values, ascending."""
        return np.unique(self.value)

    @cached_property
    def codes(self) -> Ints:
        """The place of each label among the distinct values."""
        return np.searchsorted(self.values, self.value)

    @cached_property
    def counts(self) -> Any:
        """items × values, sparse: how often each value was given, items with a single label left empty."""
        from scipy.sparse import csr_array

        pairable = (self.sizes > 1)[self.item]
        cells = (pairable.astype(np.float64), (self.item, self.codes))
        return csr_array(cells, shape=(self.items, len(self.values)))

    @cached_property
    def pairs(self) -> Pairs:
        """What every two raters said of the items they share; raters × items of memory, so for a few raters."""
        code = np.full((len(self.raters), self.items), -1, dtype=np.int64)
        code[self.rater, self.item] = self.codes
        a, b = np.triu_indices(len(self.raters), k=1)
        pair, item = np.nonzero((code[a] >= 0) & (code[b] >= 0))
        met, pair = np.unique(pair, return_inverse=True)
        names = tuple((self.raters[a[i]], self.raters[b[i]]) for i in met)
        return Pairs(names, pair, item, code[a[met[pair]], item], code[b[met[pair]], item])


@dataclass(frozen=True, eq=False)
class Pairs:
    """Each item that two raters share: the number of the pair, the item, and the codes of their two values."""

    names: tuple[tuple[str, str], ...]
    pair: Ints
    item: Ints
    first: Ints
    second: Ints


def everything(ratings: Ratings) -> Floats:
    """The weights of the data as they are: one row, each item once."""
    return np.ones((1, ratings.items))
