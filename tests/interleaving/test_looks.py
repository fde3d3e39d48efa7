"""Bounds of planned looks against printed values, and by simulation; the interval that always holds."""

from __future__ import annotations

import numpy as np
import pytest

from assay.interleaving.looks import always_p, always_radius, bounds_of, growth, tuning


@pytest.mark.parametrize(
    ("looks", "bounds", "larger"),
    [
        (2, [2.7718, 1.9793], 1.009),
        (3, [3.3948, 2.4067, 2.0153], 1.022),
        (4, [3.9199, 2.7740, 2.2983, 2.0426], 1.031),
        (5, [4.3826, 3.0997, 2.5533, 2.2539, 2.0635], 1.038),
    ],
)
def test_bounds_by_spending_are_those_printed(looks: int, bounds: list[float], larger: float) -> None:
    assert bounds_of(looks) == pytest.approx(bounds, abs=6e-5)
    assert growth(looks) == pytest.approx(larger, abs=6e-4)


def test_pocock() -> None:
    assert bounds_of(4, spending="pocock") == pytest.approx([2.3613] * 4, abs=6e-5)
    assert growth(4, spending="pocock") == pytest.approx(1.202, abs=6e-4)
    assert growth(1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("spending", ["obrien-fleming", "pocock"])
def test_the_bounds_keep_alpha(spending: str) -> None:
    steps = np.random.default_rng(1).normal(size=(40_000, 4))
    z = steps.cumsum(axis=1) / np.sqrt(np.arange(1, 5))
    crossed = (np.abs(z) >= bounds_of(4, spending=spending)).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 40_000))


def test_the_radius_that_always_holds() -> None:
    assert tuning(500) == pytest.approx(0.0158723, abs=5e-8)
    assert always_radius(100, 500) == pytest.approx(0.336389, abs=5e-7)
    fixed = 1.959964 / np.sqrt([100, 500])
    assert always_radius(100, 500) / fixed[0] == pytest.approx(1.72, abs=0.005)
    assert always_radius(500, 500) / fixed[1] == pytest.approx(1.55, abs=0.005)


def test_p_and_radius_agree() -> None:
    for seen in (30, 100, 700):
        edge = always_radius(seen, 500) * np.sqrt(seen)
        assert always_p(edge, seen, 500) == pytest.approx(0.05)
        assert always_p(edge * 1.01, seen, 500) < 0.05 < always_p(edge * 0.99, seen, 500)


@pytest.mark.parametrize(("world", "most"), [("normal", 0.05), ("one way or the other", 0.06), ("few change", 0.05)])
def test_who_looks_after_every_user_is_wrong_no_more_often_than_alpha(world: str, most: float) -> None:
    rng = np.random.default_rng(2)
    shape, seen = (400, 1000), np.arange(1, 1001)
    values = {
        "normal": rng.normal(size=shape),
        "one way or the other": rng.choice([-1.0, 1.0], shape),
        "few change": rng.choice([-1.0, 0.0, 1.0], shape, p=[0.02, 0.96, 0.02]),
    }[world]
    mean = values.cumsum(axis=1) / seen
    sd = np.sqrt(np.maximum((values**2).cumsum(axis=1) / seen - mean**2, 1e-12) * seen / np.maximum(1, seen - 1))
    radius = np.array([always_radius(int(n), 500) for n in seen])
    late = seen >= 30
    ever = (np.abs(mean) > radius * sd)[:, late].any(axis=1).mean()
    assert ever <= most + 2.6 * np.sqrt(0.05 * 0.95 / 400)
    looked_by_z = (np.abs(mean) > 1.96 * sd / np.sqrt(seen))[:, late].any(axis=1).mean()
    assert looked_by_z > 0.25
