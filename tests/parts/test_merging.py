"""Sums without rounding: the same bits in any order and any number of parts, and right to the last bit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import DataError
from assay.parts import ExactSum

FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(st.lists(FINITE, max_size=60), st.integers(1, 9), st.randoms())
def test_parts_in_any_order_have_the_bits_of_the_whole(values: list[float], parts: int, random: object) -> None:
    whole = ExactSum.of(values)
    pieces = [ExactSum.of(values[i::parts]) for i in range(parts)]
    random.shuffle(pieces)  # type: ignore[attr-defined]
    merged = sum(pieces, ExactSum())
    assert merged == whole
    assert merged.total == math.fsum(values)


@given(st.lists(FINITE, min_size=1, max_size=40))
def test_the_mean_is_the_exact_one_rounded_once(values: list[float]) -> None:
    exact = sum(map(Fraction, values), Fraction()) / len(values)
    assert ExactSum.of(values).mean == float(exact)


@pytest.mark.parametrize("values", [[5e-324] * 3, [1e308, -1e308, 1.0], [0.0, -0.0], [2.2e-308, -5e-324, 1.0], []])
def test_edges(values: list[float]) -> None:
    assert ExactSum.of(values).total == math.fsum(values)


def test_many_values_at_once() -> None:
    values = np.random.default_rng(0).random(300_000)
    assert ExactSum.of(values).total == math.fsum(values)


def test_no_sum_of_what_is_no_number() -> None:
    with pytest.raises(DataError, match="finite"):
        ExactSum.of([1.0, float("nan")])
