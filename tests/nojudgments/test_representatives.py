"""One run of each group: which one, and what happens to the truth and to the remarks."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data import Qrels
from assay.data.scores import ScoreMatrix
from assay.nojudgments.basis import comparable
from assay.nojudgments.forecast import predict
from assay.nojudgments.predictors import predicted
from assay.nojudgments.representatives import one_per_group
from assay.scoring import evaluate
from tests.nojudgments.test_predictors import made
from tests.nojudgments.test_ranking import RELEVANT

RUNS = made()
GROUPS = {run.name: "abc"[i % 3] for i, run in enumerate(RUNS)}
QRELS = Qrels.from_dict(RELEVANT)


def test_the_first_is_that_given_first() -> None:
    assert [run.name for run in one_per_group(RUNS, GROUPS)] == ["r0", "r1", "r2"]
    assert [run.name for run in one_per_group(RUNS[::-1], GROUPS)] == ["r7", "r6", "r5"]


def test_the_best_has_the_highest_true_mean_of_its_group() -> None:
    (truth,) = evaluate(RUNS, QRELS, "AP")
    means = dict(zip(truth.runs, truth.values.mean(axis=1), strict=True))
    chosen = {run.name for run in one_per_group(RUNS, GROUPS, "best", truth=truth)}
    for group in "abc":
        members = [name for name, its_group in GROUPS.items() if its_group == group]
        assert max(members, key=means.__getitem__) in chosen
    assert len(chosen) == 3


def test_at_random_every_run_of_a_group_is_as_likely() -> None:
    drawn = [one_per_group(RUNS, GROUPS, "random", seed=seed)[0].name for seed in range(600)]
    counts = [drawn.count(name) for name in ("r0", "r3", "r6")]
    assert sum(counts) == 600
    assert min(counts) > 150  # 200 expected; five standard deviations are 58
    again = one_per_group(RUNS, GROUPS, "random", seed=5)
    assert [run.name for run in again] == [run.name for run in one_per_group(RUNS, GROUPS, "random", seed=5)]


def test_a_run_of_no_group_stands_for_itself() -> None:
    groups = {"r0": "a", "r1": "a", "r2": "r3", "r3": ""}
    assert [run.name for run in one_per_group(RUNS[:5], groups)] == ["r0", "r2", "r3", "r4"]


def test_predict_uses_these_runs_alone() -> None:
    result = predict(RUNS, "spoerri-single", groups=GROUPS, per_group="best", qrels=QRELS)
    (truth,) = evaluate(RUNS, QRELS, "AP")
    alone = one_per_group(RUNS, GROUPS, "best", truth=truth)
    assert result.runs == tuple(run.name for run in alone)
    np.testing.assert_array_equal(
        result.predictions[0].values, predicted(comparable(alone, depth=1000), "spoerri-single").values
    )
    remark = "One run of each group, that of the highest true mean AP, so judgments chose the runs: 3 of 8 runs."
    assert remark in result.notes
    assert remark in result.accuracy().table().notes


def test_errors() -> None:
    with pytest.raises(DataError, match="none of the 8 runs is in a group"):
        one_per_group(RUNS, {"bm25": "a"})
    with pytest.raises(UsageError, match="known from judgments"):
        one_per_group(RUNS, GROUPS, "best")
    with pytest.raises(UsageError, match="no choice of a run for its group 'longest'"):
        one_per_group(RUNS, GROUPS, "longest")
    with pytest.raises(UsageError, match="no groups are known"):
        predict(RUNS, "emap", per_group="first")


def test_equal_runs_are_taken_in_order() -> None:
    truth = ScoreMatrix.of(np.ones((8, 3)), runs=[run.name for run in RUNS])
    assert [run.name for run in one_per_group(RUNS, GROUPS, "best", truth=truth)] == ["r0", "r1", "r2"]
