"""What a person hands over in Python: ids as strings or whole numbers, grades as whole numbers or fractions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import DataError
from assay.core.ids import Ids
from assay.data import Labels, Qrels, Run
from assay.data.aligned import align
from assay.data.grades import UNJUDGED
from assay.data.intents import IntentQrels, align_intents
from assay.data.lists import collected
from assay.io import read_run, write_qrels, write_run

FRACTIONS: dict[str, dict[str, float]] = {"1": {"a": 0.7, "b": 1.9, "c": 0}, "2": {"a": 2}}


def test_fractions_are_grades_like_others() -> None:
    qrels = Qrels.from_dict(FRACTIONS)
    assert qrels.to_dict() == FRACTIONS
    assert qrels.grades.dtype == np.float64
    assert qrels.top_grade() == 2
    assert Qrels.from_dict({"1": {"a": 1.9}}).top_grade() == 1.9
    assert Qrels.from_dict({"1": {"a": 0.4}}).top_grade() == 1


def test_fractions_reach_the_ranking_and_the_ideal() -> None:
    grades = align(Run.from_lists("r", {"1": ["b", "x", "a"]}), Qrels.from_dict(FRACTIONS))
    assert grades.ranked.tolist() == [[1.9, UNJUDGED, 0.7], [UNJUDGED] * 3]
    assert grades.ideal.tolist() == [[1.9, 0.7, 0.0], [2.0, UNJUDGED, UNJUDGED]]
    assert grades.gains().tolist() == [[1.9, 0.0, 0.7], [0.0] * 3]
    assert grades.hits(rel=1).tolist() == [[True, False, False], [False] * 3]
    assert grades.judged()[0].tolist() == [True, False, True]


def test_whole_grades_stay_whole_numbers() -> None:
    mixed: dict[str, dict[str, Any]] = {"1": {"a": 2.0, "b": True, "c": np.int8(3)}}
    qrels = Qrels.from_dict(mixed)
    assert qrels.grades.dtype == np.int64
    assert qrels.to_dict() == {"1": {"a": 2, "b": 1, "c": 3}}
    assert align(Run.from_lists("r", {"1": ["a"]}), qrels).ranked.dtype == np.int32
    assert Qrels(("1",), np.array([0, 1]), Ids.of("a"), np.array([2.0])).grades.dtype == np.int64


def test_fractions_in_lists_and_by_intent() -> None:
    runs = [Run.from_lists("r", {"1": ["a", "x"]})]
    lists = collected(runs, Qrels.from_dict(FRACTIONS), topics=["1"])
    assert dict(zip(lists.docs, lists.grades.tolist(), strict=True)) == {"a": 0.7, "b": 1.9, "c": 0, "x": UNJUDGED}
    assert lists.top == 1.9
    assert collected(runs).graded(Qrels.from_dict(FRACTIONS)).grades.tolist() == [0.7, UNJUDGED]
    intents = IntentQrels.from_rows([("1", "i", "a", 0.5), ("1", "j", "a", 1)])
    assert intents.to_dict() == {"1": {"a": {"i": 0.5, "j": 1}}}
    assert align_intents(runs[0], intents).intent(0).ranked.tolist() == [[0.5, UNJUDGED]]


def test_pooled_is_not_judged() -> None:
    runs = [Run.from_lists("r", {"1": ["a", "b", "c", "x"]})]
    qrels = Qrels.from_dict({"1": {"a": 1, "b": -1, "c": 0}})
    lists = collected(runs, qrels)
    assert lists.docs.tolist() == ["a", "b", "c", "x"]
    assert lists.pooled().tolist() == [True, True, True, False]
    assert lists.judged().tolist() == [True, False, True, False]
    assert lists.relevant(-1).tolist() == [True, False, True, False]
    assert qrels.judged().tolist() == [True, False, True]


def test_docs_that_are_pooled_and_not_judged_for_any_intent() -> None:
    rows = [("1", "i", "a", 1), ("1", "i", "b", -2), ("1", "i", "c", -2), ("1", "j", "c", 0), ("2", "0", "d", 0)]
    qrels = IntentQrels.from_rows(rows)
    assert qrels.judged().tolist() == [True, False, True, True]
    seen = align_intents(Run.from_lists("r", {"1": ["x", "b", "a", "c"], "2": ["d"]}), qrels)
    assert seen.places.judged()[0].tolist() == [False, False, True, True]
    assert seen.places.pooled()[0].tolist() == [False, True, True, True]
    assert seen.condensed().hits()[0].tolist() == [[True, False], [False, False]]
    assert seen.any_intent().judged()[0].tolist() == [False, False, True, True]


def test_whole_numbers_are_ids() -> None:
    numbered: dict[int, dict[Any, float]] = {401: {12: 1.0, np.int64(13): 2.0}}
    run = Run.from_dict(7, numbered)
    assert (run.name, run.topics, run.ranking("401")) == ("7", ("401",), ["13", "12"])
    assert Run.from_lists("r", {1: [5, 6]}).ranking("1") == ["5", "6"]
    assert Run.from_rows("r", [3], np.array([0, 1]), Ids.of("a"), np.array([1.0])).topics == ("3",)
    assert Qrels.from_dict({10: {1: 1}, 9: {2: 0}}).to_dict() == {"9": {"2": 0}, "10": {"1": 1}}
    labels = Labels.from_rows([(1, 2, 3, 1.0)])
    assert (labels.topics, labels.docs, labels.workers) == (("1",), ("2",), ("3",))
    assert Run.from_lists("r", {"1": [b"a", "é"]}).ranking("1") == ["a", "é"]  # type: ignore[type-var]


MAKERS: list[Callable[[Any, Any], object]] = [
    lambda topic, doc: Run.from_dict("x", {topic: {doc: 1.0}}),
    lambda topic, doc: Run.from_lists("x", {topic: [doc]}),
    lambda topic, doc: Qrels.from_dict({topic: {doc: 1}}, name="x"),
    lambda topic, doc: Labels.from_rows([(topic, doc, "w", 1)], name="x"),
    lambda topic, doc: IntentQrels.from_rows([(topic, "1", doc, 1)], name="x"),
]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (None, r"is None \(NoneType\); give a string or a whole number"),
        (1.5, r"is 1.5 \(float\); give a string or a whole number"),
        (True, r"is True \(bool\); give a string or a whole number"),
        (b"\xff", r".*, which is not UTF-8; decode it first"),
        (("a", "b"), r".* \(tuple\); give a string or a whole number"),
        ("", "is empty"),
        ("\ud800", "is not valid Unicode"),
    ],
)
def test_other_ids_are_refused(maker: Callable[[Any, Any], object], bad: object, message: str) -> None:
    with pytest.raises(DataError, match="^x: the id of a topic " + message):
        maker(bad, "d")
    with pytest.raises(DataError, match="^x: the id of a doc " + message):
        maker("1", bad)


@pytest.mark.parametrize("bad", ["high", "1", None, b"1", [1], object()])
def test_values_that_are_no_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(DataError, match=r"r: a score is .*, not a number"):
        Run.from_dict("r", {"1": {"a": bad}})
    with pytest.raises(DataError, match=r"qrels: a grade is .*, not a number"):
        Qrels.from_dict({"1": {"a": bad}})
    with pytest.raises(DataError, match=r"labels: a label is .*, not a number"):
        Labels.from_rows([("1", "a", "w", bad)])


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 2**31, -(2**31), 2**70, 10**400, 1e300])
def test_grades_are_numbers_of_a_decent_size(bad: float) -> None:
    with pytest.raises(DataError, match="a grade is"):
        Qrels.from_dict({"1": {"a": bad}})
    with pytest.raises(DataError, match="a grade is"):
        IntentQrels.from_rows([("1", "i", "a", bad)])


def test_the_same_id_as_number_and_as_text_is_there_twice() -> None:
    topics: dict[Any, dict[str, int]] = {1: {"a": 1}, "1": {"b": 1}}
    docs: dict[str, dict[Any, int]] = {"1": {7: 1, "7": 1}}
    with pytest.raises(DataError, match="r: topic '1' is there twice"):
        Run.from_dict("r", topics)
    with pytest.raises(DataError, match="qrels: topic '1' is there twice"):
        Qrels.from_dict(topics)
    with pytest.raises(DataError, match="r: doc '7' is twice in topic '1'"):
        Run.from_dict("r", docs)
    with pytest.raises(DataError, match="qrels: doc '7' is twice in topic '1'; a doc has one grade"):
        Qrels.from_dict(docs)
    with pytest.raises(DataError, match="r: doc 'a' is twice in topic '1'"):
        Run.from_lists("r", {"1": ["a", "b", "a"]})


def test_columns_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DataError, match="2 docs and 1 grades"):
        Qrels.from_rows(["1"], np.array([0, 2]), Ids.of("ab"), np.array([1]))
    with pytest.raises(DataError, match="need one bound more"):
        Qrels.from_rows(["1", "2"], np.array([0, 2]), Ids.of("ab"), np.array([1, 0]))
    with pytest.raises(DataError, match="the id of a doc is empty"):
        Qrels.from_rows(["1"], np.array([0, 2]), Ids.of(["a", ""]), np.array([1, 0]))
    with pytest.raises(DataError, match="2 docs and 1 scores"):
        Run.from_rows("r", ["1"], np.array([0, 2]), Ids.of("ab"), np.array([1.0]))
    with pytest.raises(DataError, match="a score is not a number"):
        Run.from_rows("r", ["1"], np.array([0, 1]), Ids.of("a"), np.array([np.nan]))


def test_white_space_is_part_of_an_id_but_does_not_fit_a_trec_file(tmp_path: Path) -> None:
    run = Run.from_lists("r", {"a topic": ["Albert Einstein", "x\ty"]})
    assert run.ranking("a topic") == ["Albert Einstein", "x\ty"]
    write_run(tmp_path / "r.csv", run)
    assert read_run(tmp_path / "r.csv").ranking("a topic") == ["Albert Einstein", "x\ty"]
    with pytest.raises(DataError, match=r"topic 'a topic': TREC files have no white space in ids.*; write a table"):
        write_run(tmp_path / "r.txt", run)
    with pytest.raises(DataError, match="doc 'x y': TREC files"):
        write_qrels(tmp_path / "q.txt", Qrels.from_dict({"1": {"x y": 1}}))
    with pytest.raises(DataError, match="topic '#1': TREC files"):
        write_qrels(tmp_path / "q.txt", Qrels.from_dict({"#1": {"x": 1}}))
