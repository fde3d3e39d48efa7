"""Slow plain forms of the agreement measures, straight from their definitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations


def alpha(items: Sequence[int], values: Sequence[float], level: str) -> float:
    """Krippendorff's α by listing all pairs of labels."""
    units: dict[int, list[float]] = defaultdict(list)
    for item, value in zip(items, values, strict=True):
        units[item].append(value)
    kept = [v for v in units.values() if len(v) > 1]
    flat = [x for v in kept for x in v]
    delta = differences(flat)[level]
    observed = sum(
        delta(v[i], v[j]) / (len(v) - 1) for v in kept for i in range(len(v)) for j in range(len(v)) if i != j
    )
    expected = sum(delta(x, y) for i, x in enumerate(flat) for j, y in enumerate(flat) if i != j)
    return 1 - (len(flat) - 1) * observed / expected


def differences(flat: Sequence[float]) -> dict[str, Callable[[float, float], float]]:
    """δ² of the four levels; the ordinal one depends on the labels themselves."""

    def ordinal(c: float, k: float) -> float:
        low, high = min(c, k), max(c, k)
        between = sum(low <= x <= high for x in flat)
        return (between - (flat.count(c) + flat.count(k)) / 2) ** 2 if c != k else 0.0

    return {
        "nominal": lambda c, k: float(c != k),
        "ordinal": ordinal,
        "interval": lambda c, k: (c - k) ** 2,
        "ratio": lambda c, k: ((c - k) / (c + k)) ** 2 if c + k else 0.0,
    }


def pairwise_agreement(x: Sequence[float], y: Sequence[float]) -> float:
    """#{x_i < x_j and y_i < y_j} / C(n, 2)."""
    pairs = list(combinations(range(len(x)), 2))
    return sum((x[i] - x[j]) * (y[i] - y[j]) > 0 for i, j in pairs) / len(pairs)


def kappa(a: Sequence[float], b: Sequence[float], weights: str = "none") -> float:
    """Cohen's κ: 1 − mean distance of the two labels of an item / mean distance of all pairs of one's and other's."""
    distance: dict[str, Callable[[float, float], float]] = {
        "none": lambda c, k: float(c != k),
        "linear": lambda c, k: abs(c - k),
        "quadratic": lambda c, k: (c - k) ** 2,
    }
    d = distance[weights]
    seen = sum(d(x, y) for x, y in zip(a, b, strict=True)) / len(a)
    by_chance = sum(d(x, y) for x in a for y in b) / len(a) ** 2
    return 1 - seen / by_chance
