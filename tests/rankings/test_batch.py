"""Many rankings at once give what one at a time gives; the undefined is NaN; rounding makes no order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.core.errors import DataError
from assay.rankings import kendall_matrix, kendall_rows, kendall_tau_a, kendall_tau_b, settled
from assay.rankings.batch import pair_counts, pair_signs, pearson_rows, spearman_rows, tau_ap_rows, tau_of_signs
from assay.rankings.correlation import tau_ap

ROWS = np.random.default_rng(1).integers(0, 6, (40, 8))
FEW_TIES = np.array([7, 3, 3, 9, 1, 4, 4, 8])
MANY_TIES = np.array([1, 1, 1, 0, 0, 0, 1, 1])


@pytest.mark.parametrize("truth", [FEW_TIES, MANY_TIES, np.arange(8)], ids=["few ties", "many ties", "no ties"])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
def test_rows_are_scipys(truth: np.ndarray, kind: type) -> None:
    rows: np.ndarray = ROWS.astype(kind) * (10**15 if kind is np.int64 else 1)
    taus = [stats.kendalltau(r, truth).statistic for r in rows]
    np.testing.assert_allclose(kendall_rows(rows, truth), taus, atol=1e-12)
    np.testing.assert_allclose(kendall_rows(rows, truth, ties="a"), [kendall_tau_a(truth, r) for r in rows], atol=1e-12)
    np.testing.assert_allclose(
        spearman_rows(rows, truth), [stats.spearmanr(r, truth).statistic for r in rows], atol=1e-12
    )
    np.testing.assert_allclose(
        pearson_rows(rows, truth), [stats.pearsonr(r, truth).statistic for r in rows], atol=1e-12
    )
    np.testing.assert_allclose(tau_ap_rows(rows, truth), [tau_ap(truth, r) for r in rows], atol=1e-12)


@pytest.mark.parametrize("items", [2, 3, 96, 256, 257, 300])
def test_rows_of_many_items(items: int) -> None:
    rng = np.random.default_rng(items)
    truth, rows = rng.integers(0, 5 * items, items), rng.integers(0, 3 * items, (5, items))
    truth[:2] = 0, 1
    rows[:, :2] = 0, 1
    np.testing.assert_allclose(
        kendall_rows(rows, truth), [stats.kendalltau(r, truth).statistic for r in rows], atol=1e-12
    )
    np.testing.assert_allclose(kendall_rows(rows / 7, truth), kendall_rows(rows, truth))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=6), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_pairs_are_counted_as_by_listing(row: list[int], truth: list[int]) -> None:
    pairs = [(row[i] - row[j]) * (truth[i] - truth[j]) for i in range(6) for j in range(i)]
    agree, against = pair_counts(np.array([row]), np.array(truth))
    assert (agree[0], against[0]) == (sum(x > 0 for x in pairs), sum(x < 0 for x in pairs))


def test_a_row_or_a_truth_without_order_has_no_tau() -> None:
    rows = [[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]]
    assert np.isnan(kendall_rows(rows, [1, 2, 3])).tolist() == [False, True]
    assert kendall_rows(rows, [1, 2, 3], undefined=0.0).tolist() == [1.0, 0.0]
    assert np.isnan(kendall_rows(rows, [4, 4, 4])).all()
    assert kendall_rows(rows, [4, 4, 4], ties="a").tolist() == [0.0, 0.0]
    assert np.isnan(spearman_rows(rows, [1, 2, 3])[1])
    assert np.isnan(kendall_matrix(rows)[1]).all()
    assert kendall_matrix(rows, undefined=0.0)[1].tolist() == [0.0, 0.0]
    signs = pair_signs(np.array(rows))
    assert np.isnan(tau_of_signs(signs, signs)[1]).all()
    assert tau_of_signs(signs, signs, undefined=0.0).tolist() == [[1.0, 0.0], [0.0, 0.0]]
    with pytest.raises(DataError, match="all 3 scores are equal"):
        kendall_tau_b([1, 2, 3], [5, 5, 5])


def test_no_rows() -> None:
    assert kendall_rows(np.empty((0, 3)), [1, 2, 3]).shape == (0,)
    assert tau_ap_rows(np.empty((0, 3)), [1, 2, 3]).shape == (0,)


@pytest.mark.parametrize(
    ("rows", "truth", "said"),
    [
        ([[1.0, 2.0]], [1.0, 2.0, 3.0], "over the items of the truth"),
        ([[1.0]], [1.0], "two items or more"),
        ([[1.0, float("inf")]], [1.0, 2.0], "must be finite"),
    ],
)
def test_bad_rows_are_refused(rows: list[list[float]], truth: list[float], said: str) -> None:
    with pytest.raises(DataError, match=said):
        kendall_rows(rows, truth)


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1.0, 1e18, 1e300])
def test_rounding_makes_no_order_at_any_scale(scale: float) -> None:
    noisy, exact = np.array([0.1 + 0.2, 0.3, 0.9]) * scale, np.array([0.3, 0.3, 0.9]) * scale
    assert settled(noisy)[0] == settled(noisy)[1] < settled(noisy)[2]
    assert kendall_tau_b(settled(noisy), settled(exact)) == 1.0
    np.testing.assert_allclose(settled(noisy), noisy, rtol=1e-11)


def test_each_row_is_settled_by_its_own_largest_score() -> None:
    rows = np.array([[1e-14, 2e-14], [0.5, 0.5 + 1e-15]])
    assert (np.diff(settled(rows))[:, 0] > 0).tolist() == [True, False]
    assert settled([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert settled(np.empty((0, 2))).shape == (0, 2)
