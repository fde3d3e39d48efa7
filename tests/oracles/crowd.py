"""Slow and plain: label models, α and cuts, one label at a time."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

Label = tuple[str, str, int]
"""(doc, worker, answer)."""


def dawid_skene(labels: Sequence[Label], *, levels: int, iterations: int) -> dict[str, list[float]]:
    """Posterior of each doc after so many EM steps from the shares of the votes."""
    docs = sorted({d for d, _, _ in labels})
    posterior = {}
    for doc in docs:
        votes = Counter(y for d, _, y in labels if d == doc)
        posterior[doc] = [votes[c] / sum(votes.values()) for c in range(levels)]
    for _ in range(iterations):
        prior = [sum(posterior[d][c] for d in docs) / len(docs) for c in range(levels)]
        counts: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0] * levels))
        for doc, worker, answer in labels:
            for c in range(levels):
                counts[worker][answer][c] += posterior[doc][c]
        error = {
            w: {
                y: [max(v, 1e-10) / sum(max(o[c], 1e-10) for o in answers.values()) for c, v in enumerate(row)]
                for y, row in answers.items()
            }
            for w, answers in counts.items()
        }
        for doc in docs:
            logs = [math.log(max(prior[c], 1e-10)) for c in range(levels)]
            for d, w, y in labels:
                if d == doc:
                    logs = [v + math.log(error[w][y][c]) for c, v in enumerate(logs)]
            top = max(logs)
            raised = [math.exp(v - top) for v in logs]
            posterior[doc] = [v / sum(raised) for v in raised]
    return posterior


def alpha(units: Sequence[Sequence[float]]) -> float:
    """Krippendorff's interval α of units with their values; NaN where nothing varies."""
    pairable = [u for u in units if len(u) > 1]
    values = [v for u in pairable for v in u]
    observed = sum(sum((a - b) ** 2 for a, b in itertools.permutations(u, 2)) / (len(u) - 1) for u in pairable)
    expected = sum((a - b) ** 2 for a, b in itertools.permutations(values, 2)) / max(1, len(values) - 1)
    return 1 - observed / expected if expected > 0 else math.nan


def cut(value: float, points: Sequence[float]) -> int:
    """The level of a value: how many cut points lie below it."""
    return sum(value > p for p in points)


def median_cut(values: Sequence[float], points: Sequence[float], ties: str) -> float:
    """The low or high median of the cut values."""
    cuts = [cut(v, points) for v in values]
    return statistics.median_low(cuts) if ties == "low" else statistics.median_high(cuts)


def way_alpha(
    rows: Sequence[tuple[str, str, float]],
    way: str,
    points: Sequence[float],
    *,
    target: Mapping[str, int] | None = None,
    ties: str = "low",
    undefined: str = "skip",
) -> float:
    """α of one cut by one way of choosing, for the labels (doc, worker, value) of one topic; tasks are workers."""
    of_doc: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for doc, worker, value in rows:
        of_doc[doc].append((worker, value))
    if way == "Tw_alpha":
        return alpha([[cut(v, points) for _, v in pairs] for pairs in of_doc.values()])
    if way in ("D_a+t", "D_t+a"):
        units = []
        for doc, pairs in of_doc.items():
            values = [v for _, v in pairs]
            ours = cut(statistics.median(values), points) if way == "D_a+t" else median_cut(values, points, ties)
            units.append([ours, (target or {}).get(doc, 0)])
        return alpha(units)
    found = []
    for task in dict.fromkeys(w for _, w, _ in rows):
        units = []
        for doc, worker, value in rows:
            if worker != task:
                continue
            others = [v for w, v in of_doc[doc] if w != task]
            if way == "H":
                units.append([cut(value, points), (target or {}).get(doc, 0)])
            elif others and way == "H_t+a":
                units.append([cut(value, points), median_cut(others, points, ties)])
            elif others:
                units.append([cut(value, points), cut(statistics.median(others), points)])
        one = alpha(units)
        if not math.isnan(one):
            found.append(one)
        elif undefined == "one":
            found.append(1.0)
    return sum(found) / len(found) if found else math.nan


def pairwise(x: Sequence[float], y: Sequence[float]) -> float:
    """Pairs with different x that y puts strictly in x's order, over all pairs."""
    n, same = len(x), 0
    for i, j in itertools.permutations(range(n), 2):
        same += x[i] < x[j] and y[i] < y[j]
    return same / math.comb(n, 2)
