"""Which topics count, AP against the measures, and shares of a pool."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.nojudgments.basis import average_precision, best_share, comparable
from assay.pooling.rescoring import rescored
from assay.scoring import evaluate

DOCS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)
COLLECTIONS = st.lists(st.fixed_dictionaries({"1": DOCS, "10": DOCS, "9": DOCS}), min_size=2, max_size=5)


def as_runs(rankings: list[dict[str, list[str]]]) -> list[Run]:
    return [Run.from_lists(f"r{i}", topics) for i, topics in enumerate(rankings)]


def usable(rankings: list[dict[str, list[str]]]) -> bool:
    return any(sum(bool(r[t]) for r in rankings) > 1 for t in ("1", "9", "10"))


@given(COLLECTIONS.filter(usable))
@settings(max_examples=60, deadline=None)
def test_topics_are_those_that_two_runs_answer(rankings: list[dict[str, list[str]]]) -> None:
    lists = comparable(as_runs(rankings))
    answered = {t: sum(bool(r[t]) for r in rankings) for t in ("1", "9", "10")}
    assert lists.topics == tuple(t for t, n in answered.items() if n > 1)
    assert lists.dropped == tuple(t for t, n in answered.items() if n == 1)
    assert lists.sizes.sum() == sum(len(r[t]) for r in rankings for t in lists.topics)


@given(COLLECTIONS.filter(usable), st.sets(st.sampled_from("abcdefgh")))
@settings(max_examples=60, deadline=None)
def test_ap_is_that_of_the_measures(rankings: list[dict[str, list[str]]], relevant: set[str]) -> None:
    runs = as_runs(rankings)
    lists = comparable(runs)
    qrels = Qrels.from_dict({t: {d: int(d in relevant) for d in "abcdefgh"} for t in lists.topics})
    ours = average_precision(lists, lists.graded(qrels).relevant(), totals=[len(relevant)] * len(lists.topics))
    np.testing.assert_allclose(ours, evaluate(runs, qrels, "AP")[0].values, atol=1e-12)


def test_share_is_rounded_up_but_not_by_float_noise() -> None:
    docs = [f"d{i}" for i in range(10)]
    lists = comparable(as_runs([{"1": docs}, {"1": docs}]))
    key = np.arange(10)[::-1]
    for share, wanted in ((0.3, 3), (0.31, 4), (0.7, 7), (1.0, 10)):
        assert best_share(lists, [key], np.ones(10, dtype=bool), share).sum() == wanted


@pytest.mark.parametrize("share", [0.0, 1.5, -0.1])
def test_share_outside_its_range_is_refused(share: float) -> None:
    lists = comparable(as_runs([{"1": ["a"]}, {"1": ["a"]}]))
    with pytest.raises(UsageError, match="share"):
        best_share(lists, [np.zeros(1)], np.ones(1, dtype=bool), share)


def test_bad_input_is_named() -> None:
    one, other = Run.from_lists("a", {"1": ["x"]}), Run.from_lists("b", {"2": ["x"]})
    with pytest.raises(DataError, match="two or more"):
        comparable([one])
    with pytest.raises(DataError, match="no topic in common"):
        comparable([one, other])
    with pytest.raises(DataError, match="'a' is there twice"):
        comparable([one, one])


@pytest.mark.parametrize("seed", range(5))
def test_average_precision_is_the_measure_to_the_last_digit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    docs = [f"d{i:02d}" for i in range(40)]
    runs = [
        Run.from_lists(f"r{r}", {str(t): list(rng.permutation(docs)[: rng.integers(1, 30)]) for t in range(4)})
        for r in range(5)
    ]
    lists = comparable(runs)
    relevant = rng.random(lists.items) < 0.3
    expected = rescored(lists, "AP", grades=relevant.astype(np.int32))
    np.testing.assert_array_equal(average_precision(lists, relevant), expected)
