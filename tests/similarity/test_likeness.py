"""One function for two runs, two score matrices and two lists; every result has a record with stable keys."""

from __future__ import annotations

import importlib
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.data import Run, ScoreMatrix
from assay.similarity import (
    compare_rankings,
    compare_runs,
    d_rank_test,
    p_sweep,
    preference_similarity,
    rbo,
    series,
    similarity,
    similarity_matrix,
)
from assay.similarity.shared_preferences import likeness_and_scores
from tests.conftest import real_data

A = Run.from_lists("a", {"1": list("abcd"), "2": list("xyz")})
B = Run.from_lists("b", {"1": list("abdc"), "2": list("zxu")})
C = Run.from_lists("c", {"1": list("dcba"), "2": list("uvw")})
X = ScoreMatrix.of([[0.1, 0.2, 0.3], [0.3, 0.4, 0.2], [0.5, 0.6, 0.9]], runs=["a", "b", "c"], measure="AP")
Y = ScoreMatrix.of([[0.1, 0.1, 0.1], [0.5, 0.4, 0.2], [0.3, 0.3, 0.1]], runs=["a", "b", "c"], measure="P@10")


def test_two_of_a_kind_are_compared() -> None:
    assert similarity(A, B, p=0.8, measures=["overlap"]) == compare_runs(A, B, p=0.8, measures=["overlap"])
    assert similarity(X, Y, resamples=20, seed=3) == compare_rankings(X, Y, resamples=20, seed=3)
    assert similarity(list("abd"), list("cbe"), p=0.5) == rbo(list("abd"), list("cbe"), 0.5)


@pytest.mark.parametrize(
    ("a", "b", "options", "said"),
    [
        (A, X, {}, "Run and ScoreMatrix cannot be compared"),
        (A, ["a"], {}, "cannot be compared"),
        (A, B, {"resamples": 5}, "resamples has no effect on two runs"),
        (X, Y, {"p": 0.5}, "p has no effect on two score matrices"),
        (["a"], ["b"], {"depth": 3}, "depth has no effect on two lists"),
    ],
)
def test_what_has_no_effect_or_no_sense_is_refused(a: Any, b: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        similarity(a, b, **options)


RESULTS: dict[str, tuple[Result, set[str]]] = {
    "two lists": (rbo(list("abd"), list("cbe")), {"rbo", "rbo_min", "rbo_max", "residual", "p"}),
    "two runs": (compare_runs(A, B), {"rbo", "rbo_min", "rbo_max", "residual", "p"}),
    "sweep": (p_sweep(A, B, [0.5, 0.9]), set()),
    "matrix": (similarity_matrix([A, B, C]), set()),
    "series": (series([A, B, C]), {"mean", "start_to_end"}),
    "preferences": (preference_similarity([A, B, C]), {"mean"}),
    "preferences and scores": (likeness_and_scores(preference_similarity([A, B, C]), X), {"pearson", "tau"}),
    "rankings": (compare_rankings(X, Y, resamples=9), {"tau", "tau_ap", "pearson", "spearman", "rbo"}),
    "d_rank": (d_rank_test(X, X, resamples=9), set()),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_a_table_and_a_record_with_plain_keys(name: str) -> None:
    result, scalars = RESULTS[name]
    assert isinstance(result, Result)
    record = result.record()
    assert scalars <= set(record)
    assert json.loads(json.dumps(record)) == record
    for table in result.tables():
        assert all(key.isascii() and " " not in key for key in table.keys)
        assert table.text()


def test_the_exported_names_are_there() -> None:
    package = importlib.import_module("assay.similarity")
    assert sorted(package.__all__) == package.__all__
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_the_spread_of_a_series_is_that_over_time_and_of_a_step_that_over_topics() -> None:
    """All topics agree in every step, so nothing varies over topics, and each topic has 1, 0, 1 over time."""
    days = [("mon", "abc"), ("tue", "abc"), ("wed", "xyz"), ("thu", "xyz")]
    result = series([Run.from_lists(day, {"1": list(docs), "2": list(docs)}) for day, docs in days])
    assert result.step_means().round(6).tolist() == [1, 0, 1]
    assert result.table().column("sd") == [pytest.approx(np.std([1, 0, 1], ddof=1))]
    assert "sd: over the 3 steps of a topic, mean of the topics" in result.table().notes[1]
    assert result.step_table().notes[0].endswith("sd: over the topics of a step")
    assert result.step_table().column("sd") == [pytest.approx(0.0, abs=1e-12)] * 3


def test_the_spread_of_three_runs_of_trec_covid_is_over_time(tmp_path: Path) -> None:
    """Over topics, as it was printed, it is .1406; per topic over time, as in Webber 2010, §7.4.1, .3153."""
    names = ("10x10.prf.unipd.it", "10x20.prf.unipd.it", "BBGhelani1")
    with tarfile.open(real_data("trec-covid-round1") / "runs.tar.xz") as archive:
        for name in names:
            archive.extract(f"runs/{name}", tmp_path, filter="data")
    result = series([assay.read_run(tmp_path / "runs" / name) for name in names])
    assert result.step_sds().mean() == pytest.approx(0.1406, abs=5e-5)
    [first, second] = result.steps
    assert result.table().column("sd") == [pytest.approx((np.abs(first - second) / np.sqrt(2)).mean())]
    assert result.table().column("sd") == [pytest.approx(0.3153, abs=5e-5)]
