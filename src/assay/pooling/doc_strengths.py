"""How likely is each doc relevant, judging by which docs the runs rank above others? Preferences of weighted runs.

Where it stands: lists of one topic, or of many → **strengths of docs** → probabilities, the order `reweighting`, EMAP.
Preferences are never listed: a run's list is all that the fit needs, for those with docs that it lacks too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Codes, Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import UsageError
from assay.pooling.difference_sums import DifferenceSums
from assay.rankings.stated_preferences import RETRIEVED, over_missing

LISTS_AT_ONCE = 8
NOTHING = 1e-35
"""Strength of the padding past the end of a list: it loses to every doc and adds nothing to the curvature."""
FAR, HEAVY = 30.0, 1000.0
"""Greatest |θ| and weight of a run at which 32 bits are enough: beyond, e^θ or the digits that count would be lost."""
FARTHEST = 300.0
"""Greatest |θ| at all: e^θ must be a number. With weights up to 1e9 no θ comes near it."""
ONE_THREAD = 2**18
"""Products of matrices that take no more multiplications are done by one thread: more only wait for each other."""
SOLVED = 1e-2
"""How far off a Newton step may be, as a share of its length; the next step makes up for it."""


def strengths(
    ranked: Codes,
    *,
    docs: int,
    preferences: str = RETRIEVED,
    weights: npt.ArrayLike | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    start: Floats | None = None,
    steps: int = 50,
    tolerance: float = 1e-5,
) -> Floats:
    """θ of each doc: the Bradley–Terry fit to the preferences of the lists, with a Beta prior on p = 1 / (1 + e^−θ).

    Maximises Σ_runs w Σ_{i ≻ j} ln P(i ≻ j) + Σ_i (α ln p_i + β ln(1 − p_i)), P(i ≻ j) = 1 / (1 + e^(θ_j − θ_i)), by
    Newton steps solved with conjugate gradients (Carterette & Allan 2007, Eq. 5). The pool is all `docs`; what a run
    prefers is said by `preferences` (see `rankings.stated_preferences`). The prior is a dummy doc that loses α times
    to each doc and beats it β times, so that θ is finite even for a doc that every run has first. Cost of a step: one
    division per pair within each list; memory 4 bytes for each.

    >>> theta = strengths(np.array([[0, 1], [0, 1]], dtype=np.int32), docs=2)
    >>> bool(theta[0] > 0 > theta[1]), bool(abs(theta.sum()) < 1e-9)
    (True, True)
    """
    w = checked_weights(weights, len(ranked))
    if not docs:
        return np.zeros(0)
    stated = Stated.of(ranked[None], w, np.array([docs]), [alpha], [beta], preferences)
    return fitted(stated, start=start, steps=steps, tolerance=tolerance)


def checked_weights(weights: npt.ArrayLike | None, runs: int) -> Floats:
    """One weight per run, 1 where none are given."""
    if weights is None:
        return np.ones(runs)
    numbers = np.asarray(weights, dtype=np.float64)
    valid = np.isfinite(numbers) & (numbers >= 0)
    if numbers.shape != (runs,) or not valid.all():
        raise UsageError(f"weights: one number ≥ 0 per run is needed ({runs} runs)")
    return numbers


@dataclass(frozen=True, eq=False)
class Stated:
    """The preferences of weighted runs on one or more topics, in the form that the fit needs."""

    ranked: Codes
    """lists × depth, −1 past the end; the docs of all topics are numbered through."""
    weights: Floats
    """Of each list."""
    starts: Ints
    """Where the docs of each topic begin."""
    topic: Ints
    """Of each doc."""
    alpha: Floats
    beta: Floats
    """The prior of each doc."""
    wide: bool
    """Whether a retrieved doc is preferred to the docs of its topic that the list lacks."""

    @staticmethod
    def of(
        ranked: Codes, weights: Floats, docs: Ints, alpha: npt.ArrayLike, beta: npt.ArrayLike, preferences: str
    ) -> Stated:
        """From lists (topics × runs × depth, docs numbered through) and, for each topic, its docs and its prior."""
        topic = np.repeat(np.arange(len(docs)), docs)
        alpha_of_doc = np.asarray(alpha, dtype=np.float64)[topic]
        beta_of_doc = np.asarray(beta, dtype=np.float64)[topic]
        if not (alpha_of_doc.min() > 0 and beta_of_doc.min() > 0):
            raise UsageError("alpha and beta must be positive; without a prior θ need not be finite")
        topics, _, depth = ranked.shape
        return Stated(
            ranked=ranked.reshape(-1, depth),
            weights=np.tile(weights, topics),
            starts=np.cumsum(docs) - docs,
            topic=topic,
            alpha=alpha_of_doc,
            beta=beta_of_doc,
            wide=over_missing(preferences),
        )

    @cached_property
    def sizes(self) -> Ints:
        """Length of each list."""
        return (self.ranked >= 0).sum(axis=1)

    @cached_property
    def slots(self) -> Ints:
        """Where each place of the lists is added up: doc i at i + 1, and the padding, doc −1, at the first slot."""
        return self.ranked.ravel().astype(np.int64) + 1

    @cached_property
    def held(self) -> Floats:
        """How much weight the runs have that retrieved each doc."""
        return self.by_doc(self.of_places(np.ones(self.ranked.shape)))

    @property
    def has_few_docs(self) -> bool:
        """Whether all pairs of docs of the only topic are fewer than the pairs within all lists."""
        docs = len(self.topic)
        return len(self.starts) == 1 and docs**2 <= self.ranked.size * self.ranked.shape[1]

    @cached_property
    def opinions(self) -> Floats:
        """docs × docs of the only topic: the weight of the runs that prefer one of the two, whichever it is."""
        retrieved = np.zeros((len(self.ranked), len(self.topic) + 1))  # the padding, doc −1, is the last column
        np.put_along_axis(retrieved, self.ranked.astype(np.int64), 1.0, axis=1)
        has = retrieved[:, :-1]
        weighted = has * self.weights[:, None]
        have_both = np.zeros((len(self.topic), len(self.topic)))
        lists_at_once = max(1, ONE_THREAD // len(self.topic) ** 2)
        for part in chunks(len(has), lists_at_once):
            have_both += weighted[part].T @ has[part]
        if self.wide:
            opinions = self.held[:, None] + self.held - have_both
        else:
            opinions = have_both
        np.fill_diagonal(opinions, 0.0)
        return np.asarray(opinions)

    @cached_property
    def wins(self) -> Floats:
        """How often each doc is preferred to another, by weight."""
        place = np.arange(self.ranked.shape[1])
        if self.wide:  # over all docs of the topic
            docs = self.of_topics(np.ones(len(self.topic)))
            lists_of_topic = len(self.ranked) // len(self.starts)
            compared = np.repeat(docs, lists_of_topic)
        else:
            compared = self.sizes.astype(np.float64)
        below = compared[:, None] - 1.0 - place
        return self.by_doc(self.of_places(below))

    @cached_property
    def losses(self) -> Floats:
        """How often another doc is preferred to each doc, by weight."""
        place = np.arange(self.ranked.shape[1], dtype=np.float64)[None, :]
        if not self.wide:
            return self.by_doc(self.of_places(place + np.zeros((len(self.ranked), 1))))
        # Every list beats a doc with all of its docs, if it lacks the doc; else with those above.
        weight_of_docs = self.weights * self.sizes
        of_topic = weight_of_docs.reshape(len(self.starts), -1).sum(axis=1)
        not_above = place - self.sizes[:, None]
        return of_topic[self.topic] + self.by_doc(self.of_places(not_above))

    def of_places(self, values: Floats) -> Floats:
        """Values along the lists, each times the weight of its list."""
        return self.weights[:, None] * values

    def by_doc(self, values: Floats) -> Floats:
        """Sums per doc of values along the lists."""
        total = np.bincount(self.slots, weights=values.ravel(), minlength=len(self.topic) + 1)
        return np.asarray(total[1:], dtype=np.float64)

    def of_topics(self, values: Floats) -> Floats:
        """Sums per topic of one value per doc."""
        return np.asarray(np.add.reduceat(values, self.starts))


def fitted(stated: Stated, *, start: Floats | None = None, steps: int = 50, tolerance: float = 1e-5) -> Floats:
    """θ of each doc, every topic by itself; see `strengths`."""
    # How often a doc is above and below others, the prior's dummy included: where to begin, and when to end.
    above = stated.wins + stated.alpha
    below = stated.losses + stated.beta
    if start is None:
        start = np.log(above / below)
    theta = _shifted(stated, start)
    for _ in range(steps):
        at = _curvature(stated, theta)
        # No θ moves by the tolerance; that of a doc whose relevance is almost certain may, its chance does not.
        least_curvature = 1e-5 * (above + below)
        smallest_change = tolerance * np.maximum(at.diagonal, least_curvature)
        if (np.abs(at.gradient) <= smallest_change).all():
            break
        step = np.clip(_solved(at), -2.0, 2.0)
        theta = np.clip(_shifted(stated, theta + step), -FARTHEST, FARTHEST)
        # A step is off by its share `SOLVED` at most: after a short one there is nothing left to look at.
        if np.abs(step).max() <= tolerance / SOLVED:
            break
    return theta


def _shifted(stated: Stated, theta: Floats, iterations: int = 6) -> Floats:
    """θ of each topic moved as a whole to where the prior wants it: preferences see only differences."""
    prior = stated.alpha + stated.beta
    for _ in range(iterations):
        p = _chance(theta)
        gradient = stated.of_topics(stated.alpha - prior * p)
        curvature = stated.of_topics(prior * p * (1 - p))
        newton_step = gradient / np.maximum(curvature, np.finfo(float).tiny)
        shift = np.clip(newton_step, -2.0, 2.0)
        theta = theta + shift[stated.topic]
        if np.abs(shift).max() < 1e-12:
            break
    return theta


@dataclass(frozen=True, eq=False)
class Curvature:
    """Gradient and curvature of the log-likelihood at one place, for one topic of few docs: docs × docs."""

    stated: Stated
    gradient: Floats
    diagonal: Floats
    pairs: npt.NDArray[np.floating]
    """P(i > j) · P(j > i), by the weight of the runs that prefer either."""

    def times(self, v: Floats) -> Floats:
        """Minus the Hessian, times a vector."""
        # Not by the library of linear algebra: its threads take longer to meet than such a product takes.
        off_diagonal = np.einsum("ij,j->i", self.pairs, v)
        return np.asarray(self.diagonal * v - off_diagonal)


@dataclass(frozen=True, eq=False)
class ListCurvature(Curvature):
    """The same for any docs, kept in list form: lists × depth × depth."""

    pairs: npt.NDArray[np.floating]
    """P(i > j) · P(j > i) of the docs of each list."""
    everywhere: DifferenceSums | None
    """The same over all docs of the topics; None where only docs of one list are compared."""
    bell: Floats | None

    def times(self, v: Floats) -> Floats:
        """Minus the Hessian, times a vector."""
        stated = self.stated
        padded = np.append(v, 0.0).astype(self.pairs.dtype)  # doc −1, the padding, is the last place
        listed = padded[stated.ranked]
        mixed = np.matmul(self.pairs, listed[:, :, None])
        off_diagonal = stated.by_doc(stated.of_places(mixed[:, :, 0]))
        if self.everywhere is not None and self.bell is not None:
            off_diagonal = _both_ways(self.everywhere, self.bell, stated.held, v) - off_diagonal
        return np.asarray(self.diagonal * v - off_diagonal)


def _both_ways(sums: DifferenceSums, function: Floats, held: Floats, values: Floats) -> Floats:
    """Σ_j (held_i + held_j) values_j f(θ_i − θ_j): of every two docs, by the runs that hold either.

    Runs that hold both are counted twice so; what they say within their lists is taken away again.
    """
    columns = np.column_stack([values, held * values])
    plain, by_holders = sums.of(function, columns).T
    return np.asarray(held * plain + by_holders)


def _curvature(stated: Stated, theta: Floats) -> Curvature:
    if stated.has_few_docs:
        return _between_docs(stated, theta)
    pairs, won, bent = _within_lists(stated, theta)
    # A doc beats itself half a time; it is left in on both sides, and is no preference.
    expected = stated.by_doc(stated.of_places(won))
    diagonal = stated.by_doc(stated.of_places(bent))
    everywhere = None
    bell = None
    if stated.wide:
        everywhere = DifferenceSums(theta, starts=stated.starts, topic=stated.topic)
        chance = _chance(everywhere.between)
        bell = chance * (1 - chance)
        one = np.ones_like(theta)
        expected = _both_ways(everywhere, chance, stated.held, one) - expected
        diagonal = _both_ways(everywhere, bell, stated.held, one) - diagonal
    gradient, curved = _with_prior(stated, theta, expected - 0.5 * stated.held, diagonal)
    return ListCurvature(stated, gradient, curved, pairs, everywhere, bell)


def _between_docs(stated: Stated, theta: Floats) -> Curvature:
    """The same for one topic of few docs: every pair of them once, with the weight of the runs that compare them."""
    strength = np.exp(theta)
    chance = strength[:, None] / (strength[:, None] + strength)
    weighted = stated.opinions * chance
    pairs = weighted * chance.T
    gradient, diagonal = _with_prior(stated, theta, weighted.sum(axis=1), pairs.sum(axis=1))
    return Curvature(stated, gradient, diagonal, pairs)


def _with_prior(stated: Stated, theta: Floats, expected_wins: Floats, curvature: Floats) -> tuple[Floats, Floats]:
    """Gradient and diagonal of the curvature, the prior included."""
    p = _chance(theta)
    prior = stated.alpha + stated.beta
    surplus = stated.wins - expected_wins
    gradient = surplus + stated.alpha - prior * p
    return gradient, curvature + prior * p * (1 - p)


def _within_lists(stated: Stated, theta: Floats) -> tuple[npt.NDArray[np.floating], Floats, Floats]:
    """P(i > j) · P(j > i) of every two docs of each list; and for each place Σ_j P(i > j) and the sum of the former."""
    ranked = stated.ranked
    won = np.empty(ranked.shape)
    bent = np.empty(ranked.shape)
    is_extreme = bool(np.abs(theta).max(initial=0.0) > FAR or stated.weights.max(initial=0.0) > HEAVY)
    # Seven digits of a probability are usually enough: θ is wanted to five.
    digits = np.float64 if is_extreme else np.float32
    strength = np.append(np.exp(theta), NOTHING)  # doc −1, the padding, is the last place
    listed = strength[ranked].astype(digits)
    depth = ranked.shape[1]
    pairs = np.empty((*ranked.shape, depth), dtype=listed.dtype)
    ones = np.ones(depth, dtype=listed.dtype)  # a product with ones is the fastest sum
    for part in chunks(len(ranked), LISTS_AT_ONCE):
        upper = listed[part][:, :, None]
        lower = listed[part][:, None, :]
        chance = pairs[part]
        np.add(upper, lower, out=chance)
        np.divide(upper, chance, out=chance)
        won[part] = chance @ ones
        chance -= chance * chance
        bent[part] = chance @ ones
    # All of the padding is beaten, which is no preference.
    padding = depth - stated.sizes
    return pairs, won - padding[:, None], bent


def _chance(theta: Floats) -> Floats:
    """1 / (1 + e^−θ)."""
    from scipy.special import expit

    return np.asarray(expit(theta))


def _solved(at: Curvature, iterations: int = 20) -> Floats:
    """The Newton step, by conjugate gradients preconditioned with the diagonal, every topic by itself."""
    stated = at.stated
    x = np.zeros_like(at.gradient)
    r = at.gradient.copy()
    z = r / at.diagonal
    d = z.copy()
    rz = stated.of_topics(r * z)
    enough = SOLVED**2 * rz
    for _ in range(iterations):
        going = (rz > enough) & (rz > 0)
        if not going.any():
            break
        hd = at.times(d)
        curved = stated.of_topics(d * hd)
        # A topic that is solved stays where it is.
        length = np.divide(rz, curved, out=np.zeros_like(rz), where=going)
        step = length[stated.topic]
        x = x + step * d
        r = r - step * hd
        z = r / at.diagonal
        before = rz
        rz = np.where(going, stated.of_topics(r * z), before)
        turn = np.divide(rz, before, out=np.zeros_like(rz), where=going)
        d = z + turn[stated.topic] * d
    return x
