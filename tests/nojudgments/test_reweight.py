"""Multiplicative weights: Theorem 2's bound, and the loop of judging and reweighting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.lists import Lists
from assay.nojudgments.basis import comparable
from assay.nojudgments.expected import expected_ap
from assay.nojudgments.predictors import predicted
from assay.nojudgments.reweight import opinions, reweighted_emap
from assay.pooling.journal import Judgment
from assay.pooling.judging import Judging
from assay.pooling.run_weights import Reweighting, fit_weights, log_change
from assay.rankings.stated_preferences import PREFERENCES


def followed(said: Floats, epsilon: float) -> tuple[Floats, float]:
    """Weights after a sequence of events (pairs × runs: 1 right, −1 wrong, 0), and the cost of following the crowd.

    The cost of an event is the mean over the runs, by their weights before it, of 1 for wrong and −1 for right.
    """
    log_weights, cost = np.zeros(said.shape[1]), 0.0
    for event in said:
        weights = fit_weights(log_weights)
        cost -= float(weights @ event / weights.sum())
        log_weights = log_weights + log_change(event[None], epsilon)
    return fit_weights(log_weights), cost


@given(st.integers(2, 12), st.integers(0, 60), st.floats(0.01, 0.5), st.integers(0, 2**32), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_theorem_2_bounds_the_cost_of_following_the_crowd(
    runs: int, events: int, epsilon: float, seed: int, skill: float
) -> None:
    """Arora et al.: M ≤ ln|L|/ε + m(1 + ε) − c(1 − ε) for every run, with m mistakes and c right preferences."""
    rng = np.random.default_rng(seed)
    right = rng.uniform(size=(events, runs)) < np.linspace(skill, 1 - skill, runs)
    said = np.where(rng.uniform(size=(events, runs)) < 0.3, 0.0, np.where(right, 1.0, -1.0))
    _, spent = followed(said, epsilon)
    mistakes, correct = (said < 0).sum(axis=0), (said > 0).sum(axis=0)
    bounds = np.log(runs) / epsilon + mistakes * (1 + epsilon) - correct * (1 - epsilon)
    assert (spent <= bounds + 1e-9).all()


def test_the_bound_is_not_empty() -> None:
    """One run always right among nine always wrong: following the weights costs far less than following the crowd."""
    said = np.where(np.arange(10) == 0, 1.0, -1.0) * np.ones((200, 1))
    weights, spent = followed(said, 0.1)
    assert spent < np.log(10) / 0.1 - 200 * 0.9
    assert spent < -said.mean(axis=1).sum()
    assert weights.argmax() == 0
    assert weights[0] == pytest.approx(1.1**200)


@pytest.mark.parametrize("epsilon", [0.0, 0.6, -1.0])
def test_epsilon_is_at_most_a_half(epsilon: float) -> None:
    lists, qrels = collection()
    with pytest.raises(UsageError, match="epsilon"):
        reweighted_emap(lists, qrels, epsilon=epsilon)


def test_opinions_of_runs() -> None:
    """x relevant, y and z not: run a puts x first, b last, c lacks x, d lacks y, e has z alone."""
    runs = {"a": list("xyz"), "b": list("yzx"), "c": list("yz"), "d": list("zx"), "e": list("z")}
    lists = comparable([Run.from_lists(n, {"1": docs}) for n, docs in runs.items()])
    grades = np.array([1, 0, 0])
    none = np.zeros(3, dtype=bool)
    assert opinions(lists, 0, none, grades, 1).tolist() == [[1, -1, -1, 1, 0], [1, -1, -1, -1, -1]]
    assert opinions(lists, 0, none, grades, 1, "both").tolist() == [[1, -1, 0, 0, 0], [1, -1, 0, -1, 0]]
    earlier = np.array([True, True, False])
    assert opinions(lists, 0, earlier, grades, 1).tolist() == [[1, -1, -1, -1, -1]]


def collection() -> tuple[Lists, Qrels]:
    """Runs of differing quality on 6 topics: good runs put more of the 8 relevant docs in their first half."""
    rng = np.random.default_rng(5)
    runs, docs = [], [f"d{i:02d}" for i in range(40)]
    for r in range(12):
        topics = {}
        for t in range(6):
            merit = rng.normal(size=40) + (r / 4) * (np.arange(40) < 8)
            topics[str(t)] = [docs[i] for i in np.argsort(-merit)[:30]]
        runs.append(Run.from_lists(f"r{r:02d}", topics))
    return comparable(runs), Qrels.from_dict({str(t): {d: int(i < 8) for i, d in enumerate(docs)} for t in range(6)})


def test_rounds_judge_one_doc_a_topic() -> None:
    lists, qrels = collection()
    result = reweighted_emap(lists, qrels)
    assert len(result.judged) == 6 * int(np.log(12))
    assert result.expected.runs == result.judged_only.runs == lists.runs
    assert "rounds=2" in result.expected.signature
    assert not np.allclose(reweighted_emap(lists, qrels, rounds=12).weights, 1)


def test_without_rounds_it_is_emap() -> None:
    lists, qrels = collection()
    result = reweighted_emap(lists, qrels, rounds=0)
    np.testing.assert_allclose(result.expected.values, predicted(lists, "emap").values)
    assert (result.judged_only.values == 0).all()


def test_it_goes_on_from_what_was_judged() -> None:
    """Two rounds at once ask for the same docs as one round and then another; the person is never asked twice."""
    lists, qrels = collection()
    known = qrels.to_dict()
    asked: list[tuple[str, str]] = []

    def person(pairs: Sequence[tuple[str, str]]) -> list[int]:
        asked.extend(pairs)
        return [known[t].get(d, 0) for t, d in pairs]

    whole = reweighted_emap(lists, qrels, rounds=2)
    first = reweighted_emap(lists, person, rounds=1)
    second = reweighted_emap(lists, person, rounds=1, judged=first.judged)
    assert len(asked) == len(set(asked)) == 12
    assert second.judged.to_dict() == whole.judged.to_dict()
    np.testing.assert_allclose(second.weights, whole.weights)
    np.testing.assert_allclose(second.expected.values, whole.expected.values)


def test_the_judging_order_has_the_same_weights() -> None:
    """Told the same judgments, topic by topic or round by round, the weights of the runs are the same."""
    lists, qrels = collection()
    result = reweighted_emap(lists, qrels, rounds=12, depth=20)
    session = Judging(lists, "reweighting(depth=20)", depth=30)
    session.tell([Judgment(t, d, g) for t, judged in result.judged.to_dict().items() for d, g in judged.items()])
    (order, *_) = session.orders
    assert isinstance(order, Reweighting)
    np.testing.assert_allclose(np.exp(order.log_weights), result.weights)
    assert not np.allclose(result.weights, 1)


def test_weights_beyond_all_bounds_are_scaled() -> None:
    docs = [f"d{i:02d}" for i in range(40)]
    lists = comparable([Run.from_lists("a", {"1": docs}), Run.from_lists("b", {"1": docs[::-1]})])
    half = Qrels.from_dict({"1": {d: int(i < 20) for i, d in enumerate(docs)}})
    result = reweighted_emap(lists, half, rounds=30, epsilon=0.5)
    assert result.weights.tolist() == pytest.approx([1e9, 0])
    assert np.isfinite(result.expected.values).all()


@pytest.mark.parametrize("preferences", PREFERENCES)
def test_rounds_of_the_judging_order_are_the_rounds_of_reweighting(preferences: str) -> None:
    """Asked for one doc of each topic, told all, asked again: the same docs, weights and probabilities."""
    lists, qrels = collection()
    truth = qrels.to_dict()
    result = reweighted_emap(lists, qrels, rounds=12, preferences=preferences)
    session = Judging(lists, f"reweighting(steps=50, preferences={preferences})")
    for _ in range(12):
        session.tell([Judgment(t, d, truth[t][d]) for t, d in session.next(6)])
    assert session.qrels().to_dict() == result.judged.to_dict()
    orders = [order for order in session.orders if isinstance(order, Reweighting)]
    np.testing.assert_allclose(np.exp(orders[0].log_weights), result.weights)
    p = np.concatenate([order.probabilities() for order in orders])
    np.testing.assert_allclose(expected_ap(lists, p), result.expected.values, atol=1e-5)


def test_all_judged_is_ap() -> None:
    lists, qrels = collection()
    result = reweighted_emap(lists, qrels, judged=qrels, rounds=1)
    np.testing.assert_allclose(result.expected.values, result.judged_only.values)


def test_negative_grades_are_no_judgments() -> None:
    runs = [Run.from_lists(n, {"1": list(docs)}) for n, docs in (("a", "ABCD"), ("b", "BACD"), ("c", "BCAE"))]
    lists = comparable(runs)
    plain = reweighted_emap(lists, Qrels.from_dict({"1": {"A": 1, "B": 0}}), rounds=2)
    pooled = {"1": {"C": -1, "D": -2}}
    same = reweighted_emap(lists, Qrels.from_dict({"1": {"A": 1, "B": -1}}), judged=Qrels.from_dict(pooled), rounds=2)
    assert same.judged.to_dict() == plain.judged.to_dict()
    np.testing.assert_array_equal(same.weights, plain.weights)
    with pytest.raises(UsageError, match="a grade is at least 0"):
        reweighted_emap(lists, lambda pairs: [-1 for _ in pairs])
