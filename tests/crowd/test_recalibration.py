"""Calibration of crowd probabilities: golden fits, held-out folds, and what too few gold docs are told."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from assay.core.errors import DataError
from assay.crowd.recalibration import (
    FEWEST_GOLD,
    RECALIBRATIONS,
    _beta_features,
    beta,
    cross_fitted,
    isotonic,
    logistic,
    logit,
    platt,
    recalibrated,
    rising_steps,
)

P = np.array([0.05, 0.10, 0.20, 0.35, 0.50, 0.60, 0.80, 0.90, 0.95, 0.99])
Y = np.array([0.0, 0, 1, 0, 0, 1, 1, 0, 1, 1])


def test_golden_fits() -> None:
    assert_allclose(logistic(logit(P)[:, None], Y), [-0.219127, 0.573125], atol=5e-7)
    assert_allclose(logistic(_beta_features(P), Y), [0.015258, 0.710401, 0.477667], atol=5e-7)
    places, steps = rising_steps(P, Y)
    assert_allclose(places, P)
    assert_allclose(steps, [0, 0, *[1 / 3] * 3, *[2 / 3] * 3, 1, 1])
    assert_allclose(isotonic(P, Y)(P)[[0, 4, 9]], [0.05, 1 / 3, 0.95])  # g = 10: within .05 and .95


def test_fits_equal_those_of_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    theirs = api.Logit(Y, api.add_constant(_beta_features(P))).fit(disp=0).params
    assert_allclose(logistic(_beta_features(P), Y), theirs, rtol=1e-6)


def test_beta_drops_a_term_with_a_falling_slope() -> None:
    rng = np.random.default_rng(4)
    p = rng.uniform(0.02, 0.98, 400)
    relevant = (rng.random(400) < 0.9 * p**2 + 0.02).astype(float)
    features = _beta_features(p)
    slopes = logistic(features, relevant)[1:]
    curve = beta(p, relevant)(np.linspace(0.01, 0.99, 50))
    assert (np.diff(curve) >= 0).all()
    if slopes.min() < 0:
        kept = [int(np.argmax(slopes))]
        fit = logistic(features[:, kept], relevant)
        assert_allclose(beta(p, relevant)(p), 1 / (1 + np.exp(-fit[0] - features[:, kept[0]] * fit[1])))


def test_separated_grades_leave_finite_probabilities() -> None:
    curve = platt(np.array([0.1, 0.2, 0.8, 0.9]), np.array([0.0, 0, 1, 1]))
    found = curve(np.array([0.0, 0.15, 0.85, 1.0]))
    assert np.isfinite(found).all()
    assert found[1] < 0.01
    assert found[2] > 0.99


@pytest.mark.parametrize("method", [entry.name for entry in RECALIBRATIONS])
def test_no_topic_takes_part_in_its_own_fit(method: str) -> None:
    rng = np.random.default_rng(1)
    topic = np.repeat(np.arange(20), 10)
    p = rng.uniform(0, 1, 200)
    relevant = (rng.random(200) < p).astype(float)
    first = cross_fitted(p, relevant, topic, method)
    turned = np.where(topic == 7, 1 - relevant, relevant)
    assert_allclose(cross_fitted(p, turned, topic, method)[topic == 7], first[topic == 7])
    assert not np.allclose(cross_fitted(p, turned, topic, method)[topic == 8], first[topic == 8])


def test_too_few_gold_docs_are_refused() -> None:
    p = np.linspace(0.1, 0.9, FEWEST_GOLD)
    relevant = (p > 0.5).astype(float)
    topic = np.arange(FEWEST_GOLD) % 8
    cross_fitted(p, relevant, topic, "platt")
    relevant[0] = np.nan
    with pytest.raises(DataError, match="needs 80 gold docs; the reference has 79"):
        cross_fitted(p, relevant, topic, "platt")
    with pytest.raises(DataError, match="only 1 topic has gold docs"):
        cross_fitted(p, np.ones(80), np.zeros(80, dtype=np.int64), "platt")


def test_levels_stay_a_distribution() -> None:
    rng = np.random.default_rng(2)
    posterior = rng.dirichlet([2, 1, 1, 0.5], 300)
    grade = np.where(rng.random(300) < 0.5, rng.integers(0, 3, 300), np.nan)  # nobody has the highest
    topic = np.repeat(np.arange(15), 20)
    found = recalibrated(posterior, np.arange(4.0), grade, topic, "platt")
    assert_allclose(found.sum(axis=1), 1)
    assert (found >= 0).all()
    assert found[:, 3].max() < 0.01


def test_calibration_on_enough_gold_docs_is_better_than_none() -> None:
    """Posteriors twice too sure: Platt on 200 gold docs of 40 topics brings the held-out log score down."""
    rng = np.random.default_rng(3)
    raw: list[float] = []
    platt_score: list[float] = []
    for _ in range(20):
        true = 1 / (1 + np.exp(-rng.normal(-1, 1.5, 2000)))
        relevant = (rng.random(2000) < true).astype(float)
        shown = 1 / (1 + np.exp(-2 * logit(true)))
        topic = np.repeat(np.arange(40), 50)
        gold = np.where(rng.permutation(2000) < 200, relevant, np.nan)
        held_out = np.isnan(gold)
        found = cross_fitted(shown, gold, topic, "platt")
        for p, scores in ((shown, raw), (found, platt_score)):
            inside = p.clip(1e-6, 1 - 1e-6)[held_out]
            y = relevant[held_out]
            scores.append(-(y * np.log(inside) + (1 - y) * np.log(1 - inside)).mean())
    assert np.mean(platt_score) < np.mean(raw) - 0.02
