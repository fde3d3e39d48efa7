"""Distributions over many topics are those of a plain loop; the topics that stand out are the first among equals."""

from __future__ import annotations

import numpy as np
import pytest

from assay import DataError, UsageError
from assay.data import ScoreMatrix
from assay.stats import spread
from assay.stats.spread import difference_spread, score_spread, widest_topics


def drawn(runs: int = 4, topics: int = 300) -> ScoreMatrix:
    """Scores of few values, so that many topics tie."""
    rng = np.random.default_rng(5)
    values = rng.integers(0, 5, (runs, topics)) / 4
    values[:, :30] = 0.5
    return ScoreMatrix.of(values, runs=[f"r{i}" for i in range(runs)], measure="AP")


def test_counts_and_quantiles_of_scores() -> None:
    matrix = drawn()
    found = score_spread(matrix)
    for row, run in enumerate(matrix.runs):
        scores = sorted(matrix.of_run(run).tolist())
        assert found.zeros[row] == sum(score == 0 for score in scores)
        assert found.quantiles[row, 0] == scores[0]
        assert found.quantiles[row, 6] == scores[-1]
        middle = (scores[149] + scores[150]) / 2
        assert found.quantiles[row, 3] == middle
        for bar, (low, high) in enumerate(zip(found.edges[:-1], found.edges[1:], strict=True)):
            is_last = bar == len(found.counts[row]) - 1
            inside = [low <= score < high or (is_last and score == high) for score in scores]
            assert found.counts[row, bar] == sum(inside)
    assert (found.counts.sum(axis=1) == 300).all()
    assert found.record()["histogram"]["counts"] == found.counts.tolist()


def test_differences_have_a_bar_around_zero() -> None:
    matrix = drawn()
    found = difference_spread(matrix, "r1", "r0")
    difference = matrix.of_run("r1") - matrix.of_run("r0")
    middle = len(found.edges) // 2 - 1
    assert found.edges[middle] < 0 < found.edges[middle + 1]
    assert np.isclose(found.edges[middle], -found.edges[middle + 1])
    assert found.counts[0, middle] == found.zeros[0] == (difference == 0).sum()
    assert found.counts[0, :middle].sum() == (difference < 0).sum()
    assert found.table().column("lowest") == [difference.min()]


def test_identical_runs_are_one_bar() -> None:
    matrix = ScoreMatrix.of([[0.5] * 9, [0.5] * 9], runs=["a", "b"])
    found = difference_spread(matrix, "a", "b")
    assert (found.counts > 0).sum() == 1
    assert score_spread(matrix).counts.max() == 9


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_widest_topics_are_those_of_a_full_sort(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "TOPICS_AT_ONCE", block)
    matrix = drawn()
    sd = [float(np.std(matrix.values[:, place])) for place in range(300)]
    expected = sorted(range(300), key=lambda place: (-round(sd[place], 12), place))[:40]
    found = widest_topics(matrix, 40)
    assert [t.topic for t in found.topics] == [matrix.topics[place] for place in expected]
    assert found.same == sum(len(set(matrix.values[:, place])) == 1 for place in range(300))
    first = found.topics[0]
    of_first = dict(zip(matrix.runs, matrix.values[:, matrix.topics.index(first.topic)], strict=True))
    assert of_first[first.highest_run] == first.highest == max(of_first.values())
    assert of_first[first.lowest_run] == first.lowest == min(of_first.values())
    assert len(widest_topics(matrix, 1000).topics) == 300


def test_nothing_to_show() -> None:
    with pytest.raises(UsageError, match="0 topics cannot be shown"):
        widest_topics(drawn(), 0)
    with pytest.raises(DataError, match="there are no scores"):
        score_spread(ScoreMatrix.of(np.zeros((2, 0))))
