from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import AssayError, DataError, UsageError
from assay.data import Run
from assay.rankings.rank_biased import parse_ranking, rbo
from assay.similarity.by_topic import compare_runs, p_sweep
from assay.similarity.over_time import series

A = Run.from_lists("a", {"1": list("abcd"), "2": list("xyz"), "9": ["q"]})
B = Run.from_lists("b", {"1": list("abdc"), "2": list("zxu"), "8": ["q"]})


def test_each_common_topic_is_compared() -> None:
    found = compare_runs(A, B, p=0.8, measures=["overlap", "average-overlap(k=2)"])
    assert found.topics == ("1", "2")
    assert found.missing == ("8", "9")
    assert found.rbo[0] == rbo(list("abcd"), list("abdc"), 0.8)
    assert found.others["overlap"] == pytest.approx((1.0, 2 / 3))
    assert found.most_different(1) == ["2"]
    assert found.topic_table().column("topic") == ["2", "1"]
    assert "in one run only: 8, 9" in found.table().text()
    assert found.mean().ext == pytest.approx(np.mean([r.ext for r in found.rbo]))


def test_equal_scores_are_tied_if_asked() -> None:
    a = Run.from_dict("a", {"1": {"x": 2, "y": 1, "z": 1}})
    b = Run.from_dict("b", {"1": {"x": 1, "y": 1, "z": 0}})
    found = compare_runs(a, b, ties="b").rbo[0]
    assert found == rbo(parse_ranking("x (y z)"), parse_ranking("(x y) z"), 0.9, ties="b")
    assert compare_runs(a, b).rbo[0] == rbo(list("xzy"), list("yxz"), 0.9)


def test_depth_and_sweep() -> None:
    assert compare_runs(A, B, depth=2).mean().ext == pytest.approx((1 + 0.45) / 2)
    swept = p_sweep(A, B, [0.5, 0.9])
    assert swept.means[1].ext == compare_runs(A, B, p=0.9).mean().ext
    assert swept.table().column("expected depth") == pytest.approx([2, 10])
    with pytest.raises(AssayError):
        p_sweep(A, B, [])


def test_runs_without_a_common_topic_are_refused() -> None:
    with pytest.raises(DataError, match="no topic in common"):
        compare_runs(A, Run.from_lists("c", {"7": ["a"]}))
    with pytest.raises(AssayError, match="no tie form"):
        compare_runs(A, B, ties="c")
    twice = replace(A, name="twice", docs=A.docs.take(np.zeros(len(A), dtype=int)))
    with pytest.raises(DataError, match="run 'twice', topic '1': a ranking holds 'a' twice"):
        compare_runs(A, twice)


def test_series_finds_the_day_of_the_change() -> None:
    days = [Run.from_lists(f"day{i}", {"1": list("abcde"), "2": list("uvwxy")}) for i in range(4)]
    days += [Run.from_lists(f"day{i}", {"1": list("abcde"), "2": list("UVWXY")}) for i in range(4, 8)]
    found = series(days, window=2)
    assert found.step_means().round(6).tolist() == [1, 1, 1, 0.5, 1, 1, 1]
    assert found.largest_changes(1) == [("day3", "day4", "2", 0.0)]
    assert found.ends.mean() == pytest.approx(0.5)
    assert found.ends.shape == (4, 2)
    row = dict(zip(found.table().columns, found.table().rows[0], strict=True))
    assert row["largest change"] == "day3 → day4"
    assert row["step mean"] == pytest.approx(13 / 14)
    assert row["median"] == pytest.approx(1)
    assert len(found.step_table().rows) == 7


def test_bad_series_are_refused() -> None:
    with pytest.raises(DataError, match="two runs or more"):
        series([A])
    with pytest.raises(UsageError, match="window 2"):
        series([A, B], window=2)
