"""Slow plain loops for assay.plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np


def pair_at_depth(
    first: Mapping[str, Sequence[str]],
    second: Mapping[str, Sequence[str]],
    grades: Mapping[str, Mapping[str, int]],
    k: int,
    rel: int = 1,
) -> tuple[float, float]:
    """Mean size of the union of two top-k lists, and the effect size of AP@k with R from that union."""
    sizes, differences = [], []
    for topic, judged in grades.items():
        a, b = list(first.get(topic, []))[:k], list(second.get(topic, []))[:k]
        union = set(a) | set(b)
        sizes.append(len(union))
        found = sum(judged.get(d, 0) >= rel for d in union)
        scores = []
        for ranking in (a, b):
            seen = total = 0.0
            for i, doc in enumerate(ranking, 1):
                if judged.get(doc, 0) >= rel:
                    seen += 1
                    total += seen / i
            scores.append(total / found if found else 0.0)
        differences.append(scores[0] - scores[1])
    sd = float(np.std(differences, ddof=1))
    return float(np.mean(sizes)), abs(float(np.mean(differences))) / sd if sd > 1e-12 else 0.0


def one_sigma_spread(rows: Sequence[Sequence[float]]) -> float:
    """sd over the pairs of runs of the sd of their differences."""
    sds = []
    for i in range(len(rows)):
        for j in range(i):
            d = [x - y for x, y in zip(rows[i], rows[j], strict=True)]
            mean = sum(d) / len(d)
            sds.append(math.sqrt(sum((v - mean) ** 2 for v in d) / (len(d) - 1)))
    mean = sum(sds) / len(sds)
    return math.sqrt(sum((s - mean) ** 2 for s in sds) / (len(sds) - 1))
