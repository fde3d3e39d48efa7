"""How sure is a coefficient of agreement? Its interval over topics, or over docs if there is one topic alone.

Labels come by topic, and topics are easy or hard together: who labels 1,000 docs of 10 topics has a sample of 10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.stats.bounded import unlike
from assay.stats.clustered import ClusterEstimate, jackknife

Unit = Literal["topic", "doc"]
FEWEST: dict[Unit, int] = {"topic": 5, "doc": 50}
"""Units that an interval needs: with 25 docs, a tenth of them relevant, .13 of the intervals left out the truth."""
UNLIKE = 10
"""Units that must change a coefficient when they are left out; of fewer than 20, half of them."""
ROWS = 64
"""Units left out at once: memory is ROWS × items."""


@dataclass(frozen=True)
class Ends:
    """An interval, or why there is none."""

    low: float | None = None
    high: float | None = None
    why: str = ""


@dataclass(frozen=True, eq=False)
class Units:
    """What was sampled: topics, or the docs of one topic, and the number of that of each item; −1 without others."""

    name: Unit
    of_item: Ints
    count: int

    @classmethod
    def of(cls, ratings: Ratings) -> Units:
        """The topics with items that two assessors labelled, or these items if they are of one topic.

        >>> Units.of(Ratings.of(["a", "a", "b", "b", "c"], [0, 1, 1, 1, 0])).of_item.tolist()
        [0, 1, -1]
        """
        shared = ratings.sizes > 1
        of_item = np.full(len(ratings.sizes), -1)
        topics, place = np.unique(ratings.topic[shared], return_inverse=True)
        by_topic = len(topics) > 1
        of_item[shared] = place if by_topic else np.arange(shared.sum())
        return cls("topic" if by_topic else "doc", of_item, int(of_item.max(initial=-1)) + 1)

    def left_out(self, values_of: Callable[[Floats], Floats], rows: int = ROWS) -> Floats:
        """A coefficient without each unit; values_of: the coefficient for each row of item weights."""
        found = [np.zeros(0)]
        for some in chunks(self.count, rows):
            without = np.arange(some.start, some.stop)[:, None] != self.of_item[None, :]
            found.append(values_of(without.astype(np.float64)))
        return np.concatenate(found)


def interval_over(
    unit: Unit,
    units: int,
    value: float,
    left_out: Callable[[], Floats],
    level: float,
    limits: tuple[float, float] = (-1.0, 1.0),
) -> Ends:
    """The t interval of a coefficient by leaving out one unit after the other, on the logit scale between its limits.

    Units may matter very unlike much, so that there are 2/(kurtosis − 1) degrees of freedom for each, n − 1 at most.
    No interval below FEWEST units, if few units change the value, or if it is undefined or at a limit without one.

    >>> interval_over("topic", 2, 0.5, lambda: np.array([0.4, 0.6]), 0.95).why
    'fewer than 5 topics'
    """
    if units < FEWEST[unit]:
        return Ends(why=f"fewer than {FEWEST[unit]} {unit}s" + (" of one topic" if unit == "doc" else ""))
    low, high = limits
    share = (np.append(left_out(), value) - low) / (high - low)
    if not ((share > 0) & (share < 1)).all():
        return Ends(why=f"undefined or at the limit of the coefficient without one of the {unit}s")
    if unlike(share[:-1].round(12))[0] < min(UNLIKE, units / 2):
        return Ends(why=f"too few {unit}s change the value")
    logits = np.log(share / (1 - share))
    estimate = with_kurtosis(jackknife(float(logits[-1]), logits[:-1]), logits[:-1])
    ends = low + (high - low) / (1 + np.exp(-np.array(estimate.interval(level))))
    return Ends(float(ends[0]), float(ends[1]))


def with_kurtosis(estimate: ClusterEstimate, left_out: Floats) -> ClusterEstimate:
    """The estimate with the degrees of freedom of an error of which a few units make most.

    >>> from assay.stats.clustered import jackknife
    >>> values = np.array([0.0] * 20 + [1.0])
    >>> round(with_kurtosis(jackknife(0.0, values), values).df, 1)
    2.3
    """
    squares = (left_out - left_out.mean()) ** 2
    kurtosis = len(left_out) * float((squares**2).sum() / squares.sum() ** 2)
    free = 2 * len(left_out) / (kurtosis - 1) if kurtosis > 1 else np.inf
    return replace(estimate, df=min(estimate.df, free))
