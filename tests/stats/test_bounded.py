"""The Dirichlet bound: printed values, closed forms, draws, and coverage where a t interval has none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from assay.stats.bounded import bounded_ends, lower_bound, p_at_most, p_two_sided, share_that_may_differ, upper_bound

G2 = [0.02, -0.05, 0.00, 0.10, -0.20, 0.03, 0.00, 0.07, -0.01, 0.04]


def test_printed_values() -> None:
    assert lower_bound([0] * 25, 0.05, -1) == pytest.approx(-0.112928, abs=5e-7)
    assert lower_bound([0] * 48 + [-1] * 2, 0.05, -1) == pytest.approx(-0.120614, abs=5e-7)
    assert lower_bound([-1] * 3 + [1] * 7 + [0] * 90, 0.05, -1) == pytest.approx(-0.022485, abs=5e-7)
    assert p_at_most([-1] * 3 + [1] * 7 + [0] * 90, -0.02, -1) == pytest.approx(0.058147, abs=5e-7)
    assert lower_bound(G2, 0.05, -1) == pytest.approx(-0.26130, abs=5e-6)
    assert p_at_most(G2, -0.20, -1) == pytest.approx(0.110970, abs=5e-7)


@pytest.mark.parametrize(
    ("topics", "bound"), [(10, -0.259), (25, -0.113), (50, -0.058), (100, -0.030), (200, -0.015), (400, -0.0075)]
)
def test_what_no_change_can_show(topics: int, bound: float) -> None:
    assert lower_bound([0] * topics, 0.05, -1) == pytest.approx(bound, abs=6e-4)
    assert -share_that_may_differ(topics, 0.05) == pytest.approx(lower_bound([0] * topics, 0.05, -1), abs=1e-9)


def test_two_sided_ends() -> None:
    low, high = bounded_ends([[0.0] * 12, [0.0] * 11 + [1.0]], 0.95, (0, 1))
    assert low[0] == 0
    assert high[0] == pytest.approx(0.265, abs=5e-4)
    assert upper_bound([0] * 12, 0.05, 1) == pytest.approx(0.221, abs=5e-4)
    low, high = bounded_ends([[1, 1]], 0.95, (-1, 1))
    assert (low[0], high[0]) == (pytest.approx(-0.6838, abs=5e-5), 1)
    assert p_two_sided([1, 1], 0, (-1, 1)) == pytest.approx(2 * 0.25, abs=1e-9)


@pytest.mark.parametrize(("n", "losses"), [(20, 1), (50, 2), (1000, 7), (20_000, 2)])
def test_of_zeros_and_ones_it_is_clopper_and_pearson(n: int, losses: int) -> None:
    ours = lower_bound([-1] * losses + [0] * (n - losses), 0.05, -1)
    assert ours == pytest.approx(-beta.ppf(0.95, losses + 1, n - losses), abs=2e-9)


def test_as_draws_from_dirichlet_have_it() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(0.02, 0.2, 40).clip(-1, 1)
    weights = rng.exponential(size=(100_000, 41))
    drawn = weights @ np.append(values, -1) / weights.sum(axis=1)
    for threshold in (-0.1, 0.0, 0.05):
        assert p_at_most(values, threshold, -1) == pytest.approx((drawn <= threshold).mean(), abs=0.005)


@pytest.mark.parametrize("success", [0.1, 0.3])
def test_it_covers_rare_successes(success: float) -> None:
    rng = np.random.default_rng(6)
    rows = (rng.random((1500, 10)) < success).astype(float)
    low, high = bounded_ends(rows, 0.95, (0, 1))
    assert ((low <= success) & (success <= high)).mean() > 0.95
