"""What is a system worth on many collections, in one number? Five answers, each an average over collections.

Each aggregate has a value of every system on every collection (a cell); the aggregate is their mean, or sum for Borda.
"""

from __future__ import annotations

import numpy as np

from assay.board.common_set import CommonSet
from assay.core.arrays import Floats
from assay.core.registry import parse_call
from assay.rankings.counts import settled
from assay.rankings.fusion import ranks

AGGREGATES = {
    "mean": "mean",
    "standardized": "standardized mean",
    "borda": "Borda",
    "mean-rank": "mean rank",
    "wins": "win probability",
}
"""The aggregates, and what tables call them."""
FORMATS = {"mean": ".4f", "standardized": ".4f", "borda": ".1f", "mean-rank": ".2f", "wins": ".4f"}
EXPLAINED = (
    "standardized mean: scores relative to all runs of their collection, topic by topic, so that no collection counts "
    "more because its scores spread more",
    "Borda: each collection gives N − rank points to each of N systems; mean rank is the same order, read as a rank",
    "win probability: chance to score higher than another system on a topic, equal scores counting half",
)
"""What the notes of a table say of them."""
PER_TOPIC = ("mean", "standardized", "wins")
"""Aggregates that are means over topics; the others go by the order of systems on a collection."""
UNBOUNDED_FORMS = ("z",)
"""Forms of standardized scores that have no least and no largest one; all others are between 0 and 1."""


def better(aggregate: str, values: Floats) -> Floats:
    """The values, turned round where less is better, so that more is."""
    return -values if aggregate == "mean-rank" else values


def topic_values(data: CommonSet) -> dict[str, list[Floats]]:
    """{aggregate: systems × topics of each collection} of what the aggregates of PER_TOPIC are means of."""
    wins = [win_shares(raw.T).T for raw in data.scores]
    return {"mean": list(data.scores), "standardized": list(data.standardized), "wins": wins}


def limits_of(aggregate: str, data: CommonSet, form: str) -> tuple[float, float] | None:
    """The least and largest value on a topic; None where it is not known, or there is none."""
    if aggregate == "mean":
        return data.limits
    if aggregate == "standardized" and parse_call(form)[0] in UNBOUNDED_FORMS:
        return None
    return 0.0, 1.0


def win_shares(scores: Floats) -> Floats:
    """For each row the share of the other systems that score less, equal ones counting half.

    >>> win_shares(np.array([[0.5, 0.5, 0.1]])).tolist()
    [[0.75, 0.75, 0.0]]
    """
    systems = scores.shape[1]
    beaten = systems - ranks(scores)
    return np.asarray(beaten / (systems - 1))


def collection_cells(data: CommonSet) -> dict[str, Floats]:
    """{aggregate: collections × systems}: what each collection says of each system."""
    cells = {}
    for name, blocks in topic_values(data).items():
        cells[name] = np.array([block.mean(axis=1) for block in blocks])
    rank = ranks(settled(cells["mean"]))
    cells["mean-rank"] = rank
    cells["borda"] = len(data.systems) - rank
    return {name: cells[name] for name in AGGREGATES}


def over_collections(aggregate: str, cells: Floats) -> Floats:
    """The aggregate of each system from its cells, collections × systems.

    >>> over_collections("borda", np.array([[1.0, 0.0], [1.0, 0.0]])).tolist()
    [2.0, 0.0]
    """
    if aggregate == "borda":
        return np.asarray(cells.sum(axis=0))
    return np.asarray(cells.mean(axis=0))
