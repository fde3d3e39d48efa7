from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import DataError
from assay.data.scores import ScoreMatrix
from assay.io.scores import read_scores
from assay.rankings import kendall_matrix, settled
from assay.rankings.correlation import kendall_tau_b, mean_absolute_error
from assay.similarity.systems import compare_rankings


def made(seed: int, noise: float = 0.1, runs: int = 12, topics: int = 25) -> ScoreMatrix:
    rng = np.random.default_rng(seed)
    values = np.linspace(0.1, 0.5, runs)[:, None] + rng.normal(0, noise, (runs, topics))
    return ScoreMatrix.of(values, measure=f"m{seed}")


def test_values_are_those_of_the_means() -> None:
    a, b = made(0), made(1)
    found = compare_rankings(a, b, measures=["tau-b", "delta"], resamples=100)
    assert found.correlations[0].value == pytest.approx(kendall_tau_b(a.averages(), b.averages()))
    assert found.correlations[1].value == pytest.approx(mean_absolute_error(a.values, b.values))
    first = found.correlations[0]
    assert first.low is not None
    assert first.value is not None
    assert first.low <= first.value


def test_seed_decides_and_common_runs_are_compared() -> None:
    a, b = made(0), made(1)
    part = b.select(runs=[r for r in b.runs if r != "run3"])
    one, two = (compare_rankings(a, part, resamples=50, seed=4) for _ in range(2))
    assert one == two
    assert one != compare_rankings(a, part, resamples=50, seed=5)
    assert len(one.runs) == 11


def test_different_topics_are_drawn_apart() -> None:
    a = made(0)
    b = ScoreMatrix.of(made(1).values, runs=a.runs, topics=[f"t{i}" for i in range(25)])
    assert "drawn apart" in compare_rankings(a, b, resamples=10).recipe


def test_intervals_cover_the_true_correlation() -> None:
    """Pearson of the means of two noisy copies of one truth: the intervals hold the large-sample value most often."""
    rng = np.random.default_rng(7)
    truth = np.linspace(0, 1, 15)[:, None]
    held = 0
    for trial in range(40):
        topic = rng.normal(0, 0.2, (1, 60))
        a, b = (ScoreMatrix.of(truth + topic + rng.normal(0, 0.5, (15, 60))) for _ in range(2))
        found = compare_rankings(a, b, measures=["pearson"], resamples=200, seed=trial).correlations[0]
        assert found.low is not None
        assert found.high is not None
        expected = 1 / (1 + 0.25 / 60 / truth.var())
        held += found.low <= expected <= 1 and found.high >= expected - 0.03
    assert held >= 30


def test_a_constant_measure_has_no_correlation_but_a_table() -> None:
    a = made(0)
    flat = ScoreMatrix.of(np.full(a.shape, 0.5), runs=a.runs, topics=a.topics)
    found = compare_rankings(a, flat, measures=["tau-b", "tau-a"], resamples=10)
    assert found.correlations[0].value is None
    assert found.correlations[1].value == 0
    assert "–" in found.table().text()


def test_means_equal_up_to_rounding_are_tied() -> None:
    a = ScoreMatrix.of([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.9, 0.9, 0.9]])
    b = ScoreMatrix.of([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    found = compare_rankings(a, b, measures=["tau-a"], resamples=0).correlations[0]
    assert found.value == pytest.approx(2 / 3)


def test_no_common_run_is_refused() -> None:
    with pytest.raises(DataError, match="0 runs are in both"):
        compare_rankings(made(0), ScoreMatrix.of([[0.1]], runs=["other"]))


def test_rank_correlations_on_trec_8(data: Callable[[str], Path]) -> None:
    """TREC-8 ad hoc, 129 runs: AP ranks as P@10 does more than as RR does (Webber 2010, Table 3.1, on 102 runs)."""
    names = ("ap", "p10", "rr")
    matrices = [
        read_scores(data(f"trec-score-matrices/anonymous/adhoc8_{n}.csv"), transpose=True, measure=n)[0] for n in names
    ]
    tau = kendall_matrix(settled(np.array([m.averages() for m in matrices])))
    assert tau[0, 1] > tau[1, 2] > tau[0, 2]
    assert np.diag(tau) == pytest.approx(1)
