"""Which of many differences are real, all considered together? Step-down max-t by flips of whole topics.

Under the null two runs may be swapped on any topic. One draw of signs is used for all pairs, so the distribution of the
largest |t| knows how the runs correlate, and each pair has its own spread (Westfall & Young 1993; Romano & Wolf 2005).
Intervals that hold for all pairs at once come from flips of the centred differences of the same draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats
from assay.core.engine import chunks
from assay.stats.effect import rounded
from assay.stats.resampling import every_sign_flip, sign_flips

Places = npt.NDArray[np.intp]

EVERY_FLIP = 13
"""Up to this many topics all 2^n sign patterns are taken, and p is exact."""
FEWEST_TOPICS = 10
"""Below this flips have too few values: 16 distinct |t| at 5 topics. p and interval come from Holm and Bonferroni."""
FLIPS, FLIPS_OF_MANY = 9_999, 999
"""Draws of signs, and those for more than MANY_PAIRS pairs."""
MANY_PAIRS = 2_000
PAIRS_AT_ONCE, MEMBERS_AT_ONCE = 4_096, 128
SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Family:
    """All pairs of a family: t and p of each, and the t that holds for all intervals at once.

    `p` holds for the whole family. A pair without any difference is not in the family: its p is 1. `critical` belongs
    to the two-sided intervals mean ± critical·S/√n, and is nan if they were not wanted.
    """

    t: Floats
    p: Floats
    critical: float
    flips: int
    exact: bool
    members: int

    def recipe(self, seed: int) -> str:
        """How p was made."""
        drawn = f"all {self.flips:,} sign patterns" if self.exact else f"B = {self.flips:,}, seed {seed}"
        return f"step-down max-t over {self.members:,} differences, sign flips of topics, {drawn}"


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of rows of scores: mean difference, root mean square and its like around the mean."""

    scores: Floats
    first: Places
    second: Places
    mean: Floats
    size: Floats
    spread: Floats

    @classmethod
    def of(cls, scores: Floats, first: Places, second: Places) -> _Pairs:
        mean, size, spread = (np.empty(len(first)) for _ in range(3))
        for part in chunks(len(first), PAIRS_AT_ONCE):
            rows = rounded(scores[first[part]] - scores[second[part]])
            mean[part] = rows.mean(axis=1)
            size[part] = np.sqrt((rows**2).mean(axis=1))
            constant = (rows == rows[:, :1]).all(axis=1)
            spread[part] = np.where(constant, 0.0, rows.std(axis=1))
        return cls(scores, first, second, mean, size, spread)

    def t(self) -> Floats:
        """mean/(S/√n): 0 without any difference, ±∞ where all topics have the same one."""
        return t_of(np.divide(self.mean, self.size, out=np.zeros_like(self.mean), where=self.size > 0), self.topics)

    @property
    def topics(self) -> int:
        return self.scores.shape[1]


def t_of(ratio: npt.ArrayLike, topics: int) -> Floats:
    """t from the mean over the root mean square, of which it is an increasing function."""
    r = np.clip(np.asarray(ratio, dtype=np.float64), -1.0, 1.0)
    rest = 1 - r**2
    flat = rest <= SLACK
    t = r * np.sqrt((topics - 1) / np.where(flat, 1.0, rest))
    return np.where(flat, np.copysign(np.inf, r), t)


def flipped_family(
    scores: Floats,
    first: Places,
    second: Places,
    *,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    resamples: int | None = None,
    seed: int = 0,
    intervals: bool = True,
) -> Family:
    """Every pair first[i] − second[i] of rows of scores (runs × topics), by step-down max-t.

    p of the pair with the j-th largest |t| is the share of flips in which the largest |t*| of it and all after it
    reaches it; p never falls below the one before. Fewer than 10 topics are a matter for Holm, see `pairwise`.
    resamples: 9,999, and 999 for more than 2,000 pairs, unless given; all flips are taken up to 13 topics.
    intervals: whether the t of simultaneous intervals is wanted; without it a third less is done.
    Memory: about 40 MB, and three numbers for each pair.

    >>> d = np.array([[.04, .08, .08, .02, .11, .02, .12, .03], [.02, -.03, .08, .03, -.03, .06, .01, -.02]])
    >>> family = flipped_family(np.vstack([np.zeros(8), d]), np.array([1, 2]), np.array([0, 0]))
    >>> family.p.round(4).tolist()
    [0.0078, 0.3828]
    """
    pairs = _Pairs.of(scores, np.asarray(first), np.asarray(second))
    exact = pairs.topics <= EVERY_FLIP
    draws = resamples or (FLIPS if len(pairs.first) <= MANY_PAIRS else FLIPS_OF_MANY)
    flips = 2**pairs.topics if exact else draws
    members = np.flatnonzero(pairs.size > 0)
    sign = {"two-sided": 0, "greater": 1, "less": -1}[alternative]
    observed = _sided(pairs.mean[members] / pairs.size[members], sign)
    members = members[np.argsort(observed, kind="stable")]
    hits, largest = np.zeros(len(members)), np.empty(flips)
    done = 0
    for block in _flips(pairs.topics, draws, seed, exact):
        drawn = slice(done, done + len(block))
        largest[drawn] = _count(pairs, members, block, sign, hits, intervals)
        done = drawn.stop
    p = np.ones(len(pairs.first))
    share = hits / flips if exact else (hits + 1) / (flips + 1)
    p[members] = np.maximum.accumulate(share[::-1])[::-1]
    rank = int(np.ceil((1 - alpha) * (flips if exact else flips + 1) - SLACK))
    critical = float(t_of(np.sort(largest)[rank - 1], pairs.topics)) if rank <= flips else np.inf
    if not intervals:
        critical = np.nan
    return Family(pairs.t(), p, critical, flips, exact, len(members))


def _flips(topics: int, draws: int, seed: int, exact: bool) -> Iterator[Floats]:
    return every_sign_flip(topics) if exact else sign_flips(topics, draws, seed)


def _sided(ratio: Floats, sign: int) -> Floats:
    """What is compared: the size of a statistic two-sided, else the statistic in the direction asked for."""
    return np.abs(ratio) if sign == 0 else sign * ratio


def _count(pairs: _Pairs, members: Places, block: Floats, sign: int, hits: Floats, intervals: bool) -> Floats:
    """Adds the hits of a block of flips to each member (smallest observed first); the largest centred |ratio| of each.

    A ratio is mean/root mean square: t is an increasing function of it, the same for all pairs.
    """
    means = pairs.scores @ block.T / pairs.topics
    tilt = block.mean(axis=1)
    running = np.full(len(block), -np.inf)
    largest = np.zeros(len(block))
    # Two arrays that are used again and again: fresh ones would cost more than all that is done with them.
    of_first, of_second = (np.empty((MEMBERS_AT_ONCE, len(block))) for _ in range(2))
    for part in chunks(len(members), MEMBERS_AT_ONCE):
        chosen = members[part]
        flipped, spare = of_first[: len(chosen)], of_second[: len(chosen)]
        mean, size = pairs.mean[chosen], pairs.size[chosen]
        np.take(means, pairs.first[chosen], axis=0, out=flipped, mode="clip")
        np.take(means, pairs.second[chosen], axis=0, out=spare, mode="clip")
        flipped -= spare
        if intervals:
            np.maximum(largest, _largest_centred(flipped, tilt, mean, pairs.spread[chosen], spare), out=largest)
        flipped /= size[:, None]
        ratio = np.abs(flipped, out=flipped) if sign == 0 else _sided(flipped, sign)
        for row in ratio:  # row by row: ten times as fast as numpy's accumulate along this axis
            np.maximum(row, running, out=row)
            running = row
        running = running.copy()
        observed = _sided(mean / size, sign)
        hits[part] += np.count_nonzero(ratio >= observed[:, None] - SLACK, axis=1)
    return largest


def _largest_centred(flipped: Floats, tilt: Floats, mean: Floats, spread: Floats, centred: Floats) -> Floats:
    """The largest |ratio| of each flip if each difference is taken from its mean; constant differences have none.

    centred: an array to work in.
    """
    np.multiply(mean[:, None], tilt, out=centred)
    np.subtract(flipped, centred, out=centred)
    centred /= np.where(spread > 0, spread, np.inf)[:, None]
    return np.asarray(np.maximum(centred.max(axis=0), -centred.min(axis=0)))


@dataclass(frozen=True, eq=False)
class PossibleBest:
    """Hsu's set: the runs that may be the best, which hold the truly best one with confidence 1 − α.

    `ahead` is the upper end of a run's lead over the best of the others, 0 where it is shown not to lead; `behind` the
    lower end for the runs of the set. A run outside the set is not shown to be worse than each of the others.
    """

    inside: Bools
    ahead: Floats
    behind: Floats
    critical: Floats


def possible_best(
    scores: Floats,
    *,
    alpha: float = 0.05,
    resamples: int | None = None,
    seed: int = 0,
    critical: Floats | None = None,
) -> PossibleBest:
    """Which runs (rows of scores) may be the best? Multiple comparisons with the best, by centred flips of topics.

    Hsu 1996, §4.2; Edwards & Hsu 1983. c_i is the 1 − α quantile of the largest one-sided t*_{j−i} over the others;
    with fewer than 10 topics it is Bonferroni's t. critical: these, if they are known already.

    >>> g1 = np.array([[.31, .35, .33, .29], [.52, .60, .49, .55], [.11, .19, .14, .12], [.78, .80, .81, .70],
    ...     [.25, .36, .22, .30], [.64, .66, .70, .60], [.40, .52, .41, .39], [.07, .10, .05, .09]]).T
    >>> possible_best(g1).inside.tolist()
    [False, True, True, False]
    """
    runs, topics = scores.shape
    difference, error = np.zeros((runs, runs)), np.zeros((runs, runs))
    for i in range(runs):
        rows = rounded(scores - scores[i])
        difference[i] = -rows.mean(axis=1)
        error[i] = rows.std(axis=1, ddof=1) / np.sqrt(topics)
    if critical is None:
        few = topics < FEWEST_TOPICS
        own = bonferroni_critical(runs, topics, alpha) if few else flipped_critical(scores, alpha, resamples, seed)
    else:
        own = critical
    return best_among(difference, error, own)


def best_among(difference: Floats, error: Floats, critical: Floats) -> PossibleBest:
    """Hsu's set from mean differences row − column, their standard errors and c of each run.

    Runs with the same score on every topic do not compete: of such a pair both may be the best.
    """
    others = ~np.eye(len(difference), dtype=bool) & ((error > SLACK) | (np.abs(difference) > SLACK))
    upper = np.where(others, difference + critical[:, None] * error, np.inf).min(axis=1)
    ahead = np.maximum(0.0, upper)
    inside = ahead > 0
    reach = np.where(others & inside[None, :], -difference + critical[None, :] * error, -np.inf).max(axis=1)
    behind = np.where(inside, -np.maximum(0.0, reach), np.nan)
    return PossibleBest(inside, ahead, behind, critical)


def bonferroni_critical(runs: int, topics: int, alpha: float) -> Floats:
    """c_i of each run where flips are too few or too many: the one-sided t at α/(k − 1)."""
    from scipy.special import stdtrit

    return np.full(runs, float(stdtrit(topics - 1, 1 - alpha / max(1, runs - 1))))


def flipped_critical(scores: Floats, alpha: float, resamples: int | None = None, seed: int = 0) -> Floats:
    """For each run the 1 − α quantile of the largest one-sided t of the others less it, over centred flips."""
    runs, topics = scores.shape
    exact = topics <= EVERY_FLIP
    draws = resamples or (FLIPS if runs * runs <= MANY_PAIRS else FLIPS_OF_MANY)
    spread = np.stack([rounded(scores - row).std(axis=1) for row in scores])
    centred = scores - scores.mean(axis=1, keepdims=True)
    largest = []
    for block in _flips(topics, draws, seed, exact):
        means = block @ centred.T / topics
        of_block = np.full((len(block), runs), -np.inf)
        for i in range(runs):
            beaten = spread[i] > SLACK
            if beaten.any():
                of_block[:, i] = ((means[:, beaten] - means[:, [i]]) / spread[i, beaten]).max(axis=1)
        largest.append(of_block)
    ordered = np.sort(np.concatenate(largest), axis=0)
    count = len(ordered) if exact else len(ordered) + 1
    rank = min(len(ordered), int(np.ceil((1 - alpha) * count - SLACK)))
    return t_of(np.maximum(ordered[rank - 1], 0.0), topics)
