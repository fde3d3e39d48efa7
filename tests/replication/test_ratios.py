"""Fieller's interval against the tests that it inverts, ratios by hand, and coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import DataError, UsageError
from assay.replication import ratio_coverage, ratio_of_means
from assay.replication.ratios import Ratio, percentiles
from assay.stats.bounded import bounded_ends


@pytest.mark.parametrize("seed", range(5))
def test_the_ends_of_fieller_are_where_the_paired_t_test_turns(seed: int) -> None:
    """At both ends x − θy has p = 1 − level, and the ratio itself p = 1: what Fieller's theorem says."""
    rng = np.random.default_rng(seed)
    y = rng.normal(0.5, 0.4, 30)
    x = 0.7 * y + rng.normal(0, 0.2, 30)
    found = ratio_of_means(x, y, paired=True, level=0.9)
    for end in (found.low, found.high):
        assert stats.ttest_1samp(x - end * y, 0).pvalue == pytest.approx(0.1)
    assert stats.ttest_1samp(x - found.value * y, 0).pvalue == pytest.approx(1)
    assert found.low < found.value < found.high


@pytest.mark.parametrize("seed", range(3))
def test_two_samples_use_welchs_error_at_the_ratio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(0.4, 0.3, 25)
    y = rng.normal(0.5, 0.2, 40)
    found = ratio_of_means(x, y, paired=False)
    df = stats.ttest_ind(x, found.value * y, equal_var=False).df
    t = stats.t.ppf(0.975, df)
    for end in (found.low, found.high):
        error = np.sqrt(x.var(ddof=1) / 25 + end**2 * y.var(ddof=1) / 40)
        assert abs(x.mean() - end * y.mean()) / error == pytest.approx(t)


def test_by_hand() -> None:
    """x = 1, 3 and y = 3, 5: v_x = v_y = v_xy = 1, so the ends are where (2 − 4θ)² = t²(1 − θ)², at (2 ± t)/(4 ± t)."""
    found = ratio_of_means([1.0, 3.0], [3.0, 5.0], paired=True, level=0.7)
    t = stats.t.ppf(0.85, 1)
    assert found.value == pytest.approx(0.5)
    assert sorted([(2 - t) / (4 - t), (2 + t) / (4 + t)]) == pytest.approx([found.low, found.high])


def test_no_bounds_where_the_mean_below_may_be_nothing() -> None:
    found = ratio_of_means([1.0, 2.0, 3.0], [0.1, -0.2, 0.2], paired=True)
    assert found.defined
    assert not found.bounded
    assert (found.low, found.high) == (-np.inf, np.inf)


def test_nothing_below_is_no_ratio() -> None:
    found = ratio_of_means([1.0, 2.0], [0.1, -0.1], paired=True)
    assert not found.defined
    assert np.isnan([found.value, found.low, found.high]).all()


def test_the_same_scores_have_the_ratio_one_and_bounds_only_within_limits() -> None:
    scores = [0.3, 0.5, 0.4, 0.45]
    found = ratio_of_means(scores, scores, paired=True)
    assert [found.low, found.value, found.high] == pytest.approx([-np.inf, 1, np.inf])
    within = ratio_of_means(scores, scores, paired=True, limits=((0.0, 1.0), (0.0, 1.0)))
    low, high = bounded_ends(scores, 0.975, (0.0, 1.0))
    assert [within.low, within.high] == pytest.approx([low[0] / high[0], high[0] / low[0]])
    assert ratio_of_means([1.0, 2.0], [1.0, 1.0], paired=False).bounded is False


def test_a_share_that_is_lost_turns_the_ends_round() -> None:
    lost = Ratio(0.8, 0.7, 0.95).below_one()
    assert [lost.value, lost.low, lost.high] == pytest.approx([0.2, 0.05, 0.3])


def test_the_bootstrap_is_a_plain_loop_of_draws() -> None:
    """Draws of topics together, one resample at a time; the percentiles agree up to the noise of drawing."""
    rng = np.random.default_rng(3)
    y = rng.normal(0.5, 0.1, 40)
    x = 0.8 * y + rng.normal(0, 0.1, 40)
    found = ratio_of_means(x, y, paired=True, interval="percentile", resamples=4000)
    ratios = []
    for _ in range(4000):
        drawn = rng.integers(40, size=40)
        ratios.append(x[drawn].mean() / y[drawn].mean())
    low, high = percentiles(np.array(ratios), 0.95)
    assert [found.low, found.high] == pytest.approx([low, high], abs=0.01)


def test_the_default_interval_holds_what_it_says_and_the_bootstrap_less() -> None:
    """Why Fieller is the default: 95 % with small effects and skewed improvements; percentiles fall short of it."""
    found = ratio_coverage(topics=[25], effects=[1.0], laws=["normal", "skewed"], trials=600, resamples=200)
    by_kind = {
        kind: np.mean([cell.covered for cell in found.cells if cell.interval == kind])
        for kind in ("fieller", "percentile")
    }
    assert 0.94 < by_kind["fieller"] < 0.97
    assert by_kind["percentile"] < by_kind["fieller"]
    assert len(found.table().rows) == 8


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="no interval 'bca'"):
        ratio_of_means([1, 2], [1, 2], paired=True, interval="bca")
    with pytest.raises(DataError, match="2 scores against 3; paired scores need the same topics"):
        ratio_of_means([1, 2], [1, 2, 3], paired=True)
    with pytest.raises(DataError, match="1 topic; at least 2"):
        ratio_of_means([1], [1], paired=True)
