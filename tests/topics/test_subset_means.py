"""Means of runs on best and worst subsets: by a plain loop, and Roitero 2020's finding that worst subsets are hard."""

from __future__ import annotations

import numpy as np
import pytest

from assay.topics import search_subsets
from assay.topics.subset_means import subset_means
from tests.topics.released import made, used


def test_means_by_a_plain_loop() -> None:
    matrix = made()
    found = search_subsets(matrix, search="swap(rounds=1)")
    result = subset_means(found, (2, 5))
    assert result.full.tolist() == pytest.approx([float(np.mean(row)) for row in matrix.values])
    for side in ("best", "worst"):
        for c in (2, 5):
            subset = found.subsets(side, c=c)[0]
            for place, run in enumerate(matrix.runs):
                scores = [matrix.values[matrix.runs.index(run), matrix.topics.index(t)] for t in subset.topics]
                assert result.means[side, c][place] == pytest.approx(sum(scores) / c)
            assert result.values[side, c] == subset.value
    rows = result.table().rows
    assert [row[:2] for row in rows] == [("best", 2), ("worst", 2), ("best", 5), ("worst", 5), ("all", 10)]


def test_worst_subsets_of_robust_are_hard_topics() -> None:
    """Roitero 2020, Fig. 4.5: scores on the worst subsets are lower, and in a smaller range."""
    found = search_subsets(used("robust2004", 82), search="swap(starts=1, rounds=1)", cardinalities=(50, 100))
    result = subset_means(found, (50, 100))
    for c in (50, 100):
        assert result.means["worst", c].mean() < result.full.mean()
        assert np.ptp(result.means["worst", c]) < np.ptp(result.full)
