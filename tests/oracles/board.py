"""Many collections by plain loops: aggregates, one resample at a time, all pairs, and subsets by trying all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy import stats

from assay.core.arrays import Floats


def aggregates(scores: Sequence[Floats]) -> dict[str, list[float]]:
    """Mean, Borda, mean rank and win probability of every system; scores: systems × topics of each collection."""
    systems = len(scores[0])
    found: dict[str, list[float]] = {"mean": [], "borda": [], "mean-rank": [], "wins": []}
    for s in range(systems):
        means, ranks, wins = [], [], []
        for part in scores:
            average = [float(np.mean(row)) for row in part]
            means.append(average[s])
            ahead = sum(other > average[s] + 1e-12 for other in average)
            equal = sum(abs(other - average[s]) <= 1e-12 for other in average) - 1
            ranks.append(1 + ahead + equal / 2)
            shares = []
            for t in range(part.shape[1]):
                beaten = 0.0
                for other in range(systems):
                    if other != s:
                        beaten += 1.0 if part[s, t] > part[other, t] else 0.5 if part[s, t] == part[other, t] else 0.0
                shares.append(beaten / (systems - 1))
            wins.append(float(np.mean(shares)))
        found["mean"].append(float(np.mean(means)))
        found["borda"].append(sum(systems - rank for rank in ranks))
        found["mean-rank"].append(float(np.mean(ranks)))
        found["wins"].append(float(np.mean(wins)))
    return found


def two_stage_means(scores: Sequence[Floats], resamples: int, seed: int) -> Floats:
    """resamples × systems: means over collections that are drawn, and over topics that are drawn in each of them."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(resamples):
        of_collections = []
        for c in rng.integers(len(scores), size=len(scores)):
            part = scores[c]
            topics = rng.integers(part.shape[1], size=part.shape[1])
            of_collections.append(part[:, topics].mean(axis=1))
        rows.append(np.mean(of_collections, axis=0))
    return np.array(rows)


def pairs_apart(values: Floats, draws: Floats, level: float) -> list[tuple[int, int]]:
    """(i, j) where i is significantly better than j, one critical value for all pairs."""
    systems = len(values)
    largest = []
    errors = {}
    for i, j in combinations(range(systems), 2):
        errors[i, j] = float(np.std(draws[:, i] - draws[:, j], ddof=1))
    centre = draws.mean(axis=0)
    for draw in draws:
        seen = [
            abs((draw[i] - draw[j]) - (centre[i] - centre[j])) / error for (i, j), error in errors.items() if error > 0
        ]
        largest.append(max(seen))
    critical = float(np.quantile(largest, level, method="higher"))
    apart = []
    for (i, j), error in errors.items():
        if values[i] - values[j] > critical * error:
            apart.append((i, j))
        if values[j] - values[i] > critical * error:
            apart.append((j, i))
    return sorted(apart)


def best_subset(cells: Floats, size: int) -> float:
    """The greatest τ-b of the order by the mean of `size` collections with that by all; rows are collections."""
    everything = cells.mean(axis=0)
    values = []
    for chosen in combinations(range(len(cells)), size):
        values.append(float(stats.kendalltau(cells[list(chosen)].mean(axis=0), everything).statistic))
    return max(values)
