"""What is a system worth on many collections, in one number? Five answers, each an average over collections.

Each aggregate has a value of every system on every collection (a cell); the aggregate is their mean, or sum for Borda.
"""

from __future__ import annotations

import numpy as np

from assay.board.common_set import CommonSet
from assay.core.arrays import Floats
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


def better(aggregate: str, values: Floats) -> Floats:
    """The values, turned round where less is better, so that more is."""
    return -values if aggregate == "mean-rank" else values


def topic_values(data: CommonSet) -> list[Floats]:
    """For each collection its topics × (PER_TOPIC · systems) array: what the aggregates that are means average."""
    blocks = []
    for raw, standardized in zip(data.scores, data.standardized, strict=True):
        wins = win_shares(raw.T)
        blocks.append(np.hstack([raw.T, standardized.T, wins]))
    return blocks


def win_shares(scores: Floats) -> Floats:
    """For each row the share of the other systems that score less, equal ones counting half.

    >>> win_shares(np.array([[0.5, 0.5, 0.1]])).tolist()
    [[0.75, 0.75, 0.0]]
    """
    systems = scores.shape[1]
    beaten = systems - ranks(scores)
    return np.asarray(beaten / (systems - 1))


def cells_of(means: Floats, systems: int) -> dict[str, Floats]:
    """{aggregate: rows × systems} from rows of means of PER_TOPIC values side by side.

    A row is a collection, or one draw of its topics.
    """
    cells = {}
    for at, name in enumerate(PER_TOPIC):
        cells[name] = means[:, at * systems : (at + 1) * systems]
    rank = ranks(settled(cells["mean"]))
    cells["mean-rank"] = rank
    cells["borda"] = systems - rank
    return {name: cells[name] for name in AGGREGATES}


def collection_cells(data: CommonSet) -> dict[str, Floats]:
    """{aggregate: collections × systems}: what each collection says of each system."""
    means = np.array([block.mean(axis=0) for block in topic_values(data)])
    return cells_of(means, len(data.systems))


def over_collections(aggregate: str, cells: Floats) -> Floats:
    """The aggregate of each system from its cells, collections × systems.

    >>> over_collections("borda", np.array([[1.0, 0.0], [1.0, 0.0]])).tolist()
    [2.0, 0.0]
    """
    if aggregate == "borda":
        return np.asarray(cells.sum(axis=0))
    return np.asarray(cells.mean(axis=0))
