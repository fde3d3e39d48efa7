"""Do subsets with one topic from each cluster of similar topics beat random ones?

A topic is the vector of its scores over the runs, perhaps reduced to principal components. Roitero 2020, Section 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats, places_within
from assay.core.engine import Progress, chunks, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.topics.criteria import Numbers
from assay.topics.extremes import sample
from assay.topics.problem import Problem, problem


class Names(tuple[str, ...]):
    """Names of scipy's that may be given; listed in help as those of a registry are."""

    def listed(self) -> str:
        """All names in one line."""
        return ", ".join(self)


LINKAGES = Names(("complete", "single", "average", "weighted", "centroid", "median", "ward"))
METRICS = Names(("cosine", "correlation", "euclidean", "cityblock", "jaccard"))


def components(matrix: ScoreMatrix) -> tuple[Floats, Floats]:
    """Principal components of the topics (topics × components) and the cumulative share of variance.

    The vectors are centred over the topics, not scaled.

    >>> scores, share = components(ScoreMatrix.of([[0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0.2, 0.2, 0.2]]))
    >>> share.round(6).tolist()[:1]
    [1.0]
    """
    vectors = matrix.values.T - matrix.values.mean(axis=1)
    left, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    variances = sizes**2
    total = variances.sum()
    if total == 0:
        raise DataError(f"{matrix.measure}: all topics have the same scores; there is nothing to cluster")
    return left * sizes, np.cumsum(variances) / total


@dataclass(frozen=True, eq=False)
class ClusterTree:
    """A hierarchy of topics (scipy's linkage) and how it was made."""

    links: Floats
    recipe: str

    def labels(self, clusters: int) -> Numbers:
        """The cluster of each topic, 0 …, when the tree is cut into at most that number of clusters."""
        from scipy.cluster.hierarchy import fcluster

        scipy_labels = fcluster(self.links, clusters, criterion="maxclust")
        _, labels = np.unique(scipy_labels, return_inverse=True)
        return labels


def cluster_tree(
    matrix: ScoreMatrix, *, linkage: str = "complete", metric: str = "cosine", pca: int | None = None
) -> ClusterTree:
    """Topics clustered by their scores, or by their first `pca` principal components.

    Any linkage and metric of scipy in LINKAGES and METRICS. A topic on which all runs score 0 has no direction: under
    cosine and correlation its distance to others is 1.
    """
    if linkage not in LINKAGES or metric not in METRICS:
        raise UsageError(
            f"no clustering {linkage}/{metric}; linkages: {LINKAGES.listed()}; metrics: {METRICS.listed()}"
        )
    if linkage in ("centroid", "median", "ward") and metric != "euclidean":
        raise UsageError(f"linkage {linkage!r} needs the euclidean metric, not {metric!r}")
    if pca is not None and not 1 <= pca <= min(matrix.shape):
        raise UsageError(f"{pca} principal components; there are 1 to {min(matrix.shape)}")
    from scipy.cluster import hierarchy
    from scipy.spatial import distance

    pairwise: Any = distance.pdist
    link: Any = hierarchy.linkage
    vectors = matrix.values.T
    recipe = f"{linkage} linkage, {metric}"
    if pca is not None:
        vectors = components(matrix)[0][:, :pca]
        recipe += f", {pca} principal components"
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = np.nan_to_num(pairwise(vectors, metric), nan=1.0)
    # Rounding may leave a distance of almost nothing below zero.
    links = link(np.maximum(distances, 0.0), linkage)
    return ClusterTree(links, recipe)


@dataclass(frozen=True, eq=False)
class ClusterResult(Result):
    """Mean value of subsets with one topic per cluster and of random ones, for c = 1 … n-1."""

    problem: Problem
    clustered: Floats
    average: Floats
    recipe: str
    repetitions: int
    seed: int

    def better(self) -> float:
        """Share of cardinalities at which clusters are ahead of random topics."""
        gain = self.problem.goodness(self.clustered) - self.problem.goodness(self.average)
        return float((gain > 0).mean())

    def table(self) -> Table:
        """One row per cardinality."""
        cardinalities = range(1, len(self.clustered) + 1)
        difference = self.clustered - self.average
        ahead = f"clusters ahead at {self.better():.0%} of the cardinalities; {self.problem.title}"
        made = f"{self.recipe}; {self.repetitions} draws per cardinality, seed {self.seed}"
        return Table.of(
            {"topics": "d", "one per cluster": ".4f", "random": ".4f", "difference": "+.4f"},
            list(zip(cardinalities, self.clustered, self.average, difference, strict=True)),
            caption="Topics from clusters against random topics",
            notes=[ahead, made],
        )


def cluster_series(
    matrix: ScoreMatrix | Problem,
    *,
    criterion: str = "tau",
    scale: str = "plain",
    top: float = 1.0,
    linkage: str = "complete",
    metric: str = "cosine",
    pca: int | None = None,
    clusters: int | None = None,
    weighted: bool = False,
    repetitions: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> ClusterResult:
    """One topic from each cluster, against random topics.

    Without `clusters` the tree is cut into c clusters for subsets of c topics; with it their number is fixed, and
    topics are taken round by round, one from each cluster that has any left, the last round from a random part of them.
    `weighted` counts each topic by the size of its cluster (WMAP; only where each cluster gives one topic).

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
    tree = cluster_tree(ready.matrix, linkage=linkage, metric=metric, pca=pca)
    recipe = tree.recipe
    if clusters is None:
        values = _one_per_cluster(ready, tree, weighted, repetitions, seed, progress)
        recipe += ", as many clusters as topics"
    else:
        values = _round_by_round(ready, tree.labels(clusters), repetitions, seed)
        recipe += f", {clusters} clusters, round by round"
    if weighted:
        recipe += ", weighted by cluster size"
    average = sample(ready, repetitions=repetitions, seed=seed).average
    return ClusterResult(ready, values, average, recipe, repetitions, seed)


def _one_per_cluster(
    ready: Problem, tree: ClusterTree, weighted: bool, repetitions: int, seed: int, progress: Progress
) -> Floats:
    """Mean value of a random topic of each of c clusters, for c = 1 … n-1."""
    rng = generator(seed)
    means = np.empty(ready.n - 1)
    for c in range(1, ready.n):
        labels = tree.labels(c)
        sizes = np.bincount(labels)
        first_of_cluster = np.cumsum(sizes) - sizes
        # A whole number and a random part below 1: topics by cluster, in random order within each.
        shuffled = np.argsort(labels + rng.random((repetitions, ready.n)), axis=1)
        draws = shuffled[:, first_of_cluster]
        weights = sizes if weighted else np.ones_like(sizes)
        sums = np.zeros((repetitions, len(ready.matrix.runs)), np.int64)
        for cluster, weight in enumerate(weights):
            sums += weight * ready.units[draws[:, cluster]].astype(np.int64)
        values = ready.of_sums(sums, int(weights.sum()))
        means[c - 1] = values.mean()
        progress(c, ready.n - 1)
    return means


def _round_by_round(ready: Problem, labels: Numbers, repetitions: int, seed: int) -> Floats:
    """Mean value of c topics taken from the clusters in turn, for c = 1 … n-1."""
    rng = generator(seed)
    n = ready.n
    cardinalities = np.arange(1, n)
    round_of_place = places_within(np.bincount(labels))
    total = np.zeros(n - 1)
    for part in chunks(repetitions, max(1, 2_000_000 // ready.units.size)):
        count = part.stop - part.start
        # A whole number and a random part below 1: topics by cluster, in random order within each; then by round.
        by_cluster = np.argsort(labels + rng.random((count, n)), axis=1)
        by_round = np.argsort(round_of_place + rng.random((count, n)), axis=1)
        taken = np.take_along_axis(by_cluster, by_round, axis=1)[:, : n - 1]
        sums = np.cumsum(ready.units[taken], axis=1, dtype=ready.units.dtype)
        values = ready.of_sums(sums.reshape(-1, sums.shape[2]), np.tile(cardinalities, count))
        total += values.reshape(count, n - 1).sum(axis=0)
    return total / repetitions
