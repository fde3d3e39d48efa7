"""What every function of the package gives back: results with records, and no warning on extreme scores."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import assay.plan
from assay.core.errors import AssayError
from assay.core.results import Result
from assay.data.scores import ScoreMatrix
from assay.plan import Experiment, audit, next_step, power, power_curve, sizes, stopping_bias, trial
from assay.plan.audits import one_sigma


def scores(size: float = 1.0, runs: int = 8) -> ScoreMatrix:
    return ScoreMatrix.of(np.random.default_rng(0).random((runs, 40)) * size, measure="score")


OF_SCORES: dict[str, Callable[[ScoreMatrix], Any]] = {
    "audit": audit,
    "one_sigma": lambda m: one_sigma(m, resamples=20),
    "sizes": sizes,
    "trial": lambda m: trial(m.select(runs=m.runs[:2]), delta=0.1),
    "next": lambda m: next_step(Experiment(0.2), m.select(runs=m.runs[:2])),
    "bias": lambda m: stopping_bias(m, pairs=2, target=20, minimum=10, samples=20),
}
OTHERS: dict[str, Callable[[], Any]] = {
    "power": lambda: power(delta=0.03, sigma=0.13),
    "curve": lambda: power_curve([50, 100], sigmas=[0.1]),
    "variance": lambda: sizes(variance=0.05),
    "best trial": lambda: trial(sigma=0.15, delta=0.033),
    "start": lambda: next_step(Experiment(0.05, 0.13)),
}


@pytest.mark.parametrize("name", [*OF_SCORES, *OTHERS])
def test_results_have_records_with_plain_keys(name: str) -> None:
    result = OF_SCORES[name](scores()) if name in OF_SCORES else OTHERS[name]()
    assert isinstance(result, Result)
    record = json.loads(json.dumps(result.record(), allow_nan=False))
    assert record["result"]
    for row in record["rows"]:
        assert all(key.isascii() for key in row)
    assert all(key.isascii() for key in record)


@pytest.mark.parametrize("name", OF_SCORES)
@pytest.mark.parametrize("size", [1e18, 1e60, 1e154, 1e300, 1.7e308, 1e-20, 1e-160, 1e-300, 5e-324])
def test_an_answer_or_an_error_and_no_warning(name: str, size: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            text = OF_SCORES[name](scores(size)).table().text()
        except AssayError as error:
            text = str(error)
    assert text
    assert "nan" not in text


def test_names_are_functions_though_modules_were_imported() -> None:
    for name in assay.plan.__all__:
        assert callable(getattr(assay.plan, name)), name


def test_what_has_no_effect_is_an_error() -> None:
    with pytest.raises(AssayError, match="topics: 30 has no effect"):
        trial(scores(runs=2), topics=30, delta=0.1)
    with pytest.raises(AssayError, match="best: a given variance"):
        sizes(variance=0.1, best=3)
    with pytest.raises(AssayError, match="give the variance, or scores"):
        sizes(scores(), variance=0.1)
    with pytest.raises(AssayError, match="no weights 'runs'"):
        audit(scores(), weights="runs")
    with pytest.raises(AssayError, match=r"AP and P@10"):
        sizes(*(ScoreMatrix.of([[0.1, 0.2], [0.3, 0.1]], measure=m) for m in ("AP", "P@10")))
