"""Webber 2010, chapter 6: the two worked examples, the variances by enumeration, and the adjustment of real lists."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.pooling import adjusted
from assay.pooling.adjust import from_systems, from_topics
from assay.pooling.rescoring import rescored, without
from assay.pooling.voters import contributors
from tests.pooling.collections import made

# Figure 6.4: pooled and unpooled scores of three systems on six topics, and the new run's unpooled ones.
POOLED = [
    [0.26, 0.11, 0.08, 0.12, 0.12, 0.15],
    [0.31, 0.25, 0.09, 0.12, 0.35, 0.27],
    [0.25, 0.35, 0.14, 0.48, 0.42, 0.41],
]
UNPOOLED = [
    [0.23, 0.09, 0.07, 0.08, 0.07, 0.12],
    [0.28, 0.19, 0.08, 0.10, 0.31, 0.24],
    [0.17, 0.22, 0.11, 0.42, 0.38, 0.35],
]
NEW = [0.28, 0.18, 0.15, 0.21, 0.31, 0.37]


def test_figure_6_4_from_systems() -> None:
    found = from_systems(POOLED, UNPOOLED, NEW)
    # Printed .03, .03, .06 and .29: the third from rounded means, .34 − .28; exactly it is .0667.
    np.testing.assert_allclose(found.biases, [0.03, 0.031667, 0.066667], atol=5e-7)
    assert found.amount == pytest.approx(0.042778, abs=5e-7)
    assert found.adjusted == pytest.approx(0.292778, abs=5e-7)
    assert round(found.adjusted, 2) == 0.29
    assert found.variance == pytest.approx(np.var(found.biases, ddof=1) * 4 / 3)


def test_figure_6_5_from_topics() -> None:
    found = from_topics(NEW, [0.36, 0.28], common=[0, 1])
    np.testing.assert_allclose(found.biases, [0.08, 0.10])
    assert found.amount == pytest.approx(0.09)
    assert found.adjusted == pytest.approx(0.34)
    # The mixed form: the true score where it is known, unpooled plus a elsewhere.
    assert np.mean([0.36, 0.28, *(u + 0.09 for u in NEW[2:])]) == pytest.approx(found.adjusted)
    assert found.sampled == pytest.approx(0.32)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_mean_and_variance_over_all_choices_of_common_topics(n: int) -> None:
    # Eq. 6.5 and 6.7 are exact for sampling without replacement; the estimates of them are unbiased.
    rng = np.random.default_rng(n)
    true = rng.random(7)
    unpooled = true * rng.random(7)
    every = [from_topics(unpooled, true[list(c)], common=c) for c in itertools.combinations(range(7), n)]
    assert np.mean([a.adjusted for a in every]) == pytest.approx(true.mean())
    left = (7 - n) / 7 / n
    assert np.var([a.adjusted for a in every]) == pytest.approx(left * np.var(true - unpooled, ddof=1))
    assert np.mean([a.variance for a in every if a.variance is not None]) == pytest.approx(
        left * np.var(true - unpooled, ddof=1)
    )
    assert np.var([a.sampled for a in every if a.sampled is not None]) == pytest.approx(left * np.var(true, ddof=1))


def test_adjusting_helps_exactly_when_the_ratio_lies_between_0_and_2() -> None:
    rng = np.random.default_rng(0)
    true = rng.random(9)
    unpooled = true + rng.normal(0.05, 0.2, size=9)
    whole = float((true - unpooled).mean())
    for c in itertools.combinations(range(9), 3):
        found = from_topics(unpooled, true[list(c)], common=c)
        nearer = abs(found.adjusted - true.mean()) < abs(found.unpooled - true.mean())
        assert nearer == (0 < found.amount / whole < 2)


def test_how_sure_it_is_that_adjusting_helps() -> None:
    found = from_topics(NEW, [0.36, 0.28, 0.16], common=[0, 1, 2])
    assert found.variance is not None
    t = found.amount / 2 / np.sqrt(found.variance)
    assert found.helps == pytest.approx(stats.t.cdf(t, 2))
    assert found.advice == "adjust"
    unclear = from_topics([0.2, 0.2, 0.2, 0.2], [0.1, 0.31], common=[0, 1])
    assert unclear.advice == "do not adjust"
    assert unclear.helps is not None
    assert 0.5 < unclear.helps < 0.6
    assert from_topics(NEW, NEW[:2], common=[0, 1]).advice == "nothing to adjust"
    assert from_topics(NEW, [0.4], common=[0]).advice == "too few biases to say"
    assert from_topics([0.1, 0.2], [0.2, 0.3], common=[0, 1]).helps == 1.0


def test_confidence_in_the_adjustment_is_calibrated() -> None:
    # Normal biases with mean A: the stated probability that |A| > |a|/2 with the sign of a is kept on average.
    rng = np.random.default_rng(1)
    claims, facts = [], []
    for _ in range(2000):
        size = rng.normal(0, 0.05)
        bias = rng.normal(size, 0.05, size=400)
        found = from_topics(np.zeros(400), bias[:8], common=range(8))
        claims.append(found.helps)
        facts.append(0 < found.amount / bias.mean() < 2)
    assert np.mean(facts) == pytest.approx(float(np.mean([c for c in claims if c is not None])), abs=0.05)


def test_from_systems_on_lists_is_algorithm_6_1() -> None:
    runs, qrels = made(3, runs=5, topics=6)
    seen = collected(runs, qrels)
    new, depth = 4, 10
    names, has = contributors(seen, depth)
    # The new run's own docs are not judged: nobody pooled it.
    own = has[new] & (has.sum(axis=0) == 1)
    pooled = collected(runs, qrels.from_dict(_without(qrels, seen, own)))
    found = adjusted(pooled, names[new], measure="P@10", depth=depth)
    biases = []
    for s in range(4):
        others = {(t, d) for r in runs if r.name != names[s] for t in r.topics for d in r.ranking(t)[:depth]}
        gone = [
            i
            for i, t in enumerate(pooled.topic_of_item)
            if (pooled.topics[t], pooled.docs[i]) not in others
            and pooled.docs[i] in runs[s].ranking(pooled.topics[t])[:depth]
        ]
        left = rescored(pooled, "P@10", grades=without(pooled.grades, np.array(gone, dtype=int)), runs=[s])
        biases.append(rescored(pooled, "P@10", runs=[s]).mean() - left.mean())
    np.testing.assert_allclose(found.biases, biases)
    assert found.unpooled == pytest.approx(rescored(pooled, "P@10", runs=[new]).mean())
    assert found.method == "systems"
    assert not any("are judged" in n for n in found.notes)
    assert "alone" not in found.table().columns
    simulated = adjusted(seen, names[new], measure="P@10", depth=depth)
    assert any(f"{int(own.sum())} docs that only the new run has are judged" in n for n in simulated.notes)


def test_docs_that_only_the_new_run_has_are_hidden_even_if_judged() -> None:
    """A run that was pooled is estimated as if it had not been, from systems as from topics."""
    runs, qrels = made(3, runs=5, topics=6)
    seen = collected(runs, qrels)
    _, has = contributors(seen, 10)
    own = has[4] & (has.sum(axis=0) == 1)
    blind = collected(runs, Qrels.from_dict(_without(qrels, seen, own)))
    found, expected = (adjusted(s, "r04", measure="P@10", depth=10) for s in (seen, blind))
    assert found.unpooled == expected.unpooled
    assert found.adjusted == expected.adjusted
    np.testing.assert_array_equal(found.biases, expected.biases)
    assert found.unpooled == adjusted(seen, "r04", measure="P@10", depth=10, common=["1"]).unpooled
    assert found.unpooled < rescored(seen, "P@10", runs=[4]).mean()


def _without(qrels: Qrels, seen: object, own: np.ndarray) -> dict[str, dict[str, int]]:
    gone = {(seen.topics[t], seen.docs[i]) for i, t in enumerate(seen.topic_of_item) if own[i]}  # type: ignore[attr-defined]
    return {t: {d: g for d, g in docs.items() if (t, d) not in gone} for t, docs in qrels.to_dict().items()}


def test_from_topics_on_lists_is_algorithm_6_2() -> None:
    runs, qrels = made(3, runs=3, topics=6)
    seen = collected(runs, qrels)
    found = adjusted(seen, "r02", measure="P@10", depth=10, common=["1", "3", "4"])
    _, has = contributors(seen, 10)
    u = rescored(seen, "P@10", grades=without(seen.grades, has[2] & (has.sum(axis=0) == 1)), runs=[2])[0]
    t = rescored(seen, "P@10", runs=[2])[0]
    assert found.amount == pytest.approx((t - u)[[0, 2, 3]].mean())
    assert found.adjusted == pytest.approx(u.mean() + (t - u)[[0, 2, 3]].mean())
    assert found.table().column("from") == ["topics"]
    # With all topics common the adjusted score is the pooled one, without error.
    whole = adjusted(seen, "r02", measure="P@10", depth=10, common=list(seen.topics))
    assert whole.adjusted == pytest.approx(t.mean())
    assert whole.variance == 0


def test_unjudged_docs_of_common_topics_are_named() -> None:
    runs = [Run.from_lists("a", {"1": list("AB")}), Run.from_lists("new", {"1": list("AC")})]
    found = adjusted(
        collected(runs, Qrels.from_dict({"1": {"A": 1, "B": 0}})), "new", measure="P@2", depth=2, common=["1"]
    )
    assert any("1 docs of the new run on the common topics are not judged" in n for n in found.notes)


def test_bad_input_is_one_clear_error() -> None:
    runs, qrels = made(3, runs=3, topics=3)
    seen = collected(runs, qrels)
    with pytest.raises(UsageError, match="no run 'r9'"):
        adjusted(seen, "r9")
    with pytest.raises(UsageError, match="no topic '77'"):
        adjusted(seen, "r00", common=["77"])
    with pytest.raises(UsageError, match="no common topics"):
        adjusted(seen, "r00", common=[])
    with pytest.raises(DataError, match="'r00' is alone"):
        adjusted(collected(runs[:1], qrels), "r00")
    with pytest.raises(DataError, match="no doc of the runs is judged"):
        adjusted(collected(runs, Qrels.from_dict({"1": {"nothing": 1}})), "r00")
    with pytest.raises(DataError, match="has pooled runs"):
        adjusted(collected(runs, qrels, groups={"r00": "g", "r01": "g"}), "r00", by="group")
    with pytest.raises(DataError, match="on the same topics"):
        from_systems([[0.1, 0.2]], [[0.1]], [0.1, 0.2])
    with pytest.raises(DataError, match="each common topic once"):
        from_topics([0.1, 0.2], [0.3, 0.3], common=[1, 1])
    with pytest.raises(DataError, match="finite"):
        from_topics([0.1, float("nan")], [0.3], common=[1])
