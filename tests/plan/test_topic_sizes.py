"""Sakai's designs: the tables of Roitero's thesis cell by cell, published values, other packages."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.plan.topic_sizes import (
    LINES,
    anova_power,
    score_variance,
    sizes,
    sizes_table,
    topics_by_anova,
    topics_by_interval,
    topics_by_t,
)
from tests.oracles.standard import named

ERRORS = [(0.01, 0.1), (0.01, 0.2), (0.05, 0.1), (0.05, 0.2)]
WANTED = (0.05, 0.1, 0.2)

# Roitero 2020, Table 4.4: variance of differences, then topics by (α, β) and difference .05, .1, .2.
TABLE_4_4 = {
    "AH99": (0.096, [(575, 147, 40), (452, 116, 32), (406, 103, 28), (304, 78, 21)]),
    "TB06": (0.071, [(426, 109, 30), (336, 87, 25), (301, 77, 21), (225, 58, 16)]),
    "R04": (0.100, [(599, 153, 41), (471, 121, 33), (422, 106, 29), (315, 81, 22)]),
    "MQ07": (0.118, [(706, 179, 48), (554, 142, 38), (498, 126, 33), (373, 95, 26)]),
}
# Table 4.5: runs, variance of scores, topics. The caption prints .59 for MQ07.
TABLE_4_5 = {
    "AH99": (96, 0.048, [(2352, 588, 147), (2001, 501, 126), (1860, 465, 117), (1529, 383, 96)]),
    "TB06": (49, 0.036, [(1341, 336, 84), (1131, 283, 71), (1050, 263, 66), (855, 124, 54)]),
    "R04": (82, 0.050, [(2295, 574, 144), (1948, 487, 122), (1810, 453, 114), (1485, 372, 93)]),
    "MQ07": (26, 0.118, [(3446, 862, 216), (2879, 720, 180), (2669, 668, 167), (2151, 538, 135)]),
}
# Table 4.6: variance of differences, topics for widths .05, .1, .2 at α .01, then .05.
TABLE_4_6 = {
    "AH99": (0.096, [(1019, 255, 64), (591, 148, 37)]),
    "TB06": (0.071, [(754, 189, 48), (437, 110, 28)]),
    "R04": (0.100, [(1061, 266, 67), (615, 154, 39)]),
    "MQ07": (0.118, [(1253, 314, 79), (726, 182, 46)]),
}


def test_table_4_4_of_roitero() -> None:
    """44 of 48 cells are the exact noncentral t; the other four are misprints or came from σ² before rounding."""
    odd = {}
    for name, (variance, rows) in TABLE_4_4.items():
        for (alpha, beta), row in zip(ERRORS, rows, strict=True):
            for wanted, printed in zip(WANTED, row, strict=True):
                size = topics_by_t(wanted, variance=variance, alpha=alpha, power=1 - beta)
                assert abs(size.approximation - size.exact) <= 1
                if size.exact != printed:
                    odd[name, alpha, beta, wanted] = (printed, size.exact)
    assert odd == {
        ("MQ07", 0.01, 0.2, 0.05): (554, 555),
        ("R04", 0.05, 0.1, 0.05): (422, 423),
        ("R04", 0.05, 0.1, 0.1): (106, 108),  # power is .8972 with 106 topics
        ("R04", 0.05, 0.2, 0.05): (315, 316),
    }


def test_table_4_5_of_roitero() -> None:
    """46 of 48 cells are the ceiling of Sakai's line λ/Δ.

    855 is 856 (855.09 rounded down), and 124 is 214 with its digits transposed. The MQ07 column needs a variance of
    .118, that of differences; with .059, the variance of scores, it would be half as many.
    """
    odd = {}
    for name, (runs, variance, rows) in TABLE_4_5.items():
        for (alpha, beta), row in zip(ERRORS, rows, strict=True):
            for wanted, printed in zip(WANTED, row, strict=True):
                size = topics_by_anova(wanted, runs=runs, variance=variance, alpha=alpha, power=1 - beta)
                assert abs(size.exact - printed) <= 10 or printed == 124
                if math.ceil(size.start) != printed:
                    odd[name, alpha, beta, wanted] = (printed, math.ceil(size.start))
    assert odd == {("TB06", 0.05, 0.2, 0.05): (855, 856), ("TB06", 0.05, 0.2, 0.1): (124, 214)}
    half = topics_by_anova(0.05, runs=26, variance=0.059, alpha=0.01, power=0.9)
    assert half.start == pytest.approx(3446 / 2, abs=1)
    exact = topics_by_anova(0.05, runs=96, variance=0.048, alpha=0.01, power=0.9)
    assert exact.exact == 2347  # the noncentral F, where 2352 is printed


def test_table_4_6_of_roitero() -> None:
    """22 of 24 cells are the ceiling of the normal first guess 4·z²·σ²/δ²; the full criterion takes 1 to 4 more."""
    odd = {}
    for name, (variance, rows) in TABLE_4_6.items():
        for alpha, row in zip((0.01, 0.05), rows, strict=True):
            for width, printed in zip(WANTED, row, strict=True):
                size = topics_by_interval(width, variance=variance, alpha=alpha)
                assert 1 <= size.exact - math.ceil(size.start) <= 4
                if math.ceil(size.start) != printed:
                    odd[name, alpha, width] = (printed, math.ceil(size.start))
    assert odd == {("AH99", 0.01, 0.05): (1019, 1020), ("R04", 0.01, 0.05): (1061, 1062)}


@pytest.mark.parametrize(
    ("alpha", "width", "topics"),
    [(0.01, 0.05, 1023), (0.01, 0.1, 259), (0.01, 0.2, 68), (0.05, 0.05, 592), (0.05, 0.1, 150), (0.05, 0.2, 39)],
)
def test_topics_by_interval(alpha: float, width: float, topics: int) -> None:
    """Expected width with Student's t, variance .096; both forms of E[√V] agree."""
    size = topics_by_interval(width, variance=0.096, alpha=alpha)
    assert (size.exact, size.approximation) == (topics, topics)


def test_expected_width_is_met_in_simulation() -> None:
    """150 topics, variance .096: the mean width of 95 % intervals is at most .1 and the intervals cover."""
    from scipy import stats

    n, rng = topics_by_interval(0.1, variance=0.096).exact, np.random.default_rng(2)
    d = rng.normal(0.03, math.sqrt(0.096), size=(20_000, n))
    half = stats.t.ppf(0.975, n - 1) * d.std(axis=1, ddof=1) / math.sqrt(n)
    assert 2 * half.mean() == pytest.approx(0.1, abs=5e-4)
    assert (np.abs(d.mean(axis=1) - 0.03) <= half).mean() == pytest.approx(0.95, abs=0.006)


@pytest.mark.parametrize(("effect", "power", "alpha", "topics"), [
    (0.2, 0.8, 0.05, 199), (0.3, 0.8, 0.05, 90), (0.5, 0.8, 0.05, 34), (0.5, 0.9, 0.05, 44), (0.5, 0.9, 0.01, 63),
])  # fmt: skip
def test_topics_by_t(effect: float, power: float, alpha: float, topics: int) -> None:
    """Exact and approximation agree; first guesses 198.1, 89.1, 33.3, 44.0, 62.8."""
    size = topics_by_t(effect, variance=1, alpha=alpha, power=power)
    assert (size.exact, size.approximation) == (topics, topics)
    guesses = {199: 198.1, 90: 89.1, 34: 33.3, 44: 44.0, 63: 62.8}
    assert size.start == pytest.approx(guesses[topics], abs=0.06)


@pytest.mark.parametrize(("runs", "exact", "approximation", "line"), [
    (2, 80, 78, 85), (10, 158, 157, 157), (100, 405, 404, 406),
])  # fmt: skip
def test_topics_by_anova(runs: int, exact: int, approximation: int, line: int) -> None:
    """Range .1, variance .05, α .05, β .2: noncentral F 80, 158, 405; Sakai's 78, 157, 404; his line 85, 157, 406."""
    size = topics_by_anova(0.1, runs=runs, variance=0.05)
    assert (size.exact, size.approximation, math.ceil(size.start)) == (exact, approximation, line)


@pytest.mark.parametrize(
    ("runs", "topics", "effect", "power"),
    [(2, 78, 0.1, 0.7926), (3, 20, 0.5, 0.7933), (10, 157, 0.1, 0.7989), (100, 404, 0.1, 0.7994)],
)
def test_anova_power(runs: int, topics: int, effect: float, power: float) -> None:
    from statsmodels.stats.power import FTestAnovaPower

    found = anova_power(topics, runs=runs, effect=effect)
    assert found == pytest.approx(power, abs=5e-5)
    total = runs * topics  # statsmodels counts all observations, and its effect size is √(λ / observations)
    peer = FTestAnovaPower().power(math.sqrt(effect / runs), nobs=total, alpha=0.05, k_groups=runs)
    assert found == pytest.approx(float(peer), abs=1e-9)


@pytest.mark.parametrize("key", LINES)
def test_first_guess_off_the_table_agrees_with_it(key: tuple[float, float]) -> None:
    """λ from the noncentral χ², used where Sakai gives no line, is within 2 % of the line for 20 runs."""
    alpha, beta = key
    line = topics_by_anova(0.1, runs=20, variance=0.05, alpha=alpha, power=1 - beta).start
    near = topics_by_anova(0.1, runs=20, variance=0.05, alpha=alpha + 1e-6, power=1 - beta).start
    assert near == pytest.approx(line, rel=0.02)


@pytest.mark.parametrize(
    ("runs", "exact"), [(2, 7.849), (3, 9.635), (5, 11.935), (10, 15.650), (20, 20.555), (50, 29.952), (100, 40.379)]
)
def test_lambda_of_the_noncentral_chi_square(runs: int, exact: float) -> None:
    """Exact λ at (.05, .2) for 1, 2, 4, 9, 19, 49, 99 degrees of freedom; Sakai's line is 8 % high for two runs."""
    found = topics_by_anova(0.1, runs=runs, variance=0.05, alpha=0.05 + 1e-9, power=0.8).start * 0.1
    assert found == pytest.approx(exact, abs=6e-4)
    line = LINES[0.05, 0.2][0] + LINES[0.05, 0.2][1] * math.sqrt(runs - 1)
    assert line == pytest.approx(exact, rel=0.08)


@pytest.mark.parametrize(("name", "best", "printed"), [
    ("trec8-adhoc_ap", 96, 0.0478), ("terabyte2006_ap", 49, 0.0356), ("robust2004_ap", 82, 0.0502),
])  # fmt: skip
def test_variance_from_matrices(name: str, best: int, printed: float) -> None:
    """Residual of one-way ANOVA on the used runs; printed .048, .036, .050. TREC-8: .0479 (.0478 with 97 runs)."""
    matrix = named(name)
    found = score_variance(matrix, runs=best)
    assert found == pytest.approx(printed, abs=1.1e-4)
    assert round(found, 3) == {"trec8-adhoc_ap": 0.048, "terabyte2006_ap": 0.036, "robust2004_ap": 0.050}[name]
    everyone = {"trec8-adhoc_ap": 0.0401, "terabyte2006_ap": 0.0314, "robust2004_ap": 0.0451}[name]
    assert score_variance(matrix) == pytest.approx(everyone, abs=5e-5)


def test_variances_are_pooled_by_degrees_of_freedom() -> None:
    rng = np.random.default_rng(4)
    a, b = ScoreMatrix.of(rng.uniform(size=(3, 5))), ScoreMatrix.of(rng.uniform(size=(4, 9)))
    wanted = (12 * score_variance(a) + 32 * score_variance(b)) / 44
    assert score_variance(a, b) == pytest.approx(wanted)
    x = a.values
    rest = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + x.mean()
    assert score_variance(a, two_way=True) == pytest.approx((rest**2).sum() / 8)


def test_bad_designs() -> None:
    with pytest.raises(UsageError, match="variance: must be above 0"):
        topics_by_t(0.1, variance=0)
    with pytest.raises(UsageError, match="at least two"):
        topics_by_anova(0.1, runs=1, variance=0.1)
    with pytest.raises(UsageError, match="width"):
        topics_by_interval(0, variance=0.1)
    with pytest.raises(UsageError, match="design"):
        topics_by_interval(0.1, variance=0.1, design="triple")
    with pytest.raises(DataError, match="at least two topics"):
        score_variance(ScoreMatrix.of([[0.1], [0.2]]))
    with pytest.raises(UsageError, match="no scores"):
        score_variance()
    table = sizes_table([topics_by_t(0.1, variance=0.1, design="two-sample"), topics_by_interval(0.1, variance=0.1)])
    assert table.column("design") == ["t test, two-sample", "interval, paired"]


def test_an_estimated_variance_says_how_far_it_may_be_off() -> None:
    earlier = ScoreMatrix.of(np.random.default_rng(0).random((4, 26)))
    assert "may be 0.62 to 1.9 times as large (95 %)" in sizes(earlier).table().notes[-1]
    assert "estimated" not in " ".join(sizes(variance=0.05).table().notes)
