"""Who votes? The lists of a topic, one per run or one per group, and who has which doc.

Where it stands: lists → **voters** → pools, samples, orders, leave-one-out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import UsageError
from assay.core.registry import one_of
from assay.data import Qrels
from assay.data.lists import NONE, Lists, TopicLists, collected
from assay.io.brought import plain_qrels_of, run_list
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.io.swapped import refuse_swapped

VOTERS = ("run", "group")
"""Who votes, and who contributes: each run, or each group of runs as one."""
POOLED = -1
"""The grade that is written for a doc that was pooled and not judged; every negative grade means that."""
LARGEST = 1e300
"""Scores beyond it count as this when scores are scaled."""


Collected = Any
"""Runs as a person has them (`assay.io.runs_of` says what may hold them), or Lists: collected with judgments."""


def lists_of(
    runs: Collected, qrels: Qrels | None = None, *, groups: Mapping[str, str] | None = None, columns: Named = None
) -> Lists:
    """The runs (and judgments, and groups) as lists; lists that are given as such stay as they are."""
    shared = shared_columns(columns)
    if not isinstance(runs, Lists):
        judgments = None if qrels is None else plain_qrels_of(qrels, columns=shared)
        found = run_list(runs, columns=shared)
        refuse_unused(shared, columns)
        refuse_swapped(runs, found, qrels, judgments)
        return collected(found, judgments, groups=groups)
    refuse_unused(shared, columns)
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
    one_of("kind of voter", by, VOTERS)
    seen = lists.topic(t)
    if judged_only:
        seen = seen.only(lists.grades[seen.items] >= 0)
    seen = seen.cut(depth)
    if by == "group":
        return grouped(seen, lists.groups)
    return seen


def grouped(lists: TopicLists, groups: Sequence[str]) -> TopicLists:
    """One list per group: its runs' docs in turn, rank by rank; the score is the best of the scaled scores."""
    names = tuple(dict.fromkeys(groups))
    scaled = scaled_scores(lists)
    merged = []
    for name in names:
        members = [run for run, group in enumerate(groups) if group == name]
        merged.append(_merged(lists, members, scaled))

    lengths = [len(docs) for docs, _ in merged]
    depth = max(lengths, default=0)
    ranked = np.full((len(names), depth), NONE, dtype=np.int32)
    scores = np.zeros((len(names), depth))
    for row, (docs, values) in enumerate(merged):
        ranked[row, : len(docs)] = docs
        scores[row, : len(docs)] = values
    return replace(
        lists,
        runs=names,
        ranked=ranked,
        scores=scores,
    )


def _merged(lists: TopicLists, members: list[int], scaled: Floats) -> tuple[Ints, Floats]:
    """The docs of these runs in turn, rank by rank, each at its first turn, with its best score."""
    docs = lists.ranked[members].T.ravel()
    values = scaled[members].T.ravel()
    inside = docs >= 0
    docs = docs[inside]
    values = values[inside]

    best = np.zeros(len(lists.docs))
    np.maximum.at(best, docs, values)
    distinct, first_turn = np.unique(docs, return_index=True)
    order = np.argsort(first_turn, kind="stable")
    in_turn = distinct[order]
    return in_turn.astype(np.int64), best[in_turn]


def scaled_scores(lists: TopicLists) -> Floats:
    """Scores of each run scaled to 0…1 within the topic, runs × depth; a run whose scores are all equal has 1."""
    inside = lists.ranked >= 0
    # The difference of two infinite scores would be no number.
    scores = np.clip(lists.scores, -LARGEST, LARGEST)
    lowest = np.where(inside, scores, np.inf).min(axis=1, initial=np.inf)
    highest = np.where(inside, scores, -np.inf).max(axis=1, initial=-np.inf)

    low = lowest[:, None]
    high = highest[:, None]
    varies = high > low
    span = np.where(varies, high - low, 1.0)
    # An empty list has no lowest score; 0 keeps the difference a number.
    above_low = scores - np.where(np.isfinite(low), low, 0.0)
    all_equal = inside.astype(np.float64)
    return np.where(inside & varies, above_low / span, all_equal)


def contributors(lists: Lists, depth: int, *, by: str = "run") -> tuple[tuple[str, ...], Bools]:
    """Who has each item in the first `depth`: names of runs or groups, and a table contributors × items."""
    one_of("kind of contributor", by, VOTERS)
    name_of_run = lists.runs if by == "run" else lists.groups
    names = tuple(dict.fromkeys(name_of_run))
    owners = [names.index(name) for name in name_of_run]
    owner = np.array(owners, dtype=np.int64)

    rows = np.flatnonzero(lists.rank <= depth)
    owner_of_row = owner[lists.run[rows]]
    has = np.zeros((len(names), lists.items), dtype=bool)
    has[owner_of_row, lists.item[rows]] = True
    return names, has
