"""One pair of runs with all that should be reported about it."""

from __future__ import annotations

import numpy as np
import pytest

from assay.stats.effect import INTERVALS, mean_interval
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
    c = compare_two(rng.random(50), rng.random(50), test, interval=interval, resamples=200, alternative="less")
    assert "less" in c.recipe
    assert "interval" in c.recipe
    assert "n = 50 topics" in c.recipe
    text = c.table().text()
    assert "wins  ties  losses" in text
    assert "nan" not in text.lower()


def test_identical_runs_and_constant_differences() -> None:
    same = compare_two([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    assert (same.p, same.effect, same.wins, same.ties) == (1.0, 0.0, 0, 3)
    assert np.isnan([same.low, same.high]).all()  # the range of the scores is not known
    assert "identical on these 3 topics: .000, p = 1.0000 (paired t test, 3 topics); up to 63 % of" in same.verdict
    shifted = compare_two([0.2, 0.3, 0.4], [0.1, 0.2, 0.3])
    assert shifted.p == 0.25  # 2 of the 8 sign patterns
    assert np.isinf(shifted.effect)
    assert "the numbers of all topics are the same" in shifted.table().text()
    assert "t are infinite" in shifted.table().text()


def test_a_range_gives_an_interval_where_few_values_are_seen() -> None:
    """Two topics that are both won: [−.684, 1], and never p < .0001; 25 ties are no interval without width."""
    won = compare_two([1.0, 1.0], [0.0, 0.0], limits=(-1, 1))
    assert (won.low, won.high) == pytest.approx((2 * np.sqrt(0.025) - 1, 1))
    assert won.p == pytest.approx(0.5)
    assert "the differences take too few values for a t interval: it is the Dirichlet bound" in won.verdict
    ties = compare_two(np.full(25, 0.5), np.full(25, 0.5), limits=(-1, 1), names=("new", "old"))
    assert ties.high == -ties.low == pytest.approx(1 - 0.025 ** (1 / 25))
    assert ties.verdict == (
        "new and old are identical on these 25 topics: .000 [−.137, .137], p = 1.0000 (paired t test, 25 topics); "
        "up to 11 % of topics may differ (95 %)"
    )


@pytest.mark.parametrize(("n", "coverage_of_t"), [(5, 0.59), (10, 0.81)])
def test_intervals_of_sparse_differences_cover(n: int, coverage_of_t: float) -> None:
    """10 % of topics gain 1 and 5 % lose 1: t covers .59 and .81 of 5 and 10 topics, the rule 1.00."""
    drawn = np.random.default_rng(n).choice([1.0, -1.0, 0.0], p=[0.1, 0.05, 0.85], size=(200, n))
    found = [compare_two(row, np.zeros(n), limits=(-1, 1)) for row in drawn]
    assert np.mean([c.low <= 0.05 <= c.high for c in found]) >= 0.95
    by_t = mean_interval(drawn)
    assert ((by_t.low <= 0.05) & (by_t.high >= 0.05)).mean() == pytest.approx(coverage_of_t, abs=0.08)
