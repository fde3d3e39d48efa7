"""Many collections by plain loops: aggregates, p of all pairs in three ways, and subsets by trying all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

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


def paired_p(cells: Floats) -> dict[tuple[int, int], float]:
    """p of the paired t test of each pair of systems over collections, Holm over all; cells: collections × systems."""
    pairs = list(combinations(range(cells.shape[1]), 2))
    return holm({(i, j): float(stats.ttest_rel(cells[:, i], cells[:, j]).pvalue) for i, j in pairs})


def stratified_p(scores: Sequence[Floats]) -> dict[tuple[int, int], float]:
    """p of the mean over collections of the differences of each pair, topics as units, Holm over all pairs."""
    found = {}
    for i, j in combinations(range(len(scores[0])), 2):
        means, variances, freedoms = [], [], []
        for part in scores:
            differences = part[i] - part[j]
            means.append(float(np.mean(differences)))
            variances.append(float(np.var(differences, ddof=1)) / len(differences) / len(scores) ** 2)
            freedoms.append(len(differences) - 1)
        df = sum(variances) ** 2 / sum(v**2 / f for v, f in zip(variances, freedoms, strict=True))
        found[i, j] = float(2 * stats.t.sf(abs(np.mean(means)) / np.sqrt(sum(variances)), df))
    return holm(found)


def flipped_p(cells: Floats) -> dict[tuple[int, int], float]:
    """Step-down max-t over all pairs by every flip of collections."""
    c, systems = cells.shape
    pairs = list(combinations(range(systems), 2))

    def t(d: Floats) -> float:
        spread = float(np.std(d, ddof=1))
        return abs(float(np.mean(d))) / spread * np.sqrt(c) if spread > 1e-12 else np.inf

    observed = {(i, j): t(cells[:, i] - cells[:, j]) for i, j in pairs}
    flips = [[t((cells[:, i] - cells[:, j]) * np.array(sign)) for i, j in pairs] for sign in product([1, -1], repeat=c)]
    order = sorted(range(len(pairs)), key=lambda at: -observed[pairs[at]])
    found, least = {}, 0.0
    for place, at in enumerate(order):
        rest = order[place:]
        hits = sum(max(flip[k] for k in rest) >= observed[pairs[at]] - 1e-9 for flip in flips)
        least = max(least, hits / len(flips))
        found[pairs[at]] = least
    return found


def holm(p: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    """Holm's correction of one family."""
    least, after = 0.0, {}
    for place, pair in enumerate(sorted(p, key=lambda pair: p[pair])):
        least = max(least, min(1.0, p[pair] * (len(p) - place)))
        after[pair] = least
    return after


def best_subset(cells: Floats, size: int) -> float:
    """The greatest τ-b of the order by the mean of `size` collections with that by all; rows are collections."""
    everything = cells.mean(axis=0)
    values = []
    for chosen in combinations(range(len(cells)), size):
        values.append(float(stats.kendalltau(cells[list(chosen)].mean(axis=0), everything).statistic))
    return max(values)
