"""How far is a ranking of runs from what the topics say, when it matters how different the swapped runs are? d_rank.

Swapping two runs that hardly differ, relative to their spread over topics, costs little; swapping a good and a bad one
costs much. Carterette 2009. Every place counts the same: where the top or the bottom of a ranking matters more, take
tau-ap, tau-w or rbo, which have both forms (heavy=top, heavy=bottom).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import generator
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.rankings import settled
from assay.similarity.systems import on_common_runs, topic_weights

RIDGE = 1e-5


def d_rank(scores: ScoreMatrix, ranking: Sequence[str]) -> float:
    """The distance of a ranking of the runs (best first) from the scores: 0 where the means agree with it.

    d² = min over θ ≥ 0 of n (θ − d)ᵀ S⁻¹ (θ − d), d the mean differences of neighbours in the ranking (better minus
    worse) over n topics and S their covariance (n − 1). 10⁻⁵ is added to the diagonal of S where topics are not more
    than runs, or where S is singular; d then depends on that number, and compares only among the same runs and topics.

    >>> x = [[.50, .60, .40, .70, .55], [.40, .62, .35, .50, .52], [.30, .20, .38, .45, .30]]
    >>> scores = ScoreMatrix.of(x, runs=["a", "b", "c"])
    >>> round(d_rank(scores, ["a", "b", "c"]), 4), round(d_rank(scores, ["b", "a", "c"]), 4)
    (0.0, 1.9284)
    """
    if sorted(ranking) != sorted(scores.runs):
        in_one_only = sorted(set(ranking) ^ set(scores.runs))
        where = in_one_only[:1] or list(ranking)[:1]
        raise UsageError(f"d_rank: the ranking must hold each run once; it does not fit at {where}")
    _check_shape(scores)
    needs_means(scores, "d_rank")
    row_of_run = {run: row for row, run in enumerate(scores.runs)}
    rows = [row_of_run[run] for run in ranking]
    return _distance(scores.values, np.array(rows))


@dataclass(frozen=True)
class DRankResult(Result):
    """d_rank of a ranking and how often resampled topics give one as far away."""

    d: float
    p_value: float
    measure: str
    runs: int
    topics: int
    resamples: int
    seed: int

    def table(self) -> Table:
        """One row."""
        caption = f"Distance of the ranking from {self.measure}: {self.runs} runs, {self.topics} topics"
        notes = [
            f"p: share of {self.resamples} bootstrap samples of the topics whose own ranking of the runs is at least "
            f"as far, (b+1)/(B+1), seed {self.seed}"
        ]
        if self.topics <= self.runs:
            notes.append(f"{RIDGE:g} added to the variances: not more topics than runs")
        return Table.of({"d_rank": ".4f", "p": "p"}, [(self.d, self.p_value)], caption=caption, notes=notes)


def d_rank_test(scores: ScoreMatrix, ranking: Sequence[str], *, resamples: int = 1000, seed: int = 0) -> DRankResult:
    """d_rank and its p-value: could topics drawn again give a ranking as far from these scores as this one is?

    Topics are drawn with replacement, runs ranked by their means, and d_rank of that ranking taken; a small p says that
    the ranking is farther than the choice of topics explains.

    >>> x = [[.50, .60, .40, .70, .55], [.40, .62, .35, .50, .52], [.30, .20, .38, .45, .30]]
    >>> d_rank_test(ScoreMatrix.of(x, runs=["a", "b", "c"]), ["a", "b", "c"], resamples=50).d
    0.0
    """
    observed = d_rank(scores, ranking)
    runs, topics = scores.shape
    weights = topic_weights(topics, resamples, generator(seed))
    means = settled(weights @ scores.values.T)
    orders = np.argsort(-means, axis=1, kind="stable")
    # Many samples give the same order: each is measured once.
    distinct, times = np.unique(orders, axis=0, return_counts=True)
    as_far = 0
    for order, samples in zip(distinct, times.tolist(), strict=True):
        if _distance(scores.values, order) >= observed - 1e-12:
            as_far += samples
    p_value = (as_far + 1) / (resamples + 1)
    return DRankResult(observed, p_value, scores.measure, runs, topics, resamples, seed)


def d_rank_between(truth: ScoreMatrix, estimate: ScoreMatrix, *, resamples: int = 1000, seed: int = 0) -> DRankResult:
    """d_rank_test of the ranking by the means of `estimate`, over the runs that both have."""
    true_scores, estimated_scores = on_common_runs(truth, estimate)
    ranking = estimated_scores.by_average().runs
    return d_rank_test(true_scores, ranking, resamples=resamples, seed=seed)


def _distance(values: Floats, order: Ints) -> float:
    from scipy.optimize import nnls

    differences = values[order[:-1]] - values[order[1:]]
    mean = differences.mean(axis=1)
    if (mean >= 0).all():
        return 0.0
    runs, n = values.shape
    covariance = np.atleast_2d(np.cov(differences))
    if n <= runs or np.linalg.matrix_rank(covariance) < len(mean):
        covariance = covariance + RIDGE * np.eye(len(mean))
    # With S = LLᵀ the distance is ‖L⁻¹(θ − d)‖: non-negative least squares.
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    _, distance = nnls(root, root @ mean)
    return float(np.sqrt(n) * distance)


def _check_shape(scores: ScoreMatrix) -> None:
    runs, topics = scores.shape
    if runs < 2 or topics < 2:
        raise UsageError(f"d_rank needs two runs and two topics or more, not {runs} and {topics}")
