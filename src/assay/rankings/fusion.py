"""Which item do several rankings put first together? Borda count, Condorcet, rank position.

Each takes an array of rankings × items, higher scores are better, and gives one number per item. Ties by `settled`
scores or whole numbers, as everywhere; tied items share the mean of their ranks.
"""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Floats
from assay.rankings.counts import midranks


def ranks(scores: Floats) -> Floats:
    """The rank of each item in each row, 1 the best; tied items share the mean of their ranks.

    >>> ranks(np.array([[0.9, 0.5, 0.5]])).tolist()
    [[1.0, 2.5, 2.5]]
    """
    return midranks(-scores)


def borda(scores: Floats) -> Floats:
    """Borda count: Σ (N − rank) over the rankings, N the number of items; more is better.

    >>> borda(np.array([[0.9, 0.5, 0.1], [0.2, 0.8, 0.1]])).tolist()
    [3.0, 3.0, 0.0]
    """
    items = scores.shape[1]
    points = items - ranks(scores)
    return np.asarray(points.sum(axis=0))


def rank_position(scores: Floats) -> Floats:
    """1 / Σ 1/rank over the rankings; less is better.

    >>> rank_position(np.array([[0.9, 0.5], [0.2, 0.8], [0.2, 0.8]])).round(4).tolist()
    [0.5, 0.4]
    """
    reciprocals = 1 / ranks(scores)
    total = reciprocals.sum(axis=0)
    return np.asarray(1 / total)


def condorcet(scores: Floats) -> Floats:
    """How many items come after this one by duels won, then by fewest lost; more is better.

    >>> condorcet(np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [1.0, 3.0, 2.0]])).tolist()
    [2.0, 1.0, 0.0]
    """
    votes = majorities(scores)
    won = votes > votes.T
    lost = votes < votes.T
    wins = won.sum(axis=1)
    losses = lost.sum(axis=1)
    # One win weighs more than all losses that an item can have.
    items = len(wins)
    standing = wins * (items + 1) - losses
    stands_above = standing[:, None] > standing[None, :]
    items_after = stands_above.sum(axis=1)
    return np.asarray(items_after, dtype=np.float64)


def majorities(scores: Floats) -> Floats:
    """items × items: how many rankings put the first above the second.

    >>> majorities(np.array([[2.0, 1.0], [1.0, 2.0], [1.0, 2.0]])).tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    above = scores[:, :, None] > scores[:, None, :]
    votes = above.sum(axis=0)
    return np.asarray(votes, dtype=np.float64)
