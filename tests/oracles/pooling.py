"""Slow, plain versions of pooling: loops over docs, and enumeration of all 2^n relevance assignments of tiny pools."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

Ranking = Sequence[str]
Relevance = Mapping[str, bool]


def average_precision(ranking: Ranking, relevant: set[str]) -> float:
    """AP by its definition."""
    found, total = 0, 0.0
    for rank, doc in enumerate(ranking, start=1):
        if doc in relevant:
            found += 1
            total += found / rank
    return total / len(relevant) if relevant else 0.0


def assignments(p: Mapping[str, float]) -> list[tuple[set[str], float]]:
    """Every set of relevant docs and its probability, docs independent."""
    docs = list(p)
    out = []
    for bits in itertools.product([0, 1], repeat=len(docs)):
        chance = math.prod(p[d] if b else 1 - p[d] for d, b in zip(docs, bits, strict=True))
        out.append(({d for d, b in zip(docs, bits, strict=True) if b}, chance))
    return out


def ap_distribution(ranking: Ranking, p: Mapping[str, float]) -> dict[float, float]:
    """P(AP = value) for every value, by enumeration."""
    out: dict[float, float] = {}
    for relevant, chance in assignments(p):
        value = round(average_precision(ranking, relevant), 12)
        out[value] = out.get(value, 0.0) + chance
    return out


def difference_moments(a: Ranking, b: Ranking, p: Mapping[str, float]) -> tuple[float, float, float, float]:
    """Mean and variance of Q_a − Q_b over Σp (Q = AP · Σx), and of AP_a − AP_b itself, by enumeration."""
    total = sum(p.values())
    forms, scores = [], []
    for relevant, chance in assignments(p):
        gap = average_precision(a, relevant) - average_precision(b, relevant)
        forms.append((gap * len(relevant) / total, chance))
        scores.append((gap, chance))
    return (*_moments(forms), *_moments(scores))


def _moments(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    mean = sum(v * c for v, c in values)
    return mean, sum((v - mean) ** 2 * c for v, c in values)


def judged_in_order(method: str, runs: Mapping[str, Ranking], relevant: set[str]) -> list[str]:
    """The docs in the order in which a method judges them, by plain loops; ties by run order, then smallest doc."""
    return {
        "depth": _depth, "hedge": _hedge, "move-to-front": _move_to_front, "max-mean": _max_mean, "mtc": _mtc,
        "residual": _residual,
    }[method](list(runs.values()), relevant)  # fmt: skip


def _pooled(lists: Sequence[Ranking]) -> list[str]:
    return sorted({d for ranking in lists for d in ranking})


def _depth(lists: Sequence[Ranking], relevant: set[str]) -> list[str]:
    out: list[str] = []
    for rank in range(max(map(len, lists))):
        for ranking in lists:
            if rank < len(ranking) and ranking[rank] not in out:
                out.append(ranking[rank])
    return out


def _hedge(lists: Sequence[Ranking], relevant: set[str]) -> list[str]:
    docs = _pooled(lists)
    z = len(docs)

    def gain(ranking: Ranking, doc: str) -> float:
        if doc in ranking:
            return math.log(z / (ranking.index(doc) + 1))
        tail = range(len(ranking) + 1, z + 1)
        return sum(math.log(z / i) for i in tail) / len(tail)

    weights = [1.0] * len(lists)
    out: list[str] = []
    while len(out) < z:
        total = sum(weights)
        scores = {d: sum(w / total * gain(s, d) for w, s in zip(weights, lists, strict=True)) for d in docs}
        best = max((d for d in docs if d not in out), key=lambda d: (round(scores[d], 10), -docs.index(d)))
        out.append(best)
        sign = -1 if best in relevant else 1
        weights = [w * 0.1 ** (sign * gain(s, best) / 2) for w, s in zip(weights, lists, strict=True)]
    return out


def _move_to_front(lists: Sequence[Ranking], relevant: set[str]) -> list[str]:
    priority, place = [0.0] * len(lists), [0] * len(lists)
    out: list[str] = []
    while True:
        live = [s for s in range(len(lists)) if place[s] < len(lists[s])]
        if not live:
            return out
        run = max(live, key=lambda s: (priority[s], -s))
        doc = lists[run][place[run]]
        place[run] += 1
        if doc not in out:
            out.append(doc)
        priority[run] = 0.0 if doc in relevant else priority[run] - 1


def _max_mean(lists: Sequence[Ranking], relevant: set[str]) -> list[str]:
    out: list[str] = []
    while True:
        live = [s for s in range(len(lists)) if any(d not in out for d in lists[s])]
        if not live:
            return out

        def mean(s: int) -> float:
            seen = [d for d in lists[s] if d in out]
            return (1 + sum(d in relevant for d in seen)) / (2 + len(seen))

        run = max(live, key=lambda s: (mean(s), -s))
        out.append(next(d for d in lists[run] if d not in out))


def _residual(lists: Sequence[Ranking], relevant: set[str]) -> list[str]:
    docs = _pooled(lists)
    out: list[str] = []

    def weight(ranking: Ranking, doc: str) -> float:
        return 0.2 * 0.8 ** ranking.index(doc) if doc in ranking else 0.0

    while len(out) < len(docs):
        base = [sum(weight(s, d) for d in out if d in relevant) for s in lists]
        rest = [1 - sum(weight(s, d) for d in out) for s in lists]
        urgency = [r * (b + r / 2) ** 3 for b, r in zip(base, rest, strict=True)]
        scores = {d: sum(u * weight(s, d) for u, s in zip(urgency, lists, strict=True)) for d in docs}
        out.append(max((d for d in docs if d not in out), key=lambda d: (round(scores[d], 12), -docs.index(d))))
    return out


def _mtc(lists: Sequence[Ranking], relevant: set[str]) -> list[str]:
    docs = _pooled(lists)
    p = dict.fromkeys(docs, 0.5)
    out: list[str] = []

    def effect(ranking: Ranking, doc: str) -> float:
        if doc not in ranking:
            return 0.0
        own = ranking.index(doc) + 1
        return 1 / own + sum(p[d] / max(own, i) for i, d in enumerate(ranking, start=1) if d != doc)

    while len(out) < len(docs):
        gaps = {
            d: max(abs(effect(a, d) - effect(b, d)) for a in lists for b in lists) * max(p[d], 1 - p[d]) for d in docs
        }
        best = max((d for d in docs if d not in out), key=lambda d: (round(gaps[d], 10), -docs.index(d)))
        out.append(best)
        p[best] = float(best in relevant)
    return out


def log_likelihood(
    theta: Sequence[float],
    lists: Sequence[Sequence[int]],
    weights: Sequence[float],
    alpha: float,
    beta: float,
    *,
    pool: int = 0,
) -> float:
    """Bradley–Terry log-likelihood of every preference, one by one, with the Beta prior.

    Each list prefers its docs also to the docs 0 … pool − 1 that it lacks.
    """
    total = 0.0
    for ranking, w in zip(lists, weights, strict=True):
        lacked = [doc for doc in range(pool) if doc not in ranking]
        for i, j in [*itertools.combinations(ranking, 2), *itertools.product(ranking, lacked)]:
            total -= w * math.log1p(math.exp(theta[j] - theta[i]))
    for t in theta:
        total += -alpha * math.log1p(math.exp(-t)) - beta * math.log1p(math.exp(t))
    return total


def without_own_docs(runs: Mapping[str, Ranking], depth: int, left: str, grades: Mapping[str, int]) -> dict[str, int]:
    """The judgments that remain when the docs only that run has in its first `depth` are taken out."""
    others = {d for name, ranking in runs.items() if name != left for d in ranking[:depth]}
    own = set(runs[left][:depth]) - others
    return {d: g for d, g in grades.items() if d not in own}


class Trial(NamedTuple):
    """Signed errors of one draw of Algorithm 6.3 (estimate − truth), the common topics being given."""

    raw: float
    systems: float
    sampled: float
    unadjusted: float
    adjusted: float


def adjustment_trial(
    pooled: Sequence[Mapping[str, Ranking]],
    new: Mapping[str, Ranking],
    relevant: Mapping[str, set[str]],
    depth: int,
    common: Sequence[str],
) -> Trial:
    """Webber's Algorithms 6.1 to 6.3 for P@depth: lists of the pooled runs and of the new one, topic → ranking."""
    topics = list(relevant)

    def top(lists: Mapping[str, Ranking], topic: str) -> set[str]:
        return set(lists[topic][:depth])

    def score(lists: Mapping[str, Ranking], topic: str, judged: set[str]) -> float:
        return len(top(lists, topic) & judged & relevant[topic]) / depth

    def mean(values: Mapping[str, float]) -> float:
        return sum(values.values()) / len(values)

    others = {t: set().union(*(top(lists, t) for lists in pooled)) for t in topics}
    true = {t: score(new, t, others[t] | top(new, t)) for t in topics}
    unpooled = {t: score(new, t, others[t]) for t in topics}
    losses = []
    for s, lists in enumerate(pooled):
        rest = [p for i, p in enumerate(pooled) if i != s]
        kept = {t: others[t] & set().union(top(new, t), *(top(p, t) for p in rest)) for t in topics}
        losses.append(mean({t: score(lists, t, others[t]) - score(lists, t, kept[t]) for t in topics}))
    biases = {t: true[t] - unpooled[t] for t in topics}
    truth, raw = mean(true), mean(unpooled)
    mixed = {t: true[t] if t in common else unpooled[t] for t in topics}
    known = {t: biases[t] for t in common}
    return Trial(
        raw - truth,
        raw + sum(losses) / len(losses) - truth,
        mean({t: true[t] for t in common}) - truth,
        mean(mixed) - truth,
        raw + mean(known) - truth,
    )
