"""How able is each worker, and how easy each doc? GLAD: who is able is right more often, most of all on easy docs.

A map of the EM is an E-step and one Newton step of every ability and then of every ease, none of which may lower the
expected log density of its own labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats, Ints
from assay.core.registry import Within
from assay.crowd.identified import softmax
from assay.crowd.latent import checked_for_levels, judged, log_sum
from assay.crowd.squarem import LARGEST_CHANGE, MOST_MAPS, Expected, Model, fitted
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS

LONGEST_STEP = 1.0


@AGGREGATIONS.register("glad", kind="categories")
def glad(
    ratings: Ratings,
    *,
    iterations: Annotated[int, Within(1)] = MOST_MAPS,
    tolerance: Annotated[float, Within(0)] = LARGEST_CHANGE,
) -> Uncertain:
    """Ability a of a worker and ease exp(b) of a doc: P(right) = 1/(1+exp(−a·exp(b))); a < 0 is an adversary.

    Priors N(1, 1) on a and b, uniform on the levels; the log density of labels, abilities and eases never falls.
    Whitehill et al. 2009.
    """
    checked_for_levels(ratings, iterations=iterations)
    fit = fitted(glad_model(ratings), glad_start(ratings), iterations=iterations, tolerance=tolerance)
    workers = len(ratings.workers)
    abilities = fit.state[:workers]
    ease = np.exp(fit.state[workers:])
    facts = {worker: {"ability": float(ability)} for worker, ability in zip(ratings.workers, abilities, strict=True)}
    ending = f"{fit.ending(what='log density')} Ease of the docs {ease.min():.3f}–{ease.max():.3f}."
    return judged("GLAD", ratings, fit.posterior, (ending,), facts)


def glad_start(ratings: Ratings) -> Floats:
    """Abilities and log eases of 1."""
    return np.ones(len(ratings.workers) + len(ratings.items))


def glad_model(ratings: Ratings) -> Model:
    """Parameters: the abilities of the workers and the log eases of the docs."""
    workers = len(ratings.workers)

    def expect(state: Floats) -> Expected:
        ability, log_ease = state[:workers], state[workers:]
        x = ability[ratings.worker] * np.exp(log_ease)[ratings.item]
        # log σ(x) − log((1 − σ(x))/(K − 1)) = x + log(K − 1): what an answer adds to its own level.
        others = np.log(len(ratings.levels) - 1)
        logs = ratings.votes(x + others)
        uniform_prior = len(ratings.items) * np.log(len(ratings.levels))
        missed = -(np.logaddexp(0, x) + others).sum() - uniform_prior
        return Expected(softmax(logs), log_sum(logs) + float(missed) + _standard_normal(state - 1))

    def maximise(state: Floats, expected: Expected) -> Floats:
        own = expected.seen[ratings.item, ratings.answer]
        ability = _abler(state[:workers], np.exp(state[workers:])[ratings.item], ratings.worker, own)
        log_ease = _easier(state[workers:], ability[ratings.worker], ratings.item, own)
        return np.concatenate([ability, log_ease])

    return Model(expect, maximise)


def _abler(ability: Floats, ease: Floats, worker: Ints, own: Floats) -> Floats:
    """One Newton step of each ability; ease and own (the posterior of its level) of each label."""
    right = _logistic(ability[worker] * ease)
    slope = np.bincount(worker, (own - right) * ease, len(ability)) - (ability - 1)
    curve = np.bincount(worker, right * (1 - right) * ease**2, len(ability)) + 1
    return _uphill(ability, slope / curve, lambda values: values[worker] * ease, worker, own)


def _easier(log_ease: Floats, ability: Floats, item: Ints, own: Floats) -> Floats:
    """One Newton step of each log ease; where the density is not concave, with the curvature that is sure."""
    x = ability * np.exp(log_ease)[item]
    right = _logistic(x)
    of_label = (own - right) * x
    slope = np.bincount(item, of_label, len(log_ease)) - (log_ease - 1)
    certain = right * (1 - right) * x**2
    curve = np.bincount(item, np.maximum(certain - of_label, certain), len(log_ease)) + 1
    return _uphill(log_ease, slope / curve, lambda values: ability * np.exp(values)[item], item, own)


def _uphill(start: Floats, step: Floats, x_at: Callable[[Floats], Floats], group: Ints, own: Floats) -> Floats:
    """`start` + `step`, each step halved as long as it lowers the expected log density of its own labels."""

    def density(values: Floats) -> Floats:
        x = x_at(values)
        of_label = own * x - np.logaddexp(0, x)
        return np.bincount(group, of_label, len(values)) - 0.5 * (values - 1) ** 2

    before = density(start)
    step = step.clip(-LONGEST_STEP, LONGEST_STEP)
    while True:
        falls = (density(start + step) < before) & (np.abs(step) > 1e-12)
        if not falls.any():
            return start + step
        step = np.where(falls, step / 2, step)


def _logistic(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x.clip(-500, 500))))


def _standard_normal(values: Floats) -> float:
    """Sum of the log densities of the values."""
    squares = (values**2).sum()
    return float(-0.5 * squares - 0.5 * len(values) * np.log(2 * np.pi))
