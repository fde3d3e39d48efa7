"""Estimates from human and machine labels: golden values, the oracle ppi-python, and intervals that cover."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.isotonic import IsotonicRegression

import assay
from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run, ScoreMatrix
from assay.data.lists import Lists, collected
from assay.judges import estimate, estimate_docs, filled, plan_labels
from assay.judges.calibration import CALIBRATIONS, calibrated
from assay.judges.interval_coverage import coverage
from assay.judges.labelled_pairs import labelled
from assay.judges.listed import listed, one_measure
from assay.judges.topic_estimators import ESTIMATORS, best_weight, estimated
from assay.pooling import sample
from tests.judges.simulated import labels_of
from tests.judges.test_audit import collection, real_labels, real_runs

Floats = npt.NDArray[np.float64]


@cache
def real_scores(year: str, measure: str = "nDCG@10") -> tuple[ScoreMatrix, tuple[ScoreMatrix, ...], tuple[str, ...]]:
    qrels, labels = real_labels(year)
    pairs = labelled(qrels, labels).compared()
    lists = listed(real_runs(year), pairs)
    wanted = one_measure(measure)
    machine = tuple(lists.machine(wanted, j) for j in range(len(pairs.judges)))
    return lists.human(wanted), machine, pairs.judges


def split_of_dl2021() -> tuple[Qrels, set[str]]:
    """The human grades of the first 20 topics in string order, as if people had judged no others."""
    qrels, _ = real_labels("2021")
    first = sorted(qrels.topics)[:20]
    judged = qrels.to_dict()
    return Qrels.from_dict({topic: judged[topic] for topic in first}), set(first)


@pytest.mark.parametrize(
    ("method", "value", "low", "high"),
    [
        ("classical", 0.737609, 0.661475, 0.813743),
        ("plain", 0.755393, 0.679205, 0.831580),
        ("tuned", 0.746512, 0.678469, 0.814555),
    ],
)
def test_golden_values_of_the_estimator(method: str, value: float, low: float, high: float) -> None:
    qrels, first = split_of_dl2021()
    _, labels = real_labels("2021")
    run = next(run for run in real_runs("2021") if run.name == "NLE_P_v1")
    found = estimate(qrels, labels, [run], judge="gpt4-umbrela", method=method, normal=True)
    ends = found.interval
    assert len(found.machine_topics) == 33
    assert set(found.human_topics) == first
    got = (found.found.value[0], ends[0][0], ends[1][0])
    assert got == pytest.approx((value, low, high), abs=5e-7)


@pytest.mark.parametrize(("method", "weight"), [("classical", 0), ("plain", 1), ("tuned", None)])
def test_estimators_are_those_of_ppi_python(method: str, weight: float | None) -> None:
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    rng = np.random.default_rng(1)
    y = rng.random(30)
    f = np.clip(y + rng.normal(0, 0.1, 30), 0, 1)
    u = rng.random(80)
    ours = estimated(y, f, u, method, large=True)
    low, high = ours.interval(0.9, normal=True)
    theirs = ppi_mean_ci(y, f, u, alpha=0.1, lam=weight)
    assert ours.value[0] == pytest.approx(ppi_mean_pointestimate(y, f, u, lam=weight)[0])
    assert (low[0], high[0]) == pytest.approx((theirs[0][0], theirs[1][0]))


def test_cross_fitting_is_a_plain_loop_over_topics() -> None:
    rng = np.random.default_rng(2)
    y, f, u = rng.random((1, 12)), rng.random((1, 12)), rng.random((1, 30))
    centre = np.concatenate([f, u], axis=1).mean()
    weights = [float(best_weight(np.delete(y, i, axis=1), np.delete(f, i, axis=1), u, 12)[0]) for i in range(12)]
    left = y[0] - np.array(weights) * (f[0] - centre)
    value = np.mean(weights) * (u.mean() - centre) + left.mean()
    variance = left.var(ddof=1) * 11 / 10 / 12 + np.mean(weights) ** 2 * u.var(ddof=1) / 30
    ours = estimated(y, f, u)
    assert ours.value[0] == pytest.approx(value)
    assert ours.error[0] == pytest.approx(np.sqrt(variance))
    assert ours.degrees == 10


@pytest.mark.parametrize("year", ["2019", "2021"])
def test_the_default_covers_on_real_topics_with_every_judge(year: str) -> None:
    human, machine, judges = real_scores(year)
    found = coverage(human, machine, judges, topics=20, samples=200, methods=["cross-fitted", "tuned"])
    for judge in judges:
        for quantity in ("means", "differences"):
            assert 0.935 <= found.of(judge, quantity, "cross-fitted").coverage <= 0.97
            assert found.of(judge, quantity, "tuned").coverage < found.of(judge, quantity, "cross-fitted").coverage
    tuned = [row.coverage for row in found.rows if row.method == "tuned"]
    assert np.mean(tuned) < 0.94  # why it is not the default


def test_machine_only_intervals_never_cover_and_combined_ones_are_narrower() -> None:
    human, machine, judges = real_scores("2021")
    found = coverage(human, machine, judges, topics=20, others=200, samples=100, methods=["cross-fitted", "tuned"])
    for judge in ("gpt4-umbrela", "gpt4o-binary", "llama3.2-binary"):
        assert found.of(judge, "means", "machine only").coverage == pytest.approx(0.0, abs=0.0005)
    tuned = found.of("gpt4-umbrela", "differences", "tuned")
    default = found.of("gpt4-umbrela", "differences", "cross-fitted")
    assert tuned.human_width == pytest.approx(0.183, abs=0.004)
    assert tuned.width == pytest.approx(0.131, abs=0.004)
    assert default.width == pytest.approx(0.142, abs=0.004)


@pytest.mark.parametrize("judge", ["perfect", "kind", "noisy", "random", "adversarial", "constant"])
def test_intervals_cover_under_simulated_judges(judge: str) -> None:
    runs, qrels = collection()
    pairs = labelled(qrels, labels_of(qrels, (judge,))).compared()
    lists = listed(runs, pairs)
    human = lists.human(one_measure("nDCG@10"))
    machine = lists.machine(one_measure("nDCG@10"), 0)
    samples = 60 if judge == "perfect" else 300
    found = coverage(human, [machine], [judge], topics=20, others=60, samples=samples, methods=["cross-fitted"])
    # A judge that is right on 20 topics may still err on others: its intervals are bounds, and cover more.
    most = 1.0 if judge == "perfect" else 0.97
    for quantity in ("means", "differences"):
        assert 0.92 <= found.of(judge, quantity, "cross-fitted").coverage <= most


def test_differences_from_a_baseline_and_what_is_said() -> None:
    qrels, _ = split_of_dl2021()
    _, labels = real_labels("2021")
    runs = [run for run in real_runs("2021") if run.name in ("NLE_P_v1", "p_bm25", "p_bm25rm3")]
    found = estimate(qrels, labels, runs, judge="gpt4-umbrela", baseline="p_bm25")
    assert set(found.runs) == {"NLE_P_v1", "p_bm25rm3"}
    best = found.runs.index("NLE_P_v1")
    assert found.interval[0][best] > 0
    assert found.found.error[best] < found.human_only.error[best]
    notes = " ".join(found.table().notes)
    assert "assumes that the human topics are drawn from the same topics" in notes
    assert "Welch's t test" in notes


def test_unlike_topics_are_warned_of() -> None:
    docs = {f"d{i}": 1 for i in range(4)}
    human = {str(t): docs for t in range(6)}
    machine = {str(t): {doc: {"g": 1} for doc in docs} for t in range(6)}
    machine |= {str(t): {"d0": {"g": 0}, "d1": {"g": 1}} for t in range(6, 20)}
    runs = {"r": {str(t): {f"d{i}": 9.0 - i for i in range(4)} for t in range(20)}}
    notes = " ".join(estimate(human, machine, runs, measure="P@4").checks)
    assert "label the same pool on both" in notes


@pytest.mark.parametrize("method", ["isotonic", "by-grade"])
def test_calibration_is_fitted_on_other_topics(method: str) -> None:
    rng = np.random.default_rng(0)
    machine = rng.integers(0, 4, 400).astype(float)
    human = np.clip(machine - 1 + rng.integers(0, 2, 400), 0, 3).astype(float)
    topic = np.repeat(np.arange(10), 40)
    found = calibrated(machine, human, topic, method=method)
    inside = topic % 5 == 2
    if method == "isotonic":
        theirs = IsotonicRegression(out_of_bounds="clip").fit(machine[~inside], human[~inside]).predict(machine[inside])
        assert found[inside] == pytest.approx(theirs)
    else:
        for label in range(4):
            expected = human[~inside & (machine == label)].mean()
            assert found[inside & (machine == label)] == pytest.approx(expected)
    assert set(CALIBRATIONS.names()) == {"isotonic", "by-grade", "none"}


def top_ten() -> tuple[Lists, list[Run]]:
    qrels, _ = real_labels("2021")
    runs = real_runs("2021")
    return collected(runs, qrels), runs[::8]


def test_sampled_docs_and_a_machine_beat_sampled_docs_alone() -> None:
    """DCG@10 from 5 % of the top-10 pool: about half the width of people alone, and the truth is covered."""
    lists, runs = top_ten()
    _, labels = real_labels("2021")
    covered, width, alone = [], [], []
    truth: Floats | None = None
    for seed in range(30):
        drawn = sample(lists, "uniform(share=0.05,k=10)", seed=seed)
        if truth is None:
            whole = dataclasses.replace(drawn, chosen=np.ones(len(drawn), dtype=bool))
            truth = assay.evaluate(runs, whole.qrels(lists, unjudged=0), "DCG@10")[0].averages()
        found = estimate_docs(drawn.qrels(lists, unjudged=0), labels, runs, judge="gpt4-umbrela")
        ends = found.found
        covered.append((ends.low <= truth) & (truth <= ends.high))
        width.append(ends.error)
        alone.append(found.human_only.error)
    assert np.mean(covered) >= 0.94
    assert np.mean(width) < 0.56 * np.mean(alone)


def test_all_docs_judged_leave_no_error() -> None:
    runs, qrels = collection()
    lists = collected(runs, qrels)
    whole = sample(lists, "uniform(share=1,k=10)").qrels(lists, unjudged=0)
    for measure in ("DCG@10", "P@5", "RBP", "nDCG@10"):
        found = estimate_docs(whole, labels_of(qrels, ("noisy",)), runs, measure=measure)
        truth = assay.evaluate(runs, whole, measure, top=3)[0].averages()
        assert found.found.value == pytest.approx(truth, abs=1e-9)
        assert found.found.low == pytest.approx(truth, abs=1e-9)
        assert found.found.error.max() == 0.0


def test_ndcg_from_sampled_docs_is_right_on_average() -> None:
    runs, qrels = collection()
    lists = collected(runs, qrels)
    whole = sample(lists, "uniform(share=1,k=10)").qrels(lists, unjudged=0)
    truth = assay.evaluate(runs, whole, "nDCG@10")[0].averages()
    covered, values = [], []
    for seed in range(40):
        drawn = sample(lists, "uniform(share=0.5,k=10)", seed=seed).qrels(lists, unjudged=0)
        found = estimate_docs(drawn, labels_of(qrels, ("kind",)), runs, measure="nDCG@10").found
        values.append(found.value)
        covered.append((found.low <= truth) & (truth <= found.high))
    assert np.abs(np.mean(values, axis=0) - truth).max() < 0.03
    assert np.mean(covered) >= 0.94


def test_what_cannot_be_estimated_is_refused() -> None:
    runs, qrels = collection()
    labels = labels_of(qrels, ("kind", "noisy"))
    with pytest.raises(UsageError, match="2 judges"):
        estimate(qrels, labels, runs)
    with pytest.raises(DataError, match="machine labels only"):
        estimate(qrels, labels, runs, judge="kind")
    with pytest.raises(DataError, match="no probabilities"):
        estimate_docs(qrels, labels, runs, judge="kind")
    drawn = sample(collected(runs, qrels), "uniform(share=0.5,k=10)").qrels(collected(runs, qrels), unjudged=0)
    with pytest.raises(UsageError, match="no estimate of AP"):
        estimate_docs(drawn, labels, runs, judge="kind", measure="AP")
    assert drawn.probabilities is not None
    tiny = dataclasses.replace(drawn, probabilities=np.where(drawn.grades >= 0, 5e-324, drawn.probabilities))
    with pytest.raises(DataError, match="no doc that is drawn has one so small"):
        estimate_docs(tiny, labels, runs, judge="kind", measure="nDCG@10")
    with pytest.raises(UsageError, match="no estimator"):
        estimated(np.ones(4), np.ones(4), np.ones(4), "magic")
    assert ESTIMATORS.names() == ["classical", "plain", "tuned", "cross-fitted"]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_estimates_refuse_what_is_no_number(bad: float) -> None:
    scores = np.array([[0.5, 0.7, 0.6, 0.4]])
    odd = np.array([[0.5, bad, 0.6, 0.4]])
    for human, machine, others in ((odd, scores, scores), (scores, odd, scores), (scores, scores, odd)):
        with pytest.raises(DataError, match="a score is not a finite number"):
            estimated(human, machine, others, "classical")


def test_holes_filled_by_a_perfect_judge_are_gone() -> None:
    runs, qrels = collection()
    judged = {t: {d: g for i, (d, g) in enumerate(docs.items()) if i % 3} for t, docs in qrels.to_dict().items()}
    found = filled(judged, labels_of(qrels, ("perfect",)), runs, measure="nDCG@10", draws=5)
    truth = assay.evaluate(runs, qrels, "nDCG@10")[0].averages()
    assert found.column("filled by machine") == pytest.approx(truth)
    assert (np.abs(found.column("unjudged as 0") - truth) > 0.01).any()
    condensed = assay.evaluate(runs, Qrels.from_dict(judged), "nDCG'@10")[0].averages()
    assert found.column("condensed") == pytest.approx(condensed)
    assert "filled" in found.table().caption


def test_a_plan_spends_less_with_a_better_judge() -> None:
    runs, qrels = collection()
    costs = {}
    for judge in ("perfect", "kind", "noisy"):
        found = plan_labels(qrels, labels_of(qrels, (judge,)), runs, width=0.1, machine_cost=0.01)
        assert found.best.width <= 0.1 + 1e-9
        costs[judge] = found.best.cost
        assert sum(share for *_, share in found.strata) == pytest.approx(1.0)
    assert costs["perfect"] < costs["kind"] <= costs["noisy"]
    with pytest.raises(UsageError, match="width of the interval"):
        plan_labels(qrels, labels_of(qrels, ("kind",)), runs)


def test_a_plan_keeps_its_promise() -> None:
    """The mix that a pilot plans for a width has that width on average, by the formula of the estimator."""
    human, machine, judges = real_scores("2021")
    qrels, labels = real_labels("2021")
    runs = [run for run in real_runs("2021") if run.name in ("NLE_P_v1", "p_bm25")]
    found = plan_labels(qrels, labels, runs, judge="gpt4-umbrela", width=0.15)
    mix = found.best
    rows = [human.runs.index(run.name) for run in runs]
    matrix = machine[judges.index("gpt4-umbrela")]
    h = human.values[rows[0]] - human.values[rows[1]]
    m = matrix.values[rows[0]] - matrix.values[rows[1]]
    rng = np.random.default_rng(0)
    widths = []
    for _ in range(200):
        drawn = rng.integers(53, size=mix.human)
        more = rng.integers(53, size=mix.machine)
        low, high = estimated(h[drawn], m[drawn], m[more], "tuned").interval()
        widths.append(high[0] - low[0])
    assert np.mean(widths) == pytest.approx(0.15, rel=0.08)
