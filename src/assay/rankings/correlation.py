"""How alike are two rankings of the same items, such as runs by two measures? τ, τ_AP and their families.

Each function takes two vectors of scores over the same items, higher is better, and gives one number; where it has no
value, it raises DataError. A user picks one by name from CORRELATIONS. Lists that hold different items are compared in
`rbo`, many rankings at once in `batch`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, get_args

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, Within, one_of
from assay.rankings.counts import concordant_pairs, midranks, tie_groups, tied_pairs

Vector = npt.ArrayLike
Heavy = Literal["top", "bottom"]
Ranks = Literal["truth", "estimate", "both"]
HEAVY, RANKS = get_args(Heavy), get_args(Ranks)

CORRELATIONS: Registry[Callable[..., float]] = Registry("correlation")


@CORRELATIONS.register("pearson", symmetric=True, distance=False)
def pearson(x: Vector, y: Vector) -> float:
    """Linear correlation of the scores themselves.

    r = cov(x, y) / (sd(x) sd(y)). Constant scores have no correlation: an error.

    >>> round(pearson([1, 2, 3], [1, 3, 2]), 4)
    0.5
    """
    a, b = _varying(x, y)
    a = _deviations(a)
    b = _deviations(b)
    r = a @ b / np.sqrt((a @ a) * (b @ b))
    return float(np.clip(r, -1.0, 1.0))


@CORRELATIONS.register("spearman", symmetric=True, distance=False)
def spearman(x: Vector, y: Vector) -> float:
    """Pearson's correlation of the ranks; tied items share the mean of their ranks.

    >>> round(spearman([1, 2, 3], [10, 30, 20]), 4)
    0.5
    """
    a, b = _varying(x, y)
    return pearson(midranks(a), midranks(b))


@CORRELATIONS.register("footrule", symmetric=True, distance=True)
def footrule(x: Vector, y: Vector, *, scaled: bool = True) -> float:
    """Spearman's footrule: the sum of the differences of ranks, a distance.

    F = Σ |rank_x − rank_y|; scaled divides by its maximum ⌊n²/2⌋, so that 0 is the same order and 1 the reverse.
    Tied items share the mean of their ranks.

    >>> footrule([1, 2, 3], [3, 2, 1]), footrule([1, 2, 3], [3, 2, 1], scaled=False)
    (1.0, 4.0)
    """
    a, b = aligned(x, y)
    distance = np.abs(midranks(a) - midranks(b))
    total = float(distance.sum())
    if not scaled:
        return total
    largest = len(a) ** 2 // 2
    return total / largest


@CORRELATIONS.register("tau-a", symmetric=True, distance=False)
def kendall_tau_a(x: Vector, y: Vector) -> float:
    """Kendall's τ over all pairs: (concordant − discordant) / (n(n−1)/2); a tied pair counts for nothing.

    For an estimate against a truth without ties it is the mean τ over all ways to break the ties. Constant scores: 0.

    >>> round(kendall_tau_a([1, 2, 3], [1, 3, 2]), 4)
    0.3333
    """
    a, b = aligned(x, y)
    return float(_concordance(a, b)) / _all_pairs(a)


@CORRELATIONS.register("tau-b", symmetric=True, distance=False)
def kendall_tau_b(x: Vector, y: Vector) -> float:
    """Kendall's τ corrected for ties: (C − D) / √(pairs untied in x · pairs untied in y).

    Without ties it is (C − D)/(C + D) (Webber 2010, Eq. 3.16). Constant scores have no τ-b: an error.

    >>> round(kendall_tau_b([1, 2, 3], [1, 3, 2]), 4), round(kendall_tau_b([1, 1, 2], [1, 2, 3]), 4)
    (0.3333, 0.8165)
    """
    a, b = _varying(x, y)
    untied = _untied_pairs(a) * _untied_pairs(b)
    return float(_concordance(a, b) / np.sqrt(untied))


@CORRELATIONS.register("tau-ap", symmetric=False, distance=False)
def tau_ap(x: Vector, y: Vector, *, ties: str = "a", heavy: Heavy = "top", ranks: Ranks = "estimate") -> float:
    """AP correlation of an estimate y with a truth x: errors near the top cost more.

    τ_AP = 2/(n−1) · Σ_{i=2…n} C(i)/(i−1) − 1, C(i) the items above rank i of the estimate that the truth also puts
    above it (Yilmaz, Aslam & Robertson 2008). ranks="truth" takes the ranks from the truth instead, "both" the mean
    of the two. heavy="bottom" reverses both orders, so that errors at the bottom cost more.
    Ties (Urbano & Marrero 2017): "a" is the mean over all ways to break them; ties of the truth are treated alike.
    "b" is the symmetric form for two rankings with ties, and is undefined (an error) where all scores are equal.

    >>> round(tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), 4), round(tau_ap([4, 3, 2, 1], [4, 3, 1, 2]), 4)
    (0.3333, 0.7778)
    """
    if ties not in ("a", "b"):
        raise UsageError(f"tau-ap: no tie form {ties!r}; take a (accuracy) or b (agreement)")
    truth, estimate = aligned(x, y) if ties == "a" else _varying(x, y)
    if one_of("heavy", heavy, HEAVY) == "bottom":
        truth, estimate = -truth, -estimate
    form = _tau_ap_a if ties == "a" else _tau_ap_b
    chosen = one_of("ranks", ranks, RANKS) if ties == "a" else "both"
    if chosen == "estimate":
        return form(truth, estimate)
    if chosen == "truth":
        return form(estimate, truth)
    return (form(truth, estimate) + form(estimate, truth)) / 2


def _tau_ap_a(truth: Floats, estimate: Floats) -> float:
    """Mean over all orders of tied items: each place of a tie group is equally likely for each of its items."""
    n = len(truth)
    above, size = tie_groups(-estimate)
    last = above + size - 1
    reciprocals = 1 / np.arange(1, n + 1)
    harmonic = np.concatenate([[0.0], np.cumsum(reciprocals)])
    # Of an item at place i of its group: Σ 1/(above + i) for what stands above the group, and the rest for its ties,
    # each of which is above it in half of the orders.
    from_above = harmonic[last] - harmonic[np.maximum(above - 1, 0)]
    within = (size - 1) - above * (harmonic[last] - harmonic[above])
    hits = _above_in_both(truth, estimate, tie=0.5)
    share = (hits * from_above + within / 2) / size
    return float(2 / (n - 1) * share.sum() - 1)


def _tau_ap_b(truth: Floats, estimate: Floats) -> float:
    """Only items strictly above count, and those at the top have none above."""
    above, _ = tie_groups(-estimate)
    hits = _above_in_both(truth, estimate, tie=0.0)
    below_first = above > 0
    share = hits[below_first] / above[below_first]
    return float(2 * share.mean() - 1)


def _above_in_both(truth: Floats, estimate: Floats, *, tie: float) -> Floats:
    """For each item, how many are strictly above it in both; a tie of the truth counts `tie`. n × 1M/n at a time."""
    n = len(truth)
    counts = np.empty(n)
    for rows in chunks(n, 2**20 // n):
        own_truth = truth[rows, None]
        over = estimate[None, :] > estimate[rows, None]
        higher = truth[None, :] > own_truth
        level = truth[None, :] == own_truth
        strictly = (over & higher).sum(axis=1)
        tied = (over & level).sum(axis=1)
        counts[rows] = strictly + tie * tied
    return counts


PairWeight = Callable[[Floats, Floats], npt.ArrayLike]
PAIR_WEIGHTS: dict[str, PairWeight] = {
    "kendall": lambda upper, lower: np.ones_like(lower),
    "ap": lambda upper, lower: 1 / (lower - 1),
    "hyperbolic": lambda upper, lower: 1 / upper + 1 / lower,
    "product": lambda upper, lower: 1 / (upper * lower),
}


@CORRELATIONS.register("tau-w", symmetric=False, distance=False)
def weighted_tau(
    x: Vector,
    y: Vector,
    *,
    weight: str | PairWeight = "hyperbolic",
    ranks: Ranks = "both",
    heavy: Heavy = "top",
) -> float:
    """Kendall's τ with a weight for each pair of ranks (Shieh 1998).

    τ_w = Σ w·sign·sign / √(Σ_{untied in x} w · Σ_{untied in y} w).
    `weight` is a function of the two ranks (1 is best; the smaller number first) or a name: `kendall` 1;
    `ap` 1/(lower − 1), which is τ_AP; `hyperbolic` 1/upper + 1/lower, Vigna's; `product` 1/(upper·lower).
    Melucci's τ_* with weight v(lower) for the lower rank is `lambda upper, lower: v(lower) / (lower - 1)`.
    Ranks come from the truth x, the estimate y, or both (mean of the two values); ties in one go by the other.
    Constant scores have no value: an error.

    >>> round(weighted_tau([4, 3, 2, 1], [3, 4, 2, 1], weight="ap", ranks="estimate"), 4)
    0.3333
    """
    if not callable(weight) and weight not in PAIR_WEIGHTS:
        raise UsageError(f"tau-w: no weight {weight!r}; known: {', '.join(PAIR_WEIGHTS)}, or give a function")
    of_ranks = PAIR_WEIGHTS[weight] if isinstance(weight, str) else weight
    truth, estimate = _varying(x, y)
    if one_of("heavy", heavy, HEAVY) == "bottom":
        truth, estimate = -truth, -estimate
    chosen = one_of("ranks", ranks, RANKS)
    values = []
    if chosen in ("truth", "both"):
        values.append(_weighted_tau(truth, estimate, of_ranks))
    if chosen in ("estimate", "both"):
        values.append(_weighted_tau(estimate, truth, of_ranks))
    return float(np.mean(values))


def _weighted_tau(first: Floats, second: Floats, weight: PairWeight) -> float:
    """τ_w with ranks by `first`, its ties by `second`; a block of rows of the n × n pairs at a time."""
    order = np.lexsort((-second, -first))
    a = first[order]
    b = second[order]
    n = len(a)
    rank = np.arange(1, n + 1, dtype=np.float64)
    agreed = 0.0
    a_untied = 0.0
    b_untied = 0.0
    for rows in chunks(n, 2**20 // n):
        upper, lower = np.nonzero(rank[rows, None] < rank[None, :])
        upper = upper + rows.start
        w = np.asarray(weight(rank[upper], rank[lower]), dtype=np.float64)
        sign_a = np.sign(a[upper] - a[lower])
        sign_b = np.sign(b[upper] - b[lower])
        agreed += float((w * sign_a * sign_b).sum())
        a_untied += float((w * np.abs(sign_a)).sum())
        b_untied += float((w * np.abs(sign_b)).sum())
    if a_untied <= 0 or b_untied <= 0:
        raise DataError("tau-w: all untied pairs have weight 0; take weights that are positive somewhere")
    return agreed / float(np.sqrt(a_untied * b_untied))


@CORRELATIONS.register("delta", symmetric=True, distance=True)
def mean_absolute_error(x: Vector, y: Vector) -> float:
    """δ: the mean of |x − y|, a distance of scores on one scale (Roitero 2020, §7.2.2); also of whole matrices.

    >>> mean_absolute_error([0.25, 0.5], [0.5, 0.5])
    0.125
    """
    a = np.asarray(x, dtype=np.float64)
    b = np.asarray(y, dtype=np.float64)
    if a.shape != b.shape or not a.size:
        raise DataError(f"two sets of scores of one shape are needed, not {a.shape} and {b.shape}")
    difference = _finite(a) - _finite(b)
    return float(np.abs(difference).mean())


@CORRELATIONS.register("error-rate", symmetric=True, distance=True)
def error_rate(
    x: Vector, y: Vector, *, fuzz: Annotated[float, Within(0)] = 0.0, relative: bool = True, ties: bool = True
) -> float:
    """The share of pairs of items that the two rankings put in opposite order, a distance.

    A pair counts as tied where its scores differ by less than `fuzz`, relative to the larger score or absolutely
    (and wherever they are equal). `ties` keeps pairs tied in either ranking in the denominator; without it they are
    left out, and where none remains the rate is 0. After Buckley & Voorhees 2000 and Guiver, Mizzaro & Robertson 2009.

    >>> round(error_rate([3, 2, 1], [3, 1, 2]), 4)
    0.3333
    """
    a, b = aligned(x, y)
    first, second = np.triu_indices(len(a), k=1)
    sign_a = _fuzzy_sign(a[first], a[second], fuzz, relative)
    sign_b = _fuzzy_sign(b[first], b[second], fuzz, relative)
    agreement = sign_a * sign_b
    compared = agreement.size if ties else np.count_nonzero(agreement)
    if not compared:
        return 0.0
    return float((agreement < 0).sum() / compared)


def _concordance(a: Floats, b: Floats) -> npt.NDArray[np.int64]:
    """Concordant minus discordant pairs."""
    return np.asarray(concordant_pairs(a, b) - concordant_pairs(a, -b))


def _untied_pairs(a: Floats) -> float:
    return _all_pairs(a) - float(tied_pairs(a))


def _all_pairs(a: Floats) -> float:
    return len(a) * (len(a) - 1) / 2


def _deviations(a: Floats) -> Floats:
    """Deviations from the mean in units of the largest, so that tiny scores do not underflow when squared."""
    deviation = a - a.mean()
    return np.asarray(deviation / np.abs(deviation).max())


def _fuzzy_sign(a: Floats, b: Floats, fuzz: float, relative: bool) -> Floats:
    """−1, 0, 1: which is larger, 0 where they differ by less than the fuzziness."""
    scale = np.maximum(np.abs(a), np.abs(b)) if relative else 1.0
    return np.asarray(np.where(np.abs(a - b) < fuzz * scale, 0.0, np.sign(a - b)))


def _varying(x: Vector, y: Vector) -> tuple[Floats, Floats]:
    """Two vectors of one length, neither constant."""
    a, b = aligned(x, y)
    for v in (a, b):
        if (v == v[0]).all():
            raise DataError(f"all {len(v)} scores are equal ({v[0]:g}); a correlation needs two different scores")
    return a, b


def aligned(x: Vector, y: Vector) -> tuple[Floats, Floats]:
    """Two vectors of one length, at least two items, finite."""
    a = np.asarray(x, dtype=np.float64)
    b = np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise DataError(f"two vectors over the same items are needed, not shapes {a.shape} and {b.shape}")
    if len(a) < 2:
        raise DataError(f"two items or more are needed to compare rankings, not {len(a)}")
    return _finite(a), _finite(b)


def _finite(a: Floats) -> Floats:
    if not np.isfinite(a).all():
        raise DataError(f"a score is {a[~np.isfinite(a)][0]}; scores must be finite numbers")
    return a
