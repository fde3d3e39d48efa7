"""Topic clusters: principal components of the collections, ways of taking topics, planted clusters, weights."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.engine import silent
from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.topics.clusters import EUCLIDEAN_ONLY, LINKAGES, METRICS, cluster_list, clustering, components, silhouette
from assay.topics.extremes import random_values
from assay.topics.one_per_cluster import _one_per_cluster, cluster_series
from assay.topics.problem import problem
from assay.topics.synthetic import planted_matrix
from tests.topics.released import collection, made, trec8, trec8_top96, used


@pytest.mark.parametrize(
    ("name", "runs", "shares"),
    [
        ("trec8-adhoc", 96, (0.780, 0.821, 0.849)),
        ("robust2004", 82, (0.761, 0.809, 0.846)),
        ("terabyte2006", 49, (0.789, 0.833, 0.865)),
    ],
)
def test_three_components_hold_85_percent(name: str, runs: int, shares: tuple[float, ...]) -> None:
    """Roitero 2020, Section 4.5.2.2: three components for about 85 % of the variance."""
    matrix = trec8_top96() if runs == 96 else used(name, runs)
    np.testing.assert_allclose(components(matrix, "centred")[1][:3], shares, atol=6e-4)
    assert components(matrix)[1][2] == pytest.approx(shares[2], abs=0.004)  # standardized ones hold as much


def test_components_agree_with_scikit_learn() -> None:
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    matrix = made(runs=8, topics=14)
    standardized = StandardScaler().fit_transform(matrix.values.T)
    for columns, vectors in (("centred", matrix.values.T), ("standardized", standardized)):
        scores, share = components(matrix, columns)
        model = PCA().fit(vectors)
        np.testing.assert_allclose(share, np.cumsum(model.explained_variance_ratio_), atol=1e-12)
        np.testing.assert_allclose(np.abs(scores[:, :3]), np.abs(model.transform(vectors)[:, :3]), atol=1e-10)
    with pytest.raises(UsageError, match="no columns of principal components 'raw'"):
        components(matrix, "raw")


def test_a_run_with_one_score_everywhere_says_nothing_of_topics() -> None:
    flat = ScoreMatrix.of([[0.1, 0.5, 0.2], [0.3, 0.3, 0.3], [0.2, 0.2, 0.9]])
    assert np.isfinite(components(flat)[0]).all()
    rest = flat.select(runs=[flat.runs[0], flat.runs[2]])
    np.testing.assert_allclose(components(flat)[1][:2], components(rest)[1][:2])


def test_a_fixed_number_of_clusters_is_always_above_average_with_standardized_scores() -> None:
    """Roitero 2020, Figure 4.10, Terabyte 2006: always higher; with centred scores alone with 90 % of the sizes."""
    matrix = used("terabyte2006", 49)
    found = cluster_series(matrix, pca=3, clusters=5, repetitions=300)
    assert (found.clustered > found.average).mean() > 0.98
    assert "3 principal components of standardized scores" in found.recipe
    centred = cluster_series(matrix, pca=3, pca_columns="centred", clusters=5, repetitions=300)
    assert (centred.clustered > centred.average).mean() < 0.95
    assert "3 principal components of centred scores" in centred.recipe


@pytest.mark.parametrize(
    ("name", "columns", "at", "printed", "near"),
    [
        ("robust2004", "centred", (50, 100, 149), (0.84, 0.92, 0.95), 0.007),
        ("robust2004", "standardized", (50, 100, 149), (0.84, 0.92, 0.95), 0.035),
        ("trec8-adhoc", "centred", (10, 20, 30), (0.79, 0.88, 0.93), 0.035),
        ("trec8-adhoc", "standardized", (10, 20, 30), (0.79, 0.88, 0.93), 0.02),
    ],
)
def test_clusters_are_about_average(
    name: str, columns: str, at: tuple[int, ...], printed: tuple[float, ...], near: float
) -> None:
    """Roitero 2020, Table 4.2, last row, all runs: as many clusters as topics, three principal components.

    Robust 2004 comes out as printed with centred scores (.87, .91, .96 standardized), TREC-8 with standardized ones
    (.80, .88, .93; centred .82, .90, .93): single cuts of trees that one topic turns over.
    """
    found = cluster_series(problem(collection(name)), repetitions=60, pca=3, pca_columns=columns)
    np.testing.assert_allclose(found.clustered[[c - 1 for c in at]], printed, atol=near)
    assert abs(found.clustered - found.average).mean() < 0.03


def test_without_principal_components_clusters_lose() -> None:
    """Roitero 2020, Section 4.5.2.1."""
    assert cluster_series(problem(trec8()), repetitions=60).better() < 0.5


def test_planted_clusters_peak_at_their_number() -> None:
    """Roitero 2020, Section 4.5.2.3: one topic per cluster is far ahead where c is the number of natural clusters."""
    matrix = planted_matrix(made(runs=20, topics=30, seed=3), seeds=8, around=6, radius=0.02)
    ready = problem(matrix)
    for clusters in (None, 8):
        found = cluster_series(ready, repetitions=200, metric="euclidean", clusters=clusters)
        gain = found.clustered - found.average
        assert gain[8 - 1] > 0.05
        assert gain[8 - 1] >= gain.max() - 0.02


def test_rounds_take_one_of_each_cluster_first() -> None:
    matrix = planted_matrix(made(runs=20, topics=30, seed=3), seeds=8, around=6, radius=0.01)
    labels = clustering(matrix, metric="euclidean").labels(8)
    assert sorted(np.bincount(labels).tolist()) == [6] * 8
    found = cluster_series(problem(matrix), clusters=8, repetitions=50, metric="euclidean")
    driven = cluster_series(problem(matrix), repetitions=50, metric="euclidean")
    assert found.clustered[8 - 1] == pytest.approx(driven.clustered[8 - 1], abs=0.02)


def test_weights_by_cluster_size_are_worse() -> None:
    """Roitero 2020, Section 4.5.4: WMAP is below MAP and below Average."""
    ready = problem(trec8())
    weighted, plain = (cluster_series(ready, weighted=w, repetitions=60) for w in (True, False))
    assert weighted.clustered.mean() < plain.clustered.mean()
    assert weighted.clustered.mean() < weighted.average.mean()


def test_all_linkages_and_metrics() -> None:
    ready = problem(made(runs=6, topics=8))
    for linkage in LINKAGES:
        for metric in ("euclidean",) if linkage in EUCLIDEAN_ONLY else METRICS:
            found = cluster_series(ready, linkage=linkage, metric=metric, repetitions=5)
            assert np.isfinite(found.clustered).all()
    assert found.table().columns == ("topics", "one per cluster", "random", "difference", "p")


def test_a_topic_that_nobody_answers_is_far_from_all() -> None:
    values = made(runs=6, topics=8).values.copy()
    values[:, 2] = 0
    tree = clustering(ScoreMatrix.of(values))
    assert np.isfinite(tree.distances).all()
    assert (tree.distances[2, [0, 1]] == 1).all()


def test_bad_input() -> None:
    ready = problem(made())
    with pytest.raises(UsageError, match="no clustering complete/cosin"):
        cluster_series(ready, metric="cosin")
    with pytest.raises(UsageError, match="needs the euclidean metric"):
        cluster_series(ready, linkage="ward", metric="cosine")
    with pytest.raises(UsageError, match="30 clusters of 10 topics"):
        cluster_series(ready, clusters=30)
    with pytest.raises(UsageError, match="principal components"):
        cluster_series(ready, pca=99)
    with pytest.raises(UsageError, match="one topic per cluster"):
        cluster_series(ready, clusters=3, weighted=True)
    with pytest.raises(DataError, match="nothing to cluster"):
        components(ScoreMatrix.of([[0.1, 0.1], [0.2, 0.2]]))


def test_the_usual_metric_of_a_linkage() -> None:
    matrix = made()
    for linkage in LINKAGES:
        usual = "euclidean" if linkage in EUCLIDEAN_ONLY else "cosine"
        by_default = clustering(matrix, linkage=linkage).distances
        assert by_default.tolist() == clustering(matrix, linkage=linkage, metric=usual).distances.tolist()


def test_silhouettes_are_scikit_learns() -> None:
    from sklearn.metrics import silhouette_samples

    matrix = made(runs=6, topics=14)
    for linkage in ("complete", "k-means"):
        topics = clustering(matrix, linkage=linkage)
        for clusters in (2, 4, 9):
            labels = topics.labels(clusters)
            wanted = silhouette_samples(topics.distances, labels, metric="precomputed")
            np.testing.assert_allclose(silhouette(topics.distances, labels), wanted, atol=1e-12)


def test_clusters_are_listed() -> None:
    matrix = planted_matrix(made(runs=20, topics=30, seed=3), seeds=5, around=4, radius=0.01)
    found = cluster_list(matrix, 5, linkage="k-means")
    sets = found.table().column("set")
    assert sorted(sets) == [" ".join(f"{i}.{j}" for j in range(1, 5)) for i in range(1, 6)]
    assert (found.silhouettes > 0.5).all()
    assert found.largest == 0.2
    uneven = cluster_list(made(), 3)
    sizes = uneven.table().column("topics")
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == 10
    with pytest.raises(UsageError, match="1 clusters of 20 topics"):
        cluster_list(matrix, 1)
    with pytest.raises(UsageError, match="20 clusters of 20 topics"):
        cluster_list(matrix, 20)


def test_p_is_that_of_the_draws() -> None:
    """p by scipy's signed-rank test on the two kinds of draws, each value by the plain criterion."""
    from scipy import stats

    ready = problem(made())
    found = cluster_series(ready, repetitions=40, seed=5)
    random = np.array(random_values(ready, tuple(range(1, 10)), 40, 5))
    topics = clustering(ready.matrix)
    drawn = _one_per_cluster(ready, topics, False, 40, 5, silent)
    np.testing.assert_allclose(found.clustered, drawn.mean(axis=1))
    for row in range(9):
        differences = drawn[row] - np.roll(random[row], 1)
        wanted = stats.wilcoxon(differences, correction=True, method="approx").pvalue
        assert found.p[row] == pytest.approx(wanted, abs=5e-3)  # ours is exact, with its ties


def test_planted_clusters_are_significantly_ahead_of_random_topics() -> None:
    """Roitero 2020, Section 4.5.2.3; one cluster is no choice at all, and nothing is significant there."""
    matrix = planted_matrix(made(runs=20, topics=30, seed=3), seeds=8, around=6, radius=0.02)
    found = cluster_series(problem(matrix), repetitions=200, metric="euclidean")
    assert found.p[8 - 1] < 1e-6
    assert found.gain[8 - 1] > 0
    assert found.p[0] > 0.001
    ahead_at, behind_at = found.significant()
    assert ahead_at > behind_at


def test_components_make_clusters_of_real_topics_significantly_better_than_random_ones() -> None:
    """Roitero 2020, Sections 4.5.2.1 and 4.5.2.2: only with principal components."""
    ready = problem(trec8_top96())
    ahead_at, behind_at = cluster_series(ready, repetitions=200, pca=3).significant()
    assert ahead_at > 25
    assert behind_at < 5
    ahead_at, behind_at = cluster_series(ready, repetitions=200).significant()
    assert behind_at > ahead_at
