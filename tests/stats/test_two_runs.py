"""One pair of runs with all that should be reported about it."""

from __future__ import annotations

import numpy as np
import pytest

from assay.stats.effect import INTERVALS
from assay.stats.paired import TESTS
from assay.stats.two_runs import compare_two
from tests.oracles.stats import trec8


def test_running_example_of_webber() -> None:
    """Webber 2010, §3.3: means .37 and .31, difference .058, median .053, 35 wins and 15 losses, p = .035."""
    c = compare_two(trec8().of_run("CL99XT"), trec8().of_run("apl8c221"), names=("CL99XT", "apl8c221"))
    assert c.means == pytest.approx((0.373, 0.315), abs=5e-4)
    assert c.mean_difference == pytest.approx(0.058052, abs=5e-7)
    assert c.median_difference == pytest.approx(0.05335, abs=5e-6)
    assert (c.wins, c.ties, c.losses) == (35, 0, 15)
    assert c.p == pytest.approx(0.035256, abs=5e-7)
    assert c.low < c.mean_difference < c.high
    assert c.low > 0


@pytest.mark.parametrize("test", TESTS.names())
@pytest.mark.parametrize("interval", INTERVALS.names())
def test_every_test_with_every_interval_says_what_it_did(test: str, interval: str) -> None:
    rng = np.random.default_rng(0)
    c = compare_two(rng.random(30), rng.random(30), test, interval=interval, resamples=200, alternative="less")
    assert "less" in c.recipe
    assert "interval" in c.recipe
    assert "n = 30 topics" in c.recipe
    text = c.table().text()
    assert "wins  ties  losses" in text
    assert "nan" not in text.lower()


def test_identical_runs_and_constant_differences() -> None:
    same = compare_two([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    assert (same.p, same.effect, same.wins, same.ties, same.low, same.high) == (1.0, 0.0, 0, 3, 0.0, 0.0)
    shifted = compare_two([0.2, 0.3, 0.4], [0.1, 0.2, 0.3])
    assert shifted.p == 0.0
    assert np.isinf(shifted.effect)
    assert "the same difference" in shifted.table().text()
    assert "t are infinite" in shifted.table().text()
