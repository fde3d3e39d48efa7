from __future__ import annotations

import numpy as np
import pytest

from assay.data import Qrels, Run, RunInfo
from assay.errors import DataError, UsageError
from assay.pooling import lists
from tests.pooling.collections import topic


def test_codes_say_what_stood_where() -> None:
    runs = [Run.from_lists("a", {"1": ["x", "y"], "2": ["z"]}), Run.from_lists("b", {"2": ["y", "z"]})]
    seen = lists(runs, Qrels.from_dict({"1": {"y": 1, "q": 2}, "2": {"z": 0}}))
    named = [[[seen.docs[c] for c in row if c >= 0] for row in run] for run in seen.codes.tolist()]
    assert named == [[["x", "y"], ["z"]], [[], ["y", "z"]]]
    judged = {(seen.topics[t], seen.docs[i]): int(seen.grades[i]) for i, t in enumerate(seen.topic_of_item())}
    assert {k: v for k, v in judged.items() if v >= 0} == {("1", "y"): 1, ("1", "q"): 2, ("2", "z"): 0}


def test_topics_without_judgments_are_left_out_and_topics_of_any_run_count_without_qrels() -> None:
    runs = [Run.from_lists("a", {"1": ["x"]}), Run.from_lists("b", {"10": ["x"], "9": ["y"]})]
    assert lists(runs).topics == ("1", "9", "10")
    assert lists(runs, Qrels.from_dict({"9": {"y": 1}})).topics == ("9",)


def test_ranks_of_one_topic() -> None:
    seen = topic({"a": "CB", "b": "BAC"})
    assert seen.docs.tolist() == ["A", "B", "C"]
    assert seen.ranks.tolist() == [[0, 2, 1], [2, 1, 3]]
    assert seen.best_ranks().tolist() == [2, 1, 1]
    assert seen.sizes.tolist() == [2, 3]


def test_only_judged_docs_are_closed_up_before_the_cut() -> None:
    runs = [Run.from_lists("a", {"1": list("ABCDE")}), Run.from_lists("b", {"1": list("EX")})]
    seen = lists(runs, Qrels.from_dict({"1": {"B": 0, "D": 1, "E": 2}})).topic(0, depth=2, judged_only=True)
    assert seen.docs.tolist() == ["B", "D", "E"]
    assert seen.ranked.tolist() == [[0, 1], [2, -1]]


def test_groups_are_merged_rank_by_rank() -> None:
    merged = topic({"a": "ABC", "b": "XYA", "c": "Z"}).grouped(["g", "g", "h"])
    assert merged.runs == ("g", "h")
    ranked = [[merged.docs[d] for d in row if d >= 0] for row in merged.ranked.tolist()]
    assert ranked == [list("AXBYC"), ["Z"]]


def test_group_comes_from_the_table_then_the_run_then_its_name() -> None:
    named = Run.from_dict("b", {"1": {"x": 1.0}}, info=RunInfo(group="lab"))
    runs = [Run.from_lists("a", {"1": ["x"]}), named, Run.from_lists("c", {"1": ["x"]})]
    assert lists(runs, groups={"c": "team"}).groups == ("a", "lab", "team")


def test_contributors_by_run_and_group() -> None:
    runs = [Run.from_lists(n, {"1": list(d)}) for n, d in (("a", "AB"), ("b", "BC"), ("c", "C"))]
    seen = lists(runs, groups={"a": "g", "b": "g"})
    names, has = seen.contributors(1)
    assert names == ("a", "b", "c")
    assert has.astype(int).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    names, has = seen.contributors(2, by="group")
    assert names == ("g", "c")
    assert has.astype(int).tolist() == [[1, 1, 1], [0, 0, 1]]
    with pytest.raises(UsageError, match="by 'run' or by 'group'"):
        seen.contributors(2, by="year")


def test_scores_are_kept_and_scaled() -> None:
    from assay.pooling.lists import scaled_scores

    runs = [Run.from_dict("a", {"1": {"x": 5.0, "y": 3.0, "z": 1.0}}), Run.from_dict("b", {"1": {"x": 2.0, "y": 2.0}})]
    scaled = scaled_scores(lists(runs).topic(0))
    np.testing.assert_allclose(scaled, np.array([[1.0, 0.5, 0.0], [1.0, 1.0, 0.0]]))


def test_bad_input_is_one_clear_error() -> None:
    run = Run.from_lists("a", {"1": ["x"]})
    with pytest.raises(UsageError, match="no runs"):
        lists([])
    with pytest.raises(DataError, match="'a' is there twice"):
        lists([run, run])
    with pytest.raises(UsageError, match="depth is 0"):
        lists([run], depth=0)
    with pytest.raises(DataError, match="topic 1: doc 'q' is not in the pool"):
        lists([run]).topic(0).number("q")


def test_runs_without_a_common_topic_have_lists_of_their_own() -> None:
    seen = lists([Run.from_lists("a", {"1": ["x"]}), Run.from_lists("b", {"2": ["y"]})])
    assert [seen.topic(t).docs.tolist() for t in (0, 1)] == [["x"], ["y"]]
    assert seen.topic(0).sizes.tolist() == [1, 0]
