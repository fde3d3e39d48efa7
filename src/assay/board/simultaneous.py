"""Which systems can be told apart, and what ranks may they have? All pairs at once, from the draws of a bootstrap.

One critical value holds for all pairs together, so that letters, the group of the first and rank intervals rest on one
family of comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.stats.letters import Letters, compact_letters
from assay.stats.resampling import SLACK


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All pairs of systems: `above[i, j]` says that i is significantly better than j, all pairs considered together."""

    above: Bools
    critical: float
    """How many standard errors a difference must have."""

    @property
    def different(self) -> Bools:
        """Pairs that are significantly different."""
        return np.asarray(self.above | self.above.T)

    @property
    def rank_low(self) -> Ints:
        """The best rank that a system may have: 1 + the systems that are significantly better."""
        return np.asarray(1 + self.above.sum(axis=0))

    @property
    def rank_high(self) -> Ints:
        """The worst rank that a system may have: all but those that are significantly worse."""
        return np.asarray(len(self.above) - self.above.sum(axis=1))

    def letters(self, order: Ints) -> Letters:
        """Letters of the systems in that order, best first: who shares one is not significantly different."""
        return compact_letters(self.different[np.ix_(order, order)])


def comparisons(values: Floats, draws: Floats, *, level: float = 0.95) -> Comparisons:
    """Pairs whose difference is beyond what the draws allow, with one critical value for all of them.

    values: of each system, more is better. draws: resamples × systems. A pair differs where |v_i − v_j| > q · se_ij,
    se the sd of the difference over the draws and q the quantile of the largest |deviation| / se of any pair, so that
    the chance of one wrong conclusion or more is 1 − level. The rank of a system then lies between 1 + the number
    significantly better and N − the number significantly worse, for all systems at once (Mogstad et al. 2024).

    >>> rng = np.random.default_rng(0)
    >>> found = comparisons(np.array([0.5, 0.4, 0.1]), rng.normal([0.5, 0.4, 0.1], 0.05, (500, 3)))
    >>> found.rank_low.tolist(), found.rank_high.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    deviations = draws - draws.mean(axis=0)
    error = _errors(deviations)
    largest = np.zeros(len(draws))
    systems = len(values)
    for first in range(systems - 1):
        gaps = np.abs(deviations[:, first + 1 :] - deviations[:, [first]])
        # Systems that move together always have no error, and no deviation from it.
        scale = np.where(error[first, first + 1 :] > 0, error[first, first + 1 :], 1.0)
        np.maximum(largest, (gaps / scale).max(axis=1), out=largest)
    critical = float(np.quantile(largest, level, method="higher"))
    lead = values[:, None] - values[None, :]
    rounding = SLACK * np.abs(values).max(initial=0.0)
    return Comparisons(lead > critical * error + rounding, critical)


def _errors(deviations: Floats) -> Floats:
    """systems × systems: the sd of the difference of each pair; 0 where only rounding is left."""
    covariance = deviations.T @ deviations / max(1, len(deviations) - 1)
    variance = np.diag(covariance)
    of_difference = variance[:, None] + variance[None, :] - 2 * covariance
    rounding = 1e-12 * (variance[:, None] + variance[None, :])
    return np.sqrt(np.where(of_difference > rounding, of_difference, 0.0))
