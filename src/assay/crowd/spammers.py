"""Who answers honestly, and who spams? MACE: each label was either known or taken from the worker's habit.

Variational Bayes on the same sparse tables as the models of `latent.py`, from several random starts.
"""

from __future__ import annotations

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats
from assay.core.engine import generators
from assay.crowd.latent import Fit, checked_for_levels, judged, log_sum, settled
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS, softmax


@AGGREGATIONS.register("mace", kind="categories")
def mace(
    ratings: Ratings,
    *,
    iterations: int = 500,
    tolerance: float = 1e-7,
    restarts: int = 10,
    seed: int = 0,
    theta: float = 0.5,
    strategy: float = 10.0,
) -> Uncertain:
    """A worker answers truly with probability 1 − spam, else from a habit; variational Bayes.

    Priors Beta(theta, theta) on spamming, Dirichlet(strategy, …) on the habit, uniform on the levels. Each of
    `restarts` random starts climbs the evidence lower bound, which never falls, until it settles; the start with the
    highest bound is kept. The order of the rows plays no part. Hovy et al. 2013.
    """
    checked_for_levels(ratings, iterations=iterations, restarts=restarts, theta=theta, strategy=strategy)
    n, k = len(ratings.workers), len(ratings.levels)
    runs = []
    for rng in generators(seed, restarts):
        spam, habit = (_shares(rng.uniform(1, 2.5, (n, columns))) for columns in (2, k))
        runs.append(_climbed(ratings, spam, habit, iterations, tolerance, (theta, strategy)))
    fit = max(runs, key=lambda f: f.likelihood)
    honest = _shares(fit.parameters["spam"])[:, 1]
    facts = {w: {"honest": float(h)} for w, h in zip(ratings.workers, honest, strict=True)}
    return judged("MACE", ratings, fit.posterior, (fit.ending(restarts, tolerance, "evidence lower bound"),), facts)


def _climbed(
    ratings: Ratings, spam: Floats, habit: Floats, iterations: int, tolerance: float, priors: tuple[float, float]
) -> Fit:
    """One variational run. spam: workers × (spams, honest); habit: workers × levels; neither sums to one exactly."""
    posterior, _, honest = _expected(ratings, spam, habit)
    history = [-np.inf]
    while len(history) <= iterations and not settled(history, tolerance):
        counts = [c + prior for c, prior in zip(_counts(ratings, honest), priors, strict=True)]
        spam, habit = (_log_mean(c) for c in counts)
        posterior, evidence, honest = _expected(ratings, spam, habit)
        history.append(evidence - sum(_divergence(c, prior) for c, prior in zip(counts, priors, strict=True)))
    return Fit(posterior, tuple(history[1:]), settled(history, tolerance), {"spam": spam, "habit": habit})


def _counts(ratings: Ratings, honest: Floats) -> tuple[Floats, Floats]:
    """How often each worker spammed or was honest, and how often each level was spam, as far as is expected."""
    n, k = len(ratings.workers), len(ratings.levels)
    habits = np.bincount(ratings.worker * k + ratings.answer, 1 - honest, minlength=n * k).reshape(n, k)
    known = np.bincount(ratings.worker, honest, minlength=n)
    return np.column_stack([habits.sum(axis=1), known]).astype(np.float64), habits.astype(np.float64)


def _expected(ratings: Ratings, spam: Floats, habit: Floats) -> tuple[Floats, float, Floats]:
    """Posterior of the levels, log-likelihood, and the probability that each label was given honestly."""
    habitual = (spam[:, :1] * habit).ravel()[ratings.worker * habit.shape[1] + ratings.answer]
    honest = spam[:, 1][ratings.worker]
    logs = ratings.votes(np.log1p(honest / habitual))
    logs += np.bincount(ratings.item, np.log(habitual))[:, None] - np.log(habit.shape[1])
    posterior = softmax(logs)
    return posterior, log_sum(logs), posterior[ratings.item, ratings.answer] * honest / (honest + habitual)


def _divergence(counts: Floats, prior: float) -> float:
    """Kullback–Leibler divergence of Dirichlets with these counts, one per row, from Dirichlet(prior, …), summed."""
    from scipy.special import digamma, gammaln

    n, k = counts.shape
    total = counts.sum(axis=1)
    norms = gammaln(total).sum() - gammaln(counts).sum() - n * (gammaln(k * prior) - k * gammaln(prior))
    return float(norms + ((counts - prior) * (digamma(counts) - digamma(total)[:, None])).sum())


def _log_mean(counts: Floats) -> Floats:
    """exp of the expected log of each share under a Dirichlet with these counts."""
    from scipy.special import digamma

    return np.exp(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True)))


def _shares(rows: Floats) -> Floats:
    return rows / rows.sum(axis=1, keepdims=True)
