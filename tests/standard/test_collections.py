"""Collections side by side: the thesis's tables on Robust 2004, random halves, reference runs, trend."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.rankings import kendall_rows
from assay.standard import trend
from assay.standard.collections import comparability, kappa_p
from assay.standard.factors import standardize
from assay.standard.halves import false_negatives, false_positives, half_errors, half_kappas, t_of_rows
from assay.standard.mean_moves import rmse
from assay.standard.reference import longevity, reference_size
from tests.oracles.standard import kendall_tau_b, original, robust


def random_scores(seed: int, runs: int, topics: int, measure: str = "AP") -> ScoreMatrix:
    return ScoreMatrix.of(np.random.default_rng(seed).uniform(size=(runs, topics)), measure=measure)


def sub_collections(form: str | None) -> dict[str, ScoreMatrix]:
    """T7, T8, T03, T04 raw; or standardized by the original runs (T7, T8) and by the runs themselves (T04)."""
    if form is None:
        return {part: robust(part) for part in ("T7", "T8", "T03", "T04")}
    parts = {part: standardize(robust(part), original(part), form=form) for part in ("T7", "T8")}
    return parts | {"T04": standardize(robust("T04"), form=form)}


def test_small_example() -> None:
    """C = (.2, .3, .4), D = (.25, .30, .45): RMSE .0408248, κ .400080 with the sample sd."""
    c = ScoreMatrix.of([[0.2], [0.3], [0.4]], topics=["1"])
    d = ScoreMatrix.of([[0.25], [0.30], [0.45]], topics=["2"])
    found = comparability({"C": c, "D": d}).pairs[0]
    assert found.rmse == pytest.approx(0.0408248, abs=5e-8)
    assert found.kappa == pytest.approx(0.400080, abs=5e-7)


RAW_KAPPA = {  # Webber 2010, Table 4.9 = Webber, Moffat & Zobel 2008, Table 3
    ("T7", "T8"): 0.627, ("T7", "T03"): 1.857, ("T7", "T04"): 1.285,
    ("T8", "T03"): 1.387, ("T8", "T04"): 0.859, ("T03", "T04"): 0.583,
}  # fmt: skip
RAW_BETTER = {  # Table 4.10: runs of 110 significantly better on the first than on the second
    ("T8", "T7"): 2, ("T03", "T7"): 103, ("T03", "T8"): 57, ("T03", "T04"): 2, ("T04", "T7"): 61, ("T04", "T8"): 8,
}  # fmt: skip
STANDARD_KAPPA = {  # Table 4.11 (z) and the paper's Table 5 (Φ)
    "z": {("T7", "T8"): 0.349, ("T7", "T04"): 0.452, ("T8", "T04"): 0.462},
    "cdf": {("T7", "T8"): 0.320, ("T7", "T04"): 0.373, ("T8", "T04"): 0.397},
}
STANDARD_BETTER = {  # Table 4.12, the pairs that the released matrices allow
    ("T7", "T8"): 4, ("T7", "T04"): 14, ("T8", "T7"): 2, ("T8", "T04"): 13, ("T04", "T7"): 3, ("T04", "T8"): 8,
}  # fmt: skip


def better_counts(form: str | None) -> dict[tuple[str, str], int]:
    counts = {}
    for pair in comparability(sub_collections(form)).pairs:
        counts[pair.first, pair.second], counts[pair.second, pair.first] = pair.better, pair.worse
    return counts


def test_tables_4_9_and_4_10() -> None:
    found = comparability(sub_collections(None)).pairs
    kappas = {(p.first, p.second): round(p.kappa or 0, 3) for p in found}
    assert kappas == RAW_KAPPA
    assert {k: n for k, n in better_counts(None).items() if n} == RAW_BETTER


@pytest.mark.parametrize("form", ["z", "cdf"])
def test_tables_4_11_and_4_12(form: str) -> None:
    """κ of standardized AP within .001 of print (scores in the matrices have four digits); counts exactly."""
    found = {(p.first, p.second): p.kappa for p in comparability(sub_collections(form)).pairs}
    assert found == pytest.approx(STANDARD_KAPPA[form], abs=1.1e-3)
    if form == "z":
        assert better_counts("z") == STANDARD_BETTER


def test_table_4_13_means() -> None:
    """Mean AP .212 .244 .327 .293; standardized AP z .088 .022 .000, Φ .516 .503 .500 (T04 by itself)."""
    raw = {part: float(m.values.mean()) for part, m in sub_collections(None).items()}
    assert raw == pytest.approx({"T7": 0.212, "T8": 0.244, "T03": 0.327, "T04": 0.293}, abs=5e-4)
    z = {part: float(m.values.mean()) for part, m in sub_collections("z").items()}
    assert z == pytest.approx({"T7": 0.088, "T8": 0.022, "T04": 0.0}, abs=1e-3)
    cdf = {part: float(m.values.mean()) for part, m in sub_collections("cdf").items()}
    assert cdf == pytest.approx({"T7": 0.516, "T8": 0.503, "T04": 0.500}, abs=5e-4)


def test_permutation_test_of_kappa() -> None:
    """Raw AP: T7–T8 p = .353 printed, T7–T03 p < .001 (we see .0012); standardized AP T7–T04 significant at .01."""
    raw = sub_collections(None)
    assert kappa_p(raw["T7"], raw["T8"], permutations=2000) == pytest.approx(0.353, abs=0.04)
    far = kappa_p(raw["T7"], raw["T03"], permutations=2000)
    assert far is not None
    assert far < 0.004
    z = sub_collections("z")
    near = kappa_p(z["T7"], z["T04"], permutations=2000)
    assert near is not None
    assert near < 0.01


def test_kappa_p_is_uniform_under_the_null() -> None:
    """Two samples of topics from one population: p is spread evenly over 0 … 1."""
    rng = np.random.default_rng(5)
    ability = rng.normal(size=(8, 1)) / 4
    p = []
    for i in range(200):
        x = ability + rng.normal(size=(8, 20)) + rng.normal(size=(1, 20))
        a, b = (ScoreMatrix.of(part) for part in (x[:, :12], x[:, 12:]))
        p.append(kappa_p(a, b, permutations=99, seed=i))
    assert stats.kstest(np.array(p, dtype=float), "uniform").pvalue > 0.01


def test_collections_that_cannot_be_compared() -> None:
    a = random_scores(1, 3, 4)
    with pytest.raises(UsageError, match="at least two"):
        comparability({"a": a})
    with pytest.raises(DataError, match="share 0 runs"):
        comparability({"a": a, "b": ScoreMatrix.of(a.values, runs=["x", "y", "z"])})
    flat = ScoreMatrix.of(np.full((3, 2), 0.5))
    found = comparability({"a": flat, "b": flat}, permutations=10)
    assert (found.pairs[0].kappa, found.pairs[0].p, found.pairs[0].better) == (None, None, 0)
    assert "nan" not in found.table().text().lower()
    assert rmse(a.values, a.values) == 0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(2, 6))
def test_two_sample_t_is_scipys(seed: int, n: int, m: int) -> None:
    x, y = random_scores(seed, 3, n).values, random_scores(seed + 1, 3, m).values
    t, critical = t_of_rows(x, y, alpha=0.1)
    assert t == pytest.approx(stats.ttest_ind(x, y, axis=1).statistic)
    assert critical == pytest.approx(stats.t.ppf(0.95, n + m - 2))


def test_two_sample_t_without_spread() -> None:
    t, _ = t_of_rows(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert t.tolist() == [0.0, np.inf]
    assert t_of_rows(np.array([[1.0]]), np.array([[0.0]]))[0].tolist() == [0.0]


def test_false_positives_on_random_halves() -> None:
    """Topics 351–450, AP: mean rate .049 raw and standardized; 97.5th percentile about .5 raw, just over .15 after.

    Webber 2010, Fig. 4.9: raw median 0; standardized median .036.
    """
    parts = sub_collections("z")
    after = ScoreMatrix.of(np.hstack([parts["T7"].values, parts["T8"].values]))
    raw = ScoreMatrix.of(np.hstack([robust("T7").values, robust("T8").values]))
    before, then = (false_positives(m, splits=2000) for m in (raw, after))
    assert (before.mean, then.mean) == pytest.approx((0.049, 0.049), abs=0.01)
    assert before.high == pytest.approx(0.5, abs=0.1)
    assert then.high == pytest.approx(0.155, abs=0.02)
    assert (np.median(before.rates), np.median(then.rates)) == pytest.approx((0.0, 0.036), abs=0.01)
    missed = false_negatives([raw, after], samples=2000)
    assert missed.true_pairs > 2896  # printed for the three forms SP, AP and sAP; these are two of them
    assert 0.25 < missed.rates[0] < 0.45
    assert missed.rates[1] == pytest.approx(0.03, abs=0.015)


def test_false_positives_by_brute_force() -> None:
    """The mean over many splits is that over all splits of six topics."""
    from itertools import combinations

    x = random_scores(2, 4, 6).values
    rates = []
    for first in combinations(range(6), 3):
        rest = [t for t in range(6) if t not in first]
        rates.append((stats.ttest_ind(x[:, list(first)], x[:, rest], axis=1).pvalue < 0.2).mean())
    found = false_positives(ScoreMatrix.of(x), splits=4000, alpha=0.2)
    assert found.mean == pytest.approx(np.mean(rates), abs=0.01)
    assert set(found.rates) <= set(rates)
    with pytest.raises(DataError, match="at least four"):
        false_positives(random_scores(1, 3, 3))


def test_kappa_of_halves_by_brute_force() -> None:
    from itertools import combinations

    x = random_scores(2, 4, 6).values
    every = []
    for first in combinations(range(6), 3):
        rest = [t for t in range(6) if t not in first]
        a, b = x[:, list(first)].mean(axis=1), x[:, rest].mean(axis=1)
        every.append(2 * np.sqrt(np.mean((a - b) ** 2)) / (a.std(ddof=1) + b.std(ddof=1)))
    found = half_kappas(ScoreMatrix.of(x), splits=4000)
    assert found.mean() == pytest.approx(np.mean(every), rel=0.02)
    assert set(found.round(9)) <= set(np.round(every, 9))


def test_kappa_of_halves_of_trec_7_and_8() -> None:
    """Webber 2010, Fig. 4.10: between random halves of topics 351–450 standardized scores move less than raw ones."""
    parts = sub_collections("z")
    after = ScoreMatrix.of(np.hstack([parts["T7"].values, parts["T8"].values]))
    raw = ScoreMatrix.of(np.hstack([robust("T7").values, robust("T8").values]))
    before, then = (half_kappas(m, splits=1000).mean() for m in (raw, after))
    assert (before, then) == pytest.approx((0.6075, 0.3348), abs=0.01)
    tested = half_errors([raw, after], splits=200)
    assert tested.kappas[0].mean() > tested.kappas[1].mean()
    assert tested.table().column("mean κ")[1] == pytest.approx(then, abs=0.03)


def test_false_negatives_needs_true_pairs_of_the_same_runs() -> None:
    with pytest.raises(DataError, match="nothing that could be missed"):
        false_negatives([random_scores(1, 3, 8)], samples=10)
    with pytest.raises(DataError, match="different runs or topics"):
        false_negatives([random_scores(1, 3, 8), random_scores(1, 3, 9)], samples=10)
    apart = ScoreMatrix.of(np.array([[0.0], [1.0]]) + random_scores(3, 2, 20).values / 100)
    assert false_negatives([apart], samples=50).rates == (0.0,)


@pytest.mark.parametrize(
    ("part", "form", "pearson", "tau"),
    [
        ("T6", "z", 0.997, 0.945), ("T7", "z", 0.999, 0.965), ("T8", "z", 0.999, 0.971),  # Webber 2010, Table 4.7
        ("T7", "cdf", 0.998, 0.969), ("T8", "cdf", 0.998, 0.962),  # Webber, Moffat & Zobel 2008, Table 2
    ],
)  # fmt: skip
def test_longevity_of_factors(part: str, form: str, pearson: float, tau: float) -> None:
    found = longevity(robust(part), original(part), form=form)
    assert (round(found.pearson, 3), round(found.tau, 3)) == (pearson, tau)


def test_longevity_yardstick() -> None:
    """Raw AP on T03 against T04: Pearson .943, τ .742."""
    a, b = robust("T03").averages(), robust("T04").averages()
    assert np.corrcoef(a, b)[0, 1] == pytest.approx(0.943, abs=5e-4)
    assert kendall_rows(a[None], b)[0] == pytest.approx(0.742, abs=5e-4)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=3, max_size=8), st.integers(0, 2**32 - 1))
def test_tau_by_brute_force(x: list[int], seed: int) -> None:
    y = np.random.default_rng(seed).permutation(len(x)).astype(float)
    if len(set(x)) == 1:
        assert kendall_rows([x], y, undefined=0.0)[0] == 0
    else:
        assert kendall_rows([x], y, undefined=0.0)[0] == pytest.approx(kendall_tau_b([float(v) for v in x], y.tolist()))


def test_how_many_reference_runs() -> None:
    """T8's topics with the 129 TREC-8 runs: few reference runs suffice, more are better, all of them are perfect."""
    found = reference_size(robust("T8"), original("T8"), sizes=(2, 5, 20, 129, 500), samples=150, jobs=2)
    assert found.sizes == (2, 5, 20, 129)
    assert (np.diff(found.taus, axis=0) > 0).all()
    assert found.taus[-1].tolist() == pytest.approx([1, 1, 1])
    assert found.taus[1, 0] > 0.85  # the median with five runs
    assert found.taus[2, 1] > 0.88  # 95 % with twenty; thesis, on T03: as good as standardized against raw, .888
    again = reference_size(robust("T8"), original("T8"), sizes=(2, 5, 20, 129, 500), samples=150)
    assert np.array_equal(found.taus, again.taus)
    with pytest.raises(UsageError, match="none of"):
        reference_size(robust("T8"), original("T8"), sizes=(1,))


def test_trend_over_years() -> None:
    """Harder topics every year: raw means fall, means standardized by the common runs do not."""
    rng = np.random.default_rng(0)
    years = {}
    for year, easy in (("2001", 0.6), ("2002", 0.5), ("2003", 0.4)):
        x = np.clip(easy + rng.normal(scale=0.1, size=(12, 60)), 0, 1)
        names = [f"ref{i}" for i in range(6)] + [f"{year}-{i}" for i in range(6)]
        years[year] = ScoreMatrix.of(x, runs=names)
    found = trend(years, [f"ref{i}" for i in range(6)], smoothing=None)
    assert found.slope is not None
    means = [float(np.mean(m)) for m in found.means]
    assert found.slope.value == pytest.approx(np.polyfit([2001, 2002, 2003], means, 1)[0])
    assert found.slope.value == pytest.approx(0, abs=0.03)
    assert "no interval: 3 years, and 4 are needed" in found.table().notes[0]
    assert np.isnan([*found.slope.interval(), found.slope.p]).all()
    assert all(best.startswith(year) for best, year in zip(found.best, years, strict=True))
    assert trend({"a": years["2001"]}, ["ref0", "ref1"]).slope is None
    with pytest.raises(UsageError, match="no run 'nobody'"):
        trend(years, ["nobody"])
    with pytest.raises(DataError, match="only the reference runs"):
        trend({"a": years["2001"].select(runs=["ref0"])}, ["ref0"])
    with pytest.raises(UsageError, match="no reference run named"):
        trend(years, [])


def years_of(rng: np.random.Generator, count: int, shock: float) -> dict[str, ScoreMatrix]:
    """Years without a trend: topics and runs of each year are drawn, and the year has a shock of its own."""
    years = {}
    for year in range(2000, 2000 + count):
        topics = rng.normal(0, 0.15, 25)
        runs = np.append(np.zeros(2), rng.normal(0, 0.04, 15) + rng.normal(0, shock))
        values = 0.4 + topics * np.append([0, 0], np.ones(15))[:, None] + runs[:, None] + rng.normal(0, 0.05, (17, 25))
        values[:2] = [[0.3], [0.5]]
        years[str(year)] = ScoreMatrix.of(values, runs=["ref1", "ref2", *(f"{year}-{i}" for i in range(15))])
    return years


def test_the_slope_is_that_of_least_squares_over_the_means_and_shows_its_parts() -> None:
    years = years_of(np.random.default_rng(1), 6, 0.02)
    found = trend(years, ["ref1", "ref2"], smoothing=None, form="z").slope
    assert found is not None
    after = [standardize(m.select(runs=m.runs[2:]), m.select(runs=m.runs[:2]), form="z").values for m in years.values()]
    x = np.arange(6) - 2.5
    fitted = stats.linregress(x, [values.mean() for values in after])
    assert (found.value, found.error, found.p) == pytest.approx((fitted.slope, fitted.stderr, fitted.pvalue))
    half = stats.t.ppf(0.975, 4) * fitted.stderr
    assert found.interval() == pytest.approx((fitted.slope - half, fitted.slope + half))
    w = x / (x**2).sum()
    of_topics = [w[i] ** 2 * values.mean(axis=0).var(ddof=1) / 25 for i, values in enumerate(after)]
    of_runs = [w[i] ** 2 * values.mean(axis=1).var(ddof=1) / 15 for i, values in enumerate(after)]
    assert (found.topics, found.runs) == pytest.approx((np.sqrt(sum(of_topics)), np.sqrt(sum(of_runs))))
    squares = [sum(v**2 for v in part) / df for part, df in ((of_topics, 24), (of_runs, 14))]
    dfs = [sum(part) ** 2 / square for part, square in zip((of_topics, of_runs), squares, strict=True)]
    whole = sum(of_topics) + sum(of_runs)
    df = whole**2 / (sum(of_topics) ** 2 / dfs[0] + sum(of_runs) ** 2 / dfs[1])
    assert found.parts_df == pytest.approx(df)
    half = stats.t.ppf(0.975, df) * np.sqrt(whole)
    assert found.without_shocks() == pytest.approx((found.value - half, found.value + half))
    assert np.isnan(found.references)  # two references without smoothing: one alone has no spread
    smoothed = trend(years, ["ref1", "ref2"]).slope
    assert smoothed is not None
    without = [trend({y: m.select(runs=[r for r in m.runs if r != left]) for y, m in years.items()}, [kept]).slope
               for left, kept in (("ref1", "ref2"), ("ref2", "ref1"))]  # fmt: skip
    slopes = np.array([one.value for one in without if one is not None])
    assert smoothed.references == pytest.approx(np.sqrt(0.5 * ((slopes - slopes.mean()) ** 2).sum()))


@pytest.mark.parametrize(("count", "shock"), [(4, 0.0), (4, 0.05), (7, 0.05)])
def test_years_without_a_trend_seldom_have_one(count: int, shock: float) -> None:
    """The interval excludes 0 in .05 of cases, with and without shocks of a year; by runs alone .15."""
    rng = np.random.default_rng(count + int(100 * shock))
    wrong, by_parts, trials = 0, 0, 200
    for _ in range(trials):
        found = trend(years_of(rng, count, shock), ["ref1", "ref2"], smoothing=None, form="z").slope
        assert found is not None
        wrong += found.p < 0.05
        low, high = found.without_shocks()
        by_parts += not low <= 0 <= high
    assert wrong / trials <= 0.05 + 2.6 * 0.0154
    assert shock or by_parts / trials <= 0.05 + 2.6 * 0.0154


def test_degenerate_longevity() -> None:
    with pytest.raises(DataError, match="at least three"):
        longevity(random_scores(1, 2, 3), random_scores(2, 4, 3))
    flat = ScoreMatrix.of(np.full((3, 2), 0.5))
    same = longevity(flat, flat)
    assert np.isnan([same.pearson, same.tau]).all()  # no order to keep: a dash and the reason, not a number
    assert same.table().cells()[0][-2:] == ["–", "–"]
    assert "same mean" in same.table().notes[-1]


def test_errors_of_tests_without_sure_differences() -> None:
    """Where no pair surely differs there is nothing to miss: a dash and the reason."""
    table = half_errors([random_scores(1, 3, 8)], splits=10).table()
    assert table.column("missed") == [None]
    assert "nothing could be missed" in table.notes[1]
