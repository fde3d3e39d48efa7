from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.pooling.voters import contributors, grouped, scaled_scores, voters
from tests.pooling.collections import topic


def test_only_judged_docs_are_closed_up_before_the_cut() -> None:
    runs = [Run.from_lists("a", {"1": list("ABCDE")}), Run.from_lists("b", {"1": list("EX")})]
    lists = collected(runs, Qrels.from_dict({"1": {"B": 0, "D": 1, "E": 2, "Q": 1}}))
    seen = voters(lists, 0, depth=2, judged_only=True)
    assert seen.docs.tolist() == ["B", "D", "E"]
    assert seen.ranked.tolist() == [[0, 1], [2, -1]]


def test_a_negative_grade_is_pooled_and_not_judged() -> None:
    lists = collected([Run.from_lists("a", {"1": list("ABC")})], Qrels.from_dict({"1": {"A": -2, "B": -1, "C": 0}}))
    assert voters(lists, 0, judged_only=True).docs.tolist() == ["C"]


def test_groups_are_merged_rank_by_rank() -> None:
    merged = grouped(topic({"a": "ABC", "b": "XYA", "c": "Z"}), ["g", "g", "h"])
    assert merged.runs == ("g", "h")
    ranked = [[merged.docs[d] for d in row if d >= 0] for row in merged.ranked.tolist()]
    assert ranked == [list("AXBYC"), ["Z"]]


def test_contributors_by_run_and_group() -> None:
    runs = [Run.from_lists(n, {"1": list(d)}) for n, d in (("a", "AB"), ("b", "BC"), ("c", "C"))]
    seen = collected(runs, groups={"a": "g", "b": "g"})
    names, has = contributors(seen, 1)
    assert names == ("a", "b", "c")
    assert has.astype(int).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    names, has = contributors(seen, 2, by="group")
    assert names == ("g", "c")
    assert has.astype(int).tolist() == [[1, 1, 1], [0, 0, 1]]
    with pytest.raises(UsageError, match="known: run, group"):
        contributors(seen, 2, by="year")


def test_scores_are_kept_and_scaled() -> None:
    runs = [Run.from_dict("a", {"1": {"x": 5.0, "y": 3.0, "z": 1.0}}), Run.from_dict("b", {"1": {"x": 2.0, "y": 2.0}})]
    scaled = scaled_scores(collected(runs).topic(0))
    np.testing.assert_allclose(scaled, np.array([[1.0, 0.5, 0.0], [1.0, 1.0, 0.0]]))


def test_scores_at_the_ends_of_what_a_float_holds_are_scaled_without_a_warning() -> None:
    table = {"1": {"x": 1.7e308, "y": 0.0, "z": -1.7e308}}
    runs = [Run.from_dict("a", table), Run.from_dict("b", {"1": {"x": float("inf"), "y": 1.0}})]
    scaled = scaled_scores(collected(runs).topic(0))
    np.testing.assert_allclose(scaled, [[1.0, 0.5, 0.0], [1.0, 0.0, 0.0]], atol=1e-12)
