"""The bootstrap for millions of topics: weights from Poisson(1) that a block of topics draws by itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay import UsageError
from assay.stats import resampling
from assay.stats.paired import outcome_of
from assay.stats.resampling import poisson_weights

ROWS = np.random.default_rng(3).normal(0.12, 1, (2, 250))


def test_weights_are_from_the_law_of_poisson() -> None:
    weights = np.concatenate([block.ravel() for _, _, block in poisson_weights(500, 1000)])
    seen = np.bincount(weights.astype(int), minlength=7)[:7] / len(weights)
    assert np.allclose(seen, stats.poisson.pmf(range(7), 1), atol=0.002)


def test_p_is_that_of_a_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "TOPICS_AT_ONCE", 64)
    topics = ROWS.shape[1]
    whole = np.zeros((300, topics))
    for where, draws, block in poisson_weights(topics, 300, 5):
        whole[draws, where] = block
    found = outcome_of(ROWS, "poisson-bootstrap", resamples=300, seed=5)
    for row, p in zip(ROWS, found.p.tolist(), strict=True):
        as_extreme = 0
        for weights in whole:
            mean = sum(w * (d - row.mean()) for w, d in zip(weights, row, strict=True)) / weights.sum()
            as_extreme += abs(mean) >= abs(row.mean())
        assert p == (as_extreme + 1) / 301
    assert "Poisson weights" in found.recipe


def test_it_agrees_with_the_other_tests_on_many_topics() -> None:
    rows = np.random.default_rng(1).normal(0.06, 1, (1, 2000))
    t = outcome_of(rows, "t").p[0]
    assert outcome_of(rows, "poisson-bootstrap", resamples=4000).p[0] == pytest.approx(t, abs=0.01)


def test_a_block_of_topics_draws_the_same_whatever_comes_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "TOPICS_AT_ONCE", 50)
    _, _, few = next(iter(poisson_weights(60, 20, 7)))
    _, _, many = next(iter(poisson_weights(500, 20, 7)))
    assert (few == many).all()


@pytest.mark.parametrize("test", ["bootstrap", "bootstrap-shift", "randomisation"])
def test_too_many_topics_to_be_drawn_one_by_one(test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "MOST_TOPICS", 100)
    with pytest.raises(UsageError, match="poisson-bootstrap"):
        outcome_of(ROWS, test, resamples=50)
