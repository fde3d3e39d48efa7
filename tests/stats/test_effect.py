"""Effect sizes and intervals: published values, scipy's bootstrap, coverage."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.stats.effect import (
    INTERVALS,
    bca_interval,
    differences,
    mean_interval,
    ratio,
    standardised_effect,
    swapped,
    two_sample_effect,
)
from assay.stats.paired import outcome_of
from tests.oracles.stats import SAKAI, trec8
from tests.oracles.stats import scipy_stats as stats


def test_effect_and_interval_of_sakai() -> None:
    rows = differences(SAKAI[0], SAKAI[1])  # Sakai's book: mean .0750, effect .473, margin of error .0742
    assert float(rows.mean()) == pytest.approx(0.075, abs=1e-12)
    assert float(standardised_effect(rows)[0]) == pytest.approx(0.473, abs=5e-4)
    ends = mean_interval(rows)
    assert float(ends.high[0] - ends.low[0]) / 2 == pytest.approx(0.0742, abs=5e-5)


# Webber 2010, §3.3.5: 95 % t intervals of the means of apl8c221 and CL99XT on TREC-8.
@pytest.mark.parametrize(("run", "low", "high"), [("apl8c221", 0.24895, 0.38104), ("CL99XT", 0.31075, 0.43534)])
def test_t_intervals_of_the_running_example(run: str, low: float, high: float) -> None:
    ends = mean_interval(trec8().of_run(run))
    assert (float(ends.low[0]), float(ends.high[0])) == pytest.approx((low, high), abs=5e-6)


def test_t_interval_of_flab8atdn() -> None:
    ends = mean_interval(trec8().of_run("Flab8atdn"))  # Webber, Moffat & Zobel 2008: .262 to .386
    assert (float(ends.low[0]), float(ends.high[0])) == pytest.approx((0.262, 0.386), abs=5e-4)


def test_basic_interval_swaps_the_tails() -> None:
    low, high = swapped(0.058, -0.051, 0.053)  # Webber 2010, §3.3.5: (.005, .109)
    assert (float(low), float(high)) == pytest.approx((0.005, 0.109), abs=1e-12)
    rows = differences(trec8().of_run("CL99XT"), trec8().of_run("apl8c221"))
    basic, percentile = (mean_interval(rows, kind, resamples=100_000) for kind in ("basic", "percentile"))
    assert (float(basic.low[0]), float(basic.high[0])) == pytest.approx((0.0055, 0.1095), abs=0.0006)
    twice = 2 * float(rows.mean())
    assert float(basic.low[0]) == pytest.approx(twice - float(percentile.high[0]), abs=1e-12)
    assert float(basic.high[0]) == pytest.approx(twice - float(percentile.low[0]), abs=1e-12)


@pytest.mark.parametrize("kind", ["basic", "percentile", "bca"])
def test_bootstrap_intervals_agree_with_scipy(kind: str) -> None:
    x = np.random.default_rng(3).exponential(1, 60)
    ours = mean_interval(x, kind, level=0.9, resamples=20_000)
    theirs = stats.bootstrap((x,), np.mean, method=kind, confidence_level=0.9, n_resamples=20_000, rng=1)
    ends = theirs.confidence_interval
    assert (float(ours.low[0]), float(ours.high[0])) == pytest.approx((ends.low, ends.high), abs=0.01)


@pytest.mark.parametrize(
    ("kind", "least"), [("t", 0.935), ("basic", 0.92), ("percentile", 0.92), ("bootstrap-t", 0.935)]
)
def test_intervals_cover(kind: str, least: float) -> None:
    """2,000 samples of 50 normal scores: the share of 95 % intervals that hold the true mean."""
    rows = np.random.default_rng(8).normal(0.4, 0.2, (2000, 50))
    ends = mean_interval(rows, kind, resamples=999)
    share = ((ends.low <= 0.4) & (ends.high >= 0.4)).mean()
    assert least <= share <= 0.965


def test_rows_do_not_depend_on_their_company() -> None:
    rows = np.random.default_rng(1).random((600, 50))
    together = mean_interval(rows, "basic", resamples=200)
    alone = mean_interval(rows[517], "basic", resamples=200)
    assert float(together.low[517]) == pytest.approx(float(alone.low[0]), abs=1e-14)


def test_two_sample_effect() -> None:
    x, y = np.array([3.0, 5, 7, 9]), np.array([1.0, 2, 3])
    pooled = np.sqrt((3 * x.var(ddof=1) + 2 * y.var(ddof=1)) / 5)
    assert two_sample_effect(x, y) == pytest.approx(4 / pooled)


def test_degenerate_rows_have_a_stated_meaning() -> None:
    effects = standardised_effect([[0.1] * 5, [0.0] * 5, [-0.1] * 5])
    assert effects.tolist() == [np.inf, 0.0, -np.inf]
    assert ratio([1.0, 0.0], 0.0).tolist() == [np.inf, 0.0]
    for entry in INTERVALS:
        ends = mean_interval([0.1] * 60, entry.name, resamples=50)
        assert (float(ends.low[0]), float(ends.high[0])) == pytest.approx((0.1, 0.1))
        assert ends.recipe.startswith("95 % ")


def test_bad_input_is_refused() -> None:
    with pytest.raises(UsageError, match="no interval 'abc'"):
        mean_interval([1, 2, 3], "abc")
    with pytest.raises(UsageError, match="between 0 and 1, not 95"):
        mean_interval([1, 2, 3], level=95)
    with pytest.raises(DataError, match="1 topic"):
        mean_interval([1.0])


G2 = np.array([0.02, -0.05, 0.0, 0.10, -0.20, 0.03, 0.0, 0.07, -0.01, 0.04])


def test_bca_of_the_golden_vector() -> None:
    """a = −.0750464; ends by scipy with 200,000 resamples. The registry refuses ten values, the formula does not."""
    d = G2 - G2.mean()
    assert (d**3).sum() / (6 * (d**2).sum() ** 1.5) == pytest.approx(-0.0750464, abs=5e-8)
    ends = bca_interval(G2[None, :], resamples=200_000, seed=7)
    assert (float(ends.low[0]), float(ends.high[0])) == pytest.approx((-0.0700, 0.0350), abs=0.0015)
    t = mean_interval(G2)
    assert (float(t.low[0]), float(t.high[0])) == pytest.approx((-0.058603, 0.058603), abs=5e-7)


@pytest.mark.parametrize(("kind", "least"), [("percentile", 50), ("basic", 50), ("bca", 50), ("bootstrap-t", 10)])
def test_a_bootstrap_needs_topics(kind: str, least: int) -> None:
    rows = np.random.default_rng(0).normal(0, 1, (3, least))
    assert np.isfinite(mean_interval(rows, kind, resamples=200).low).all()
    said = f"interval {kind}: too few topics .{least - 1}.; a bootstrap needs 50 topics .bootstrap-t 10.; use t"
    with pytest.raises(UsageError, match=said):
        mean_interval(rows[:, 1:], kind)


@pytest.mark.parametrize("resamples", [199, 999, 1000])
def test_the_bootstrap_rejects_exactly_where_its_interval_leaves_out_zero(resamples: int) -> None:
    rows = np.random.default_rng(5).normal(0.35, 1, (800, 15))
    ends = mean_interval(rows, "bootstrap-t", resamples=resamples)
    p = outcome_of(rows, "bootstrap", resamples=resamples).p
    outside = (ends.low > 0) | (ends.high < 0)
    assert 0.1 < outside.mean() < 0.9
    assert (outside == (p < 0.05)).all()


def test_bootstrap_t_covers_skewed_samples_of_ten() -> None:
    """Spec: .93 for exponential samples of 10 topics, where percentiles cover .85."""
    rows = np.random.default_rng(2).exponential(1, (600, 10))
    ends = mean_interval(rows, "bootstrap-t", resamples=999)
    assert ((ends.low <= 1) & (ends.high >= 1)).mean() >= 0.90
