"""What the methods without judgments share: the topics on which runs can be compared, AP on any items, best shares.

Where the flow stands: runs → lists → **basis** → a runs × topics matrix of predicted scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, places_within
from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.data import Qrels, Run
from assay.data.grades import UNJUDGED
from assay.data.lists import Lists, collected
from assay.measures.ranks import precision_sums_at


def comparable(
    runs: Sequence[Run], *, depth: int = 1000, qrels: Qrels | None = None, topics: Iterable[str] | None = None
) -> Lists:
    """The runs as Lists, each cut at `depth`; topics are those that two runs or more answer, in natural order.

    With `topics` only those among them, such as the judged ones.

    A run that lacks a topic has an empty list there. Without judgments a run is known only by the others: topics that
    one run alone answers are left out and named in `dropped`; one run, or no topic in common, is an error. qrels: for
    methods that are asked to draw from judgments; no other sees them.

    >>> from assay.data import Run
    >>> runs = [Run.from_lists("a", {"1": ["x", "y"], "2": ["z"]}), Run.from_lists("b", {"1": ["y"]})]
    >>> lists = comparable(runs)
    >>> lists.topics, lists.dropped
    (('1',), ('2',))
    """
    if len(runs) < 2:
        raise DataError(f"{len(runs)} run(s) given; without judgments a run is known only by others: give two or more")
    runs_of_topic: Counter[str] = Counter()
    for run in runs:
        answered = compress(run.topics, run.sizes)
        runs_of_topic.update(answered)
    wanted = runs_of_topic if topics is None else set(topics)
    in_common = [topic for topic, answers in runs_of_topic.items() if answers > 1 and topic in wanted]
    if not in_common:
        raise DataError("the runs have no topic in common; methods without judgments compare runs on the same topics")
    return collected(runs, qrels, topics=natural_order(in_common), depth=depth)


def without_judgments(lists: Lists) -> Lists:
    """The lists as if they had been collected without qrels: no grades, and no docs that only the qrels hold.

    >>> from assay.data import Qrels
    >>> lists = collected([Run.from_lists("a", {"1": ["x"]})], Qrels.from_dict({"1": {"w": 1, "x": 0}}))
    >>> without_judgments(lists).docs.tolist()
    ['x']
    """
    if not lists.pooled().any():
        return lists
    ungraded = replace(lists, grades=np.full_like(lists.grades, UNJUDGED))
    return ungraded.select(lists.runs)  # which keeps the docs that the runs retrieved


def average_precision(lists: Lists, relevant: Bools, *, totals: npt.ArrayLike | None = None) -> Floats:
    """AP of every run on every topic with these items relevant, runs × topics.

    AP = 1/R · Σ over relevant retrieved docs of (their number so far)/rank; R counts the relevant items of the topic,
    or is given by `totals`. No relevant doc: 0. It is the measure AP, on rows instead of grades: a method that draws
    relevant docs scores all runs dozens of times, and a table of ranks for each would take ten times as long.

    >>> lists = collected([Run.from_lists("a", {"1": ["x", "y", "z"]}), Run.from_lists("b", {"1": ["y", "z"]})])
    >>> average_precision(lists, np.array([True, False, True])).round(4).tolist()
    [[0.8333], [0.25]]
    """
    hits = np.flatnonzero(relevant[lists.item])
    segments = len(lists.bounds) - 1
    precision_sums = precision_sums_at(lists.segment[hits], lists.rank[hits], segments)
    if totals is None:
        topic_of_relevant = lists.topic_of_item[relevant]
        totals = np.bincount(topic_of_relevant, minlength=len(lists.topics))
    relevant_docs = np.asarray(totals, dtype=np.float64)
    return precision_sums.reshape(lists.shape) / np.maximum(relevant_docs, 1.0)


def best_share(
    lists: Lists, keys: Sequence[npt.NDArray[np.floating | np.integer]], members: Bools, share: float
) -> Bools:
    """The best `share` (rounded up) of each topic's member items: keys ascending, the first deciding, then doc id.

    >>> lists = collected([Run.from_lists("a", {"1": ["x", "y", "z"]}), Run.from_lists("b", {"1": ["y", "z"]})])
    >>> best_share(lists, [np.array([2, 1, 1])], np.array([True, True, True]), 0.3).tolist()
    [False, True, False]
    """
    if not 0 < share <= 1:
        raise UsageError(f"share: must lie in (0, 1], not {share}; 0.3 takes the best 30 %")
    pool = np.flatnonzero(members)
    topic = lists.topic_of_item[pool]
    first_key_last = [key[pool] for key in reversed(keys)]  # as lexsort wants them; the topic decides before all
    best_first = pool[np.lexsort([*first_key_last, topic])]
    size = np.bincount(topic, minlength=len(lists.topics))
    place = places_within(size)
    # 0.3 · 10 is 3.0000000000000004 in floats: round first, so that ceil does not take a fourth.
    wanted = np.ceil(np.round(share * size, 9))
    is_best = place < np.repeat(wanted, size)
    chosen = np.zeros(lists.items, dtype=bool)
    chosen[best_first[is_best]] = True
    return chosen
