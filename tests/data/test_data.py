"""Run and Qrels: one place orders documents, by every tie policy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import DataError, UsageError
from assay.core.groups import coded_names, natural_order
from assay.core.ids import Ids
from assay.data import Labels, Qrels, Run

SCORES = st.dictionaries(
    st.sampled_from(["1", "2", "10", "q-α"]),
    st.dictionaries(st.text("abcé0", min_size=1, max_size=4), st.sampled_from([0.0, 0.5, 1.0, 16777216.0, 16777217.0])),
    min_size=1,
)


@given(SCORES)
def test_order_is_score_then_doc_id_bytes_descending(scores: dict[str, dict[str, float]]) -> None:
    run = Run.from_dict("r", scores)
    for topic, docs in scores.items():
        wanted = sorted(docs, key=lambda d: (docs[d], d.encode()), reverse=True)
        assert run.ranking(topic) == wanted


@given(SCORES)
def test_trec_eval_9_compares_32_bit_scores(scores: dict[str, dict[str, float]]) -> None:
    run = Run.from_dict("r", scores).ordered(compat="trec_eval-9")
    for topic, docs in scores.items():
        wanted = sorted(docs, key=lambda d: (np.float32(docs[d]), d.encode()), reverse=True)
        assert run.ranking(topic) == wanted


@given(SCORES)
def test_the_other_policies(scores: dict[str, dict[str, float]]) -> None:
    run = Run.from_dict("r", scores)
    for topic, docs in scores.items():
        place = {d: i for i, d in enumerate(docs)}
        assert run.ordered("docid-asc").ranking(topic) == sorted(docs, key=lambda d: (-docs[d], d.encode()))
        assert run.ordered("file").ranking(topic) == sorted(docs, key=lambda d: (-docs[d], place[d]))
        assert run.ordered("average").ranking(topic) == run.ranking(topic)


def test_ties_by_rank_column() -> None:
    run = Run.from_rows(
        "r", ["1"], np.array([0, 3]), Ids.of("abc"), np.array([1.0, 1.0, 2.0]), ranks=np.array([2, 3, 1])
    )
    assert run.ordered("rank").ranking("1") == ["c", "a", "b"]
    with pytest.raises(UsageError, match="has no rank column"):
        Run.from_dict("r", {"1": {"a": 1.0}}).ordered("rank")
    with pytest.raises(UsageError, match="no tie policy 'rand'"):
        run.ordered("rand")


def test_reordering_twice_is_reordering_once() -> None:
    run = Run.from_dict("r", {"1": {"a": 1.0, "b": 1.0, "c": 1.0}})
    assert run.ordered("docid-asc").ordered("file").ranking("1") == ["a", "b", "c"]
    assert run.ordered("docid-asc").ordered("docid").ranking("1") == ["c", "b", "a"]


def test_tied_marks_docs_of_equal_score_within_a_topic() -> None:
    run = Run.from_dict("r", {"1": {"a": 1.0, "b": 1.0}, "2": {"c": 1.0}, "3": {}})
    assert run.tied().tolist() == [False, True, False]


def test_a_doc_twice_in_a_topic_is_refused() -> None:
    with pytest.raises(DataError, match="doc 'a' is twice in topic '1'"):
        Run.from_rows("r", ["1"], np.array([0, 2]), Ids.of(["a", "a"]), np.array([1.0, 2.0]))
    assert (
        Run.from_rows("r", ["1", "2"], np.array([0, 1, 2]), Ids.of(["a", "a"]), np.array([1.0, 2.0])).duplicate()
        is None
    )


def test_nan_is_refused() -> None:
    with pytest.raises(DataError, match="not a number"):
        Run.from_dict("r", {"1": {"a": float("nan")}})


def test_cut_keeps_the_first_docs() -> None:
    run = Run.from_lists("r", {"1": ["a", "b", "c"], "2": ["d"]}).cut(2)
    assert run.to_dict().keys() == {"1", "2"}
    assert (run.ranking("1"), run.ranking("2")) == (["a", "b"], ["d"])


def test_a_topic_that_is_nowhere() -> None:
    with pytest.raises(UsageError, match="has no topic '11'"):
        Run.from_lists("r", {"1": ["a"]}).ranking("11")


def test_qrels_round_trip_and_scale() -> None:
    grades = {"10": {"a": 3, "b": -1}, "9": {"c": 0}}
    qrels = Qrels.from_dict(grades)
    assert qrels.topics == ("9", "10")
    assert qrels.to_dict() == grades
    assert qrels.top_grade() == 3
    assert Qrels.from_dict({"1": {"a": 0}}).top_grade() == 1


def test_labels_code_names_and_items() -> None:
    labels = Labels.from_rows([("2", "b", "w2", 1.0), ("10", "a", "w1", 0.0), ("2", "b", "w1", 2.0)])
    item, pairs = labels.items()
    assert labels.topics == ("2", "10")
    assert [pairs[i] for i in item] == [("2", "b"), ("10", "a"), ("2", "b")]
    assert labels.select([True, False, True]).label.tolist() == [1.0, 2.0]


def test_names_in_natural_order() -> None:
    assert natural_order(["b2", "b10", "a", "2", "10"]) == ["2", "10", "a", "b2", "b10"]
    assert coded_names([])[0] == ()
