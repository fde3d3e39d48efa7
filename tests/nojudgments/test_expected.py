"""E[AP]: the three-doc example, the closed form against enumeration, Theorem 1, calibration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import Qrels, Run, RunInfo
from assay.data.lists import collected
from assay.nojudgments.basis import average_precision, comparable
from assay.nojudgments.expected import (
    calibration,
    emap,
    emap_calibration,
    expected_ap,
    relevance,
)
from tests.oracles import nojudgments as plain
from tests.oracles.nojudgments import ap_distribution, exact_expected_ap

P = st.floats(0, 1)
RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), min_size=2, max_size=5).filter(
    lambda r: sum(map(bool, r)) > 1
)


def test_three_docs() -> None:
    """Carterette & Allan 2007, §4.1: docs A, B, C with p 4/5, 2/5, 3/5.

    The paper lists the possible values as 0, 1/3, 5/12, 1/2, 5/6, 1. With B and C relevant AP is (1/2 + 2/3)/2 = 7/12:
    5/12 is a misprint, which the enumeration shows.
    """
    values, chances = ap_distribution([4 / 5, 2 / 5, 3 / 5])
    assert values == pytest.approx([0, 1 / 3, 1 / 2, 7 / 12, 5 / 6, 1])
    assert plain.average_precision("ABC", {"B", "C"}) == pytest.approx(7 / 12)
    every = {
        round(plain.average_precision("ABC", set(r)), 12) for n in range(4) for r in itertools.combinations("ABC", n)
    }
    assert not any(v == pytest.approx(5 / 12) for v in every)
    assert every == {round(v, 12) for v in values.tolist()}
    found = dict(zip(values.round(4).tolist(), chances.round(12).tolist(), strict=True))
    assert found[0.0] == 0.048
    assert found[1.0] == 0.512
    assert chances.sum() == pytest.approx(1)
    assert plain.average_precision("ABC", {"A", "C"}) == pytest.approx(5 / 6)


def test_judging_the_first_doc_relevant_leaves_two_values() -> None:
    values, _ = ap_distribution([1, 0.5, 0.5])
    assert values == pytest.approx([5 / 6, 1])


def test_exact_mean_and_approximation_of_the_example() -> None:
    """Exact .82; Eq. 1 gives 1.6/1.8 = .8889: it divides by the expected number of relevant docs."""
    p = {"A": 4 / 5, "B": 2 / 5, "C": 3 / 5}
    exact = exact_expected_ap(list(p.values()))
    assert exact == pytest.approx(0.048 * 0 + 0.072 / 3 + 0.032 / 2 + 0.048 * 7 / 12 + 0.288 * 5 / 6 + 0.512)
    closed = 4 / 5 + (2 / 5) / 2 + (3 / 5) / 3 + (8 / 25) / 2 + (12 / 25) / 3 + (6 / 25) / 3
    assert plain.expected_ap("ABC", p) == pytest.approx(closed / 1.8)
    assert (round(exact, 4), round(closed / 1.8, 4)) == (0.82, 0.8889)


@given(RANKINGS, st.lists(P, min_size=8, max_size=8))
@settings(max_examples=60, deadline=None)
def test_closed_form_against_the_printed_sum(rankings: list[list[str]], p: list[float]) -> None:
    lists = comparable([Run.from_lists(f"r{i}", {"1": docs}) for i, docs in enumerate(rankings)])
    of_doc = dict(zip("abcdefgh", p, strict=True))
    chance = np.array([of_doc[d] for d in lists.docs])
    pool = {d: of_doc[d] for d in lists.docs}
    found = expected_ap(lists, chance)[:, 0]
    np.testing.assert_allclose(found, [plain.expected_ap(docs, pool) for docs in rankings], rtol=1e-9, atol=1e-12)


@given(RANKINGS, st.sets(st.sampled_from("abcdefgh")))
@settings(max_examples=60, deadline=None)
def test_with_complete_judgments_it_is_ap(rankings: list[list[str]], relevant: set[str]) -> None:
    lists = comparable([Run.from_lists(f"r{i}", {"1": docs}) for i, docs in enumerate(rankings)])
    known = np.array([d in relevant for d in lists.docs])
    np.testing.assert_allclose(expected_ap(lists, known.astype(float)), average_precision(lists, known), atol=1e-12)
    for docs in rankings:
        others = [float(d in relevant) for d in lists.docs if d not in docs]
        exact = exact_expected_ap([float(d in relevant) for d in docs], others)
        assert exact == pytest.approx(plain.average_precision(docs, relevant & set(lists.docs)))


def test_how_far_the_approximation_is_from_the_truth() -> None:
    """The paper calls the error negligible, O(2⁻ⁿ). It is not that small: it falls slowly with the size of the pool.

    Mean |closed form − exact| over random probabilities, pools of 4, 8 and 16 docs of which half are retrieved.
    """
    rng = np.random.default_rng(0)
    errors = []
    for size in (4, 8, 16):
        pool = [rng.uniform(size=size) for _ in range(30)]
        closed = [
            plain.expected_ap([str(i) for i in range(size // 2)], {str(i): v for i, v in enumerate(p)}) for p in pool
        ]
        exact = [exact_expected_ap(p[: size // 2].tolist(), p[size // 2 :].tolist()) for p in pool]
        errors.append(float(np.mean(np.abs(np.array(closed) - exact))))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] > 2.0**-16 * 10
    assert errors[2] < 0.05
    # What matters for ranking: the two agree on the order of rankings of the same docs.
    agreed = []
    for _ in range(40):
        p = rng.uniform(size=8)
        orders = [rng.permutation(8) for _ in range(2)]
        a, b = (plain.expected_ap([str(i) for i in o], {str(i): v for i, v in enumerate(p)}) for o in orders)
        c, d = (exact_expected_ap(p[o].tolist()) for o in orders)
        agreed.append((a > b) == (c > d))
    assert np.mean(agreed) > 0.9


@given(st.lists(P, min_size=3, max_size=8), st.data())
@settings(max_examples=80, deadline=None)
def test_theorem_1_the_more_probable_doc_first_is_better(p: list[float], data: st.DataObject) -> None:
    a, b = data.draw(st.lists(st.integers(0, len(p) - 1), min_size=2, max_size=2, unique=True))
    if p[a] <= p[b] + 1e-6:
        return
    docs = [f"d{i}" for i in range(len(p))]
    first, last = min(a, b), max(a, b)
    good, bad = docs.copy(), docs.copy()
    good[first], good[last], bad[first], bad[last] = docs[a], docs[b], docs[b], docs[a]
    lists = comparable([Run.from_lists("good", {"1": good}), Run.from_lists("bad", {"1": bad})])
    chance = np.array([p[int(d[1:])] for d in lists.docs])
    found = expected_ap(lists, chance)[:, 0]
    assert found[0] > found[1]
    places = [[p[int(d[1:])] for d in ranking] for ranking in (good, bad)]
    assert exact_expected_ap(places[0]) >= exact_expected_ap(places[1]) - 1e-12


def test_equal_probabilities_tie_all_runs() -> None:
    lists = comparable([Run.from_lists(str(i), {"1": list(docs)}) for i, docs in enumerate(["abc", "cba", "xyz"])])
    assert np.ptp(expected_ap(lists, np.full(6, 0.5))) < 1e-12
    assert (expected_ap(lists, np.zeros(6)) == 0).all()


def test_judgments_fix_docs_and_move_the_prior() -> None:
    lists = comparable([Run.from_lists("a", {"1": list("wxyz")}), Run.from_lists("b", {"1": list("xwzy")})])
    free = relevance(lists)
    judged = relevance(lists, judged=Qrels.from_dict({"1": {"w": 0, "z": 0, "nowhere": 1}}))
    by_doc = dict(zip(lists.docs, zip(free, judged, strict=True), strict=True))
    assert by_doc["w"][1] == by_doc["z"][1] == 0
    assert all(by_doc[d][1] < by_doc[d][0] for d in "xy")
    more = relevance(lists, judged=Qrels.from_dict({"1": {"w": 1}}))
    assert dict(zip(lists.docs, more, strict=True))["w"] == 1
    assert (np.delete(more, lists.docs.tolist().index("w")) > np.delete(free, lists.docs.tolist().index("w"))).all()


def test_manual_runs_can_count_more() -> None:
    """Three runs agree and one manual run says the opposite: counted eight times, it comes out best."""
    common = [Run.from_lists(f"auto{i}", {"1": list("abcdef")}) for i in range(3)]
    manual = Run.from_dict("person", {"1": dict(zip("abcdef", range(6), strict=True))}, info=RunInfo(manual=True))
    lists = comparable([*common, manual])
    plainly, weighted = emap(lists)[:, 0], emap(lists, manual=8)[:, 0]
    assert plainly.argmax() != 3
    assert weighted.argmax() == 3


def test_calibration_bins_and_statistics() -> None:
    p = np.array([0.05, 0.15, 0.15, 0.95, 1.0])
    found = calibration(p, np.array([False, False, True, True, True]))
    assert found.docs.tolist() == [1, 2, 0, 0, 0, 0, 0, 0, 0, 2]
    assert found.relevant.tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert found.r2 == pytest.approx(np.corrcoef(p, [0, 0, 1, 1, 1])[0, 1] ** 2)
    assert "–" in found.table().text()
    assert calibration(p, np.zeros(5, dtype=bool)).deviance == 0


def test_calibration_against_a_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    rng = np.random.default_rng(0)
    theta = rng.normal(size=400)
    p = 1 / (1 + np.exp(-theta))
    relevant = rng.uniform(size=400) < 1 / (1 + np.exp(2 - theta))
    model = LogisticRegression(C=1e6, tol=1e-9, max_iter=1000).fit(theta[:, None], relevant)
    null = log_loss(relevant, np.full(400, relevant.mean()))
    wanted = 1 - log_loss(relevant, model.predict_proba(theta[:, None])[:, 1]) / null
    assert calibration(p, relevant).deviance == pytest.approx(wanted, abs=1e-5)
    perfect = calibration(relevant.astype(float), relevant)
    assert perfect.r2 == pytest.approx(1)
    assert perfect.deviance > 0.99


def test_a_negative_grade_is_no_judgment() -> None:
    lists = comparable([Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})])
    pooled = relevance(lists, judged=Qrels.from_dict({"1": {"x": -1, "y": -2}}))
    np.testing.assert_array_equal(pooled, relevance(lists))


def test_calibration_does_not_look_at_judgments_in_the_lists() -> None:
    runs = [Run.from_lists(name, {"1": list(docs)}) for name, docs in [("a", "vwxyz"), ("b", "wvyxq"), ("c", "yvzw")]]
    qrels = Qrels.from_dict({"1": {"v": 1, "x": 0, "z": 1, "no run has it": 1}})
    of_lists = emap_calibration(collected(runs, qrels), qrels)
    of_runs = emap_calibration(runs, qrels)
    np.testing.assert_array_equal(of_lists.docs, of_runs.docs)
    np.testing.assert_array_equal(of_lists.relevant, of_runs.relevant)
    assert of_lists.r2 == of_runs.r2
