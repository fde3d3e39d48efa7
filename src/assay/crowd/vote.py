"""Which grade do the workers of a doc give together? The simple rules: means, medians, majority, weights.

Each rule is registered in AGGREGATIONS and gives an `Uncertain`: grades with intervals. The models of workers are in
`latent.py`, `spammers.py` and `graded.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats, Ints
from assay.core.engine import generator
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, Within
from assay.crowd.identified import (
    basis_of_one_label,
    common_accuracy,
    has_several_labels,
    judged_levels,
    softmax,
    unidentified_warning,
    votes_posterior,
)
from assay.crowd.uncertain import LEVEL, OWN_LABELS, Uncertain

Aggregation = Callable[..., Uncertain]
AGGREGATIONS: Registry[Aggregation] = Registry("aggregation")
PRIOR_DEGREES = 3.0
"""Weight, in labels, of the spread of the whole set in the spread of one doc: ten equal labels do not prove sd = 0."""
RATIO_STEPS = 100
FEWEST_FOR_RANKS = 6
"""With fewer labels the lowest and the highest enclose the median with less than 95 %."""


@AGGREGATIONS.register("mean", kind="numbers")
def mean(ratings: Ratings) -> Uncertain:
    """Arithmetic mean of the labels of a doc.

    Interval: t with the doc's variance moderated by that of the whole set, s² = ((n−1)s_d² + 3 s_all²)/(n+2), on n+2
    degrees; a doc with one label takes the spread of the set. Roitero 2020, §9.2.2 found it best on a 0–100 scale.
    """
    return _of_numbers("mean", ratings, ratings.value)


@AGGREGATIONS.register("geometric", kind="numbers")
def geometric(ratings: Ratings, *, add: Annotated[float, Within(0)] = 0.0) -> Uncertain:
    """Geometric mean, exp of the mean log of (label + add), minus add: for magnitudes.

    A label + add that is not above 0 is an error. The interval is taken on the logs.
    """
    shifted = ratings.value + add
    bad = np.flatnonzero(shifted <= 0)
    if len(bad):
        label = ratings.value[bad[0]]
        raise DataError(f"geometric mean of label {label:g}; labels + add must be above 0: set add, or use the mean")
    return _of_numbers("geometric mean", ratings, np.log(shifted), back=lambda v: np.exp(v) - add)


@AGGREGATIONS.register("trimmed", kind="numbers")
def trimmed(ratings: Ratings, *, share: Annotated[float, Within(0, 0.5)] = 0.2) -> Uncertain:
    """Mean without the lowest and highest ⌊share·n⌋ labels of each doc.

    Interval: that of the mean, with the spread of all labels after those cut off are set to the nearest one kept, and
    divided by the share of labels kept. Tukey and McLaughlin 1963.
    """
    if not 0 <= share < 0.5:
        raise UsageError(f"a share of {share:g} cannot be trimmed from both ends; it must lie in [0, .5)")
    value, bounds = ratings.in_order()
    begin = bounds[:-1]
    n = ratings.sizes
    item = np.repeat(np.arange(len(n)), n)
    cut = np.floor(share * n).astype(np.int64)
    left = n - 2 * cut

    place = np.arange(len(value)) - begin[item]
    kept = (place >= cut[item]) & (place < (n - cut)[item])
    centre = np.bincount(item[kept], value[kept]) / np.bincount(item[kept])

    lowest = value[begin + cut]
    highest = value[begin + n - 1 - cut]
    # Of a doc that keeps one label of several, the spread of all of them is taken: the one has none.
    drawn_in = np.where(left[item] == 1, value, value.clip(lowest[item], highest[item]))
    quantile, error = _moderated(item, drawn_in, n, left, ratings.scale.width)
    reach = quantile * error * n / left
    method = f"trimmed mean ({share:g} of each end)"
    return estimated(method, ratings, centre, centre - reach, centre + reach, reach / quantile)


@AGGREGATIONS.register("median", kind="numbers")
def median(ratings: Ratings, *, ties: str = "middle") -> Uncertain:
    """Median of the labels; of an even number `middle` of the two central ones, the `low` or the `high` one.

    Interval: the order statistics whose ranks enclose the binomial(n, ½) 95 %; with fewer than six labels no ranks do,
    and the interval of the mean, or the range of the labels where that is wider, stands in for it.
    """
    from scipy.stats import binom

    values, bounds = ratings.in_order()
    begin = bounds[:-1]
    n = np.diff(bounds)
    low_mid = values[begin + (n - 1) // 2]
    high_mid = values[begin + n // 2]
    centre = _of_ties(low_mid, high_mid, ties)
    tail = binom.ppf((1 - LEVEL) / 2, n, 0.5)
    rank = np.maximum(tail, 1).astype(np.int64)
    low = values[begin + rank - 1]
    high = values[begin + n - rank]
    low, high = _widened(ratings, centre, low, high)
    sd = (high - low) / (2 * 1.96)
    return estimated(f"median (ties: {ties})", ratings, centre, low, high, sd)


def _widened(ratings: Ratings, centre: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The interval of docs with fewer than FEWEST_FOR_RANKS labels, at least as wide as that of their mean."""
    few = ratings.sizes < FEWEST_FOR_RANKS
    quantile, error = _moderated(ratings.item, ratings.value, ratings.sizes, ratings.sizes, ratings.scale.width)
    reach = quantile * error
    wider_low = np.where(few, np.minimum(low, centre - reach), low)
    wider_high = np.where(few, np.maximum(high, centre + reach), high)
    return wider_low, wider_high


def _of_ties(low: Floats, high: Floats, ties: str) -> Floats:
    known = {"middle": (low + high) / 2, "low": low, "high": high}
    if ties not in known:
        raise UsageError(f"no tie rule {ties!r}; known: {', '.join(known)}")
    return known[ties]


@AGGREGATIONS.register("majority", kind="categories")
def majority(ratings: Ratings, *, ties: str = "low", seed: Annotated[int, Within(0)] = 0) -> Uncertain:
    """The level most workers chose; ties: `low` level, `high` level, or `random` from the seed.

    Posterior: all workers taken as equally good, P(level c) ∝ (s(K−1)/(1−s))^votes(c), where s solves
    agreement of two workers = s² + (1−s)²/(K−1).
    """
    votes = ratings.votes()
    accuracy = common_accuracy(votes)
    shown = f"{accuracy:.3f}" if has_several_labels(ratings) else "unknown, since no doc has two labels"
    note = f"Ties to {ties}; {tied_items(votes)} docs tied; accuracy of one worker {shown}."
    return judged_levels(
        f"majority (ties: {ties})",
        ratings,
        votes_posterior(ratings),
        best=_winner(votes, ties, seed),
        notes=(note,),
    )


def tied_items(votes: Floats) -> int:
    """How many docs have more than one most frequent level."""
    most = votes.max(axis=1, keepdims=True)
    winners = (votes == most).sum(axis=1)
    return int((winners > 1).sum())


def _winner(votes: Floats, ties: str, seed: int) -> Ints:
    if ties == "low":
        return np.argmax(votes, axis=1)
    if ties == "high":
        from_the_top = np.argmax(votes[:, ::-1], axis=1)
        return votes.shape[1] - 1 - from_the_top
    if ties == "random":
        less_than_a_vote = 0.5 * generator(seed).random(votes.shape)
        return np.argmax(votes + less_than_a_vote, axis=1)
    raise UsageError(f"no tie rule {ties!r}; known: low, high, random")


@AGGREGATIONS.register("weighted", kind="both")
def weighted(ratings: Ratings) -> Uncertain:
    """Votes or mean weighted by each worker's quality, measured once against the other workers.

    Categories: weight = log odds of the worker's agreement with the others' votes (half a label of smoothing); numbers:
    weight = 1/mean squared distance from the mean of the others, moderated by three labels of the whole set.
    A doc that only one worker labelled says nothing about quality.
    """
    if ratings.scale.kind == "categories":
        return _weighted_votes(ratings)
    return _weighted_mean(ratings)


def _weighted_mean(ratings: Ratings) -> Uncertain:
    from scipy.stats import t

    item = ratings.item
    value = ratings.value
    weight, overall = _weights_by_distance(ratings)
    of_label = weight[ratings.worker]
    sums = np.bincount(item, of_label)
    centre = np.bincount(item, of_label * value) / sums
    squares = (value - centre[item]) ** 2
    sd = np.sqrt(np.bincount(item, of_label * squares) / sums)
    # As many labels of equal weight would say as much as these do together.
    effective = sums**2 / np.bincount(item, of_label**2)
    variance = (effective * sd**2 + PRIOR_DEGREES * overall) / (effective + PRIOR_DEGREES)
    error = np.sqrt(variance / effective)
    degrees = effective - 1 + PRIOR_DEGREES
    reach = t.ppf((1 + LEVEL) / 2, degrees) * error
    low = centre - reach
    high = centre + reach
    workers = {}
    for worker, w in zip(ratings.workers, weight, strict=True):
        workers[worker] = {"weight": float(w * overall)}
    return estimated("weighted mean", ratings, centre, low, high, error, workers)


def _weights_by_distance(ratings: Ratings) -> tuple[Floats, float]:
    """1/mean squared distance of each worker from the mean of the others, moderated; and that distance over all."""
    item = ratings.item
    value = ratings.value
    workers = len(ratings.workers)
    n = ratings.sizes[item]
    has_others = n > 1
    total = np.bincount(item, value)
    mean_of_others = (total[item] - value) / np.maximum(1, n - 1)
    square = np.where(has_others, (value - mean_of_others) ** 2, 0.0)
    mean_square = float(square.sum() / max(1, has_others.sum()))
    overall = max(mean_square, 1e-12)
    heard = np.bincount(ratings.worker, has_others, minlength=workers)
    distance = np.bincount(ratings.worker, square, minlength=workers)
    weight = (heard + PRIOR_DEGREES) / (distance + PRIOR_DEGREES * overall)
    return weight, overall


def _weighted_votes(ratings: Ratings) -> Uncertain:
    votes = ratings.votes()
    k = len(ratings.levels)
    workers = len(ratings.workers)
    n = ratings.sizes[ratings.item]
    has_others = n > 1
    same = (votes[ratings.item, ratings.answer] - 1) / np.maximum(1, n - 1)
    heard = np.bincount(ratings.worker, has_others, minlength=workers)
    agree = np.bincount(ratings.worker, np.where(has_others, same, 0.0), minlength=workers)
    share = (agree + 0.5) / (heard + 0.5 * k)
    weight = np.log(share * (k - 1) / np.maximum(1 - share, 1e-9))
    posterior = softmax(ratings.votes(weight[ratings.worker]))
    facts = {}
    for worker, agreement, log_odds in zip(ratings.workers, share, weight, strict=True):
        facts[worker] = {"agreement": float(agreement), "weight": float(log_odds)}
    return judged_levels("weighted votes", ratings, posterior, workers=facts)


def _of_numbers(
    method: str, ratings: Ratings, values: Floats, *, back: Callable[[Floats], Floats] = lambda v: v
) -> Uncertain:
    """Mean, moderated t interval and sd of `values` per doc, taken `back` to the scale of the labels."""
    n = ratings.sizes
    centre = np.bincount(ratings.item, values) / n
    width = ratings.scale.width if values is ratings.value else float(np.ptp(values))
    quantile, error = _moderated(ratings.item, values, n, n, width)
    reach = quantile * error
    low = back(centre - reach)
    high = back(centre + reach)
    sd = (high - low) / (2 * quantile)
    return estimated(method, ratings, back(centre), low, high, sd)


def _moderated(item: Ints, values: Floats, n: Ints, kept: Ints, width: float) -> tuple[Floats, Floats]:
    """The t quantile and the standard error of each doc's mean, its variance moderated by that of the whole set.

    kept: the labels that the mean is taken of, which set the degrees of freedom. width: that of the scale, for sets in
    which no two labels of a doc differ: agreement on d degrees does not prove that the spread is 0.
    """
    from scipy.stats import t

    centre = np.bincount(item, values) / n
    squares = np.bincount(item, (values - centre[item]) ** 2)
    own_degrees = n - 1
    degrees_of_all = int(own_degrees.sum())
    pooled = squares.sum() / max(1, degrees_of_all)
    if pooled == 0:
        finite_width = width if np.isfinite(width) and width > 0 else float(np.ptp(values)) or 1.0
        pooled = variance_of_scale(finite_width) / (degrees_of_all + 1)
    variance = (squares + PRIOR_DEGREES * pooled) / (own_degrees + PRIOR_DEGREES)
    error = np.sqrt(variance / n)
    degrees = kept - 1 + PRIOR_DEGREES
    quantile = np.asarray(t.ppf((1 + LEVEL) / 2, degrees))
    return quantile, error


def variance_of_scale(width: float) -> float:
    """Variance of a value of which nothing is known but the scale: uniform, width²/12."""
    return width**2 / 12


def estimated(
    method: str,
    ratings: Ratings,
    centre: Floats,
    low: Floats,
    high: Floats,
    sd: Floats,
    workers: dict[str, dict[str, float]] | None = None,
) -> Uncertain:
    """Numbers as grades within the scale; a ratio scale becomes 0–100 of the topic's highest value.

    Where no doc has two labels, nothing says how far workers differ: the interval is the whole scale.
    """
    levels = np.array([ratings.scale.low, ratings.scale.high])
    notes: tuple[str, ...] = ()
    if ratings.scale.kind == "ratio":
        top = np.zeros(len(ratings.topics))
        np.maximum.at(top, ratings.topic, centre)
        # Where all magnitudes of a topic are too small to differ from 0, so are its grades.
        per = np.divide(RATIO_STEPS, top, out=np.zeros_like(top), where=top > 0)[ratings.topic]
        centre, low, high, sd = centre * per, low * per, high * per, sd * per
        levels = np.array([0.0, RATIO_STEPS])
        notes = (f"Magnitudes as grades: 0–{RATIO_STEPS} of the topic's highest aggregate.",)
    if ((centre > 0) & (centre < 1)).any():
        notes += (
            "Some grades lie between 0 and 1: measures of relevant docs count grades of at least rel, 1 or more.",
        )
    basis, warnings = _bases(ratings)
    if not has_several_labels(ratings):
        low = np.full(len(centre), levels[0])
        high = np.full(len(centre), levels[-1])
        sd = np.full(len(centre), np.sqrt(variance_of_scale(levels[-1] - levels[0])))
    # Nine digits are more than any label tells, and keep 10 from being written as 9.999999999999996.
    centre, low, high = np.round(centre, 9), np.round(low, 9), np.round(high, 9)
    return Uncertain(
        method=method,
        items=ratings.items,
        grade=centre,
        low=np.minimum(low.clip(levels[0], levels[-1]), centre),
        high=np.maximum(high.clip(levels[0], levels[-1]), centre),
        probability=np.full(len(centre), np.nan),
        sd=sd,
        labels=ratings.sizes,
        estimate=centre,
        levels=levels,
        workers=workers or {},
        notes=notes,
        warnings=warnings,
        basis=basis,
    )


def _bases(ratings: Ratings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the uncertainty of each doc rests on, and a warning where for some it is not their own labels."""
    one_label = ratings.sizes == 1
    basis = np.where(one_label, basis_of_one_label(ratings), OWN_LABELS)
    warnings: tuple[str, ...] = ()
    if one_label.any():
        warnings = (unidentified_warning(ratings, one_label),)
    return tuple(basis.tolist()), warnings
