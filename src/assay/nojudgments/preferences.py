"""Who ranks which doc above which: counts of pairwise preferences, and the Bradley-Terry strengths they imply.

Carterette & Allan 2007: a run that ranks i above j says i ≻ j; a doc it did not retrieve stands in no preference. The
solver sees only the counts of a topic, never the list of preferences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.engine import chunks
from assay.errors import UsageError
from assay.ids import Ints
from assay.nojudgments.lists import Floats, Lists

AT_ONCE = 4_000_000
"""Preferences listed at a time, some 200 MB."""


@dataclass(frozen=True, eq=False)
class Preferences:
    """Preference counts among the docs of one topic: only pairs that some run holds, first < second."""

    docs: int
    first: Ints
    second: Ints
    wins: Floats
    """Runs (or their weight) that rank `first` above `second`."""
    losses: Floats

    def matrix(self) -> Floats:
        """n[i, j]: runs that rank i above j.

        >>> Preferences(2, np.array([0]), np.array([1]), np.array([2.0]), np.array([1.0])).matrix().tolist()
        [[0.0, 2.0], [1.0, 0.0]]
        """
        n = np.zeros((self.docs, self.docs))
        n[self.first, self.second], n[self.second, self.first] = self.wins, self.losses
        return n


def ranked_block(lists: Lists, topic: int) -> Ints:
    """The docs of a topic by run (row) and rank (column), numbered from 0 within the topic; −1 where a list ends."""
    topics = len(lists.topics)
    starts, sizes = lists.bounds[:-1][topic::topics], lists.sizes[:, topic]
    place = np.arange(sizes.max(initial=0))
    inside = place < sizes[:, None]
    rows = np.where(inside, starts[:, None] + place, 0)
    return np.where(inside, lists.item[rows] - lists.item_bounds[topic], -1)


def preferences(lists: Lists, topic: int, *, weights: npt.ArrayLike | None = None) -> Preferences:
    """The preference counts of a topic; with `weights` (one per run) each run counts by its weight.

    Cost and memory grow with the square of the depth: cut the lists first (100 is usual). Of all preferences only
    AT_ONCE are listed at a time.

    >>> from assay.data import Run
    >>> from assay.nojudgments.lists import collected
    >>> lists = collected([Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "x", "z"]})])
    >>> preferences(lists, 0).matrix().tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    docs = int(lists.item_bounds[topic + 1] - lists.item_bounds[topic])
    block = ranked_block(lists, topic)
    weight = None if weights is None else _checked(weights, len(block))
    above, below = np.triu_indices(block.shape[1], 1)
    keys, sums = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for part in chunks(len(block), AT_ONCE // max(1, len(above))):
        i, j = block[part][:, above], block[part][:, below]
        held = j >= 0 if (block[part] < 0).any() else np.s_[...]
        said = None if weight is None else np.broadcast_to(weight[part][:, None], j.shape)[held].ravel()
        key = 2 * (np.minimum(i, j) * docs + np.maximum(i, j)) + (i < j)
        key, total = _summed(key[held].ravel(), said, 2 * docs * docs)
        keys.append(key)
        sums.append(total)
    if len(keys) != 2:
        key, total = _summed(np.concatenate(keys), np.concatenate(sums), 2 * docs * docs)
    return _paired(docs, key, total)


def _paired(docs: int, key: Ints, total: Floats) -> Preferences:
    """Preferences from sorted keys 2 · (first · docs + second) + (first is above) and their totals."""
    pair = key >> 1
    fresh = np.ones(len(pair), dtype=bool)
    fresh[1:] = pair[1:] != pair[:-1]
    place, size = np.cumsum(fresh) - 1, int(fresh.sum())
    wins, losses = (_weight(place, total * (key & 1 == way), size) for way in (1, 0))
    return Preferences(docs, *np.divmod(pair[fresh], max(1, docs)), wins, losses)


def _summed(keys: Ints, weights: Floats | None, below: int) -> tuple[Ints, Floats]:
    """The distinct keys, all less than `below`, and how often each occurs or the sum of its weights."""
    if below <= 8 * len(keys):  # a table of all keys is faster than sorting those that occur
        seen = np.bincount(keys, minlength=below).astype(np.float64)
        present = np.flatnonzero(seen)
        return present, (seen if weights is None else _weight(keys, weights, below))[present]
    if weights is None:
        distinct, counts = np.unique(keys, return_counts=True)
        return distinct, counts.astype(np.float64)
    distinct, place = np.unique(keys, return_inverse=True)
    return distinct, _weight(place, weights, len(distinct))


def _weight(place: Ints, weights: Floats, size: int) -> Floats:
    return np.bincount(place, weights, minlength=size).astype(np.float64)


def strengths(
    pairs: Preferences, *, alpha: npt.ArrayLike = 1.0, beta: npt.ArrayLike = 1.0, tolerance: float = 1e-6
) -> Floats:
    """θ of each doc that maximises the Bradley-Terry likelihood with a Beta prior (Carterette & Allan 2007, Eq. 5).

    L(θ) = Π P(i ≻ j)^n_ij · Π ξ_i^α (1 − ξ_i)^β with P(i ≻ j) = 1/(1 + e^(θ_j − θ_i)) and ξ = 1/(1 + e^−θ): the prior
    is a dummy doc that loses α times to each doc and beats it β times, so θ is finite even for a doc first in every
    run. Newton's method, each step by conjugate gradients on the counts, until the largest component of the gradient,
    relative to the comparisons of its doc, is below the tolerance.

    >>> pairs = Preferences(2, np.array([0]), np.array([1]), np.array([3.0]), np.array([0.0]))
    >>> strengths(pairs).round(3).tolist()
    [0.903, -0.903]
    """
    from scipy.special import expit

    games = pairs.wins + pairs.losses
    a, b = (np.broadcast_to(np.asarray(x, dtype=np.float64), pairs.docs) for x in (alpha, beta))
    if not ((a > 0).all() and (b > 0).all()):
        raise UsageError("alpha and beta must be positive; without a prior θ need not be finite")
    won = _sums(pairs, pairs.wins, pairs.losses) + a
    played = _sums(pairs, games, games) + a + b
    laplacian = _laplacian(pairs)
    theta = np.log(won / (played - won))
    for _ in range(200):
        p, prior = expit(theta[pairs.first] - theta[pairs.second]), expit(theta)
        gradient = won - _sums(pairs, games * p, games * (1 - p)) - (a + b) * prior
        if np.abs(gradient / played).max(initial=0.0) <= tolerance:
            break
        product, diagonal = laplacian(games * p * (1 - p), (a + b) * prior * (1 - prior))
        step = _conjugate_gradient(product, gradient, diagonal)
        # Within one unit of θ the likelihood is nearly quadratic; longer steps are shortened.
        theta = theta + step / max(1.0, float(np.abs(step).max()) / 2)
    return np.asarray(theta)


def _checked(weights: npt.ArrayLike, runs: int) -> Floats:
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (runs,) or not (np.isfinite(w) & (w >= 0)).all():
        raise UsageError(f"weights: one number ≥ 0 per run is needed ({runs} runs)")
    return w


def _sums(pairs: Preferences, of_first: Floats, of_second: Floats) -> Floats:
    """Values of the pairs, summed over the pairs of each doc."""
    total = np.bincount(pairs.first, of_first, minlength=pairs.docs).astype(np.float64)
    return np.asarray(total + np.bincount(pairs.second, of_second, minlength=pairs.docs))


Product = Callable[[Floats], Floats]


def _laplacian(pairs: Preferences) -> Callable[[Floats, Floats], tuple[Product, Floats]]:
    """Given weights of the pairs and of the docs: the product with Laplacian + diagonal, and its diagonal."""
    from scipy import sparse

    size = len(pairs.first)
    rows, columns = np.concatenate([pairs.first, pairs.second]), np.concatenate([pairs.second, pairs.first])
    # The pattern is the same in every step: build it once with the number of the pair as value, then fill in weights.
    graph = sparse.csr_matrix((np.tile(np.arange(size), 2), (rows, columns)), shape=(pairs.docs, pairs.docs))
    pair = graph.data.copy()

    def at(weights: Floats, docs: Floats) -> tuple[Product, Floats]:
        between = sparse.csr_matrix((weights[pair], graph.indices, graph.indptr), shape=graph.shape)
        diagonal = between @ np.ones(pairs.docs) + docs
        return lambda x: diagonal * x - between @ x, diagonal

    return at


def _conjugate_gradient(product: Product, target: Floats, diagonal: Floats, *, accuracy: float = 0.03) -> Floats:
    """x with product(x) ≈ target, preconditioned by the diagonal."""
    x, residual = np.zeros_like(target), target
    z = residual / diagonal
    direction, size = z, float(residual @ z)
    goal = accuracy**2 * size
    for _ in range(len(target)):
        image = product(direction)
        step = size / float(direction @ image)
        x, residual = x + step * direction, residual - step * image
        z = residual / diagonal
        before, size = size, float(residual @ z)
        if size <= goal:
            break
        direction = z + (size / before) * direction
    return x
