"""The test of low-cost methods: its arms, its refusals, and that it finds the better of two methods."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data import Labels, Run
from assay.nojudgments.predictors import METHODS
from assay.studies import arms
from assay.studies.arms import ARMS, Case
from assay.studies.method_comparison import Collected, kendall, method_test, method_tests
from assay.studies.simulate import simulate


@pytest.fixture(scope="module")
def collections() -> dict[str, Case]:
    out = {}
    for seed in (1, 2):
        c = simulate(seed, topics=10, runs_per_group=2, docs=150, depth=40, pool_depth=20)
        out[f"simulated {seed}"] = Case(list(c.runs), c.qrels, c.labels)
    return out


@pytest.mark.parametrize(
    "arm",
    ["predict(method=emap)", "predict(method=soboroff)", "reweight(rounds=2)", "reweight(rounds=2,score=ap)",
     "judge(order=hedge,judgments=4)", "topics(count=3)", "crowd", "crowd(aggregation=dawid-skene,labels=3)"],
)  # fmt: skip
def test_every_arm_scores_runs(arm: str, collections: dict[str, Case]) -> None:
    case = collections["simulated 1"]
    few = case.some(np.arange(5))
    entry, given = ARMS.parse(arm)
    scores = entry.function(few, 1, **given)
    assert scores.shape == (5,)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(scores, entry.function(few, 1, **given))


EVERY_ARM = [
    *(f"predict(method={method})" for method in METHODS.names()),
    "predict(method=emap,depth=7)", "reweight", "reweight(rounds=2,score=ap,preferences=both)",
    "judge(order=hedge,judgments=4)", "topics(count=3)", "topics(count=2,measure=nDCG@5)", "crowd(labels=3)",
]  # fmt: skip


@pytest.mark.parametrize("arm", EVERY_ARM)
def test_runs_of_a_larger_case_score_as_by_themselves(arm: str, collections: dict[str, Case]) -> None:
    """What the whole collection has coded and scored gives the same bits as coding and scoring the few runs."""
    case = collections["simulated 1"]
    holes = [_without(run, {"301", "302"}) if i % 2 else run for i, run in enumerate(case.runs)]
    for whole in (case, Case(holes, case.qrels, case.labels)):
        for places in ([3, 0, 4], [1, 6, 2, 3, 5]):
            alone = Case([whole.runs[place] for place in places], whole.qrels, whole.labels)
            found = ARMS.call(arm, whole.some(np.array(places)), 5)
            np.testing.assert_array_equal(found, ARMS.call(arm, alone, 5))


def _without(run: Run, topics: set[str]) -> Run:
    return Run.from_dict(run.name, {topic: docs for topic, docs in run.to_dict().items() if topic not in topics})


def test_one_arm_against_several_is_each_test_by_itself(collections: dict[str, Case]) -> None:
    others = ["topics(count=2)", "predict(method=wu-crestani)"]
    together = method_tests("topics(count=5)", others, collections, sizes=[4, 6], subsets=4)
    assert [test.arms for test in together.tests] == [("topics(count=5)", other) for other in others]
    for test, other in zip(together.tests, others, strict=True):
        alone = method_test("topics(count=5)", other, collections, sizes=[4, 6], subsets=4)
        assert test.table().rows == alone.table().rows
    assert together.table().column("against") == [other for other in others for _ in range(6)]


def test_all_runs_of_a_collection_are_the_last_row(collections: dict[str, Case]) -> None:
    found = method_test("topics(count=9)", "topics(count=1)", collections, sizes=[4], subsets=5)
    assert [full.runs for full in found.full] == [len(case.runs) for case in collections.values()]
    case = collections["simulated 1"]
    truth = case.scores("AP").averages()
    assert found.full[0].tau[0] == kendall(ARMS.call("topics(count=9)", case, 0), truth)
    last = found.table().rows[1]
    assert last[1:3] == (len(case.runs), 1)
    assert last[-1] is None


def test_rounds_of_reweighting_follow_the_number_of_runs(collections: dict[str, Case]) -> None:
    """⌊ln 8⌋ = 2 docs per topic, ⌊ln 2⌋ = 0, where it is EMAP without judgments."""
    case = collections["simulated 1"]
    eight = case.some(np.arange(8))
    np.testing.assert_array_equal(ARMS.call("reweight", eight, 0), ARMS.call("reweight(rounds=2)", eight, 0))
    two = case.some(np.arange(2))
    np.testing.assert_allclose(ARMS.call("reweight", two, 0), ARMS.call("predict(method=emap)", two, 0))


def test_a_crowd_of_few_labels_takes_so_many_of_each_doc() -> None:
    rows = [("1", doc, f"w{i}", float(i % 2)) for doc in "abc" for i in range(4)]
    few = arms._some_labels(Labels.from_rows([*rows, ("1", "d", "w0", 1.0)]), 2, seed=3)
    assert np.bincount(few.items()[0]).tolist() == [2, 2, 2, 1]
    drawn = {tuple(arms._some_labels(Labels.from_rows(rows), 1, seed=s).worker.tolist()) for s in range(20)}
    assert len(drawn) > 5


def test_more_labels_are_better(collections: dict[str, Case]) -> None:
    found = method_test("crowd", "crowd(labels=1)", collections, sizes=[8], subsets=20)
    assert all(r.tau[0].mean() > r.tau[1].mean() for r in found.results)


def test_more_judged_topics_are_better(collections: dict[str, Case]) -> None:
    found = method_test("topics(count=9)", "topics(count=1)", collections, sizes=[4, 8], subsets=15)
    assert len(found.results) == 4
    assert all(r.tau[0].mean() > r.tau[1].mean() for r in found.results)
    assert found.results[1].p < 0.01
    assert "on 2 of 2 collections" in found.table().text()
    again = method_test("topics(count=9)", "topics(count=1)", collections, sizes=[4, 8], subsets=15, jobs=2)
    assert again.table() == found.table()


def test_one_collection_alone_is_refused(collections: dict[str, Case]) -> None:
    with pytest.raises(UsageError, match="one collection alone proves nothing"):
        method_test("topics", "predict", dict(list(collections.items())[:1]))
    with pytest.raises(UsageError, match="is there twice"):
        method_test("topics", "topics", collections)
    with pytest.raises(UsageError, match="no arm 'predcit'; did you mean predict"):
        method_test("predcit", "topics", collections)
    with pytest.raises(DataError, match="subsets of 99 need more"):
        method_test("topics", "predict", collections, sizes=[99])


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        ("topics(count=0)", "count must be at least 1"),
        ("reweight(score=map)", "emap or ap"),
        ("crowd(labels=0)", "labels must be at least 1"),
        ("judge(order=nope)", "no judging order 'nope'"),
    ],
)
def test_an_arm_that_cannot_work_says_why(arm: str, message: str, collections: dict[str, Case]) -> None:
    with pytest.raises(UsageError, match=message):
        method_test("predict(method=wu-crestani)", arm, collections, sizes=[4], subsets=2)


def test_subsets_have_two_runs_or_more(collections: dict[str, Case]) -> None:
    for sizes in ([], [1, 4]):
        with pytest.raises(UsageError, match="two runs or more"):
            method_test("topics", "predict", collections, sizes=sizes)


def test_the_crowd_needs_labels(collections: dict[str, Case]) -> None:
    bare = {name: (case.runs, case.qrels) for name, case in collections.items()}
    with pytest.raises(UsageError, match="needs the labels of a crowd"):
        method_test("crowd", "topics", bare, sizes=[4], subsets=2)


def test_p_of_equal_arms_and_of_ties() -> None:
    flat = np.full(3, 0.5)
    assert Collected("c", 2, (flat, flat)).p == 0.5
    assert Collected("c", 2, (flat + 0.1, flat)).p == 0.0
    assert kendall(np.zeros(3), np.arange(3.0)) == 0.0
    assert kendall(np.array([0.1 + 0.2, 0.3, 0.9]), np.array([1.0, 1.0, 2.0])) == 1.0  # a tie but for rounding
