"""Accuracy of predictions: which correlations, at which level, and where there are none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.nojudgments.against_truth import Accuracies, accuracy, correlations, level_scores
from assay.rankings.correlation import tau_ap
from assay.rankings.rank_biased import persistence_for, prefix_weight, rbo_of_scores


@pytest.mark.parametrize(
    ("runs", "depth", "p"),
    [(129, 13, 0.9493), (110, 11, 0.9401), (80, 8, 0.9177), (61, 6, 0.8905), (30, 3, 0.7840)],
)
def test_rbo_puts_three_quarters_on_the_best_tenth(runs: int, depth: int, p: float) -> None:
    """Webber, Moffat & Zobel 2010, Eq. 21: TREC-8, Robust 2004, Terabyte 2006 with and without manual, Web 2014."""
    assert round(0.1 * runs) == depth
    assert round(persistence_for(depth, 0.75), 4) == p
    assert prefix_weight(p, depth) == pytest.approx(0.75, abs=3e-4)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, runs))
    found = correlations(x, y)["RBO"]
    assert found == pytest.approx(rbo_of_scores(x, y, p=persistence_for(depth, 0.75)))


def matrices() -> tuple[ScoreMatrix, ScoreMatrix]:
    rng = np.random.default_rng(0)
    truth = rng.uniform(size=(20, 8))
    return ScoreMatrix.of(truth + rng.normal(size=truth.shape), measure="m"), ScoreMatrix.of(truth, measure="AP")


@pytest.mark.parametrize("level", ["runs", "topics", "cells"])
def test_levels_against_scipy(level: str) -> None:
    predicted, truth = matrices()
    found = accuracy(predicted, truth, level=level)
    x, y = level_scores(truth, level), level_scores(predicted, level)
    assert found.n == {"runs": 20, "topics": 8, "cells": 160}[level]
    assert found.values["ρ"] == pytest.approx(pearsonr(x, y)[0])
    assert found.values["τ"] == pytest.approx(kendalltau(x, y)[0])
    assert found.values["r_S"] == pytest.approx(spearmanr(x, y)[0])
    assert found.values["τ_AP"] == pytest.approx(tau_ap(x, y))
    assert found.values["τ_AP"] != pytest.approx(tau_ap(y, x))


def test_tau_ap_takes_ranks_from_the_prediction() -> None:
    truth = np.array([4.0, 3.0, 2.0, 1.0])
    assert correlations(truth, np.array([1.0, 4.0, 3.0, 2.0]))["τ_AP"] == pytest.approx(1 / 3)
    assert correlations(np.array([1.0, 4.0, 3.0, 2.0]), truth)["τ_AP"] == pytest.approx(-2 / 9)


def test_delta_scales_the_prediction_first() -> None:
    truth = ScoreMatrix.of([[0.0, 0.5], [0.5, 1.0]])
    assert accuracy(ScoreMatrix.of([[10.0, 20.0], [20.0, 30.0]]), truth).delta == 0


def test_only_shared_runs_and_topics_count() -> None:
    predicted, truth = matrices()
    part = truth.select(runs=["run3", "run1", "run2", "run9"], topics=["2", "5"])
    found = accuracy(predicted, part)
    wanted = kendalltau(predicted.select(runs=part.runs, topics=part.topics).averages(), part.averages())[0]
    assert found.values["τ"] == pytest.approx(wanted)


def test_no_correlation_where_all_are_equal() -> None:
    same = ScoreMatrix.of(np.ones((3, 2)))
    found = accuracy(same, ScoreMatrix.of([[0.1, 0.2], [0.2, 0.3], [0.3, 0.4]]))
    assert set(found.values.values()) == {None}
    assert "–" in Accuracies((found,)).table().text()


def test_sums_in_another_order_do_not_break_ties() -> None:
    a = np.array([0.1 + 0.2 + 0.3, 0.5])
    b = np.array([0.3 + 0.2 + 0.1, 0.6])
    x = np.concatenate([a, b])
    assert len(set(x.tolist())) == 4 or len(set(x.tolist())) == 3
    assert correlations(np.array([1.0, 2.0, 1.0, 1.0]), x)["τ"] == pytest.approx(
        kendalltau([1, 2, 1, 1], [0.6, 0.5, 0.6, 0.6])[0]
    )


def test_bad_input() -> None:
    predicted, truth = matrices()
    with pytest.raises(UsageError, match="level"):
        accuracy(predicted, truth, level="cell")
    with pytest.raises(DataError, match="at least 2"):
        accuracy(predicted, truth.select(runs=["run1"]))
