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
from assay.crowd.latent import Fit, checked_for_levels, judged, log_sum, settled
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS


@AGGREGATIONS.register("mace", kind="categories")
def mace(
    ratings: Ratings,
    *,
    iterations: Annotated[int, Within(1)] = 500,
    tolerance: Annotated[float, Within(0)] = 1e-7,
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
    runs = []
    for rng in generators(seed, restarts):
        spam = _shares(rng.uniform(1, 2.5, (workers, 2)))
        habit = _shares(rng.uniform(1, 2.5, (workers, levels)))
        run = _climbed(ratings, spam, habit, iterations, tolerance, (theta, strategy))
        runs.append(run)
    fit = max(runs, key=lambda run: run.likelihood)
    honest = _shares(fit.parameters["spam"])[:, 1]
    facts = {}
    for worker, share in zip(ratings.workers, honest, strict=True):
        facts[worker] = {"honest": float(share)}
    ending = fit.ending(restarts, tolerance, "evidence lower bound")
    return judged("MACE", ratings, fit.posterior, (ending,), facts)


def _climbed(
    ratings: Ratings, spam: Floats, habit: Floats, iterations: int, tolerance: float, priors: tuple[float, float]
) -> Fit:
    """One variational run. spam: workers × (spams, honest); habit: workers × levels; neither sums to one exactly."""
    theta, strategy = priors
    posterior, _, honest = _expected(ratings, spam, habit)
    history = [-np.inf]
    while len(history) <= iterations and not settled(history, tolerance):
        spam_counts, habit_counts = _counts(ratings, honest)
        spam_counts = spam_counts + theta
        habit_counts = habit_counts + strategy
        spam = _log_mean(spam_counts)
        habit = _log_mean(habit_counts)
        posterior, evidence, honest = _expected(ratings, spam, habit)
        divergence = _divergence(spam_counts, theta) + _divergence(habit_counts, strategy)
        history.append(evidence - divergence)
    converged = settled(history, tolerance)
    return Fit(posterior, tuple(history[1:]), converged, {"spam": spam, "habit": habit})


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


def _expected(ratings: Ratings, spam: Floats, habit: Floats) -> tuple[Floats, float, Floats]:
    """Posterior of the levels, log-likelihood, and the probability that each label was given honestly."""
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
    return posterior, log_sum(logs), given_honestly


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
