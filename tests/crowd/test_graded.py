"""Interval and ordinal models, Bradley–Terry: values by hand and from simulations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.agreement.ratings import Ratings
from assay.agreement.scales import MAGNITUDE, S4, S100
from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.crowd.aggregation import aggregate
from assay.crowd.graded import interval, worth_of
from assay.crowd.preference_pairs import Preferences, bradley_terry, read_preferences
from assay.data import Labels
from tests.crowd.simulated import numbers

FOUR_DOCS = {"A": (80, 90, 20), "B": (20, 35, 90), "C": (60, 70, 50), "D": (0, 15, 60)}


def four_docs() -> Ratings:
    rows = [("1", d, f"w{i + 1}", float(v)) for d, values in FOUR_DOCS.items() for i, v in enumerate(values)]
    return Ratings.of_labels(Labels.from_rows(rows), scale=S100, repeats="all")


def test_interval_model_on_four_docs() -> None:
    # Values computed with the update equations run to convergence: θ 82.03, 31.16, 64.46, 11.84; b −6.04, 4.27, 1.77;
    # 1/√τ 9.39, 8.93, 36.41; μ 47.37, ω 28.17. The third worker is discounted.
    answers = four_docs()
    judged = interval(answers, iterations=10_000, tolerance=1e-12)
    np.testing.assert_allclose(judged.estimate, [82.03, 31.16, 64.46, 11.84], atol=0.005)
    np.testing.assert_allclose([f["bias"] for f in judged.workers.values()], [-6.04, 4.27, 1.77], atol=0.005)
    np.testing.assert_allclose([f["noise"] for f in judged.workers.values()], [9.39, 8.93, 36.41], atol=0.005)
    fit = worth_of(answers.item, answers.worker, answers.value, np.zeros(4, int), 100, iterations=9999, tolerance=1e-12)
    assert fit.mean[0] == pytest.approx(47.37, abs=0.005)
    assert np.sqrt(fit.variance[0]) == pytest.approx(28.17, abs=0.005)
    assert "converged" in judged.notes[0]


def test_interval_model_beats_mean_and_median_and_covers() -> None:
    # 300 docs, 40 workers, 5 labels each, bias sd 10, noise sd 8, 15, 60 for 50, 30, 20 % of them.
    # A single run of this simulation gave RMSE 13.08 (mean), 9.58 (median), 5.10 (model).
    errors, inside = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        noise = rng.permutation(np.repeat([8.0, 15.0, 60.0], [20, 12, 8]))
        item, worker, value, truth = numbers(rng.normal(0, 10, 40), noise, docs=300, per_doc=5, seed=seed)
        fit = worth_of(item, worker, value, np.zeros(300, int), 100, iterations=1000, tolerance=1e-8)
        middle = np.median(value.reshape(300, 5), axis=1)
        guesses = (value.reshape(300, 5).mean(axis=1), middle, fit.worth)
        errors.append([np.sqrt(np.mean((g - truth) ** 2)) for g in guesses])
        inside.append(np.mean(np.abs(fit.worth - truth) <= 1.96 * np.sqrt(fit.worth_variance)))
    mean, median, model = np.mean(errors, axis=0)
    assert 11.5 < mean < 15.5
    assert 8.5 < median < 11.5
    assert 4.6 < model < 6.0
    # Mean-field variances are a little too small: 95 % intervals cover 92–95 %.
    assert 0.91 < np.mean(inside) < 0.97


def test_interval_model_ranks_workers_by_their_noise() -> None:
    from scipy.stats import spearmanr

    noise = np.linspace(3, 40, 30)
    item, worker, value, _ = numbers(np.zeros(30), noise, docs=500, per_doc=6)
    fit = worth_of(item, worker, value, np.zeros(500, int), 100, iterations=1000, tolerance=1e-8)
    assert spearmanr(noise, 1 / np.sqrt(fit.precision)).statistic > 0.95


def test_topics_of_their_own() -> None:
    rows = [("1", f"d{i}", w, v) for i in range(6) for w, v in (("u", 5.0), ("v", 8.0))]
    rows += [("2", f"d{i}", w, v) for i in range(6) for w, v in (("u", 85.0), ("v", 90.0))]
    answers = Ratings.of_labels(Labels.from_rows(rows), scale=S100, repeats="all")
    together, apart = interval(answers), interval(answers, per_topic=True)
    assert together.estimate[0] < 20
    assert apart.estimate[0] < 20
    assert apart.sd[0] < together.sd[0]


def test_a_worker_with_one_label_keeps_a_sane_precision() -> None:
    labels = Labels.from_rows([("1", "a", "u", 50.0), ("1", "a", "v", 50.0), ("1", "b", "w", 10.0)])
    judged = aggregate(labels, "interval", scale=S100)
    assert all(1 < f["noise"] < 40 for f in judged.workers.values())


def test_magnitudes_are_fitted_on_logs() -> None:
    rows = [("1", d, f"w{i}", v * m) for d, v in zip("abcde", (1, 3, 10, 30, 100)) for i, m in enumerate((1, 10, 50))]
    judged = aggregate(Labels.from_rows(rows), "interval", scale=MAGNITUDE)
    assert judged.grade.tolist() == sorted(judged.grade.tolist())
    assert judged.grade[-1] == 100
    assert judged.grade[0] <= 3


def test_ordinal_model_beats_majority_and_covers() -> None:
    cuts = np.array([-0.5, 0.3, 1.0])
    ours, plain, inside = [], [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        noise, bias = np.repeat([0.3, 0.8, 3.0], [16, 12, 12]), rng.normal(0, 0.5, 40)
        worth = rng.standard_normal(400)
        truth = (worth[:, None] > cuts).sum(axis=1)
        worker = np.argsort(rng.random((400, 40)), axis=1)[:, :7]
        hidden = worth[:, None] + bias[worker] + noise[worker] * rng.standard_normal(worker.shape)
        levels = (hidden[:, :, None] > cuts).sum(axis=2)
        rows = [
            ("1", f"d{i:03d}", f"w{w:02d}", float(y))
            for i in range(400)
            for w, y in zip(worker[i].tolist(), levels[i].tolist(), strict=True)
        ]
        labels = Labels.from_rows(rows)
        judged = aggregate(labels, "ordinal", scale=S4)
        ours.append((judged.grade == truth).mean())
        plain.append((aggregate(labels, "majority", scale=S4).grade == truth).mean())
        inside.append(((judged.low <= truth) & (truth <= judged.high)).mean())
        assert "not converged" not in judged.notes[0]
    assert np.mean(ours) > np.mean(plain) + 0.1
    assert np.mean(inside) > 0.94


def test_ordinal_model_needs_levels() -> None:
    with pytest.raises(DataError, match="labels on the scale S100 are numbers; ordinal needs levels"):
        aggregate(Labels.from_rows([("1", "a", "w", 40.0)]), "ordinal", scale=S100)


def test_levels_that_nobody_used_get_no_probability() -> None:
    labels = Labels.from_rows([("1", d, f"w{i}", v) for d, v in (("a", 0.0), ("b", 3.0)) for i in range(5)])
    judged = aggregate(labels, "ordinal", scale=S4)
    assert judged.grade.tolist() == [0, 3]
    assert np.asarray(judged.posterior)[:, 1:3].tolist() == [[0, 0], [0, 0]]
    alone = aggregate(Labels.from_rows([("1", "a", "w", 2.0)]), "ordinal", scale=S4)
    assert alone.grade.tolist() == [2]


def comparisons(strength: dict[str, float], n: int, seed: int = 0) -> Preferences:
    rng = np.random.default_rng(seed)
    names = list(strength)
    rows = []
    for _ in range(n):
        a, b = (names[i] for i in rng.choice(len(names), 2, replace=False))
        p = strength[a] / (strength[a] + strength[b])
        rows.append(("1", a, b, "w", float(rng.random() < p)))
    return Preferences.from_rows(rows)


def test_bradley_terry_is_the_maximum_of_its_likelihood() -> None:
    from scipy.optimize import minimize

    pairs = comparisons({"a": 4.0, "b": 2.0, "c": 1.0, "d": 0.3}, 300)
    ours = bradley_terry(pairs, prior=1e-9)
    first, second, win = pairs.labels.doc, pairs.other, pairs.labels.label

    def loss(log: Floats) -> float:
        d = log[first] - log[second]
        return float(np.logaddexp(0, -d)[win == 1].sum() + np.logaddexp(0, d)[win == 0].sum())

    best = minimize(loss, np.zeros(4), tol=1e-12).x
    expected = 100 / (1 + np.exp(-(best - best.mean())))
    by_name = {d: e for (_, d), e in zip(ours.items, ours.estimate, strict=True)}
    np.testing.assert_allclose([by_name[n] for n in pairs.labels.docs], expected, atol=0.01)


def test_bradley_terry_intervals_cover() -> None:
    strength = {"a": 3.0, "b": 1.5, "c": 1.0, "d": 0.6, "e": 0.2}
    logs = np.log(list(strength.values()))
    truth = dict(zip(strength, 100 / (1 + np.exp(-(logs - logs.mean()))), strict=True))
    inside = []
    for seed in range(40):
        judged = bradley_terry(comparisons(strength, 150, seed), prior=0.01)
        inside += [lo <= round(truth[d]) <= hi for (_, d), lo, hi in zip(judged.items, judged.low, judged.high)]
    assert 0.9 < np.mean(inside) <= 0.99


def test_a_doc_that_always_won_stays_finite_and_ties_are_half_wins() -> None:
    rows = [("1", "a", "b", "w", 1.0)] * 20 + [("1", "b", "c", "w", 0.5)] * 10
    judged = bradley_terry(Preferences.from_rows(rows))
    grade = {d: int(g) for (_, d), g in zip(judged.items, judged.grade, strict=True)}
    assert grade["a"] > grade["b"]
    assert abs(grade["b"] - grade["c"]) < 20
    assert grade["a"] < 100


def test_preferences_file(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("topic,doc,doc2,worker,label\n1,a,b,w,1\n2,a,c,w,0\n")
    pairs = read_preferences(path, columns={"other": "doc2"})
    assert aggregate(pairs, "bradley-terry").items == (("1", "a"), ("1", "b"), ("2", "a"), ("2", "c"))
    path.write_text("topic,doc,other,worker,label\n1,a,a,w,1\n")
    with pytest.raises(DataError, match=r"pairs.csv:2: doc 'a' is compared with itself"):
        read_preferences(path)
    path.write_text("topic,doc,other,worker,label\n1,a,b,w,2\n")
    with pytest.raises(DataError, match=r"pairs.csv:2: label 2 is not on the scale preference"):
        read_preferences(path)


def test_what_does_not_fit_is_refused() -> None:
    pairs = Preferences.from_rows([("1", "a", "b", "w", 1.0)])
    with pytest.raises(UsageError, match="mean needs a label for each doc"):
        aggregate(pairs, "mean")
    with pytest.raises(UsageError, match="bradley-terry needs preference pairs"):
        aggregate(Labels.from_rows([("1", "a", "w", 1.0)]), "bradley-terry")
    with pytest.raises(UsageError, match="a prior of 0"):
        bradley_terry(pairs, prior=0)
    with pytest.raises(DataError, match="there are no preferences"):
        bradley_terry(Preferences.from_rows([]))
