"""Which runs should be believed? Weights of runs that follow the judgments, and the judging order `reweighting`.

Multiplicative weights (Carterette & Allan 2007, §6): each pair of a relevant and a nonrelevant judged doc confirms the
preferences of some runs and contradicts those of others. `nojudgments.reweight` weighs runs by the same functions.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.core.registry import Within
from assay.data.lists import TopicLists
from assay.pooling.doc_strengths import strengths
from assay.pooling.orders import ORDERS, Order, Scored
from assay.rankings.stated_preferences import RETRIEVED, over_missing, preferred

HEAVIEST = 1e9
"""The largest weight in a fit is at most this and at least its inverse: hundreds of judgments would overflow."""


def check_epsilon(epsilon: float) -> None:
    """Refuses a step that changes nothing, or for which Theorem 2 does not hold."""
    if not 0 < epsilon <= 0.5:
        raise UsageError(f"epsilon: must lie in (0, 1/2], not {epsilon}")


def log_change(opinions: Ints, epsilon: float) -> Floats:
    """What pairs of a relevant and a nonrelevant doc add to the log weights of the runs: pairs × runs → runs.

    opinions: 1 where the run prefers the relevant doc (its weight grows by 1 + ε), −1 where it prefers the other (by
    1 − ε), 0 where it has no preference.

    >>> np.exp(log_change(np.array([[1, -1, 0], [1, 1, 0]]), 0.1)).round(4).tolist()
    [1.21, 0.99, 1.0]
    """
    confirmed = (opinions > 0).sum(axis=0)
    contradicted = (opinions < 0).sum(axis=0)
    return confirmed * np.log1p(epsilon) + contradicted * np.log1p(-epsilon)


def fit_weights(log_weights: Floats) -> Floats:
    """The weights of the runs in the fit: as they are (Eq. 6), unless the largest would be beyond all bounds.

    Then all are scaled, so that the largest is 1e9 (or 1e−9 where every run was wrong again and again).

    >>> fit_weights(np.log([0.9, 1.1])).round(4).tolist(), fit_weights(np.array([5000.0, 0.0])).round(2).tolist()
    ([0.9, 1.1], [1000000000.0, 0.0])
    """
    largest = log_weights.max(initial=-np.inf)
    limit = np.log(HEAVIEST)
    excess = largest - np.clip(largest, -limit, limit)
    return np.asarray(np.exp(log_weights - excess))


class Reweighting(Scored):
    """See `reweighting`. The fit starts from the one before, so that a judgment costs `steps` Newton steps."""

    def __init__(self, lists: TopicLists, epsilon: float, depth: int, steps: int, preferences: str) -> None:
        super().__init__(lists)
        self.epsilon = epsilon
        self.steps = steps
        self.preferences = preferences
        self.ranked = lists.ranked[:, :depth]
        self.ranks = np.where(lists.ranks <= depth, lists.ranks, 0)
        self.log_weights = np.zeros(len(lists.runs))
        self.relevant = np.zeros(len(lists.docs), dtype=bool)
        self.theta = strengths(self.ranked, docs=len(lists.docs), preferences=preferences)
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
        self.theta = strengths(
            self.ranked,
            docs=len(self.theta),
            preferences=self.preferences,
            weights=fit_weights(self.log_weights),
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
        for_own = preferred(own, theirs, self.preferences)
        opinions = for_own if relevant else -for_own
        # In place: orders of other topics may share these weights.
        self.log_weights += log_change(opinions.T, self.epsilon)


@ORDERS.register("reweighting", paper="Carterette & Allan 2007")
def reweighting(
    lists: TopicLists,
    seed: int = 0,
    *,
    epsilon: Annotated[float, Within(0, 0.5)] = 0.1,
    depth: Annotated[int, Within(1)] = 100,
    steps: Annotated[int, Within(1)] = 1,
    preferences: str = RETRIEVED,
) -> Order:
    """The doc most likely relevant by the runs' preferences; each judgment reweights the runs by how they ranked.

    For every preference between a relevant and a nonrelevant doc that a run got right its weight grows by 1 + ε, for
    every one that it got wrong it falls by 1 − ε, over all topics together. The paper stops after ⌊ln(number of runs)⌋
    docs per topic (`assay predict reweight`); an order continues. Preferences are those of the first `depth` docs of
    each run, over docs that it lacks too (preferences=retrieved) or only among its own (both); `steps` Newton steps
    follow the weights after each judgment.
    """
    if epsilon == 0:
        raise UsageError("reweighting(epsilon=0): weights would never change; give an epsilon above 0")
    over_missing(preferences)  # an unknown name is said before anything is computed
    return Reweighting(lists, epsilon, depth, steps, preferences)
