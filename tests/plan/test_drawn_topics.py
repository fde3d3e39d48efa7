"""What drawn topics say of σ, and which topics an experiment ends with, by plain loops and on Robust 2004."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.plan.drawn_topics import sigma_samples, topic_inclusion
from assay.plan.powers import power
from tests.oracles.standard import named


def robust_150() -> ScoreMatrix:
    whole = named("robust2004_ap")
    return whole.select(topics=[topic for topic in whole.topics if int(topic) <= 450])


def test_sigma_of_drawn_topics_by_a_plain_loop() -> None:
    rng = np.random.default_rng(1)
    matrix = ScoreMatrix.of(rng.random((3, 12)), measure="AP")
    found = sigma_samples(matrix, topics=4, samples=300, seed=5)
    order = np.argsort(np.random.default_rng(5).random((300, 12)), axis=1)[:, :4]
    for place, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        differences = matrix.values[a] - matrix.values[b]
        sigmas = [float(np.std(differences[list(row)], ddof=1)) for row in order]
        assert found.sigma[place] == pytest.approx(np.std(differences, ddof=1))
        assert (found.low[place], found.high[place]) == pytest.approx(np.quantile(sigmas, [0.025, 0.975]))


def test_the_formula_holds_for_normal_differences() -> None:
    """σ_s = σ/√(2n): of an endless normal population about 95 % of the draws are within 1.96 of it."""
    scores = ScoreMatrix.of(np.random.default_rng(0).normal(size=(6, 4000)), measure="AP")
    found = sigma_samples(scores, topics=30, samples=1000)
    assert found.margin == pytest.approx(1.96 / np.sqrt(60), abs=1e-4)
    assert found.covered == pytest.approx(0.95, abs=0.01)


def test_figure_5_6() -> None:
    """The formula underestimates how far σ of AP differences varies over samples of 30 topics."""
    found = sigma_samples(robust_150(), topics=30, pairs=500, samples=500)
    assert found.covered == pytest.approx(0.795, abs=0.02)
    assert (found.low / found.sigma).mean() == pytest.approx(0.647, abs=0.02)
    assert (found.high / found.sigma).mean() == pytest.approx(1.366, abs=0.02)
    assert ((found.high - found.low) / found.sigma > 2 * found.margin).mean() > 0.9


def test_inclusion_by_a_plain_loop() -> None:
    rng = np.random.default_rng(2)
    pair = ScoreMatrix.of(rng.random((2, 15)), runs=["a", "b"], measure="AP")
    found = topic_inclusion(pair, delta=0.45, minimum=4, trials=200, seed=3)
    from assay.core.engine import generators

    (draw,) = generators(3, 1)
    orders = np.argsort(draw.random((200, 15)), axis=1)
    counts = np.zeros(15)
    differences = pair.values[0] - pair.values[1]
    for order in orders:
        size = 15
        for n in range(4, 16):
            sigma = float(np.std(differences[order[:n]], ddof=1))
            detectable = power(topics=n, sigma=sigma, power=0.8).delta
            assert detectable is not None
            if detectable <= 0.45:
                size = n
                break
        counts[order[:size]] += 1
    np.testing.assert_allclose(found.included, counts / 200)
    assert found.size == pytest.approx(counts.sum() / 200)


def test_figure_5_8() -> None:
    """fub04Tge and polyutp1: topics of a usual difference are included more often, significantly so (χ², .01)."""
    pair = robust_150().select(runs=["fub04Tge", "polyutp1"])
    found = topic_inclusion(pair, delta=0.06, trials=20_000)
    assert found.p < 0.01
    assert found.distance == pytest.approx(-0.84, abs=0.05)
    away = np.abs(found.differences - found.differences.mean())
    unusual = away > np.quantile(away, 0.9)
    assert found.included[unusual].mean() < 0.97 * found.included[~unusual].mean()


def test_jobs_do_not_change_anything() -> None:
    pair = ScoreMatrix.of(np.random.default_rng(4).random((2, 20)), measure="AP")
    one, two = (topic_inclusion(pair, delta=0.3, trials=1200, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.included, two.included)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0}, "delta"),
        ({"delta": 0.1, "minimum": 30}, "minimum: must lie between 2 and the 5 topics"),
        ({"delta": 0.1, "minimum": 2, "trials": 0}, "at least 1 experiment"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    pair = ScoreMatrix.of(np.random.default_rng(4).random((2, 5)), measure="AP")
    with pytest.raises(UsageError, match=message):
        topic_inclusion(pair, **{"minimum": 2, **options})


def test_runs_that_do_not_vary_are_refused() -> None:
    flat = ScoreMatrix.of([[0.5, 0.6, 0.7], [0.4, 0.5, 0.6]], measure="AP")
    with pytest.raises(DataError, match="same amount on every topic"):
        topic_inclusion(flat, delta=0.1, minimum=2)
    with pytest.raises(DataError, match="σ is 0 everywhere"):
        sigma_samples(flat, topics=2)
    with pytest.raises(UsageError, match="fewer than all"):
        sigma_samples(flat, topics=3)
    with pytest.raises(UsageError, match="3 runs; topic inclusion is of two"):
        topic_inclusion(ScoreMatrix.of(np.eye(3), measure="AP"), delta=0.1, minimum=2)
