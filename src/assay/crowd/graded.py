"""What is the doc worth, when workers differ in bias and in care? Models for numbers and for ordered levels.

Interval: label = worth + the worker's bias + noise of the worker's own size. Ordinal: the same on a hidden line that
common cut points divide into levels. Both are fitted by coordinate updates over all labels at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.registry import Within
from assay.crowd.identified import judged_levels
from assay.crowd.uncertain import LEVEL, Uncertain
from assay.crowd.vote import AGGREGATIONS, estimated

PRIOR_SHAPE = 2.0
BIAS_SHARE = 0.1
"""Prior sd of a worker's bias, and √(scale/shape) of the noise, as a share of the scale's width."""


@dataclass(frozen=True, eq=False)
class Worth:
    """Worth and variance per doc, bias, its variance and precision per worker, mean and variance of the worths."""

    worth: Floats
    worth_variance: Floats
    bias: Floats
    bias_variance: Floats
    precision: Floats
    mean: Floats
    variance: Floats
    iterations: int
    converged: bool


@AGGREGATIONS.register("interval", kind="numbers")
def interval(
    ratings: Ratings,
    *,
    iterations: Annotated[int, Within(1)] = 1000,
    tolerance: Annotated[float, Within(0)] = 1e-8,
    per_topic: bool = False,
) -> Uncertain:
    """Worth of a doc with each worker's bias taken out and each label weighted by the worker's precision.

    y = θ_doc + b_worker + ε, ε ~ N(0, 1/τ_worker), θ ~ N(μ, ω²), b ~ N(0, ψ²), τ ~ Gamma(2, c); on a scale of width W,
    ψ = W/10 and c = 2ψ². Mean-field updates from θ = means, b = 0. per_topic: μ and ω² for each topic on its own.
    A magnitude scale is fitted on logs. After Raykar et al. 2010, with priors that keep a worker with one label sane.
    """
    _some(iterations)
    ratio = ratings.scale.kind == "ratio"
    if ratio:
        value = np.log(ratings.value)
        width = float(np.ptp(value))
    else:
        value = ratings.value
        width = ratings.scale.width
    group = ratings.topic if per_topic else np.zeros(len(ratings.items), dtype=np.int64)
    fit = worth_of(
        ratings.item,
        ratings.worker,
        value,
        group,
        width or 1.0,
        workers=len(ratings.workers),
        iterations=iterations,
        tolerance=tolerance,
    )
    sd = np.sqrt(fit.worth_variance)
    low = fit.worth - 1.96 * sd
    high = fit.worth + 1.96 * sd
    if ratio:
        centre = np.exp(fit.worth)
        low = np.exp(low)
        high = np.exp(high)
        sd = centre * sd
    else:
        centre = fit.worth.clip(ratings.scale.low, ratings.scale.high)
    facts = _worker_facts(ratings, fit)
    judgments = estimated("interval model", ratings, centre, low, high, sd, facts)
    return _noted(judgments, fit, len(ratings))


def _some(iterations: int) -> None:
    if iterations < 1:
        raise UsageError(f"iterations is {iterations}; it must be above 0")


def _worker_facts(ratings: Ratings, fit: Worth) -> dict[str, dict[str, float]]:
    noise = 1 / np.sqrt(fit.precision)
    facts = {}
    for worker, bias, spread in zip(ratings.workers, fit.bias, noise, strict=True):
        facts[worker] = {"bias": float(bias), "noise": float(spread)}
    return facts


def _noted(judgments: Uncertain, fit: Worth, labels: int) -> Uncertain:
    how = "converged" if fit.converged else "stopped, not converged,"
    note = f"{judgments.method}: {how} after {fit.iterations} iterations; {labels} labels."
    return replace(judgments, notes=(note, *judgments.notes))


def worth_of(
    item: Ints,
    worker: Ints,
    value: Floats,
    group: Ints,
    width: float,
    *,
    workers: int | None = None,
    iterations: int,
    tolerance: float,
) -> Worth:
    """The interval model on plain arrays; `group` numbers the set (topic) that each item belongs to.

    workers: how many there are, where the last of them have no labels.
    """
    if workers is None:
        workers = int(worker.max()) + 1
    bias_prior = (BIAS_SHARE * width) ** 2
    worth = np.bincount(item, value) / np.bincount(item)
    bias = np.zeros(workers)
    bias_variance = np.zeros(workers)
    precision = np.full(workers, 1 / (4 * bias_prior))
    mean, variance = _moments(group, worth, np.zeros(len(group)))
    converged = False
    done = 0
    while done < iterations and not converged:
        done += 1
        # Each doc: its labels without the workers' biases, weighted by their precision, and the mean of its group.
        of_label = precision[worker]
        spread = np.maximum(variance[group], 1e-12 * width**2)
        worth_variance = 1 / (np.bincount(item, of_label) + 1 / spread)
        unbiased = value - bias[worker]
        pull = np.bincount(item, of_label * unbiased)
        moved = worth_variance * (pull + mean[group] / spread)
        left = value - moved[item]
        bias, bias_variance = _biases(worker, left, precision, 1 / bias_prior)
        error = (left - bias[worker]) ** 2 + worth_variance[item] + bias_variance[worker]
        precision = _precisions(worker, error, 2 * bias_prior, workers)
        converged = bool(np.abs(moved - worth).max() <= tolerance * width)
        worth = moved
        mean, variance = _moments(group, worth, worth_variance)
    return Worth(worth, worth_variance, bias, bias_variance, precision, mean, variance, done, converged)


def _biases(worker: Ints, left: Floats, precision: Floats, prior: float) -> tuple[Floats, Floats]:
    """Each worker's bias and its variance, from what is left of the labels without the docs' worths.

    prior: the precision of a bias before anything is known.
    """
    workers = len(precision)
    labels = np.bincount(worker, minlength=workers)
    variance = 1 / (labels * precision + prior)
    total = np.bincount(worker, left, minlength=workers)
    return variance * precision * total, variance


def _precisions(worker: Ints, error: Floats, prior: float, workers: int) -> Floats:
    """1 / the variance of each worker's noise, under a Gamma(PRIOR_SHAPE, prior)."""
    labels = np.bincount(worker, minlength=workers)
    squares = np.bincount(worker, error, minlength=workers)
    return (PRIOR_SHAPE + labels / 2) / (prior + squares / 2)


def _moments(group: Ints, worth: Floats, extra: Floats) -> tuple[Floats, Floats]:
    """Mean of the worths of each group, and their variance about it, uncertainty included."""
    n = np.maximum(1, np.bincount(group))
    mean = np.bincount(group, worth) / n
    squares = (worth - mean[group]) ** 2
    variance = np.bincount(group, squares + extra) / n
    return mean, variance


@AGGREGATIONS.register("ordinal", kind="categories")
def ordinal(
    ratings: Ratings, *, iterations: Annotated[int, Within(1)] = 500, tolerance: Annotated[float, Within(0)] = 1e-5
) -> Uncertain:
    """Cumulative probit: P(answer ≤ k) = Φ((c_k − θ_doc − b_worker)·√τ_worker), common cut points c.

    θ ~ N(0, 1), b ~ N(0, ¼), τ ~ Gamma(2, 2); hidden answers are truncated normals, cut points maximise the likelihood.
    The posterior of a level is the probability that θ lies between its cut points; a level that nobody used gets 0.
    """
    from scipy.special import ndtr

    _some(iterations)
    if ratings.scale.kind != "categories":
        raise DataError(f"the ordinal model needs levels; labels on {ratings.scale.name} are numbers: use interval")
    fit, cuts = _probit(ratings, iterations, tolerance)
    sd = np.sqrt(fit.worth_variance)
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    below = ndtr((edges - fit.worth[:, None]) / sd[:, None])
    used = np.unique(ratings.answer)
    posterior = np.zeros((len(sd), len(ratings.levels)))
    posterior[:, used] = np.diff(below, axis=1)
    shares = posterior / posterior.sum(axis=1, keepdims=True)
    shown = ", ".join(f"{cut:.3f}" for cut in cuts)
    note = f"Cut points: {shown}; intervals at {100 * LEVEL:.0f} %."
    facts = _worker_facts(ratings, fit)
    judgments = judged_levels("ordinal model", ratings, shares, workers=facts, notes=(note,))
    return _noted(judgments, fit, len(ratings))


def _probit(ratings: Ratings, iterations: int, tolerance: float) -> tuple[Worth, Floats]:
    """Worths, biases and precisions on the hidden line, and the cut points between the levels that were used."""
    answer = np.unique(ratings.answer, return_inverse=True)[1].astype(np.int64)
    item = ratings.item
    worker = ratings.worker
    workers = len(ratings.workers)
    cuts = _start_cuts(answer)
    worth = np.zeros(len(ratings.items))
    bias = np.zeros(workers)
    precision = np.ones(workers)
    converged = False
    done = 0
    while done < iterations and not converged:
        done += 1
        of_label = precision[worker]
        hidden, spread = _truncated(answer, cuts, worth[item] + bias[worker], of_label)
        worth_variance = 1 / (np.bincount(item, of_label) + 1)
        unbiased = hidden - bias[worker]
        moved = worth_variance * np.bincount(item, of_label * unbiased)
        left = hidden - moved[item]
        bias, bias_variance = _biases(worker, left, precision, 4)
        error = (left - bias[worker]) ** 2 + spread + worth_variance[item] + bias_variance[worker]
        precision = _precisions(worker, error, 2, workers)
        root = np.sqrt(precision)
        cuts = _better_cuts(answer, cuts, moved[item] + bias[worker], root[worker])
        converged = bool(np.abs(moved - worth).max() <= tolerance)
        worth = moved
    # On the hidden line all worths come from N(0, 1).
    mean = np.zeros(1)
    variance = np.ones(1)
    return Worth(worth, worth_variance, bias, bias_variance, precision, mean, variance, done, converged), cuts


def _start_cuts(answer: Ints) -> Floats:
    """Cut points from the shares of the ratings, half a label added to each level."""
    from scipy.special import ndtri

    shares = np.bincount(answer) + 0.5
    below = np.cumsum(shares)[:-1] / shares.sum()
    return np.asarray(np.sqrt(2) * ndtri(below))


def _truncated(answer: Ints, cuts: Floats, centre: Floats, precision: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of each hidden answer: a normal cut to the interval of its level."""
    root = np.sqrt(precision)
    low, high = _ends(answer, cuts, centre, root)
    mass = np.maximum(_between(low, high), 1e-300)
    at_low = _density(low)
    at_high = _density(high)
    shift = ((at_low - at_high) / mass).clip(-40, 40)
    # At an end that lies at infinity the density is 0, and so is the end times the density.
    finite_low = np.where(np.isfinite(low), low, 0.0)
    finite_high = np.where(np.isfinite(high), high, 0.0)
    narrowed = (finite_low * at_low - finite_high * at_high) / mass
    variance = (1 + narrowed - shift**2).clip(1e-6, 1)
    return centre + shift / root, variance / precision


def _ends(answer: Ints, cuts: Floats, centre: Floats, root: Floats) -> tuple[Floats, Floats]:
    """The two cut points around each answer, in standard deviations from its centre."""
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    low = (edges[answer] - centre) * root
    high = (edges[answer + 1] - centre) * root
    return low, high


def _density(x: Floats) -> Floats:
    finite = np.where(np.isfinite(x), x, 40.0)
    return np.exp(-0.5 * finite**2) / np.sqrt(2 * np.pi)


def _between(low: Floats, high: Floats) -> Floats:
    """Φ(high) − Φ(low), taken in the lower tail where both lie above 0 so that no digits are lost."""
    from scipy.special import ndtr

    flip = low > 0
    upper = np.where(flip, -low, high)
    lower = np.where(flip, -high, low)
    return np.asarray(ndtr(upper) - ndtr(lower))


def _better_cuts(answer: Ints, cuts: Floats, centre: Floats, root: Floats) -> Floats:
    """One scoring step on each cut point towards more likelihood, at most half way to its neighbours."""
    if not len(cuts):
        return cuts
    low, high = _ends(answer, cuts, centre, root)
    mass = np.maximum(_between(low, high), 1e-12)
    levels = len(cuts) + 1
    up = root * _density(high) / mass
    down = root * _density(low) / mass

    def by_level(weights: Floats) -> Floats:
        return np.bincount(answer, weights, minlength=levels).astype(np.float64)

    # A cut is the upper end of the level below it and the lower end of the level above it.
    slope = by_level(up)[:-1] - by_level(down)[1:]
    weight = by_level(up**2)[:-1] + by_level(down**2)[1:]
    step = slope / np.maximum(weight, 1e-9)
    room = np.diff(cuts) / 2
    most_down = np.concatenate([[-1.0], -room])
    most_up = np.concatenate([room, [1.0]])
    return cuts + step.clip(most_down, most_up)
