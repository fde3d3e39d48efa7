from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.pooling import sample
from assay.pooling.sampling import SAMPLES, rank_prior, stat_ap
from assay.scoring import evaluate
from tests.pooling.collections import made, made_lists, topic

METHODS = ["uniform(share=0.3)", "uniform(n=5)", "stratified(depths=5/25,rates=1/0.3)", "statap(n=7)"]


@pytest.mark.parametrize("method", METHODS)
def test_docs_are_drawn_as_often_as_their_probability_says(method: str) -> None:
    seen = made_lists(3, runs=4, topics=1)
    draws = 600
    first = sample(seen, method)
    assert ((first.probabilities > 0) & (first.probabilities <= 1)).all()
    rate = np.mean([sample(seen, method, seed=s).chosen for s in range(draws)], axis=0)
    error = np.sqrt(first.probabilities * (1 - first.probabilities) / draws)
    # 4.5 standard errors: about one in 10,000 for each of some fifty docs.
    assert (np.abs(rate - first.probabilities) <= 4.5 * error + 1e-12).all()


def test_statap_probabilities_of_the_published_design() -> None:
    # Two draws from buckets of two docs: each doc of a bucket of mass P is drawn with probability P.
    seen = topic({"a": "ABCDEF"})
    docs, probabilities, _ = stat_ap(seen, np.random.default_rng(0), n=2)
    mass = rank_prior(seen)[docs]
    np.testing.assert_allclose(probabilities, np.repeat(mass.reshape(3, 2).sum(axis=1), 2))


def test_statap_joint_inclusion_by_enumeration() -> None:
    # Masses .6, .25, .15 and two draws: π_01 = .36 in one bucket, π_02 = ½·.6·.25 = .075 in two.
    seen = made_lists(3, runs=4, topics=1)
    docs, pi, _ = stat_ap(seen.topic(0), np.random.default_rng(0), n=7)
    chosen = np.array([stat_ap(seen.topic(0), np.random.default_rng(s), n=7)[2] for s in range(2500)], dtype=float)
    joint = chosen.T @ chosen / len(chosen)
    first, other = 0, 10
    assert joint[first, 1] == pytest.approx(pi[0] ** 2, abs=0.03)
    assert joint[first, other] == pytest.approx(6 / 7 * pi[first] * pi[other], abs=0.03)
    assert len(docs) == len(pi)


def test_rank_prior_sums_to_one_per_list() -> None:
    # W(r) = (1 + 1/r + … + 1/Z) / 2Z with Z = 2: (1 + 1.5)/4 and (1 + .5)/4.
    np.testing.assert_allclose(rank_prior(topic({"a": "AB"})), [0.625, 0.375])
    np.testing.assert_allclose(rank_prior(topic({"a": "AB", "b": "CDEF"})).sum(), 1)


def test_small_pools_are_judged_whole_and_a_short_bucket_joins_the_one_before() -> None:
    seen = topic({"a": "ABCDE"})
    _, whole, chosen = stat_ap(seen, np.random.default_rng(0), n=5)
    assert whole.tolist() == [1] * 5
    assert chosen.all()
    docs, pi, chosen = stat_ap(seen, np.random.default_rng(0), n=2)
    assert len(np.unique(pi.round(12))) == 2
    assert pi.sum() == pytest.approx(2)
    assert chosen.sum() == 2
    assert len(docs) == 5


@pytest.mark.parametrize(
    ("method", "measure", "tolerance"),
    [
        ("uniform(share=1,k=25)", "infAP", 1e-4),
        ("stratified(depths=5/25,rates=1/1)", "xinfAP", 1e-4),
        ("statap(n=1000,k=25)", "statAP", 1e-12),
    ],
)
def test_a_sample_of_everything_gives_ap(method: str, measure: str, tolerance: float) -> None:
    runs, qrels = made(5, runs=4, topics=3, docs=40, depth=25)
    seen = made_lists(5, runs=4, topics=3, docs=40, depth=25)
    whole = sample(seen, method).qrels(seen)
    estimated, _ = evaluate(runs, whole, [measure, "AP"])
    # Judged docs that no run has in the pool are missing from it: AP against the pool, not against the qrels.
    pooled = evaluate(runs, whole, ["AP"])[0]
    np.testing.assert_allclose(estimated.values, pooled.values, atol=tolerance)
    assert qrels.topics == whole.topics


@pytest.mark.parametrize(
    ("method", "measure"),
    [
        ("uniform(share=0.5,k=25)", "infAP"),
        ("stratified(depths=3/25,rates=1/0.5)", "xinfAP"),
    ],
)
def test_estimates_from_samples_centre_on_ap(method: str, measure: str) -> None:
    runs, _ = made(5, runs=3, topics=4, docs=60, depth=25)
    seen = made_lists(5, runs=3, topics=4, docs=60, depth=25)
    pooled = evaluate(runs, sample(seen, "uniform(share=1,k=25)").qrels(seen), ["AP"])[0].averages()
    estimates = [evaluate(runs, sample(seen, method, seed=s).qrels(seen), [measure])[0].averages() for s in range(60)]
    np.testing.assert_allclose(np.mean(estimates, axis=0), pooled, atol=0.04)


@pytest.mark.parametrize("method", METHODS)
def test_inverse_probabilities_count_the_relevant_docs_without_bias(method: str) -> None:
    # Horvitz and Thompson. statAP itself counts each relevant doc's own term with 1/π², so that it lies above AP on
    # small samples; the count of relevant docs must not.
    seen = made_lists(5, runs=3, topics=1, docs=60, depth=25)
    whole = sample(seen, "uniform(share=1,k=25)").qrels(seen)
    counts = []
    for seed in range(400):
        drawn = sample(seen, method, seed=seed)
        counts.append(((drawn.qrels(seen).grades > 0) / drawn.probabilities).sum())
    error = np.std(counts) / np.sqrt(len(counts))
    assert abs(np.mean(counts) - (whole.grades > 0).sum()) < 4 * error + 1e-9


def test_qrels_of_a_sample_hold_every_pooled_doc_with_its_probability() -> None:
    seen = made_lists(2, runs=3, topics=2)
    drawn = sample(seen, "stratified(depths=5/25,rates=1/0.2)", seed=4)
    blank, graded = drawn.qrels(), drawn.qrels(seen)
    assert set(blank.grades.tolist()) == {-1}
    assert ((graded.grades >= 0) == drawn.chosen).all()
    assert graded.probabilities is not None
    np.testing.assert_array_equal(graded.probabilities, drawn.probabilities)
    assert len(drawn.table().rows) == int(drawn.chosen.sum())


def test_same_seed_same_draw() -> None:
    seen = made_lists(2, runs=3, topics=2)
    assert {m.partition("(")[0] for m in METHODS} == set(SAMPLES.names())
    for method in METHODS:
        one, same, other = (sample(seen, method, seed=s) for s in (1, 1, 2))
        assert one.chosen.tolist() == same.chosen.tolist()
        assert one.chosen.tolist() != other.chosen.tolist()


@pytest.mark.parametrize(
    "method",
    ["uniform(share=0)", "uniform(n=0)", "statap(n=0)", "stratified(depths=10/5,rates=1/1)",
     "stratified(depths=5,rates=1/1)", "stratified(depths=5/x,rates=1/1)", "stratified(rates=1/2)"],
)  # fmt: skip
def test_bad_designs_are_refused(method: str) -> None:
    with pytest.raises(UsageError):
        sample(made_lists(2, runs=3, topics=1), method)


@pytest.mark.parametrize("method", METHODS)
def test_a_topic_that_no_run_retrieved_has_no_docs_in_the_sample(method: str) -> None:
    run = Run.from_lists("a", {"1": ["x", "y"]})
    qrels = Qrels.from_dict({"1": {"x": 1}, "2": {"z": 1}})
    drawn = sample(collected([run], qrels), method)
    assert set(drawn.topic.tolist()) == {0}
