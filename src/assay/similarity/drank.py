"""How far is a ranking of runs from what the topics say, when it matters how different the swapped runs are? d_rank.

Swapping two runs that hardly differ, relative to their spread over topics, costs little; swapping a good and a bad one
costs much. Carterette 2009. Every place counts the same: where the top or the bottom of a ranking matters more, take
tau-ap, tau-w or rbo, which have both forms (heavy=top, heavy=bottom).

Both rankings come from topics, and p draws both: the topics of the two are pooled and split again, or, if they are the
same topics, the two score rows of a topic are swapped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.quantities import canonical
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.rankings import settled
from assay.similarity.systems import on_common_runs
from assay.stats.resampling import checked_generator, checked_resamples

RIDGE = 1e-5
PIVOTS = 10_000
"""Rounds of pivots at most; a few dozen do."""


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
    """d_rank of a ranking from scores, and how often topics that are dealt out again give one as far away.

    `p_value` is None if no p can be had; `how` says how it was made, or why there is none.
    """

    unit = "topic"

    d: float
    p_value: float | None
    measure: str
    runs: int
    topics: int
    resamples: int
    seed: int
    how: str

    def table(self) -> Table:
        """One row."""
        caption = f"Distance of the ranking from {self.measure}: {self.runs} runs, {self.topics} topics"
        notes = [self.how]
        if self.topics <= self.runs:
            notes.append(f"{RIDGE:g} added to the variances: not more topics than runs")
        return Table.of({"d_rank": ".4f", "p": "p"}, [(self.d, self.p_value)], caption=caption, notes=notes)


def d_rank_test(truth: ScoreMatrix, estimate: ScoreMatrix, *, resamples: int = 999, seed: int = 0) -> DRankResult:
    """d_rank of the ranking by the means of `estimate` from `truth`, over the runs that both have, and its p.

    p is the share of (count + 1)/(resamples + 1) random deals of the topics whose own d_rank is at least as large.
    Other topics: all are pooled and split into two sets of the same sizes. The same topics: the scores of `truth` and
    of `estimate` are swapped on half of them, by chance. Scores of different measures are first standardized on each
    topic (z-scores over the runs), for p alone. No p if some topics are the same and others are not, or if one of the
    two has a single topic, which is a ranking without scores of topics.

    >>> x = [[.50, .60, .40, .70, .55], [.40, .62, .35, .50, .52], [.30, .20, .38, .45, .30]]
    >>> here = ScoreMatrix.of(x, runs=["a", "b", "c"])
    >>> there = ScoreMatrix.of([row[::-1] for row in x], runs=["a", "b", "c"], topics="67890")
    >>> d_rank_test(here, there, resamples=50).d
    0.0
    """
    a, b = on_common_runs(truth, estimate)
    observed = d_rank(a, b.by_average().runs)
    runs, topics = a.shape
    p_value: float | None = None
    shared = len(set(a.topics) & set(b.topics))
    deals = f"{checked_resamples(resamples)} random"
    if b.shape[1] < 2:
        how = "no p: the second ranking has no scores of topics, which would have to be dealt out again as well"
    elif 0 < shared < max(topics, b.shape[1]):
        how = f"no p: {shared} topics are in both and others are not; give the same topics, or different ones"
    else:
        first, second = _on_one_scale(a, b.select(topics=a.topics) if shared else b)
        drawn = _swaps(first, second, resamples, seed) if shared else _splits(first, second, resamples, seed)
        p_value = _share_as_far(first, second, drawn, resamples)
        what = "swaps of both score rows of a topic" if shared else "splits of the pooled topics"
        how = f"p: share of {deals} {what} with a d_rank at least as large, (b+1)/(B+1), seed {seed}"
        if canonical(a.measure) != canonical(b.measure):
            how += "; of z-scores on each topic"
    return DRankResult(observed, p_value, a.measure, runs, topics, resamples, seed, how)


def _on_one_scale(a: ScoreMatrix, b: ScoreMatrix) -> tuple[Floats, Floats]:
    """Both arrays of scores, as they are if they are of one measure, else as z-scores over the runs of each topic."""
    if canonical(a.measure) == canonical(b.measure):
        return a.values, b.values
    return _z_scores(a.values), _z_scores(b.values)


def _z_scores(values: Floats) -> Floats:
    spread = values.std(axis=0)
    flat = np.ptp(values, axis=0) == 0
    return np.where(flat, 0.0, (values - values.mean(axis=0)) / np.where(flat, 1.0, spread))


def _splits(first: Floats, second: Floats, resamples: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """The pooled topics split at random into sets of the same sizes."""
    rng = checked_generator(seed)
    pooled = np.hstack([first, second])
    size = first.shape[1]
    for _ in range(resamples):
        order = rng.permutation(pooled.shape[1])
        yield pooled[:, order[:size]], pooled[:, order[size:]]


def _swaps(first: Floats, second: Floats, resamples: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """The scores of both on each topic, swapped on half of the topics, by chance."""
    rng = checked_generator(seed)
    for _ in range(resamples):
        swapped = rng.random(first.shape[1]) < 0.5
        yield np.where(swapped, second, first), np.where(swapped, first, second)


def _share_as_far(first: Floats, second: Floats, drawn: Iterator[tuple[Floats, Floats]], resamples: int) -> float:
    """(b + 1)/(B + 1); whether a ridge is added goes by all topics together, so that every deal is treated alike."""
    runs, topics = first.shape
    both = np.hstack([first, second])
    ridge = topics <= runs or np.linalg.matrix_rank(both - both.mean(axis=1, keepdims=True)) < runs - 1

    def distance(scores: Floats, others: Floats) -> float:
        order = np.argsort(-settled(others.mean(axis=1)), kind="stable")
        return _distance(scores, order, ridge=bool(ridge))

    observed = distance(first, second)
    as_far = sum(distance(*deal) >= observed * (1 - 1e-12) for deal in drawn)
    return (as_far + 1) / (resamples + 1)


def _distance(values: Floats, order: Ints, ridge: bool | None = None) -> float:
    """d_rank of an order of the rows; ridge: whether to add it, by default where there is no inverse without."""
    differences = values[order[:-1]] - values[order[1:]]
    mean = differences.mean(axis=1)
    if (mean >= 0).all():
        return 0.0
    runs, n = values.shape
    covariance = np.atleast_2d(np.cov(differences))
    if ridge is None:
        ridge = n <= runs or int(np.linalg.matrix_rank(covariance)) < len(mean)
    if ridge:
        covariance = covariance + RIDGE * np.eye(len(mean))
    return float(np.sqrt(n * _squared_distance(mean, covariance)))


def _squared_distance(mean: Floats, covariance: Floats) -> float:
    """min (θ − d)ᵀ S⁻¹ (θ − d) over θ ≥ 0, by the multipliers y ≥ 0 of θ = d + S·y, of which one or the other is 0.

    Block principal pivoting: all signs that are wrong are turned at once; where that does not help, the last one alone
    (Júdice & Pires 1994). Few y are not 0, so small systems are solved, and S is never inverted.
    """
    tolerance = 1e-12 * float(np.abs(mean).max())
    bound = mean < 0
    fewest, patience = len(mean) + 1, 5
    for _ in range(PIVOTS):
        multipliers = np.zeros(len(mean))
        multipliers[bound] = np.linalg.solve(covariance[np.ix_(bound, bound)], -mean[bound])
        wrong = np.where(bound, multipliers, mean + covariance @ multipliers) < -tolerance
        count = int(wrong.sum())
        if not count:
            break
        patience = 5 if count < fewest else patience - 1
        fewest = min(fewest, count)
        if patience < 0:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        bound = bound ^ wrong
    return max(0.0, float(-mean[bound] @ multipliers[bound]))


def _check_shape(scores: ScoreMatrix) -> None:
    runs, topics = scores.shape
    if runs < 2 or topics < 2:
        raise UsageError(f"d_rank needs two runs and two topics or more, not {runs} and {topics}")
