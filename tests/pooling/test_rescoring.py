from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.pooling import curves, left_out
from assay.pooling import rescoring as module
from assay.pooling.rescoring import TREATMENTS, rescored, without
from assay.scoring import evaluate
from tests.oracles.pooling import average_precision
from tests.pooling.collections import made


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "P@5", "RR", "tRBP@10", "AP'", "bpref"])
def test_the_same_as_scoring_the_files(measure: str) -> None:
    runs, qrels = made(1)
    ours = rescored(collected(runs, qrels), measure)
    np.testing.assert_allclose(ours, evaluate(runs, qrels, [measure])[0].values, atol=1e-12)


def test_grades_taken_out_count_as_unjudged() -> None:
    runs, qrels = made(2, runs=3, topics=2)
    seen = collected(runs, qrels)
    gone = np.arange(0, len(seen.grades), 3)
    left = rescored(seen, "AP", grades=without(seen.grades, gone))
    names = {(seen.topics[seen.topic_of_item[i]], seen.docs[int(i)]) for i in gone}
    for s, run in enumerate(runs):
        for t, topic in enumerate(seen.topics):
            relevant = {d for d, g in qrels.to_dict()[topic].items() if g and (topic, d) not in names}
            assert left[s, t] == pytest.approx(average_precision(run.ranking(topic), relevant))
    assert (seen.grades == collected(runs, qrels).grades).all()


def test_treatments_of_unjudged_docs() -> None:
    runs, qrels = made(2, runs=3, topics=2)
    seen = collected(runs, qrels)
    grades = without(seen.grades, np.arange(0, len(seen.grades), 2))
    low, condensed, high = (rescored(seen, "P@10", grades=grades, unjudged=how) for how in TREATMENTS)
    assert (low <= condensed + 1e-12).all()
    assert (low < high).any()
    assert (low <= high).all()
    np.testing.assert_allclose(condensed, rescored(seen, "P'@10", grades=grades))
    with pytest.raises(UsageError, match="no treatment of unjudged docs 'maybe'"):
        rescored(seen, "AP", unjudged="maybe")


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, qrels = made(3)
    seen = collected(runs, qrels)
    whole = rescored(seen, "AP")
    monkeypatch.setattr(module, "RANKS_AT_ONCE", 1)
    np.testing.assert_array_equal(rescored(seen, "AP"), whole)
    np.testing.assert_array_equal(rescored(seen, "AP", runs=[3, 1]), whole[[3, 1]])


def test_the_lowest_relevant_grade_is_that_of_the_measure_too() -> None:
    """One option, one meaning: what counts as relevant counts so in the scores as well."""
    runs = [Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})]
    qrels = Qrels.from_dict({"1": {"x": 1, "y": 2, "z": 2}})
    given = left_out(runs, "AP", qrels=qrels, depth=2, rel=2)
    named = left_out(runs, "AP(rel=2)", qrels=qrels, depth=2)
    assert given.measure == named.measure == "AP(rel=2)"
    assert given.pooled.tolist() == named.pooled.tolist() == [0.25, 1.0]
    assert given.relevant_alone.tolist() == named.relevant_alone.tolist() == [0, 1]
    found = curves(runs, ["depth"], qrels=qrels, depth=2, rel=2)
    assert found.table().rows == curves(runs, ["depth"], qrels=qrels, depth=2, measure="AP(rel=2)").table().rows
    with pytest.raises(UsageError, match=r"AP\(rel=2\) counts grades from 2 as relevant, and rel=1 is given"):
        left_out(runs, "AP(rel=2)", qrels=qrels, rel=1)
