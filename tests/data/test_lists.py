"""Lists: the coded form of many runs against plain dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run, RunInfo
from assay.data.grades import UNJUDGED
from assay.data.lists import Lists, collected

DOCS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)
COLLECTIONS = st.lists(st.fixed_dictionaries({"1": DOCS, "10": DOCS, "9": DOCS}), min_size=1, max_size=5)
JUDGED = st.dictionaries(
    st.sampled_from(["1", "9", "7"]), st.dictionaries(st.sampled_from("abcxyz"), st.integers(-1, 3), min_size=1)
)


def as_runs(rankings: list[dict[str, list[str]]]) -> list[Run]:
    return [Run.from_lists(f"r{i}", topics) for i, topics in enumerate(rankings)]


def same(a: Lists, b: Lists) -> None:
    assert (a.runs, a.topics, a.docs.tolist()) == (b.runs, b.topics, b.docs.tolist())
    for column in ("bounds", "item", "scores", "topic_of_item", "grades"):
        np.testing.assert_array_equal(getattr(a, column), getattr(b, column), err_msg=column)


@given(COLLECTIONS)
@settings(max_examples=60, deadline=None)
def test_rows_say_what_the_runs_say(rankings: list[dict[str, list[str]]]) -> None:
    lists = collected(as_runs(rankings))
    assert lists.topics == ("1", "9", "10")
    said = {
        (lists.runs[r], lists.topics[lists.topic_of_item[i]], k, lists.docs[i])
        for r, k, i in zip(lists.run.tolist(), lists.rank.tolist(), lists.item.tolist(), strict=True)
    }
    plain = {(f"r{n}", t, k, d) for n, r in enumerate(rankings) for t in r for k, d in enumerate(r[t], start=1)}
    assert said == plain
    assert lists.sizes.sum() == len(plain) == len(lists)


@given(COLLECTIONS)
@settings(max_examples=60, deadline=None)
def test_tables_say_what_the_rows_say(rankings: list[dict[str, list[str]]]) -> None:
    lists = collected(as_runs(rankings))
    for t, name in enumerate(lists.topics):
        seen = lists.topic(t)
        for r, plain in enumerate(rankings):
            assert [seen.docs[d] for d in seen.ranked[r] if d >= 0] == plain[name]
            assert [lists.docs[i] for i in lists.codes[r, t] if i >= 0] == plain[name]
            held = {seen.docs[d]: int(k) for d, k in enumerate(seen.ranks[r]) if k}
            assert held == {d: k for k, d in enumerate(plain[name], start=1)}
        shared = [[len(set(a[name]) & set(b[name])) for b in rankings] for a in rankings]
        assert seen.shared().tolist() == shared


@given(COLLECTIONS, JUDGED)
@settings(max_examples=60, deadline=None)
def test_items_are_what_was_retrieved_or_judged(
    rankings: list[dict[str, list[str]]], judged: dict[str, dict[str, int]]
) -> None:
    qrels = Qrels.from_dict(judged)
    lists = collected(as_runs(rankings), qrels)
    assert lists.topics == qrels.topics
    assert lists.dropped == tuple(t for t in ("1", "9", "10") if t not in judged and any(r[t] for r in rankings))
    items = {(lists.topics[t], lists.docs[i]): int(lists.grades[i]) for i, t in enumerate(lists.topic_of_item.tolist())}
    plain = {(t, d): UNJUDGED for r in rankings for t in r if t in judged for d in r[t]}
    assert items == plain | {(t, d): g for t, docs in judged.items() for d, g in docs.items()}
    assert lists.top == qrels.top_grade()
    names = [(lists.topics[t], lists.docs[i]) for i, t in enumerate(lists.topic_of_item.tolist())]
    assert names == sorted(names, key=lambda n: (lists.topics.index(n[0]), n[1]))


@given(COLLECTIONS, JUDGED, st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_cut_is_the_same_as_collecting_shorter_runs(
    rankings: list[dict[str, list[str]]], judged: dict[str, dict[str, int]], depth: int
) -> None:
    runs, qrels = as_runs(rankings), Qrels.from_dict(judged)
    same(collected(runs).cut(depth), collected(runs, depth=depth))
    same(collected(runs, qrels).cut(depth), collected(runs, qrels, depth=depth))


@given(COLLECTIONS.filter(lambda r: len(r) > 2), JUDGED)
@settings(max_examples=60, deadline=None)
def test_select_is_the_same_as_collecting_fewer_runs(
    rankings: list[dict[str, list[str]]], judged: dict[str, dict[str, int]]
) -> None:
    runs, qrels = as_runs(rankings), Qrels.from_dict(judged)
    same(collected(runs).select(["r1", "r0"]), collected([runs[1], runs[0]]))
    same(collected(runs, qrels).select(["r1", "r0"]), collected([runs[1], runs[0]], qrels))


@given(COLLECTIONS, JUDGED)
@settings(max_examples=60, deadline=None)
def test_grades_may_come_later(rankings: list[dict[str, list[str]]], judged: dict[str, dict[str, int]]) -> None:
    lists = collected(as_runs(rankings))
    grades = lists.graded(Qrels.from_dict(judged)).grades
    named = [judged.get(lists.topics[t], {}).get(lists.docs[i]) for i, t in enumerate(lists.topic_of_item.tolist())]
    assert grades.tolist() == [UNJUDGED if g is None else g for g in named]


def test_grades_of_items_and_of_docs_nobody_retrieved() -> None:
    lists = collected(as_runs([{"1": ["a", "b"], "2": ["a"]}, {"1": ["b"], "2": ["a"]}]))
    qrels = Qrels.from_dict({"1": {"a": 2, "zzz": 1}, "2": {"a": 0}, "7": {"a": 1}})
    assert lists.graded(qrels).grades.tolist() == [2, UNJUDGED, 0]
    assert lists.graded(qrels).relevant().tolist() == [True, False, False]


def test_few_rows_on_many_topics_are_numbered_alike() -> None:
    """Items are numbered by a table of all (topic, doc) where that is small against the rows, else by sorting."""
    runs = as_runs([{"1": ["e", "a"], "2": ["c"]}, {"3": ["b", "d"]}])
    table, sorted_ = collected(runs), collected(runs, topics=[str(t) for t in range(1, 300)])
    assert table.docs.tolist() == sorted_.docs.tolist() == ["a", "e", "c", "b", "d"]
    assert table.item.tolist() == sorted_.item.tolist() == [1, 0, 2, 3, 4]


def test_runs_come_back_as_they_were() -> None:
    runs = as_runs([{"1": ["b", "a"], "2": ["c"]}, {"1": ["a"], "2": []}, {"1": [], "2": ["c"]}])
    back = collected(runs).to_runs()
    assert [r.ranking("1") for r in back] == [["b", "a"], ["a"], []]
    assert back[1].to_dict() == {"1": {"a": -1.0}, "2": {}}


def test_topics_of_a_run_may_stand_in_any_order() -> None:
    runs = [Run.from_lists("a", {"10": ["x"], "2": ["y", "z"]}), Run.from_lists("b", {"2": ["z"], "10": ["w"]})]
    lists = collected(runs)
    assert lists.topics == ("2", "10")
    assert [r.to_dict() for r in lists.to_runs()] == [
        {"2": {"y": -1.0, "z": -2.0}, "10": {"x": -1.0}},
        {"2": {"z": -1.0}, "10": {"w": -1.0}},
    ]


def test_codes_say_what_stood_where() -> None:
    runs = [Run.from_lists("a", {"1": ["x", "y"], "2": ["z"]}), Run.from_lists("b", {"2": ["y", "z"]})]
    seen = collected(runs, Qrels.from_dict({"1": {"y": 1, "q": 2}, "2": {"z": 0}}))
    named = [[[seen.docs[c] for c in row if c >= 0] for row in run] for run in seen.codes.tolist()]
    assert named == [[["x", "y"], ["z"]], [[], ["y", "z"]]]
    judged = {(seen.topics[t], seen.docs[i]): int(seen.grades[i]) for i, t in enumerate(seen.topic_of_item)}
    assert {k: v for k, v in judged.items() if v >= 0} == {("1", "y"): 1, ("1", "q"): 2, ("2", "z"): 0}


def test_topics_without_judgments_are_left_out_and_topics_of_any_run_count_without_qrels() -> None:
    runs = [Run.from_lists("a", {"1": ["x"]}), Run.from_lists("b", {"10": ["x"], "9": ["y"]})]
    assert collected(runs).topics == ("1", "9", "10")
    assert collected(runs, Qrels.from_dict({"9": {"y": 1}})).topics == ("9",)


def test_ranks_of_one_topic() -> None:
    seen = collected(as_runs([{"1": list("CB")}, {"1": list("BAC")}])).topic(0)
    assert seen.docs.tolist() == ["A", "B", "C"]
    assert seen.ranks.tolist() == [[0, 2, 1], [2, 1, 3]]
    assert seen.best_ranks().tolist() == [2, 1, 1]
    assert seen.sizes.tolist() == [2, 3]


def test_group_comes_from_the_table_then_the_run_then_its_name() -> None:
    named = Run.from_dict("b", {"1": {"x": 1.0}}, info=RunInfo(group="lab"))
    runs = [Run.from_lists("a", {"1": ["x"]}), named, Run.from_lists("c", {"1": ["x"]})]
    assert collected(runs, groups={"c": "team"}).groups == ("a", "lab", "team")


def test_bad_input_is_one_clear_error() -> None:
    run = Run.from_lists("a", {"1": ["x"]})
    with pytest.raises(UsageError, match="no runs"):
        collected([])
    with pytest.raises(DataError, match="'a' is there twice"):
        collected([run, run])
    with pytest.raises(UsageError, match="depth is 0"):
        collected([run], depth=0)
    with pytest.raises(DataError, match="topic 1: doc 'q' is not in the pool"):
        collected([run]).topic(0).number("q")
    with pytest.raises(DataError, match="run 'c': doc 'x' is there twice on topic '1'"):
        collected([run, Run("c", ("1",), np.array([0, 2]), run.docs.take([0, 0]), np.array([2.0, 1.0]))])
    with pytest.raises(UsageError, match="did you mean"):
        collected([run, Run.from_lists("bm25", {"1": ["x"]})]).select(["bm52"])


def test_runs_without_a_common_topic_have_lists_of_their_own() -> None:
    seen = collected([Run.from_lists("a", {"1": ["x"]}), Run.from_lists("b", {"2": ["y"]})])
    assert [seen.topic(t).docs.tolist() for t in (0, 1)] == [["x"], ["y"]]
    assert seen.topic(0).sizes.tolist() == [1, 0]
