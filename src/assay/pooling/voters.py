"""Who votes? The lists of a topic, one per run or one per group, and who has which doc.

Where it stands: lists → **voters** → pools, samples, orders, leave-one-out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.lists import NONE, Lists, TopicLists, collected

POOLED = -1
"""The grade that is written for a doc that was pooled and not judged; every negative grade means that."""
LARGEST = 1e300
"""Scores beyond it count as this when scores are scaled."""


Collected = Lists | Sequence[Run]
"""Runs as a person has them, or collected with judgments."""


def lists_of(runs: Collected, qrels: Qrels | None = None, *, groups: Mapping[str, str] | None = None) -> Lists:
    """The runs (and judgments, and groups) as lists; lists that are given as such stay as they are."""
    if not isinstance(runs, Lists):
        return collected(list(runs), qrels, groups=groups)
    if qrels is not None or groups is not None:
        raise UsageError(
            "the runs are already collected with their judgments and groups; give runs, or leave these out"
        )
    return runs


def voters(lists: Lists, t: int, *, by: str = "run", depth: int | None = None, judged_only: bool = False) -> TopicLists:
    """The lists of topic number t down to a depth, one per run or one per group, without docs that no run has there.

    judged_only takes out the docs that nobody judged (a negative grade means pooled and not judged) and closes the
    lists up, before the cut.
    """
    if by not in ("run", "group"):
        raise UsageError(f"a pool is by 'run' or by 'group', not {by!r}")
    seen = lists.topic(t)
    if judged_only:
        seen = seen.only(lists.grades[seen.items] >= 0)
    seen = seen.cut(depth)
    return grouped(seen, lists.groups) if by == "group" else seen


def grouped(lists: TopicLists, groups: Sequence[str]) -> TopicLists:
    """One list per group: its runs' docs in turn, rank by rank; the score is the best of the scaled scores."""
    names = tuple(dict.fromkeys(groups))
    scaled = scaled_scores(lists)
    merged = [_merged(lists, [s for s, g in enumerate(groups) if g == name], scaled) for name in names]
    depth = max((len(docs) for docs, _ in merged), default=0)
    ranked = np.full((len(names), depth), NONE, dtype=np.int32)
    scores = np.zeros((len(names), depth))
    for g, (docs, values) in enumerate(merged):
        ranked[g, : len(docs)], scores[g, : len(docs)] = docs, values
    return replace(lists, runs=names, ranked=ranked, scores=scores)


def _merged(lists: TopicLists, rows: list[int], scaled: Floats) -> tuple[Ints, Floats]:
    docs, values = lists.ranked[rows].T.ravel(), scaled[rows].T.ravel()
    docs, values = docs[docs >= 0], values[docs >= 0]
    distinct, first = np.unique(docs, return_index=True)
    best = np.zeros(len(lists.docs))
    np.maximum.at(best, docs, values)
    order = np.argsort(first, kind="stable")
    return distinct[order].astype(np.int64), best[distinct[order]]


def scaled_scores(lists: TopicLists) -> Floats:
    """Scores of each run scaled to 0…1 within the topic, runs × depth; a run whose scores are all equal has 1."""
    inside = lists.ranked >= 0
    scores = np.clip(lists.scores, -LARGEST, LARGEST)  # the difference of two infinite scores would be no number
    low = np.where(inside, scores, np.inf).min(axis=1, initial=np.inf)[:, None]
    high = np.where(inside, scores, -np.inf).max(axis=1, initial=-np.inf)[:, None]
    varied = inside & (high > low)
    span = np.where(high > low, high - low, 1.0)
    return np.where(varied, (scores - np.where(np.isfinite(low), low, 0.0)) / span, inside.astype(np.float64))


def contributors(lists: Lists, depth: int, *, by: str = "run") -> tuple[tuple[str, ...], Bools]:
    """Who has each item in the first `depth`: names of runs or groups, and a table contributors × items."""
    if by not in ("run", "group"):
        raise UsageError(f"contributions are by 'run' or by 'group', not {by!r}")
    labels = lists.runs if by == "run" else lists.groups
    names = tuple(dict.fromkeys(labels))
    owner = np.array([names.index(label) for label in labels], dtype=np.int64)
    has = np.zeros((len(names), lists.items), dtype=bool)
    rows = np.flatnonzero(lists.rank <= depth)
    has[owner[lists.run[rows]], lists.item[rows]] = True
    return names, has
