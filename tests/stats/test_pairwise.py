"""All pairs at once are the pairs one by one; families, chunks, jobs and memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.stats import pairwise as module
from assay.stats.paired import TESTS
from assay.stats.pairwise import all_pairs, versus_baseline
from assay.stats.resampling import ALTERNATIVES
from assay.stats.two_runs import compare_two
from tests.oracles.stats import SAKAI, trec8

NAMES = [*TESTS.names(), "wilcoxon(exact=true)", "sign(min_difference=0.1)"]


@pytest.mark.parametrize("test", NAMES)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_all_pairs_are_the_pairs_one_by_one(test: str, alternative: str) -> None:
    runs = np.random.default_rng(3).random((3, 50)).round(2)
    family = all_pairs(ScoreMatrix.of(runs), test, alternative=alternative, interval="basic", resamples=300, seed=4)
    for k, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        one = compare_two(runs[i], runs[j], test, alternative=alternative, interval="basic", resamples=300, seed=4)
        assert (family.p[k], family.statistic[k], family.effect[k]) == pytest.approx((one.p, one.statistic, one.effect))
        assert family.low is not None
        assert family.low[k] == pytest.approx(one.low)
        assert family.wins is not None
        assert family.wins[k] == one.wins


@pytest.mark.parametrize("test", ["t", "wilcoxon(exact=true)", "bootstrap", "bootstrap-shift-t", "randomisation"])
def test_chunks_and_jobs_change_nothing(test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = ScoreMatrix.of(np.random.default_rng(0).random((12, 15)).round(1))
    whole = all_pairs(m, test, resamples=600)
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", 7)
    monkeypatch.setattr(module, "RESAMPLED_AT_ONCE", 7)
    monkeypatch.setattr(module, "EXACT_POINTS", 1000)
    steps: list[tuple[int, int]] = []
    parts = all_pairs(m, test, resamples=600, jobs=2, progress=lambda done, total: steps.append((done, total)))
    assert (whole.p == parts.p).all()
    assert steps[-1][0] == steps[-1][1] == len(steps) > 5


def test_a_tie_is_broken_in_one_direction_only() -> None:
    """Swapping the two runs gives the same p and the opposite difference, on scores full of ties."""
    m = ScoreMatrix.of(np.random.default_rng(1).integers(0, 10, (6, 50)) / 10)
    swapped = ScoreMatrix.of(m.values[::-1])
    for test in TESTS.names():
        here, there = all_pairs(m, test, resamples=200), all_pairs(swapped, test, resamples=200)
        if not TESTS[test].facts.get("resampled"):
            assert here.square() == pytest.approx(there.square()[::-1, ::-1], abs=1e-12)
        assert here.wins is not None
        assert there.losses is not None
        assert sorted(here.wins) == sorted(there.losses)


# Shares of the 8,256 pairs of TREC-8 with p < .05, uncorrected: Smucker, Allan & Carterette 2007 found the bootstrap,
# randomisation and t to agree; the sign test sees less.
@pytest.mark.parametrize(
    ("test", "share"),
    [("t", 0.7244), ("wilcoxon", 0.7324), ("sign", 0.6625), ("randomisation", 0.727), ("bootstrap-shift", 0.734)],
)
def test_discriminative_shares_of_trec8(test: str, share: float) -> None:
    assert all_pairs(trec8(), test, resamples=1000).share() == pytest.approx(share, abs=0.004)


def test_versus_baseline_is_a_part_of_all_pairs() -> None:
    m = ScoreMatrix.of(SAKAI, runs=["a", "b", "c"])
    every, some = all_pairs(m), versus_baseline(m, "b")
    assert [m.runs[i] for i in some.first] == ["a", "c"]
    assert some.p == pytest.approx(every.square()[[0, 2], 1])
    assert some.difference == pytest.approx([0.075, -0.025])
    assert len(some) == 2
    assert some.corrected("bonferroni") == pytest.approx(np.minimum(1, 2 * some.p))


def test_too_few_resamples_for_a_correction_are_told() -> None:
    pairs = all_pairs(trec8(), "randomisation", resamples=199)
    notes = " ".join(pairs.table().notes)
    assert "too few resamples: holm over 8256 tests lets no p below 0.05" in notes
    assert "more than 165120 resamples" in notes
    assert pairs.share(0.05, "holm") == 0.0
    assert "too few resamples" not in " ".join(pairs.table(correction="none").notes)


def test_the_table_has_the_statistic_and_the_measure() -> None:
    pairs = all_pairs(trec8().select(runs=["CL99XT", "apl8c221", "ok8alx"]))
    table = pairs.table(measure="AP")
    assert table.column("statistic") == pytest.approx(pairs.statistic)
    assert table.caption == "AP, 3 pairs of runs"


def test_uncorrected_tables_show_the_family_wise_error() -> None:
    notes = " ".join(all_pairs(ScoreMatrix.of(SAKAI)).table(correction="none").notes)
    assert "not corrected for 3 tests" in notes
    assert "0.143" in notes  # 1 − .95³


def test_memory_is_bounded_for_560_runs() -> None:
    """156,520 pairs of 560 runs × 50 topics."""
    m = ScoreMatrix.of(np.random.default_rng(0).random((560, 50)))
    tracemalloc.start()
    for test in ("t", "wilcoxon", "randomisation"):
        assert len(all_pairs(m, test, resamples=20)) == 156_520
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150e6


def test_degenerate_matrices() -> None:
    same = ScoreMatrix.of([np.linspace(0.1, 0.3, 50)] * 3)
    for test in TESTS.names():
        assert (all_pairs(same, test, resamples=50).p == 1).all()
    shifted = ScoreMatrix.of([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.1, 0.5, 0.2]])
    text = all_pairs(shifted).table().text()
    assert "1 pair has the same non-zero difference" in text
    assert "nan" not in text.lower()
    constant_topic = ScoreMatrix.of([[0.1, 0.5, 0.3], [0.1, 0.6, 0.2]])
    assert np.isfinite(all_pairs(constant_topic).p).all()


def test_bad_input_is_refused() -> None:
    m = ScoreMatrix.of(SAKAI)
    with pytest.raises(DataError, match="1 run; a comparison needs at least two"):
        all_pairs(ScoreMatrix.of([[0.1, 0.2]]))
    with pytest.raises(DataError, match="1 topic"):
        all_pairs(ScoreMatrix.of([[0.1], [0.2]]))
    with pytest.raises(UsageError, match="did you mean randomisation"):
        all_pairs(m, "randomization")
    with pytest.raises(UsageError, match="no run 'bm25' to be the baseline"):
        versus_baseline(m, "bm25")
    with pytest.raises(UsageError, match="not symmetric"):
        all_pairs(m, alternative="greater").square()
