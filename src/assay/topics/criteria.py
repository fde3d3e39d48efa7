"""How alike do a subset of the topics and all topics rank the runs? One number per subset, for many subsets at once.

A criterion takes the runs' sums over each subset (subsets × runs, whole numbers where the scores are decimals, so
that ties are ties) and the sums over all topics (runs). Searches and series know criteria only through CRITERIA.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.registry import Registry

Numbers = npt.NDArray[Any]
CriterionFunction = Callable[..., Floats]
CRITERIA: Registry[CriterionFunction] = Registry("criterion")


@CRITERIA.register("pearson", title="Pearson's ρ", higher=True, quick=True)
def pearson(sums: Numbers, full: Numbers) -> Floats:
    """Linear correlation of the subset's means with the means over all topics.

    0 where every run has the same sum on the subset.

    >>> pearson(np.array([[1, 2, 3], [3, 2, 1], [5, 5, 5]]), np.array([10, 20, 30])).round(6).tolist()
    [1.0, -1.0, 0.0]
    """
    centred = sums - sums.mean(axis=1, keepdims=True)
    target = full - full.mean()
    spread = np.sqrt(np.einsum("ij,ij->i", centred, centred) * (target @ target))
    return _ratio(centred @ target, spread)


@CRITERIA.register("tau", title="Kendall's τ-b", higher=True, quick=True)
def tau(sums: Numbers, full: Numbers) -> Floats:
    """Kendall's τ-b: (concordant - discordant) / √(pairs untied here · pairs untied on all topics).

    0 where every run has the same sum on the subset.

    >>> tau(np.array([[1, 2, 3], [3, 2, 1], [5, 5, 6]]), np.array([10, 20, 30])).round(6).tolist()
    [1.0, -1.0, 0.816497]
    """
    agree, against = pair_counts(sums, full)
    untied = agree + against + _apart_here(sums, full)
    return _ratio(agree - against, np.sqrt(untied * _apart(full)))


@CRITERIA.register("tau-ap", title="τ_AP", higher=True, quick=False)
def tau_ap(sums: Numbers, full: Numbers) -> Floats:
    """Yilmaz, Aslam and Robertson's τ_AP of the subset's ranking: mistakes near its top weigh more.

    τ_AP = 2/(m-1) · Σ_{i≥2} C(i)/(i-1) - 1, where C(i) counts the runs above rank i of the subset's ranking that are
    better on all topics too; it is not symmetric. Runs that tie on the subset count as in either order equally often;
    a pair that ties on all topics counts half. Without ties this is the definition of 2008.

    >>> tau_ap(np.array([[1, 2, 3], [3, 2, 1], [2, 1, 3]]), np.array([10, 20, 30])).round(6).tolist()
    [1.0, -1.0, 0.5]
    """
    truth = ((np.sign(full[:, None] - full[None, :]) + 1) / 2).astype(np.float32)  # halves: exact, and fast
    total = [_hits_above(sums[a : a + 1024], truth) for a in range(0, len(sums), 1024)]
    return np.asarray(2 * np.concatenate([np.zeros(0), *total]) / (sums.shape[1] - 1) - 1)


@CRITERIA.register("spearman", title="Spearman's ρ", higher=True, quick=False)
def spearman(sums: Numbers, full: Numbers) -> Floats:
    """Correlation of the ranks, ties at their mean rank.

    >>> spearman(np.array([[1, 2, 3], [2, 1, 3]]), np.array([10, 20, 30])).round(6).tolist()
    [1.0, 0.5]
    """
    return pearson(ranks(sums), ranks(full[None, :])[0])


@CRITERIA.register("rbo", title="RBO", higher=True, quick=False)
def rbo(sums: Numbers, full: Numbers, *, p: float | None = None) -> Floats:
    """Rank-biased overlap of the two rankings of runs, extrapolated; by default the top tenth has 75 % of the weight.

    RBO = (1-p)/p · Σ_d p^d · A_d + p^m, A_d the overlap of the top d over d; tied runs are in the top d to the part
    that all orders of them would put them there (Webber, Moffat and Zobel 2010; variant a of Corsi and Urbano 2024).

    >>> rbo(np.array([[1, 2, 3], [2, 1, 3]]), np.array([10, 20, 30]), p=0.5).round(6).tolist()
    [1.0, 0.875]
    """
    from assay.rankings.rank_biased import persistence_for

    m = sums.shape[1]
    p = persistence_for(max(1, round(0.1 * m)), 0.75) if p is None else p
    depth = np.arange(1, m + 1)
    weight = (1 - p) / p * p**depth / depth
    sure = _share_in_top(full, depth) * weight
    worth = np.cumsum(np.cumsum(sure[:, ::-1], axis=1)[:, ::-1], axis=1)  # of a run at ranks 1 … d, summed
    worth = np.column_stack([np.zeros(m), worth])
    below, upto = standing(sums)
    runs = np.arange(m)
    found = (worth[runs, m - below] - worth[runs, m - upto]) / (upto - below)  # the mean over the ranks of its ties
    return np.asarray(found.sum(axis=1) + p**m)


@CRITERIA.register("error-rate", title="error rate", higher=False, quick=True)
def error_rate(sums: Numbers, full: Numbers) -> Floats:
    """Share of the pairs of runs, untied on all topics, that the subset orders otherwise; a tie is half an error.

    Buckley and Voorhees 2000. 0 is perfect, so here the best subset has the lowest value.

    >>> error_rate(np.array([[1, 2, 3], [3, 2, 1], [2, 1, 3]]), np.array([10, 20, 30])).round(6).tolist()
    [0.0, 1.0, 0.333333]
    """
    agree, against = pair_counts(sums, full)
    count = _apart(full)
    return np.asarray((against + (count - agree - against) / 2) / count)


def pair_counts(sums: Numbers, full: Numbers, size: int = 4096) -> tuple[Floats, Floats]:
    """Of the pairs of runs that `full` tells apart: how many each row orders likewise, and how many the other way.

    >>> [c.tolist() for c in pair_counts(np.array([[1, 3, 2], [1, 1, 1]]), np.array([1, 2, 3]))]
    [[2.0, 0.0], [1.0, 0.0]]
    """
    place = np.argsort(np.argsort(-full, kind="stable"), kind="stable")
    agree, against = np.empty(len(sums)), np.empty(len(sums))
    for a in range(0, len(sums), size):
        agree[a : a + size], against[a : a + size] = _counts(sums[a : a + size], place)
    for i, j in tied_pairs(full):  # few: taken back one by one
        agree -= sums[:, i] > sums[:, j]
        against -= sums[:, i] < sums[:, j]
    return agree, against


def _counts(rows: Numbers, place: Numbers) -> tuple[Floats, Floats]:
    """Pairs of columns of `rows` (subsets × runs) that keep and that break the order of their places, 0 for the best.

    One comparison per pair, of small numbers: the runs' places in the order of their sums. Tied runs stand there best
    first, so that they keep nothing.
    """
    m = rows.shape[1]
    ordered, sums = _in_order(rows, place)
    agree = _falls(ordered).astype(np.float64)
    return agree, m * (m - 1) // 2 - agree - _level(sums)


def _level(ordered: Numbers) -> Numbers:
    """For each row of ascending numbers: pairs of equal ones.

    >>> _level(np.array([[1, 2, 2, 2], [1, 2, 3, 3], [1, 2, 3, 4]])).tolist()
    [3, 1, 0]
    """
    tied, rows = np.zeros(len(ordered), np.intp), np.arange(len(ordered))
    for k in range(1, ordered.shape[1]):
        level = np.flatnonzero(ordered[:, k:] == ordered[:, :-k]) // (ordered.shape[1] - k)
        if not len(level):
            break
        count = np.bincount(level, minlength=len(rows))
        tied[rows] += count
        rows, ordered = rows[count > 0], ordered[count > 0]  # further apart only these can have equal ones
    return tied


def _in_order(rows: Numbers, place: Numbers) -> tuple[Numbers, Numbers]:
    """Of each row, lowest sum first: the runs' places, as columns of small numbers, and the sums.

    Both come from one sort, of the sums with the place in their last bits.
    """
    m = rows.shape[1]
    bits, most = (m - 1).bit_length(), np.abs(rows).max(initial=0)
    if not np.issubdtype(rows.dtype, np.integer) or most >= 2 ** (62 - bits):
        best_first = np.argsort(place)
        rows = np.take(rows, best_first, axis=1)
        order = np.argsort(rows, axis=1, kind="stable")
        sums = np.take_along_axis(rows, order, axis=1)
    else:
        wide = np.int32 if most < 2 ** (30 - bits) else np.int64
        keys: Numbers = rows.astype(wide) * (1 << bits) + place.astype(wide)
        keys.sort(axis=1)
        order, sums = keys & ((1 << bits) - 1), keys >> bits
    return np.ascontiguousarray(order.astype(np.uint8 if m <= 256 else np.uint16).T), sums


def _falls(columns: Numbers) -> Numbers:
    """For each column: pairs (upper, lower) of its entries of which the upper is greater."""
    m = len(columns)
    small, room = (np.uint8, 255) if m <= 256 else (np.uint16, m)  # rows of flags that a sum of small numbers holds
    found = np.zeros(columns.shape[1], np.int32)
    flags, used = np.empty((room, columns.shape[1]), bool), 0
    for k in range(1, m):
        if used + m - k > room:
            found += np.add.reduce(flags[:used].view(np.uint8), axis=0, dtype=small)
            used = 0
        np.greater(columns[:-k], columns[k:], out=flags[used : used + m - k])
        used += m - k
    return np.asarray(found + np.add.reduce(flags[:used].view(np.uint8), axis=0, dtype=small))


def ranks(sums: Numbers) -> Floats:
    """Rank of each run in each row, 1 for the lowest sum, ties at their mean.

    >>> ranks(np.array([[5, 1, 5, 7]])).tolist()
    [[2.5, 1.0, 2.5, 4.0]]
    """
    below, upto = standing(sums)
    return np.asarray((below + upto + 1) / 2)


def standing(sums: Numbers) -> tuple[Numbers, Numbers]:
    """Of each run in each row: how many runs are below it, and how many below or level with it, itself too.

    >>> [counts.tolist() for counts in standing(np.array([[5, 1, 5, 7]]))]
    [[[1, 0, 1, 3]], [[3, 1, 3, 4]]]
    """
    m = sums.shape[1]
    order = np.argsort(sums, axis=1)
    ordered, place = np.take_along_axis(sums, order, axis=1), np.arange(m)
    first = np.ones(sums.shape, bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    last = np.ones(sums.shape, bool)
    last[:, :-1] = first[:, 1:]
    below, upto = np.empty((2, *sums.shape), np.intp)
    np.put_along_axis(below, order, np.maximum.accumulate(np.where(first, place, 0), axis=1), axis=1)
    ends = np.minimum.accumulate(np.where(last, place + 1, m)[:, ::-1], axis=1)[:, ::-1]
    np.put_along_axis(upto, order, ends, axis=1)
    return below, upto


def _hits_above(sums: Numbers, truth: npt.NDArray[np.float32]) -> Floats:
    """Of each row: Σ_i C(i)/(i-1), ties in any order; `truth` says to what part a run is above another."""
    below, upto = standing(sums)
    high, ties = sums.shape[1] - upto, upto - below - 1
    total = np.zeros(len(sums))
    for i in range(sums.shape[1]):
        sure = (sums > sums[:, i : i + 1]).astype(np.float32) @ truth[:, i]
        total += np.where(ties[:, i] == 0, sure / np.maximum(high[:, i], 1), 0.0)
        some = np.flatnonzero(ties[:, i])
        level = (sums[some] == sums[some, i : i + 1]).astype(np.float32) @ truth[:, i] - 0.5
        total[some] += _expected_hits(sure[some].astype(np.float64), level, high[some, i], ties[some, i])
    return total


def _expected_hits(sure: Floats, level: Floats, high: Numbers, ties: Numbers) -> Floats:
    """E[C(i)/(i-1)] of one run when its ties come in any order.

    `sure` hits among `high` runs above it, `level` hits among its `ties`. With t of its ties above it, uniform on
    0 … ties, the share is (sure + t·level/ties) / (high + t); the first rank has no share.
    """
    total = np.zeros(len(sure))
    for t in range(int(ties.max(initial=0)) + 1):
        live = (t <= ties) & (high + t > 0)
        part = (sure + t * level / np.maximum(ties, 1)) / np.maximum(high + t, 1)
        total += np.where(live, part / (ties + 1), 0.0)
    return total


def _share_in_top(full: Numbers, depth: Numbers) -> Floats:
    """For each run and depth d: to what part the run is among the top d, ties in any order."""
    below, upto = standing(full[None, :])
    high, level = len(full) - upto[0], (upto - below)[0]
    return np.asarray(np.clip((depth - high[:, None]) / level[:, None], 0.0, 1.0))


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.asarray(np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 0))


def tied_pairs(full: Numbers) -> list[tuple[int, int]]:
    """Pairs of runs that tie on all topics, each in the order of a stable descending sort."""
    order = np.argsort(-full, kind="stable")
    level = full[order]
    pairs: list[tuple[int, int]] = []
    for k in range(1, len(full)):
        upper = np.flatnonzero(level[:-k] == level[k:])
        if not len(upper):
            break
        pairs += [(int(order[u]), int(order[u + k])) for u in upper]
    return pairs


def _apart(full: Numbers) -> float:
    """Number of pairs of runs that all topics tell apart."""
    return len(full) * (len(full) - 1) / 2 - len(tied_pairs(full))


def _apart_here(sums: Numbers, full: Numbers) -> Floats:
    """Of the pairs that tie on all topics: how many each row tells apart."""
    apart = np.zeros(len(sums))
    for i, j in tied_pairs(full):
        apart += sums[:, i] != sums[:, j]
    return apart
