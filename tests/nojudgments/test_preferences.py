"""Preference counts against plain loops, Bradley-Terry against a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from assay.data import Run
from assay.errors import UsageError
from assay.nojudgments import preferences as module
from assay.nojudgments.lists import Lists, collected
from assay.nojudgments.preferences import Preferences, preferences, strengths
from tests.oracles import nojudgments as plain

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), min_size=2, max_size=6).filter(
    lambda r: sum(map(bool, r)) > 1
)


def one_topic(rankings: dict[str, list[str]]) -> Lists:
    return collected([Run.from_lists(n, {"1": docs}) for n, docs in rankings.items()])


def counts(lists: Lists, pairs: Preferences) -> dict[tuple[str, str], float]:
    docs, n = lists.docs.tolist(), pairs.matrix()
    return {(docs[i], docs[j]): n[i, j] for i, j in np.argwhere(n > 0).tolist()}


@given(RANKINGS)
@settings(max_examples=60, deadline=None)
def test_counts_against_plain_loops(rankings: list[list[str]]) -> None:
    runs = {f"r{i}": docs for i, docs in enumerate(rankings)}
    lists = one_topic(runs)
    assert counts(lists, preferences(lists, 0)) == plain.preference_counts(runs)
    weights = {n: float(2**i) for i, n in enumerate(runs)}
    weighted = preferences(lists, 0, weights=list(weights.values()))
    assert counts(lists, weighted) == plain.preference_counts(runs, weights)


def test_counts_are_the_same_in_small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    runs = {f"r{i}": [str(d) for d in rng.permutation(12)[: 3 + i]] for i in range(8)}
    lists = one_topic(runs)
    whole = [preferences(lists, 0).matrix(), preferences(lists, 0, weights=np.arange(8)).matrix()]
    monkeypatch.setattr(module, "AT_ONCE", 50)
    parts = [preferences(lists, 0).matrix(), preferences(lists, 0, weights=np.arange(8)).matrix()]
    np.testing.assert_array_equal(whole, parts)


def test_a_copy_of_a_run_changes_no_share_of_other_preferences() -> None:
    """Pairs that the copied run does not hold keep their counts; the weight of the copy is that of the run twice."""
    runs = {"a": list("xyz"), "b": list("yxw"), "c": list("wvy")}
    before = plain.preference_counts(runs)
    lists = one_topic({**runs, "copy": list("wvy")})
    after = counts(lists, preferences(lists, 0))
    held = set("wvy")
    assert {p: n for p, n in after.items() if not set(p) <= held} == {
        p: n for p, n in before.items() if not set(p) <= held
    }
    once = one_topic(runs)
    assert after == counts(once, preferences(once, 0, weights=[1, 1, 2]))


def likelihood(theta: np.ndarray, n: np.ndarray, alpha: float, beta: float) -> float:
    """Minus the logarithm of Eq. 5, as it is printed."""
    total = 0.0
    for i in range(len(n)):
        for j in range(len(n)):
            if i != j:
                total += n[i, j] * np.logaddexp(0, theta[j] - theta[i])
        total += alpha * np.logaddexp(0, -theta[i]) + beta * np.logaddexp(0, theta[i])
    return float(total)


@given(RANKINGS, st.sampled_from([(1.0, 1.0), (3.0, 1.0), (1.0, 20.0), (0.1, 0.1)]))
@settings(max_examples=25, deadline=None)
def test_strengths_maximise_the_likelihood(rankings: list[list[str]], prior: tuple[float, float]) -> None:
    lists = one_topic({f"r{i}": docs for i, docs in enumerate(rankings)})
    pairs = preferences(lists, 0)
    theta = strengths(pairs, alpha=prior[0], beta=prior[1])
    best = minimize(likelihood, np.zeros(pairs.docs), (pairs.matrix(), *prior), tol=1e-10)
    assert likelihood(theta, pairs.matrix(), *prior) <= best.fun + 1e-6
    np.testing.assert_allclose(theta, best.x, atol=2e-3)


def test_a_doc_first_everywhere_has_a_finite_strength() -> None:
    lists = one_topic({f"r{i}": list("abcdefgh") for i in range(100)})
    theta = strengths(preferences(lists, 0))
    assert np.isfinite(theta).all()
    assert (np.diff(theta) < 0).all()
    assert theta == pytest.approx(-theta[::-1], abs=1e-5)


def test_the_prior_is_a_dummy_doc() -> None:
    """α = β = 1: as if one more doc beat every doc once and lost to it once, its strength fixed at 0."""
    lists = one_topic({"a": list("xyz"), "b": list("yzx")})
    pairs = preferences(lists, 0)
    theta = strengths(pairs)
    n = np.zeros((4, 4))
    n[:3, :3] = pairs.matrix()
    n[:3, 3] = n[3, :3] = 1

    def anchored(t: np.ndarray) -> float:
        return likelihood(np.append(t, 0.0), n, 0.0, 0.0)

    free = minimize(anchored, np.zeros(3), tol=1e-10).x
    assert theta == pytest.approx(free, abs=1e-3)


def test_docs_without_preferences_stand_at_the_prior() -> None:
    lists = one_topic({"a": ["x"], "b": ["y"]})
    assert strengths(preferences(lists, 0), alpha=3.0).tolist() == pytest.approx([np.log(3)] * 2)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, float("nan")]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(UsageError, match="weights"):
        preferences(one_topic({"a": ["x", "y"], "b": ["y", "x"]}), 0, weights=weights)


def test_a_prior_is_needed() -> None:
    with pytest.raises(UsageError, match="positive"):
        strengths(preferences(one_topic({"a": ["x", "y"], "b": ["x", "y"]}), 0), alpha=0.0)
