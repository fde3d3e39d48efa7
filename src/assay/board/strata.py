"""How sure is a mean over these collections, with their topics as the sample? Each collection is a stratum.

The variance of a mean of C collections is Σ s²/n over them, divided by C², with Satterthwaite's degrees of freedom.
Where scores hardly differ a t test would promise too much, and the Dirichlet bound takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import chunks
from assay.stats.bounded import FEW, bounded_ends, p_two_sided, unlike

Limits = tuple[float, float]
PAIRS_AT_ONCE = 4_096
GLANCE = 20
"""Topics of the first collection that show of nearly all pairs that they differ often enough."""
NOTHING = 1e-12
"""A variance below this share of those that it is made of is rounding."""


@dataclass(frozen=True, eq=False)
class Strata:
    """Scores of systems on the topics of collections, systems × topics of each; `limits` are those of a score.

    Every collection has at least two topics. Limits are None where they are not known.
    """

    blocks: Sequence[Floats]
    limits: Limits | None

    @cached_property
    def means(self) -> Floats:
        """The mean of each system over the collections."""
        return np.asarray(np.mean([block.mean(axis=1) for block in self.blocks], axis=0))

    @property
    def systems(self) -> int:
        """How many systems."""
        return len(self.blocks[0])

    @property
    def topics(self) -> list[int]:
        """Topics of each collection."""
        return [block.shape[1] for block in self.blocks]

    @property
    def enough(self) -> int:
        """Values unlike the commonest one of their collection that t needs: 10, of few topics as many as can be."""
        return min(FEW, sum(self.topics) - len(self.blocks))

    @cached_property
    def shares(self) -> list[float]:
        """What a topic of each collection counts for if the mean of all topics is to be the mean of collections."""
        return [sum(self.topics) / (len(self.blocks) * n) for n in self.topics]

    def ends(self, level: float) -> tuple[Floats, Floats]:
        """Ends of the interval of each system's mean; nan where scores hardly vary and have no known limits."""
        from scipy.special import stdtrit

        error, freedom = self._error(block.var(axis=1, ddof=1) for block in self.blocks)
        half = stdtrit(freedom, (1 + level) / 2) * error
        little = np.sum([unlike(block) for block in self.blocks], axis=0) < self.enough
        low = np.where(little, np.nan, self.means - half)
        high = np.where(little, np.nan, self.means + half)
        if self.limits is None:
            return low, high
        if little.any():
            rows = np.hstack([block[little] * share for block, share in zip(self.blocks, self.shares, strict=True)])
            low[little], high[little] = bounded_ends(rows, level, self._reach(self.limits))
        return np.maximum(low, self.limits[0]), np.minimum(high, self.limits[1])

    def pair_p(self, first: Ints, second: Ints) -> Floats:
        """Two-sided p of the mean difference of each pair, one test at a time."""
        from scipy.special import stdtr

        error, freedom = self._error(_of_differences(block) for block in self.blocks)
        lead = (self.means[:, None] - self.means)[first, second]
        t = np.divide(lead, error[first, second], out=np.zeros(len(lead)), where=error[first, second] > 0)
        p = np.asarray(2 * stdtr(freedom[first, second], -np.abs(t)))
        known: dict[bytes, float] = {}
        for at in np.flatnonzero(self._hardly_vary(first, second)).tolist():
            values = np.sort(self._difference(int(first[at]), int(second[at])))
            if values.tobytes() not in known:
                known[values.tobytes()] = self._bounded_p(values)
            p[at] = known[values.tobytes()]
        return p

    def _error(self, variances: Iterable[Floats]) -> tuple[Floats, Floats]:
        """The standard error of a mean over collections from the variances within each, and its degrees of freedom."""
        total: Floats | float = 0.0
        squares: Floats | float = 0.0
        for variance, n in zip(variances, self.topics, strict=True):
            of_mean = variance / n
            total = total + of_mean
            squares = squares + of_mean**2 / (n - 1)
        total, squares = np.asarray(total), np.asarray(squares)
        freedom = np.divide(total**2, squares, out=np.ones(total.shape), where=squares > 0)
        return np.sqrt(total) / len(self.blocks), freedom

    def _hardly_vary(self, first: Ints, second: Ints) -> Bools:
        """Pairs whose differences are the commonest one of their collection on nearly all topics."""
        little = np.zeros(len(first), dtype=bool)
        glance = self.blocks[0][:, :GLANCE]
        for part in chunks(len(first), PAIRS_AT_ONCE):
            i, j = first[part], second[part]
            open_pairs = np.flatnonzero(unlike(glance[i] - glance[j]) < self.enough)
            off = np.zeros(len(open_pairs), dtype=np.int64)
            for block in self.blocks:
                off += unlike(block[i[open_pairs]] - block[j[open_pairs]])
                open_pairs, off = open_pairs[off < self.enough], off[off < self.enough]
            little[part.start + open_pairs] = True
        return little

    def _difference(self, i: int, j: int) -> Floats:
        """The differences of a pair on all topics, each as large as its topic counts for."""
        parts = [(block[i] - block[j]) * share for block, share in zip(self.blocks, self.shares, strict=True)]
        return np.round(np.concatenate(parts), 12) + 0.0

    def _bounded_p(self, values: Floats) -> float:
        """p by the Dirichlet bound; 1 without a difference, or without known limits."""
        if self.limits is None or not values.any():
            return 1.0
        low, high = self.limits
        return p_two_sided(values, 0.0, self._reach((low - high, high - low)))

    def _reach(self, limits: Limits) -> Limits:
        """The limits of scores that are multiplied by what their topic counts for."""
        most = max(self.shares)
        return min(limits[0], limits[0] * most), max(limits[1], limits[1] * most)


def _of_differences(block: Floats) -> Floats:
    """systems × systems: the variance over topics of the difference of each pair; 0 where only rounding is left."""
    centred = block - block.mean(axis=1, keepdims=True)
    covariance = centred @ centred.T / (block.shape[1] - 1)
    variance = np.diag(covariance)
    together = variance[:, None] + variance
    of_difference = together - 2 * covariance
    return np.where(of_difference > NOTHING * together, of_difference, 0.0)
