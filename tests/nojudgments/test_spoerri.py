"""Spoerri: the design of the trials, and shares against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data import Run
from assay.nojudgments.basis import comparable
from assay.nojudgments.predictors import METHODS, predicted
from assay.nojudgments.spoerri import overlap_shares, trials
from tests.oracles import nojudgments as plain

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6), min_size=2, max_size=9).filter(
    lambda r: sum(map(bool, r)) > 1
)


@given(st.integers(6, 150), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_each_run_is_in_five_different_trials_of_five(runs: int, seed: int) -> None:
    drawn = trials(runs, seed=seed)
    assert drawn.shape == (runs, 5)
    assert all(len(set(t)) == 5 for t in drawn.tolist())
    assert np.bincount(drawn.ravel()).tolist() == [5] * runs
    assert len({frozenset(t) for t in drawn.tolist()}) == runs


def test_trials_differ_even_where_a_pattern_could_repeat() -> None:
    """With 10 runs the places 0 2 4 6 8 come back after a fifth of a turn; such a pattern is never used."""
    for seed in range(300):
        assert len({frozenset(t) for t in trials(10, seed=seed).tolist()}) == 10


def test_few_runs_are_one_trial() -> None:
    assert trials(5).tolist() == [[0, 1, 2, 3, 4]]
    assert trials(3).tolist() == [[0, 1, 2]]
    with pytest.raises(UsageError, match="at least two"):
        trials(1)


@given(RANKINGS, st.integers(0, 5))
@settings(max_examples=50, deadline=None)
def test_shares_against_plain_loops(rankings: list[list[str]], seed: int) -> None:
    runs = {f"r{i}": docs for i, docs in enumerate(rankings)}
    lists = comparable([Run.from_lists(n, {"1": docs}) for n, docs in runs.items()])
    drawn = [[f"r{i}" for i in t] for t in trials(len(runs), seed=seed).tolist()]
    wanted = np.array([plain.shares_in_trials(runs, drawn, r) for r in runs])
    single, everywhere = overlap_shares(lists, seed=seed)
    np.testing.assert_allclose(np.column_stack([single[:, 0], everywhere[:, 0]]), wanted, atol=1e-12)


def test_less_is_better_and_predictions_are_turned() -> None:
    runs = [Run.from_lists(n, {"1": list(docs)}) for n, docs in [("a", "xy"), ("b", "xz"), ("c", "xy")]]
    lists = comparable(runs)
    single, everywhere = overlap_shares(lists)
    assert single[:, 0].tolist() == [0.0, 0.5, 0.0]
    assert everywhere[:, 0].tolist() == [0.5, 0.5, 0.5]
    assert not METHODS["spoerri-single"].facts["higher"]
    np.testing.assert_array_equal(predicted(lists, "spoerri-single").values, -single)
    np.testing.assert_array_equal(predicted(lists, "spoerri-difference").values, everywhere - single)
    assert "negated" in predicted(lists, "spoerri-single").signature
    assert "negated" not in predicted(lists, "spoerri-all").signature


def test_top_50_reads_no_deeper() -> None:
    docs = [f"d{i:03d}" for i in range(60)]
    runs = [Run.from_lists("a", {"1": docs}), Run.from_lists("b", {"1": docs[::-1]})]
    single, _ = overlap_shares(comparable(runs), depth=50)
    assert single[:, 0].tolist() == [0.2, 0.2]
