"""Tests of two runs: published values, other packages, definitions by loops, and behaviour under the null."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.stats.effect import differences
from assay.stats.paired import TESTS, outcome_of
from assay.stats.resampling import ALTERNATIVES, sign_flips, topic_counts
from tests.oracles.stats import SAKAI, anonymous_pair, bootstrap_p, sign_flip_p, signed_rank_p, trec8
from tests.oracles.stats import scipy_stats as stats

RESAMPLED = [e.name for e in TESTS if e.facts.get("resampled")]


def p_of(rows: object, test: str, **options: object) -> float:
    return float(outcome_of(np.asarray(rows, dtype=float), test, **options).p[0])


# One- and two-sided p of TREC-8 AP (anonymous matrix), columns 126 and 125.
@pytest.mark.parametrize(
    ("test", "one", "two", "within"),
    [
        ("t", 0.0006597, 0.0013194, 5e-8),
        ("sign(min_difference=0.01)", 0.0047799, 0.0095599, 5e-8),
        ("bootstrap-shift", 0.00042, 0.00059, 0.00015),
        ("randomisation", 0.00060, 0.00119, 0.00015),
    ],
)
def test_pair_of_trec8(test: str, one: float, two: float, within: float) -> None:
    rows = differences(*anonymous_pair())
    options = {"resamples": 100_000}
    assert p_of(rows, test, alternative="greater", **options) == pytest.approx(one, abs=within)
    assert p_of(rows, test, **options) == pytest.approx(two, abs=within)


def test_wilcoxon_on_the_pair_of_trec8_and_the_noise_in_its_usual_value() -> None:
    """.0017226 and .0034452 are what binary subtraction gives: equal differences of four-digit scores come out
    unequal in the 17th digit and no longer tie. In exact decimals they tie, and p is .0016960 and .0033919."""
    better, worse = anonymous_pair()
    raw = (better - worse)[None, :]
    assert p_of(raw, "wilcoxon", alternative="greater") == pytest.approx(0.0017226, abs=5e-8)
    assert p_of(raw, "wilcoxon") == pytest.approx(0.0034452, abs=5e-8)
    exact = np.rint(better * 1e5) - np.rint(worse * 1e5)
    assert p_of(differences(better, worse), "wilcoxon") == pytest.approx(p_of(exact, "wilcoxon"), rel=1e-12)
    oracle = stats.wilcoxon(exact, correction=True, method="asymptotic", zero_method="wilcox")
    assert p_of(exact, "wilcoxon") == pytest.approx(oracle.pvalue, rel=1e-12)
    assert p_of(exact, "wilcoxon") == pytest.approx(0.0033919, abs=5e-8)


# Webber 2010, §3.3: CL99XT against apl8c221 on TREC-8.
@pytest.mark.parametrize(
    ("test", "alternative", "printed", "within"),
    [
        ("sign", "two-sided", 0.0066, 5e-5),
        ("sign", "greater", 0.0033, 5e-5),
        ("t", "two-sided", 0.035256, 5e-7),
        ("bootstrap-shift", "two-sided", 0.0298, 0.003),
        ("bootstrap-shift", "two-sided", 0.029, 0.003),
    ],
)
def test_running_example_of_webber(test: str, alternative: str, printed: float, within: float) -> None:
    rows = differences(trec8().of_run("CL99XT"), trec8().of_run("apl8c221"))
    assert p_of(rows, test, alternative=alternative) == pytest.approx(printed, abs=within)


def test_sign_test_of_35_wins_in_50() -> None:
    rows = [1.0] * 35 + [-1.0] * 15
    assert p_of(rows, "sign", alternative="greater") == pytest.approx(0.00330022, abs=5e-9)
    assert p_of(rows, "sign") == pytest.approx(0.00660045, abs=1e-8)
    assert p_of(rows, "sign(normal=true)") == pytest.approx(2 * stats.norm.sf(20 / 50**0.5))


def test_the_least_difference_of_the_sign_test_still_counts() -> None:
    rows = differences([0.31, 0.52, 0.44], [0.30, 0.50, 0.435])
    assert float(outcome_of(rows, "sign(min_difference=0.01)").statistic[0]) == 2
    assert float(outcome_of(rows, "sign(min_difference=0.0101)").statistic[0]) == 1


def test_t_of_sakai() -> None:
    outcome = outcome_of(differences(SAKAI[0], SAKAI[1]), "t")  # Sakai's book: t = 2.116, p = .048
    assert float(outcome.statistic[0]) == pytest.approx(2.116, abs=5e-4)
    assert float(outcome.p[0]) == pytest.approx(0.048, abs=5e-4)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_agrees_with_scipy(alternative: str) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.random((2, 30))
    y[:3] = x[:3]
    d = x - y
    assert p_of(d, "t", alternative=alternative) == pytest.approx(
        stats.ttest_rel(x, y, alternative=alternative).pvalue, rel=1e-10
    )
    ours = p_of(d, "wilcoxon(exact=false)", alternative=alternative)
    theirs = stats.wilcoxon(d, correction=True, method="asymptotic", alternative=alternative, zero_method="wilcox")
    assert ours == pytest.approx(theirs.pvalue, rel=1e-10)
    ours = p_of(d[3:], "wilcoxon", alternative=alternative)
    assert ours == pytest.approx(stats.wilcoxon(d[3:], method="exact", alternative=alternative).pvalue, rel=1e-10)
    binomial = stats.binomtest(int((d > 0).sum()), 27, alternative=alternative)
    assert p_of(d, "sign", alternative=alternative) == pytest.approx(binomial.pvalue, rel=1e-10)
    flips = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=20_000, alternative=alternative, rng=0
    )
    # scipy doubles the smaller tail where we compare absolute values; with symmetric flips both agree
    assert p_of(d, "randomisation", alternative=alternative, resamples=20_000) == pytest.approx(flips.pvalue, abs=0.015)


few = st.lists(st.integers(-4, 4), min_size=2, max_size=9)


@given(few)
@settings(max_examples=60, deadline=None)
def test_exact_tests_go_through_all_sign_patterns(values: list[int]) -> None:
    one, two = signed_rank_p(values) if any(values) else (1.0, 1.0)
    assert p_of(values, "wilcoxon(exact=true)", alternative="greater") == pytest.approx(one)
    assert p_of(values, "wilcoxon(exact=true)") == pytest.approx(two)
    one, two = sign_flip_p(values)
    assert p_of(values, "randomisation", alternative="greater") == pytest.approx(one)
    assert p_of(values, "randomisation") == pytest.approx(two)


@pytest.mark.parametrize(("test", "studentised"), [("bootstrap-shift", False), ("bootstrap-shift-t", True)])
def test_bootstrap_counts_as_the_loop_does(test: str, studentised: bool) -> None:
    n = 50 if test == "bootstrap-shift" else 15
    d = np.random.default_rng(2).normal(0.2, 1, n)
    (counts,) = topic_counts(n, 400, seed=7)
    draws = [np.repeat(np.arange(n), row.astype(int)).tolist() for row in counts]
    one, two = bootstrap_p(d.tolist(), draws, studentised=studentised)
    assert p_of(d, test, alternative="greater", resamples=400, seed=7) == (one + 1) / 401
    assert p_of(d, test, resamples=400, seed=7) == (two + 1) / 401
    assert p_of(d, f"{test}(plain=true)", resamples=400, seed=7) == two / 400


def test_randomisation_counts_as_the_loop_does() -> None:
    d = np.random.default_rng(2).normal(0.2, 1, 15)
    (flips,) = sign_flips(15, 400, seed=7)
    hits = sum(abs(float((row * d).mean())) >= abs(float(d.mean())) - 1e-12 for row in flips)
    assert p_of(d, "randomisation", resamples=400, seed=7) == (hits + 1) / 401


@given(few)
@settings(max_examples=40, deadline=None)
def test_laws_of_every_test(values: list[int]) -> None:
    for entry in TESTS:
        d = np.tile(np.array(values, dtype=float), -(-entry.facts.get("topics", 2) // len(values)))
        options = {"resamples": 200}
        two = p_of(d, entry.name, **options)
        up, down = (p_of(d, entry.name, alternative=a, **options) for a in ("greater", "less"))
        assert 0 <= two <= 1
        assert min(up, down) >= 0
        assert up + down >= 1 - 1e-9, entry.name
        if entry.name not in RESAMPLED:
            assert p_of(-d, entry.name) == pytest.approx(two)
            assert p_of(-d, entry.name, alternative="less") == pytest.approx(up)
            assert p_of(d[::-1], entry.name) == pytest.approx(two)
            assert p_of(3 * d, entry.name) == pytest.approx(two)


@pytest.mark.parametrize("name", TESTS.names())
def test_same_seed_same_p_and_recipe_in_words(name: str) -> None:
    d = np.random.default_rng(0).normal(0.3, 1, 50)
    first, again = (outcome_of(d, name, seed=3, resamples=300) for _ in range(2))
    assert float(first.p[0]) == float(again.p[0]) > 0
    assert first.recipe == again.recipe != ""
    if name in RESAMPLED:
        assert "B = 300, seed 3" in first.recipe
        assert first.least_p == (2 if name == "bootstrap" else 1) / 301


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("randomisation", "two-sided by |mean|"),
        ("bootstrap-shift-t", "two-sided by |t|"),
        ("bootstrap", "two-sided by doubling the smaller tail"),
        ("sign", "doubling the smaller tail"),
    ],
)
def test_recipe_says_how_two_sides_are_taken(test: str, words: str) -> None:
    assert words in outcome_of(np.arange(20.0), test, resamples=50).recipe
    assert outcome_of(np.arange(20.0), test, resamples=50, alternative="less").recipe.endswith("one-sided, less")


@pytest.mark.parametrize("n", [5, 12, 49, 50, 60])
@pytest.mark.parametrize("kind", ["plain", "ties", "zeros"])
def test_wilcoxon_is_exact_below_50_topics_and_says_so(n: int, kind: str) -> None:
    d = np.arange(1.0, n + 1) * np.where(np.arange(n) % 3, 1, -1)
    d = np.sign(d) * 2 if kind == "ties" else np.where(np.arange(n) < 2, 0, d) if kind == "zeros" else d
    approximate = "normal approximation with continuity correction, zeros dropped"
    assert ("exact" if n < 50 else approximate) in outcome_of(d, "wilcoxon").recipe
    assert approximate in outcome_of(d, "wilcoxon(exact=false)").recipe
    assert "exact" in outcome_of(d, "wilcoxon(exact=true)").recipe


@pytest.mark.parametrize(
    ("test", "least"), [("normal", 30), ("bootstrap", 10), ("bootstrap-shift", 50), ("poisson-bootstrap", 50)]
)
def test_a_test_on_too_few_topics_is_refused(test: str, least: int) -> None:
    d = np.random.default_rng(0).normal(0, 1, least)
    assert 0 < p_of(d, test, resamples=99) <= 1
    with pytest.raises(UsageError, match=f"test {test}: too few topics .{least - 1}.; .* use t"):
        p_of(d[1:], test, resamples=99)


@pytest.mark.parametrize("name", TESTS.names())
def test_identical_runs_have_p_one(name: str) -> None:
    assert p_of(np.zeros(50), name, resamples=99) == 1.0


@pytest.mark.parametrize("name", TESTS.names())
def test_the_same_difference_everywhere_is_significant(name: str) -> None:
    outcome = outcome_of(differences(np.full(50, 0.7), np.full(50, 0.6)), name, resamples=1999)
    assert float(outcome.p[0]) <= 0.001
    assert not np.isnan(outcome.statistic).any()
    if name in RESAMPLED:
        assert float(outcome.p[0]) >= 1 / 2000


@pytest.mark.parametrize("name", TESTS.names())
def test_one_topic_is_refused(name: str) -> None:
    with pytest.raises(DataError, match="1 topic; at least 2"):
        outcome_of([0.3], name)


def test_bad_names_and_values_are_refused() -> None:
    with pytest.raises(UsageError, match="did you mean wilcoxon"):
        outcome_of([1, 2], "wilcoxn")
    with pytest.raises(UsageError, match="no parameter 'size'"):
        outcome_of([1, 2], "sign(size=3)")
    with pytest.raises(UsageError, match="no alternative 'bigger'"):
        outcome_of([1, 2], "t", alternative="bigger")
    for text in ("sign(min_difference=abc)", "sign(normal=3)", "bootstrap(resamples=1.5)", "sign(min_difference=nan)"):
        with pytest.raises(UsageError, match=r"is not (a|true)"):
            outcome_of([1, 2], text)
    with pytest.raises(UsageError, match="min_difference must be at least 0"):
        outcome_of([1, 2], "sign(min_difference=-1)")
    with pytest.raises(UsageError, match="option of its own"):
        outcome_of([1, 2], "t(alternative=less)")
    with pytest.raises(UsageError, match="a seed must not be negative"):
        outcome_of(np.arange(20.0), "randomisation", seed=-1)
    with pytest.raises(DataError, match="not a finite number"):
        outcome_of([1, np.nan], "t")
    with pytest.raises(DataError, match="2 scores against 3"):
        differences([1, 2], [1, 2, 3])


@pytest.mark.parametrize("name", TESTS.names())
def test_p_is_uniform_under_the_null(name: str) -> None:
    """2,000 pairs of runs that do not differ, 50 topics: Kolmogorov's distance of p to uniform, or, for the discrete
    sign test, the share below three levels."""
    rows: Floats = np.random.default_rng(42).normal(0, 1, (2000, 50))
    p = outcome_of(rows, name, resamples=999).p
    if name == "sign":
        assert all((p <= a).mean() <= a + 3 * np.sqrt(a / 2000) for a in (0.01, 0.05, 0.1))
        return
    slack = 0.04 if name in ("normal", "bootstrap-shift") else 0.0  # both take the normal for the t: slightly too eager
    assert stats.kstest(p, "uniform").statistic < 1.63 / np.sqrt(2000) + slack
    assert (p <= 0.05).mean() == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 2000) + slack / 2)
