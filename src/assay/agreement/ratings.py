"""Who gave which label to which doc: the one form in which agreement and aggregation are computed.

Where the flow stands: Labels, or several Qrels → **ratings** → α and κ, or judgments. An item is a doc of a topic.
Weights of the items leave some of them out, so every measure is computed without each unit in turn, many at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.agreement.scales import S2, Scale, scale_in, scale_seen
from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.groups import coded_names
from assay.core.ids import coded
from assay.core.registry import one_of
from assay.data import Labels, Qrels

REPEATS = ("all", "first", "last")


@dataclass(frozen=True, eq=False)
class Ratings:
    """One row per label: item and worker as numbers, and the value. `doc` and `topic` say what each item is."""

    item: Ints
    worker: Ints
    value: Floats
    doc: npt.NDArray[Any]
    """The name of the doc of each item."""
    topic: Ints
    """The topic of each item, as a place in `topics`."""
    topics: tuple[str, ...]
    workers: tuple[str, ...]
    scale: Scale
    left_out: int = 0
    """Labels left out because the worker had labelled the item before."""

    @classmethod
    def of(cls, item: npt.ArrayLike, value: npt.ArrayLike, worker: npt.ArrayLike | None = None) -> Ratings:
        """Ratings from columns of any item and worker names; without workers each label counts as another's."""
        names, items = np.unique(np.asarray(item), return_inverse=True)
        values = np.asarray(value, dtype=np.float64)
        if items.shape != values.shape or values.ndim != 1:
            raise DataError(f"one label per item is needed, not {items.shape} items and {values.shape} labels")
        if not np.isfinite(values).all():
            raise DataError("a label is not a finite number; leave missing labels out")
        who = np.arange(len(items)) if worker is None else np.asarray(worker)
        workers, of_worker = np.unique(who, return_inverse=True)
        return cls(
            item=items,
            worker=of_worker,
            value=values,
            doc=names,
            topic=np.zeros(len(names), dtype=np.int64),
            topics=("",),  # one, which has no name
            workers=tuple(map(str, workers.tolist())),
            scale=scale_seen(values),
        )

    @classmethod
    def of_labels(cls, labels: Labels, *, scale: Scale | None = None, repeats: str = "first") -> Ratings:
        """Ratings from crowd labels, checked against their scale; without one, that which they look like.

        repeats: of the labels that a worker gave one doc the `first` counts, the `last`, or `all` of them. For
        agreement it is never all: nobody agrees with himself.

        >>> Ratings.of_labels(Labels.from_rows([("1", "b", "w", 1), ("1", "a", "v", 0)])).items
        (('1', 'a'), ('1', 'b'))
        """
        if not len(labels):
            raise DataError(f"{labels.name}: there are no labels")
        chosen = scale or scale_in(labels)
        kept = single(chosen.checked(labels), repeats)
        # An item is a topic and a doc in one number; items are in the order of these numbers.
        width = len(kept.docs)
        keys, item = np.unique(kept.topic * width + kept.doc, return_inverse=True)
        used, topic = np.unique(keys // width, return_inverse=True)
        doc_names = np.array(kept.docs, dtype=object)
        return cls(
            item=item,
            worker=kept.worker,
            value=kept.label,
            doc=doc_names[keys % width],
            topic=topic,
            topics=tuple(kept.topics[t] for t in used.tolist()),
            workers=kept.workers,
            scale=chosen,
            left_out=len(labels) - len(kept),
        )

    @classmethod
    def of_qrels(cls, qrels: Sequence[Qrels], names: Sequence[str] | None = None) -> Ratings:
        """Ratings from several sets of judgments, each by a worker who is named by the file unless `names` are given.

        A doc with a grade below 0 was pooled and not judged: nobody has said anything about it.
        """
        workers = tuple(q.name for q in qrels) if names is None else tuple(names)
        if len(qrels) < 2 or len(set(workers)) < len(qrels):
            raise DataError(f"two qrels or more with different names are needed, not {', '.join(workers) or 'none'}")
        docs_of, vocabulary = coded([q.docs for q in qrels])
        topics, _ = coded_names([topic for q in qrels for topic in q.topics])
        place = {topic: i for i, topic in enumerate(topics)}
        width = max(1, len(vocabulary))
        keys = []
        values = []
        for q, doc in zip(qrels, docs_of, strict=True):
            topic = np.array([place[name] for name in q.topics], dtype=np.int64)
            judged = q.grades >= 0
            # An item is a topic and a doc in one number.
            key = topic[q.topic_of_row()] * width + doc
            keys.append(key[judged])
            values.append(q.grades[judged].astype(np.float64))
        value = np.concatenate(values)
        distinct, item = np.unique(np.concatenate(keys), return_inverse=True)
        doc_names = np.array(vocabulary.tolist(), dtype=object)
        return cls(
            item=item,
            worker=np.repeat(np.arange(len(qrels)), [len(key) for key in keys]),
            value=value,
            doc=doc_names[distinct % width],
            topic=distinct // width,
            topics=topics,
            workers=workers,
            scale=scale_seen(value),
        )

    def __len__(self) -> int:
        return len(self.value)

    def of_topic(self, topic: int) -> Ratings:
        """Only the items of one topic, numbered anew."""
        rows = np.flatnonzero(self.topic[self.item] == topic)
        kept, item = np.unique(self.item[rows], return_inverse=True)
        return replace(
            self,
            item=item,
            worker=self.worker[rows],
            value=self.value[rows],
            doc=self.doc[kept],
            topic=self.topic[kept],
        )

    def on(self, scale: Scale) -> Ratings:
        """The same ratings on a scale that a person names; an error if a label lies outside it."""
        bad = self.value[scale.outside(self.value)]
        if len(bad):
            raise DataError(f"label {bad[0]:g} is outside the scale {scale.name} ({scale.described()})")
        return replace(self, scale=scale)

    def binary(self, rel: float) -> Ratings:
        """The labels as relevant or not: 1 from `rel` up, else 0.

        >>> Ratings.of(["a", "a", "b"], [49, 50, 51]).binary(50).value.tolist()
        [0.0, 1.0, 1.0]
        """
        if not np.isfinite(rel):
            raise UsageError(f"rel={rel}: the lowest relevant label is a number")
        return replace(self, value=(self.value >= rel).astype(np.float64), scale=S2)

    @cached_property
    def items(self) -> tuple[tuple[str, str], ...]:
        """The topic and the doc of each item."""
        topics = [self.topics[t] for t in self.topic.tolist()]
        return tuple(zip(topics, map(str, self.doc.tolist()), strict=True))

    @cached_property
    def sizes(self) -> Ints:
        """The labels of each item."""
        return np.bincount(self.item, minlength=len(self.doc))

    @cached_property
    def levels(self) -> Floats:
        """The levels of a scale of categories, or the distinct values of any other; ascending."""
        if self.scale.kind == "categories":
            return np.array(self.scale.levels)
        return np.unique(self.value)

    @cached_property
    def answer(self) -> Ints:
        """The place of each label among the levels."""
        return np.searchsorted(self.levels, self.value)

    @cached_property
    def counts(self) -> Any:
        """items × levels, sparse: how often each level was given, items with a single label left empty."""
        from scipy.sparse import csr_array

        has_others = self.sizes > 1
        pairable = has_others[self.item].astype(np.float64)
        shape = (len(self.doc), len(self.levels))
        return csr_array((pairable, (self.item, self.answer)), shape=shape)

    def votes(self, weights: Floats | None = None) -> Floats:
        """items × levels: how many labels, or how much weight, each level got."""
        items = len(self.doc)
        levels = len(self.levels)
        cell = self.item * levels + self.answer
        total = np.bincount(cell, weights, minlength=items * levels)
        return total.reshape(items, levels).astype(np.float64)

    def in_order(self) -> tuple[Floats, Ints]:
        """Values sorted within each item, and where each item begins (one more than the items)."""
        order = np.lexsort((self.value, self.item))
        bounds = np.concatenate([[0], np.cumsum(self.sizes)])
        return self.value[order], bounds

    @cached_property
    def pairs(self) -> Pairs:
        """What every two workers said of the items they share; workers × items of memory, so for a few workers."""
        unanswered = -1
        workers = len(self.workers)
        answers = np.full((workers, len(self.doc)), unanswered, dtype=np.int64)
        answers[self.worker, self.item] = self.answer
        answered = answers != unanswered
        one, other = np.triu_indices(workers, k=1)
        pair, item = np.nonzero(answered[one] & answered[other])
        first = answers[one[pair], item]
        second = answers[other[pair], item]
        # Only pairs that share an item are numbered and named.
        met, number = np.unique(pair, return_inverse=True)
        names = []
        for i in met.tolist():
            names.append((self.workers[one[i]], self.workers[other[i]]))
        return Pairs(tuple(names), number, item, first, second)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Each item that two workers share: the number of the pair, the item, and the places of their two values."""

    names: tuple[tuple[str, str], ...]
    pair: Ints
    item: Ints
    first: Ints
    second: Ints


def everything(ratings: Ratings) -> Floats:
    """The weights of the data as they are: one row, each item once."""
    return np.ones((1, len(ratings.doc)))


def single(labels: Labels, repeats: str = "first") -> Labels:
    """Labels with one per worker and doc: the first or the last of repeated ones; `all` keeps them.

    >>> rows = [("1", "a", "w", 0), ("1", "a", "w", 1)]
    >>> [single(Labels.from_rows(rows), r).label.tolist() for r in REPEATS]
    [[0.0, 1.0], [0.0], [1.0]]
    """
    one_of("way to treat repeated labels", repeats, REPEATS)
    if repeats == "all":
        return labels
    again = repeated(labels, from_last=repeats == "last")
    if not again.any():
        return labels
    return labels.select(~again)


def repeated(labels: Labels, *, from_last: bool = False) -> Bools:
    """Which rows repeat an earlier label by the same worker on the same doc; from_last: which come again later."""
    doc = labels.topic * len(labels.docs) + labels.doc
    key = doc * len(labels.workers) + labels.worker
    if from_last:
        key = key[::-1]
    _, first = np.unique(key, return_index=True)
    again = np.ones(len(key), dtype=bool)
    again[first] = False
    if from_last:
        again = again[::-1]
    return again
