"""Moments of scores under uncertain relevance against all 2^n assignments, and the choice of docs that they lead to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data.lists import TopicLists
from assay.pooling.judging import order_of
from assay.pooling.mtc import MinimalTest, confidence
from tests.oracles import pooling as oracle
from tests.pooling.collections import rankings, topic


def mtc_of(seen: TopicLists, p: dict[str, float] | None = None) -> MinimalTest:
    order = order_of("mtc", seen)
    assert isinstance(order, MinimalTest)
    if p is not None:
        order.p = np.array([p[d] for d in seen.docs])
    return order


def difference(order: MinimalTest) -> tuple[float, float]:
    mean, spread = order.expectation(), order.covariance()
    return float(mean[0] - mean[1]), float(spread[0, 0] + spread[1, 1] - 2 * spread[0, 1])


@pytest.mark.parametrize(
    ("told", "mean", "variance", "above"),
    [(None, 0.0, 0.098765, 0.5), (True, -0.1875, 0.015191, 0.0641), (False, 0.375, 0.102431, 0.8793)],
)
def test_golden_pair(told: bool | None, mean: float, variance: float, above: float) -> None:
    # Runs ABC and CAB at p = ½, then with C judged. Exact sums over the eight assignments.
    order = mtc_of(topic({"a": "ABC", "b": "CAB"}))
    effects = order.effects()
    np.testing.assert_allclose(effects[0] - effects[1], [0.5, 0.25, -0.75])
    assert order.next().tolist() == [2]
    if told is not None:
        order.tell(2, told)
    assert difference(order) == pytest.approx((mean, variance), abs=5e-7)
    assert confidence([order]).above[0, 1] == pytest.approx(above, abs=5e-5)


def test_exact_variance_differs_from_the_one_with_the_expected_number_of_relevant_docs() -> None:
    *_, exact = oracle.difference_moments("ABC", "CAB", dict.fromkeys("ABC", 0.5))
    assert exact == pytest.approx(0.123264, abs=5e-7)


@given(runs=rankings(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_moments_are_those_of_all_assignments(runs: dict[str, str], data: st.DataObject) -> None:
    seen = topic(runs)
    chances = st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.9, 1.0])
    p = {d: data.draw(chances) for d in seen.docs}
    if sum(p.values()) == 0:
        p[seen.docs[0]] = 0.5
    a, b = list(runs.values())[:2]
    mean, variance, *_ = oracle.difference_moments(a, b, p)
    assert difference(mtc_of(seen, p)) == pytest.approx((mean, variance), abs=1e-10)


def test_ap_distribution_of_three_docs() -> None:
    # Carterette & Allan: p = .8, .4, .6 for A, B, C ranked in that order.
    p = {"A": 0.8, "B": 0.4, "C": 0.6}
    found = oracle.ap_distribution("ABC", p)
    assert found[0.0] == pytest.approx(0.048)
    assert found[1.0] == pytest.approx(0.512)
    # The paper lists 5/12 among the values; B and C alone relevant give (1/2 + 2/3)/2 = 7/12.
    assert sorted(found) == pytest.approx([0, 1 / 3, 1 / 2, 7 / 12, 5 / 6, 1])
    # Dividing by Σp = 1.8 instead of by the random number of relevant docs: 1.6/1.8 where the exact mean is .82.
    assert sum(value * chance for value, chance in found.items()) == pytest.approx(0.82)
    assert mtc_of(topic({"a": "ABC", "b": "A"}), p).expectation()[0] == pytest.approx(1.6 / 1.8)


@given(data=st.data())
@settings(deadline=None)
def test_a_likelier_doc_first_has_the_higher_expectation(data: st.DataObject) -> None:
    # Theorem 1 of Carterette & Allan: two runs alike but for a swap of A and B, p_A > p_B.
    order = list(data.draw(st.permutations("ABCDEF")))
    i, j = order.index("A"), order.index("B")
    swapped = order.copy()
    swapped[i], swapped[j] = swapped[j], swapped[i]
    first, second = (order, swapped) if i < j else (swapped, order)
    p = {d: data.draw(st.floats(0.05, 0.9)) for d in "BCDEF"}
    p["A"] = p["B"] + 0.05
    expected = mtc_of(topic({"a": "".join(first), "b": "".join(second)}), p).expectation()
    assert expected[0] > expected[1]


@given(runs=rankings(), data=st.data())
@settings(max_examples=30, deadline=None)
def test_with_everything_judged_the_expectation_is_ap(runs: dict[str, str], data: st.DataObject) -> None:
    seen = topic(runs)
    relevant = set(data.draw(st.lists(st.sampled_from(seen.docs.tolist()))))
    order = mtc_of(seen)
    for doc, name in enumerate(seen.docs):
        order.tell(doc, name in relevant)
    np.testing.assert_allclose(order.expectation(), [oracle.average_precision(r, relevant) for r in runs.values()])
    np.testing.assert_allclose(order.covariance(), 0, atol=1e-12)
    sure = confidence([order])
    means = order.expectation()
    gap = np.sign(np.round(means[:, None] - means, 12))
    np.testing.assert_allclose(sure.above, (gap + 1) / 2)


def test_judging_decides_pairs_and_undecided_pairs_choose_the_doc() -> None:
    rng = np.random.default_rng(0)
    runs = {f"s{i}": "".join(rng.permutation(list("ABCDEFGHIJ"))) for i in range(4)}
    order = mtc_of(topic(runs))
    undecided = np.zeros((4, 4), dtype=bool)
    undecided[1, 3] = undecided[3, 1] = True
    order.undecided = undecided
    effects = order.effects()
    gap = np.abs(effects[1] - effects[3])
    assert order.next(3).tolist() == np.argsort(-np.round(gap / 2, 12), kind="stable")[:3].tolist()
    order.undecided = np.zeros((4, 4), dtype=bool)
    spread = effects.max(axis=0) - effects.min(axis=0)
    assert order.next().tolist() == [int(np.argmax(np.round(spread / 2, 12)))]


def test_all_pairs_undecided_is_the_range_over_the_runs() -> None:
    rng = np.random.default_rng(1)
    letters = [chr(65 + i) for i in range(26)] + [chr(97 + i) for i in range(26)]
    runs = {f"s{i}": "".join(rng.permutation(letters)[:30]) for i in range(6)}
    order = mtc_of(topic(runs))
    plain = order.next(5).tolist()
    order.undecided = ~np.eye(6, dtype=bool)
    assert order.next(5).tolist() == plain


def test_confidence_over_topics_and_its_stopping_rules() -> None:
    tests = [mtc_of(topic({"a": "ABC", "b": "CAB"})) for _ in range(4)]
    for order in tests:
        order.tell(0, True)
        order.tell(2, False)
    sure = confidence(tests)
    assert sure.above[0, 1] > 0.95 > 1 - sure.above[1, 0] - 1
    assert sure.reached(0.95)
    assert sure.reached(0.95, strict=False)
    assert not sure.undecided(0.95).any()
    fresh = confidence([mtc_of(topic({"a": "ABC", "b": "CAB"}))])
    assert fresh.above[0, 1] == 0.5
    assert not fresh.reached(0.95)
    assert fresh.table().column("undecided") == [1, 1]


def test_linear_measures_have_a_fixed_order() -> None:
    order = order_of("mtc(measure=rbp)", topic({"a": "ABC", "b": "CAB"}))
    # Ranges of the weights .2, .16, .128: A .04, B .032, C .072.
    assert order.next(3).tolist() == [2, 0, 1]
    assert isinstance(order, MinimalTest)
    np.testing.assert_allclose(order.expectation(), [0.244, 0.244])


def test_only_mtc_knows_how_sure_it_is() -> None:
    with pytest.raises(UsageError, match="only the order 'mtc'"):
        confidence([order_of("hedge", topic({"a": "AB"}))])
