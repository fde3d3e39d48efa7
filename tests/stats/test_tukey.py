"""Tukey's HSD and its randomised form: published values, scipy, counting by loops, and the family-wise error."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.stats.pairwise import all_pairs
from assay.stats.tukey import (
    LEAST_P,
    PERMUTED_AT_ONCE,
    permuted_ranges,
    randomised_tukey,
    studentized_range_p,
    tukey,
)
from tests.oracles.stats import SAKAI, randomised_tukey_p, trec8
from tests.oracles.stats import scipy_stats as stats


def test_effect_sizes_of_sakai() -> None:
    """Differences over √MSE of the two-way residual: .5070, .6760, .1690."""
    assert tukey(ScoreMatrix.of(SAKAI)).effect == pytest.approx([0.5070, 0.6760, 0.1690], abs=5e-5)


# Shares of the 8,256 pairs of TREC-8 at .05. The one-way form forgets the topics and is wrong here.
@pytest.mark.parametrize(
    ("test", "share", "within"),
    [("tukey", 0.415, 5e-4), ("tukey(design=one-way)", 0.216, 5e-4), ("randomised-tukey", 0.323, 0.002)],
)
def test_shares_of_trec8(test: str, share: float, within: float) -> None:
    result = all_pairs(trec8(), test, resamples=4000)
    assert result.share(0.05) == pytest.approx(share, abs=within)
    assert result.simultaneous
    assert (result.corrected("bonferroni") == result.p).all()


def test_pairing_by_topic_is_used() -> None:
    two, one = tukey(trec8()), tukey(trec8(), design="one-way")
    assert two.critical is not None
    assert one.critical is not None
    assert two.critical < 0.6 * one.critical
    assert "topics not taken out" in one.recipe


def test_one_way_tukey_is_scipy() -> None:
    theirs = stats.tukey_hsd(*SAKAI).pvalue
    assert tukey(ScoreMatrix.of(SAKAI), design="one-way").p == pytest.approx(theirs[np.triu_indices(3, 1)], abs=1e-7)


def test_two_way_p_by_the_studentized_range() -> None:
    result = tukey(ScoreMatrix.of(SAKAI))
    error = np.sqrt(0.8316666666666667 / 38 / 20)
    q = np.abs(result.difference) / error
    assert result.p == pytest.approx([stats.studentized_range.sf(v, 3, 38) for v in q], rel=1e-6)
    assert result.critical == pytest.approx(stats.studentized_range.ppf(0.95, 3, 38) * error, rel=1e-6)


@pytest.mark.parametrize(("k", "df"), [(129, 6272), (3, 38), (20, 19)])
def test_interpolated_p_is_within_1e_4(k: int, df: int) -> None:
    q = np.linspace(0.01, 9, 400)
    p = studentized_range_p(q, k, df)
    some = [3, 57, 111, 222, 333, 399]
    exact = stats.studentized_range.sf(q[some], k, df)
    seen = exact > 1e-6
    assert (np.abs(p[some] / exact - 1) < 1e-4)[seen].all()
    assert (np.diff(p) <= 1e-12).all()


def test_far_tail_is_the_least_p_and_zero_difference_is_one() -> None:
    q = np.concatenate([[0.0, np.inf], np.linspace(1, 500, 100)])
    p = studentized_range_p(q, 5, 100)
    assert (p[0], p[1], p[-1]) == (1.0, LEAST_P, LEAST_P)
    assert (p > 0).all()


def test_randomised_tukey_counts_as_the_loop_does() -> None:
    rng = np.random.default_rng(5)
    block = np.repeat(SAKAI.T[None], PERMUTED_AT_ONCE, axis=0)
    rng.permuted(block, axis=2, out=block)
    expected = randomised_tukey_p(SAKAI, [m.T for m in block])
    assert randomised_tukey(ScoreMatrix.of(SAKAI), resamples=PERMUTED_AT_ONCE, seed=5).p == pytest.approx(expected)


def test_randomised_tukey_is_scipy_permutation_test() -> None:
    small = SAKAI[:, :8]

    def span(*runs: Floats, axis: int) -> Floats:
        means = np.stack([r.mean(axis=axis) for r in runs])
        return np.asarray(np.ptp(means, axis=0))

    theirs = stats.permutation_test(
        tuple(small), span, permutation_type="samples", n_resamples=5000, alternative="greater", vectorized=True, rng=1
    )
    ours = randomised_tukey(ScoreMatrix.of(small), resamples=5000)
    assert float(ours.p.min()) == pytest.approx(theirs.pvalue, abs=0.02)


def test_permutations_keep_each_topic_and_leave_no_trace() -> None:
    values = SAKAI.copy()
    ranges = permuted_ranges(values, resamples=300, seed=2)
    assert (values == SAKAI).all()
    assert (ranges == permuted_ranges(values, resamples=300, seed=2)).all()
    assert ranges.min() >= 0
    assert ranges.max() <= float(np.ptp(SAKAI, axis=0).mean()) + 1e-12


def test_family_wise_error_of_randomised_tukey_is_held() -> None:
    """400 collections of 8 equal runs × 20 topics: how often any of the 28 pairs has p < .05."""
    rng = np.random.default_rng(17)
    any_false = 0
    for i in range(400):
        values = rng.normal(0, 1, 20) + rng.normal(0, 0.5, (8, 20))
        any_false += bool(randomised_tukey(ScoreMatrix.of(values), resamples=199, seed=i).p.min() < 0.05)
    assert 0.02 <= any_false / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_two_runs_of_tukey_are_the_t_test() -> None:
    p = float(tukey(ScoreMatrix.of(SAKAI[:2])).p[0])
    assert p == pytest.approx(stats.ttest_rel(SAKAI[0], SAKAI[1]).pvalue, rel=1e-4)


def test_identical_runs_and_bad_options() -> None:
    same = ScoreMatrix.of(np.tile([0.1, 0.5, 0.9], (4, 1)))
    assert (tukey(same).p == 1).all()
    assert (randomised_tukey(same, resamples=50).p == 1).all()
    with pytest.raises(UsageError, match="two-sided"):
        all_pairs(same, "tukey", alternative="greater")
    with pytest.raises(UsageError, match="no design 'three-way'"):
        tukey(same, design="three-way")
    with pytest.raises(UsageError, match="at least 1"):
        randomised_tukey(same, resamples=0)
