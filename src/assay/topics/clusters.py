"""Which topics are similar? Clusters of topics, by trees or by k-means, and how well they are apart.

A topic is the vector of its scores over the runs, perhaps reduced to principal components. Roitero 2020, Section 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data.scores import ScoreMatrix
from assay.topics.criteria import Numbers
from assay.topics.k_means import STARTS, k_means


class Names(tuple[str, ...]):
    """Names that help texts list in one line, as registries do."""

    def listed(self) -> str:
        """All of them."""
        return ", ".join(self)


K_MEANS = "k-means"
"""Stands among the linkages, though it grows no tree."""
EUCLIDEAN_ONLY = ("centroid", "median", "ward", K_MEANS)
"""Linkages that rest on means of topics, which have a meaning under the euclidean metric alone."""
LINKAGES = Names(("complete", "single", "average", "weighted", *EUCLIDEAN_ONLY))
METRICS = Names(("cosine", "correlation", "euclidean", "cityblock", "jaccard"))


PCA_COLUMNS = ("standardized", "centred")
"""What principal components are made of: the scores of each run over the topics with sd 1, or as far apart as they are.
"""


def components(matrix: ScoreMatrix, columns: str = PCA_COLUMNS[0]) -> tuple[Floats, Floats]:
    """Topics as principal components (topics × components), and the share of variance the first 1, 2, … hold.

    columns: the scores of each run are centred over the topics, and "standardized" ones divided by their sd, so that a
    run whose scores spread more counts no more than others; a run with one score everywhere says nothing.

    >>> _, held = components(ScoreMatrix.of([[0.1, 0.2, 0.3], [0.2, 0.4, 0.6]]))
    >>> held.round(6).tolist()
    [1.0, 1.0]
    """
    one_of("columns of principal components", columns, PCA_COLUMNS)
    vectors = matrix.values.T - matrix.values.mean(axis=1)
    if columns == "standardized":
        spread = matrix.values.std(axis=1)
        flat = np.ptp(matrix.values, axis=1) == 0
        vectors = np.where(flat, 0.0, vectors / np.where(flat, 1.0, spread))
    left, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    variances = sizes**2
    total = variances.sum()
    if total == 0:
        raise DataError(f"{matrix.measure}: every topic has the same scores; there is nothing to cluster")
    return left * sizes, np.cumsum(variances) / total


class Clustering(Protocol):
    """Topics that can be cut into any number of clusters."""

    @property
    def recipe(self) -> str:
        """How it was made."""

    @property
    def distances(self) -> Floats:
        """Distances of the topics, topics × topics."""

    def labels(self, clusters: int) -> Numbers:
        """The cluster of each topic, 0 …, for at most that number of clusters."""


@dataclass(frozen=True, eq=False)
class ClusterTree:
    """A hierarchy of topics (scipy's linkage) and how it was made."""

    links: Floats
    recipe: str
    distances: Floats

    def labels(self, clusters: int) -> Numbers:
        """The cluster of each topic, 0 …, when the tree is cut into at most that number of clusters."""
        from scipy.cluster import hierarchy

        cut: Any = hierarchy.fcluster
        labels: Numbers = cut(self.links, clusters, "maxclust") - 1
        return labels


@dataclass(frozen=True, eq=False)
class Centres:
    """Topics as points, clustered about centres by k-means."""

    points: Floats
    recipe: str
    distances: Floats
    seed: int

    def labels(self, clusters: int) -> Numbers:
        """The cluster of each topic, 0 …; fewer clusters than asked for where points are equal."""
        return k_means(self.points, clusters, seed=self.seed)


def clustering(
    matrix: ScoreMatrix,
    *,
    linkage: str = "complete",
    metric: str | None = None,
    pca: int | None = None,
    pca_columns: str = PCA_COLUMNS[0],
    seed: int = 0,
) -> Clustering:
    """Topics clustered by their scores, or by their first `pca` principal components (of `pca_columns`).

    Any linkage and metric of scipy in LINKAGES and METRICS, or k-means (seed: of its starts). Without a metric it is
    cosine, and euclidean for the linkages that need it. A topic on which all runs score 0 has no direction: under
    cosine and correlation its distance to others is 1.
    """
    metric = _checked_metric(linkage, metric)
    if pca is not None and not 1 <= pca <= min(matrix.shape):
        raise UsageError(f"{pca} principal components; there are 1 to {min(matrix.shape)}")
    from scipy.cluster import hierarchy
    from scipy.spatial import distance

    pairwise: Any = distance.pdist
    square: Any = distance.squareform
    link: Any = hierarchy.linkage
    vectors = matrix.values.T
    recipe = f"{K_MEANS}, best of {STARTS} starts" if linkage == K_MEANS else f"{linkage} linkage, {metric}"
    if pca is not None:
        vectors = components(matrix, pca_columns)[0][:, :pca]
        recipe += f", {pca} principal components of {pca_columns} scores"
    with np.errstate(invalid="ignore", divide="ignore"):
        condensed = np.nan_to_num(pairwise(vectors, metric), nan=1.0)
    # Rounding may leave a distance of almost nothing below zero.
    condensed = np.maximum(condensed, 0.0)
    distances = square(condensed)
    if linkage == K_MEANS:
        return Centres(np.ascontiguousarray(vectors), recipe, distances, seed)
    return ClusterTree(link(condensed, linkage), recipe, distances)


def _checked_metric(linkage: str, metric: str | None) -> str:
    """The metric, or the usual one of the linkage; an error where the two do not go together."""
    if linkage not in LINKAGES or metric not in (None, *METRICS):
        raise UsageError(
            f"no clustering {linkage}/{metric}; linkages: {LINKAGES.listed()}; metrics: {METRICS.listed()}"
        )
    if metric is None:
        return "euclidean" if linkage in EUCLIDEAN_ONLY else "cosine"
    if linkage in EUCLIDEAN_ONLY and metric != "euclidean":
        raise UsageError(f"linkage {linkage!r} needs the euclidean metric, not {metric!r}")
    return metric


def silhouette(distances: Floats, labels: Numbers) -> Floats:
    """How much nearer each topic is to its own cluster than to the next one: (b − a)/max(a, b), from −1 to 1.

    a: mean distance to the others of its cluster; b: the least mean distance to another cluster. 0 for a topic alone in
    its cluster. At least two clusters are needed (Rousseeuw 1987).

    >>> silhouette(np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 3.0], [4.0, 3.0, 0.0]]), np.array([0, 0, 1])).round(3).tolist()
    [0.75, 0.667, 0.0]
    """
    clusters = int(labels.max()) + 1
    if clusters < 2:
        raise UsageError(f"{clusters} cluster; a silhouette needs at least 2")
    member = np.eye(clusters)[labels]
    sizes = member.sum(axis=0)
    sums = distances @ member
    topic = np.arange(len(labels))
    own_size = sizes[labels]
    inside = sums[topic, labels] / np.maximum(own_size - 1, 1)
    means = sums / sizes
    means[topic, labels] = np.inf
    nearest = means.min(axis=1)
    larger = np.maximum(inside, nearest)
    score = np.divide(nearest - inside, larger, out=np.zeros(len(labels)), where=larger > 0)
    return np.where(own_size > 1, score, 0.0)


@dataclass(frozen=True, eq=False)
class ClusterList(Result):
    """The clusters of topics: their members, their mean scores and how well each is apart from the others.

    `clusters` holds the places of the topics of each cluster, the largest cluster first.
    """

    matrix: ScoreMatrix
    clusters: tuple[Numbers, ...]
    silhouettes: Floats
    """Of each topic."""
    recipe: str

    @property
    def largest(self) -> float:
        """The share of the topics in the largest cluster."""
        return len(self.clusters[0]) / len(self.matrix.topics)

    def table(self) -> Table:
        """One row per cluster, the largest first."""
        mean_of_topic = self.matrix.values.mean(axis=0)
        rows = []
        for number, places in enumerate(self.clusters, start=1):
            topics = [self.matrix.topics[place] for place in places]
            mean = float(mean_of_topic[places].mean())
            apart = float(self.silhouettes[places].mean())
            rows.append((number, len(topics), mean, apart, " ".join(topics)))
        formats = {"cluster": "d", "topics": "d", "mean score": ".4f", "silhouette": "+.3f", "set": ""}
        mean_silhouette = shown(float(self.silhouettes.mean()), "+.3f")
        notes = [
            f"mean silhouette {mean_silhouette}, from −1 to 1",
            f"the largest cluster has {self.largest:.0%} of the topics; {self.recipe}",
        ]
        caption = f"{len(self.clusters)} clusters of {len(self.matrix.topics)} topics"
        return Table.of(formats, rows, caption=caption, notes=notes)


def cluster_list(
    matrix: ScoreMatrix,
    clusters: int,
    *,
    linkage: str = "complete",
    metric: str | None = None,
    pca: int | None = None,
    pca_columns: str = PCA_COLUMNS[0],
    seed: int = 0,
) -> ClusterList:
    """The topics in that number of clusters (at most), each with its silhouette.

    >>> m = ScoreMatrix.of([[0.1, 0.1, 0.9, 0.8], [0.2, 0.2, 0.1, 0.1]], measure="AP")
    >>> cluster_list(m, 2).table().column("set")
    ['1 2', '3 4']
    """
    topics = len(matrix.topics)
    if not 2 <= clusters < topics:
        raise UsageError(f"{clusters} clusters of {topics} topics; take 2 to {topics - 1}")
    made = clustering(matrix, linkage=linkage, metric=metric, pca=pca, pca_columns=pca_columns, seed=seed)
    labels = made.labels(clusters)
    silhouettes = silhouette(made.distances, labels)
    largest_first = np.argsort(-np.bincount(labels), kind="stable")
    members = tuple(np.flatnonzero(labels == cluster) for cluster in largest_first)
    return ClusterList(matrix, members, silhouettes, made.recipe)
