"""evaluate: policies, signatures, blocks of topics, files and threads."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay.scoring.run_scores
from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.io import read_qrels, read_run, write_run
from assay.scoring import Aligned, Policy, bounds, evaluate
from assay.studies.simulate import simulate
from tests.conftest import real_data

QRELS = Qrels.from_dict({"1": {"a": 1, "b": 0}, "2": {"c": 2}, "3": {"d": 0}})
RUN = Run.from_lists("r", {"1": ["b", "a"], "9": ["x"]})
FULL = Run.from_lists("f", {"1": ["a"], "2": ["c"], "3": ["d"]})


def test_missing_topics() -> None:
    (zero,) = evaluate([RUN, FULL], QRELS, "RR")
    assert zero.topics == ("1", "2", "3")
    assert zero.values.tolist() == [[0.5, 0.0, 0.0], [1.0, 1.0, 0.0]]
    (drop,) = evaluate([RUN, FULL], QRELS, "RR", policy=Policy(missing="drop"))
    assert (drop.topics, drop.values.tolist()) == (("1",), [[0.5], [1.0]])
    with pytest.raises(DataError, match="run 'r' has no docs for topic '2'"):
        evaluate([RUN, FULL], QRELS, "RR", policy=Policy(missing="error"))
    with pytest.raises(DataError, match="has none of the 3 topics of qrels"):
        evaluate([Run.from_lists("n", {"7": ["a"]})], QRELS, "RR")


def test_unknown_policies_are_refused() -> None:
    choices: list[dict[str, Any]] = [{"missing": "maybe"}, {"compat": "trec_eval-8"}, {"depth": 0}]
    for bad in choices:
        with pytest.raises(UsageError):
            Policy(**bad)
    with pytest.raises(UsageError, match="no tie policy"):
        evaluate([FULL], QRELS, "RR", policy=Policy(ties="coin"))


def test_choices_may_be_given_by_name() -> None:
    (by_name,) = evaluate([RUN, FULL], QRELS, "RR", missing="drop", ties="docid-asc")
    assert "ties:docid-asc|missing:drop" in by_name.signature
    with pytest.raises(UsageError, match="no choice 'tie'; did you mean ties"):
        evaluate([FULL], QRELS, "RR", tie="docid")


def test_signatures_name_every_choice() -> None:
    policy = Policy(ties="docid-asc", missing="drop", depth=5, compat="trec_eval-10")
    (matrix,) = evaluate([FULL], QRELS, "nDCG(gain=exp)@10", policy=policy)
    assert matrix.signature == (
        "nDCG(gain=exp)@10|gain:exp|ties:docid-asc|missing:drop|unjudged:0|depth:5|compat:trec_eval-10|assay:0.1"
    )
    assert "unjudged:removed" in evaluate([FULL], QRELS, "AP'")[0].signature


def test_runs_of_one_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    paths = [tmp_path / "x.run", tmp_path / "y.run"]
    for path in paths:
        write_run(path, FULL)
    (matrix,) = evaluate(paths, QRELS, "RR", jobs=2)
    assert matrix.runs == ("x.run", "y.run")
    with pytest.raises(DataError, match="two runs are called 'f'"):
        evaluate([FULL, FULL], QRELS, "RR")


def test_blocks_of_topics_and_jobs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    collection = simulate(topics=12, runs_per_group=1, depth=40)
    names = ["AP", "nDCG@10", "RBP(p=0.8)", "bpref"]
    whole = evaluate(collection.runs, collection.qrels, names)
    monkeypatch.setattr(assay.scoring.run_scores, "CELLS", 100)
    blocks = evaluate(collection.runs, collection.qrels, names, jobs=2)
    for a, b in zip(whole, blocks, strict=True):
        np.testing.assert_array_equal(a.values, b.values)


def test_bounds_hold_the_truth_for_measures_that_guarantee_it() -> None:
    collection = simulate(topics=10, runs_per_group=1, pool_depth=5)
    names = ["P@10", "RR", "RBP(p=0.8)", "DCG@10"]
    (truth, *more) = evaluate(collection.runs, collection.truth, names)
    found = bounds(Aligned.of(collection.runs, collection.qrels), names)
    assert found.kinds == ("range",) * 4
    for low, high, true in zip(found.low, found.high, [truth, *more], strict=True):
        assert (low.values <= true.values + 1e-12).all()
        assert (true.values <= high.values + 1e-12).all()
        assert (low.values < high.values).any()


def test_the_range_of_rbp_on_real_lists_is_as_wide_as_its_residual(tmp_path: Path) -> None:
    """Lists of 10 docs, all judged: .95^10 = .5987 of the weight lies past their end, though no doc is unjudged."""
    folder = real_data("trec-dl-2019-passage")
    with tarfile.open(folder / "runs.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    qrels = read_qrels(folder / "qrels.txt")
    runs = [read_run(path) for path in sorted((tmp_path / "runs").iterdir())]
    policy = Policy(depth=10)
    found = bounds(Aligned.of(runs, qrels, policy=policy), ["RBP(p=0.95)", "nDCG@10"])
    (residual,) = evaluate(runs, qrels, "RBPResidual(p=0.95)", policy=policy)
    assert found.kinds == ("range", "two scenarios")
    np.testing.assert_allclose(found.high[0].values - found.low[0].values, residual.values, atol=1e-12)
    row = next(row for row in found.record()["rows"] if row["run"] == "ICT-BERT2" and row["kind"] == "range")
    assert round(row["low"], 4) == 0.2137
    assert round(row["high"], 4) == 0.8124
    assert any("also raises the ideal list" in note for note in found.table().notes)


def test_depth_and_condensed() -> None:
    run = Run.from_lists("r", {"1": ["x", "a"]})
    qrels = Qrels.from_dict({"1": {"a": 1}})
    assert evaluate([run], qrels, "RR", policy=Policy(depth=1))[0].values.tolist() == [[0.0]]
    assert evaluate([run], qrels, "RR", policy=Policy(condensed=True))[0].values.tolist() == [[1.0]]
    assert evaluate([run], qrels, "RR'")[0].values.tolist() == [[1.0]]


POOLED = Qrels.from_dict({"1": {"a": 1, "b": 0, "c": -1, "d": -1, "e": 1}})
FOUR = Run.from_lists("four", {"1": ["a", "b", "c", "d"]})


def test_judged_means_a_grade_of_at_least_0() -> None:
    """Two of four docs are in the pool with grade −1: nobody judged them."""
    assert evaluate([FOUR], POOLED, "Judged@4")[0].values.tolist() == [[0.5]]
    g = Aligned.of([FOUR], POOLED).grades("four")
    assert g.judged().tolist() == [[True, True, False, False]]
    assert g.pooled().tolist() == [[True, True, True, True]]
    assert g.supposing(1).ranked.tolist() == [[1, 0, 1, 1]]
    assert g.condensed().ranked.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"unjudged": "nonsense"}, "no policy for unjudged docs 'nonsense'; known: 0, top"),
        ({"ties": "coin"}, "no tie policy 'coin'"),
        ({"top": 0}, "top=0 is not a grade above 0"),
        ({"top": "a"}, "top='a' is not a grade above 0"),
        ({"depth": 1.5}, "depth=1.5 is not a whole number from 1"),
        ({"depth": True}, "depth=True is not a whole number"),
        ({"seed": -1}, "seed=-1 is not a whole number of at least 0"),
        ({"seed": "x"}, "seed='x' is not a whole number"),
        ({"condensed": "yes"}, "condensed='yes' is not True or False"),
    ],
)
def test_a_choice_that_does_not_exist_is_refused(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Policy(**choice)


def test_the_top_grade_is_a_choice_and_stands_in_the_signature() -> None:
    """Another topic's grade no longer moves a score under the same signature."""
    run = Run.from_lists("r", {"1": ["a", "b"], "2": ["c"]})
    high = Qrels.from_dict({"1": {"a": 1, "b": 2}, "2": {"c": 3}})
    low = Qrels.from_dict({"1": {"a": 1, "b": 2}, "2": {"c": 2}})
    (with_3,), (with_2,) = evaluate([run], high, "ERR"), evaluate([run], low, "ERR")
    assert "|top:3|" in with_3.signature
    assert "|top:2|" in with_2.signature
    assert with_3.values[0, 0] != with_2.values[0, 0]
    (chosen,) = evaluate([run], low, "ERR", top=3)
    assert chosen.signature == with_3.signature
    assert chosen.values[0, 0] == with_3.values[0, 0]
    assert "top:" not in evaluate([run], low, "nDCG@10")[0].signature
    with pytest.raises(UsageError, match="top=2 is below the grade 3"):
        evaluate([run], high, "ERR", top=2)


def test_aligned_runs_answer_as_evaluate_does() -> None:
    collection = simulate(topics=6, runs_per_group=1, depth=40)
    names = ["AP", "nDCG@10", "RBP(p=0.8)"]
    aligned = Aligned.of(collection.runs, collection.qrels, jobs=2)
    for a, b in zip(aligned.scores(names), evaluate(collection.runs, collection.qrels, names), strict=True):
        np.testing.assert_array_equal(a.values, b.values)
        assert (a.runs, a.topics, a.signature) == (b.runs, b.topics, b.signature)
    (averaged,) = aligned.under(ties="average").scores("AP")
    np.testing.assert_array_equal(
        averaged.values, evaluate(collection.runs, collection.qrels, "AP", ties="average")[0].values
    )
    assert aligned.under(depth=5).matches is aligned.matches
    with pytest.raises(UsageError, match="no run 'nobody'"):
        aligned.grades("nobody")
