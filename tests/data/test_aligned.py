"""Grades and alignment against a plain dictionary look-up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.aligned import align
from assay.data.grades import UNJUDGED, gain_of, grades

DOC = st.text("abcdé", min_size=1, max_size=3)
RUNS = st.dictionaries(st.sampled_from("12345"), st.lists(DOC, unique=True, min_size=1), min_size=1)
QRELS = st.dictionaries(st.sampled_from("12345"), st.dictionaries(DOC, st.integers(-1, 3), min_size=1), min_size=1)


@given(RUNS, QRELS)
def test_alignment_is_a_dictionary_look_up(lists: dict[str, list[str]], judged: dict[str, dict[str, int]]) -> None:
    g = align(Run.from_lists("r", lists), Qrels.from_dict(judged))
    assert list(g.topics) == sorted(judged)
    for i, topic in enumerate(g.topics):
        docs = lists.get(topic, [])
        assert g.retrieved[i] == len(docs)
        assert g.ranked[i, : len(docs)].tolist() == [judged[topic].get(d, UNJUDGED) for d in docs]
        assert (g.ranked[i, len(docs) :] == UNJUDGED).all()
        ideal = g.ideal[i][g.ideal[i] != UNJUDGED].tolist()
        assert ideal == sorted(judged[topic].values(), reverse=True)


@given(RUNS, QRELS)
def test_condensed_drops_what_is_not_judged(lists: dict[str, list[str]], judged: dict[str, dict[str, int]]) -> None:
    g = align(Run.from_lists("r", lists), Qrels.from_dict(judged)).condensed()
    for i, topic in enumerate(g.topics):
        kept = [judged[topic][d] for d in lists.get(topic, []) if judged[topic].get(d, -1) >= 0]
        assert g.retrieved[i] == len(kept)
        assert g.ranked[i, : len(kept)].tolist() == kept


def test_supposing_extends_the_judged_set() -> None:
    g = grades([1, None, 0], judged=[2, 1, 0]).supposing(2)
    assert g.ranked.tolist() == [[1, 2, 0]]
    assert g.ideal[0][:4].tolist() == [2, 2, 1, 0]


def test_cut_and_counts() -> None:
    g = grades([1, None, 0, 2], judged=[2, 1, 1, 0, 0])
    assert g.cut(2).retrieved.tolist() == [2]
    assert (g.relevant().tolist(), g.relevant(2).tolist(), g.nonrelevant().tolist()) == ([3.0], [1.0], [2.0])
    assert g.judged().tolist() == [[True, False, True, True]]


def test_gains() -> None:
    assert gain_of(np.array([UNJUDGED, -1, 0, 1, 2]), "grade").tolist() == [0, 0, 0, 1, 2]
    assert gain_of(np.array([0, 1, 3]), "1:0.5/0:0.1").tolist() == [0.1, 0.5, 3.0]
    with pytest.raises(UsageError, match="no gain 'cubic'"):
        gain_of(np.array([1]), "cubic")


def test_tied_docs_are_known_only_when_asked_for() -> None:
    run = Run.from_dict("r", {"1": {"a": 1.0, "b": 1.0}})
    qrels = Qrels.from_dict({"1": {"a": 1}})
    assert align(run, qrels).tied is None
    assert align(run.ordered("average"), qrels).blocks().tolist() == [[1, 1]]
    with pytest.raises(UsageError, match="does not know which docs are tied"):
        align(run, qrels).blocks()
