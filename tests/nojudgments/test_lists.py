"""Lists: the coded form against plain dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import Qrels, Run
from assay.errors import DataError, UsageError
from assay.evaluate import evaluate
from assay.nojudgments.lists import average_precision, best_share, collected

DOCS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)
COLLECTIONS = st.lists(st.fixed_dictionaries({"1": DOCS, "10": DOCS, "9": DOCS}), min_size=2, max_size=5)


def as_runs(rankings: list[dict[str, list[str]]]) -> list[Run]:
    return [Run.from_lists(f"r{i}", topics) for i, topics in enumerate(rankings)]


def usable(rankings: list[dict[str, list[str]]]) -> bool:
    return any(sum(bool(r[t]) for r in rankings) > 1 for t in ("1", "9", "10"))


@given(COLLECTIONS.filter(usable))
@settings(max_examples=60, deadline=None)
def test_rows_say_what_the_runs_say(rankings: list[dict[str, list[str]]]) -> None:
    lists = collected(as_runs(rankings))
    answered = {t: sum(bool(r[t]) for r in rankings) for t in ("1", "9", "10")}
    assert lists.topics == tuple(t for t, n in answered.items() if n > 1)
    assert lists.lonely == tuple(t for t, n in answered.items() if n == 1)
    said = {
        (lists.runs[r], lists.topics[lists.topic_of_item[i]], k, lists.docs[i])
        for r, k, i in zip(lists.run.tolist(), lists.rank.tolist(), lists.item.tolist(), strict=True)
    }
    kept = lists.topics
    plain = {(f"r{n}", t, k, d) for n, r in enumerate(rankings) for t in kept for k, d in enumerate(r[t], start=1)}
    assert said == plain
    assert lists.sizes.sum() == len(plain)


@given(COLLECTIONS.filter(usable), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_cut_is_the_same_as_collecting_shorter_runs(rankings: list[dict[str, list[str]]], depth: int) -> None:
    runs = as_runs(rankings)
    whole, short = collected(runs).cut(depth), collected(runs, depth=depth)
    assert whole.docs.tolist() == short.docs.tolist()
    np.testing.assert_array_equal(whole.item, short.item)
    np.testing.assert_array_equal(whole.bounds, short.bounds)
    np.testing.assert_array_equal(whole.topic_of_item, short.topic_of_item)


@given(COLLECTIONS.filter(lambda r: all(r[0].values()) and all(r[1].values())))
@settings(max_examples=60, deadline=None)
def test_select_is_the_same_as_collecting_fewer_runs(rankings: list[dict[str, list[str]]]) -> None:
    runs = as_runs(rankings)
    part, fewer = collected(runs).select(["r1", "r0"]), collected([runs[1], runs[0]])
    assert part.runs == fewer.runs
    assert part.docs.tolist() == fewer.docs.tolist()
    np.testing.assert_array_equal(part.item, fewer.item)
    np.testing.assert_array_equal(part.scores, fewer.scores)


@given(COLLECTIONS.filter(usable), st.sets(st.sampled_from("abcdefgh")))
@settings(max_examples=60, deadline=None)
def test_ap_is_that_of_the_measures(rankings: list[dict[str, list[str]]], relevant: set[str]) -> None:
    runs = as_runs(rankings)
    lists = collected(runs)
    qrels = Qrels.from_dict({t: {d: int(d in relevant) for d in "abcdefgh"} for t in lists.topics})
    ours = average_precision(lists, lists.relevant(qrels), totals=[len(relevant)] * len(lists.topics))
    np.testing.assert_allclose(ours, evaluate(runs, qrels, "AP")[0].values, atol=1e-12)


def test_runs_come_back_as_they_were() -> None:
    runs = as_runs([{"1": ["b", "a"], "2": ["c"]}, {"1": ["a"], "2": []}, {"1": [], "2": ["c"]}])
    back = collected(runs).to_runs()
    assert [r.ranking("1") for r in back] == [["b", "a"], ["a"], []]
    assert back[1].to_dict() == {"1": {"a": -1.0}, "2": {}}


def test_grades_of_items_and_of_docs_nobody_retrieved() -> None:
    lists = collected(as_runs([{"1": ["a", "b"], "2": ["a"]}, {"1": ["b"], "2": ["a"]}]))
    qrels = Qrels.from_dict({"1": {"a": 2, "zzz": 1}, "2": {"a": 0}, "7": {"a": 1}})
    assert lists.grades(qrels, unjudged=-9).tolist() == [2, -9, 0]
    assert lists.relevant(qrels).tolist() == [True, False, False]


def test_share_is_rounded_up_but_not_by_float_noise() -> None:
    docs = [f"d{i}" for i in range(10)]
    lists = collected(as_runs([{"1": docs}, {"1": docs}]))
    key = np.arange(10)[::-1]
    for share, wanted in ((0.3, 3), (0.31, 4), (0.7, 7), (1.0, 10)):
        assert best_share(lists, [key], np.ones(10, dtype=bool), share).sum() == wanted


@pytest.mark.parametrize("share", [0.0, 1.5, -0.1])
def test_share_outside_its_range_is_refused(share: float) -> None:
    lists = collected(as_runs([{"1": ["a"]}, {"1": ["a"]}]))
    with pytest.raises(UsageError, match="share"):
        best_share(lists, [np.zeros(1)], np.ones(1, dtype=bool), share)


def test_bad_input_is_named() -> None:
    one, other = Run.from_lists("a", {"1": ["x"]}), Run.from_lists("b", {"2": ["x"]})
    with pytest.raises(DataError, match="two or more"):
        collected([one])
    with pytest.raises(DataError, match="no topic in common"):
        collected([one, other])
    with pytest.raises(DataError, match="'a' is there twice"):
        collected([one, one])
    twice = Run(
        "c", ("1",), np.array([0, 2]), Run.from_lists("x", {"1": ["x"]}).docs.take([0, 0]), np.array([2.0, 1.0])
    )
    with pytest.raises(DataError, match="doc 'x' is there twice on topic '1'"):
        collected([one, twice])
    with pytest.raises(UsageError, match="did you mean"):
        collected([one, Run.from_lists("bm25", {"1": ["x"]})]).select(["bm52"])
