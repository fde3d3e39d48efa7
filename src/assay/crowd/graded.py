"""What is the doc worth, when workers differ in bias and in care? The model for numbers.

Label = worth + the worker's bias + noise of the worker's own size. Fitted by coordinate updates over all labels at
once; what the updates never lower is the evidence lower bound. The same for levels is in `hidden_line.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.core.registry import Within
from assay.crowd.squarem import MOST_MAPS, Expected, Fit, Model, fitted
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS, estimated

PRIOR_SHAPE = 2.0
BIAS_SHARE = 0.1
"""Prior sd of a worker's bias, and √(scale/shape) of the noise, as a share of the scale's width."""
SMALLEST_VARIANCE = 1e-12
"""Of the worths of a topic, in squared widths of the scale: docs that are all alike still have a variance."""


@dataclass(frozen=True, eq=False)
class Worth:
    """Worth and variance per doc, bias and precision per worker, mean and variance of the worths, and the fit."""

    worth: Floats
    worth_variance: Floats
    bias: Floats
    precision: Floats
    mean: Floats
    variance: Floats
    fit: Fit


@AGGREGATIONS.register("interval", kind="numbers")
def interval(
    ratings: Ratings,
    *,
    iterations: Annotated[int, Within(1)] = MOST_MAPS,
    tolerance: Annotated[float, Within(0)] = 1e-8,
    per_topic: bool = False,
) -> Uncertain:
    """Worth of a doc with each worker's bias taken out and each label weighted by the worker's precision.

    y = θ_doc + b_worker + ε, ε ~ N(0, 1/τ_worker), θ ~ N(μ, ω²), b ~ N(0, ψ²), τ ~ Gamma(2, c); on a scale of width W,
    ψ = W/10 and c = 2ψ². Mean-field updates from θ = means, b = 0, until no worth moves by more than tolerance·W.
    per_topic: μ and ω² for each topic on its own.
    A magnitude scale is fitted on logs. After Raykar et al. 2010, with priors that keep a worker with one label sane.
    """
    checked_iterations(iterations)
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
    facts = worker_facts(ratings, fit)
    judgments = estimated("interval model", ratings, centre, low, high, sd, facts)
    return noted(judgments, fit, len(ratings), "worth, in widths of the scale,")


def checked_iterations(iterations: int) -> None:
    """An error unless there is something to do."""
    if iterations < 1:
        raise UsageError(f"iterations is {iterations}; it must be above 0")


def worker_facts(ratings: Ratings, fit: Worth) -> dict[str, dict[str, float]]:
    """Bias and noise of each worker."""
    noise = 1 / np.sqrt(fit.precision)
    facts = {}
    for worker, bias, spread in zip(ratings.workers, fit.bias, noise, strict=True):
        facts[worker] = {"bias": float(bias), "noise": float(spread)}
    return facts


def noted(judgments: Uncertain, found: Worth, labels: int, moved: str) -> Uncertain:
    """The judgments with how the fit ended as their first note."""
    ending = found.fit.ending(what="evidence lower bound", moved=moved)
    note = f"{judgments.method}: {ending} {labels} labels."
    return replace(judgments, notes=(note, *judgments.notes))


def worth_of(
    item: Ints,
    worker: Ints,
    value: Floats,
    group: Ints,
    width: float,
    *,
    workers: int | None = None,
    iterations: int = MOST_MAPS,
    tolerance: float = 1e-8,
) -> Worth:
    """The interval model on plain arrays; `group` numbers the set (topic) that each item belongs to.

    workers: how many there are, where the last of them have no labels.
    """
    if workers is None:
        workers = int(worker.max()) + 1
    # In widths of the scale all numbers of the model are about 1.
    model = _IntervalModel(item, worker, value / width, group, np.bincount(worker, minlength=workers))
    fit = fitted(model.model(), model.start(), iterations=iterations, tolerance=tolerance)
    bias, _, precision, mean, variance = model.split(fit.state)
    worth, worth_variance = fit.expected.rest
    square = width**2
    return Worth(
        worth * width, worth_variance * square, bias * width, precision / square, mean * width, variance * square, fit
    )


@dataclass(frozen=True, eq=False)
class _IntervalModel:
    """Labels in widths of the scale; parameters: biases and their variances, precisions, moments of the groups."""

    item: Ints
    worker: Ints
    value: Floats
    group: Ints
    labels: Ints

    def model(self) -> Model:
        return Model(self.expect, self.maximise)

    def start(self) -> Floats:
        """No bias, everybody as exact as the prior says, and the moments of the docs' means."""
        workers = len(self.labels)
        worth = np.bincount(self.item, self.value) / np.bincount(self.item)
        bias = np.zeros(workers)
        bias_variance = np.full(workers, BIAS_SHARE**2)
        precision = np.full(workers, 1 / (4 * BIAS_SHARE**2))
        return self._joined(bias, bias_variance, precision, *_moments(self.group, worth, np.zeros(len(worth))))

    def _joined(self, bias: Floats, bias_variance: Floats, precision: Floats, mean: Floats, variance: Floats) -> Floats:
        """One vector: variances and precisions as logs, so that no step leads below 0."""
        logs = np.log(bias_variance), np.log(precision), np.log(np.maximum(variance, SMALLEST_VARIANCE))
        return np.concatenate([bias, logs[0], logs[1], mean, logs[2]])

    def split(self, state: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Biases, their variances, precisions, means and variances of the groups."""
        workers = len(self.labels)
        bias, log_variance, log_precision = state[: 3 * workers].reshape(3, workers)
        mean, log_spread = state[3 * workers :].reshape(2, -1)
        return bias, np.exp(log_variance), np.exp(log_precision), mean, np.exp(log_spread)

    def expect(self, state: Floats) -> Expected:
        """Worth and variance of each doc: its labels without the biases, weighted, and the mean of its group."""
        bias, bias_variance, precision, mean, variance = self.split(state)
        of_label = precision[self.worker]
        spread = variance[self.group]
        unbiased = self.value - bias[self.worker]
        worth_variance = 1 / (np.bincount(self.item, of_label) + 1 / spread)
        pull = np.bincount(self.item, of_label * unbiased)
        worth = worth_variance * (pull + mean[self.group] / spread)
        squares = (unbiased - worth[self.item]) ** 2 + worth_variance[self.item] + bias_variance[self.worker]
        away = (worth - mean[self.group]) ** 2 + worth_variance
        of_worths = 0.5 * (1 + np.log(worth_variance / spread) - away / spread).sum()
        of_labels = 0.5 * (log_precision(self.labels, precision)[self.worker] - np.log(2 * np.pi)).sum()
        of_workers = workers_evidence(self.labels, bias, bias_variance, precision, BIAS_SHARE**-2, 2 * BIAS_SHARE**2)
        value = of_labels - 0.5 * (of_label * squares).sum() + of_worths + of_workers
        return Expected(worth, float(value), (worth, worth_variance))

    def maximise(self, state: Floats, expected: Expected) -> Floats:
        """Biases, precisions and moments from the worths."""
        _, _, precision, _, _ = self.split(state)
        worth, worth_variance = expected.rest
        left = self.value - worth[self.item]
        bias, bias_variance = biases(self.worker, left, precision, BIAS_SHARE**-2)
        squares = (left - bias[self.worker]) ** 2 + worth_variance[self.item] + bias_variance[self.worker]
        precision = precisions(self.worker, squares, 2 * BIAS_SHARE**2, len(bias))
        return self._joined(bias, bias_variance, precision, *_moments(self.group, worth, worth_variance))


def biases(worker: Ints, left: Floats, precision: Floats, prior: float) -> tuple[Floats, Floats]:
    """Each worker's bias and its variance, from what is left of the labels without the docs' worths.

    prior: the precision of a bias before anything is known.
    """
    workers = len(precision)
    labels = np.bincount(worker, minlength=workers)
    variance = 1 / (labels * precision + prior)
    total = np.bincount(worker, left, minlength=workers)
    return variance * precision * total, variance


def precisions(worker: Ints, error: Floats, prior: float, workers: int) -> Floats:
    """1 / the variance of each worker's noise, under a Gamma(PRIOR_SHAPE, prior)."""
    labels = np.bincount(worker, minlength=workers)
    squares = np.bincount(worker, error, minlength=workers)
    return (PRIOR_SHAPE + labels / 2) / (prior + squares / 2)


def log_precision(labels: Ints, precision: Floats) -> Floats:
    """The expected log precision of each worker, whose posterior is a Gamma with this mean."""
    from scipy.special import digamma

    shape = PRIOR_SHAPE + labels / 2
    return np.asarray(digamma(shape) - np.log(shape / precision))


def workers_evidence(
    labels: Ints, bias: Floats, bias_variance: Floats, precision: Floats, bias_prior: float, noise_prior: float
) -> float:
    """Minus the divergence of biases and precisions from their priors N(0, 1/bias_prior), Gamma(2, noise_prior)."""
    from scipy.special import digamma, gammaln

    of_biases = 0.5 * (1 + np.log(bias_prior * bias_variance) - bias_prior * (bias**2 + bias_variance)).sum()
    shape = PRIOR_SHAPE + labels / 2
    rate = shape / precision
    apart = (shape - PRIOR_SHAPE) * digamma(shape) - gammaln(shape) + gammaln(PRIOR_SHAPE)
    of_rates = PRIOR_SHAPE * np.log(rate / noise_prior) + shape * (noise_prior - rate) / rate
    return float(of_biases - (apart + of_rates).sum())


def _moments(group: Ints, worth: Floats, extra: Floats) -> tuple[Floats, Floats]:
    """Mean of the worths of each group, and their variance about it, uncertainty included."""
    n = np.maximum(1, np.bincount(group))
    mean = np.bincount(group, worth) / n
    squares = (worth - mean[group]) ** 2
    variance = np.bincount(group, squares + extra) / n
    return mean, variance
