"""k-means: as few squares as scikit-learn's, and points that are equal or alone."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.arrays import Floats
from assay.topics.criteria import Numbers
from assay.topics.k_means import k_means
from tests.topics.released import trec8


def squares_within(points: Floats, labels: Numbers) -> float:
    """The sum of squared distances from the means of the clusters, by a plain loop."""
    total = 0.0
    for label in set(labels.tolist()):
        cluster = points[labels == label]
        for point in cluster:
            total += float(((point - cluster.mean(axis=0)) ** 2).sum())
    return total


@pytest.mark.parametrize("clusters", [2, 3, 9, 25, 49])
def test_as_few_squares_as_scikit_learns(clusters: int) -> None:
    from sklearn.cluster import KMeans

    points = np.ascontiguousarray(trec8().values.T)
    labels = k_means(points, clusters)
    assert len(set(labels.tolist())) == clusters
    peer = KMeans(clusters, n_init=10, random_state=0).fit(points).inertia_
    assert squares_within(points, labels) <= 1.02 * peer


def test_every_point_is_nearest_to_the_mean_of_its_cluster() -> None:
    points = np.random.default_rng(1).random((60, 3))
    labels = k_means(points, 7)
    means = np.array([points[labels == k].mean(axis=0) for k in range(7)])
    for point, label in zip(points, labels, strict=True):
        assert ((means - point) ** 2).sum(axis=1).argmin() == label


def test_equal_points_share_a_cluster() -> None:
    points = np.array([[0.2], [0.1], [0.2], [0.3]])
    assert k_means(points, 3).tolist() == [0, 1, 0, 2]
    assert k_means(points, 4).tolist() == [0, 1, 0, 2]
    assert k_means(points, 1).tolist() == [0, 0, 0, 0]


def test_many_clusters_of_few_distinct_points_are_all_used() -> None:
    """Most points coincide, so that starts and steps meet clusters without points."""
    points = np.repeat(np.arange(6.0), 5)[:, None] ** 2
    labels = k_means(points, 5)
    assert len(set(labels.tolist())) == 5
    assert squares_within(points, labels) == pytest.approx(10 * 0.25)  # 0 and 1 share a cluster


def test_the_seed_decides() -> None:
    points = np.random.default_rng(2).random((40, 5))
    assert k_means(points, 6, seed=3).tolist() == k_means(points, 6, seed=3).tolist()
