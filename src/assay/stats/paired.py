"""Which tests are there for two runs on the same topics? The registry TESTS.

Every test takes rows of paired differences (one row per pair of runs, one column per topic) and gives a statistic and
a p-value per row, so that one pair and all pairs of a collection go through the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.core.registry import Registry, Within
from assay.stats.effect import centred_rows, checked_rows, ratio, standard_deviation
from assay.stats.resampling import (
    RESAMPLES,
    SLACK,
    TOPICS_AT_ONCE,
    checked_alternative,
    drawn_in_words,
    every_sign_flip,
    least_p,
    one_or_both,
    poisson_weights,
    refuse_alternative,
    refuse_few,
    resampled_p,
    resampled_t,
    sides_in_words,
    sign_flips,
    tail_counts,
    topic_counts,
)
from assay.stats.signed_ranks import exact_signed_rank_p, is_exact, signed_ranks


@dataclass(frozen=True, eq=False)
class Outcome:
    """Statistic and p of each row, the recipe in words, and the least p that so few resamples can give.

    `lead` is how far the first run is ahead by a test that does not test the mean: its sign says who is better by the
    test, which the mean may contradict. None where the mean itself is tested.
    """

    statistic: Floats
    p: Floats
    recipe: str
    least_p: float = 0.0
    lead: Floats | None = None


TestFunction = Callable[..., Outcome]
TESTS: Registry[TestFunction] = Registry("test")


def outcome_of(rows: npt.ArrayLike, test: str = "t", **common: Any) -> Outcome:
    """The outcome of a test by name, such as `t` or `sign(min_difference=0.01)`, on rows of differences.

    `common` (alternative, resamples, seed) reaches the tests that know it; what the name says in brackets wins. A test
    on fewer topics than it needs is an error. Rows that show little are a matter for `few_values`.

    >>> float(outcome_of([1, 1, 1], "randomisation").p[0])  # 2 of the 8 sign patterns reach |3|
    0.25
    """
    alternative = checked_alternative(common.get("alternative", "two-sided"))
    refuse_alternative(test)
    array = checked_rows(rows)
    entry = TESTS.entry(test)
    refuse_few("test", entry, array.shape[1], instead="t or randomisation")
    outcome: Outcome = TESTS.call(test, array, **common)
    sides = sides_in_words(alternative)
    if alternative == "two-sided":
        sides += entry.facts.get("two_sided", "")
    return replace(outcome, recipe=f"{outcome.recipe}, {sides}")


@TESTS.register("t", spread=True)
def t_test(rows: Floats, *, alternative: str = "two-sided") -> Outcome:
    """Paired t test: t = mean/(S/√n) with n − 1 degrees of freedom.

    Identical runs: t = 0, p = 1. The same non-zero difference on every topic: t is infinite and p its limit, 0.

    >>> o = t_test(np.array([[1.0, 2.0, 3.0]]))
    >>> round(float(o.statistic[0]), 4), round(float(o.p[0]), 4)
    (3.4641, 0.0742)
    """
    from scipy.special import stdtr

    degrees = rows.shape[1] - 1
    t = t_statistic(rows)
    p = _tails(t, lambda x: stdtr(degrees, x), alternative)
    return Outcome(t, p, f"paired t test, {degrees:,} degrees of freedom")


@TESTS.register("normal", spread=True, topics=30)
def normal_test(rows: Floats, *, alternative: str = "two-sided") -> Outcome:
    """The t statistic against the normal distribution, as the central limit theorem allows for 30 topics or more.

    The registry refuses fewer.
    """
    from scipy.special import ndtr

    z = t_statistic(rows)
    p = _tails(z, ndtr, alternative)
    return Outcome(z, p, "paired normal-approximation test")


@TESTS.register("wilcoxon", signs=True)
def wilcoxon_test(
    rows: Floats, *, alternative: str = "two-sided", exact: bool | None = None, continuity: bool = True
) -> Outcome:
    """Wilcoxon signed rank: W = sum of the ranks of |difference| where the first run is better.

    Zero differences are dropped, tied ones share their mean rank. `exact` takes the distribution of W over all sign
    patterns of these very ranks, ties or not: by default below 50 topics. From there on, or with exact=false, the
    normal approximation with the variance Σrank²/4, which is the one corrected for ties, and a continuity correction
    of ½. The recipe says which.

    >>> float(wilcoxon_test(np.array([[1.0, 2.0, 3.0]])).p[0])
    0.25
    """
    from scipy.special import ndtr

    ranks = signed_ranks(rows)
    plus = np.maximum(ranks, 0).sum(axis=1)
    if is_exact(rows.shape[1], exact):
        p = exact_signed_rank_p(ranks, alternative)
        return Outcome(plus, p, "Wilcoxon signed rank test, exact, zeros dropped", lead=ranks.sum(axis=1))
    centred = ranks.sum(axis=1) / 2
    variance = (ranks**2).sum(axis=1) / 4
    correction = "without"
    if continuity:
        correction = "with"
        towards_zero = {"two-sided": np.sign(centred), "greater": 1.0, "less": -1.0}
        centred = centred - 0.5 * towards_zero[alternative]
    z = ratio(np.where(variance > 0, centred, 0), np.sqrt(variance))
    recipe = f"Wilcoxon signed rank test, normal approximation {correction} continuity correction, zeros dropped"
    return Outcome(plus, _tails(z, ndtr, alternative), recipe, lead=ranks.sum(axis=1))


@TESTS.register("sign", signs=True, two_sided=" by doubling the smaller tail")
def sign_test(
    rows: Floats,
    *,
    alternative: str = "two-sided",
    min_difference: Annotated[float, Within(0)] = 0.0,
    normal: bool = False,
) -> Outcome:
    """Sign test: wins m of n topics that are not ties; P(X ≥ m) for X ~ Binomial(n, ½), doubled when two-sided.

    Differences smaller than `min_difference` count as ties, and ties are dropped. `normal` takes
    (wins − losses)/√n against the normal distribution instead. All ties: p = 1.

    >>> o = sign_test(np.array([[1.0] * 35 + [-1.0] * 15]))  # Webber 2010, §3.3.3
    >>> round(float(o.p[0]), 4)
    0.0066
    """
    from scipy.special import bdtr, ndtr

    if min_difference < 0:
        raise UsageError(f"sign: min_difference must not be negative ({min_difference:g})")
    wins = _count_above(rows, min_difference)
    losses = _count_above(-rows, min_difference)
    n = wins + losses
    lead = (wins - losses).astype(np.float64)
    small = f", differences below {min_difference:g} as ties" if min_difference else ""
    if normal:
        z = ratio(wins - losses, np.sqrt(n))
        p = _tails(z, ndtr, alternative)
        return Outcome(wins.astype(float), p, f"sign test, normal form, ties dropped{small}", lead=lead)
    as_many_wins = np.asarray(bdtr(n - wins, n, 0.5), dtype=np.float64)
    as_few_wins = np.asarray(bdtr(wins, n, 0.5), dtype=np.float64)
    p = one_or_both(as_many_wins, as_few_wins, alternative)
    return Outcome(wins.astype(float), p, f"sign test, exact binomial, ties dropped{small}", lead=lead)


def _count_above(rows: Floats, least: float) -> Ints:
    """Topics of each row whose difference is positive and at least this."""
    return ((rows > 0) & (rows >= least)).sum(axis=1)


@TESTS.register(
    "bootstrap", resampled=True, two_sided=" by doubling the smaller tail", spread=True, topics=10,
    interval="bootstrap-t",
)  # fmt: skip
def bootstrap_test(
    rows: Floats,
    *,
    alternative: str = "two-sided",
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
    plain: bool = False,
) -> Outcome:
    """Bootstrap-t: where the observed t lies among those of resamples of the shifted differences.

    Two-sided p is twice the smaller tail, (count + 1)/(B + 1), so that p < α if and only if the bootstrap-t interval
    leaves out 0. A resample without spread has t = 0 if its mean is 0, else ±∞. Efron & Tibshirani 1993, §12.5.

    >>> float(bootstrap_test(np.zeros((1, 12)), resamples=99).p[0])
    1.0
    """
    t, statistics = _resampled_ts(rows, resamples, seed)
    at_least, at_most = np.zeros(len(t)), np.zeros(len(t))
    for block in statistics:
        at_least += tail_counts(block, t, alternative="greater", slack=_slack_of_t(t))
        at_most += tail_counts(block, t, alternative="less", slack=_slack_of_t(t))
    greater, less = (resampled_p(count, resamples, plain=plain) for count in (at_least, at_most))
    recipe = f"paired bootstrap-t test, {drawn_in_words(resamples, seed, plain)}"
    least = least_p(resamples, plain) * (2 if alternative == "two-sided" else 1)
    return Outcome(t, one_or_both(greater, less, alternative), recipe, least)


@TESTS.register(
    "bootstrap-shift", resampled=True, two_sided=" by |mean|", spread=True, topics=50, interval="basic"
)  # fmt: skip
def shift_bootstrap_test(
    rows: Floats,
    *,
    alternative: str = "two-sided",
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
    plain: bool = False,
) -> Outcome:
    """Paired bootstrap of the mean: resampled means, shifted to centre on 0, at least as extreme as the mean.

    Webber 2010, §3.3.3. The same topics are drawn for every pair. Too eager on few topics: it finds a difference that
    is not there in .09 of cases at 10 topics and .06 at 25, so the registry refuses fewer than 50.

    >>> float(shift_bootstrap_test(np.zeros((1, 5)), resamples=99).p[0])
    1.0
    """
    n = rows.shape[1]
    mean = rows.mean(axis=1)
    centred = centred_rows(rows).T / n
    means = (counts @ centred for counts in topic_counts(n, resamples, seed))
    as_extreme = _counted(means, mean, alternative, _slack(rows) / n)
    recipe = f"paired bootstrap test of the shifted mean, {drawn_in_words(resamples, seed, plain)}"
    return _resampled_outcome(mean, as_extreme, recipe, resamples, plain)


@TESTS.register(
    "bootstrap-shift-t", resampled=True, two_sided=" by |t|", spread=True, topics=10, interval="bootstrap-t"
)  # fmt: skip
def studentised_bootstrap_test(
    rows: Floats,
    *,
    alternative: str = "two-sided",
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
    plain: bool = False,
) -> Outcome:
    """Paired bootstrap of the studentised mean: t of each resample of the shifted differences against the observed t.

    Sakai 2006. A resample without spread has t = 0 if its mean is 0, else ±∞. Identical runs: p = 1.

    >>> float(studentised_bootstrap_test(np.zeros((1, 5)), resamples=99).p[0])
    1.0
    """
    t, statistics = _resampled_ts(rows, resamples, seed)
    as_extreme = _counted(statistics, t, alternative, _slack_of_t(t))
    recipe = f"paired studentised bootstrap test, {drawn_in_words(resamples, seed, plain)}"
    return _resampled_outcome(t, as_extreme, recipe, resamples, plain)


@TESTS.register(
    "poisson-bootstrap", resampled=True, two_sided=" by |mean|", spread=True, topics=50
)  # fmt: skip
def poisson_bootstrap_test(
    rows: Floats,
    *,
    alternative: str = "two-sided",
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
    plain: bool = False,
) -> Outcome:
    """Paired bootstrap of the mean for millions of topics: each topic has a weight from Poisson(1) in each resample.

    As `bootstrap-shift`, but topics are weighted independently instead of being drawn to a fixed number, so blocks of
    topics can be weighted one after the other, or anywhere: a resampled mean is Σ weight·(difference − mean)/Σ weight.
    Hanley & MacGibbon 2006; Chamandy, Muralidharan, Najmi & Naidu 2012. Weights depend on the seed and the place of the
    topic alone.

    >>> float(poisson_bootstrap_test(np.zeros((1, 5)), resamples=99).p[0])
    1.0
    """
    mean = rows.mean(axis=1)
    centred = centred_rows(rows).T
    sums = np.zeros((resamples, centred.shape[1]))
    weights = np.zeros((resamples, 1))
    for topics, draws, block in poisson_weights(len(centred), resamples, seed):
        sums[draws] += block @ centred[topics]
        weights[draws] += block.sum(axis=1, keepdims=True)
    means = ratio(sums, weights)
    as_extreme = _counted(iter([means]), mean, alternative, _slack(rows) / rows.shape[1])
    weighted = f"Poisson weights by blocks of {TOPICS_AT_ONCE} topics"
    recipe = f"paired bootstrap test of the shifted mean, {weighted}, {drawn_in_words(resamples, seed, plain)}"
    return _resampled_outcome(mean, as_extreme, recipe, resamples, plain)


@TESTS.register("randomisation", signs=True, resampled=True, two_sided=" by |mean|")
def randomisation_test(
    rows: Floats,
    *,
    alternative: str = "two-sided",
    resamples: Annotated[int, Within(1)] = RESAMPLES,
    seed: Annotated[int, Within(0)] = 0,
    plain: bool = False,
) -> Outcome:
    """Randomisation of signs: under the null the two runs' labels may be swapped on any topic.

    Two-sided counts |mean*| ≥ |mean| (no tail is doubled). With 2^n ≤ resamples all sign patterns are taken and p is
    exact. Smucker, Allan & Carterette 2007.

    >>> float(randomisation_test(np.array([[1.0, 1.0, 1.0]]), alternative="greater").p[0])
    0.125
    """
    n = rows.shape[1]
    mean = rows.mean(axis=1)
    every = n < 40 and 2**n <= resamples
    flips = every_sign_flip(n) if every else sign_flips(n, resamples, seed)
    scaled = rows.T / n
    means = (block @ scaled for block in flips)
    as_extreme = _counted(means, mean, alternative, _slack(rows) / n)
    if every:
        return Outcome(mean, as_extreme / 2**n, f"randomisation test, exact over all {2**n} sign patterns")
    recipe = f"randomisation test, {drawn_in_words(resamples, seed, plain)}"
    return _resampled_outcome(mean, as_extreme, recipe, resamples, plain)


def _resampled_outcome(statistic: Floats, as_extreme: Floats, recipe: str, resamples: int, plain: bool) -> Outcome:
    """The outcome of a test that counted how many resamples are as extreme as what was observed."""
    p = resampled_p(as_extreme, resamples, plain=plain)
    return Outcome(statistic, p, recipe, least_p(resamples, plain))


def _resampled_ts(rows: Floats, resamples: int, seed: int) -> tuple[Floats, Iterator[Floats]]:
    """The t of each row, and blocks of those of its resamples, shifted to a mean of 0."""
    centred = centred_rows(rows).T
    blocks = (resampled_t(counts, centred)[1] for counts in topic_counts(rows.shape[1], resamples, seed))
    return t_statistic(rows), blocks


def _slack_of_t(t: Floats) -> Floats:
    """What two t of these resamples may differ by and still be equal."""
    return np.where(np.isfinite(t), 1e-9 * np.abs(t), 0.0)


def t_statistic(rows: Floats) -> Floats:
    """mean/(S/√n) of each row; 0 for identical runs, ±∞ where every topic has the same non-zero difference."""
    n = rows.shape[1]
    error = standard_deviation(rows) / np.sqrt(n)
    return ratio(rows.mean(axis=1), error)


def _tails(statistic: Floats, below: Callable[[Floats], Floats], alternative: str) -> Floats:
    """p of a statistic whose null distribution is symmetric around 0; `below` is its distribution function."""
    if alternative == "two-sided":
        return np.asarray(2 * below(-np.abs(statistic)))
    if alternative == "greater":
        return np.asarray(below(-statistic))
    return np.asarray(below(statistic))


def _counted(blocks: Iterator[Floats], observed: Floats, alternative: str, slack: Floats) -> Floats:
    counts = np.zeros(len(observed))
    for block in blocks:
        counts += tail_counts(block, observed, alternative=alternative, slack=slack)
    return counts


def _slack(rows: Floats) -> Floats:
    """What two sums of these differences may differ by and still be equal."""
    return np.asarray(SLACK * np.abs(rows).sum(axis=1))
