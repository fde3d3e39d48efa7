"""What to judge next to tell runs apart? Minimal test collections: the doc that can move a difference of scores most.

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
CELLS_AT_ONCE = 4_000_000
BLOCK = 32


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
        out = np.zeros((len(self.lists.runs), len(self.lists.docs)))
        run, place, doc = self.lists.cells
        out[run, doc] = self._by_rank()[run, place]
        return out

    def _by_rank(self) -> Floats:
        ranks = np.arange(1.0, self.lists.ranked.shape[1] + 1)
        if self.measure in LINEAR:
            return np.broadcast_to(LINEAR[self.measure](ranks), self.lists.ranked.shape)
        p = self._listed()
        share = p / ranks
        relevant_above = np.cumsum(p, axis=1) - p
        from_here_down = share[:, ::-1].cumsum(axis=1)[:, ::-1]
        share_below = from_here_down - share
        return np.asarray((1 + relevant_above) / ranks + share_below)

    def _listed(self) -> Floats:
        """p along the lists, runs × depth."""
        p = np.append(self.p, 0.0)
        return p[self.lists.ranked]

    def scores(self) -> Floats:
        effects = self.effects()
        largest_difference = effects.max(axis=0) - effects.min(axis=0)
        return np.round(largest_difference * np.maximum(self.p, 1 - self.p), 12)

    def next(self, n: int = 1) -> Ints:
        if self.undecided is None or not self.undecided.any():
            return super().next(n)
        return self._among(self.undecided, n)

    def _among(self, undecided: Bools, n: int) -> Ints:
        """The best docs by the largest effect on a pair not yet decided.

        The range over all runs bounds that effect, so docs are looked at by falling bound until no other can win.
        """
        bound = np.where(self.known, -np.inf, self.scores())
        open_docs = int((~self.known).sum())
        order = np.argsort(-bound, kind="stable")[:open_docs]
        effects = self.effects()
        first, second = np.nonzero(np.triu(undecided, 1))
        exact = np.full(len(bound), -np.inf)
        for part in chunks(len(order), max(n, BLOCK)):
            docs = order[part]
            differences = np.abs(effects[np.ix_(first, docs)] - effects[np.ix_(second, docs)])
            gap = differences.max(axis=0)
            exact[docs] = np.round(gap * np.maximum(self.p, 1 - self.p)[docs], 12)
            best = np.argsort(-exact, kind="stable")[:n]
            all_seen = part.stop == len(order)
            if all_seen or exact[best[-1]] > bound[order[part.stop]]:
                return best[exact[best] > -np.inf]
        return order[:0]

    def learn(self, doc: int, relevant: bool) -> None:
        self.p = self.p.copy()
        self.p[doc] = float(relevant)
        self._covariance = None

    def expectation(self) -> Floats:
        """E[score] of each run, with E[Q / Σx] taken as E[Q] / Σp."""
        return self._expected_form() / self._relevant()

    def _expected_form(self) -> Floats:
        ranks = np.arange(1.0, self.lists.ranked.shape[1] + 1)
        p = self._listed()
        if self.measure in LINEAR:
            return np.asarray(p @ LINEAR[self.measure](ranks))
        precisions = p * (1 + np.cumsum(p, axis=1) - p) / ranks
        return np.asarray(precisions.sum(axis=1))

    def _relevant(self) -> float:
        total = float(self.p.sum())
        return 1.0 if self.measure in LINEAR or total == 0 else total

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
        """Σ_{i<j} a_ij a'_ij v_i v_j for all pairs of runs; one run against the others at a time."""
        ranks = self.lists.ranks
        upper = np.zeros((len(self.lists.runs), len(self.lists.runs)))
        for s, row in enumerate(self.lists.ranked):
            docs = row[row >= 0]
            docs = docs[v[docs] > 0]
            i, j = np.triu_indices(len(docs), 1)
            own = v[docs[i]] * v[docs[j]] / np.maximum(ranks[s, docs[i]], ranks[s, docs[j]])
            for part in chunks(len(ranks) - s, max(1, CELLS_AT_ONCE // max(1, len(i)))):
                others = ranks[s:][part][:, docs]
                has_both = (others[:, i] > 0) & (others[:, j] > 0)
                lower_rank = np.maximum(others[:, i], others[:, j])
                weight = np.where(has_both, 1.0 / np.maximum(1, lower_rank), 0.0)
                upper[s, s:][part] = weight @ own
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

    runs: tuple[str, ...]
    means: Floats
    above: Floats

    def undecided(self, level: float = 0.95) -> Bools:
        """Pairs for which neither order has that probability."""
        sure = np.maximum(self.above, self.above.T) >= level
        np.fill_diagonal(sure, True)
        return np.asarray(~sure)

    def reached(self, level: float = 0.95, *, strict: bool = True) -> bool:
        """Whether every pair (strict) or the mean over the pairs has that probability. One run alone: yes."""
        pairs = np.maximum(self.above, self.above.T)[np.triu_indices(len(self.runs), 1)]
        if not len(pairs):
            return True
        sure = pairs.min() if strict else pairs.mean()
        return bool(sure >= level)

    def table(self, level: float = 0.95) -> Table:
        """Runs by expected mean score, with the pairs that are not yet decided."""
        open_pairs = self.undecided(level).sum(axis=1)
        order = np.argsort(-self.means, kind="stable")
        rows = [(self.runs[i], self.means[i], open_pairs[i]) for i in order]
        note = f"a pair is decided at probability {level}; {int(open_pairs.sum()) // 2} pairs are not"
        return Table.of({"run": "", "expected": ".4f", "undecided": "d"}, rows, caption="Expected scores", notes=[note])


def confidence(orders: Sequence[Order]) -> Confidence:
    """P(mean score of a > that of b) for all pairs, from the MTC orders of all topics.

    Φ(E / √Var) with E and Var of the mean difference over the topics; without variance 1, 0, or ½ where E is 0.
    """
    from scipy.special import ndtr

    tests = [o for o in orders if isinstance(o, MinimalTest)]
    if not tests or len(tests) < len(orders):
        raise UsageError("only the order 'mtc' knows how sure it is; judge by mtc to stop at a confidence")
    means = np.mean([t.expectation() for t in tests], axis=0)
    covariance = np.sum([t.covariance() for t in tests], axis=0) / len(tests) ** 2
    own = np.diag(covariance)
    # Rounding may leave a variance of almost nothing below zero.
    variance = np.maximum(own[:, None] + own[None, :] - 2 * covariance, 0.0)
    gap = means[:, None] - means[None, :]
    gap[np.abs(gap) < 1e-12] = 0.0
    blurred = variance > 1e-15
    z = gap / np.sqrt(np.where(blurred, variance, 1.0))
    above = np.where(blurred, ndtr(z), (np.sign(gap) + 1) / 2)
    return Confidence(tests[0].lists.runs, means, above)
