"""Similarity of runs beside their quality, and docs of equal relevance exchanged (Carterette & Allan 2007, §5)."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.nojudgments.predictors import predicted
from assay.rankings.correlation import pearson
from assay.scoring import evaluate
from assay.similarity import preference_similarity
from assay.studies import exchange_study, similarity_study, simulate


@pytest.fixture(scope="module")
def made() -> tuple[list[Run], Qrels]:
    small = simulate(topics=6, docs=120, depth=30, runs_per_group=2, manual_runs=2)
    return list(small.runs), small.qrels


def test_rows_are_those_of_the_similarity_of_runs(made: tuple[list[Run], Qrels]) -> None:
    runs, qrels = made
    names = [run.name for run in runs]
    found = similarity_study(runs, qrels, groups={"first": names[:5], "alone": [names[5]]}, depth=20)
    means = evaluate(runs, qrels, "AP")[0].averages()
    cut = [run.cut(20) for run in runs]
    rows = {row.which: row for row in found.rows}
    assert list(rows) == ["all runs", "first", "alone", "all, relevant docs only", "all, other docs only"]
    for which, among in (("all runs", "all"), ("all, relevant docs only", "relevant")):
        by_itself = preference_similarity(cut, qrels=qrels, among=among, ties=False)
        assert rows[which].similarity == pytest.approx(by_itself.mean(), abs=1e-12)
        assert rows[which].correlation == pytest.approx(pearson(by_itself.to_others(), means), abs=1e-9)
    # The runs of a group are compared with each other, but pooled docs are those of all runs.
    everything = preference_similarity(cut, ties=False)
    within = everything.matrix[:5, :5]
    expected = (within.sum() - np.trace(within)) / 20
    assert rows["first"].similarity == pytest.approx(expected)
    assert rows["alone"][1:] == (1, None, None)
    emap = predicted(cut, "emap(depth=20)").averages()
    assert found.emap == pytest.approx(emap, abs=1e-4)
    assert found.emap_correlation == pytest.approx(pearson(found.to_others, emap), abs=1e-4)
    assert found.record()["emap_pearson"] == found.emap_correlation
    assert "–" in found.table().text()


def test_nothing_to_compare_is_a_dash_and_no_error() -> None:
    """Every doc is relevant: there is no preference among others, and no ratio."""
    runs = [Run.from_lists(name, {"1": list(docs)}) for name, docs in {"a": "xyz", "b": "yxz", "c": "zxw"}.items()]
    qrels = Qrels.from_dict({"1": dict.fromkeys("xyzw", 1)})
    found = similarity_study(runs, qrels)
    assert found.relevant_ratio is None
    assert "are – times as alike" in found.table().text()
    assert exchange_study(runs, qrels).table().rows[0][5] is None


def test_groups_and_runs_that_make_no_sense_are_refused(made: tuple[list[Run], Qrels]) -> None:
    runs, qrels = made
    with pytest.raises(UsageError, match="'nobody' is not among the runs"):
        similarity_study(runs, qrels, groups={"x": ["nobody"]})
    with pytest.raises(UsageError, match="is in the groups 'x' and 'y'"):
        similarity_study(runs, qrels, groups={"x": [runs[0].name], "y": [runs[0].name]})
    with pytest.raises(UsageError, match="group 'x' has no run"):
        similarity_study(runs, qrels, groups={"x": []})
    with pytest.raises(DataError, match="needs three or more"):
        exchange_study(runs[:2], qrels)
    with pytest.raises(UsageError, match="no preferences 'some'; known: retrieved, both"):
        similarity_study(runs, qrels, preferences="some")


def test_exchanged_docs_move_similarity_and_leave_every_score(made: tuple[list[Run], Qrels]) -> None:
    runs, qrels = made
    found = exchange_study(runs, qrels, depth=30, seed=3)
    as_they_are, at_random, in_order = found.rows
    assert found.means == pytest.approx(evaluate(runs, qrels, "AP")[0].averages())
    assert at_random.similarity < as_they_are.similarity < in_order.similarity
    assert at_random.relevant > at_random.nonrelevant
    assert as_they_are.similarity == pytest.approx(preference_similarity(runs, ties=False).mean())
    assert exchange_study(runs, qrels, seed=3).table().rows == found.table().rows
    assert exchange_study(runs, qrels, seed=4).rows[1].similarity != at_random.similarity
    assert exchange_study(runs, qrels, seed=4).rows[2].similarity == in_order.similarity
    narrow = exchange_study(runs, qrels, preferences="both")
    assert narrow.rows[0].similarity < as_they_are.similarity
