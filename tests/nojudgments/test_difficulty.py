"""Topic difficulty: AAP and GAAP, starred correlations, quarters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, ttest_ind

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.io.scores import read_scores
from assay.nojudgments.difficulty import average_ap, difficulty, geometric_average_ap, topic_ease
from assay.nojudgments.ease import ease_comparison
from assay.rankings.correlation import tau_ap
from assay.rankings.rank_biased import rbo_of_scores
from tests.conftest import real_data


def pair(topics: int = 40) -> tuple[ScoreMatrix, ScoreMatrix]:
    rng = np.random.default_rng(0)
    ease = rng.uniform(0.05, 0.8, topics)
    truth = np.clip(ease + 0.05 * rng.normal(size=(10, topics)), 0, 1)
    seen = ease + 0.3 * rng.normal(size=topics) + 0.05 * rng.normal(size=(10, topics))
    return ScoreMatrix.of(seen, measure="emap"), ScoreMatrix.of(truth, measure="AP")


def test_ease_of_topics_is_stable_over_system_populations() -> None:
    """The 50 topics that TREC-8 (129 runs) and Robust 2004 (110 runs) share; Roitero 2020 prints ρ .99 and τ .89."""
    (trec8,) = read_scores(real_data("trec-score-matrices/named/trec8-adhoc_ap.csv"))
    (robust,) = read_scores(real_data("trec-score-matrices/named/robust2004_ap.csv"))
    shared = [t for t in robust.topics if t in set(trec8.topics)]
    assert len(shared) == 50
    x, y = average_ap(trec8.select(topics=shared)), average_ap(robust.select(topics=shared))
    assert round(float(np.corrcoef(x, y)[0, 1]), 4) == 0.9873
    assert round(float(kendalltau(x, y)[0]), 4) == 0.8857


def test_geometric_mean_weighs_hard_topics() -> None:
    matrix = ScoreMatrix.of([[0.0, 0.5], [1.0, 0.5]])
    assert average_ap(matrix).tolist() == [0.5, 0.5]
    assert geometric_average_ap(matrix) == pytest.approx([np.sqrt(1e-5), 0.5])


def test_starred_correlations_look_at_the_hard_end() -> None:
    predicted, truth = pair()
    found = difficulty(predicted, truth)
    x, y = average_ap(truth), average_ap(predicted)
    assert found.correlations["ρ"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert found.correlations["τ"] == pytest.approx(kendalltau(x, y)[0])
    assert found.correlations["τ_AP"] == pytest.approx(tau_ap(-x, -y))
    assert found.correlations["RBO"] == pytest.approx(rbo_of_scores(-x, -y))
    assert found.correlations["τ_AP"] != pytest.approx(tau_ap(x, y))
    assert "τ_AP* " in found.table().text()


def test_quarters_against_scipy() -> None:
    predicted, truth = pair()
    found = difficulty(predicted, truth)
    assert np.bincount(found.quarter.astype(int)).tolist() == [10, 10, 10, 10]
    for a, b, gap, p in found.tests:
        x, y = found.true[found.quarter == a], found.true[found.quarter == b]
        assert gap == pytest.approx(x.mean() - y.mean())
        assert p == pytest.approx(min(1.0, 6 * ttest_ind(x, y, equal_var=False).pvalue))
    assert found.tests[2][3] < 0.05
    assert "Bonferroni" in found.quarters().text()


def test_geometric_difficulty_and_few_topics() -> None:
    predicted, truth = pair(topics=5)
    found = difficulty(predicted, truth, geometric=True)
    assert found.statistic == "GAAP"
    assert found.tests == ()
    with pytest.raises(DataError, match="one topic"):
        difficulty(predicted.select(topics=["1"]), truth)


def test_quarters_without_variance() -> None:
    predicted = ScoreMatrix.of(np.tile(np.arange(8.0), (2, 1)))
    truth = ScoreMatrix.of(np.tile(np.repeat([0.1, 0.2, 0.3, 0.3], 2), (2, 1)))
    ps = {(a, b): p for a, b, _, p in difficulty(predicted, truth).tests}
    assert (ps[0, 1], ps[2, 3]) == (0.0, 1.0)


@pytest.mark.parametrize("geometric", [False, True])
def test_quarters_of_the_truth_are_compared_by_the_prediction(geometric: bool) -> None:
    predicted, truth = pair()
    found = difficulty(predicted, truth, by="true", geometric=geometric)
    hardest = np.argsort(found.true, kind="stable")[:10]
    assert set(np.flatnonzero(found.quarter == 0)) == set(hardest)
    for a, b, gap, p in found.tests:
        x, y = found.predicted[found.quarter == a], found.predicted[found.quarter == b]
        assert gap == pytest.approx(x.mean() - y.mean())
        assert p == pytest.approx(min(1, 6 * ttest_ind(x, y, equal_var=False).pvalue))
    assert found.quarters().caption.startswith("Predicted")
    with pytest.raises(UsageError, match="no order of quarters 'runs'"):
        difficulty(predicted, truth, by="runs")


def test_geometric_ease_without_truth() -> None:
    predicted, _ = pair()
    found = topic_ease(predicted, geometric=True)
    unit = (predicted.values - predicted.values.min()) / np.ptp(predicted.values)
    wanted = np.exp(np.log(np.maximum(unit, 1e-5)).mean(axis=0))
    np.testing.assert_allclose(found.predicted, wanted)
    assert "GAAP" in found.table().caption


def test_two_score_tables_on_the_topics_they_share() -> None:
    (trec8,) = read_scores(real_data("trec-score-matrices/named/trec8-adhoc_ap.csv"))
    (robust,) = read_scores(real_data("trec-score-matrices/named/robust2004_ap.csv"))
    found = ease_comparison(trec8, robust)
    assert len(found.topics) == 50
    assert found.correlations["ρ"] == pytest.approx(0.9873, abs=5e-5)
    assert found.correlations["τ"] == pytest.approx(0.8857, abs=5e-5)
    rows = found.table().rows
    apart = [abs(float(str(row[3])) - float(str(row[4]))) for row in rows]
    assert apart == sorted(apart, reverse=True)
    assert ease_comparison(trec8, robust, geometric=True).statistic == "GAAP"
    with pytest.raises(DataError, match=r"share 1 topic\(s\)"):
        ease_comparison(trec8.select(topics=[trec8.topics[0]]), robust)
    below = ScoreMatrix.of(trec8.values - 1, runs=trec8.runs, topics=trec8.topics)
    with pytest.raises(DataError, match="has no geometric mean"):
        ease_comparison(below, robust, geometric=True)
