"""Intervals of bounded measures stay within the range of the measure."""

from __future__ import annotations

import numpy as np
import pytest

from assay.data.scores import ScoreMatrix
from assay.stats import all_pairs, compare
from assay.stats.effect import INTERVALS, mean_interval
from assay.stats.limits import possible_scores


def high_scores(measure: str) -> ScoreMatrix:
    """Two runs that find the first relevant doc at rank 1 on nearly every topic."""
    values = np.ones((2, 60))
    values[0, :11] = np.linspace(0.98, 1, 11, endpoint=False)
    values[1, :12] = np.linspace(0.97, 1, 12, endpoint=False)
    values[:, 0] = 0.0
    return ScoreMatrix.of(values, measure=measure)


def test_the_upper_end_of_rr_is_one() -> None:
    assert mean_interval(high_scores("RR").values).high.max() > 1  # what the plain interval says
    table = compare(high_scores("RR")).table()
    assert max(table.column("high")) == 1.0
    assert any("59 degrees of freedom (cut at 1, the end of the measure's range)" in note for note in table.notes)


@pytest.mark.parametrize("interval", INTERVALS.names())
@pytest.mark.parametrize("measure", ["RR", "AP", "nDCG@10", "P@5", "RBP(p=0.8)"])
def test_no_interval_leaves_the_range(interval: str, measure: str) -> None:
    board = compare(high_scores(measure), interval=interval, resamples=500)
    assert (board.interval.low >= 0).all()
    assert (board.interval.high <= 1).all()


def test_differences_stay_within_one() -> None:
    few = ScoreMatrix.of([[1.0, 0.4], [0.0, 0.1]], measure="RR")
    tested = all_pairs(few, interval="t")
    assert tested.low is not None
    assert tested.high is not None
    assert (tested.low.tolist(), tested.high.tolist()) == ([-1.0], [1.0])
    assert "cut at −1 and 1" in tested.recipe


def test_what_is_not_known_is_not_cut() -> None:
    for measure in ("score", "z(RR)", "made-up"):
        assert possible_scores(high_scores(measure)) is None
        assert compare(high_scores(measure)).interval.high.max() > 1
    beyond = ScoreMatrix.of([[0.2, 1.4], [0.3, 0.1]], measure="RR")
    assert possible_scores(beyond) is None
    assert possible_scores(high_scores("DCG@10")) == (0.0, np.inf)
