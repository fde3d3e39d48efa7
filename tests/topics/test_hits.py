"""HITS against its iteration, published facts of TREC-8, and signs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import DataError
from assay.data.scores import ScoreMatrix
from assay.topics.hits import hits
from tests.topics.released import collection, made, trec8, trec8_top96


def test_trec8() -> None:
    h, matrix = hits(trec8()), trec8()
    ease, means = matrix.values.mean(axis=0), matrix.averages()
    np.testing.assert_allclose(h.strength, (8.8179, 13.7626), atol=6e-5)
    assert h.share[0] == pytest.approx(0.5348, abs=6e-5)
    for x, y, rho, tau in (
        (h.run_authority, means, 0.9913, 0.9314),
        (h.topic_hubness, ease, 0.9239, 0.7927),
        (h.topic_authority, ease, 0.9994, 0.9788),
        (h.run_hubness, means, 0.7994, 0.5086),
    ):
        assert stats.pearsonr(x, y).statistic == pytest.approx(rho, abs=6e-5)
        assert stats.kendalltau(x, y).statistic == pytest.approx(tau, abs=2e-4)
    assert (h.topic_hubness > 0).all()
    ordered = h.table().column("topic")
    assert ordered[:5] == ["410", "444", "423", "403", "430"]
    assert ordered[-5:] == ["443", "421", "439", "437", "432"]


def test_easy_topics_tell_no_more_among_the_better_runs() -> None:
    """The top 96 runs by MAP or the published 96: hubness no longer goes with ease."""
    matrix = trec8().select(runs=list(trec8().by_average().runs[:96]))
    close = [hits(m) for m in (matrix, trec8_top96())]
    rhos = [stats.pearsonr(h.topic_hubness, h.matrix.values.mean(axis=0)).statistic for h in close]
    assert min(abs(r + 0.1422) for r in rhos) < 6e-5
    h = close[int(np.argmin([abs(r + 0.1422) for r in rhos]))]
    assert h.share[0] == pytest.approx(0.2754, abs=6e-5)
    assert stats.pearsonr(h.run_authority, h.matrix.averages()).statistic == pytest.approx(0.9577, abs=6e-5)
    assert h.table().column("topic")[:5] == ["447", "426", "445", "419", "436"]


def test_topic_ease_of_two_populations_of_runs() -> None:
    """50 topics of TREC-8 and Robust 2004: ρ .9873, τ .8857 (Roitero 2020, Section 6.5.2: .99 and .89)."""
    robust = collection("robust2004")
    common = [t for t in trec8().topics if t in robust.topics]
    assert len(common) == 50
    one, two = (m.select(topics=common).values.mean(axis=0) for m in (trec8(), robust))
    assert stats.pearsonr(one, two).statistic == pytest.approx(0.9873, abs=6e-5)
    assert stats.kendalltau(one, two).statistic == pytest.approx(0.8857, abs=6e-5)


def test_the_iteration_converges_to_it() -> None:
    matrix = made(runs=15, topics=9)
    centred = matrix.values - matrix.values.mean(axis=0)
    hub = np.ones(9)
    for _ in range(2000):
        authority = centred @ hub
        hub = centred.T @ (authority / np.linalg.norm(authority))
        hub /= np.linalg.norm(hub)
    h = hits(matrix)
    assert abs(h.topic_hubness @ hub) == pytest.approx(1.0)
    assert stats.pearsonr(h.run_authority, matrix.averages()).statistic > 0


def test_nothing_to_tell_apart() -> None:
    with pytest.raises(DataError, match="every run has the same scores"):
        hits(ScoreMatrix.of([[0.1, 0.5], [0.1, 0.5]]))
    with pytest.raises(DataError, match="every topic has the same scores"):
        hits(ScoreMatrix.of([[0.1, 0.1], [0.5, 0.5]]))


def test_tables() -> None:
    h = hits(made())
    assert h.run_table().columns == ("run", "hubness", "authority", "mean")
    assert h.run_table().keys == h.table().keys  # one sheet in CSV
    assert len(h.table().rows) == 10
