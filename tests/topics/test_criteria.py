"""Criteria against scipy, plain loops over pairs, and the single-pair forms of assay.similarity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.rankings import midranks
from assay.rankings.batch import listed_ties, pair_counts
from assay.rankings.correlation import CORRELATIONS
from assay.rankings.rank_biased import rbo_of_scores
from assay.topics.criteria import CRITERIA, pearson, rbo, spearman, tau, tau_ap
from tests.oracles import topics as oracle

FULL = np.array([7, 3, 3, 9, 1, 4, 4, 8])
ROWS = np.random.default_rng(1).integers(0, 6, (40, 8))


def test_scipy_agrees() -> None:
    np.testing.assert_allclose(tau(ROWS, FULL), [stats.kendalltau(r, FULL).statistic for r in ROWS], atol=1e-12)
    np.testing.assert_allclose(spearman(ROWS, FULL), [stats.spearmanr(r, FULL).statistic for r in ROWS], atol=1e-12)
    np.testing.assert_allclose(pearson(ROWS, FULL), [stats.pearsonr(r, FULL).statistic for r in ROWS], atol=1e-12)
    np.testing.assert_allclose(midranks(ROWS), stats.rankdata(ROWS, axis=1))


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
def test_tau_is_the_same_for_small_wide_and_broken_numbers(kind: type) -> None:
    wide: np.ndarray = ROWS.astype(kind) * (10**15 if kind is np.int64 else 1)
    np.testing.assert_array_equal(tau(wide, FULL), tau(ROWS, FULL))


@pytest.mark.parametrize("m", [3, 96, 300])
def test_tau_of_many_runs(m: int) -> None:
    rng = np.random.default_rng(m)
    full, rows = rng.integers(0, 5 * m, m), rng.integers(0, 3 * m, (5, m))
    np.testing.assert_allclose(tau(rows, full), [stats.kendalltau(r, full).statistic for r in rows], atol=1e-12)


@pytest.mark.parametrize("name", ["tau-ap", "rbo", "spearman"])
def test_each_row_stands_for_itself(name: str) -> None:
    rng = np.random.default_rng(2)
    rows, full = rng.integers(0, 90, (2500, 40)), rng.integers(0, 30, 40)  # ties in both, and several portions
    function, some = CRITERIA[name].function, [0, 1023, 1024, 2499]
    np.testing.assert_allclose(function(rows, full)[some], [function(rows[[i]], full)[0] for i in some], atol=1e-12)
    assert function(rows[:0], full).shape == (0,)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=5, max_size=5), st.permutations(range(5)))
def test_ties_are_all_orders_equally_often(row: list[int], full: list[int]) -> None:
    sums, truth = np.array([row]), np.array(full)
    assert tau(sums, truth)[0] == pytest.approx(oracle.tau_b(row, full))
    assert tau_ap(sums, truth)[0] == pytest.approx(oracle.tau_ap(row, full))
    assert rbo(sums, truth, p=0.8)[0] == pytest.approx(oracle.rbo(row, full, 0.8))


def test_ties_on_all_topics_too() -> None:
    full = [2, 2, 1, 0]
    row = [3, 1, 1, 3]
    assert tau_ap(np.array([row]), np.array(full))[0] == pytest.approx(oracle.tau_ap(row, full))
    assert rbo(np.array([row]), np.array(full), p=0.7)[0] == pytest.approx(oracle.rbo(row, full, 0.7))
    assert listed_ties(np.array([5, 5, 1, 5])) == [(0, 1), (1, 3), (0, 3)]


def test_similarity_agrees() -> None:
    for name, other in (("tau", "tau-b"), ("pearson", "pearson"), ("spearman", "spearman")):
        single = CORRELATIONS[other].function
        np.testing.assert_allclose(CRITERIA[name].function(ROWS, FULL), [single(FULL, r) for r in ROWS], atol=1e-12)
    exact = CORRELATIONS["tau-ap"].function
    np.testing.assert_allclose(tau_ap(ROWS, FULL), [exact(FULL, r) for r in ROWS], atol=1e-12)
    np.testing.assert_allclose(rbo(ROWS, FULL), [rbo_of_scores(FULL, r) for r in ROWS], atol=1e-12)


@pytest.mark.parametrize("entry", list(CRITERIA), ids=lambda e: e.name)
def test_the_full_set_is_perfect_and_the_reverse_is_not(entry: object) -> None:
    function, higher = entry.function, entry.facts["higher"]  # type: ignore[attr-defined]
    full = np.arange(10)
    perfect, reverse = function(np.array([full, full[::-1]]), full)
    assert perfect == pytest.approx(1.0 if higher else 0.0)
    assert (perfect > reverse) == higher


@pytest.mark.parametrize("name", ["pearson", "tau", "spearman"])
def test_a_subset_that_ties_all_runs_is_worth_nothing(name: str) -> None:
    assert CRITERIA[name].function(np.ones((1, 8), int), FULL)[0] == 0.0


def test_pair_counts_count() -> None:
    agree, against = pair_counts(ROWS, FULL)
    for row, plus, minus in zip(ROWS, agree, against, strict=True):
        signs = [np.sign(row[i] - row[j]) * np.sign(FULL[i] - FULL[j]) for i in range(8) for j in range(i)]
        assert (plus, minus) == (sum(s > 0 for s in signs), sum(s < 0 for s in signs))
