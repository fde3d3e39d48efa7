"""Gain measures against plain loops over the definitions, and where they meet other measures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data.grades import gain_of, grades
from assay.measures import parse
from tests.oracles import measures as plain

lists = st.lists(st.sampled_from([None, 0, 0, 1, 2, 3]), max_size=9)
missed = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4)


def judged_of(ranked: list[int | None], extra: list[int]) -> list[int]:
    return [x for x in ranked if x is not None] + extra


@pytest.mark.parametrize("gain", ["grade", "exp", "1:0.5/2:2/3:9"])
@pytest.mark.parametrize("k", [None, 1, 3])
@given(ranked=lists, extra=missed)
@settings(max_examples=40, deadline=None)
def test_blended_measures(gain: str, k: int | None, ranked: list[int | None], extra: list[int]) -> None:
    judged = judged_of(ranked, extra)
    gains = gain_of(np.array([-1 if x is None else x for x in ranked], dtype=int), gain).tolist()
    ideal = sorted(gain_of(np.array(judged, dtype=int), gain).tolist(), reverse=True)
    at = "" if k is None else f"@{k}"
    g = grades(ranked, judged=judged, top=3)
    for name, oracle in plain.BLENDED.items():
        value = parse(f"{name}(gain={gain}){at}")(g)[0]
        assert value == pytest.approx(oracle(gains, ideal, k), abs=1e-12), name


@given(ranked=lists, extra=missed, k=st.sampled_from([None, 2, 5]))
@settings(max_examples=60, deadline=None)
def test_cascades(ranked: list[int | None], extra: list[int], k: int | None) -> None:
    judged = judged_of(ranked, extra)
    g = grades(ranked, judged=judged, top=4)
    at = "" if k is None else f"@{k}"
    order = sorted(judged, reverse=True)
    stops: dict[str, Callable[[int], float]] = {"ERR": lambda x: (2**x - 1) / 16, "ERRlin": lambda x: x / 5}
    for name, stop in stops.items():
        value = plain.cascade([stop(x or 0) for x in ranked][:k])
        best = plain.cascade([stop(x) for x in order][:k])
        assert parse(name + at)(g)[0] == pytest.approx(value)
        assert parse("n" + name + at)(g)[0] == pytest.approx(value / best if best else 0.0)


@given(ranked=lists, extra=missed)
@settings(max_examples=60, deadline=None)
def test_err_is_errlin_of_exponential_gains(ranked: list[int | None], extra: list[int]) -> None:
    g = grades(ranked, judged=judged_of(ranked, extra), top=3)
    assert parse("ERR")(g) == pytest.approx(parse("ERRlin(gain=exp)")(g))


@pytest.mark.parametrize("weights", [{1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, {1: 1 / 6, 2: 2 / 6, 3: 3 / 6}, {1: 0.2, 3: 0.8}])
@given(ranked=lists, extra=missed)
@settings(max_examples=40, deadline=None)
def test_gap(weights: dict[int, float], ranked: list[int | None], extra: list[int]) -> None:
    judged = judged_of(ranked, extra)
    text = "/".join(f"{grade}:{w!r}" for grade, w in weights.items())
    value = parse(f"GAP(thresholds={text})")(grades(ranked, judged=judged, top=3))[0]
    assert value == pytest.approx(plain.gap([x or 0 for x in ranked], judged, weights), abs=1e-12)


@given(ranked=st.lists(st.sampled_from([None, 0, 1]), max_size=9), extra=st.lists(st.sampled_from([0, 1]), max_size=4))
@settings(max_examples=60, deadline=None)
def test_binary_grades_give_ap(ranked: list[int | None], extra: list[int]) -> None:
    g = grades(ranked, judged=judged_of(ranked, extra), top=1)
    ap = parse("AP")(g)
    assert parse("GAP")(g) == pytest.approx(ap)
    assert parse("Q(beta=0.0)")(g) == pytest.approx(ap)
    assert parse("NCU(stop=uniform,utility=precision)")(g) == pytest.approx(ap)


def test_top_grade_is_the_scale_never_the_topic() -> None:
    """Two topics, one of whose best doc has grade 1 on a scale of 3: its stop probability is 1/8 and not 1/2."""
    g = grades([1], [3], judged=[[1], [3]])
    assert parse("ERR")(g).tolist() == [1 / 8, 7 / 8]
    assert parse("ERRlin")(g).tolist() == [1 / 4, 3 / 4]
    assert parse("ERR(top=4.0)")(g).tolist() == [1 / 16, 7 / 16]


@pytest.mark.parametrize("text", ["NCU(stop=never)", "NCU(utility=joy)", "GAP(thresholds=odd)", "Q(gain=odd)"])
def test_unknown_words_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="known"):
        parse(text)(grades([1, 0]))
