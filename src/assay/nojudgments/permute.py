"""Easy and hard collections made from real ones: other docs of the same relevance in every list, every AP unchanged.

Carterette & Allan 2007, §5.2: docs exchanged at random make runs less alike and similarity a better guide to MAP; docs
exchanged in a fixed order make runs more alike and similarity no guide at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from assay.core.arrays import Bools, Ints
from assay.core.engine import generators
from assay.data.lists import Lists


def exchanged_at_random(lists: Lists, relevant: Bools, *, seed: int = 0) -> Lists:
    """Each doc replaced by a random doc of the same topic and relevance, no doc twice in a list: an easy collection.

    >>> from assay.data import Run
    >>> from assay.nojudgments import comparable
    >>> lists = comparable([Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["z", "w"]})])
    >>> relevant = np.array([doc in "xz" for doc in lists.docs])
    >>> relevant[exchanged_at_random(lists, relevant).item].tolist()  # relevance stays where it was
    [True, False, True, False]
    """
    item = lists.item.copy()
    rngs = generators(seed, 2 * len(lists.topics))
    for rng, (topic, kind) in zip(rngs, _classes(lists), strict=True):
        # A random order of the docs of the class for each run.
        members = _members(lists, relevant, topic, kind)
        row_per_run = np.tile(members, (len(lists.runs), 1))
        shuffled = rng.permuted(row_per_run, axis=1)

        # The n-th doc of the class in a list becomes the n-th of the run's own random order: no doc comes twice.
        rows = _rows(lists, relevant, topic, kind)
        run = lists.run[rows]
        nth = _nth(lists, rows)
        item[rows] = shuffled[run, nth]
    return replace(lists, item=item)


def exchanged_in_order(lists: Lists, relevant: Bools) -> Lists:
    """The k-th relevant doc of every list replaced by the same doc, likewise the k-th other doc: a hard collection.

    >>> from assay.data import Run
    >>> from assay.nojudgments import comparable
    >>> lists = comparable([Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["z", "w"]})])
    >>> relevant = np.array([doc in "xz" for doc in lists.docs])
    >>> [lists.docs[i] for i in exchanged_in_order(lists, relevant).item]  # both runs are alike now
    ['x', 'w', 'x', 'w']
    """
    item = lists.item.copy()
    for topic, kind in _classes(lists):
        members = _members(lists, relevant, topic, kind)
        rows = _rows(lists, relevant, topic, kind)
        # All lists take from the same order, each as far as it goes.
        nth = _nth(lists, rows)
        item[rows] = members[nth]
    return replace(lists, item=item)


def _classes(lists: Lists) -> Iterator[tuple[int, bool]]:
    """Each topic twice: its relevant docs, then the others."""
    for topic in range(len(lists.topics)):
        yield topic, True
        yield topic, False


def _members(lists: Lists, relevant: Bools, topic: int, kind: bool) -> Ints:
    """The items of a topic that are relevant, or that are not."""
    first = lists.item_bounds[topic]
    last = lists.item_bounds[topic + 1]
    of_kind = np.flatnonzero(relevant[first:last] == kind)
    return first + of_kind


def _rows(lists: Lists, relevant: Bools, topic: int, kind: bool) -> Ints:
    """The rows of a topic that hold items of that kind, in the order of runs and ranks."""
    # Segments count the lists run by run, and within a run topic by topic.
    topic_of_row = lists.segment % len(lists.topics)
    of_topic = topic_of_row == topic
    of_kind = relevant[lists.item] == kind
    return np.flatnonzero(of_topic & of_kind)


def _nth(lists: Lists, rows: Ints) -> Ints:
    """The place of each row among the rows of its list, from 0."""
    segment = lists.segment[rows]
    # Rows come list by list: the place is the number of the row less the number of the list's first.
    size = np.bincount(segment, minlength=len(lists.bounds))
    begin = np.cumsum(size) - size
    return np.arange(len(rows)) - begin[segment]
