"""Which level has the doc, when workers differ in bias and in care? The model for ordered levels.

As `graded.py`, on a hidden line that common cut points divide into the levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError
from assay.core.registry import Within
from assay.crowd.graded import (
    Worth,
    biases,
    checked_iterations,
    log_precision,
    noted,
    precisions,
    worker_facts,
    workers_evidence,
)
from assay.crowd.identified import judged_levels
from assay.crowd.squarem import LARGEST_CHANGE, MOST_MAPS, Expected, Model, fitted
from assay.crowd.uncertain import LEVEL, Uncertain
from assay.crowd.vote import AGGREGATIONS

SMALLEST_MASS = 1e-300


@AGGREGATIONS.register("ordinal", kind="categories")
def ordinal(
    ratings: Ratings,
    *,
    iterations: Annotated[int, Within(1)] = MOST_MAPS,
    tolerance: Annotated[float, Within(0)] = LARGEST_CHANGE,
) -> Uncertain:
    """Cumulative probit: P(answer ≤ k) = Φ((c_k − θ_doc − b_worker)·√τ_worker), common cut points c.

    θ ~ N(0, 1), b ~ N(0, ¼), τ ~ Gamma(2, 2); hidden answers are truncated normals, cut points maximise the likelihood.
    The posterior of a level is the probability that θ lies between its cut points; a level that nobody used gets 0.
    """
    from scipy.special import ndtr

    checked_iterations(iterations)
    if ratings.scale.kind != "categories":
        raise DataError(f"the ordinal model needs levels; labels on {ratings.scale.name} are numbers: use interval")
    found, cuts = _probit(ratings, iterations, tolerance)
    sd = np.sqrt(found.worth_variance)
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    below = ndtr((edges - found.worth[:, None]) / sd[:, None])
    used = np.unique(ratings.answer)
    posterior = np.zeros((len(sd), len(ratings.levels)))
    posterior[:, used] = np.diff(below, axis=1)
    shares = posterior / posterior.sum(axis=1, keepdims=True)
    shown = ", ".join(f"{cut:.3f}" for cut in cuts)
    note = f"Cut points: {shown}; intervals at {100 * LEVEL:.0f} %."
    facts = worker_facts(ratings, found)
    judgments = judged_levels("ordinal model", ratings, shares, workers=facts, notes=(note,))
    return noted(judgments, found, len(ratings), "worth")


def _probit(ratings: Ratings, iterations: int, tolerance: float) -> tuple[Worth, Floats]:
    """Worths, biases and precisions on the hidden line, and the cut points between the levels that were used."""
    answer = np.unique(ratings.answer, return_inverse=True)[1].astype(np.int64)
    labels = np.bincount(ratings.worker, minlength=len(ratings.workers))
    model = _OrdinalModel(ratings.item, ratings.worker, answer, labels, len(ratings.items))
    fit = fitted(model.model(), model.start(), iterations=iterations, tolerance=tolerance)
    worth, worth_variance, bias, _, precision, cuts = model.split(fit.state)
    # On the hidden line all worths come from N(0, 1).
    mean = np.zeros(1)
    variance = np.ones(1)
    return Worth(worth, worth_variance, bias, precision, mean, variance, fit), cuts


@dataclass(frozen=True, eq=False)
class _OrdinalModel:
    """Answers as places among the levels used; parameters: worths, biases, their variances, precisions, cut points."""

    item: Ints
    worker: Ints
    answer: Ints
    labels: Ints
    docs: int

    def model(self) -> Model:
        return Model(self.expect, self.maximise)

    def start(self) -> Floats:
        """Worths and biases of 0, precisions of 1, cut points from the shares of the levels."""
        workers = len(self.labels)
        nothing = np.zeros(2 * self.docs + workers)
        return np.concatenate([nothing, np.full(workers, np.log(0.25)), np.zeros(workers), _start_cuts(self.answer)])

    def split(self, state: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
        """Worths, their variances, biases, their variances, precisions, cut points."""
        workers = len(self.labels)
        ends = np.cumsum([self.docs, self.docs, workers, workers, workers])
        worth, log_variance, bias, log_bias_variance, log_precision, cuts = np.split(state, ends)
        return worth, np.exp(log_variance), bias, np.exp(log_bias_variance), np.exp(log_precision), cuts

    def expect(self, state: Floats) -> Expected:
        """The hidden answers, normals cut to the intervals of their levels; what is watched are the worths."""
        worth, worth_variance, bias, bias_variance, precision, cuts = self.split(state)
        of_label = precision[self.worker]
        hidden, spread, mass = _truncated(self.answer, cuts, worth[self.item] + bias[self.worker], of_label)
        of_answers = (np.log(mass) - 0.5 * of_label * (worth_variance[self.item] + bias_variance[self.worker])).sum()
        of_precisions = 0.5 * (log_precision(self.labels, precision) - np.log(precision))[self.worker].sum()
        of_worths = 0.5 * (1 + np.log(worth_variance) - worth**2 - worth_variance).sum()
        of_workers = workers_evidence(self.labels, bias, bias_variance, precision, 4, 2)
        value = of_answers + of_precisions + of_worths + of_workers
        return Expected(worth, float(value), (hidden, spread))

    def maximise(self, state: Floats, expected: Expected) -> Floats:
        """Worths, biases, precisions and cut points, one after the other, from the hidden answers."""
        _, _, bias, _, precision, cuts = self.split(state)
        hidden, spread = expected.rest
        of_label = precision[self.worker]
        unbiased = hidden - bias[self.worker]
        worth_variance = 1 / (np.bincount(self.item, of_label) + 1)
        worth = worth_variance * np.bincount(self.item, of_label * unbiased)
        left = hidden - worth[self.item]
        bias, bias_variance = biases(self.worker, left, precision, 4)
        error = (left - bias[self.worker]) ** 2 + spread + worth_variance[self.item] + bias_variance[self.worker]
        precision = precisions(self.worker, error, 2, len(bias))
        centre = worth[self.item] + bias[self.worker]
        cuts = _better_cuts(self.answer, cuts, centre, np.sqrt(precision)[self.worker])
        logs = np.log(worth_variance), np.log(bias_variance), np.log(precision)
        return np.concatenate([worth, logs[0], bias, logs[1], logs[2], cuts])


def _start_cuts(answer: Ints) -> Floats:
    """Cut points from the shares of the ratings, half a label added to each level."""
    from scipy.special import ndtri

    shares = np.bincount(answer) + 0.5
    below = np.cumsum(shares)[:-1] / shares.sum()
    return np.asarray(np.sqrt(2) * ndtri(below))


def _truncated(answer: Ints, cuts: Floats, centre: Floats, precision: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean and variance of each hidden answer, a normal cut to the interval of its level; and how likely that was."""
    root = np.sqrt(precision)
    low, high = _ends(answer, cuts, centre, root)
    mass = np.maximum(_between(low, high), SMALLEST_MASS)
    at_low = _density(low)
    at_high = _density(high)
    shift = ((at_low - at_high) / mass).clip(-40, 40)
    # At an end that lies at infinity the density is 0, and so is the end times the density.
    finite_low = np.where(np.isfinite(low), low, 0.0)
    finite_high = np.where(np.isfinite(high), high, 0.0)
    narrowed = (finite_low * at_low - finite_high * at_high) / mass
    variance = (1 + narrowed - shift**2).clip(1e-6, 1)
    return centre + shift / root, variance / precision, mass


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
