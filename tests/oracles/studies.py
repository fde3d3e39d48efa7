"""Slow plain loops for the studies of measures."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import stats

from assay.core.arrays import Floats


def tau_between_halves(a: Floats, b: Floats, first: list[int], second: list[int]) -> float:
    """τ-b of measure a on one half with measure b on the other, and back, averaged."""
    means = [x[:, half].mean(axis=1).round(10) for x, half in ((a, first), (b, second), (b, first), (a, second))]
    there, back = stats.kendalltau(means[0], means[1]).statistic, stats.kendalltau(means[2], means[3]).statistic
    return float((there + back) / 2)


def swaps(
    values: Floats, one: list[int], two: list[int], *, ties: bool, width: float, bins: int
) -> tuple[list[int], list[int]]:
    """Pairs and swaps by bin of the difference on the first set."""
    count, swapped = [0] * bins, [0] * bins
    for i, j in combinations(range(len(values)), 2):
        d = values[i, one].mean() - values[j, one].mean()
        d2 = values[i, two].mean() - values[j, two].mean()
        b = min(bins - 1, int(abs(d) / width + 1e-9))
        count[b] += 1
        swapped[b] += bool(d * d2 <= 0 if ties else d * d2 < 0)
    return count, swapped


def concordance(a: Floats, b: Floats, gold: list[Floats]) -> tuple[int, int, int]:
    """Disagreements, and those in which each measure agrees with all gold measures."""
    n = first = second = 0
    for i, j in combinations(range(len(a)), 2):
        for t in range(a.shape[1]):
            d1, d2 = a[i, t] - a[j, t], b[i, t] - b[j, t]
            if d1 * d2 < 0:
                n += 1
                first += all(d1 * (g[i, t] - g[j, t]) >= 0 for g in gold)
                second += all(d2 * (g[i, t] - g[j, t]) >= 0 for g in gold)
    return n, first, second


def difference_needed(differences: Floats, counts: Floats, alpha: float) -> float:
    """Sakai's estimate, replicate by replicate."""
    largest = 0.0
    for z in differences:
        w = z - z.mean()
        found = []
        for c in counts:
            sample = np.repeat(w, c.astype(int))
            spread = sample.std(ddof=1)
            found.append(
                (abs(sample.mean()) / (spread / np.sqrt(len(z))) if spread > 1e-9 else 0.0, abs(sample.mean()))
            )
        found.sort(key=lambda x: -x[0])
        largest = max(largest, found[int(np.ceil(alpha * len(counts))) - 1][1])
    return largest
