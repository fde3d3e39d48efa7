"""Laws on any grades: fractions, negative and huge ones, scales below 1. Nothing leaves its range, nothing warns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.grades import UNJUDGED, Grades
from assay.measures import MEASURES, Measure, bounds_of, parse
from assay.scoring import evaluate
from tests.laws.test_measures import PLAIN, TOLERANCE, variants

HUGE = float(2**31 - 1)
RANGES = {"unit": (0.0, 1.0), "nonneg": (0.0, np.inf), "count": (0.0, np.inf), "any": (-np.inf, np.inf)}

grade = st.one_of(
    st.none(),
    st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.0, 0.3, 0.7, 1.0, 1.9, 2.0, 3.0]),
    st.sampled_from([1000.0, 2000.0, HUGE]),
    st.floats(0, 4, allow_subnormal=False),
)
lists = st.lists(grade, max_size=7)
missed = st.lists(grade.filter(lambda x: x is not None), max_size=3)


def any_grades(ranked: list[float | None], others: list[float], top: float | None = None) -> Grades:
    """One topic with lengths and sampling probabilities; the top is the largest grade unless given."""
    row = [float(UNJUDGED) if x is None else x for x in ranked]
    judged = sorted([x for x in [*row, *others] if x != UNJUDGED], reverse=True)
    highest = max([x for x in judged if x > 0], default=1.0)
    return Grades(
        ("1",),
        np.array([row], dtype=np.float64).reshape(1, -1),
        np.array([len(row)]),
        np.array([judged], dtype=np.float64).reshape(1, -1),
        top=highest if top is None else top,
        lengths=np.full((1, len(row)), 50.0),
        inclusion=np.full((1, len(row)), 0.5),
        judged_inclusion=np.full((1, len(judged)), 0.5),
    )


def in_range(m: Measure, g: Grades) -> bool:
    low, high = RANGES[m.entry.facts.get("range", "unit")]
    values = m(g)
    return bool(np.isfinite(values).all() and (values >= low - TOLERANCE).all() and (values <= high + TOLERANCE).all())


@given(ranked=lists, others=missed, top=st.sampled_from([None, 0.5, 1.0, 3.0, 2000.0]))
@settings(max_examples=150, deadline=None)
def test_no_measure_leaves_its_range_whatever_the_grades(
    ranked: list[float | None], others: list[float], top: float | None
) -> None:
    g = any_grades(ranked, others, top)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in PLAIN:
            for m in variants(name):
                for one in (m, replace(m, condensed=True)):
                    assert in_range(one, g), str(one)


WITH_GAINS = [name for name in PLAIN if "gain" in MEASURES[name].parameters]
WITH_TOP = [name for name in PLAIN if "top" in MEASURES[name].parameters]


@given(ranked=lists, others=missed)
@settings(max_examples=60, deadline=None)
def test_no_measure_leaves_its_range_whatever_the_gains(ranked: list[float | None], others: list[float]) -> None:
    small = [None if x is None else min(x, 30.0) for x in ranked]
    g = any_grades(small, [min(x, 30.0) for x in others])
    for name in WITH_GAINS:
        for m in variants(name):
            for gain in ("exp", "binary", "1:5/2:0.25"):
                one = replace(m, parameters=(*m.parameters, ("gain", gain)))
                assert in_range(one, g), str(one)


@given(ranked=lists, others=missed, top=st.sampled_from([0.25, 1, 4]))
@settings(max_examples=60, deadline=None)
def test_no_measure_leaves_its_range_whatever_the_top(
    ranked: list[float | None], others: list[float], top: float
) -> None:
    """A grade above the given top counts as the top."""
    g = any_grades(ranked, others)
    for name in WITH_TOP:
        for m in variants(name):
            one = replace(m, parameters=(*m.parameters, ("top", top)))
            assert in_range(one, g), str(one)


@pytest.mark.parametrize("name", WITH_TOP)
def test_a_measure_that_has_a_top_says_so_and_takes_it_from_the_policy(name: str) -> None:
    assert MEASURES[name].facts.get("uses_top")
    moved = False
    for m in variants(name):
        low, high = (m(any_grades([2.0, 0.0, 1.0, None], [1.0], top)) for top in (2.0, 4.0))
        given_top = replace(m, parameters=(*m.parameters, ("top", 4)))(any_grades([2.0, 0.0, 1.0, None], [1.0], 2.0))
        np.testing.assert_allclose(given_top, high)
        moved |= bool(low[0] != high[0])
    # GAP divides by the same scale in both terms.
    assert moved or name == "GAP"


@pytest.mark.parametrize("name", [e.name for e in MEASURES if e.facts.get("needs") != "intents"])
def test_what_depends_on_the_top_has_it_as_a_parameter(name: str) -> None:
    if name in WITH_TOP:
        return
    for m in variants(name):
        low, high = (m(any_grades([2.0, 0.0, 1.0, None], [1.0], top)) for top in (2.0, 4.0))
        np.testing.assert_array_equal(low, high)


FRACTIONS = [0.7, 0.0, 1.9, 0.2, None, 1.0]


@pytest.mark.parametrize("name", PLAIN)
def test_fractions_are_grades_like_others(name: str) -> None:
    """All grades and gains halved, rel and top with them: no measure can tell."""
    doubled = [None if x is None else 2 * x for x in FRACTIONS]
    for m in variants(name):
        if m.entry.facts.get("range") == "nonneg" and "gain" in m.entry.parameters:
            continue  # sums of gains are halved with them
        if m.name in NOT_SCALED:
            continue
        scaled = m if "rel" not in m.entry.parameters else _with(m, "rel", 0.5)
        np.testing.assert_allclose(scaled(any_grades(FRACTIONS, [0.7])), m(any_grades(doubled, [1.4])), err_msg=str(m))


NOT_SCALED = {
    *("ERR", "nERR", "ERRlin", "nERRlin", "EBR", "Q", "O", "P-measure", "P+", "NCU"),
    *("G", "RBPTrec"),
}
"""Measures in which a gain is weighed against 1, as their formulas have it."""


def _with(m: Measure, key: str, value: Any) -> Measure:
    given = dict(m.parameters)
    given[key] = value if m.entry.parameters[key] is not None else given.get(key)
    return replace(m, parameters=tuple((k, v) for k, v in given.items() if v is not None))


def test_gains_are_not_cut() -> None:
    g = any_grades([0.7, 1.9], [])
    assert parse("DCG")(g) == pytest.approx([0.7 + 1.9 / np.log2(3)])
    assert parse("RBP(p=0.5)")(g) == pytest.approx([0.5 * 0.7 / 1.9 + 0.25])
    assert parse("P(rel=0.5)@2")(g).tolist() == [1.0]
    assert parse("AP(rel=0.5)")(g).tolist() == [1.0]


@pytest.mark.parametrize("name", PLAIN)
def test_a_negative_grade_is_an_unjudged_doc(name: str) -> None:
    """Except to estimates from samples of the pool, to which it is a doc that was not drawn."""
    if name in ("infAP", "xinfAP"):
        return
    for m in variants(name):
        values = [m(any_grades([2.0, x, 0.0, x, 1.0], [1.0])) for x in (None, -1.0, -2.5)]
        np.testing.assert_array_equal(values[0], values[1], err_msg=str(m))
        np.testing.assert_array_equal(values[0], values[2], err_msg=str(m))


def test_err_on_grades_of_thousands() -> None:
    g = any_grades([2000.0, 1999.0], [])
    assert parse("ERR")(g) == pytest.approx([1.0])
    assert parse("ERR")(any_grades([1999.0], [2000.0])) == pytest.approx([0.5])


@pytest.mark.parametrize("measure", ["nDCG(gain=exp)", "RBP(gain=exp)", "DCG(gain=exp)@5"])
def test_exponential_gains_that_no_number_holds_are_an_error(measure: str) -> None:
    with pytest.raises(UsageError, match="gain=exp: 2\\^2000 is more than a number can hold"):
        parse(measure)(any_grades([2000.0], []))


@pytest.mark.parametrize("compat", ["trec_eval-9", "trec_eval-10", None])
def test_scores_beyond_32_bits_do_not_warn(compat: str | None) -> None:
    run = Run.from_dict("r", {"1": {"a": 1e300, "b": -1e300, "c": 1e-300, "d": 1e39}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = evaluate([run], Qrels.from_dict({"1": {"b": 1}}), "RR", compat=compat)
    assert scores[0].values.tolist() == [[0.25]]


@given(ranked=lists, others=missed)
@settings(max_examples=40, deadline=None)
def test_bounds_are_numbers_whatever_the_grades(ranked: list[float | None], others: list[float]) -> None:
    g = any_grades(ranked, others)
    score: Callable[[str], Measure] = parse
    for name in ("P@4", "RBP(p=0.95)", "ERR", "RR", "DCG@3", "INST", "nDCG@3", "AP"):
        found = bounds_of(score(name), g)
        assert np.isfinite(found.low).all()
        assert np.isfinite(found.high).all()
        assert found.kind == "two scenarios" or (found.low <= found.high + TOLERANCE).all()


@pytest.mark.parametrize("name", [name for name in PLAIN if name.startswith("rpref")])
def test_a_tiny_gain_below_a_large_one_is_no_overflow(name: str) -> None:
    g = any_grades([1000.0, 2.2250738585072014e-308], [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for m in variants(name):
            assert in_range(m, g)
