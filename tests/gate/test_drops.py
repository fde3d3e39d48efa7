"""The tests of a drop and their bounds, against the implementations of others."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.gate.drops import (
    GATE_CORRECTIONS,
    GATE_TESTS,
    above_zero,
    below_zero,
    checked_correction,
    checked_test,
    lower_bounds,
)
from assay.gate.topics_to_decide import chance_to_pass, chance_to_show, planned_levels, topics_to_pass, topics_to_show
from assay.stats.effect import mean_interval

scipy_stats: Any = importlib.import_module("scipy.stats")


def rows(count: int = 3, n: int = 30, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 0.1, n)
    return np.array([0.03 * i + shared + rng.normal(0, 0.1, n) for i in range(count)])


@pytest.mark.parametrize("n", [2, 3, 10, 50])
@pytest.mark.parametrize("level", [0.05, 0.025, 0.001])
def test_bounds_of_the_t_test_are_those_of_scipy(n: int, level: float) -> None:
    some = rows(3, n)
    for row, bound in zip(some, lower_bounds(some, level), strict=True):
        theirs = scipy_stats.ttest_1samp(row, 0, alternative="greater").confidence_interval(1 - level)
        assert bound == pytest.approx(theirs.low, rel=1e-9, abs=1e-12)


def test_bounds_of_the_bootstrap_are_the_basic_interval() -> None:
    some = rows(2, 25)
    ends = mean_interval(some, "basic", level=0.9, resamples=4000)
    np.testing.assert_allclose(lower_bounds(some, 0.05, "bootstrap", resamples=4000), ends.low, atol=1e-4)
    np.testing.assert_allclose(-lower_bounds(-some, 0.05, "bootstrap", resamples=4000), ends.high, atol=1e-4)


def test_a_randomisation_of_few_topics_can_show_nothing() -> None:
    assert lower_bounds(np.array([[0.1, 0.2, 0.3, 0.4]]), 0.05, "randomisation").tolist() == [-np.inf]  # 1/16 > .05
    assert np.isfinite(lower_bounds(np.array([[0.1, 0.2, 0.3, 0.4, 0.5]]), 0.05, "randomisation")).all()


@pytest.mark.parametrize("test", GATE_TESTS)
@pytest.mark.parametrize("correction", GATE_CORRECTIONS)
@pytest.mark.parametrize("seed", range(6))
def test_bounds_agree_with_decisions(test: str, correction: str, seed: int) -> None:
    some = rows(4, 20, seed) - 0.03
    draws = {"resamples": 400}
    above = above_zero(some, 0.05, correction, test, **draws)
    below = below_zero(some, 0.05, correction, test, **draws)
    assert not (above.shown & below.shown).any()
    # of a row that is shown the bound is at 0 or above it, of any other strictly below it
    assert ((above.bound >= 0) == above.shown).all()
    assert ((below.bound <= 0) == below.shown).all()
    assert (above.bound <= some.mean(axis=1) + 1e-12).all()
    assert (below.bound >= some.mean(axis=1) - 1e-12).all()


def test_corrected_p_is_that_of_statsmodels() -> None:
    multipletests = importlib.import_module("statsmodels.stats.multitest").multipletests
    some = rows(4, 20)
    plain = [scipy_stats.ttest_1samp(row, 0, alternative="greater").pvalue for row in some]
    for ours, theirs in (("holm", "holm"), ("bonferroni", "bonferroni")):
        side = above_zero(some, 0.05, ours, "t")
        shown, p, _, _ = multipletests(plain, 0.05, theirs)
        np.testing.assert_allclose(side.p, p)
        assert side.shown.tolist() == shown.tolist()


def test_simultaneous_bounds_hold_for_all_measures_at_once() -> None:
    """Holm's and Bonferroni's bounds miss some true mean in at most α of the experiments; each alone would more."""
    rng = np.random.default_rng(2)
    truth = np.array([-0.02, 0.0, 0.05])
    missed = dict.fromkeys(GATE_CORRECTIONS, 0)
    for _ in range(600):
        some = truth[:, None] + rng.normal(0, 0.1, (3, 15))
        for correction in GATE_CORRECTIONS:
            bound = above_zero(some, 0.1, correction, "t").bound
            # a bound of 0 of a mean that is shown to be above 0 claims only that
            missed[correction] += bool((bound > truth).any() or ((bound == 0) & (truth <= 0)).any())
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
    assert topics_to_pass([0.3], [0.05], 0.8) == topics_to_show(0.3, 0.05, 0.8) == np.ceil(theirs)
    assert topics_to_show(-0.3, 0.05, 0.8) == np.ceil(theirs)  # shown to be below


def test_the_chance_to_pass_is_a_lower_bound() -> None:
    effects = [0.5, 0.3, 0.4]
    levels = planned_levels(effects, 0.05, "holm")
    assert levels == pytest.approx([0.05 / 3, 0.05, 0.025])
    alone = [chance_to_show(60, effect, level) for effect, level in zip(effects, levels, strict=True)]
    assert chance_to_pass(60, effects, levels) == pytest.approx(sum(alone) - 2)
    topics = topics_to_pass(effects, levels, 0.8)
    assert topics is not None
    assert chance_to_pass(topics, effects, levels) >= 0.8 > chance_to_pass(topics - 1, effects, levels)
    assert topics_to_pass([0.3, 0.0], [0.05, 0.025], 0.8) is None
    assert topics_to_pass([1e-6], [0.05], 0.8) is None
    assert topics_to_show(0.0, 0.05, 0.8) is None
    assert topics_to_show(1e-6, 0.05, 0.8) is None


def test_tests_of_ranks_and_other_corrections_are_refused() -> None:
    for test in ("wilcoxon", "sign", "wilcoxon(exact=true)"):
        with pytest.raises(UsageError, match="does not test a mean"):
            checked_test(test)
    assert checked_test("bootstrap(plain=true)")
    with pytest.raises(UsageError, match="no test 'nothing'"):
        checked_test("nothing")
    with pytest.raises(UsageError, match="'bh' has no bounds"):
        checked_correction("bh")
