from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.core.errors import AssayError, DataError, UsageError
from assay.rankings.batch import kendall_matrix
from assay.rankings.correlation import (
    CORRELATIONS,
    error_rate,
    footrule,
    kendall_tau_a,
    kendall_tau_b,
    mean_absolute_error,
    pearson,
    spearman,
    tau_ap,
    weighted_tau,
)
from tests.oracles import similarity as plain

relaxed = settings(deadline=None, max_examples=60)

X = [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992]
Y = [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988]


def vectors(n: int = 8, distinct: bool = False) -> st.SearchStrategy[tuple[list[float], list[float]]]:
    values = st.permutations(range(n)) if distinct else st.lists(st.integers(0, 3), min_size=n, max_size=n)
    floats = values.map(lambda v: [float(x) for x in v])
    return st.tuples(floats, floats)


@relaxed
@given(vectors())
def test_tau_b_spearman_pearson_are_scipys(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    assert kendall_tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


@relaxed
@given(vectors())
def test_weighted_tau_is_scipys(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    assert weighted_tau(x, y) == pytest.approx(stats.weightedtau(x, y).statistic, abs=1e-12)
    product = stats.weightedtau(x, y, additive=False).statistic
    assert weighted_tau(x, y, weight="product") == pytest.approx(product, abs=1e-12)


@relaxed
@given(vectors(7, distinct=True))
def test_tau_w_contains_kendall_and_tau_ap(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    assert weighted_tau(x, y, weight="kendall") == pytest.approx(kendall_tau_b(x, y), abs=1e-12)
    assert weighted_tau(x, y, weight="ap", ranks="estimate") == pytest.approx(tau_ap(x, y), abs=1e-12)
    # Melucci's τ_* with weight v(lower rank), here 1/lower.
    ours = weighted_tau(x, y, weight=lambda upper, lower: 1 / (lower * (lower - 1)), ranks="estimate")
    assert ours == pytest.approx(plain.weighted_tau(x, y, lambda upper, lower: 1 / (lower * (lower - 1))), abs=1e-12)


@relaxed
@given(vectors(6, distinct=True))
def test_tau_ap_is_its_definition(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    by_definition = plain.tau_ap(plain.orders(x)[0], plain.orders(y)[0])
    assert tau_ap(x, y) == pytest.approx(by_definition, abs=1e-12)
    assert tau_ap(y, x) == pytest.approx(tau_ap(x, y, ranks="truth"), abs=1e-12)
    assert tau_ap(x, y, ranks="both") == pytest.approx((tau_ap(x, y) + tau_ap(y, x)) / 2, abs=1e-12)
    assert tau_ap(x, y, ties="b") == pytest.approx(tau_ap(x, y, ranks="both"), abs=1e-12)
    reverse = ([-v for v in x], [-v for v in y])
    assert tau_ap(x, y, heavy="bottom") == pytest.approx(tau_ap(*reverse), abs=1e-12)


@relaxed
@given(vectors(5))
def test_tau_ap_a_is_the_mean_over_all_orders_of_the_ties(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    assert tau_ap(x, y) == pytest.approx(plain.tau_ap_a(x, y), abs=1e-12)


@pytest.mark.parametrize(
    ("x", "y", "ties", "expected"),
    [
        # Urbano & Marrero 2017: the test set of their package ircor, rounded to one digit for ties.
        (X, Y, "a", 0.8519),
        (X, Y, "b", 0.8333),
        (X, np.round(Y, 1), "a", 0.7454),
        (np.round(X, 1), np.round(Y, 1), "b", 0.7321),
        ([4, 3, 2, 1], [3, 4, 2, 1], "a", 0.3333),
        ([4, 3, 2, 1], [4, 3, 1, 2], "a", 0.7778),
        ([4, 3, 2, 1], [1, 4, 3, 2], "a", 0.3333),
        ([1, 4, 3, 2], [4, 3, 2, 1], "a", -0.2222),
        ([5, 1, 4, 2, 3], [3, 2, 2, 2, 1], "a", 0.458333),
    ],
)
def test_tau_ap_golden(x: list[float], y: list[float], ties: str, expected: float) -> None:
    digits = len(str(expected).partition(".")[2])
    assert round(tau_ap(x, y, ties=ties), digits) == expected


@relaxed
@given(vectors(5))
def test_tau_a_is_the_mean_tau_over_all_orders_of_the_ties(pair: tuple[list[float], list[float]]) -> None:
    truth, y = [float(i) for i in range(5)], pair[1]
    broken = [[float(-order.index(i)) for i in range(5)] for order in plain.orders(y)]
    assert kendall_tau_a(truth, y) == pytest.approx(np.mean([kendall_tau_b(truth, b) for b in broken]), abs=1e-12)


@relaxed
@given(vectors())
def test_footrule_and_error_rate_are_distances_in_bounds(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    assert footrule(x, x) == error_rate(x, x) == mean_absolute_error(x, x) == 0
    assert 0 <= footrule(x, y) <= 1
    assert 0 <= error_rate(x, y) <= error_rate(x, y, ties=False) <= 1
    assert footrule(x, y) == footrule(y, x)


def test_footrule_of_a_reversed_ranking_is_one_for_any_n() -> None:
    for n in range(2, 9):
        assert footrule(range(n), range(n)[::-1]) == pytest.approx(1)


def test_error_rate_is_the_share_of_discordant_pairs() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random(30), rng.random(30)
    assert error_rate(x, y) == pytest.approx((1 - kendall_tau_b(x, y)) / 2)


def test_fuzziness_makes_near_scores_equal() -> None:
    assert error_rate([1.0, 0.98], [0.5, 0.9]) == 1
    assert error_rate([1.0, 0.98], [0.5, 0.9], fuzz=0.05) == 0
    assert error_rate([1.0, 0.98], [0.5, 0.9], fuzz=0.01, relative=False) == 1


def test_kendall_matrix_is_kendall_of_each_pair() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 6, (7, 20)).astype(float)
    matrix, plain_a = kendall_matrix(values), kendall_matrix(values, ties="a")
    for i in range(7):
        for j in range(7):
            assert matrix[i, j] == pytest.approx(kendall_tau_b(values[i], values[j]), abs=1e-12)
            assert plain_a[i, j] == pytest.approx(kendall_tau_a(values[i], values[j]), abs=1e-12)


def test_kendall_matrix_of_a_constant_row_has_no_value() -> None:
    matrix = kendall_matrix([[1, 1, 1], [1, 2, 3]])
    assert np.isnan(matrix[0]).all()
    assert matrix[1, 1] == 1


@pytest.mark.parametrize("entry", list(CORRELATIONS), ids=lambda e: e.name)
def test_laws_of_every_correlation(entry: object) -> None:
    correlation = entry.function  # type: ignore[attr-defined]
    rng = np.random.default_rng(3)
    x, y = rng.random(12), rng.random(12)
    order = rng.permutation(12)
    assert correlation(x[order], y[order]) == pytest.approx(correlation(x, y), abs=1e-12)
    same = correlation(x, x)
    assert same == pytest.approx(0.0 if entry.facts["distance"] else 1.0, abs=1e-12)  # type: ignore[attr-defined]
    if entry.facts["symmetric"]:  # type: ignore[attr-defined]
        assert correlation(x, y) == pytest.approx(correlation(y, x), abs=1e-12)


@pytest.mark.parametrize("entry", list(CORRELATIONS), ids=lambda e: e.name)
@pytest.mark.parametrize(
    ("x", "y"),
    [([1.0, 2.0], [1.0]), ([1.0, float("nan")], [1.0, 2.0]), ([], [])],
    ids=["lengths", "nan", "empty"],
)
def test_bad_vectors_are_refused(entry: object, x: list[float], y: list[float]) -> None:
    with pytest.raises(AssayError):
        entry.function(x, y)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["pearson", "spearman", "tau-b", "tau-w", "tau-ap(ties=b)"])
def test_constant_scores_have_no_correlation(name: str) -> None:
    entry, given_parameters = CORRELATIONS.parse(name)
    with pytest.raises(DataError, match="all 3 scores are equal"):
        entry.function([1, 2, 3], [5, 5, 5], **given_parameters)


def test_constant_scores_where_a_value_has_a_meaning() -> None:
    assert kendall_tau_a([1, 2, 3], [5, 5, 5]) == 0
    assert tau_ap([3, 2, 1], [5, 5, 5]) == pytest.approx(0)


def test_one_item_is_refused() -> None:
    with pytest.raises(DataError, match="two items or more"):
        kendall_tau_b([1], [1])


@pytest.mark.parametrize(
    "call", ["tau-ap(ties=c)", "tau-ap(heavy=left)", "tau-ap(ranks=mine)", "tau-w(weight=heavy)", "rbo(heavy=left)"]
)
def test_unknown_parameters_are_refused(call: str) -> None:
    entry, parameters = CORRELATIONS.parse(call)
    with pytest.raises(UsageError, match=r"known|take a"):
        entry.function([1, 2, 3], [3, 1, 2], **parameters)


def test_tiny_scores_do_not_underflow() -> None:
    assert pearson([1e-300, 2e-300, 3e-300], [1e-300, 2e-300, 3e-300]) == pytest.approx(1)
