"""Random effects against statsmodels; leave one out and best subsets against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from assay.board import best_collections, leave_one_out, random_effects
from assay.board.aggregates import collection_cells
from assay.board.common_set import common_set
from assay.board.meta_analysis import pooled_effects
from assay.core.errors import DataError, UsageError
from assay.data import ScoreMatrix
from tests.board.test_board import made, robust
from tests.oracles import board as oracle


@pytest.mark.filterwarnings("ignore:invalid value encountered in sqrt")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [3, 5, 12])
def test_random_effects_are_those_of_statsmodels(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    variances = rng.uniform(0.001, 0.02, k)
    effects = rng.normal(0.05, 0.1 * (seed % 3), k) + rng.normal(0, np.sqrt(variances))
    ours = pooled_effects(effects[None, :], variances[None, :])
    normal = pooled_effects(effects[None, :], variances[None, :], interval="normal")
    theirs = combine_effects(effects, variances, method_re="chi2")
    # statsmodels keeps a τ² below 0; where it is cut to 0, random effects are fixed effects
    fixed = theirs.tau2 < 0
    mean = theirs.mean_effect_fe if fixed else theirs.mean_effect_re
    weights = theirs.weights_fe if fixed else theirs.weights_re
    error = theirs.sd_eff_w_fe if fixed else theirs.sd_eff_w_re
    hartung_knapp = theirs.sd_eff_w_fe_hksj if fixed else theirs.sd_eff_w_re_hksj
    assert ours.mean[0] == pytest.approx(mean)
    assert ours.tau2[0] == pytest.approx(max(0.0, theirs.tau2))
    assert ours.q[0] == pytest.approx(theirs.q)
    assert ours.i2[0] == pytest.approx(max(0.0, theirs.i2))
    assert ours.weights[0] == pytest.approx(weights / weights.sum())
    assert (normal.high - normal.low)[0] / 2 / stats.norm.ppf(0.975) == pytest.approx(error)
    assert (ours.high - ours.low)[0] / 2 == pytest.approx(stats.t.ppf(0.975, k - 1) * hartung_knapp)
    assert ours.p[0] == pytest.approx(2 * stats.t.sf(abs(mean) / hartung_knapp, k - 1))
    new = stats.t.ppf(0.975, k - 2) * np.sqrt(max(0.0, theirs.tau2) + error**2)
    assert (ours.predicted_high - ours.predicted_low)[0] / 2 == pytest.approx(new)


def test_golden_values_by_hand() -> None:
    """w = 100, 100, 50: mean .23, Q = 1.69 + .49 + .72 = 2.9, τ² = (2.9 − 2)/(250 − 90) = .005625."""
    found = pooled_effects(np.array([[0.1, 0.3, 0.35]]), np.array([[0.01, 0.01, 0.02]]))
    assert found.q[0] == pytest.approx(2.9)
    assert found.tau2[0] == pytest.approx(0.005625)
    assert found.i2[0] == pytest.approx(0.9 / 2.9)


@pytest.mark.parametrize(("k", "least"), [(6, 0.88), (20, 0.92)])
def test_hartung_knapp_covers_with_few_collections(k: int, least: float) -> None:
    """95 % intervals hold what they say; prediction intervals need more collections for that, because τ² does."""
    rng = np.random.default_rng(0)
    trials, tau = 4000, 0.1
    variances = rng.uniform(0.002, 0.01, (trials, k))
    true = rng.normal(0.05, tau, (trials, k))
    found = pooled_effects(true + rng.normal(0, np.sqrt(variances)), variances)
    covered = ((found.low <= 0.05) & (found.high >= 0.05)).mean()
    assert 0.935 <= covered <= 0.97
    new = rng.normal(0.05, tau, trials)
    predicted = ((found.predicted_low <= new) & (new <= found.predicted_high)).mean()
    assert least <= predicted <= 0.97


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_intervals_from_few_collections_hold_what_their_note_says(k: int) -> None:
    """Errors that are estimated from 20 topics and very unequal: the worst case of the note."""
    rng = np.random.default_rng(k)
    trials, n = 4000, 20
    sd = np.where(rng.random((trials, k)) < 0.3, 0.4, 0.1)[:, :, None]
    topics = rng.normal(0, 0.1, (trials, k))[:, :, None] + rng.normal(0, 1, (trials, k, n)) * sd
    found = pooled_effects(topics.mean(axis=2), topics.var(axis=2, ddof=1) / n)
    covered = ((found.low <= 0) & (found.high >= 0)).mean()
    assert 0.91 <= covered <= 0.96


def test_a_table_of_systems_says_what_is_not_corrected_and_what_intervals_held() -> None:
    notes = random_effects(made(3, 5), "run2").table().notes
    assert any("which held .92–.95 in simulations of 2 to 10 collections" in note for note in notes)
    assert "each system by itself: neither p nor intervals are corrected for 2 systems" in notes


def test_differences_are_paired_and_the_table_shows_them() -> None:
    collections = made(3, 5)
    found = random_effects(collections, "run2")
    first = collections["c0"]
    difference = first.of_run("run1") - first.of_run("run2")
    assert found.systems == ("run1", "run3")
    assert found.effects[0, 0] == pytest.approx(difference.mean())
    assert found.errors[0, 0] == pytest.approx(stats.sem(difference))
    low, high = found.ends("run1")
    paired = stats.ttest_rel(first.of_run("run1"), first.of_run("run2")).confidence_interval(0.95)
    assert (low[0], high[0]) == pytest.approx((paired.low, paired.high))
    rows = found.of("run1").table().rows
    assert [row[0] for row in rows] == [*collections, "mean of all", "a new collection"]
    assert random_effects(collections, "run2", standardized=True).scores == "cdf(P@10)"


def test_a_copy_of_the_baseline_has_no_mean_and_says_so() -> None:
    copies = {}
    for name, matrix in made(2, 4).items():
        copies[name] = ScoreMatrix.of(np.vstack([matrix.values, matrix.values[0]]), runs=["a", "b", "c"])
    found = random_effects(copies, "a")
    assert np.isnan(found.pooled.mean).tolist() == [False, True]
    assert any("1 systems score as the baseline" in note for note in found.table().notes)
    assert found.table().rows[-1][:2] == ("c", None)
    two = {name: copies[name] for name in ("c0", "c1")}
    assert "a prediction interval needs three collections" in random_effects(two, "a").table().notes


def test_bad_input_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match="no system 'x' on all collections"):
        random_effects(made(), "x")
    with pytest.raises(UsageError, match="no system 'x' beside the baseline 'run1'"):
        random_effects(made(), "run1").of("x")
    means = {name: ScoreMatrix.of([[0.1], [0.2]]) for name in "abc"}
    with pytest.raises(DataError, match="a: one score per system; random effects need scores on two topics or more"):
        random_effects(means, "run1")
    with pytest.raises(UsageError, match="interval"):
        random_effects(made(), "run1", interval="exact")
    with pytest.raises(UsageError, match="2 collections have no subsets worth a search"):
        best_collections({"a": means["a"], "b": means["b"]})


@pytest.mark.parametrize("aggregate", ["mean", "standardized", "borda", "mean-rank", "wins"])
def test_leaving_out_is_ranking_without(aggregate: str) -> None:
    collections = made(7, 5)
    found = leave_one_out(collections, aggregate=aggregate)
    cells = collection_cells(common_set(collections))[aggregate]
    everything = cells.mean(axis=0)
    for at in range(5):
        rest = np.delete(cells, at, axis=0).mean(axis=0).round(12)
        assert found.tau_without[at] == pytest.approx(stats.kendalltau(rest, everything.round(12)).statistic)
        assert found.tau_own[at] == pytest.approx(stats.kendalltau(cells[at].round(12), rest).statistic)
    assert found.table().column("tau_without") == sorted(found.tau_without.tolist())


@pytest.mark.parametrize("aggregate", ["mean", "mean-rank"])
def test_best_subsets_are_those_of_trying_all(aggregate: str) -> None:
    collections = made(8, 6)
    found = best_collections(collections, aggregate=aggregate)
    cells = collection_cells(common_set(collections))[aggregate].round(9)
    rows = found.table().rows
    assert [row[0] for row in rows] == [1, 2, 3, 4, 5]
    for count, best, *_ in rows:
        assert best == pytest.approx(oracle.best_subset(cells, count), abs=0.03)


def test_robust_2004_numbers_of_the_how_to() -> None:
    found = leave_one_out(robust())
    assert found.table().column("collection")[0] == "trec6"
    assert found.table().column("first without it")[0] == "pircRB04td2"
    effects = random_effects(robust(), "fub04TDNe").of("pircRB04td3")
    assert effects.table().rows[-2][2] == pytest.approx(0.0140, abs=5e-5)
    subsets = best_collections(robust()).table()
    assert subsets.column("best set")[0] == "trec7"
    assert subsets.column("tau_best")[0] == pytest.approx(0.8679, abs=5e-5)
