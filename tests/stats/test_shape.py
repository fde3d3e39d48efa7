"""Density within bounds and the check of normality."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.stats.shape import density, normality, rule_of_thumb, runs_normality, score_densities
from tests.oracles.stats import scipy_stats as stats
from tests.oracles.stats import trec8


def test_density_reflects_at_both_bounds() -> None:
    """scipy's kernel on the data and its two mirror images, three times since it divides by 3n."""
    x = np.random.default_rng(0).beta(1, 4, 200)
    ours = density(x, bandwidth=0.05)
    images = np.concatenate([x, -x, 2 - x])
    kernel = stats.gaussian_kde(images, bw_method=0.05 / images.std(ddof=1))
    assert ours.density == pytest.approx(3 * kernel(ours.points), rel=1e-6)


@pytest.mark.parametrize("run", ["READWARE2", "UT803"])
def test_density_integrates_to_one(run: str) -> None:
    ours = density(trec8().of_run(run), points=4001)
    assert float(np.trapezoid(ours.density, ours.points)) == pytest.approx(1, abs=1e-3)


def test_without_bounds_in_reach_it_is_the_plain_kernel() -> None:
    x = np.random.default_rng(1).normal(0.5, 0.02, 100)
    ours = density(x)
    plain = stats.gaussian_kde(x, bw_method=ours.bandwidth / x.std(ddof=1))(ours.points)
    assert ours.density == pytest.approx(plain, abs=1e-9)


def test_rule_of_thumb_of_silverman() -> None:
    x = np.random.default_rng(2).normal(0, 1, 500)
    quartiles = np.subtract(*np.percentile(x, [75, 25])) / 1.34
    assert rule_of_thumb(x) == pytest.approx(0.9 * min(x.std(ddof=1), quartiles) * 500**-0.2)
    mostly_zero = np.array([0.0] * 9 + [1.0])
    assert rule_of_thumb(mostly_zero) == pytest.approx(0.9 * mostly_zero.std(ddof=1) * 10**-0.2)


def test_density_refuses_what_it_cannot_draw() -> None:
    with pytest.raises(UsageError, match="do not fit the bounds"):
        density([0.5, 1.5])
    with pytest.raises(DataError, match="all scores are equal"):
        density([0.5, 0.5])
    assert density([0.5, 0.5], bandwidth=0.1).n == 2


def test_normality_is_shapiro_and_wilk() -> None:
    x = np.random.default_rng(3).exponential(1, 50)
    found = normality(x)
    w, p = stats.shapiro(x)
    assert (found.w, found.p) == pytest.approx((w, p))
    assert found.skewness == pytest.approx(stats.skew(x))
    assert "with 50 topics the t test is usually sound" in found.verdict()
    assert "prefer a randomisation test" in normality(x[:20] ** 3).verdict()
    assert "no sign" in normality(np.random.default_rng(3).normal(0, 1, 50)).verdict()
    assert "W" in found.table().columns


def test_normality_at_the_edges() -> None:
    assert normality([0.1, 0.1, 0.1]).p == 1.0
    with pytest.raises(DataError, match="2 topics; at least 3"):
        normality([0.1, 0.2])
    with pytest.raises(UsageError, match="up to 5000"):
        normality(np.zeros(5001))


def test_normality_of_every_run_against_the_baseline() -> None:
    table = runs_normality(trec8(), baseline="apl8c221").table()
    assert len(table.rows) == 128
    p = dict(zip(table.column("run"), table.column("p"), strict=True))["CL99XT"]
    assert p == pytest.approx(stats.shapiro(trec8().of_run("CL99XT") - trec8().of_run("apl8c221")).pvalue, rel=1e-6)


def test_densities_of_runs_topics_and_differences() -> None:
    rng = np.random.default_rng(4)
    matrix = ScoreMatrix.of(rng.random((3, 40)), runs=["a", "b", "c"], measure="AP")
    of_runs = score_densities(matrix)
    assert list(of_runs.curves) == ["a", "b", "c"]
    np.testing.assert_array_equal(of_runs.curves["b"].density, density(matrix.of_run("b")).density)
    of_topics = score_densities(matrix, of="topic", names=["7"])
    assert of_topics.curves["7"].n == 3
    against = score_densities(matrix, baseline="a")
    assert list(against.curves) == ["b", "c"]
    assert against.curves["b"].points[[0, -1]].tolist() == [-1.0, 1.0]
    assert against.quartiles["b"][1] == pytest.approx(np.median(matrix.of_run("b") - matrix.of_run("a")))
    with pytest.raises(UsageError, match="no run 'bb'"):
        score_densities(matrix, names=["bb"])


def test_an_endless_range_is_not_reflected() -> None:
    """Standardized scores have no bounds: scipy's Gaussian kernel of the same width is the same curve."""
    x = np.random.default_rng(0).normal(size=50)
    ours = density(x, low=-np.inf, high=np.inf)
    theirs = stats.gaussian_kde(x, bw_method=ours.bandwidth / x.std(ddof=1))
    np.testing.assert_allclose(ours.density, theirs(ours.points), rtol=1e-9)
