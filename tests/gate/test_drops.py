"""The bounds of a drop, against the implementations of others, and the method that they follow."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.gate.drops import (
    GATE_CORRECTIONS,
    GATE_TESTS,
    Sample,
    above_zero,
    below_zero,
    checked_correction,
    checked_test,
)
from assay.gate.topics_to_decide import (
    chance_to_pass,
    chance_to_show,
    least_drop,
    topics_to_pass,
    topics_without_change,
)
from assay.stats.bounded import lower_bound

scipy_stats: Any = importlib.import_module("scipy.stats")


def rows(count: int = 3, n: int = 30, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 0.1, n)
    return np.array([0.03 * i + shared + rng.normal(0, 0.1, n) for i in range(count)])


def samples_of(some: Any, test: str, resamples: int = 1999) -> list[Sample]:
    return [Sample.of(row, row, (-1, 1), test, resamples=resamples, seed=0) for row in some]


@pytest.mark.parametrize("n", [2, 3, 10, 50])
@pytest.mark.parametrize("level", [0.05, 0.025, 0.001])
def test_bounds_of_the_t_test_are_those_of_scipy(n: int, level: float) -> None:
    for sample in samples_of(rows(3, n), "t"):
        theirs = scipy_stats.ttest_1samp(sample.values, 0, alternative="greater")
        assert sample.lower(level) == pytest.approx(theirs.confidence_interval(1 - level).low, rel=1e-9, abs=1e-12)
        assert sample.p() == pytest.approx(theirs.pvalue)


def test_the_studentised_bootstrap_is_that_of_a_plain_loop() -> None:
    from assay.stats.resampling import topic_counts

    values = rows(1, 25)[0]
    sample = Sample.of(values, values, (-1, 1), "bootstrap-t", resamples=399, seed=3)
    drawn = []
    for counts in np.concatenate(list(topic_counts(25, 399, 3))):
        resample = np.repeat(values, counts.astype(int))
        drawn.append((resample.mean() - values.mean()) / (resample.std(ddof=1) / 5))
    error = values.std(ddof=1) / 5
    assert sample.lower(0.05) == pytest.approx(values.mean() - sorted(drawn)[380] * error, rel=1e-9)
    reached = sum(t >= values.mean() / error for t in drawn)
    assert sample.p() == pytest.approx((reached + 1) / 400)


def test_the_method_follows_how_many_topics_change() -> None:
    rng = np.random.default_rng(4)

    def method(changed: int, topics: int, test: str = "auto") -> str:
        values = np.zeros(topics)
        values[:changed] = rng.normal(0, 0.1, changed)
        return Sample.of(values, values, (-1, 1), test, resamples=99, seed=0).method

    assert method(50, 50) == method(25, 50) == method(20, 40) == "bootstrap-t"
    assert method(24, 50) == method(19, 19) == method(0, 50) == "dirichlet"
    assert method(25_000, 25_000) == "t"
    assert method(12, 100, "t") == "t"
    assert method(9, 100, "t") == method(3, 5, "bootstrap-t") == "dirichlet"  # nothing for them to rest on
    assert method(50, 50, "dirichlet") == "dirichlet"


@pytest.mark.parametrize("test", GATE_TESTS)
@pytest.mark.parametrize("correction", GATE_CORRECTIONS)
@pytest.mark.parametrize("seed", range(6))
def test_bounds_agree_with_decisions(test: str, correction: str, seed: int) -> None:
    some = rows(4, 24, seed) - 0.03
    samples = samples_of(some, test, 400)
    above = above_zero(samples, 0.05)
    below = below_zero(samples, 0.05, correction)
    assert not (above.shown & below.shown).any()
    # of a row that is shown the bound is at 0 or above it, of any other at 0 or below it
    assert (above.bound[above.shown] >= 0).all()
    assert (above.bound[~above.shown] <= 0).all()
    assert (below.bound[below.shown] <= 0).all()
    assert (below.bound[~below.shown] >= 0).all()
    assert (above.bound <= some.mean(axis=1) + 1e-12).all()
    assert (below.bound >= some.mean(axis=1) - 1e-12).all()


def test_corrected_p_of_a_fail_is_that_of_statsmodels() -> None:
    multipletests = importlib.import_module("statsmodels.stats.multitest").multipletests
    some = -rows(4, 20)
    plain = [scipy_stats.ttest_1samp(row, 0, alternative="less").pvalue for row in some]
    for name in ("holm", "bonferroni"):
        side = below_zero(samples_of(some, "t"), 0.05, name)
        shown, p, _, _ = multipletests(plain, 0.05, name)
        np.testing.assert_allclose(side.p, p)
        assert side.shown.tolist() == shown.tolist()


def test_simultaneous_bounds_hold_for_all_measures_at_once() -> None:
    """Holm's and Bonferroni's bounds miss some true mean in at most α of the experiments; each alone would more."""
    rng = np.random.default_rng(2)
    truth = np.array([-0.02, 0.0, 0.05])
    missed = dict.fromkeys(GATE_CORRECTIONS, 0)
    for _ in range(600):
        samples = samples_of(truth[:, None] + rng.normal(0, 0.1, (3, 15)), "t")
        for correction in GATE_CORRECTIONS:
            bound = below_zero(samples, 0.1, correction).bound
            # a bound of 0 of a mean that is shown to be below 0 claims only that
            missed[correction] += bool((bound < truth).any() or ((bound == 0) & (truth >= 0)).any())
    most = 60 + 3 * np.sqrt(600 * 0.1 * 0.9)
    assert missed["bonferroni"] <= most
    assert missed["holm"] <= most
    assert missed["none"] > 120


def test_power_is_that_of_statsmodels() -> None:
    power = importlib.import_module("statsmodels.stats.power").TTestPower()
    for effect, n, level in ((0.2, 50, 0.05), (0.4, 30, 0.0167)):
        theirs = power.power(effect, n, level, alternative="larger")
        assert chance_to_show(n, effect, level) == pytest.approx(theirs, abs=1e-6)
    theirs = power.solve_power(effect_size=0.3, alpha=0.05, power=0.8, alternative="larger")
    assert topics_to_pass([0.3], 0.05, 0.8) == np.ceil(theirs)
    theirs = power.solve_power(nobs=50, alpha=0.05, power=0.8, alternative="larger")
    assert least_drop(50, 0.1, 0.05, 0.8) == pytest.approx(0.1 * theirs, rel=1e-4)


def test_the_chance_to_pass_is_a_lower_bound() -> None:
    effects = [0.5, 0.3, 0.4]
    alone = [chance_to_show(80, effect, 0.05) for effect in effects]
    assert chance_to_pass(80, effects, 0.05) == pytest.approx(sum(alone) - 2)
    topics = topics_to_pass(effects, 0.05, 0.8)
    assert topics is not None
    assert chance_to_pass(topics, effects, 0.05) >= 0.8 > chance_to_pass(topics - 1, effects, 0.05)
    assert topics_to_pass([0.3, 0.0], 0.05, 0.8) is None
    assert topics_to_pass([1e-6], 0.05, 0.8) is None


@pytest.mark.parametrize(("drop", "topics"), [(0.005, 598), (0.01, 299), (0.02, 149), (0.05, 59), (0.10, 29)])
def test_the_fewest_topics_that_can_pass_without_a_change(drop: float, topics: int) -> None:
    assert topics_without_change(drop, 1.0, 0.05) == topics
    assert lower_bound(np.zeros(topics), 0.05, -1) > -drop
    assert lower_bound(np.zeros(topics - 1), 0.05, -1) < -drop


def test_tests_without_a_bound_that_holds_are_refused() -> None:
    for test in ("wilcoxon", "sign", "randomisation", "normal", "bootstrap"):
        with pytest.raises(UsageError, match="no bound of a mean"):
            checked_test(test)
    with pytest.raises(UsageError, match="'bh'"):
        checked_correction("bh")
