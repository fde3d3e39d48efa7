"""Preferences against plain loops; sampling estimators against enumeration of every sample and against trec_eval."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.aligned import align
from assay.data.grades import UNJUDGED, Grades, grades
from assay.measures import parse
from assay.measures.incomplete import stat_ap, stat_ap_variance, stratified_inferred_ap
from tests.oracles import measures as plain

lists = st.lists(st.sampled_from([None, -1, 0, 0, 1, 2, 3]), max_size=9)
missed = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4)


@given(ranked=lists, extra=missed)
@settings(max_examples=150, deadline=None)
def test_preferences(ranked: list[int | None], extra: list[int]) -> None:
    judged = [x for x in ranked if x is not None] + extra
    g = grades(ranked, judged=judged, top=3)
    for name, value in plain.bprefs(ranked, judged, 3).items():
        assert parse(name)(g)[0] == pytest.approx(value, abs=1e-12), name


@given(ranked=lists, extra=missed)
@settings(max_examples=100, deadline=None)
def test_inferred_ap(ranked: list[int | None], extra: list[int]) -> None:
    judged = [x for x in ranked if x is not None] + extra
    value = parse("infAP")(grades(ranked, judged=judged, top=3))[0]
    assert value == pytest.approx(plain.inferred_ap(ranked, judged), abs=1e-12)


@given(ranked=lists, extra=missed, rel=st.sampled_from([1, 2]))
@settings(max_examples=100, deadline=None)
def test_trec_eval(ranked: list[int | None], extra: list[int], rel: int) -> None:
    """bpref and infAP of trec_eval; a second topic keeps it from failing where nothing is judged."""
    docs = {f"d{i}": x for i, x in enumerate(ranked)}
    qrels = {"1": {d: x for d, x in docs.items() if x is not None} | {f"m{i}": x for i, x in enumerate(extra)}}
    if not ranked or not any(x >= 0 for x in qrels["1"].values()):
        return
    run = {"1": {d: -float(i) for i, d in enumerate(docs)}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"bpref", "infAP"}, relevance_level=rel).evaluate(run)["1"]
    g = align(Run.from_dict("r", run), Qrels.from_dict(qrels))
    for name in ("bpref", "infAP"):
        assert parse(f"{name}(rel={rel})")(g)[0] == pytest.approx(theirs[name], abs=1e-9), name


@given(ranked=st.lists(st.sampled_from([0, 0, 1]), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_with_everything_judged_the_estimates_are_ap(ranked: list[int]) -> None:
    g = grades(ranked)
    sure = replace(g, inclusion=np.ones(g.ranked.shape), judged_inclusion=np.ones(g.ideal.shape))
    ap = parse("AP")(g)
    assert parse("infAP")(g) == pytest.approx(ap, abs=1e-4)
    assert stratified_inferred_ap(sure) == pytest.approx(ap, abs=1e-4)
    assert stat_ap(sure) == pytest.approx(ap)
    assert stat_ap_variance(sure) == pytest.approx(np.zeros(1))


def sampled(truth: list[int], pi: list[float], taken: tuple[bool, ...]) -> Grades:
    """A ranked pool of which only some docs were judged, each with its probability."""
    ranked = [x if t else None for x, t in zip(truth, taken, strict=True)]
    g = grades(ranked)
    order = sorted((i for i, t in enumerate(taken) if t), key=lambda i: -truth[i])
    return replace(g, inclusion=np.array([pi]), judged_inclusion=np.array([[pi[i] for i in order]]).reshape(1, -1))


def test_stat_ap_over_all_samples() -> None:
    """Eight docs drawn independently, all samples: the estimated R is right on average, statAP nearly so."""
    truth, pi = [1, 0, 1, 1, 0, 0, 1, 0], [1.0, 0.8, 0.7, 0.9, 0.5, 0.6, 0.8, 0.4]
    mean_r, mean_ap = 0.0, 0.0
    for taken in product([True, False], repeat=len(truth)):
        chance = float(np.prod([p if t else 1 - p for p, t in zip(pi, taken, strict=True)]))
        if chance == 0:
            continue
        g = sampled(truth, pi, taken)
        r_hat = ((g.ideal >= 1) / np.asarray(g.judged_inclusion)).sum()
        mean_r += chance * r_hat
        mean_ap += chance * stat_ap(g)[0]
    assert mean_r == pytest.approx(sum(truth))
    ap = parse("AP")(grades(truth))[0]
    assert mean_ap == pytest.approx(ap, abs=0.08)


def test_variance_of_stat_ap_against_its_spread() -> None:
    """200 docs drawn independently 400 times: the estimated variance is near the variance of the estimates.

    Taking the estimated precisions for known ones gives less than a quarter of it.
    """
    rng = np.random.default_rng(7)
    truth = (rng.random(200) < np.linspace(0.6, 0.05, 200)).astype(int)
    pi = np.linspace(1.0, 0.4, 200)
    taken = rng.random((400, 200)) < pi
    order = np.argsort(np.where(taken, -truth, 1), axis=1, kind="stable")
    g = Grades(
        tuple(map(str, range(400))),
        np.where(taken, truth, UNJUDGED),
        np.full(400, 200),
        np.take_along_axis(np.where(taken, truth, UNJUDGED), order, axis=1),
        inclusion=np.broadcast_to(pi, (400, 200)),
        judged_inclusion=pi[order],
    )
    estimates = stat_ap(g)
    assert estimates.mean() == pytest.approx(parse("AP")(grades(truth.tolist()))[0], rel=0.03)
    assert stat_ap_variance(g).mean() == pytest.approx(estimates.var(ddof=1), rel=0.2)
    assert stat_ap_variance(g, precision="known").mean() < estimates.var(ddof=1) / 4


def test_variance_with_drawn_buckets_is_smaller() -> None:
    """Pairs from different buckets are sampled together more rarely than if they were independent."""
    g = sampled([1, 0, 1, 1, 0, 1], [0.6, 0.6, 0.25, 0.25, 0.15, 0.15], (True,) * 6)
    weight = 1 / np.array([0.6, 0.25, 0.25, 0.15])
    rank = np.array([1, 3, 4, 6])
    precision = np.cumsum(weight) / rank
    estimate = (weight * precision).sum() / weight.sum()
    below = np.array([sum(weight[j] / rank[j] for j in range(i + 1, 4)) for i in range(4)])
    a = weight * (precision + below - estimate)
    alone = ((1 - 1 / weight) * a**2).sum()
    across = a.sum() ** 2 - (a[0] ** 2 + a[1:3].sum() ** 2 + a[3] ** 2)
    assert stat_ap_variance(g)[0] == pytest.approx(alone / weight.sum() ** 2)
    expected = max(0.0, (alone - across / 4) / weight.sum() ** 2)
    assert stat_ap_variance(g, draws=5)[0] == pytest.approx(expected)


def test_stat_ap_is_summed_in_floats() -> None:
    g = replace(grades([1, 1]), inclusion=np.array([[0.3, 0.7]]), judged_inclusion=np.array([[0.3, 0.7]]))
    w = np.array([1 / 0.3, 1 / 0.7])
    assert stat_ap(g)[0] == pytest.approx((w * np.cumsum(w) / [1, 2]).sum() / w.sum())


def test_strata_are_the_probabilities_of_a_topic() -> None:
    """Two topics with other rates each: each topic has its own strata."""
    one = grades([1, 0, 1, -1, -1, 0], judged=[1, 1, 0, 0, -1, -1])
    pi = np.array([[1, 1, 0.5, 0.5, 0.5, 0.5]])
    first = replace(one, inclusion=pi, judged_inclusion=np.array([[1, 0.5, 1, 0.5, 0.5, 0.5]]))
    both = replace(
        first,
        topics=("1", "2"),
        ranked=np.vstack([one.ranked] * 2),
        retrieved=np.array([6, 6]),
        ideal=np.vstack([one.ideal] * 2),
        inclusion=np.vstack([pi, np.where(pi < 1, 0.25, pi)]),
        judged_inclusion=np.array([[1, 0.5, 1, 0.5, 0.5, 0.5], [1, 0.25, 1, 0.25, 0.25, 0.25]]),
    )
    values = stratified_inferred_ap(both)
    assert values[0] == stratified_inferred_ap(first)[0]
    assert values[0] == pytest.approx((1 + 2 * (1 + 2 * (1 + 1e-5) / (2 + 3e-5)) / 3) / 3)
    assert values[1] == pytest.approx((1 + 4 * (1 + 2 * (1 + 1e-5) / (2 + 3e-5)) / 3) / 5)


@pytest.mark.parametrize("pi", [0.0, -0.5, 1.5])
def test_impossible_probabilities_are_refused(pi: float) -> None:
    g = replace(grades([1]), inclusion=np.array([[pi]]), judged_inclusion=np.array([[pi]]))
    with pytest.raises(UsageError, match="inclusion probability"):
        stat_ap(g)
