"""Topic sets of one corpus as one."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import DataError
from assay.data.scores import ScoreMatrix
from assay.data.topic_joins import topics_joined
from assay.io import read_scores
from tests.conftest import real_data


def part(runs: list[str], topics: list[str], measure: str = "AP") -> ScoreMatrix:
    values = np.random.default_rng(len(topics)).random((len(runs), len(topics)))
    return ScoreMatrix.of(values, runs=runs, topics=topics, measure=measure)


def test_the_parts_of_robust_2004_are_the_whole() -> None:
    whole = read_scores(real_data("trec-score-matrices/named/robust2004_ap.csv"))[0]
    old = whole.select(topics=[t for t in whole.topics if int(t) <= 450])
    new = whole.select(topics=[t for t in whole.topics if int(t) > 450], runs=list(reversed(whole.runs)))
    (joined,) = topics_joined([old, new])
    assert joined.shape == (110, 249)
    np.testing.assert_array_equal(joined.select(topics=whole.topics).values, whole.values)


def test_what_cannot_be_joined_says_why() -> None:
    with pytest.raises(DataError, match="run 'c' is in one topic set only"):
        topics_joined([part(["a", "b"], ["1"]), part(["a", "b", "c"], ["2"])])
    with pytest.raises(DataError, match="topic '1' is in two files"):
        topics_joined([part(["a"], ["1", "2"]), part(["a"], ["1"])])


def test_measures_are_joined_each_by_itself() -> None:
    found = topics_joined([part(["a"], ["1"]), part(["a"], ["1"], "RR"), part(["a"], ["2"]), part(["a"], ["2"], "RR")])
    assert [(matrix.measure, matrix.topics) for matrix in found] == [("AP", ("1", "2")), ("RR", ("1", "2"))]
