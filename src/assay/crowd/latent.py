"""What is the true level of each doc, when workers differ in quality? Models with a hidden truth, fitted by EM.

Dawid–Skene (a confusion matrix per worker), one coin (one accuracy), GLAD (ability and difficulty); MACE (honest or
spamming) is in `spammers.py`. All work on sparse items × workers tables: an iteration costs a few passes over the
labels, memory is a few numbers per label. Each keeps its posterior and says whether it converged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats
from assay.core.engine import generators
from assay.core.errors import DataError, UsageError
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS, softmax

TINY = 1e-10


@dataclass(frozen=True, eq=False)
class Fit:
    """One EM run: posterior (items × levels), log-likelihood after each iteration, whether it converged, parameters."""

    posterior: Floats
    history: tuple[float, ...]
    converged: bool
    parameters: dict[str, Floats]

    @property
    def likelihood(self) -> float:
        """The log-likelihood of the last iteration."""
        return self.history[-1]

    def ending(self, restarts: int, tolerance: float, what: str = "log-likelihood") -> str:
        """How the fit ended, in words; `what` names the number that was made large."""
        how = "converged" if self.converged else "stopped, not converged,"
        starts = f"; best of {restarts} starts" if restarts > 1 else ""
        return (
            f"{how} after {len(self.history)} iterations ({what} {self.likelihood:.4f}, "
            f"tolerance {tolerance:g}){starts}."
        )


Step = Callable[[Floats], tuple[Floats, float]]
"""posterior → (next posterior, log-likelihood)."""


def em(step: Step, posterior: Floats, *, iterations: int, tolerance: float) -> Fit:
    """Steps until the relative change of the log-likelihood falls below the tolerance, or `iterations` of them."""
    history: list[float] = [-np.inf]
    while len(history) <= iterations and not settled(history, tolerance):
        posterior, likelihood = step(posterior)
        history.append(likelihood)
    return Fit(posterior, tuple(history[1:]), settled(history, tolerance), {})


def settled(history: list[float], tolerance: float) -> bool:
    """Whether the last step changed the number by no more than this share of it."""
    if len(history) < 3:
        return False
    return abs(history[-1] - history[-2]) <= tolerance * max(1.0, abs(history[-2]))


def best_fit(step: Step, ratings: Ratings, *, iterations: int, tolerance: float, restarts: int, seed: int) -> Fit:
    """The most likely of a start from the votes and `restarts` − 1 starts from votes mixed with random posteriors."""
    votes = ratings.votes()
    start = votes / votes.sum(axis=1, keepdims=True)
    fits = [em(step, start, iterations=iterations, tolerance=tolerance)]
    for rng in generators(seed, restarts - 1):
        noise = rng.dirichlet(np.ones(start.shape[1]), len(start))
        fit = em(step, (start + noise) / 2, iterations=iterations, tolerance=tolerance)
        fits.append(replace(fit, posterior=oriented(fit.posterior, ratings)))
    return max(fits, key=lambda f: f.likelihood)


@AGGREGATIONS.register("dawid-skene", kind="categories")
def dawid_skene(
    ratings: Ratings,
    *,
    iterations: int = 1000,
    tolerance: float = 1e-9,
    smoothing: float = 0.0,
    restarts: int = 1,
    seed: int = 0,
) -> Uncertain:
    """Each worker has a confusion matrix P(answer | truth); truth and matrices by EM from the majority's shares.

    smoothing: imaginary labels added to every cell of a matrix. A level that a worker never used is left out of the
    worker's matrix. Dawid & Skene 1979.
    """
    checked_for_levels(ratings, smoothing=smoothing, iterations=iterations, restarts=restarts)
    matrix, n = _by_worker_and_answer(ratings), len(ratings.workers)
    k = len(ratings.levels)
    used = np.asarray(matrix.sum(axis=0)).reshape(n, k, 1) > 0

    def step(posterior: Floats) -> tuple[Floats, float]:
        confusion = _confusion(matrix, posterior, used, smoothing)
        prior = posterior.mean(axis=0).clip(min=TINY)
        logs = np.log(prior) + matrix @ np.log(np.where(used, confusion, 1.0)).reshape(n * k, k)
        return softmax(logs), log_sum(logs)

    fit = best_fit(step, ratings, iterations=iterations, tolerance=tolerance, restarts=restarts, seed=seed)
    posterior = fit.posterior
    confusion = _confusion(matrix, posterior, used, smoothing)
    prior = posterior.mean(axis=0)
    accuracy = np.einsum("wkk,k->w", confusion, prior)
    facts = {
        w: {"accuracy": float(a)}
        | {f"{y:g}|{c:g}": float(m[i, j]) for j, c in enumerate(ratings.levels) for i, y in enumerate(ratings.levels)}
        for w, a, m in zip(ratings.workers, accuracy, confusion, strict=True)
    }
    ending = (fit.ending(restarts, tolerance), *_short_of_labels(ratings))
    return judged("Dawid–Skene", ratings, posterior, ending, facts)


def _short_of_labels(ratings: Ratings) -> tuple[str, ...]:
    """A warning where the typical worker gave fewer labels than a matrix has free cells."""
    given = np.bincount(ratings.worker)
    k, typical = len(ratings.levels), float(np.median(given[given > 0]))
    if typical >= k * (k - 1):
        return ()
    return (
        f"A matrix has {k * (k - 1)} free cells and the typical worker {typical:g} labels: the probabilities are too "
        "sure; add smoothing, or take one-coin or ordinal.",
    )


def _confusion(matrix: Any, posterior: Floats, used: Any, smoothing: float) -> Floats:
    """Workers × answers × truths: P(answer | truth) from the posterior."""
    k = posterior.shape[1]
    counts = (matrix.T @ posterior).reshape(-1, k, k)
    cells = np.where(used, np.maximum(counts + smoothing, TINY), 0.0)
    shares: Floats = cells / np.maximum(cells.sum(axis=1, keepdims=True), TINY)
    return shares


@AGGREGATIONS.register("one-coin", kind="categories")
def one_coin(
    ratings: Ratings,
    *,
    iterations: int = 1000,
    tolerance: float = 1e-9,
    smoothing: float = 0.0,
    restarts: int = 1,
    seed: int = 0,
) -> Uncertain:
    """Each worker has one accuracy s: P(answer | truth) is s if they agree, else (1−s)/(K−1).

    smoothing: imaginary labels at the accuracy of chance. Zhang et al. 2016.
    """
    checked_for_levels(ratings, smoothing=smoothing, iterations=iterations, restarts=restarts)
    matrix, k = _by_item_and_answer(ratings), len(ratings.levels)
    counts = np.maximum(1, np.bincount(ratings.worker, minlength=len(ratings.workers)))

    def step(posterior: Floats) -> tuple[Floats, float]:
        skill = (matrix.T @ posterior.ravel() + smoothing / k) / (counts + smoothing)
        skill = skill.clip(TINY, 1 - TINY)
        miss = np.log1p(-skill) - np.log(k - 1)
        prior = posterior.mean(axis=0).clip(min=TINY)
        weights = (matrix @ np.column_stack([np.log(skill) - miss, miss])).reshape(-1, k, 2)
        logs = np.log(prior) + weights[:, :, 0] + weights[:, :, 1].sum(axis=1, keepdims=True)
        return softmax(logs), log_sum(logs)

    fit = best_fit(step, ratings, iterations=iterations, tolerance=tolerance, restarts=restarts, seed=seed)
    posterior = fit.posterior
    skill = matrix.T @ posterior.ravel() / counts
    facts = {w: {"accuracy": float(s)} for w, s in zip(ratings.workers, skill, strict=True)}
    return judged("one coin", ratings, posterior, (fit.ending(restarts, tolerance),), facts)


@AGGREGATIONS.register("glad", kind="categories")
def glad(ratings: Ratings, *, iterations: int = 100, tolerance: float = 1e-6, steps: int = 25) -> Uncertain:
    """Ability a of a worker and ease exp(b) of a doc: P(right) = 1/(1+exp(−a·exp(b))); a < 0 is an adversary.

    Priors N(1, 1) on a and b, uniform on the levels; the M-step takes at most `steps` conjugate gradients, and the log
    density of labels, abilities and eases never falls. Whitehill et al. 2009.
    """
    checked_for_levels(ratings, iterations=iterations, steps=steps)
    fit = _glad_run(ratings, iterations, tolerance, steps)
    n, state = len(ratings.workers), fit.parameters["state"]
    ease = np.exp(state[n:])
    facts = {w: {"ability": float(a)} for w, a in zip(ratings.workers, state[:n], strict=True)}
    ending = fit.ending(1, tolerance, "log density") + f" Ease of the docs {ease.min():.3f}–{ease.max():.3f}."
    return judged("GLAD", ratings, fit.posterior, (ending,), facts)


def _glad_run(ratings: Ratings, iterations: int, tolerance: float, steps: int) -> Fit:
    """EM from abilities and log eases of 1; the state is that after the M-step that follows the posterior."""
    from scipy.optimize import minimize

    state, history = np.ones(len(ratings.workers) + len(ratings.items)), [-np.inf]
    while len(history) <= iterations and not settled(history, tolerance):
        posterior, density = _glad_expected(ratings, state)
        own = posterior[ratings.item, ratings.answer]
        state = minimize(_glad_loss, state, (ratings, own), "CG", jac=True, tol=1e-2, options={"maxiter": steps}).x
        history.append(density)
    return Fit(posterior, tuple(history[1:]), settled(history, tolerance), {"state": state})


def _glad_expected(ratings: Ratings, state: Floats) -> tuple[Floats, float]:
    """Posterior of the levels, and the log density of the labels and the state, the truth summed out."""
    x = state[ratings.worker] * np.exp(state[len(ratings.workers) + ratings.item])
    # log σ(x) − log((1 − σ(x))/(K − 1)) = x + log(K − 1): what an answer adds to its own level.
    others = np.log(len(ratings.levels) - 1)
    logs = ratings.votes(x + others)
    missed = -(np.logaddexp(0, x) + others).sum() - len(ratings.items) * np.log(len(ratings.levels))
    return softmax(logs), log_sum(logs) + float(missed) + _standard_normal(state - 1)


def _standard_normal(values: Floats) -> float:
    """Sum of the log densities of the values."""
    return float(-0.5 * (values**2).sum() - 0.5 * len(values) * np.log(2 * np.pi))


def _glad_loss(state: Floats, ratings: Ratings, own: Floats) -> tuple[float, Floats]:
    """Minus the expected log joint density and its gradient; `own` is the posterior of each label's own level."""
    n, m = len(ratings.workers), len(ratings.items)
    ability, ease = state[ratings.worker], np.exp(state[n + ratings.item])
    x = ability * ease
    right = 1 / (1 + np.exp(-x.clip(-500, 500)))
    wrong_log = -np.logaddexp(0, x)
    value = (own * x + wrong_log).sum() - (1 - own).sum() * np.log(len(ratings.levels) - 1)
    value += _standard_normal(state - 1)
    slope = (own - right) * ease
    gradient = np.concatenate(
        [np.bincount(ratings.worker, slope, minlength=n), np.bincount(ratings.item, slope * ability, minlength=m)]
    )
    return -float(value), -(gradient - (state - 1))


def oriented(posterior: Floats, ratings: Ratings) -> Floats:
    """The posterior with its levels renamed so that answers agree with the truth as often as possible.

    A hidden class has no name of its own: a random start may end with the levels exchanged. Names stay where renaming
    gains nothing.
    """
    from scipy.optimize import linear_sum_assignment

    together = ratings.votes().T @ posterior
    answer, truth = linear_sum_assignment(together, maximize=True)
    gained = together[answer, truth].sum() - np.trace(together)
    return posterior[:, truth] if gained > 1e-6 * len(ratings) else posterior


def judged(
    method: str, ratings: Ratings, posterior: Floats, ending: tuple[str, ...], workers: dict[str, dict[str, float]]
) -> Uncertain:
    """What a model found: the posterior as judgments, how the fit ended, and what the model says of the workers."""
    size = f"{len(ratings)} labels, {len(ratings.items)} docs, {len(ratings.workers)} workers."
    notes = (f"{method}: {ending[0]}", *ending[1:], size)
    return Uncertain.of_levels(method, ratings, posterior, workers=workers, notes=notes)


def _by_worker_and_answer(ratings: Ratings) -> Any:
    """Sparse items × (worker, answer) counts: one row of it is a doc."""
    from scipy.sparse import csr_array

    k = len(ratings.levels)
    shape = (len(ratings.items), len(ratings.workers) * k)
    return csr_array((np.ones(len(ratings)), (ratings.item, ratings.worker * k + ratings.answer)), shape=shape)


def _by_item_and_answer(ratings: Ratings) -> Any:
    """Sparse (item, answer) × workers counts."""
    from scipy.sparse import csr_array

    k = len(ratings.levels)
    shape = (len(ratings.items) * k, len(ratings.workers))
    return csr_array((np.ones(len(ratings)), (ratings.item * k + ratings.answer, ratings.worker)), shape=shape)


def log_sum(logs: Floats) -> float:
    """Sum over the rows of the log of the sum of exp."""
    top = logs.max(axis=1)
    return float((top + np.log(np.exp(logs - top[:, None]).sum(axis=1))).sum())


def checked_for_levels(ratings: Ratings, *, smoothing: float = 0.0, **above_zero: float) -> None:
    """An error unless the labels have levels and the settings are numbers that make sense."""
    for name, value in above_zero.items():
        if not value > 0:
            raise UsageError(f"{name} is {value:g}; it must be above 0")
    if not smoothing >= 0:
        raise UsageError(f"smoothing is {smoothing:g}; it must be 0 or more")
    if ratings.scale.kind != "categories":
        raise DataError(
            f"labels on the scale {ratings.scale.name} are numbers; a model of categories needs levels: "
            "cut the scale first, or aggregate by the mean, the median or the interval model"
        )
