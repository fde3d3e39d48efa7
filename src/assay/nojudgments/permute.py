"""Easy and hard collections made from real ones: other docs of the same relevance in every list, every AP unchanged.

Carterette & Allan 2007, §5.2: docs exchanged at random make runs less alike and similarity a better guide to MAP; docs
exchanged in a fixed order make runs more alike and similarity no guide at all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.core.arrays import Bools, Ints
from assay.core.engine import generators
from assay.data.lists import Lists


def exchanged_at_random(lists: Lists, relevant: Bools, *, seed: int = 0) -> Lists:
    """Each doc replaced by a random doc of the same topic and relevance, no doc twice in a list: an easy collection."""
    item = lists.item.copy()
    classes = [(t, kind) for t in range(len(lists.topics)) for kind in (True, False)]
    for (t, kind), rng in zip(classes, generators(seed, len(classes)), strict=True):
        members = _members(lists, relevant, t, kind)
        rows = _rows(lists, relevant, t, kind)
        orders = rng.permuted(np.tile(members, (len(lists.runs), 1)), axis=1)
        item[rows] = orders[lists.run[rows], _nth(lists, rows)]
    return replace(lists, item=item)


def exchanged_in_order(lists: Lists, relevant: Bools) -> Lists:
    """The k-th relevant doc of every list replaced by the same doc, likewise the k-th other doc: a hard collection."""
    item = lists.item.copy()
    for t in range(len(lists.topics)):
        for kind in (True, False):
            rows = _rows(lists, relevant, t, kind)
            item[rows] = _members(lists, relevant, t, kind)[_nth(lists, rows)]
    return replace(lists, item=item)


def _members(lists: Lists, relevant: Bools, topic: int, kind: bool) -> Ints:
    """The items of a topic that are relevant, or that are not."""
    first, last = lists.item_bounds[topic], lists.item_bounds[topic + 1]
    return np.asarray(first + np.flatnonzero(relevant[first:last] == kind))


def _rows(lists: Lists, relevant: Bools, topic: int, kind: bool) -> Ints:
    """The rows of a topic that hold items of that kind, in the order of runs and ranks."""
    of_topic = lists.segment % len(lists.topics) == topic
    return np.flatnonzero(of_topic & (relevant[lists.item] == kind))


def _nth(lists: Lists, rows: Ints) -> Ints:
    """The place of each row among the rows of its list, from 0."""
    segment = lists.segment[rows]
    size = np.bincount(segment, minlength=len(lists.bounds))
    return np.asarray(np.arange(len(rows)) - (np.cumsum(size) - size)[segment])
