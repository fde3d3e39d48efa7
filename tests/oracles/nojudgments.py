"""Plain loops for what `assay.nojudgments` does with arrays. Rankings are {run: [docs, best first]} of one topic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from assay.core.arrays import Floats

Rankings = Mapping[str, Sequence[str]]


def average_precision(ranking: Sequence[str], relevant: set[str]) -> float:
    hits, total = 0, 0.0
    for rank, doc in enumerate(ranking, start=1):
        if doc in relevant:
            hits += 1
            total += hits / rank
    return total / len(relevant) if relevant else 0.0


def ap_distribution(p: Sequence[float], others: Sequence[float] = ()) -> tuple[Floats, Floats]:
    """The values that AP of one ranking can take, ascending, and their probabilities, by enumeration.

    p: probability of relevance of each doc, best rank first; others: of docs the run did not retrieve.
    """
    chance = np.array([*p, *others], dtype=np.float64)
    # One row for each assignment: 1 where a doc is relevant, from the bits of the row's number.
    numbers = np.arange(2 ** len(chance))
    relevant = (numbers[:, None] >> np.arange(len(chance))) & 1
    chance_of_doc = np.where(relevant == 1, chance, 1 - chance)
    chance_of_row = np.prod(chance_of_doc, axis=1)

    ranked = relevant[:, : len(p)]
    ranks = np.arange(1, len(p) + 1)
    precision = ranked * ranked.cumsum(axis=1) / ranks
    count = np.maximum(relevant.sum(axis=1), 1)
    ap = precision.sum(axis=1) / count

    # Rounded, so that assignments of the same AP fall together.
    values, place = np.unique(ap.round(12), return_inverse=True)
    chance_of_value = np.bincount(place, chance_of_row, minlength=len(values))
    is_possible = chance_of_value > 0
    return values[is_possible], chance_of_value[is_possible].astype(np.float64)


def exact_expected_ap(p: Sequence[float], others: Sequence[float] = ()) -> float:
    """The true mean of AP of one ranking over all relevance assignments; see `ap_distribution`."""
    values, chances = ap_distribution(p, others)
    return float(values @ chances)


def reference_count(
    rankings: Rankings,
    run: str,
    *,
    original: Callable[[int], float] = lambda rank: 1.0,
    reference: Callable[[int], float] = lambda rank: 1.0,
) -> float:
    total = 0.0
    for rank, doc in enumerate(rankings[run], start=1):
        for other, docs in rankings.items():
            if other == run:
                continue
            for other_rank, other_doc in enumerate(docs, start=1):
                if other_doc == doc:
                    total += original(rank) * reference(other_rank)
    return total


def original_weight(rank: int) -> float:
    """Shares of precision at the cut-offs 5, 10 … 1000 at or below the doc, the first at its own rank."""
    first = math.ceil(rank / 5)
    return 5 / rank + sum(5 / cut for cut in range(5 * (first + 1), 1001, 5))


def mean_jaccard(rankings: Rankings, run: str) -> float:
    mine, values = set(rankings[run]), []
    for other, docs in rankings.items():
        union = mine | set(docs)
        if other != run and union:
            values.append(len(mine & set(docs)) / len(union))
    return sum(values) / len(values) if values else 0.0


def rank_positions(rankings: Rankings) -> dict[str, float]:
    docs = {d for r in rankings.values() for d in r}
    return {d: 1 / sum(1 / (list(r).index(d) + 1) for r in rankings.values() if d in r) for d in docs}


def borda_points(rankings: Rankings) -> dict[str, float]:
    docs = {d for r in rankings.values() for d in r}
    n, points = len(docs), dict.fromkeys(docs, 0.0)
    for r in rankings.values():
        for i, d in enumerate(r):
            points[d] += n - i
        rest = [d for d in docs if d not in r]
        left = sum(range(1, n - len(r) + 1))
        for d in rest:
            points[d] += left / len(rest)
    return points


def condorcet_record(rankings: Rankings) -> dict[str, tuple[int, int]]:
    """Wins and losses by pairwise majorities; a ranked doc beats one that is not ranked."""
    docs = sorted({d for r in rankings.values() for d in r})
    record = {d: [0, 0] for d in docs}
    for x, y in combinations(docs, 2):
        votes = 0
        for r in rankings.values():
            a = list(r).index(x) if x in r else math.inf
            b = list(r).index(y) if y in r else math.inf
            votes += (a < b) - (b < a)
        if votes:
            winner, loser = (x, y) if votes > 0 else (y, x)
            record[winner][0] += 1
            record[loser][1] += 1
    return {d: (w, lost) for d, (w, lost) in record.items()}


def best_docs(keys: Mapping[str, tuple[float, ...] | float], share: float) -> set[str]:
    """The share of docs with the lowest keys, rounded up, ties by doc id."""
    ordered = sorted(keys, key=lambda d: (keys[d], d))
    return set(ordered[: math.ceil(round(share * len(ordered), 9))])


def shares_in_trials(rankings: Rankings, trials: Sequence[Sequence[str]], run: str) -> tuple[float, float]:
    """Mean over a run's trials of the share of its docs found by it alone, and by all."""
    single, everywhere = [], []
    for trial in trials:
        if run not in trial:
            continue
        found = [sum(d in rankings[r] for r in trial) for d in rankings[run]]
        single.append(sum(f == 1 for f in found) / len(found) if found else 1.0)
        everywhere.append(sum(f == len(trial) for f in found) / len(found) if found else 0.0)
    return sum(single) / len(single), sum(everywhere) / len(everywhere)


def expected_ap(ranking: Sequence[str], p: Mapping[str, float]) -> float:
    """Carterette & Allan 2007, Eq. 1, term by term; p has every doc of the pool."""
    rank = {d: i for i, d in enumerate(ranking, start=1)}
    total = 0.0
    for i, a in enumerate(ranking):
        total += p[a] / rank[a]
        for b in ranking[:i]:
            total += p[a] * p[b] / max(rank[a], rank[b])
    return total / sum(p.values()) if sum(p.values()) else 0.0


def mida_by_definition(source: Floats, target: Floats, mu: float) -> Floats:
    """Maximum independence domain adaptation with the whole kernel matrix, one component for each feature."""
    n = len(source) + len(target)
    origin = np.array([[1, 0]] * len(source) + [[0, 1]] * len(target), dtype=float)
    rows = np.hstack([np.vstack([source, target]), origin])
    kernel = rows @ rows.T
    centring = np.eye(n) - np.ones((n, n)) / n
    middle = mu * centring - centring @ origin @ origin.T @ centring
    values, vectors = np.linalg.eigh(kernel @ middle @ kernel)
    # Directions outside the rows have the eigenvalue 0 and no length; they are not components.
    lengths = np.linalg.norm(kernel @ vectors, axis=0)
    inside = np.flatnonzero(lengths > 1e-8)
    best = inside[np.argsort(values[inside])[::-1]][: source.shape[1]]
    return np.asarray(kernel @ vectors[:, best])
