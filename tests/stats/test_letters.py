"""Compact letters: two runs share a letter exactly when they do not differ, for any number of runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.stats.letters import compact_letters
from assay.stats.pairwise import all_pairs
from tests.oracles.stats import trec8


def shares_a_letter(groups: tuple[tuple[int, ...], ...], runs: int) -> Floats:
    member = np.array([[i in g for i in range(runs)] for g in groups])
    return np.asarray((member.T.astype(int) @ member.astype(int)) > 0)


@given(st.integers(1, 12), st.integers(0, 10**6), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_letters_say_exactly_who_differs(runs: int, seed: int, rate: float) -> None:
    upper = np.triu(np.random.default_rng(seed).random((runs, runs)) < rate, 1)
    different = upper | upper.T
    found = compact_letters(different)
    assert (shares_a_letter(found.groups, runs) == ~different).all()
    assert all(found.labels)
    member = np.array([[i in g for i in range(runs)] for g in found.groups], dtype=int)
    times = member.T @ member
    assert all((times[np.ix_(g, g)] == 1).any() for g in found.groups)  # every letter says something that no other does


@given(st.lists(st.floats(0, 1), min_size=1, max_size=25), st.floats(0.01, 0.5))
@settings(max_examples=80, deadline=None)
def test_one_critical_difference_gives_the_fewest_letters(means: list[float], critical: float) -> None:
    """With one critical difference the groups are the stretches of the ordered means that no other stretch holds."""
    ordered = np.sort(means)[::-1]
    found = compact_letters(np.abs(ordered[:, None] - ordered) > critical)
    ends = [int(np.flatnonzero(ordered[i] - ordered <= critical)[-1]) for i in range(len(ordered))]
    stretches = [(i, e) for i, e in enumerate(ends) if i == 0 or e > ends[i - 1]]
    assert [(g[0], g[-1]) for g in found.groups] == stretches
    assert all(list(g) == list(range(g[0], g[-1] + 1)) for g in found.groups)


def test_plain_cases() -> None:
    assert compact_letters(np.zeros((3, 3), dtype=bool)).labels == ("a", "a", "a")
    assert compact_letters(~np.eye(3, dtype=bool)).labels == ("a", "b", "c")
    assert compact_letters(np.zeros((0, 0), dtype=bool)).labels == ()


def test_more_runs_than_letters() -> None:
    labels = compact_letters(~np.eye(800, dtype=bool)).labels
    assert labels[25:28] == ("z", "aa", "ab")
    assert len(set(labels)) == 800


@pytest.mark.parametrize("test", ["t", "tukey"])
def test_letters_of_trec8(test: str) -> None:
    pairs = all_pairs(trec8().by_average(), test)
    different = pairs.square(pairs.corrected("holm")) < 0.05
    found = compact_letters(different)
    assert (shares_a_letter(found.groups, 129) == ~different).all()


def test_what_is_not_symmetric_is_refused() -> None:
    with pytest.raises(DataError, match="symmetric"):
        compact_letters([[False, True], [False, False]])
