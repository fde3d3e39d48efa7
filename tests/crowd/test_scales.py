"""Scales as values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.agreement.scales import MAGNITUDE, PREFERENCE, S2, S4, S100, Scale, default_level, scale_in, scale_of
from assay.core.errors import DataError, UsageError
from assay.crowd.magnitudes import comparable_magnitudes
from assay.data import Labels


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("S2", S2),
        ("s4", S4),
        (" S100 ", S100),
        ("magnitude", MAGNITUDE),
        ("preference", PREFERENCE),
        ("3", Scale.ordered(3)),
        ("no<maybe<yes", Scale.ordered(["no", "maybe", "yes"])),
        ("1-5", Scale.interval(1, 5)),
        ("0-1.5", Scale.interval(0, 1.5)),
    ],
)
def test_names(text: str, scale: Scale) -> None:
    assert scale_of(text) == scale


@pytest.mark.parametrize("text", ["five", "1", "5-1", "a<a", ""])
def test_what_is_no_scale(text: str) -> None:
    with pytest.raises(UsageError):
        scale_of(text)


@pytest.mark.parametrize(
    ("scale", "good", "bad"),
    [
        (S2, [0, 1], [0.5, 2, -1]),
        (S4, [0, 3], [1.5, 4]),
        (S100, [0, 33.3, 100], [-0.1, 100.1]),
        (MAGNITUDE, [0.001, 5000], [0, -1]),
        (PREFERENCE, [0, 0.5, 1], [0.3]),
    ],
)
def test_inside_and_outside(scale: Scale, good: list[float], bad: list[float]) -> None:
    assert not scale.outside(np.array(good, dtype=float)).any()
    assert scale.outside(np.array(bad, dtype=float)).all()


def test_the_first_bad_line_is_named() -> None:
    labels = Labels.from_rows([("1", "a", "w", 1.0), ("1", "b", "w", 4.0)], lines=np.array([2, 7]), name="l.csv")
    with pytest.raises(DataError, match=r"l.csv:7: label 4 is not on the scale S4 \(N < M < R < H\); 1 such labels"):
        S4.checked(labels)


@pytest.mark.parametrize(
    ("values", "name"), [([0, 1], "S2"), ([0, 3], "S4"), ([0, 2], "S3"), ([0, 55], "S100"), ([0.5, 1], "S100")]
)
def test_guess(values: list[float], name: str) -> None:
    assert scale_in(Labels.from_rows([("1", f"d{i}", "w", v) for i, v in enumerate(values)])).name == name


def test_no_guess() -> None:
    with pytest.raises(UsageError, match="labels from 1 to 5000 fit no usual scale"):
        scale_in(Labels.from_rows([("1", "a", "w", 1.0), ("1", "b", "w", 5000.0)]))
    with pytest.raises(DataError, match="there are no labels"):
        scale_in(Labels.from_rows([]))


def test_levels_of_measurement() -> None:
    assert [default_level(s) for s in (S2, S4, S100, MAGNITUDE)] == ["nominal", "ordinal", "interval", "ratio"]


@given(st.lists(st.floats(0.01, 1000), min_size=2, max_size=8), st.floats(0.1, 50))
@settings(max_examples=50, deadline=None)
def test_geometric_averaging_takes_each_workers_modulus_away(values: list[float], factor: float) -> None:
    rows = [("1", f"d{i}", "u", v) for i, v in enumerate(values)]
    rows += [("1", f"d{i}", "v", v * factor) for i, v in enumerate(values)]
    labels = Labels.from_rows(rows)
    found = comparable_magnitudes(labels).label
    n = len(values)
    np.testing.assert_allclose(found[:n], found[n:], rtol=1e-9)
    assert np.log(found).mean() == pytest.approx(np.log(labels.label).mean())
