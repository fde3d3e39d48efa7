"""Measures by their definitions: one topic, plain loops, no numpy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence


def blended(gains: Sequence[float], ideal: Sequence[float], r: int, beta: float = 1.0) -> float:
    """BR at rank r (from 1)."""
    found = sum(1 for x in gains[:r] if x > 0)
    return (found + beta * sum(gains[:r])) / (r + beta * sum(ideal[:r]))


def q(gains: Sequence[float], ideal: Sequence[float], k: int | None) -> float:
    n = sum(1 for x in ideal if x > 0)
    seen = gains if k is None else gains[:k]
    total = sum(blended(gains, ideal, r) for r, x in enumerate(seen, 1) if x > 0)
    return total / (n if k is None else min(n, k)) if n else 0.0


def o(gains: Sequence[float], ideal: Sequence[float], k: int | None) -> float:
    first = next((r for r, x in enumerate(gains if k is None else gains[:k], 1) if x > 0), None)
    return blended(gains, ideal, first) if first else 0.0


def preferred(gains: Sequence[float], k: int | None) -> int | None:
    seen = list(gains if k is None else gains[:k])
    return seen.index(max(seen)) + 1 if seen and max(seen) > 0 else None


def p(gains: Sequence[float], ideal: Sequence[float], k: int | None) -> float:
    rank = preferred(gains, k)
    return blended(gains, ideal, rank) if rank else 0.0


def p_plus(gains: Sequence[float], ideal: Sequence[float], k: int | None) -> float:
    rank = preferred(gains, k)
    if not rank:
        return 0.0
    values = [blended(gains, ideal, r) for r in range(1, rank + 1) if gains[r - 1] > 0]
    return sum(values) / len(values)


def ncu(gains: Sequence[float], ideal: Sequence[float], k: int | None) -> float:
    total = sum(ideal)
    seen = gains if k is None else gains[:k]
    return sum(x / total * blended(gains, ideal, r) for r, x in enumerate(seen, 1) if x > 0) if total else 0.0


BLENDED: dict[str, Callable[[Sequence[float], Sequence[float], int | None], float]] = {
    "Q": q,
    "O": o,
    "P-measure": p,
    "P+": p_plus,
    "NCU": ncu,
}


def cascade(stops: Sequence[float]) -> float:
    """Σ 1/r · p(r) · Π (1 − p)."""
    total, left = 0.0, 1.0
    for r, stop in enumerate(stops, 1):
        total += left * stop / r
        left *= 1 - stop
    return total


def gap(ranked: Sequence[int], judged: Sequence[int], weights: Mapping[int, float]) -> float:
    """GAP as the paper writes it: δ(m, n) = Σ_{j ≤ min(grade_m, grade_n)} g_j."""

    def up_to(grade: int) -> float:
        return sum(w for j, w in weights.items() if j <= grade)

    total = sum(
        sum(up_to(min(ranked[m], ranked[n])) for m in range(n + 1)) / (n + 1)
        for n in range(len(ranked))
        if ranked[n] > 0
    )
    best = sum(up_to(x) for x in judged)
    return total / best if best else 0.0


def bprefs(ranked: Sequence[int | None], judged: Sequence[int], top: float) -> dict[str, float]:
    """The preference measures on the condensed list, rank by rank."""
    known = [x for x in ranked if x is not None and x >= 0]
    r, n = sum(1 for x in judged if x > 0), sum(1 for x in judged if x == 0)
    ideal = sum(x for x in judged if x > 0)
    out = dict.fromkeys(
        ("bpref", "bpref_R", "bpref_N", "bpref_relative", "rpref_N", "rpref_relative", "rpref_relative2"), 0.0
    )
    worst = r + n - ideal / top
    for place, grade in enumerate(known, 1):
        if grade <= 0:
            continue
        above = sum(1 for x in known[: place - 1] if x == 0)
        pen = sum((grade - x) / grade for x in known[: place - 1] if x < grade)
        out["bpref"] += (1 - min(above, r) / min(n, r) if above else 1.0) / r
        out["bpref_R"] += (1 - min(above, r) / r) / r
        out["bpref_N"] += (1 - above / n if above else 1.0) / r
        out["bpref_relative"] += (1 - above / (place - 1) if place > 1 else 0.0) / r
        out["rpref_N"] += grade * (1 - pen / worst if pen else 1.0) / ideal
        out["rpref_relative"] += grade * (1 - pen / (place - 1) if place > 1 else 0.0) / ideal
        out["rpref_relative2"] += grade * (1 - pen / place) / ideal
    return out


def inferred_ap(ranked: Sequence[int | None], judged: Sequence[int], eps: float = 1e-5) -> float:
    """infAP; −1 is pooled but not judged, None is not pooled."""
    relevant = nonrelevant = pooled = 0
    total = 0.0
    for j, grade in enumerate(ranked):
        if grade is not None and grade > 0:
            share = (relevant + eps) / (relevant + nonrelevant + 2 * eps)
            total += 1.0 if j == 0 else 1 / (j + 1) + j / (j + 1) * (pooled / j) * share
        relevant += grade is not None and grade > 0
        nonrelevant += grade == 0
        pooled += grade is not None
    r = sum(1 for x in judged if x > 0)
    return total / r if r else 0.0


def time_biased_gain(relevant: Sequence[bool], words: Sequence[float], halflife: float = 224.0) -> float:
    """TBG with the constants of its paper."""
    seconds, total = 0.0, 0.0
    for hit, length in zip(relevant, words, strict=True):
        total += 0.4928 * hit * math.exp(-seconds * math.log(2) / halflife)
        seconds += 4.4 + (0.018 * length + 7.8) * (0.64 if hit else 0.39)
    return total


def preferences(groups: Mapping[str, Mapping[str, Mapping[str, float]]], ranking: Sequence[str]) -> dict[str, float]:
    """prefs_simp, prefs_pair, prefs_avgjg and their forms _ret and _imp: every pair of docs, one after the other."""
    place = {doc: r for r, doc in enumerate(ranking)}
    wins = {name: _closed(subgroups) for name, subgroups in groups.items()}
    out: dict[str, float] = {}
    for form, least in (("", 0), ("_imp", 1), ("_ret", 2)):
        counted = {
            name: [(a, b) for a, b in pairs if (a in place) + (b in place) >= least] for name, pairs in wins.items()
        }
        kept = {
            name: [(a, b) for a, b in pairs if a in place and place[a] < place.get(b, math.inf)]
            for name, pairs in counted.items()
        }
        total = sum(map(len, counted.values()))
        out[f"prefs_simp{form}"] = sum(map(len, kept.values())) / total if total else 0.0
        shares = [len(kept[name]) / len(pairs) if pairs else 0.0 for name, pairs in counted.items()]
        out[f"prefs_avgjg{form}"] = sum(shares) / len(shares)
        votes = [(frozenset(pair), pair in kept[name]) for name, pairs in counted.items() for pair in pairs]
        both = {pair: [good for other, good in votes if other == pair] for pair, _ in votes}
        out[f"prefs_pair{form}"] = sum(sum(v) / len(v) for v in both.values()) / len(both) if both else 0.0
    return out


def _closed(subgroups: Mapping[str, Mapping[str, float]]) -> set[tuple[str, str]]:
    """All preferences of a group, those that follow from others among them."""
    wins = {(a, b) for levels in subgroups.values() for a in levels for b in levels if levels[a] > levels[b]}
    while True:
        more = wins | {(a, d) for a, b in wins for c, d in wins if b == c}
        if more == wins:
            return wins
        wins = more
