"""Learning from earlier collections: only earlier ones, the nearest ones, and better than a single weak method."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.stats import kendalltau, ks_2samp

from assay.core.errors import DataError, MissingExtra, UsageError
from assay.data.scores import ScoreMatrix
from assay.nojudgments.learn import Collection, distance, kolmogorov_smirnov, learned
from assay.nojudgments.regressors import MODELS


def made(name: str, year: int, *, seed: int, runs: int = 12, topics: int = 10, truth: bool = True) -> Collection:
    """AP and three methods that each see it through noise, one of them backwards."""
    rng = np.random.default_rng(seed)
    ap = np.clip(0.3 + 0.1 * rng.normal(size=(runs, 1)) + 0.15 * rng.normal(size=(runs, topics)), 0, 1)
    seen = [w * ap + 0.05 * rng.normal(size=ap.shape) for w in (1.0, 0.7, -0.5)]
    methods = tuple(ScoreMatrix.of(v, measure=f"m{i}") for i, v in enumerate(seen))
    return Collection(name, year, methods, ScoreMatrix.of(ap, measure="AP") if truth else None)


@pytest.mark.parametrize("model", MODELS.names())
def test_models_predict_unseen_collections(model: str) -> None:
    earlier = [made("old", 2000, seed=1), made("older", 1999, seed=2)]
    target = made("new", 2001, seed=3)
    found = learned(target, earlier, model)
    assert found.shape == (12, 10)
    assert "old (2000), older (1999)" in found.signature
    assert target.truth is not None
    assert kendalltau(found.averages(), target.truth.averages())[0] > 0.7
    # The third method alone points backwards.
    assert kendalltau(target.predictions[2].averages(), target.truth.averages())[0] < 0


def test_the_truth_of_the_target_is_not_used() -> None:
    earlier = [made("old", 2000, seed=1)]
    with_truth, without = made("new", 2001, seed=3), made("new", 2001, seed=3, truth=False)
    np.testing.assert_array_equal(learned(with_truth, earlier).values, learned(without, earlier).values)


def test_only_earlier_collections_may_teach() -> None:
    target = made("new", 2001, seed=3)
    for year in (2001, 2002):
        with pytest.raises(DataError, match="not earlier"):
            learned(target, [made("other", year, seed=1)])
    with pytest.raises(DataError, match="no collection earlier than 2001"):
        learned(target, [])
    with pytest.raises(DataError, match="no true scores"):
        learned(target, [made("old", 2000, seed=1, truth=False)])


def test_nearest_collections_by_kolmogorov_smirnov() -> None:
    """A collection whose predictions are distributed like the target's is nearer than one of squared values."""
    target, near, far = (made(n, y, seed=s) for n, y, s in (("new", 2005, 3), ("near", 2001, 1), ("far", 2002, 2)))
    squared = tuple(ScoreMatrix.of((p.values - p.values.min()) ** 4, measure=p.measure) for p in far.predictions)
    far = Collection("far", 2002, squared, far.truth)
    assert distance(near, target) < distance(far, target)
    assert "trained on near (2001)|" in learned(target, [far, near], "linear", nearest=1).signature
    with pytest.raises(UsageError, match="nearest"):
        learned(target, [near], nearest=0)


def test_distance_is_scipys() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.integers(0, 9, 30).astype(float), rng.integers(0, 12, 17).astype(float)
        assert kolmogorov_smirnov(x, y) == pytest.approx(ks_2samp(x, y).statistic)


def test_forest_is_seeded() -> None:
    target, earlier = made("new", 2001, seed=3), [made("old", 2000, seed=1)]
    one, again, other = (learned(target, earlier, "random-forest(trees=10)", seed=s).values for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_methods_must_match() -> None:
    old = made("old", 2000, seed=1)
    fewer = Collection("old", 2000, old.predictions[:2], old.truth)
    with pytest.raises(UsageError, match="other methods"):
        learned(made("new", 2001, seed=3), [fewer])
    with pytest.raises(DataError, match="no predictions"):
        Collection("x", 1, ()).features()


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(MissingExtra, match=r"assay-ir\[learn\]"):
        learned(made("new", 2001, seed=3), [made("old", 2000, seed=1)])
