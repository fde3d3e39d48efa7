"""Exposure of groups, one doc after another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from scipy.spatial.distance import jensenshannon

Shares = Mapping[str, Mapping[str, float]]
"""{doc: {group: share}}."""


def attention(rank: int, kind: str, p: float) -> float:
    return 1 / math.log2(max(rank, 2)) if kind == "log" else p ** (rank - 1)


def awrf(ranking: Sequence[str], relevant: Sequence[str], groups: Shares, names: Sequence[str], kind: str) -> float:
    """1 − JSD, the distance that of scipy, which is its root."""
    exposure = dict.fromkeys(names, 0.0)
    for rank, doc in enumerate(ranking, 1):
        for group, share in groups[doc].items():
            exposure[group] += attention(rank, kind, 0.5) * share
    wanted = dict.fromkeys(names, 0.0)
    for doc in relevant:
        for group, share in groups[doc].items():
            wanted[group] += share
    distance = jensenshannon([exposure[name] for name in names], [wanted[name] for name in names])
    return float(1 - distance**2)


def ndcg(ranking: Sequence[str], relevant: Sequence[str]) -> float:
    gained = sum(attention(rank, "log", 0.5) for rank, doc in enumerate(ranking, 1) if doc in relevant)
    return gained / sum(attention(rank, "log", 0.5) for rank in range(1, len(relevant) + 1))


def exposures(
    rankings: Sequence[Sequence[str]],
    grades: Mapping[str, int],
    groups: Shares,
    names: Sequence[str],
    *,
    k: int,
    kind: str,
    only_relevant: bool,
) -> tuple[list[float], list[float]]:
    """Expected exposure of each group, and that of the ideal policy."""
    exposure = dict.fromkeys(names, 0.0)
    for ranking in rankings:
        for rank, doc in enumerate(ranking[:k], 1):
            if only_relevant and not grades.get(doc, 0):
                continue
            for group, share in groups[doc].items():
                exposure[group] += attention(rank, kind, 0.5) * share / len(rankings)
    relevant = sorted((doc for doc in grades if grades[doc]), key=lambda doc: -grades[doc])
    wanted = dict.fromkeys(names, 0.0)
    for doc in relevant:
        same = [rank for rank, other in enumerate(relevant, 1) if grades[other] == grades[doc]]
        worth = sum(attention(rank, kind, 0.5) for rank in same) / len(same)
        for group, share in groups[doc].items():
            wanted[group] += worth * share
    available = sum(attention(rank, kind, 0.5) for rank in range(1, k + 1))
    total = sum(wanted.values())
    return [exposure[name] for name in names], [wanted[name] / total * available for name in names]
