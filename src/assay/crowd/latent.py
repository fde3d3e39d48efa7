"""What is the true level of each doc, when workers differ in quality? Models with a hidden truth, fitted by EM.

Dawid–Skene (a confusion matrix per worker) and one coin (one accuracy); GLAD (ability and ease) is in `eases.py`, MACE
(honest or spamming) in `spammers.py`. All work on sparse items × workers tables: an iteration costs a few passes over
the labels, memory is a few numbers per label. Where a fit ends is up to `squarem.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import generators
from assay.core.errors import DataError, UsageError
from assay.core.registry import Within
from assay.crowd.identified import SURE, judged_levels, softmax
from assay.crowd.squarem import LARGEST_CHANGE, MOST_MAPS, Expected, Fit, Model, fitted
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS

TINY = 1e-10
HALF_A_LABEL = 0.5


def best_fit(model: Model, ratings: Ratings, *, iterations: int, tolerance: float, restarts: int, seed: int) -> Fit:
    """The most likely of a start from the votes and `restarts` − 1 starts from votes mixed with random posteriors.

    A fit from a random start may end with the levels exchanged: it goes on from where they have their names.
    """
    votes = ratings.votes()
    start = votes / votes.sum(axis=1, keepdims=True)
    fits = [fit_from(model, start, iterations=iterations, tolerance=tolerance)]
    for rng in generators(seed, restarts - 1):
        noise = rng.dirichlet(np.ones(start.shape[1]), len(start))
        fit = fit_from(model, (start + noise) / 2, iterations=iterations, tolerance=tolerance)
        named = oriented(fit.posterior, ratings)
        fits.append(replace(fit, expected=fit.expected._replace(seen=named)))
    return max(fits, key=lambda fit: fit.likelihood)


def fit_from(
    model: Model, posterior: Floats, *, iterations: int, tolerance: float = LARGEST_CHANGE, plain: bool = False
) -> Fit:
    """The fit whose first parameters are those that the posterior asks for."""
    start = model.maximise(np.empty(0), Expected(posterior, 0.0))
    return fitted(model, start, iterations=iterations, tolerance=tolerance, plain=plain)


@AGGREGATIONS.register("dawid-skene", kind="categories")
def dawid_skene(
    ratings: Ratings,
    *,
    iterations: Annotated[int, Within(1)] = MOST_MAPS,
    tolerance: Annotated[float, Within(0)] = LARGEST_CHANGE,
    smoothing: Annotated[float, Within(0)] = 0.0,
    restarts: Annotated[int, Within(1)] = 1,
    seed: Annotated[int, Within(0)] = 0,
) -> Uncertain:
    """Each worker has a confusion matrix P(answer | truth); truth and matrices by EM from the majority's shares.

    smoothing: imaginary labels added to every cell of a matrix. A level that a worker never used is left out of the
    worker's matrix. Dawid & Skene 1979.
    """
    checked_for_levels(ratings, smoothing=smoothing, iterations=iterations, restarts=restarts)
    matrix = _by_worker_and_answer(ratings)
    model = dawid_skene_model(ratings, matrix, smoothing)
    fit = best_fit(model, ratings, iterations=iterations, tolerance=tolerance, restarts=restarts, seed=seed)
    confusion = _confusion(matrix, fit.posterior, _used(ratings, matrix), smoothing)
    prior = fit.posterior.mean(axis=0)
    accuracy = np.einsum("wkk,k->w", confusion, prior)
    facts = _confusion_facts(ratings, accuracy, confusion)
    softened = dawid_skene_model(ratings, matrix, HALF_A_LABEL)
    posterior, at_edge, warning = without_edges(ratings, fit.posterior, accuracy, softened, smoothing)
    ending = (fit.ending(restarts), *_short_of_labels(ratings), *warning)
    return judged("Dawid–Skene", ratings, posterior, ending, facts, at_edge)


def dawid_skene_model(ratings: Ratings, matrix: Any, smoothing: float) -> Model:
    """Parameters: the cells of the matrices, workers × answers × truths, and the shares of the levels."""
    workers = len(ratings.workers)
    k = len(ratings.levels)
    used = _used(ratings, matrix)

    def expect(state: Floats) -> Expected:
        confusion = state[:-k].reshape(workers, k, k)
        # After an extrapolation the answers of a worker no longer sum to one.
        confusion = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), TINY)
        # An answer that a worker never gave has log 1 = 0: it is not in the matrix, so it adds nothing.
        of_answer = np.log(np.where(used, confusion, 1.0)).reshape(workers * k, k)
        prior = state[-k:] / state[-k:].sum()
        logs = np.log(prior) + matrix @ of_answer
        imaginary = smoothing * of_answer.sum() if smoothing else 0.0
        return Expected(softmax(logs), log_sum(logs) + float(imaginary))

    def maximise(_: Floats, expected: Expected) -> Floats:
        confusion = _confusion(matrix, expected.seen, used, smoothing)
        return np.concatenate([confusion.ravel(), _prior(expected.seen)])

    return Model(expect, maximise, shares=True)


def _prior(posterior: Floats) -> Floats:
    """The shares of the levels."""
    return posterior.mean(axis=0).clip(min=TINY)


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
    iterations: Annotated[int, Within(1)] = MOST_MAPS,
    tolerance: Annotated[float, Within(0)] = LARGEST_CHANGE,
    smoothing: Annotated[float, Within(0)] = 0.0,
    restarts: Annotated[int, Within(1)] = 1,
    seed: Annotated[int, Within(0)] = 0,
) -> Uncertain:
    """Each worker has one accuracy s: P(answer | truth) is s if they agree, else (1−s)/(K−1).

    smoothing: imaginary labels at the accuracy of chance. Zhang et al. 2016.
    """
    checked_for_levels(ratings, smoothing=smoothing, iterations=iterations, restarts=restarts)
    matrix = _by_item_and_answer(ratings)
    model = one_coin_model(ratings, matrix, smoothing)
    fit = best_fit(model, ratings, iterations=iterations, tolerance=tolerance, restarts=restarts, seed=seed)
    accuracy = matrix.T @ fit.posterior.ravel() / _labels_of_workers(ratings)
    facts = {worker: {"accuracy": float(share)} for worker, share in zip(ratings.workers, accuracy, strict=True)}
    softened = one_coin_model(ratings, matrix, HALF_A_LABEL)
    posterior, at_edge, warning = without_edges(ratings, fit.posterior, accuracy, softened, smoothing)
    return judged("one coin", ratings, posterior, (fit.ending(restarts), *warning), facts, at_edge)


def one_coin_model(ratings: Ratings, matrix: Any, smoothing: float) -> Model:
    """Parameters: how often each worker is right, how often wrong, and the shares of the levels."""
    k = len(ratings.levels)
    workers = len(ratings.workers)
    given = _labels_of_workers(ratings)

    def expect(state: Floats) -> Expected:
        right, wrong = state[:-k].reshape(2, workers)
        skill = (right / (right + wrong)).clip(TINY, 1 - TINY)
        # Every answer counts as a miss for all levels; its own level has the difference to a hit on top.
        miss = np.log1p(-skill) - np.log(k - 1)
        hit = np.log(skill)
        weights = (matrix @ np.column_stack([hit - miss, miss])).reshape(-1, k, 2)
        misses = weights[:, :, 1].sum(axis=1, keepdims=True)
        logs = np.log(state[-k:] / state[-k:].sum()) + weights[:, :, 0] + misses
        imaginary = smoothing / k * float((hit + (k - 1) * miss).sum())
        return Expected(softmax(logs), log_sum(logs) + imaginary)

    def maximise(_: Floats, expected: Expected) -> Floats:
        right = matrix.T @ expected.seen.ravel()
        skill = (right + smoothing / k) / (given + smoothing)
        skill = skill.clip(TINY, 1 - TINY)
        return np.concatenate([skill, 1 - skill, _prior(expected.seen)])

    return Model(expect, maximise, shares=True)


def _labels_of_workers(ratings: Ratings) -> Ints:
    """How many labels each worker gave, at least 1."""
    return np.maximum(1, np.bincount(ratings.worker, minlength=len(ratings.workers)))


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
    softened: Model,
    smoothing: float,
) -> tuple[Floats, Bools, tuple[str, ...]]:
    """The posterior without the certainty that workers at the edge bring, the docs concerned, and how many they are.

    A worker who was never wrong (or never right) by the model has an accuracy of 1 (or 0), and one label of that worker
    is proof. Docs that are certain and have such a label are judged once more by the `softened` model, which adds half
    an imaginary label to each of a worker's parameters, as an estimate of a share from few labels asks for.
    """
    is_edge = (accuracy < 1 - SURE) | (accuracy > SURE)
    touched = np.bincount(ratings.item, is_edge[ratings.worker], len(posterior)) > 0
    certain = posterior.max(axis=1) >= SURE
    nobody = np.zeros(len(posterior), dtype=bool)
    if smoothing or not (touched & certain).any():
        return posterior, nobody, ()
    drawn_in = fit_from(softened, posterior, iterations=0).posterior
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
