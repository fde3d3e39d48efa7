"""Who answers honestly, and who spams? MACE: each label was either known or taken from the worker's habit.

Variational Bayes on the same sparse tables as the models of `latent.py`, from several random starts.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats
from assay.core.engine import generators
from assay.core.registry import Within
from assay.crowd.identified import softmax
from assay.crowd.latent import checked_for_levels, judged, log_sum
from assay.crowd.squarem import LARGEST_CHANGE, MOST_MAPS, Expected, Model, fitted
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS


@AGGREGATIONS.register("mace", kind="categories")
def mace(
    ratings: Ratings,
    *,
    iterations: Annotated[int, Within(1)] = MOST_MAPS,
    tolerance: Annotated[float, Within(0)] = LARGEST_CHANGE,
    restarts: Annotated[int, Within(1)] = 10,
    seed: Annotated[int, Within(0)] = 0,
    theta: Annotated[float, Within(0, open=True)] = 0.5,
    strategy: Annotated[float, Within(0, open=True)] = 10.0,
) -> Uncertain:
    """A worker answers truly with probability 1 − spam, else from a habit; variational Bayes.

    Priors Beta(theta, theta) on spamming, Dirichlet(strategy, …) on the habit, uniform on the levels. Each of
    `restarts` random starts climbs the evidence lower bound, which never falls, until it settles; the start with the
    highest bound is kept. The order of the rows plays no part. Hovy et al. 2013.
    """
    checked_for_levels(ratings, iterations=iterations, restarts=restarts, theta=theta, strategy=strategy)
    workers = len(ratings.workers)
    levels = len(ratings.levels)
    model = mace_model(ratings, theta, strategy)
    runs = []
    for rng in generators(seed, restarts):
        spam = _shares(rng.uniform(1, 2.5, (workers, 2)))
        habit = _shares(rng.uniform(1, 2.5, (workers, levels)))
        start = model.maximise(np.empty(0), _expected(ratings, spam, habit))
        runs.append(fitted(model, start, iterations=iterations, tolerance=tolerance))
    fit = max(runs, key=lambda run: run.likelihood)
    spams, _ = _split(fit.state, workers)
    honest = _shares(_log_mean(spams))[:, 1]
    facts = {}
    for worker, share in zip(ratings.workers, honest, strict=True):
        facts[worker] = {"honest": float(share)}
    return judged("MACE", ratings, fit.posterior, (fit.ending(restarts, "evidence lower bound"),), facts)


def mace_model(ratings: Ratings, theta: float, strategy: float) -> Model:
    """Parameters: the counts of the workers' Dirichlets, (spams, honest) and then the habit, prior included."""
    workers = len(ratings.workers)

    def expect(state: Floats) -> Expected:
        spams, habits = _split(state, workers)
        expected = _expected(ratings, _log_mean(spams), _log_mean(habits))
        divergence = _divergence(spams, theta) + _divergence(habits, strategy)
        return expected._replace(value=expected.value - divergence)

    def maximise(_: Floats, expected: Expected) -> Floats:
        spams, habits = _counts(ratings, expected.rest)
        return np.concatenate([(spams + theta).ravel(), (habits + strategy).ravel()])

    return Model(expect, maximise, shares=True)


def _split(state: Floats, workers: int) -> tuple[Floats, Floats]:
    """Workers × (spams, honest), and workers × levels."""
    return state[: 2 * workers].reshape(workers, 2), state[2 * workers :].reshape(workers, -1)


def _counts(ratings: Ratings, honest: Floats) -> tuple[Floats, Floats]:
    """How often each worker spammed or was honest, and how often each level was spam, as far as is expected."""
    workers = len(ratings.workers)
    levels = len(ratings.levels)
    cell = ratings.worker * levels + ratings.answer
    by_cell = np.bincount(cell, 1 - honest, minlength=workers * levels).astype(np.float64)
    spammed = by_cell.reshape(workers, levels)
    known = np.bincount(ratings.worker, honest, minlength=workers)
    spammed_or_honest = np.column_stack([spammed.sum(axis=1), known])
    return spammed_or_honest.astype(np.float64), spammed


def _expected(ratings: Ratings, spam: Floats, habit: Floats) -> Expected:
    """Posterior of the levels, log-likelihood, and as the rest the probability that each label was given honestly.

    spam: workers × (spams, honest); habit: workers × levels; neither sums to one exactly.
    """
    levels = habit.shape[1]
    spams = spam[:, :1]
    is_honest = spam[:, 1]
    # Of each label: how likely the worker was to spam it, and how likely to be honest.
    habitual = (spams * habit)[ratings.worker, ratings.answer]
    honest = is_honest[ratings.worker]
    logs = ratings.votes(np.log1p(honest / habitual))
    all_spam = np.bincount(ratings.item, np.log(habitual))
    logs += all_spam[:, None] - np.log(levels)
    posterior = softmax(logs)
    of_label = posterior[ratings.item, ratings.answer]
    given_honestly = of_label * honest / (honest + habitual)
    return Expected(posterior, log_sum(logs), given_honestly)


def _divergence(counts: Floats, prior: float) -> float:
    """Kullback–Leibler divergence of Dirichlets with these counts, one per row, from Dirichlet(prior, …), summed."""
    from scipy.special import digamma, gammaln

    rows, columns = counts.shape
    total = counts.sum(axis=1)
    norm = gammaln(total).sum() - gammaln(counts).sum()
    norm_of_prior = gammaln(columns * prior) - columns * gammaln(prior)
    expected_logs = digamma(counts) - digamma(total)[:, None]
    moved = ((counts - prior) * expected_logs).sum()
    return float(norm - rows * norm_of_prior + moved)


def _log_mean(counts: Floats) -> Floats:
    """exp of the expected log of each share under a Dirichlet with these counts."""
    from scipy.special import digamma

    return np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True)))


def _shares(rows: Floats) -> Floats:
    return rows / rows.sum(axis=1, keepdims=True)
