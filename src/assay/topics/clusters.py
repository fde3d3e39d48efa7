"""Do subsets with one topic from each cluster of like topics beat random ones?

A topic is the vector of its scores over the runs, perhaps reduced to principal components. Roitero 2020, Section 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
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
    total = (sizes**2).sum()
    if total == 0:
        raise DataError(f"{matrix.measure}: all topics have the same scores; there is nothing to cluster")
    return left * sizes, np.cumsum(sizes**2) / total


@dataclass(frozen=True, eq=False)
class ClusterTree:
    """A hierarchy of topics (scipy's linkage) and how it was made."""

    links: Floats
    recipe: str

    def labels(self, clusters: int) -> Numbers:
        """The cluster of each topic, 0 …, when the tree is cut into at most that number of clusters."""
        from scipy.cluster.hierarchy import fcluster

        found = fcluster(self.links, clusters, criterion="maxclust")
        return np.unique(found, return_inverse=True)[1]


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
    vectors = matrix.values.T if pca is None else components(matrix)[0][:, :pca]
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = np.nan_to_num(pairwise(vectors, metric), nan=1.0)
    reduced = "" if pca is None else f", {pca} principal components"
    return ClusterTree(link(np.maximum(distances, 0.0), linkage), f"{linkage} linkage, {metric}{reduced}")


@dataclass(frozen=True, eq=False)
class ClusterResult(Result):
    """Mean value of one-for-cluster subsets and of random ones, for c = 1 … n-1."""

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
        rows = [(i + 1, x, a, x - a) for i, (x, a) in enumerate(zip(self.clustered, self.average, strict=True))]
        columns = {"topics": "d", "one per cluster": ".4f", "random": ".4f", "difference": "+.4f"}
        ahead = f"clusters ahead at {self.better():.0%} of the cardinalities; {self.problem.title}"
        made = f"{self.recipe}; {self.repetitions} draws per cardinality, seed {self.seed}"
        return Table.of(columns, rows, caption="Topics from clusters against random topics", notes=[ahead, made])


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

    Without `clusters` there are as many clusters as topics wanted, for every c anew; with it their number is fixed, and
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
    if clusters is None:
        values, way = _driven(ready, tree, weighted, repetitions, seed, progress), "as many clusters as topics"
    else:
        values, way = _rounds(ready, tree.labels(clusters), repetitions, seed), f"{clusters} clusters, round by round"
    recipe = f"{tree.recipe}, {way}" + (", weighted by cluster size" if weighted else "")
    average = sample(ready, repetitions=repetitions, seed=seed).average
    return ClusterResult(ready, values, average, recipe, repetitions, seed)


def _driven(
    ready: Problem, tree: ClusterTree, weighted: bool, repetitions: int, seed: int, progress: Progress
) -> Floats:
    rng, values = generator(seed), np.empty(ready.n - 1)
    for c in range(1, ready.n):
        labels = tree.labels(c)
        sizes = np.bincount(labels)
        first = np.cumsum(sizes) - sizes
        draws = np.argsort(labels + rng.random((repetitions, ready.n)), axis=1)[:, first]
        weight = sizes if weighted else np.ones(len(sizes), int)
        sums = sum(w * ready.units[draws[:, k]].astype(np.int64) for k, w in enumerate(weight))
        values[c - 1] = ready.of_sums(np.asarray(sums), int(weight.sum())).mean()
        progress(c, ready.n - 1)
    return values


def _rounds(ready: Problem, labels: Numbers, repetitions: int, seed: int) -> Floats:
    rng, n = generator(seed), ready.n
    sizes = np.bincount(labels)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    total = np.zeros(n - 1)
    for part in chunks(repetitions, max(1, 2_000_000 // ready.units.size)):
        count = part.stop - part.start
        inside = np.argsort(labels + rng.random((count, n)), axis=1)  # by cluster, within it in random order
        turn = np.argsort((np.arange(n) - starts) + rng.random((count, n)), axis=1)  # round first, then at random
        order = np.take_along_axis(inside, turn, axis=1)[:, : n - 1]
        sums = np.cumsum(ready.units[order], axis=1, dtype=ready.units.dtype)
        values = ready.of_sums(sums.reshape(-1, sums.shape[2]), np.tile(np.arange(1, n), count))
        total += values.reshape(count, n - 1).sum(axis=0)
    return total / repetitions
