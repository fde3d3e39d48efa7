"""Measures of preferences against a loop over every pair of docs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError
from assay.measures.preferred import PREFERENCES, groups_of_topic
from tests.oracles.measures import preferences

levels = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=5)
subgroups = st.dictionaries(st.sampled_from("12"), levels, min_size=1, max_size=2)
groups = st.dictionaries(st.sampled_from("uvw"), subgroups, min_size=1, max_size=3)


@given(judged=groups, ranking=st.permutations("abcdxy"), size=st.integers(0, 6))
@settings(max_examples=200, deadline=None)
def test_every_pair_of_docs(judged: dict[str, dict[str, dict[str, float]]], ranking: list[str], size: int) -> None:
    try:
        found = groups_of_topic(judged, ranking[:size])
    except DataError:
        return  # a group that contradicts itself
    for name, wanted in preferences(judged, ranking[:size]).items():
        assert PREFERENCES[name].function(found) == pytest.approx(wanted), name


@given(judged=groups, ranking=st.permutations("abcdef"))
@settings(max_examples=100, deadline=None)
def test_every_share_lies_between_0_and_1(judged: dict[str, dict[str, dict[str, float]]], ranking: list[str]) -> None:
    try:
        found = groups_of_topic(judged, ranking)
    except DataError:
        return
    for entry in PREFERENCES:
        value = entry.function(found)
        assert value >= 0
        assert value <= 1 or entry.facts.get("whole")


def test_preferences_that_follow_from_others_count() -> None:
    """a > b in one subgroup and b > c in another make a > c."""
    found = groups_of_topic({"u": {"1": {"a": 2.0, "b": 1.0}, "2": {"b": 2.0, "c": 1.0}}}, ["a", "b", "c"])
    assert PREFERENCES["prefs_num_prefs_poss"].function(found) == 3


def test_as_many_nonrelevant_docs_as_relevant_ones() -> None:
    """One relevant doc below two others: only the first of them counts, and is compared with both, as in trec_eval."""
    found = groups_of_topic({"u": {"1": {"a": 1.0, "x": 0.0, "y": 0.0}}}, ["x", "y", "a"])
    assert PREFERENCES["prefs_avgjg_Rnonrel"].function(found) == 0.0
    found = groups_of_topic({"u": {"1": {"a": 1.0, "x": 0.0, "y": 0.0}}}, ["a", "x", "y"])
    assert PREFERENCES["prefs_avgjg_Rnonrel"].function(found) == pytest.approx(1 / 3)


def test_level_0_is_not_relevant_in_every_subgroup() -> None:
    with pytest.raises(DataError, match="level 0 in one subgroup"):
        groups_of_topic({"u": {"1": {"a": 0.0, "b": 1.0}, "2": {"a": 1.0, "c": 2.0}}}, ["a"])
