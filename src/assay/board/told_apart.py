"""Which systems can be told apart, and of what is that true? All pairs, with topics or with collections as units.

"On these collections" takes the topics as the sample: t with the variance within each collection, Holm over all pairs.
"On collections like these" takes the collections: nothing is decided by two of them; from three t over collections
with Holm, from six flips of whole collections. Ranks have no variance within a collection and are constant too often
for t, so that they are decided by flips alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.board.strata import Strata
from assay.core.arrays import Bools, Floats, Ints
from assay.stats.bounded import bounded_ends, shows_little
from assay.stats.letters import Letters, compact_letters
from assay.stats.max_t import flipped_family
from assay.stats.multiple import corrected
from assay.stats.pair_tests import every_pair

OVER = {"collections": "collections like these", "topics": "these collections"}
"""What a board speaks of, by what its sample consists of."""
FEWEST, FEWEST_FLIPPED = 3, 6
"""Collections for a t test over them, and for flips: five have no p below .0625."""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All pairs of systems: `p` holds for all of them together; nan where such a test would not hold.

    `how` says how p was made, or why there is none.
    """

    p: Floats
    above: Bools
    """above[i, j]: i is significantly better than j."""
    how: str

    @property
    def decided(self) -> bool:
        """Whether there is a test at all."""
        return not bool(np.isnan(self.p).any())

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
        """The worst rank that a system may have: all but those that are significantly worse.

        The ranks between the two ends hold for all systems at once (Mogstad, Romano, Shaikh & Wilhelm 2024).
        """
        return np.asarray(len(self.above) - self.above.sum(axis=1))

    def letters(self, order: Ints) -> Letters:
        """Letters of the systems in that order, best first: who shares one is not significantly different."""
        return compact_letters(self.different[np.ix_(order, order)])


def undecided(systems: int, why: str) -> Comparisons:
    """No pair is told apart, and why."""
    return Comparisons(np.full((systems, systems), np.nan), np.zeros((systems, systems), dtype=bool), why)


def on_these(strata: Strata, *, alpha: float = 0.05) -> Comparisons:
    """All pairs, with topics as units: t of the stratified mean difference, Holm over pairs.

    >>> rng = np.random.default_rng(0)
    >>> blocks = [np.array([[0.6], [0.4], [0.4]]) + rng.normal(0, 0.1, (3, 20)) for _ in range(2)]
    >>> found = on_these(Strata(blocks, (0.0, 1.0)))
    >>> found.rank_low.tolist(), found.rank_high.tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    first, second = every_pair(strata.systems)
    p = corrected(strata.pair_p(first, second))
    how = f"t over the topics of each collection, Holm over {_pairs(len(p))}"
    lead = strata.means[first] - strata.means[second]
    return _of_pairs(p, lead, strata.systems, alpha, how)


def on_like_these(
    cells: Floats, *, ranks: bool = False, alpha: float = 0.05, resamples: int | None = None, seed: int = 0
) -> Comparisons:
    """All pairs, with collections as units. cells: collections × systems, more is better.

    ranks: the cells are ranks or points for them. From 6 collections on step-down max-t by flips of collections, all of
    them up to 13; from 3 paired t with Holm, for cells that are means; below, and for ranks of up to 5, nothing.

    >>> better = np.array([[.10, .30, .22, .15, .40, .21], [.0, .2, .1, .1, .3, .2]]).T
    >>> round(float(on_like_these(better).p[0, 1]), 5)
    0.03125
    """
    collections, systems = cells.shape
    if collections < FEWEST:
        return undecided(systems, f"{collections} collections cannot show what holds on others: {FEWEST} are needed")
    if ranks and collections < FEWEST_FLIPPED:
        return undecided(systems, f"ranks on {collections} collections are an order only: a test needs 6")
    first, second = every_pair(systems)
    rows = np.ascontiguousarray(cells.T)
    if collections < FEWEST_FLIPPED:
        p = corrected(_paired_p(rows, first, second))
        how = f"paired t over {collections} collections, Holm over {_pairs(len(p))}"
    else:
        family = flipped_family(rows, first, second, alpha=alpha, resamples=resamples, seed=seed, intervals=False)
        p = family.p
        drawn = f"all {family.flips:,}" if family.exact else f"B = {family.flips:,}, seed {seed}"
        how = f"step-down max-t over {_pairs(len(p))}, flips of {collections} collections, {drawn}"
    means = rows.mean(axis=1)
    return _of_pairs(p, means[first] - means[second], systems, alpha, how)


def _pairs(count: int) -> str:
    return f"{count:,} {'pair' if count == 1 else 'pairs'}"


def _of_pairs(p: Floats, lead: Floats, systems: int, alpha: float, how: str) -> Comparisons:
    """The square form of condensed pairs."""
    first, second = every_pair(systems)
    square = np.ones((systems, systems))
    square[first, second] = square[second, first] = p
    above = np.zeros((systems, systems), dtype=bool)
    above[first, second] = (p < alpha) & (lead > 0)
    above[second, first] = (p < alpha) & (lead < 0)
    return Comparisons(square, above, how)


def _paired_p(rows: Floats, first: Ints, second: Ints) -> Floats:
    """p of the paired t test; 1 where the differences vary too little for one.

    For those only their signs are left, and five of one sign have p .0625 at best.
    """
    from scipy.special import stdtr

    differences = np.round(rows[first] - rows[second], 12)
    n = differences.shape[1]
    little = shows_little(differences)
    error = differences.std(axis=1, ddof=1) / np.sqrt(n)
    t = np.divide(differences.mean(axis=1), error, out=np.zeros(len(error)), where=~little)
    return np.where(little, 1.0, 2 * stdtr(n - 1, -np.abs(t)))


def ends_on_like_these(cells: Floats, limits: tuple[float, float] | None, level: float) -> tuple[Floats, Floats]:
    """Ends of the interval of each system's mean over collections: t, or the Dirichlet bound where cells hardly vary.

    Without an interval (nan) are systems on fewer than three collections, and those whose cells hardly vary if the
    limits of the measure are not known.
    """
    from scipy.special import stdtrit

    rows = np.ascontiguousarray(cells.T)
    n = rows.shape[1]
    if n < FEWEST:
        nothing = np.full(len(rows), np.nan)
        return nothing, nothing
    half = stdtrit(n - 1, (1 + level) / 2) * rows.std(axis=1, ddof=1) / np.sqrt(n)
    mean = rows.mean(axis=1)
    return within_limits(rows, mean - half, mean + half, shows_little(rows), limits, level)


def within_limits(
    rows: Floats, low: Floats, high: Floats, little: Bools, limits: tuple[float, float] | None, level: float
) -> tuple[Floats, Floats]:
    """The ends cut to the limits; where rows show little those of the Dirichlet bound, nan without limits."""
    if limits is None:
        return np.where(little, np.nan, low), np.where(little, np.nan, high)
    low, high = np.maximum(low, limits[0]), np.minimum(high, limits[1])
    if little.any():
        low[little], high[little] = bounded_ends(rows[little], level, limits)
    return low, high
