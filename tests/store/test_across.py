"""Scores of a store's collections for a board: tags, runs that are left out, measures that differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.board import board
from assay.core.errors import UsageError
from assay.data import Run
from assay.store import Store
from assay.store.across import scores_by_collection, systems_over_collections


@pytest.fixture
def lab(tmp_path: Path) -> Store:
    """Two collections with three tags each, two of them in both; a third without judgments."""
    store = Store(tmp_path / "lab")
    lists = {"bm25": "abc", "dense": "bac", "tf": "cba"}
    for name in ("news", "web"):
        store.collections.add(name, measure="P@1")
        store.qrels.add(name, {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}, "3": {"b": 1}})
        for tag, docs in lists.items():
            if (name, tag) != ("web", "tf"):
                store.runs.add(name, Run.from_lists(tag, {topic: [*docs, name] for topic in "123"}))
    store.collections.add("law", measure="P@1")
    return store


def test_a_tag_is_one_system_and_the_better_of_two_runs_stands_for_it(lab: Store) -> None:
    with lab as store:
        store.runs.add("news", Run.from_lists("tf", {"1": ["a"], "2": ["a"], "3": ["b"]}))
        found = scores_by_collection(store)
    assert list(found) == ["news", "web"]
    assert set(found["news"].runs) == {"bm25", "dense", "tf"}
    assert found["news"].to_dict()["tf"] == {"1": 1.0, "2": 1.0, "3": 1.0}
    assert found["web"].to_dict()["bm25"] == {"1": 1.0, "2": 1.0, "3": 0.0}
    assert found["web"].measure == "P@1"


def test_private_runs_are_seen_by_who_owns_the_folder(lab: Store) -> None:
    with lab as store:
        store.runs.add("web", Run.from_lists("mine", {"1": ["a"]}), visibility="private")
        assert "mine" not in scores_by_collection(store)["web"].runs
        assert "mine" in scores_by_collection(store, seen_by=None)["web"].runs


def test_the_board_of_a_store_is_that_of_the_library(lab: Store) -> None:
    with lab as store:
        found = systems_over_collections(store)
        expected = board(scores_by_collection(store))
    assert found.board.table() == expected.table()
    assert found.lead is not None
    assert [figure.name for figure in found.figures()] == ["rank-intervals", "collection-map", "forest"]
    assert len(found.tables()) == 3


def test_what_is_wrong_is_said(lab: Store) -> None:
    with lab as store:
        with pytest.raises(UsageError, match="collection 'law' has no judgments; it needs judgments and at least two"):
            scores_by_collection(store, chosen=["law"])
        with pytest.raises(UsageError, match="no collection 'new'; did you mean news"):
            scores_by_collection(store, chosen=["new"])
        store.qrels.add("law", {"1": {"a": 1}})
        with pytest.raises(UsageError, match="collection 'law' has 0 runs"):
            scores_by_collection(store, chosen=["law"])
        store.collections.add("code", measure="AP")
        store.qrels.add("code", {"1": {"a": 1}})
        for tag in ("bm25", "dense"):
            store.runs.add("code", Run.from_lists(tag, {"1": [tag, "a"]}))
        with pytest.raises(UsageError, match=r"different measures \(AP, P@1\); choose one of them for all"):
            scores_by_collection(store)
        assert len(scores_by_collection(store, measure="AP")) == 3
