"""How likely is each doc relevant, judging by which docs the runs rank above others? Preferences of weighted runs.

Where it stands: lists of one topic → probabilities → an order as in `orders`. Preferences are never listed: a run's
list is all that the fit needs. A doc that a run has not retrieved stands in no preference of that run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Codes, Floats
from assay.core.engine import chunks
from assay.core.errors import UsageError
from assay.core.registry import Within
from assay.data.lists import TopicLists
from assay.pooling.orders import ORDERS, Order, Scored

RUNS_AT_ONCE = 8
NOTHING = 1e-30
"""Strength of the padding past the end of a list: it loses to every doc and adds nothing to the curvature."""
FAR, HEAVY = 30.0, 1000.0
"""Greatest |θ| and weight of a run at which 32 bits are enough: beyond, e^θ or the digits that count would be lost."""


@dataclass(frozen=True, eq=False)
class Curvature:
    """Gradient and curvature of the log-likelihood at one place, kept in list form: runs × depth × depth."""

    ranked: Codes
    weights: Floats
    gradient: Floats
    pairs: npt.NDArray[np.floating]
    diagonal: Floats

    def times(self, v: Floats) -> Floats:
        """Minus the Hessian, times a vector."""
        padded = np.append(v, 0.0)  # doc −1, the padding, is the last place
        listed = padded[self.ranked].astype(self.pairs.dtype)
        mixed = np.matmul(self.pairs, listed[:, :, None])
        weighted = self.weights[:, None] * mixed[:, :, 0]
        off_diagonal = _sums_by_doc(self.ranked, weighted, len(v))
        return np.asarray(self.diagonal * v - off_diagonal)


def strengths(
    ranked: Codes,
    *,
    docs: int,
    weights: npt.ArrayLike | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    start: Floats | None = None,
    steps: int = 50,
    tolerance: float = 1e-5,
) -> Floats:
    """θ of each doc: the Bradley–Terry fit to the preferences of the lists, with a Beta prior on p = 1 / (1 + e^−θ).

    Maximises Σ_runs w Σ_{i above j} ln P(i ≻ j) + Σ_i (α ln p_i + β ln(1 − p_i)), P(i ≻ j) = 1 / (1 + e^(θ_j − θ_i)),
    by Newton steps solved with conjugate gradients (Carterette & Allan 2007, Eq. 5). The prior is a dummy doc that
    loses α times to each doc and beats it β times, so that θ is finite even for a doc that every run has first. Cost
    of a step: one division per pair within each list; memory 4 bytes for each.

    >>> theta = strengths(np.array([[0, 1], [0, 1]], dtype=np.int32), docs=2)
    >>> bool(theta[0] > 0 > theta[1]), bool(abs(theta.sum()) < 1e-9)
    (True, True)
    """
    if not (alpha > 0 and beta > 0):
        raise UsageError("alpha and beta must be positive; without a prior θ need not be finite")
    w = _checked_weights(weights, len(ranked))
    # How often a doc is above and below others, the prior's dummy included: where to begin, and when to end.
    size = (ranked >= 0).sum(axis=1)[:, None]
    place = np.arange(ranked.shape[1])
    docs_below = size - 1.0 - place
    above = _sums_by_doc(ranked, w[:, None] * docs_below, docs) + alpha
    below = _sums_by_doc(ranked, w[:, None] * place, docs) + beta
    if start is None:
        start = np.log(above / below)
    theta = _shifted(start, alpha, beta)
    for _ in range(steps):
        at = _curvature(ranked, theta, w, alpha, beta)
        # No θ moves by the tolerance; that of a doc whose relevance is almost certain may, its chance does not.
        least_curvature = 1e-5 * (above + below)
        smallest_change = tolerance * np.maximum(at.diagonal, least_curvature)
        if (np.abs(at.gradient) <= smallest_change).all():
            break
        step = np.clip(_solved(at), -2.0, 2.0)
        theta = _shifted(theta + step, alpha, beta)
    return theta


def _checked_weights(weights: npt.ArrayLike | None, runs: int) -> Floats:
    if weights is None:
        return np.ones(runs)
    numbers = np.asarray(weights, dtype=np.float64)
    valid = np.isfinite(numbers) & (numbers >= 0)
    if numbers.shape != (runs,) or not valid.all():
        raise UsageError(f"weights: one number ≥ 0 per run is needed ({runs} runs)")
    return numbers


def _shifted(theta: Floats, alpha: float, beta: float, iterations: int = 6) -> Floats:
    """θ moved as a whole to where the prior wants it: preferences see only differences."""
    for _ in range(iterations):
        p = _chance(theta)
        gradient = (alpha - (alpha + beta) * p).sum()
        curvature = (alpha + beta) * float((p * (1 - p)).sum())
        newton_step = gradient / max(curvature, np.finfo(float).tiny)
        theta = theta + np.clip(newton_step, -2.0, 2.0)
    return theta


def _curvature(ranked: Codes, theta: Floats, w: Floats, alpha: float, beta: float) -> Curvature:
    inside = ranked >= 0
    expected = np.empty(ranked.shape)
    bent = np.empty(ranked.shape)
    exact = bool(np.abs(theta).max(initial=0.0) > FAR or w.max(initial=0.0) > HEAVY)
    if exact:
        listed = np.where(inside, theta[ranked], theta.min() - 1000.0)
    else:  # Seven digits of a probability are enough: θ is wanted to five.
        strength = np.append(np.exp(theta), NOTHING)  # doc −1, the padding, is the last place
        listed = strength[ranked].astype(np.float32)
    pairs = np.empty((*ranked.shape, ranked.shape[1]), dtype=listed.dtype)
    for part in chunks(len(ranked), RUNS_AT_ONCE):
        upper = listed[part][:, :, None]
        lower = listed[part][:, None, :]
        won = pairs[part]
        if exact:
            won[...] = _chance(upper - lower)
        else:
            np.add(upper, lower, out=won)
            np.divide(upper, won, out=won)
        expected[part] = won.sum(axis=2, dtype=np.float64)
        won -= won * won
        bent[part] = won.sum(axis=2)
    size = inside.sum(axis=1)[:, None]
    place = np.arange(ranked.shape[1])[None, :]
    # A doc beats itself half a time and all of the padding; neither is a preference.
    padding = ranked.shape[1] - size
    expected_wins = expected - 0.5 - padding
    wins = size - 1 - place
    surplus = w[:, None] * (wins - expected_wins)
    p = _chance(theta)
    gradient = _sums_by_doc(ranked, surplus, len(theta)) + alpha - (alpha + beta) * p
    diagonal = _sums_by_doc(ranked, w[:, None] * bent, len(theta)) + (alpha + beta) * p * (1 - p)
    return Curvature(ranked, w, gradient, pairs, diagonal)


def _chance(theta: Floats) -> Floats:
    """1 / (1 + e^−θ)."""
    from scipy.special import expit

    return np.asarray(expit(theta))


def _sums_by_doc(ranked: Codes, values: Floats, docs: int) -> Floats:
    """Sums per doc of values along the lists."""
    # Doc −1, the padding, goes to the first place, which is then left off.
    total = np.bincount(ranked.ravel() + 1, weights=values.ravel(), minlength=docs + 1)
    return np.asarray(total[1:], dtype=np.float64)


def _solved(at: Curvature, iterations: int = 20, accuracy: float = 1e-2) -> Floats:
    """The Newton step, by conjugate gradients preconditioned with the diagonal."""
    x = np.zeros_like(at.gradient)
    r = at.gradient.copy()
    z = r / at.diagonal
    d = z.copy()
    rz = float(r @ z)
    enough = accuracy**2 * rz
    for _ in range(iterations):
        if rz <= enough or rz == 0:
            break
        hd = at.times(d)
        step = rz / float(d @ hd)
        x = x + step * d
        r = r - step * hd
        z = r / at.diagonal
        before = rz
        rz = float(r @ z)
        d = z + (rz / before) * d
    return x


class Reweighting(Scored):
    """See `reweighting`. The fit starts from the one before, so that a judgment costs `steps` Newton steps."""

    def __init__(self, lists: TopicLists, epsilon: float, depth: int, steps: int) -> None:
        super().__init__(lists)
        self.epsilon = epsilon
        self.steps = steps
        self.ranked = lists.ranked[:, :depth]
        self.ranks = np.where(lists.ranks <= depth, lists.ranks, 0)
        self.log_weights = np.zeros(len(lists.runs))
        self.relevant = np.zeros(len(lists.docs), dtype=bool)
        self.theta = strengths(self.ranked, docs=len(lists.docs))
        self._fitted = (self.log_weights.copy(), 0)

    def share(self, other: Reweighting) -> None:
        """Weigh the runs together with the order of another topic, as the paper does over all topics."""
        self.log_weights = other.log_weights

    def scores(self) -> Floats:
        weights, judged = self._fitted
        if judged < int(self.known.sum()) or not np.array_equal(weights, self.log_weights):
            self._refit()
        return self.theta

    def probabilities(self) -> Floats:
        """p of each doc; 0 or 1 where it is judged."""
        p = 1 / (1 + np.exp(-self.scores()))
        return np.where(self.known, self.relevant, p)

    def _refit(self) -> None:
        judged = int(self.known.sum())
        relevant = int(self.relevant.sum())
        weights = np.exp(self.log_weights - self.log_weights.max(initial=-np.inf))
        weights /= max(weights.mean(), np.finfo(float).tiny)
        self.theta = strengths(
            self.ranked,
            docs=len(self.theta),
            weights=weights,
            alpha=1.0 + relevant,
            beta=1.0 + judged - relevant,
            start=self.theta,
            steps=self.steps,
        )
        self._fitted = (self.log_weights.copy(), judged)

    def learn(self, doc: int, relevant: bool) -> None:
        """Each preference between this doc and an earlier one of the other kind was right or wrong."""
        self.relevant[doc] = relevant
        others = self.known & (self.relevant != relevant)
        own = self.ranks[:, [doc]]
        theirs = self.ranks[:, others]
        both = (own > 0) & (theirs > 0)
        right = ((own < theirs) == relevant) & both
        wrong = both & ~right
        confirmed = right.sum(axis=1)
        refuted = wrong.sum(axis=1)
        change = confirmed * np.log1p(self.epsilon) + refuted * np.log1p(-self.epsilon)
        # In place: orders of other topics may share these weights.
        self.log_weights += change


@ORDERS.register("reweighting", paper="Carterette & Allan 2007")
def reweighting(
    lists: TopicLists,
    seed: int = 0,
    *,
    epsilon: Annotated[float, Within(0, 0.5)] = 0.1,
    depth: Annotated[int, Within(1)] = 100,
    steps: Annotated[int, Within(1)] = 1,
) -> Order:
    """The doc most likely relevant by the runs' preferences; each judgment reweights the runs by how they ranked.

    For every preference between a relevant and a nonrelevant doc that a run got right its weight grows by 1 + ε, for
    every one that it got wrong it falls by 1 − ε, over all topics together. The paper stops after ⌊ln(number of runs)⌋
    docs per topic, with the weights as they are (`reweighted_emap` in `nojudgments.reweight`); an order continues, so
    in the fit they are scaled to mean 1, and many judgments do not drown the prior. Preferences are those within the
    first `depth` docs of each run; `steps` Newton steps follow the weights after each judgment.
    """
    if epsilon == 0:
        raise UsageError("reweighting(epsilon=0): weights would never change; give an epsilon above 0")
    return Reweighting(lists, epsilon, depth, steps)
