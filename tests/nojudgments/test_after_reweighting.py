"""Runs ranked after a few judgments and reweighting: what stands in the result."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.nojudgments import comparable, predicted, reweighted_emap
from assay.nojudgments.after_reweighting import reweighted_ranking
from assay.rankings import kendall_tau_b, settled
from assay.scoring import evaluate
from assay.studies import simulate


@pytest.fixture(scope="module")
def made() -> tuple[list[Run], Qrels]:
    small = simulate(topics=8, docs=120, depth=30, runs_per_group=2, manual_runs=2)
    return list(small.runs), small.qrels


def test_it_is_reweighted_emap_beside_the_truth(made: tuple[list[Run], Qrels]) -> None:
    runs, qrels = made
    found = reweighted_ranking(runs, qrels, measure="AP(rel=2)", rounds=3)
    alone = reweighted_emap(comparable(runs, depth=100), qrels, rounds=3, rel=2)
    np.testing.assert_array_equal(found.reweighted.weights, alone.weights)
    np.testing.assert_array_equal(found.reweighted.expected.values, alone.expected.values)
    truth = evaluate(runs, qrels, "AP(rel=2)")[0].averages()
    wanted = {
        "EMAP without judgments": predicted(runs, "emap").averages(),
        "EMAP after reweighting": alone.expected.averages(),
        "AP on the judged docs alone": alone.judged_only.averages(),
        "weights": alone.weights,
    }
    taus = {way: kendall_tau_b(settled(scores), settled(truth)) for way, scores in wanted.items()}
    assert found.taus() == pytest.approx(taus)


def test_the_table_shows_weights_and_those_of_groups(made: tuple[list[Run], Qrels]) -> None:
    runs, qrels = made
    names = [run.name for run in runs]
    found = reweighted_ranking(runs, qrels, rounds=4, groups={"odd": names[::2], "even": names[1:-1:2]})
    table = found.table()
    weight_of = dict(zip(table.column("run"), table.column("weight"), strict=True))
    assert weight_of == dict(zip(names, found.reweighted.weights, strict=True))
    assert table.column("EMAP") == sorted(table.column("EMAP"), reverse=True)
    assert found.mean_weights()["odd"] == pytest.approx(found.reweighted.weights[::2].mean())
    assert f"odd {found.mean_weights()['odd']:.3f}" in table.text()
    assert found.record()["mean_weight"] == found.mean_weights()


def test_without_rounds_all_weights_tie_and_say_nothing(made: tuple[list[Run], Qrels]) -> None:
    found = reweighted_ranking(*made, rounds=0)
    taus = found.taus()
    assert taus["weights"] is None
    assert taus["AP on the judged docs alone"] is None
    assert taus["EMAP after reweighting"] == taus["EMAP without judgments"]
    assert "weights –" in found.table().text()


def test_a_group_of_other_runs_is_refused(made: tuple[list[Run], Qrels]) -> None:
    with pytest.raises(UsageError, match="group 'x': run 'nobody' is not among the runs"):
        reweighted_ranking(*made, groups={"x": ["nobody"]})
