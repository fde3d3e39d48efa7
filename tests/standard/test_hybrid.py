"""Hybrid standardization: own runs for the spread, common runs for the level; trends with reference sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from assay.core.errors import DataError, UsageError
from assay.data.scores import ScoreMatrix
from assay.standard import comparability, fit, standardize, trend
from assay.standard.hybrid import aligned

RUNS = ["c1", "c2", "a", "b", "d"]


def scores(seed: int, level: float = 0.0, runs: list[str] = RUNS, topics: int = 25) -> ScoreMatrix:
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.3, 0.6, len(runs))[:, None] + level
    ease = rng.uniform(-0.15, 0.15, size=topics)
    values = np.clip(quality + ease + rng.normal(0, 0.05, size=(len(runs), topics)), 0, 1)
    names = [f"{seed}-{i}" for i in range(topics)]
    return ScoreMatrix.of(values, runs=runs, topics=names, measure="AP")


def test_common_runs_have_the_mean_0_everywhere() -> None:
    for seed in (1, 2):
        moved = aligned(scores(seed), ["c1", "c2"], form="z")
        assert moved.select(runs=["c1", "c2"]).values.mean() == pytest.approx(0.0, abs=1e-12)


def test_it_is_z_moved_and_mapped() -> None:
    matrix = scores(3)
    by = fit(scores(3, runs=["x", "y", "z"]))
    z = standardize(matrix, by, form="z").values
    level = z[:2].mean()
    np.testing.assert_allclose(aligned(matrix, ["c1", "c2"], by, form="cdf").values, ndtr(z - level))
    assert aligned(matrix, ["c1"], by).signature.endswith("|aligned:1 common runs")


def test_weak_reference_runs_no_longer_raise_scores() -> None:
    """Two collections whose own reference runs are strong and weak: the common runs make their scores comparable."""
    collections = {"strong": scores(4), "weak": scores(5)}
    own = ["x", "y", "z"]
    references = {"strong": scores(4, level=0.2, runs=own), "weak": scores(5, level=-0.2, runs=own)}
    plain = {k: standardize(m, references[k], form="z") for k, m in collections.items()}
    moved = {k: aligned(m, ["c1", "c2"], references[k], form="z") for k, m in collections.items()}
    before = comparability(plain, permutations=0).table().record()["rows"][0]["kappa"]
    after = comparability(moved, permutations=0).table().record()["rows"][0]["kappa"]
    assert after < before / 3


def test_what_cannot_be_aligned_says_why() -> None:
    with pytest.raises(DataError, match="no common run 'cc'"):
        aligned(scores(1), ["cc"])
    with pytest.raises(UsageError, match="form E is not a function of z alone"):
        aligned(scores(1), ["c1"], form="E")
    with pytest.raises(UsageError, match="no common run is named"):
        aligned(scores(1), [])


def test_a_trend_with_reference_sets_of_their_own_is_that_of_one_file() -> None:
    years = {"2019": scores(1), "2020": scores(2, level=0.1)}
    by_name = trend(years, ["c1", "c2"])
    own = {year: matrix.select(runs=["a", "b", "d"]) for year, matrix in years.items()}
    sets = {year: matrix.select(runs=["c1", "c2"]) for year, matrix in years.items()}
    by_set = trend(own, references=sets)
    assert by_set.table().record() == by_name.table().record()
    with pytest.raises(DataError, match="reference run 'c2' is not on every collection"):
        trend(own, references={**sets, "2020": sets["2020"].select(runs=["c1"])})
    with pytest.raises(DataError, match="a collection has no scores of reference runs"):
        trend(own, references={"2019": sets["2019"]})


def test_a_trend_that_is_there_is_shown() -> None:
    runs = [f"r{i}" for i in range(30)]
    years = {str(2000 + i): scores(i, level=0.1 * i, runs=["c1", *runs]) for i in range(1, 6)}
    found = trend(years, ["c1"])
    assert found.slope is not None
    assert found.slope.interval()[0] < found.slope.value < found.slope.interval()[1]
    assert found.record()["slope_low"] == found.slope.interval()[0]
    assert "t with 3 degrees of freedom over the means of 5 years" in found.table().notes[0]
    assert np.isnan(found.slope.references)  # a single one cannot be left out
