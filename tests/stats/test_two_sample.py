"""Two topic sets: Student, Welch and the bootstrap against scipy, Webber's example, and the null."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.stats.bounded import difference_ends
from assay.stats.resampling import ALTERNATIVES
from assay.stats.two_runs import compare_two, comparisons_table
from assay.stats.two_sample import TWO_SAMPLE_TESTS, compare_topic_sets
from tests.oracles.stats import scipy_stats as stats
from tests.oracles.stats import trec8


def test_unpaired_running_example_of_webber() -> None:
    c = compare_topic_sets(trec8().of_run("CL99XT"), trec8().of_run("apl8c221"), "student")
    assert c.p == pytest.approx(0.201832, abs=5e-7)  # printed .202: what forgetting the pairing costs


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("test", "equal"), [("student", True), ("welch", False)])
def test_agrees_with_scipy(test: str, equal: bool, alternative: str) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(0.5, 0.1, 30), rng.normal(0.45, 0.3, 50)
    ours = compare_topic_sets(x, y, test, alternative=alternative, level=0.9)
    theirs = stats.ttest_ind(x, y, equal_var=equal, alternative=alternative)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
    ends = stats.ttest_ind(x, y, equal_var=equal).confidence_interval(0.9)
    assert (ours.low, ours.high) == pytest.approx((ends.low, ends.high), rel=1e-9)
    assert ours.df == pytest.approx(theirs.df)
    assert (ours.wins, ours.ties, ours.losses) == (None, None, None)


def test_bootstrap_is_near_welch_and_never_zero() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(0.5, 0.1, 40), rng.normal(0.45, 0.2, 50)
    boot, welch = (compare_topic_sets(x, y, name) for name in ("bootstrap", "welch"))
    assert boot.p == pytest.approx(welch.p, abs=0.02)
    assert (boot.low, boot.high) == pytest.approx((welch.low, welch.high), abs=0.005)
    assert compare_topic_sets(x + 5, y, "bootstrap", resamples=99).p == 0.02
    assert compare_topic_sets(x + 5, y, "bootstrap(plain=true)", resamples=99).p == 0.0


@pytest.mark.parametrize("name", TWO_SAMPLE_TESTS.names())
def test_p_is_uniform_under_the_null(name: str) -> None:
    rng = np.random.default_rng(11)
    p = [compare_topic_sets(rng.normal(0, 1, 25), rng.normal(0, 1, 30), name, resamples=199).p for _ in range(600)]
    assert stats.kstest(p, "uniform").statistic < 1.63 / np.sqrt(600)


@pytest.mark.parametrize("name", TWO_SAMPLE_TESTS.names())
def test_degenerate_samples(name: str) -> None:
    assert compare_topic_sets([0.1] * 15, [0.1] * 14, name, resamples=99).p == 1.0
    apart = compare_topic_sets([0.2] * 15, [0.1] * 14, name, resamples=199)
    assert apart.p == 1.0
    assert np.isnan([apart.low, apart.high]).all()
    assert "too alike for a test or an interval without their range" in apart.verdict
    assert "infinite" in apart.table().text()
    within = compare_topic_sets([0.2] * 15, [0.1] * 14, name, resamples=199, limits=(0, 1))
    assert within.p == 1.0
    assert within.low < 0 < within.high
    with pytest.raises(DataError, match="1 topic"):
        compare_topic_sets([0.1], [0.1, 0.2], name)


def test_table_of_several_runs() -> None:
    c = compare_topic_sets([0.1, 0.2, 0.4], [0.3, 0.2, 0.5], names=("a", "b"))
    table = comparisons_table([c, c], corrected=[0.5, 0.6], caption="AP")
    assert table.column("against") == ["b", "b"]
    assert table.column("p corrected") == [0.5, 0.6]
    assert table.column("df") == [c.df, c.df]
    assert "wins" not in table.columns
    paired = compare_two([0.1, 0.2, 0.4], [0.3, 0.2, 0.5]).table()
    assert "df" not in paired.columns
    assert paired.column("losses") == [2]
    assert "Welch" in table.notes[0]


def test_bootstrap_intervals() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.exponential(1, 60), rng.exponential(2, 50)
    basic, percentile = (compare_topic_sets(x, y, interval=k, level=0.9) for k in ("basic", "percentile"))
    assert basic.low == pytest.approx(2 * basic.mean_difference - percentile.high, abs=1e-12)
    theirs = stats.bootstrap(
        (x, y),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        method="percentile",
        confidence_level=0.9,
        rng=1,
    ).confidence_interval
    assert (percentile.low, percentile.high) == pytest.approx((theirs.low, theirs.high), abs=0.03)
    with pytest.raises(UsageError, match="no interval 'bca' for two topic sets"):
        compare_topic_sets(x, y, interval="bca")


def test_two_samples_of_few_values_get_the_bounds_of_both_means() -> None:
    won = compare_topic_sets([1.0] * 5, [0.0] * 5, limits=(0, 1), names=("new", "old"))
    assert won.low == pytest.approx(2 * 0.0125**0.2 - 1)  # the lower bound of a mean of five ones is (α/4)^(1/5)
    assert (won.high, won.p) == pytest.approx((1, 4 * 0.5**5))
    for side, p in (("greater", 2 * 0.5**5), ("less", 1)):
        assert compare_topic_sets([1.0] * 5, [0.0] * 5, limits=(0, 1), alternative=side).p == pytest.approx(p)
    assert "new and old are not shown to differ: +1.000 [−.167, 1.000], p = .1250" in won.verdict
    assert "(Dirichlet bounds of both means, 5 and 5 topics)" in won.verdict
    assert "too alike for a t interval: it is from the Dirichlet bounds of both means" in won.verdict
    same = compare_topic_sets([0.0] * 12, [0.0] * 12, limits=(0, 1))
    assert same.low == -same.high < -0.25
    lost = compare_topic_sets([0.0] * 20, [1.0] * 10, limits=(0, 1))
    assert lost.high < 0
    assert lost.p == pytest.approx(box_alpha([1.0] * 10, [0.0] * 20), rel=1e-6)


def box_alpha(first: list[float], second: list[float]) -> float:
    """The α at which the box of both bounds just leaves out 0, found by halving."""
    least, most = 0.0, 1.0
    for _ in range(60):
        alpha = (least + most) / 2
        low, _ = difference_ends(first, second, 1 - alpha, (0, 1))
        least, most = (least, alpha) if low > 0 else (alpha, most)
    return most


def test_topic_sets_with_a_success_in_ten_are_covered_and_rarely_differ() -> None:
    rng = np.random.default_rng(2)
    one, other, none = (rng.random((3, 100, 10)) < np.array([0.1, 0.1, 0.0])[:, None, None]).astype(float)
    same = [compare_topic_sets(x, y, limits=(0, 1)) for x, y in zip(one, other, strict=True)]
    assert sum(c.low <= 0 <= c.high for c in same) >= 97
    assert sum(c.p < 0.05 for c in same) <= 3
    assert min(c.high - c.low for c in same) > 0.3
    apart = [compare_topic_sets(x, y, limits=(0, 1)) for x, y in zip(one, none, strict=True)]
    assert sum(c.low <= 0.1 <= c.high for c in apart) >= 97
    assert (one.sum(axis=1) == 0).sum() > 25  # there a t interval is [0, 0] and leaves out .1


def test_unknown_test() -> None:
    with pytest.raises(UsageError, match="no two-sample test 't'"):
        compare_topic_sets([0.1, 0.2], [0.3, 0.2], "t")
