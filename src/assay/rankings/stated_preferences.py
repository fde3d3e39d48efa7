"""Which of two docs does a run prefer? The one rule for all that reads preferences out of ranked lists.

A run prefers the doc that it ranks higher. Of a doc that it retrieved and a pooled doc that it did not, it prefers the
former (`retrieved`, as Carterette & Allan 2007 read their runs: only a run that retrieved neither has no preference),
or it has no preference (`both`: only docs that it ranked both are compared).
"""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Ints
from assay.core.registry import one_of

RETRIEVED = "retrieved"
BOTH = "both"
PREFERENCES = (RETRIEVED, BOTH)
"""What a run says of docs that it did not retrieve; the first is the default everywhere."""


def over_missing(preferences: str) -> bool:
    """Whether a retrieved doc is preferred to the pooled docs that the run did not retrieve.

    >>> over_missing("retrieved"), over_missing("both")
    (True, False)
    """
    return one_of("preferences", preferences, PREFERENCES) == RETRIEVED


def preferred(first: Ints, second: Ints, preferences: str = RETRIEVED) -> Ints:
    """1 where the first doc is preferred, −1 where the second is, 0 where neither: by their ranks, 0 if not retrieved.

    >>> preferred(np.array([1, 3, 2, 0]), np.array([2, 1, 0, 0])).tolist()
    [1, -1, 1, 0]
    >>> preferred(np.array([1, 3, 2, 0]), np.array([2, 1, 0, 0]), "both").tolist()
    [1, -1, 0, 0]
    """
    has_first = first > 0
    has_second = second > 0
    by_rank = np.sign(second - first)
    if over_missing(preferences):
        # A rank of 0 is behind all others, not before them.
        by_rank = np.where(has_first & has_second, by_rank, has_first.astype(np.int64) - has_second)
        return np.asarray(by_rank)
    return np.where(has_first & has_second, by_rank, 0)
