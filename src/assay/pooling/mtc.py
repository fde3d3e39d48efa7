"""What to judge next to decide which run is better? Minimal test collections: the doc that can change most.

Where it stands: an order as in `orders`, which also says how sure the differences are. Relevance of each doc is an
independent coin; a score is a quadratic form of the coins, so that its mean and variance are exact sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import UsageError
from assay.core.registry import Within
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.lists import TopicLists
from assay.pooling.orders import ORDERS, Order, Scored

LINEAR = {"dcg": lambda r: 1 / np.log2(r + 1), "rbp": lambda r: 0.2 * 0.8 ** (r - 1)}
"""Measures that are a sum of weights of ranks: the weight of rank r."""
CELLS_AT_ONCE = 4_000_000
BLOCK = 32
"""Docs whose effect on the undecided pairs is computed at a time."""


class MinimalTest(Scored):
    """See `mtc`. With x the relevance and p its probability, Q = Σ a_ii x_i + Σ_{i<j} a_ij x_i x_j and AP = Q / Σx."""

    def __init__(self, lists: TopicLists, prior: float, measure: str) -> None:
        super().__init__(lists)
        self.measure = measure
        self.p = np.full(len(lists.docs), prior)
        self.undecided: Bools | None = None
        self._covariance: Floats | None = None

    def effects(self) -> Floats:
        """g, runs × docs: by how much a run's Q changes between a doc not relevant and relevant, the others unknown."""
        run, place, doc = self.lists.cells
        by_rank = self._effects_by_rank()
        effects = np.zeros((len(self.lists.runs), len(self.lists.docs)))
        effects[run, doc] = by_rank[run, place]
        return effects

    def _effects_by_rank(self) -> Floats:
        """g along the lists, runs × depth."""
        ranks = self._ranks()
        if self.measure in LINEAR:
            weights = LINEAR[self.measure](ranks)
            return np.broadcast_to(weights, self.lists.ranked.shape)
        p = self._listed()
        share = p / ranks
        relevant_above = np.cumsum(p, axis=1) - p
        from_here_down = share[:, ::-1].cumsum(axis=1)[:, ::-1]
        share_below = from_here_down - share
        return np.asarray((1 + relevant_above) / ranks + share_below)

    def _ranks(self) -> Floats:
        return np.arange(1.0, self.lists.ranked.shape[1] + 1)

    def _listed(self) -> Floats:
        """p along the lists, runs × depth."""
        p = np.append(self.p, 0.0)  # doc −1, past the end of a list, is the last place
        return p[self.lists.ranked]

    def _larger_chance(self) -> Floats:
        """max(p, 1 − p) of each doc."""
        return np.maximum(self.p, 1 - self.p)

    def scores(self) -> Floats:
        effects = self.effects()
        largest_difference = effects.max(axis=0) - effects.min(axis=0)
        return np.round(largest_difference * self._larger_chance(), 12)

    def next(self, n: int = 1) -> Ints:
        if self.undecided is None or not self.undecided.any():
            return super().next(n)
        return self._among(self.undecided, n)

    def _among(self, undecided: Bools, n: int) -> Ints:
        """The best docs by the largest effect on a pair not yet decided.

        The range over all runs bounds that effect, so docs are looked at by falling bound until no other can win.
        """
        bound = np.where(self.known, -np.inf, self.scores())
        unjudged = int((~self.known).sum())
        by_bound = np.argsort(-bound, kind="stable")[:unjudged]
        effects = self.effects()
        larger_chance = self._larger_chance()
        first, second = np.nonzero(np.triu(undecided, 1))
        exact = np.full(len(bound), -np.inf)
        for part in chunks(len(by_bound), max(n, BLOCK)):
            docs = by_bound[part]
            of_docs = effects[:, docs]
            differences = np.abs(of_docs[first] - of_docs[second])
            largest_difference = differences.max(axis=0)
            exact[docs] = np.round(largest_difference * larger_chance[docs], 12)
            best = np.argsort(-exact, kind="stable")[:n]
            all_seen = part.stop == len(by_bound)
            if all_seen or exact[best[-1]] > bound[by_bound[part.stop]]:
                return best[exact[best] > -np.inf]
        return by_bound[:0]

    def learn(self, doc: int, relevant: bool) -> None:
        self.p = self.p.copy()
        self.p[doc] = float(relevant)
        self._covariance = None

    def expectation(self) -> Floats:
        """E[score] of each run, with E[Q / Σx] taken as E[Q] / Σp."""
        return self._expected_form() / self._relevant()

    def _expected_form(self) -> Floats:
        """E[Q] of each run."""
        ranks = self._ranks()
        p = self._listed()
        if self.measure in LINEAR:
            weights = LINEAR[self.measure](ranks)
            return np.asarray(p @ weights)
        # A doc counts if it is relevant, and then itself and the relevant docs above it.
        precisions = p * (1 + np.cumsum(p, axis=1) - p) / ranks
        return np.asarray(precisions.sum(axis=1))

    def _relevant(self) -> float:
        """Σp, by which AP divides; 1 for linear measures and where no doc can be relevant."""
        total = float(self.p.sum())
        if self.measure in LINEAR or total == 0:
            return 1.0
        return total

    def covariance(self) -> Floats:
        """Cov of the runs' scores: (Σ g g' v + Σ_{i<j} a_ij a'_ij v_i v_j) / (Σp)², v = p(1 − p); exact for Q.

        Writing x = p + y, Q is a constant plus Σ g_i y_i plus Σ_{i<j} a_ij y_i y_j, whose terms are uncorrelated.
        """
        if self._covariance is None:
            v = self.p * (1 - self.p)
            effects = self.effects()
            total = (effects * v) @ effects.T
            if self.measure not in LINEAR:
                total = total + self._pairs_of_docs(v)
            self._covariance = total / self._relevant() ** 2
        return self._covariance

    def _pairs_of_docs(self, v: Floats) -> Floats:
        """Σ_{i<j} a_ij a'_ij v_i v_j for all pairs of runs; one run against the others at a time.

        a_ij is 1 / (the lower rank of docs i and j) in a run that has both, else 0.
        """
        runs = len(self.lists.runs)
        upper = np.zeros((runs, runs))
        for run, row in enumerate(self.lists.ranked):
            docs = row[row >= 0]
            docs = docs[v[docs] > 0]
            variance = v[docs]
            ranks = self.lists.ranks[run:, docs]
            i, j = np.triu_indices(len(docs), 1)
            own = variance[i] * variance[j] / np.maximum(ranks[0, i], ranks[0, j])
            runs_at_once = max(1, CELLS_AT_ONCE // max(1, len(i)))
            for part in chunks(runs - run, runs_at_once):
                rank_i = ranks[part][:, i]
                rank_j = ranks[part][:, j]
                has_both = (rank_i > 0) & (rank_j > 0)
                lower_rank = np.maximum(rank_i, rank_j)
                weight = np.where(has_both, 1.0 / np.maximum(1, lower_rank), 0.0)
                upper[run, run:][part] = weight @ own
        return np.asarray(upper + np.triu(upper, 1).T)


@ORDERS.register("mtc", paper="Carterette, Allan & Sitaraman 2006")
def mtc(
    lists: TopicLists, seed: int = 0, *, prior: Annotated[float, Within(0, 1, open=True)] = 0.5, measure: str = "ap"
) -> Order:
    """The doc with the greatest effect on the difference of any two runs: max over pairs of |Δ g|·max(p, 1 − p).

    p is the prior for an unjudged doc. For AP the effect of a doc counts the docs that the runs rank with it; for the
    linear measures (`dcg`, `rbp`) it is the doc's weight. `confidence` says which pairs are decided. With one run
    there is no pair: all docs tie and come by their ids.
    """
    if measure != "ap" and measure not in LINEAR:
        raise UsageError(f"mtc(measure={measure}): known: ap, {', '.join(LINEAR)}")
    return MinimalTest(lists, prior, measure)


@dataclass(frozen=True)
class Confidence(Result):
    """How sure it is that one run's mean score is above another's: `above[a, b]` = P(run a > run b)."""

    unit = "doc"

    runs: tuple[str, ...]
    means: Floats
    above: Floats

    def undecided(self, level: float = 0.95) -> Bools:
        """Pairs for which neither order has that probability."""
        decided = self._surer_order() >= level
        np.fill_diagonal(decided, True)
        return np.asarray(~decided)

    def reached(self, level: float = 0.95, *, strict: bool = True) -> bool:
        """Whether every pair (strict) or the mean over the pairs has that probability. One run alone: yes."""
        every_pair = np.triu_indices(len(self.runs), 1)
        pairs = self._surer_order()[every_pair]
        if not len(pairs):
            return True
        probability = pairs.min() if strict else pairs.mean()
        return bool(probability >= level)

    def _surer_order(self) -> Floats:
        """The probability of the likelier order of each pair."""
        return np.maximum(self.above, self.above.T)

    def table(self, level: float = 0.95) -> Table:
        """Runs by expected mean score, with the pairs that are not yet decided."""
        undecided = self.undecided(level).sum(axis=1)
        best_first = np.argsort(-self.means, kind="stable")
        rows = [(self.runs[i], self.means[i], undecided[i]) for i in best_first]
        pairs = int(undecided.sum()) // 2
        return Table.of(
            {"run": "", "expected": ".4f", "undecided": "d"},
            rows,
            caption="Expected scores",
            notes=[f"a pair is decided at probability {level}; {pairs} pairs are not"],
        )


def confidence(orders: Sequence[Order]) -> Confidence:
    """P(mean score of a > that of b) for all pairs, from the MTC orders of all topics.

    Φ(E / √Var) with E and Var of the mean difference over the topics; without variance 1, 0, or ½ where E is 0.
    """
    from scipy.special import ndtr

    tests = [order for order in orders if isinstance(order, MinimalTest)]
    if not tests or len(tests) < len(orders):
        raise UsageError("only the order 'mtc' knows how sure it is; judge by mtc to stop at a confidence")
    means = np.mean([test.expectation() for test in tests], axis=0)
    topic_covariances = [test.covariance() for test in tests]
    covariance = np.sum(topic_covariances, axis=0) / len(tests) ** 2
    own = np.diag(covariance)
    # Rounding may leave a variance of almost nothing below zero.
    variance = np.maximum(own[:, None] + own - 2 * covariance, 0.0)
    difference = means[:, None] - means
    difference[np.abs(difference) < 1e-12] = 0.0
    varies = variance > 1e-15
    z = difference / np.sqrt(np.where(varies, variance, 1.0))
    certain = (np.sign(difference) + 1) / 2
    above = np.where(varies, ndtr(z), certain)
    return Confidence(tests[0].lists.runs, means, above)
