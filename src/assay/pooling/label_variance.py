"""What to judge next, if a machine has labelled everything? Where its label says least, and runs rank the doc high.

An estimate that combines machine labels with human ones has an error of Σ weight² · variance of the grade given the
label. So the doc comes next whose judgment takes most of that away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.registry import Within, did_you_mean
from assay.data import Labels
from assay.data.lists import TopicLists
from assay.pooling.orders import ORDERS, Order, Scored

PRIOR = 2.0
"""Judgments that the first guess of a label's chance of relevance is worth."""


def labels_of_judge(labels: Labels, name: str | None = None) -> dict[str, dict[str, float]]:
    """{topic: {doc: label}} of one machine judge: the one that is named, or the only one.

    >>> labels_of_judge(Labels.from_rows([("1", "a", "gpt", 2)]))
    {'1': {'a': 2.0}}
    """
    if name is None and len(labels.workers) > 1:
        raise UsageError(
            f"{labels.name}: labels of {len(labels.workers)} judges ({', '.join(labels.workers)}); name one"
        )
    if name is not None and name not in labels.workers:
        raise UsageError(f"{labels.name}: no judge {name!r}{did_you_mean(name, labels.workers)}")
    chosen = 0 if name is None else labels.workers.index(name)
    found: dict[str, dict[str, float]] = {}
    for row in np.flatnonzero(labels.worker == chosen).tolist():
        topic = labels.topics[labels.topic[row]]
        found.setdefault(topic, {})[labels.docs[labels.doc[row]]] = float(labels.label[row])
    return found


class LabelVariance(Scored):
    """See `label_variance`; `labels` are given by the session, from 0 (not relevant) to 1 for the top label."""

    def __init__(self, lists: TopicLists, k: int) -> None:
        super().__init__(lists)
        ranks = np.where((lists.ranks > 0) & (lists.ranks <= k), lists.ranks, np.inf)
        discount = 1 / np.log2(ranks + 1)
        self.weight = (discount**2).mean(axis=0)
        self.level = np.zeros(len(lists.docs), dtype=np.int64)
        self.chance = np.full(1, 0.5)
        self.counts = np.zeros((1, 2))

    def given(self, labels: Mapping[str, float], top: float) -> None:
        """The machine's label of each doc; docs without one are as uncertain as can be."""
        docs = self.lists.docs.tolist()
        values = np.array([labels.get(doc, np.nan) for doc in docs], dtype=np.float64) / top
        distinct = np.unique(values[~np.isnan(values)])
        self.level = np.where(np.isnan(values), len(distinct), np.searchsorted(distinct, values))
        # A label says something before anybody has judged: the top one most probably means relevant.
        self.chance = np.append(0.1 + 0.8 * distinct, 0.5)
        self.counts = np.zeros((len(self.chance), 2))

    def learn(self, doc: int, relevant: bool) -> None:
        self.counts[self.level[doc], int(relevant)] += 1

    def scores(self) -> Floats:
        judged = self.counts.sum(axis=1)
        chance = (PRIOR * self.chance + self.counts[:, 1]) / (PRIOR + judged)
        variance = chance * (1 - chance)
        return np.round(self.weight * variance[self.level], 12)


@ORDERS.register("label-variance", needs="labels", paper="Neyman 1934; Särndal, Swensson & Wretman 1992")
def label_variance(lists: TopicLists, seed: int = 0, *, k: Annotated[int, Within(1)] = 100) -> Order:
    """Docs whose human grade the machine's label predicts worst, high ranks of many runs first; needs machine labels.

    The score of a doc is the mean over the runs of its squared discount (as in DCG, to rank k) times p(1 − p), p the
    chance of relevance given its label, learnt from the judgments of the topic.
    """
    return LabelVariance(lists, k)
