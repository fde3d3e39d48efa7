"""The fit of preferences against a general optimiser on the listed preferences, and the weights of the runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from assay.core.errors import UsageError
from assay.pooling import doc_strengths
from assay.pooling.difference_sums import DifferenceSums
from assay.pooling.doc_strengths import ListCurvature, Stated, fitted, strengths
from assay.pooling.judging import order_of
from assay.pooling.run_weights import Reweighting
from assay.rankings.stated_preferences import PREFERENCES
from tests.oracles.pooling import log_likelihood
from tests.pooling.collections import TOY, rankings, topic


@pytest.mark.parametrize("preferences", PREFERENCES)
@given(runs=rankings(), alpha=st.floats(0.1, 4), beta=st.floats(0.1, 20), data=st.data())
@settings(max_examples=25, deadline=None)
def test_fit_is_the_maximum_of_the_likelihood(
    runs: dict[str, str], alpha: float, beta: float, data: st.DataObject, preferences: str
) -> None:
    seen = topic(runs)
    docs = len(seen.docs)
    weights = [data.draw(st.floats(0.2, 3)) for _ in runs]
    listed = [[d for d in row if d >= 0] for row in seen.ranked.tolist()]
    pool = docs if preferences == "retrieved" else 0
    theta = strengths(
        seen.ranked, docs=docs, preferences=preferences, weights=np.array(weights), alpha=alpha, beta=beta
    )

    def loss(x: np.ndarray) -> float:
        return -log_likelihood(x.tolist(), listed, weights, alpha, beta, pool=pool)

    best = minimize(loss, np.zeros(len(theta)), method="BFGS", options={"gtol": 1e-7})
    assert loss(theta) <= loss(best.x) + 1e-8
    np.testing.assert_allclose(theta, best.x, atol=1e-4)


def test_a_doc_first_everywhere_is_finite_and_best() -> None:
    theta = strengths(topic({f"s{i}": "ABC" for i in range(40)}).ranked, docs=3)
    assert np.isfinite(theta).all()
    assert theta[0] > theta[1] > theta[2]


def test_the_same_list_a_hundred_times_is_finite_and_symmetric() -> None:
    theta = strengths(topic({f"r{i}": "abcdefgh" for i in range(100)}).ranked, docs=8)
    assert np.isfinite(theta).all()
    assert (np.diff(theta) < 0).all()
    assert theta == pytest.approx(-theta[::-1], rel=1e-5)


def test_runs_of_very_great_weight_overrule_the_others_without_overflow() -> None:
    seen = topic({"a": "ABCDEFGH", "b": "HGFEDCBA", "c": "EFGH"})
    for weight in (1e9, 1e40):
        theta = strengths(seen.ranked, docs=8, weights=np.array([weight, 1.0, 0.0]))
        assert np.isfinite(theta).all()
        assert (np.diff(theta) < 0).all()


def test_the_prior_is_a_dummy_doc() -> None:
    """α = β = 1: as if one more doc beat every doc once and lost to it once, its strength fixed at 0."""
    seen = topic({"a": "xyz", "b": "yzx"})
    listed = [*seen.ranked.tolist(), *([d, 3] for d in range(3)), *([3, d] for d in range(3))]

    def loss(x: np.ndarray) -> float:
        return -log_likelihood([*x.tolist(), 0.0], listed, [1.0] * len(listed), 0.0, 0.0)

    best = minimize(loss, np.zeros(3), tol=1e-10).x
    np.testing.assert_allclose(strengths(seen.ranked, docs=3), best, atol=1e-4)


def test_docs_without_preferences_stand_at_the_prior() -> None:
    seen = topic({"a": "x", "b": "y"})
    assert strengths(seen.ranked, docs=2, alpha=3.0, preferences="both").tolist() == pytest.approx([np.log(3)] * 2)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, float("nan")]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(UsageError, match="weights"):
        strengths(topic({"a": "xy", "b": "yx"}).ranked, docs=2, weights=weights)


def test_a_prior_is_needed() -> None:
    with pytest.raises(UsageError, match="positive"):
        strengths(topic({"a": "xy", "b": "xy"}).ranked, docs=2, alpha=0.0)


def test_a_copy_of_a_run_is_that_run_with_twice_the_weight() -> None:
    once = topic({"a": "ABCD", "b": "DBA"})
    twice = topic({"a": "ABCD", "copy": "ABCD", "b": "DBA"})
    np.testing.assert_allclose(
        strengths(once.ranked, docs=4, weights=np.array([2.0, 1.0])), strengths(twice.ranked, docs=4), atol=1e-7
    )


def test_weights_follow_right_and_wrong_preferences() -> None:
    order = order_of("reweighting", topic({"a": "ABC", "b": "BAC", "c": "CB", "d": "C"}))
    assert isinstance(order, Reweighting)
    order.tell(0, True)
    assert order.log_weights.tolist() == [0, 0, 0, 0]
    order.tell(1, False)
    # a had A above B: right. b had it below, and c has B alone: wrong. d has neither: no preference.
    np.testing.assert_allclose(np.exp(order.log_weights), [1.1, 0.9, 0.9, 1])
    order.tell(2, False)
    np.testing.assert_allclose(np.exp(order.log_weights), [1.1**2, 0.9 * 1.1, 0.9**2, 0.9])
    assert order.probabilities()[:2].tolist() == [1, 0]


def test_with_preferences_among_retrieved_docs_alone_a_run_that_lacks_one_is_not_asked() -> None:
    order = order_of("reweighting(preferences=both)", topic({"a": "ABC", "b": "BAC", "c": "CB", "d": "C"}))
    assert isinstance(order, Reweighting)
    for doc, relevant in ((0, True), (1, False), (2, False)):
        order.tell(doc, relevant)
    np.testing.assert_allclose(np.exp(order.log_weights), [1.1**2, 0.9 * 1.1, 1, 1])


def test_a_doc_that_more_runs_retrieved_is_stronger_whatever_they_rank_beside_it() -> None:
    """x is alone in three lists: with `both` nobody prefers it to anything."""
    seen = topic({"a": "x", "b": "x", "c": "x", "d": "yz"})
    theta = dict(zip(seen.docs, strengths(seen.ranked, docs=3), strict=True))
    assert theta["x"] > theta["y"] > theta["z"]
    none = dict(zip(seen.docs, strengths(seen.ranked, docs=3, preferences="both"), strict=True))
    assert none["x"] == pytest.approx(0, abs=1e-6)


def test_many_topics_at_once_are_each_by_itself() -> None:
    rng = np.random.default_rng(4)
    one = np.array([rng.permutation(40)[:12] for _ in range(5)], dtype=np.int32)
    two = np.array([rng.permutation(30)[:12] for _ in range(5)], dtype=np.int32)
    weights = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    for preferences in PREFERENCES:
        both = Stated.of(np.stack([one, two + 40]), weights, np.array([40, 30]), [1.0, 2.0], [1.0, 5.0], preferences)
        alone = [
            strengths(one, docs=40, weights=weights, preferences=preferences),
            strengths(two, docs=30, weights=weights, alpha=2.0, beta=5.0, preferences=preferences),
        ]
        np.testing.assert_allclose(fitted(both), np.concatenate(alone), atol=2e-5)


@pytest.mark.parametrize("preferences", PREFERENCES)
def test_pairs_of_docs_and_pairs_within_lists_have_the_same_curvature(preferences: str) -> None:
    rng = np.random.default_rng(4)
    ranked = np.array([rng.permutation(60)[:20] for _ in range(5)], dtype=np.int32)
    ranked[0, 15:] = -1  # a shorter list
    weights = np.array([1.0, 0.3, 2.0, 7.0, 1.0])
    stated = Stated.of(ranked[None], weights, np.array([60]), [2.0], [3.0], preferences)
    assert not stated.has_few_docs
    theta, v = rng.normal(size=60), rng.normal(size=60)
    within_lists = doc_strengths._curvature(stated, theta)
    between_docs = doc_strengths._between_docs(stated, theta)
    assert isinstance(within_lists, ListCurvature)
    np.testing.assert_allclose(within_lists.gradient, between_docs.gradient, atol=1e-4)
    # In list form a doc is compared with itself, too, which the product with a vector takes away again.
    np.testing.assert_allclose(within_lists.diagonal - stated.held / 4, between_docs.diagonal, atol=1e-4)
    np.testing.assert_allclose(within_lists.times(v), between_docs.times(v), atol=1e-4)


@pytest.mark.parametrize("spread", [0.01, 3.0, 40.0])
def test_sums_over_all_docs_are_those_of_all_pairs(spread: float) -> None:
    rng = np.random.default_rng(1)
    theta = spread * rng.normal(size=700)
    topic_of_doc = np.repeat([0, 1], [300, 400])
    sums = DifferenceSums(theta, starts=np.array([0, 300]), topic=topic_of_doc)
    values = rng.uniform(size=700)
    same_topic = topic_of_doc[:, None] == topic_of_doc
    plain = (same_topic * expit(theta[:, None] - theta)) @ values
    found = sums.of(expit(sums.between), values[:, None])[:, 0]
    np.testing.assert_allclose(found, plain, atol=1e-6)


def test_one_step_after_each_judgment_stays_near_the_maximum() -> None:
    rng = np.random.default_rng(2)
    letters = np.array([chr(65 + i) for i in range(26)] + [chr(97 + i) for i in range(26)])
    runs = {f"s{i}": "".join(rng.permutation(letters)[:30]) for i in range(20)}
    seen = topic(runs)
    quick, exact = order_of("reweighting", seen), order_of("reweighting(steps=50)", seen)
    assert isinstance(quick, Reweighting)
    assert isinstance(exact, Reweighting)
    for _ in range(8):
        doc = int(exact.next()[0])
        relevant = bool(rng.random() < 0.4)
        quick.tell(doc, relevant)
        exact.tell(doc, relevant)
        np.testing.assert_allclose(quick.probabilities(), exact.probabilities(), atol=0.01)


def test_many_judgments_do_not_overflow() -> None:
    rng = np.random.default_rng(3)
    letters = np.array([chr(65 + i) for i in range(26)] + [chr(97 + i) for i in range(26)])
    seen = topic({f"s{i}": "".join(rng.permutation(letters)) for i in range(5)})
    order = order_of("reweighting", seen)
    assert isinstance(order, Reweighting)
    for _ in range(45):
        doc = int(order.next()[0])
        order.tell(doc, bool(doc % 2))
    assert np.isfinite(order.scores()).all()


@given(runs=rankings(), data=st.data())
@settings(max_examples=30, deadline=None)
def test_mistakes_stay_within_the_bound(runs: dict[str, str], data: st.DataObject) -> None:
    # Theorem 2 of Carterette & Allan: M ≤ ln|L|/ε + m(1 + ε) − c(1 − ε) for every run, M the expected mistakes less the
    # expected right preferences of a run drawn by weight, m and c those of the run.
    epsilon = 0.1
    seen = topic(runs)
    relevant = set(data.draw(st.lists(st.sampled_from(seen.docs.tolist()))))
    order = order_of("reweighting(epsilon=0.1)", seen)
    assert isinstance(order, Reweighting)
    told: list[int] = []
    total, wrong, right = 0.0, np.zeros(len(runs)), np.zeros(len(runs))
    while len(found := order.next()):
        doc = int(found[0])
        hit = seen.docs[doc] in relevant
        for other in told:
            if (seen.docs[other] in relevant) != hit:
                good, bad = (doc, other) if hit else (other, doc)
                both = (seen.ranks[:, good] > 0) | (seen.ranks[:, bad] > 0)
                behind = np.where(seen.ranks > 0, seen.ranks, 1000)
                fine = both & (behind[:, good] < behind[:, bad])
                share = np.exp(right * np.log1p(epsilon) + wrong * np.log1p(-epsilon))
                share /= share.sum()
                total += float(share @ ((both & ~fine).astype(float) - fine))
                wrong += both & ~fine
                right += fine
        order.tell(doc, hit)
        told.append(doc)
    np.testing.assert_allclose(order.log_weights, right * np.log1p(epsilon) + wrong * np.log1p(-epsilon), atol=1e-9)
    assert (total <= np.log(len(runs)) / epsilon + wrong * (1 + epsilon) - right * (1 - epsilon) + 1e-9).all()


def test_toy_prefers_what_all_runs_have_high() -> None:
    order = order_of("reweighting", topic(TOY))
    assert order.lists.docs.take(order.next()).tolist() == ["C"]


@pytest.mark.parametrize("depth", [1, 2])
def test_preferences_stop_at_the_depth(depth: int) -> None:
    """A doc below the depth is as one that nobody retrieved: behind all others, or with `both` in no preference."""
    seen = topic({"a": "ABC", "b": "ABC"})
    order = order_of(f"reweighting(depth={depth})", seen)
    assert isinstance(order, Reweighting)
    assert order.scores()[2] < order.scores()[0]
    among_both = order_of(f"reweighting(depth={depth}, preferences=both)", seen)
    assert isinstance(among_both, Reweighting)
    assert among_both.scores()[2] == pytest.approx(0, abs=1e-6)
