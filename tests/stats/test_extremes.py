"""Scores that are huge, tiny or of both kinds: an answer or an error, never a warning (warnings are errors here)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from assay.core.errors import AssayError
from assay.data.scores import ScoreMatrix
from assay.stats import all_pairs, compare, compare_sets, factorial, friedman, runs_normality, two_way
from assay.stats.effect import INTERVALS
from assay.stats.paired import TESTS
from assay.stats.shape import density
from assay.stats.tukey import SIMULTANEOUS
from assay.stats.two_sample import TWO_SAMPLE_TESTS

SIZES = [1e18, 1e40, 1e100, 1e154, 1e300, 1.7e308, 1e-10, 1e-20, 1e-160, 1e-300, 5e-324]

CASES = [(size, False) for size in SIZES] + [(size, True) for size in SIZES if size > 1]


def matrix(size: float, *, mixed: bool = False) -> ScoreMatrix:
    values = np.random.default_rng(0).random((4, 12)) * size
    if mixed:
        values[:, ::2] /= size  # huge and ordinary scores side by side
    return ScoreMatrix.of(values, measure="score")


def on_two_sets(m: ScoreMatrix, test: str = "welch", interval: str = "t") -> Any:
    return compare_sets(m, m, test, interval=interval, resamples=99)


Call = Callable[[ScoreMatrix], Any]
CALLS: dict[str, Call] = {
    **{f"runs-{t}": partial(compare, test=t, resamples=99) for t in [*TESTS.names(), *SIMULTANEOUS.names()]},
    **{f"interval-{i}": partial(compare, interval=i, resamples=99) for i in INTERVALS.names()},
    **{f"sets-{t}": partial(on_two_sets, test=t) for t in TWO_SAMPLE_TESTS.names()},
    **{f"sets-{i}": partial(on_two_sets, interval=i) for i in ("basic", "percentile")},
    "pairs": lambda m: all_pairs(m, interval="t"),
    "wilcoxon": lambda m: all_pairs(m, "wilcoxon(exact=true)"),
    "anova": two_way,
    "friedman": friedman,
    "normality": runs_normality,
    "density": lambda m: density(m.values, low=0, high=float(m.values.max())),
    "factorial": lambda m: factorial(m, {"a": ["1", "1", "2", "2"], "b": ["1", "2", "1", "2"]}),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("size", "mixed"), CASES)
def test_an_answer_or_an_error_and_no_warning(call: str, size: float, mixed: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            text = CALLS[call](matrix(size, mixed=mixed)).table().text()
        except AssayError as error:
            text = str(error)
    assert text
    assert "nan" not in text


def test_huge_scores_are_refused_with_a_remedy() -> None:
    with pytest.raises(AssayError, match=r"a score of 9.*e\+299 is too large to compute with; divide"):
        compare(matrix(1e300))


def test_scores_of_1e18_are_compared_as_those_of_1() -> None:
    for test in ("t", "randomisation", "tukey"):
        small, large = (compare(matrix(size), test=test, resamples=500).table() for size in (1.0, 1e18))
        assert small.column("p_corrected")[1:] == pytest.approx(large.column("p_corrected")[1:])
