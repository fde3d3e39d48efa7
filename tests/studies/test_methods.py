"""The test of low-cost methods: its arms, its refusals, and that it finds the better of two methods."""

from __future__ import annotations

import numpy as np
import pytest

from assay.data import Qrels, Run
from assay.errors import DataError, UsageError
from assay.studies.methods import ARMS, Collected, kendall, method_test
from assay.studies.simulate import simulate


@pytest.fixture(scope="module")
def collections() -> dict[str, tuple[list[Run], Qrels]]:
    out = {}
    for seed in (1, 2):
        c = simulate(seed, topics=10, runs_per_group=2, docs=150, depth=40, pool_depth=20)
        out[f"simulated {seed}"] = (list(c.runs), c.qrels)
    return out


@pytest.mark.parametrize(
    "arm",
    ["predict(method=emap)", "predict(method=soboroff)", "reweight(rounds=2)", "reweight(rounds=2,score=ap)",
     "judge(order=hedge,judgments=4)", "topics(count=3)"],
)  # fmt: skip
def test_every_arm_scores_runs(arm: str, collections: dict[str, tuple[list[Run], Qrels]]) -> None:
    runs, qrels = collections["simulated 1"]
    entry, given = ARMS.parse(arm)
    scores = entry.function(runs[:5], qrels, seed=1, **given)
    assert scores.shape == (5,)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(scores, entry.function(runs[:5], qrels, seed=1, **given))


def test_more_judged_topics_are_better(collections: dict[str, tuple[list[Run], Qrels]]) -> None:
    found = method_test("topics(count=9)", "topics(count=1)", collections, sizes=[4, 8], subsets=15)
    assert len(found.results) == 4
    assert all(r.tau[0].mean() > r.tau[1].mean() for r in found.results)
    assert found.results[1].p < 0.01
    assert "on 2 of 2 collections" in found.table().text()
    again = method_test("topics(count=9)", "topics(count=1)", collections, sizes=[4, 8], subsets=15, jobs=2)
    assert again.table() == found.table()


def test_one_collection_alone_is_refused(collections: dict[str, tuple[list[Run], Qrels]]) -> None:
    with pytest.raises(UsageError, match="one collection alone proves nothing"):
        method_test("topics", "predict", dict(list(collections.items())[:1]))
    with pytest.raises(UsageError, match="both arms are"):
        method_test("topics", "topics", collections)
    with pytest.raises(UsageError, match="no arm 'predcit'; did you mean predict"):
        method_test("predcit", "topics", collections)
    with pytest.raises(DataError, match="subsets of 99 need more"):
        method_test("topics", "predict", collections, sizes=[99])


def test_p_of_equal_arms_and_of_ties() -> None:
    flat = np.full(3, 0.5)
    assert Collected("c", 2, (flat, flat)).p == 0.5
    assert Collected("c", 2, (flat + 0.1, flat)).p == 0.0
    assert kendall(np.zeros(3), np.arange(3.0)) == 0.0
