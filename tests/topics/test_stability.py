"""Stability: the sums of the definition, published tables, ceilings, overlap, pixel maps."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.topics.search import search_subsets
from assay.topics.stability import chain_stability, overlap, pixel_map, pixels, subset_stability, top_stability
from tests.topics.released import made, trec8, trec8_top96

# Roitero 2020, Table 3.3: ρ Best, ρ Worst, τ Best, τ Worst.
TABLE_3_3 = {"all": (0.85, 0.97, 0.86, 0.97), "top96": (0.88, 0.98, 0.88, 0.95)}
TABLE_3_3_LOG = {"all": (0.83, 0.96, 0.85, 0.92), "top96": (0.89, 0.95, 0.82, 0.93)}
# Table 3.4: τ, worst ten sets at c = 5, 10, 20, 30.
WORST_TEN = {"all": (0.74, 0.84, 0.94, 0.93), "top96": (0.71, 0.84, 0.93, 0.91)}
MERGED = "+".join(["nsga(evaluations=30000, population=500)"] * 3)


def four(matrix: ScoreMatrix, by: str, *, seed: int = 0) -> list[float]:
    """Stability of ρ Best, ρ Worst, τ Best, τ Worst."""
    found = [search_subsets(matrix, criterion=c, search=by, seed=seed) for c in ("pearson", "tau")]
    return [chain_stability(f.masks(side)) for f in found for side in ("best", "worst")]


@pytest.mark.parametrize("name", ["all", "top96"])
def test_table_3_3(name: str) -> None:
    """Within .05, by the published search with several executions merged, on average over four seeds.

    How stable Best sets look depends on the search: one execution of NSGA-II breeds each set from its neighbours (.90
    and more), proved or nearly optimal sets have less in common (.78 to .86); merged executions lie between, as the
    table does, and differ by up to .09 from seed to seed. Worst sets are nearly the same by any search.
    """
    matrix = trec8() if name == "all" else trec8_top96()
    rows = [four(matrix, MERGED, seed=seed) for seed in range(4)]
    np.testing.assert_allclose(np.mean(rows, axis=0), TABLE_3_3[name], atol=0.05)


@pytest.mark.parametrize("name", ["all", "top96"])
def test_table_3_3_log(name: str) -> None:
    """logAP as released, log10(AP + 1e-4): each printed value lies between two searches, or within .05 of one."""
    matrix = trec8() if name == "all" else trec8_top96()
    logs = ScoreMatrix.of(np.log10(matrix.values + 1e-4), runs=matrix.runs, topics=matrix.topics)
    rows = np.array([four(logs, by) for by in ("swap(starts=3, rounds=2)", "nsga(evaluations=15000, population=500)")])
    printed = np.array(TABLE_3_3_LOG[name])
    assert (rows.min(axis=0) - 0.05 <= printed).all()
    assert (printed <= rows.max(axis=0) + 0.05).all()


@pytest.mark.parametrize("name", ["all", "top96"])
def test_table_3_4_worst(name: str) -> None:
    """The ten worst sets within .1 of the table for c up to 30 except where sets of equal τ leave a choice."""
    at = (5, 10, 20, 30)
    found = search_subsets(
        trec8() if name == "all" else trec8_top96(), search="swap", cardinalities=at, sides=("worst",)
    )
    rows = [top_stability(found.sets["worst"][c][0]) for c in at]
    near = [abs(r.value - printed) <= 0.1 for r, printed in zip(rows, WORST_TEN[name], strict=True)]
    assert sum(near) >= 3
    assert all(r.value <= r.ceiling + 1e-12 for r in rows)


def test_sums_of_the_definition() -> None:
    """For 50 topics Σ max = 1225 and Σ min = 625: nested sets are fully stable, complements as unstable as can be."""
    nested = np.tril(np.ones((50, 50), bool))[:49]
    assert chain_stability(nested) == 1.0
    c = np.arange(1, 50)
    assert c.sum() == 1225
    assert np.where(c <= 24, 0, 2 * c + 1 - 50).sum() == 625
    flip = np.array([(np.arange(50) < k) if k % 2 else (np.arange(50) >= 50 - k) for k in c])
    assert chain_stability(flip) == pytest.approx(0.0)


def test_ceilings() -> None:
    def shifted(c: int) -> np.ndarray:
        return np.array([[k < c - 1 or k == c - 1 + s for k in range(50)] for s in range(5)])

    for c in (5, 45):
        found = top_stability(shifted(c))
        assert found.ceiling == pytest.approx(0.80)
        assert found.value == pytest.approx(found.ceiling)
        assert found.share == pytest.approx(1.0)


def test_overlap_and_effectiveness_of_trec8() -> None:
    """Worst sets hold harder topics than best sets (Roitero 2020, Table 4.3: .298 and .201 for the 96 runs)."""
    result = subset_stability(search_subsets(trec8_top96(), search="swap(starts=3, rounds=2)"), cardinalities=(12,))
    assert result.effectiveness["best"].mean() == pytest.approx(0.298, abs=0.025)
    assert result.effectiveness["worst"].mean() == pytest.approx(0.201, abs=0.02)
    assert result.chain["worst"] > result.chain["best"]
    assert (result.overlap >= 0).all()
    assert result.overlap[-1] >= 48 / 49
    assert result.table().column("sets") == ["best", "worst"]
    assert result.top_table().column("topics") == [12, 12]


def test_pixels() -> None:
    best, worst = np.array([[1, 0, 1, 0]], bool), np.array([[0, 1, 1, 0]], bool)
    assert pixel_map(best, worst) == ["+x#."]
    assert pixels(best, worst).tolist() == [[1, 2, 3, 0]]
    assert overlap(best, worst).tolist() == [0.5]


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="one set for each cardinality"):
        chain_stability(np.ones((2, 5), bool))
    with pytest.raises(UsageError, match="at least 2 sets"):
        top_stability(np.ones((1, 5), bool))
    found = search_subsets(made(), sides=("best",), search="swap(rounds=1)")
    with pytest.raises(UsageError, match="both sides"):
        subset_stability(found)
    with pytest.raises(UsageError, match="no subsets of 12"):
        subset_stability(search_subsets(made(), search="swap(rounds=1)"), cardinalities=(12,))
