"""Slow, plain forms of what assay.topics does fast: loops over pairs, subsets and swaps."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats


def tau_b(sums: list[int], full: list[int]) -> float:
    """Kendall's τ-b by its definition over all pairs."""
    agree = against = here = there = 0
    for i, j in combinations(range(len(full)), 2):
        product = (sums[i] - sums[j]) * (full[i] - full[j])
        agree, against = agree + (product > 0), against + (product < 0)
        here, there = here + (sums[i] != sums[j]), there + (full[i] != full[j])
    return (agree - against) / np.sqrt(here * there) if here and there else 0.0


def tau_ap(sums: list[int], full: list[int]) -> float:
    """Mean of τ_AP over all ways of breaking the ties of both rankings."""
    m = len(full)
    values = []
    for order in broken(sums):
        for truth in broken(full):
            place = {run: i for i, run in enumerate(truth)}
            hits = [sum(place[a] < place[order[i]] for a in order[:i]) / i for i in range(1, m)]
            values.append(2 / (m - 1) * sum(hits) - 1)
    return float(np.mean(values))


def rbo(sums: list[int], full: list[int], p: float) -> float:
    """Mean of extrapolated RBO over all ways of breaking the ties of both rankings."""
    m = len(full)
    values = []
    for order in broken(sums):
        for truth in broken(full):
            overlap = [len(set(order[:d]) & set(truth[:d])) / d for d in range(1, m + 1)]
            values.append((1 - p) / p * sum(p ** (d + 1) * a for d, a in enumerate(overlap)) + p**m)
    return float(np.mean(values))


def broken(scores: list[int]) -> list[list[int]]:
    """Every order of the items, best first, that the scores allow."""
    orders: list[list[int]] = [[]]
    for level in sorted(set(scores), reverse=True):
        tied = [i for i, s in enumerate(scores) if s == level]
        orders = [head + list(tail) for head in orders for tail in permutations(tied)]
    return orders


def best_subset(scores: Floats, c: int, value: object, *, sign: int = 1) -> tuple[float, list[tuple[int, ...]]]:
    """The best value over all subsets of c columns (of runs × topics) and every subset that has it."""
    assert callable(value)
    found = [
        (float(value(scores[:, list(s)].sum(axis=1), scores.sum(axis=1))), s)
        for s in combinations(range(scores.shape[1]), c)
    ]
    top = max(sign * v for v, _ in found)
    return sign * top, [s for v, s in found if abs(sign * v - top) < 1e-12]


def pearson_exactly(scores: npt.NDArray[np.int64], subset: tuple[int, ...]) -> tuple[int, Fraction]:
    """Sign and square of Pearson's correlation as fractions, so that two subsets can be compared without rounding."""
    m = scores.shape[0]
    x = [int(v) * m for v in scores[:, list(subset)].sum(axis=1)]
    y = [int(v) * m for v in scores.sum(axis=1)]
    x, y = [v - sum(x) // m for v in x], [v - sum(y) // m for v in y]
    xy, xx, yy = (sum(a * b for a, b in zip(u, v, strict=True)) for u, v in ((x, y), (x, x), (y, y)))
    return (xy > 0) - (xy < 0), Fraction(xy * xy, xx * yy) if xx else Fraction(0)


def dominated_ranks(costs: Floats) -> list[int]:
    """Non-domination ranks by peeling fronts off."""
    left, ranks, rank = set(range(len(costs))), [0] * len(costs), 0
    while left:
        front = {
            i for i in left
            if not any((costs[j] <= costs[i]).all() and (costs[j] < costs[i]).any() for j in left)
        }  # fmt: skip
        for i in front:
            ranks[i] = rank
        left, rank = left - front, rank + 1
    return ranks
