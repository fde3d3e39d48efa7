"""Do subsets with one topic from each cluster of similar topics beat random ones? Roitero 2020, Section 4.5."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats, places_within
from assay.core.engine import Progress, chunks, generator, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.stats.paired import outcome_of
from assay.topics.clusters import PCA_COLUMNS, Clustering, clustering
from assay.topics.criteria import Numbers
from assay.topics.extremes import all_where_few, random_values
from assay.topics.problem import Problem, problem


@dataclass(frozen=True, eq=False)
class ClusterResult(Result):
    """Mean value of subsets with one topic per cluster and of random ones, for c = 1 … n-1."""

    unit = "topic"

    problem: Problem
    clustered: Floats
    average: Floats
    p: Floats
    """Of the signed-rank test of the draws, one topic per cluster against random topics, per cardinality."""
    recipe: str
    repetitions: int
    seed: int

    @property
    def gain(self) -> Floats:
        """How far clusters are ahead of random topics, per cardinality; below zero where they are behind."""
        return self.problem.goodness(self.clustered) - self.problem.goodness(self.average)

    def better(self) -> float:
        """Share of cardinalities at which clusters are ahead of random topics."""
        return float((self.gain > 0).mean())

    def significant(self, alpha: float = 0.01) -> tuple[int, int]:
        """At how many cardinalities clusters are significantly ahead of random topics, and significantly behind."""
        significant = self.p < alpha
        ahead = significant & (self.gain > 0)
        behind = significant & (self.gain < 0)
        return int(ahead.sum()), int(behind.sum())

    def table(self) -> Table:
        """One row per cardinality."""
        cardinalities = range(1, len(self.clustered) + 1)
        difference = self.clustered - self.average
        ahead = f"clusters ahead at {self.better():.0%} of the cardinalities; {self.problem.title}"
        ahead_at, behind_at = self.significant()
        tested = (
            f"p: Wilcoxon signed-rank test of the draws; with p < .01 clusters are ahead at {ahead_at} and behind at "
            f"{behind_at} of {len(self.p)} cardinalities"
        )
        made = f"{self.recipe}; {self.repetitions} draws per cardinality, seed {self.seed}"
        return Table.of(
            {"topics": "d", "one per cluster": ".4f", "random": ".4f", "difference": "+.4f", "p": "p"},
            list(zip(cardinalities, self.clustered, self.average, difference, self.p, strict=True)),
            caption="Topics from clusters against random topics",
            notes=[ahead, tested, made],
        )


def cluster_series(
    matrix: ScoreMatrix | Problem,
    *,
    criterion: str = "tau",
    scale: str = "plain",
    top: float = 1.0,
    linkage: str = "complete",
    metric: str | None = None,
    pca: int | None = None,
    pca_columns: str = PCA_COLUMNS[0],
    clusters: int | None = None,
    weighted: bool = False,
    repetitions: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> ClusterResult:
    """One topic from each cluster, against random topics.

    Without `clusters` the tree is cut into c clusters for subsets of c topics; with it their number is fixed, and
    topics are taken round by round, one from each cluster that has any left, the last round from a random part of them.
    `weighted` counts each topic by the size of its cluster (WMAP; only where each cluster gives one topic). Both kinds
    of draws are compared by the signed-rank test, one draw of each at a time.

    >>> rng = np.random.default_rng(0)
    >>> m = ScoreMatrix.of(np.round(0.1 * np.arange(8)[:, None] + 0.2 * rng.random((8, 6)), 4), measure="AP")
    >>> cluster_series(m, repetitions=10).clustered.shape
    (5,)
    """
    ready = matrix if isinstance(matrix, Problem) else problem(matrix, criterion=criterion, scale=scale, top=top)
    if weighted and clusters is not None:
        raise UsageError("weights by cluster size need one topic per cluster; leave the number of clusters open")
    if clusters is not None and not 1 <= clusters <= ready.n:
        raise UsageError(f"{clusters} clusters of {ready.n} topics; take 1 to {ready.n}")
    topics = clustering(ready.matrix, linkage=linkage, metric=metric, pca=pca, pca_columns=pca_columns, seed=seed)
    recipe = topics.recipe
    if clusters is None:
        values = _one_per_cluster(ready, topics, weighted, repetitions, seed, progress)
        recipe += ", as many clusters as topics"
    else:
        values = _round_by_round(ready, topics.labels(clusters), repetitions, seed)
        recipe += f", {clusters} clusters, round by round"
    if weighted:
        recipe += ", weighted by cluster size"
    every_size = tuple(range(1, ready.n))
    random = random_values(ready, every_size, repetitions, seed)
    average = [row.mean() for row in all_where_few(ready, every_size, random, repetitions)]
    # Both kinds of draws come from one seed: moved by one, the draws of a pair are independent.
    paired_with = np.roll(np.array(random), 1, axis=1)
    p = outcome_of(values - paired_with, "wilcoxon").p
    return ClusterResult(ready, values.mean(axis=1), np.array(average), p, recipe, repetitions, seed)


def _one_per_cluster(
    ready: Problem, topics: Clustering, weighted: bool, repetitions: int, seed: int, progress: Progress
) -> Floats:
    """Values of a random topic of each of c clusters, for c = 1 … n-1 (rows) and every draw (columns)."""
    rng = generator(seed)
    every_value = np.empty((ready.n - 1, repetitions))
    for c in range(1, ready.n):
        labels = topics.labels(c)
        sizes = np.bincount(labels)
        first_of_cluster = np.cumsum(sizes) - sizes
        # A whole number and a random part below 1: topics by cluster, in random order within each.
        shuffled = np.argsort(labels + rng.random((repetitions, ready.n)), axis=1)
        draws = shuffled[:, first_of_cluster]
        weights = sizes if weighted else np.ones_like(sizes)
        weight_of_topic = np.zeros((repetitions, ready.n), np.int64)
        np.put_along_axis(weight_of_topic, draws, weights[None, :], axis=1)
        every_value[c - 1] = ready.of_sums(ready.weighted_sums(weight_of_topic), int(weights.sum()))
        progress(c, ready.n - 1)
    return every_value


def _round_by_round(ready: Problem, labels: Numbers, repetitions: int, seed: int) -> Floats:
    """Values of c topics taken from the clusters in turn, for c = 1 … n-1 (rows) and every draw (columns)."""
    rng = generator(seed)
    n = ready.n
    cardinalities = np.arange(1, n)
    round_of_place = places_within(np.bincount(labels))
    every_value = np.empty((n - 1, repetitions))
    for part in chunks(repetitions, max(1, 2_000_000 // ready.units.size)):
        count = part.stop - part.start
        # A whole number and a random part below 1: topics by cluster, in random order within each; then by round.
        by_cluster = np.argsort(labels + rng.random((count, n)), axis=1)
        by_round = np.argsort(round_of_place + rng.random((count, n)), axis=1)
        taken = np.take_along_axis(by_cluster, by_round, axis=1)[:, : n - 1]
        sums = np.cumsum(ready.units[taken], axis=1, dtype=ready.units.dtype)
        values = ready.of_sums(sums.reshape(-1, sums.shape[2]), np.tile(cardinalities, count))
        every_value[:, part] = values.reshape(count, n - 1).T
    return every_value
