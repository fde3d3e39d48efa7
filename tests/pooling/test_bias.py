from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import DataError
from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.pooling import left_out
from assay.scoring import evaluate
from tests.oracles import pooling as oracle
from tests.pooling.collections import made


@pytest.mark.parametrize("depth", [1, 5, 25])
def test_leave_one_run_out_by_plain_loops(depth: int) -> None:
    runs, qrels = made(1, runs=4, topics=5, docs=80)
    found = left_out(collected(runs, qrels), "AP", depth=depth)
    grades = qrels.to_dict()
    for s, run in enumerate(runs):
        scores, alone, hits = [], 0, 0
        for topic in qrels.topics:
            rankings = {r.name: r.ranking(topic) for r in runs}
            left = oracle.without_own_docs(rankings, depth, run.name, grades[topic])
            gone = set(grades[topic]) - set(left)
            alone += len(gone)
            hits += sum(grades[topic][d] for d in gone)
            scores.append(oracle.average_precision(rankings[run.name], {d for d, g in left.items() if g}))
        assert found.unpooled["nonrelevant"][s] == pytest.approx(np.mean(scores))
        assert (found.alone[s], found.relevant_alone[s]) == (alone, hits)
    np.testing.assert_allclose(found.pooled, evaluate(runs, qrels, ["AP"])[0].averages())


def test_leave_one_group_out_takes_the_docs_of_all_its_runs() -> None:
    runs = [Run.from_lists(n, {"1": list(d)}) for n, d in (("a1", "AB"), ("a2", "AC"), ("b", "DE"))]
    judged = Qrels.from_dict({"1": dict.fromkeys("ABCDE", 1)})
    seen = collected(runs, judged, groups={"a1": "a", "a2": "a"})
    by_run, by_group = (left_out(seen, "P@2", depth=2, by=by) for by in ("run", "group"))
    # A is in both runs of group a: it stays when one run leaves, and goes when the group does.
    assert by_run.unpooled["nonrelevant"].tolist() == [0.5, 0.5, 0.0]
    assert by_group.unpooled["nonrelevant"].tolist() == [0.0, 0.0, 0.0]
    assert by_group.alone.tolist() == [3, 3, 2]


def test_treatments_and_ranks() -> None:
    runs = [Run.from_lists(n, {"1": list(d)}) for n, d in (("a", "ABCD"), ("b", "BDCE"), ("c", "EFDC"))]
    judged = Qrels.from_dict({"1": {"A": 1, "B": 1, "C": 0, "D": 0, "E": 0, "F": 0}})
    found = left_out(collected(runs, judged), "P@2", depth=2)
    assert found.pooled.tolist() == [1.0, 0.5, 0.0]
    assert found.unpooled["nonrelevant"].tolist() == [0.5, 0.5, 0.0]
    # Without A, the list of a is BCD: one of its first two is relevant; with A at the top grade, both.
    assert found.unpooled["condensed"].tolist() == [0.5, 0.5, 0.0]
    assert found.at_most.tolist() == [1.0, 1.0, 1.0]
    assert found.rank.tolist() == [1, 2, 3]
    assert found.rank_unpooled.tolist() == [1, 2, 3]
    table = found.table()
    assert table.rows[0][0] == "a"
    assert "greatest loss −0.5000 (a)" in table.notes[-1]
    assert "group" not in table.columns
    seen = collected(runs, judged, groups={"a": "team"})
    assert left_out(seen, "P@2", depth=2).table().columns[1] == "group"


def test_docs_that_nobody_judged_are_not_relevant_throughout() -> None:
    """X was never judged: leaving b out hides only Y, and neither X nor Y of other runs moves the condensed score."""
    runs = [Run.from_lists("a", {"1": list("AXC")}), Run.from_lists("b", {"1": list("XYA")})]
    judged = Qrels.from_dict({"1": {"A": 1, "C": 0, "Y": 1}})
    found = left_out(collected(runs, judged), "P@2", depth=2)
    assert found.pooled.tolist() == [0.5, 0.5]
    assert found.unpooled["nonrelevant"].tolist() == [0.0, 0.0]
    # a without A: X, C, none relevant; b without Y: X, A.
    assert found.unpooled["condensed"].tolist() == [0.0, 0.5]
    assert found.at_most.tolist() == [0.5, 0.5]


def test_judgments_of_something_else_are_refused() -> None:
    runs = [Run.from_lists(n, {"1": ["A"]}) for n in ("a", "b")]
    with pytest.raises(DataError, match="no doc of the runs is judged"):
        left_out(collected(runs, Qrels.from_dict({"1": {"Z": 1}})))


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "nDCG", "Q@10", "Rprec", "bpref", "RR", "nERR@10", "AP(rel=2)"])
def test_at_most_is_an_upper_bound(measure: str) -> None:
    """Whatever grades the hidden docs have, the true ones among them, the mean is not higher."""
    runs, qrels = made(7, runs=6, topics=6)
    rng = np.random.default_rng(0)
    graded = {t: {d: int(g * rng.integers(1, 4)) for d, g in docs.items()} for t, docs in qrels.to_dict().items()}
    found = left_out(collected(runs, Qrels.from_dict(graded)), measure, depth=10)
    assert (found.at_most >= found.pooled - 1e-12).all()
    assert (found.at_most >= found.unpooled["nonrelevant"] - 1e-12).all()


def test_a_measure_without_a_known_bound_has_none() -> None:
    runs, qrels = made(7, runs=3, topics=3)
    found = left_out(collected(runs, qrels), "infAP", depth=10)
    assert np.isnan(found.at_most).all()
    assert found.table().column("at_most") == [None] * 3
    assert any("no bound is known for infAP" in note for note in found.notes())


def test_docs_that_nobody_judged_are_not_hidden() -> None:
    """Only `a` has N, and nobody judged it: leaving `a` out changes nothing about N."""
    runs = [Run.from_lists("a", {"1": list("NAB")}), Run.from_lists("b", {"1": list("BC")})]
    found = left_out(collected(runs, Qrels.from_dict({"1": {"A": 0, "B": 1, "C": 0}})), "P@2", depth=3)
    assert found.pooled.tolist() == [0.0, 0.5]
    assert found.unpooled["condensed"].tolist()[0] == 0.5  # N, B: A alone is taken out
    assert found.at_most.tolist()[0] == 0.5  # N, A at best: A alone could be relevant


def test_negative_grades_are_no_judgments() -> None:
    runs = [Run.from_lists("a", {"1": list("AB")}), Run.from_lists("b", {"1": list("BC")})]
    found = left_out(collected(runs, Qrels.from_dict({"1": {"A": -2, "B": 1, "C": 0}})), "P@2", depth=2)
    assert found.alone.tolist() == [0, 1]
    assert found.at_most.tolist() == [0.5, 1.0]


def test_judged_docs_of_other_runs_are_counted_and_named() -> None:
    runs = [Run.from_lists("a", {"1": list("AB")}), Run.from_lists("b", {"1": list("BC")})]
    found = left_out(collected(runs, Qrels.from_dict({"1": {"A": 1, "B": 1, "C": 0, "X": 1, "Y": 0}})), depth=2)
    assert found.elsewhere == 2
    assert any("2 judged docs are in the first 2 of no run given here" in note for note in found.notes())


def test_some_runs_of_a_result() -> None:
    runs, qrels = made(7, runs=6, topics=6)
    whole = left_out(collected(runs, qrels), "P@10", depth=10)
    part = whole.of(["r03", "r01"])
    assert part.runs == ("r03", "r01")
    assert part.loss.tolist() == whole.loss[[3, 1]].tolist()
    assert part.rank.tolist() == whole.rank[[3, 1]].tolist()


@pytest.mark.parametrize("measure", ["P@10", "RBP(p=0.8)", "DCG@10"])
def test_not_relevant_never_overstates_measures_without_a_norm(measure: str) -> None:
    runs, qrels = made(7, runs=6, topics=6)
    found = left_out(collected(runs, qrels), measure, depth=10)
    assert (found.loss <= 1e-12).all()
    assert (found.at_most >= found.pooled - 1e-12).all()


def test_a_copy_protects_a_run_and_no_overlap_takes_all() -> None:
    runs = [Run.from_lists(n, {"1": list(d)}) for n, d in (("a", "AB"), ("copy", "AB"), ("b", "CD"))]
    judged = Qrels.from_dict({"1": dict.fromkeys("ABCD", 1)})
    found = left_out(collected(runs, judged), "P@2", depth=2)
    assert found.unpooled["nonrelevant"].tolist() == [1.0, 1.0, 0.0]
    assert found.unpooled["condensed"].tolist()[2] == 0.0


def test_a_topic_that_one_run_alone_has_loses_its_judgments() -> None:
    runs = [Run.from_lists("a", {"1": ["A"], "2": ["B"]}), Run.from_lists("b", {"1": ["A"]})]
    found = left_out(collected(runs, Qrels.from_dict({"1": {"A": 1}, "2": {"B": 1}})), "P@1", depth=1)
    assert found.pooled.tolist() == [1.0, 0.5]
    assert found.unpooled["nonrelevant"].tolist() == [0.5, 0.5]


def test_one_run_alone_cannot_be_left_out() -> None:
    runs = [Run.from_lists("a", {"1": ["A"]}), Run.from_lists("b", {"1": ["A"]})]
    judged = Qrels.from_dict({"1": {"A": 1}})
    with pytest.raises(DataError, match=r"one run alone \(a\)"):
        left_out(collected(runs[:1], judged))
    with pytest.raises(DataError, match="one group alone"):
        left_out(collected(runs, judged, groups={"a": "g", "b": "g"}), by="group")
