"""Shares of good subsets: by listing all of them, and on the published 96 runs of TREC-8."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.topics.good_enough import good_subsets
from tests.topics.released import made, released_top96


def test_shares_by_listing_all_subsets() -> None:
    matrix = made(runs=7, topics=6)
    found = good_subsets(matrix, {"tau": 0.6, "pearson": 0.8})
    full = matrix.values.mean(axis=1)
    for place, c in enumerate(found.c):
        tau, pearson = [], []
        for subset in combinations(range(6), c):
            means = matrix.values[:, list(subset)].mean(axis=1).round(12)
            tau.append(stats.kendalltau(means, full).statistic >= 0.6)
            pearson.append(stats.pearsonr(means, full).statistic >= 0.8)
        assert found.shares["tau"][place] == pytest.approx(np.mean(tau))
        assert found.shares["pearson"][place] == pytest.approx(np.mean(pearson))
        assert found.together[place] == pytest.approx(np.mean(np.array(tau) & np.array(pearson)))


def test_good_subsets_of_trec_8() -> None:
    """Berto et al. 2013, as Roitero 2020 quotes them: half of the subsets of 25 topics are good, 99 % from 35 on.

    Both come out for Pearson's ρ ≥ .96 alone; with τ ≥ .85 as well it takes 31 and 40 topics.
    """
    found = good_subsets(released_top96(), {"tau": 0.85, "pearson": 0.96}, repetitions=2000)
    at = {c: place for place, c in enumerate(found.c)}
    assert found.shares["pearson"][at[25]] > 0.5
    assert found.shares["pearson"][at[35]] > 0.99
    assert found.shares["tau"][at[25]] < 0.2
    assert found.enough(0.5) in (30, 31, 32)
    assert found.enough(0.99) in (40, 41, 42)


def test_all_at_once_is_of_the_same_subsets() -> None:
    """Without ties τ = 1 − 2·error rate: both thresholds are reached by the same random subsets, so all at once too."""
    rng = np.random.default_rng(4)
    matrix = ScoreMatrix.of(0.03 * np.arange(9)[:, None] + rng.random((9, 14)), measure="AP")
    found = good_subsets(matrix, {"tau": 0.5, "error-rate": 0.25}, repetitions=300)
    assert 0 < found.together[5] < 1
    assert found.together.tolist() == found.shares["tau"].tolist() == found.shares["error-rate"].tolist()
    assert list(found.named_shares()) == ["tau ≥ 0.5", "error-rate ≤ 0.25", "all"]
    by_row = found.table().column("subsets")
    assert by_row == [*found.shares["tau"], *found.shares["error-rate"], *found.together]


def test_enough_topics() -> None:
    found = good_subsets(made(), {"tau": 0.5}, repetitions=200)
    enough = found.enough(0.9)
    assert enough is not None
    assert (found.together[enough - 1 :] >= 0.9).all()
    assert found.together[enough - 2] < 0.9
    assert good_subsets(made(), {"tau": 1.0}, repetitions=200, cardinalities=(1, 2)).enough(0.9) is None


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="no threshold"):
        good_subsets(made(), {})
    with pytest.raises(UsageError, match="the 99 best runs"):
        good_subsets(made(), {"tau": 0.8}, runs=99)
    with pytest.raises(UsageError, match="0 repetitions"):
        good_subsets(made(), {"tau": 0.8}, repetitions=0)
    with pytest.raises(UsageError, match="no criterion 'taw'"):
        good_subsets(made(), {"taw": 0.8})
