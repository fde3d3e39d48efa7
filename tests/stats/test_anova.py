"""Analyses of variance: published values, statsmodels, scipy, sums of squares by loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.data.scores import ScoreMatrix
from assay.io.scores import read_scores
from assay.stats.anova import friedman, one_way, one_way_by_measure, two_way, variance_factors
from tests.conftest import real_data
from tests.oracles.stats import SAKAI, trec8, two_way_squares
from tests.oracles.stats import scipy_stats as stats


def test_two_way_of_sakai() -> None:
    a = two_way(ScoreMatrix.of(SAKAI))
    squares = [a[s].squares for s in ("run", "topic", "residual")]
    assert squares == pytest.approx([0.1083, 1.0293, 0.8317], abs=5e-5)
    assert [a[s].mean_square for s in ("run", "topic", "residual")] == pytest.approx([0.0542, 0.0542, 0.0219], abs=5e-5)
    assert (a["run"].f, a["topic"].f) == pytest.approx((2.475, 2.475), abs=5e-4)
    assert (a["run"].p, a["topic"].p) == pytest.approx((0.098, 0.009), abs=5e-4)


def test_two_way_of_trec8() -> None:
    a = two_way(trec8())
    assert a["run"].f == pytest.approx(34.46338, abs=5e-6)
    assert a["topic"].f == pytest.approx(251.94655, abs=5e-6)
    assert a["residual"].mean_square == pytest.approx(0.01360815, abs=5e-9)
    assert (a["run"].df, a["topic"].df, a["residual"].df) == (128, 49, 6272)


def test_two_way_is_statsmodels() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rows = [(f"r{i}", f"t{j}", SAKAI[i, j]) for i in range(3) for j in range(20)]
    table = anova_lm(ols("y ~ C(s) + C(t)", pd.DataFrame(rows, columns=["s", "t", "y"])).fit(), typ=2)
    a = two_way(ScoreMatrix.of(SAKAI))
    for name, theirs in (("run", "C(s)"), ("topic", "C(t)")):
        assert a[name].f == pytest.approx(table.loc[theirs, "F"], rel=1e-10)
        assert a[name].p == pytest.approx(table.loc[theirs, "PR(>F)"], rel=1e-8)
    assert a["residual"].squares == pytest.approx(table.loc["Residual", "sum_sq"], rel=1e-10)


@given(st.integers(2, 5), st.integers(2, 6), st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_two_way_by_loops(runs: int, topics: int, seed: int) -> None:
    values = np.random.default_rng(seed).random((runs, topics))
    a = two_way(ScoreMatrix.of(values))
    ours = [a[s].squares for s in ("run", "topic", "residual")]
    assert ours == pytest.approx(two_way_squares(values), abs=1e-12)
    assert sum(ours) == pytest.approx(((values - values.mean()) ** 2).sum())


def test_one_way_is_scipy_with_unequal_groups() -> None:
    rng = np.random.default_rng(3)
    groups = [rng.normal(m, 1, n) for m, n in ((0, 10), (0.5, 25), (1, 7))]
    a = one_way(groups)
    f, p = stats.f_oneway(*groups)
    assert (a["run"].f, a["run"].p) == pytest.approx((f, p), rel=1e-10)
    assert a["residual"].df == 39


def test_effect_sizes_by_their_formulas() -> None:
    a = two_way(trec8())
    run, left = a["run"], a["residual"]
    total = run.squares + a["topic"].squares + left.squares
    assert run.f is not None
    assert run.eta2 == pytest.approx(run.squares / total)
    assert run.partial_eta2 == pytest.approx(run.squares / (run.squares + left.squares))
    assert run.omega2 == pytest.approx((run.squares - run.df * left.mean_square) / (total + left.mean_square))
    assert run.partial_omega2 == pytest.approx(run.df * (run.f - 1) / (run.df * (run.f - 1) + 6450))


def test_two_runs_give_the_square_of_t() -> None:
    a = two_way(ScoreMatrix.of(SAKAI[:2]))
    t = stats.ttest_rel(SAKAI[0], SAKAI[1])
    assert a["run"].f == pytest.approx(t.statistic**2)
    assert a["run"].p == pytest.approx(t.pvalue)


def test_friedman_is_scipy_ties_and_all() -> None:
    f = friedman(ScoreMatrix.of(SAKAI))
    theirs = stats.friedmanchisquare(*SAKAI)
    assert (f.chi2, f.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-10)
    big = friedman(trec8())
    assert big.chi2 == pytest.approx(stats.friedmanchisquare(*trec8().values).statistic, rel=1e-10)
    assert big.w == pytest.approx(big.chi2 / (50 * 128))
    assert big.table().rows[0][0] == "READWARE2"


@pytest.mark.parametrize("values", [np.full((3, 4), 0.3), np.tile([0.1, 0.2, 0.3, 0.4], (3, 1))])
def test_identical_runs_do_not_differ(values: Floats) -> None:
    m = ScoreMatrix.of(values)
    assert (two_way(m)["run"].f, two_way(m)["run"].p) == (0.0, 1.0)
    assert (friedman(m).chi2, friedman(m).p) == (0.0, 1.0)
    assert "nan" not in two_way(m).table().text().lower()


def test_no_residual_is_infinite_f() -> None:
    a = two_way(ScoreMatrix.of([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4]]))
    assert (a["run"].f, a["run"].p) == (np.inf, 0.0)
    assert "nan" not in a.table().text().lower()


def test_too_little_is_refused() -> None:
    one = ScoreMatrix.of([[0.1], [0.2]])
    for analysis in (two_way, friedman):
        with pytest.raises(DataError, match="at least 2 × 2"):
            analysis(one)
    with pytest.raises(DataError, match="needs two groups"):
        one_way([[0.1, 0.2]])
    with pytest.raises(DataError, match="no source of variance 'system'"):
        two_way(ScoreMatrix.of(SAKAI))["system"]


def test_one_way_by_measure_is_scipys_on_runs_with_their_own_topics() -> None:
    rng = np.random.default_rng(4)
    old = ScoreMatrix.of(rng.random((2, 9)), runs=["a", "b"], measure="AP")
    new = ScoreMatrix.of(rng.random((3, 6)) + 0.2, runs=["c", "d", "e"], topics=range(20, 26), measure="AP")
    other = ScoreMatrix.of(rng.random((2, 9)), runs=["a", "b"], measure="RR")
    ap, rr = one_way_by_measure([old, new, other])
    expected = stats.f_oneway(*old.values, *new.values)
    assert (ap["run"].f, ap["run"].p) == pytest.approx((expected.statistic, expected.pvalue))
    assert (ap["run"].df, ap["residual"].df, ap.measure) == (4, 36 - 5, "AP")
    assert rr["run"].f == pytest.approx(stats.f_oneway(*other.values).statistic)
    with pytest.raises(DataError, match="run 'a' is in two files; give it once, or rename one"):
        one_way_by_measure([old, old.select(topics=["1", "2"])])


def test_topics_taken_out_of_trec8() -> None:
    """The two values of F that the guide states."""
    matrix = read_scores(real_data("trec-score-matrices/named/trec8-adhoc_ap.csv"))[0]
    [without_topics] = one_way_by_measure([matrix])
    assert without_topics["run"].f == pytest.approx(stats.f_oneway(*matrix.values).statistic)
    assert (round(without_topics["run"].f or 0, 2), round(two_way(matrix)["run"].f or 0, 2)) == (11.7, 34.46)


def test_a_variance_lies_between_its_factors() -> None:
    assert variance_factors(9) == pytest.approx((9 / stats.chi2.ppf(0.975, 9), 9 / stats.chi2.ppf(0.025, 9)))
    rng = np.random.default_rng(1)
    squares = [two_way(ScoreMatrix.of(rng.normal(size=(3, 6))))["residual"].mean_square for _ in range(400)]
    low, high = np.outer(variance_factors(10), squares)
    assert 0.92 < ((low < 1) & (high > 1)).mean() < 0.98
