"""What is the true level of each doc, when workers differ in quality? Models with a hidden truth, fitted by EM.

Dawid–Skene (a confusion matrix per worker), one coin (one accuracy), GLAD (ability and difficulty); MACE (honest or
spamming) is in `spammers.py`. All work on sparse items × workers tables: an iteration costs a few passes over the
labels, memory is a few numbers per label. Each keeps its posterior and says whether it converged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Bools, Floats
from assay.core.engine import generators
from assay.core.errors import DataError, UsageError
from assay.core.registry import Within
from assay.crowd.identified import SURE, judged_levels, softmax
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS

TINY = 1e-10
HALF_A_LABEL = 0.5


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


class SmoothedStep(Protocol):
    """A step that can also be taken with another number of imaginary labels added to the workers' parameters."""

    def __call__(self, posterior: Floats, added: float = ...) -> tuple[Floats, float]: ...


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
    return max(fits, key=lambda fit: fit.likelihood)


@AGGREGATIONS.register("dawid-skene", kind="categories")
def dawid_skene(
    ratings: Ratings,
    *,
    iterations: Annotated[int, Within(1)] = 1000,
    tolerance: Annotated[float, Within(0)] = 1e-9,
    smoothing: Annotated[float, Within(0)] = 0.0,
    restarts: Annotated[int, Within(1)] = 1,
    seed: Annotated[int, Within(0)] = 0,
) -> Uncertain:
    """Each worker has a confusion matrix P(answer | truth); truth and matrices by EM from the majority's shares.

    smoothing: imaginary labels added to every cell of a matrix. A level that a worker never used is left out of the
    worker's matrix. Dawid & Skene 1979.
    """
    checked_for_levels(ratings, smoothing=smoothing, iterations=iterations, restarts=restarts)
    step = dawid_skene_step(ratings, smoothing)
    fit = best_fit(step, ratings, iterations=iterations, tolerance=tolerance, restarts=restarts, seed=seed)
    matrix = _by_worker_and_answer(ratings)
    confusion = _confusion(matrix, fit.posterior, _used(ratings, matrix), smoothing)
    prior = fit.posterior.mean(axis=0)
    accuracy = np.einsum("wkk,k->w", confusion, prior)
    facts = _confusion_facts(ratings, accuracy, confusion)
    posterior, at_edge, warning = without_edges(ratings, fit.posterior, accuracy, step, smoothing)
    ending = (fit.ending(restarts, tolerance), *_short_of_labels(ratings), *warning)
    return judged("Dawid–Skene", ratings, posterior, ending, facts, at_edge)


def dawid_skene_step(ratings: Ratings, smoothing: float) -> SmoothedStep:
    """One iteration: matrices from the posterior, the posterior from the matrices; `smoothing` unless it is given."""
    matrix = _by_worker_and_answer(ratings)
    workers = len(ratings.workers)
    k = len(ratings.levels)
    used = _used(ratings, matrix)

    def step(posterior: Floats, added: float = smoothing) -> tuple[Floats, float]:
        confusion = _confusion(matrix, posterior, used, added)
        # An answer that a worker never gave has log 1 = 0: it is not in the matrix, so it adds nothing.
        of_answer = np.log(np.where(used, confusion, 1.0)).reshape(workers * k, k)
        prior = posterior.mean(axis=0).clip(min=TINY)
        logs = np.log(prior) + matrix @ of_answer
        return softmax(logs), log_sum(logs)

    return step


def _used(ratings: Ratings, matrix: Any) -> Bools:
    """Workers × answers × 1: which answers each worker ever gave."""
    given = np.asarray(matrix.sum(axis=0))
    return given.reshape(len(ratings.workers), len(ratings.levels), 1) > 0


def _confusion_facts(ratings: Ratings, accuracy: Floats, confusion: Floats) -> dict[str, dict[str, float]]:
    """Of each worker the accuracy and, as `answer|truth`, every cell of the confusion matrix."""
    facts = {}
    for worker, share, matrix in zip(ratings.workers, accuracy, confusion, strict=True):
        of_worker = {"accuracy": float(share)}
        for j, truth in enumerate(ratings.levels):
            for i, answer in enumerate(ratings.levels):
                of_worker[f"{answer:g}|{truth:g}"] = float(matrix[i, j])
        facts[worker] = of_worker
    return facts


def _short_of_labels(ratings: Ratings) -> tuple[str, ...]:
    """A warning where the typical worker gave fewer labels than a matrix has free cells."""
    given = np.bincount(ratings.worker)
    typical = float(np.median(given[given > 0]))
    levels = len(ratings.levels)
    free_cells = levels * (levels - 1)
    if typical >= free_cells:
        return ()
    return (
        f"A matrix has {free_cells} free cells and the typical worker {typical:g} labels: the probabilities are too "
        "sure; add smoothing, or take one-coin or ordinal.",
    )


def _confusion(matrix: Any, posterior: Floats, used: Any, smoothing: float) -> Floats:
    """Workers × answers × truths: P(answer | truth) from the posterior."""
    k = posterior.shape[1]
    counts = (matrix.T @ posterior).reshape(-1, k, k)
    smoothed = np.maximum(counts + smoothing, TINY)
    cells = np.where(used, smoothed, 0.0)
    totals = cells.sum(axis=1, keepdims=True)
    shares: Floats = cells / np.maximum(totals, TINY)
    return shares


@AGGREGATIONS.register("one-coin", kind="categories")
def one_coin(
    ratings: Ratings,
    *,
    iterations: Annotated[int, Within(1)] = 1000,
    tolerance: Annotated[float, Within(0)] = 1e-9,
    smoothing: Annotated[float, Within(0)] = 0.0,
    restarts: Annotated[int, Within(1)] = 1,
    seed: Annotated[int, Within(0)] = 0,
) -> Uncertain:
    """Each worker has one accuracy s: P(answer | truth) is s if they agree, else (1−s)/(K−1).

    smoothing: imaginary labels at the accuracy of chance. Zhang et al. 2016.
    """
    checked_for_levels(ratings, smoothing=smoothing, iterations=iterations, restarts=restarts)
    matrix = _by_item_and_answer(ratings)
    k = len(ratings.levels)
    given = np.bincount(ratings.worker, minlength=len(ratings.workers))
    counts = np.maximum(1, given)

    def step(posterior: Floats, added: float = smoothing) -> tuple[Floats, float]:
        right = matrix.T @ posterior.ravel()
        skill = (right + added / k) / (counts + added)
        skill = skill.clip(TINY, 1 - TINY)
        # Every answer counts as a miss for all levels; its own level has the difference to a hit on top.
        miss = np.log1p(-skill) - np.log(k - 1)
        hit_over_miss = np.log(skill) - miss
        weights = (matrix @ np.column_stack([hit_over_miss, miss])).reshape(-1, k, 2)
        misses = weights[:, :, 1].sum(axis=1, keepdims=True)
        prior = posterior.mean(axis=0).clip(min=TINY)
        logs = np.log(prior) + weights[:, :, 0] + misses
        return softmax(logs), log_sum(logs)

    fit = best_fit(step, ratings, iterations=iterations, tolerance=tolerance, restarts=restarts, seed=seed)
    accuracy = matrix.T @ fit.posterior.ravel() / counts
    facts = {worker: {"accuracy": float(share)} for worker, share in zip(ratings.workers, accuracy, strict=True)}
    posterior, at_edge, warning = without_edges(ratings, fit.posterior, accuracy, step, smoothing)
    return judged("one coin", ratings, posterior, (fit.ending(restarts, tolerance), *warning), facts, at_edge)


@AGGREGATIONS.register("glad", kind="categories")
def glad(
    ratings: Ratings,
    *,
    iterations: Annotated[int, Within(1)] = 100,
    tolerance: Annotated[float, Within(0)] = 1e-6,
    steps: Annotated[int, Within(1)] = 25,
) -> Uncertain:
    """Ability a of a worker and ease exp(b) of a doc: P(right) = 1/(1+exp(−a·exp(b))); a < 0 is an adversary.

    Priors N(1, 1) on a and b, uniform on the levels; the M-step takes at most `steps` conjugate gradients, and the log
    density of labels, abilities and eases never falls. Whitehill et al. 2009.
    """
    checked_for_levels(ratings, iterations=iterations, steps=steps)
    fit = _glad_run(ratings, iterations, tolerance, steps)
    state = fit.parameters["state"]
    workers = len(ratings.workers)
    abilities = state[:workers]
    ease = np.exp(state[workers:])
    facts = {worker: {"ability": float(ability)} for worker, ability in zip(ratings.workers, abilities, strict=True)}
    ended = fit.ending(1, tolerance, "log density")
    ending = f"{ended} Ease of the docs {ease.min():.3f}–{ease.max():.3f}."
    return judged("GLAD", ratings, fit.posterior, (ending,), facts)


def _glad_run(ratings: Ratings, iterations: int, tolerance: float, steps: int) -> Fit:
    """EM from abilities and log eases of 1; the state is that after the M-step that follows the posterior."""
    from scipy.optimize import minimize

    state = np.ones(len(ratings.workers) + len(ratings.items))
    history = [-np.inf]
    while len(history) <= iterations and not settled(history, tolerance):
        posterior, density = _glad_expected(ratings, state)
        own = posterior[ratings.item, ratings.answer]
        best = minimize(_glad_loss, state, (ratings, own), "CG", jac=True, tol=1e-2, options={"maxiter": steps})
        state = best.x
        history.append(density)
    converged = settled(history, tolerance)
    return Fit(posterior, tuple(history[1:]), converged, {"state": state})


def _glad_expected(ratings: Ratings, state: Floats) -> tuple[Floats, float]:
    """Posterior of the levels, and the log density of the labels and the state, the truth summed out."""
    workers = len(ratings.workers)
    ability = state[ratings.worker]
    ease = np.exp(state[workers + ratings.item])
    x = ability * ease
    # log σ(x) − log((1 − σ(x))/(K − 1)) = x + log(K − 1): what an answer adds to its own level.
    others = np.log(len(ratings.levels) - 1)
    logs = ratings.votes(x + others)
    uniform_prior = len(ratings.items) * np.log(len(ratings.levels))
    missed = -(np.logaddexp(0, x) + others).sum() - uniform_prior
    density = log_sum(logs) + float(missed) + _standard_normal(state - 1)
    return softmax(logs), density


def _standard_normal(values: Floats) -> float:
    """Sum of the log densities of the values."""
    squares = (values**2).sum()
    return float(-0.5 * squares - 0.5 * len(values) * np.log(2 * np.pi))


def _glad_loss(state: Floats, ratings: Ratings, own: Floats) -> tuple[float, Floats]:
    """Minus the expected log joint density and its gradient; `own` is the posterior of each label's own level."""
    workers = len(ratings.workers)
    ability = state[ratings.worker]
    ease = np.exp(state[workers + ratings.item])
    x = ability * ease
    right = 1 / (1 + np.exp(-x.clip(-500, 500)))
    wrong_log = -np.logaddexp(0, x)
    wrong = (1 - own).sum()
    value = (own * x + wrong_log).sum() - wrong * np.log(len(ratings.levels) - 1)
    value += _standard_normal(state - 1)
    slope = (own - right) * ease
    of_workers = np.bincount(ratings.worker, slope, minlength=workers)
    of_docs = np.bincount(ratings.item, slope * ability, minlength=len(ratings.items))
    gradient = np.concatenate([of_workers, of_docs])
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
    if gained > 1e-6 * len(ratings):
        return posterior[:, truth]
    return posterior


def without_edges(
    ratings: Ratings,
    posterior: Floats,
    accuracy: Floats,
    step: SmoothedStep,
    smoothing: float,
) -> tuple[Floats, Bools, tuple[str, ...]]:
    """The posterior without the certainty that workers at the edge bring, the docs concerned, and how many they are.

    A worker who was never wrong (or never right) by the model has an accuracy of 1 (or 0), and one label of that worker
    is proof. Docs that are certain and have such a label are judged once more, with half an imaginary label added to
    each of a worker's parameters, as an estimate of a share from few labels asks for.
    """
    is_edge = (accuracy < 1 - SURE) | (accuracy > SURE)
    touched = np.bincount(ratings.item, is_edge[ratings.worker], len(posterior)) > 0
    certain = posterior.max(axis=1) >= SURE
    nobody = np.zeros(len(posterior), dtype=bool)
    if smoothing or not (touched & certain).any():
        return posterior, nobody, ()
    drawn_in, _ = step(posterior, HALF_A_LABEL)
    at_edge = touched & certain & (drawn_in.max(axis=1) < SURE)
    if not at_edge.any():
        return posterior, nobody, ()
    warning = (
        f"{int(is_edge.sum())} of {len(is_edge)} workers are never wrong, or never right, by the model: the "
        f"{int(at_edge.sum())} docs that are certain only with their help are judged with half a label of smoothing."
    )
    return np.where(at_edge[:, None], drawn_in, posterior), at_edge, (warning,)


def judged(
    method: str,
    ratings: Ratings,
    posterior: Floats,
    ending: tuple[str, ...],
    workers: dict[str, dict[str, float]],
    at_edge: Bools | None = None,
) -> Uncertain:
    """What a model found: the posterior as judgments, how the fit ended, and what the model says of the workers."""
    size = f"{len(ratings)} labels, {len(ratings.items)} docs, {len(ratings.workers)} workers."
    notes = (f"{method}: {ending[0]}", *ending[1:], size)
    return judged_levels(method, ratings, posterior, workers=workers, notes=notes, at_edge=at_edge)


def _by_worker_and_answer(ratings: Ratings) -> Any:
    """Sparse items × (worker, answer) counts: one row of it is a doc."""
    from scipy.sparse import csr_array

    k = len(ratings.levels)
    column = ratings.worker * k + ratings.answer
    shape = (len(ratings.items), len(ratings.workers) * k)
    ones = np.ones(len(ratings))
    return csr_array((ones, (ratings.item, column)), shape=shape)


def _by_item_and_answer(ratings: Ratings) -> Any:
    """Sparse (item, answer) × workers counts."""
    from scipy.sparse import csr_array

    k = len(ratings.levels)
    row = ratings.item * k + ratings.answer
    shape = (len(ratings.items) * k, len(ratings.workers))
    ones = np.ones(len(ratings))
    return csr_array((ones, (row, ratings.worker)), shape=shape)


def log_sum(logs: Floats) -> float:
    """Sum over the rows of the log of the sum of exp."""
    top = logs.max(axis=1)
    below_top = np.exp(logs - top[:, None]).sum(axis=1)
    return float((top + np.log(below_top)).sum())


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
