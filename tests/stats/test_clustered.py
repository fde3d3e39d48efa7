"""Clusters as units: printed values, brute-force matrices, and coverage with few clusters of uneven size."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.stats.clustered import jackknife, logit_ends, mean_of_clusters, mean_of_items, share_error, share_of

SIZES = np.array([40, 6, 5, 3, 2, 1.0])
SUMS = np.array([10, 2, -1, 3, 0, 1.0])
Y = np.array([3, 0, 10, 5, 1, 0.0])
Z = np.array([20, 18, 25, 22, 19, 21.0])


def test_printed_values_of_means() -> None:
    items = mean_of_items(SUMS, SIZES)
    assert items.value == pytest.approx(0.263158, abs=5e-7)
    assert items.error == pytest.approx(0.0632628, abs=5e-8)
    assert items.df == pytest.approx(1.66777, abs=5e-6)
    assert mean_of_items(SUMS, SIZES, alike=True).df == pytest.approx(1.16727, abs=5e-6)
    users = mean_of_clusters(SUMS, SIZES)
    assert [users.value, users.error] == pytest.approx([0.397222, 0.205499], abs=5e-7)
    residual = SUMS - SIZES * items.value
    assert np.sqrt((residual**2).sum()) / SIZES.sum() == pytest.approx(0.0595550, abs=5e-8)


def brute_df(a: Floats, h: Floats) -> float:
    w = 1 / np.sqrt(1 - h)
    p = np.outer(w, w) * (np.diag(a) - np.outer(h, a) - np.outer(a, h) + np.outer(h, h) * a.sum())
    return float(np.trace(p) ** 2 / (p**2).sum())


@pytest.mark.parametrize("alike", [False, True])
def test_degrees_of_freedom_are_those_of_the_matrices(alike: bool) -> None:
    sizes = np.random.default_rng(7).pareto(1.2, 30) + 1
    a = sizes**2 if alike else sizes
    assert mean_of_items(sizes, sizes, alike=alike).df == pytest.approx(brute_df(a, sizes / sizes.sum()), rel=1e-9)


def test_printed_values_of_shares() -> None:
    share = share_of(Y, Z)
    assert share.value == pytest.approx(0.152, abs=5e-4)
    assert share_error(Y, Z) == pytest.approx(0.0692394, abs=5e-8)
    assert list(logit_ends(Y, Z)) == pytest.approx([0.04311, 0.41626], abs=5e-6)
    assert share.low == pytest.approx(0.04101, abs=5e-6)
    assert share.high == pytest.approx(0.5463, abs=5e-5)
    assert "Dirichlet" in share.method


def test_a_share_and_its_complement_have_mirrored_ends() -> None:
    share, other = share_of(Y, Z), share_of(Z - Y, Z)
    assert [share.low, share.high] == pytest.approx([1 - other.high, 1 - other.low], abs=1e-9)
    assert share_of(np.zeros(6), Z).low == 0
    assert share_of(np.zeros(6), Z).high < 1


@pytest.mark.parametrize("mean", [0.05, 0.3])
def test_shares_of_few_topics_are_covered(mean: float) -> None:
    rng = np.random.default_rng(8)
    repeats, covered = 300, 0
    for _ in range(repeats):
        p = rng.beta(3 * mean, 3 * (1 - mean), 10)
        share = share_of(rng.binomial(40, p), np.full(10, 40))
        covered += share.low <= mean <= share.high
    assert covered / repeats > 0.95 - 2.6 * np.sqrt(0.05 * 0.95 / repeats)


def test_a_statistic_that_is_undefined_without_a_cluster_has_no_interval() -> None:
    assert jackknife(2.0, [2.5, 2.0, 1.5]).error == pytest.approx(1 / np.sqrt(3))
    with pytest.raises(DataError, match="undefined without one"):
        jackknife(2.0, [2.5, np.nan, 1.5])
    with pytest.raises(DataError, match="at least 2"):
        share_of([1], [2])
