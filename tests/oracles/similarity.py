"""Slow plain forms of the similarities, straight from their definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise, permutations


def rbo_ext(a: Sequence[object], b: Sequence[object], p: float) -> float:
    """RBO EXT of lists without ties, depth by depth (Webber 2010, Eq. 7.32)."""
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    s, k = len(short), len(long)
    in_long: set[object] = set()
    in_short: set[object] = set()
    shared = at_s = 0
    total, weight, agreement = 0.0, 1 - p, 0.0
    for depth in range(1, k + 1):
        item = long[depth - 1]
        if depth <= s:
            other = short[depth - 1]
            shared += 1 if item == other else (item in in_short) + (other in in_long)
            in_short.add(other)
            at_s = shared
        else:
            shared += item in in_short
        in_long.add(item)
        agreement = (shared + at_s * max(0, depth - s) / s) / depth
        total += weight * agreement
        weight *= p
    return total + agreement * p**k


def rbo_sum(a: Sequence[object], b: Sequence[object], p: float) -> float:
    """The plain sum (1−p) Σ p^(d−1) |A_d ∩ B_d|/d over the whole of two long lists of one length."""
    depths = range(1, len(a) + 1)
    return (1 - p) * sum(p ** (d - 1) * len(set(a[:d]) & set(b[:d])) / d for d in depths)


def best_continuation(a: list[str], b: list[str], n: int) -> tuple[list[str], list[str]]:
    """The two lists, continued to length n so that they agree as much as they can."""
    short, long = (list(a), list(b)) if len(a) <= len(b) else (list(b), list(a))
    new = iter(f"new{i}" for i in range(2 * n))
    missing = [x for x in long if x not in short]
    while len(short) < len(long):
        short.append(missing.pop(0))
    owed = [x for x in short if x not in long]
    while len(short) < n:
        short.append(missing.pop(0) if missing else (shared := next(new)))
        long.append(owed.pop(0) if owed else shared)
    return short, long


def worst_continuation(a: list[str], b: list[str], n: int) -> tuple[list[str], list[str]]:
    """The two lists, continued to length n with nothing in common."""
    return a + [f"a{i}" for i in range(n - len(a))], b + [f"b{i}" for i in range(n - len(b))]


def orders(x: Sequence[float]) -> list[tuple[int, ...]]:
    """All rankings (places, best first) that break the ties of the scores."""
    return [o for o in permutations(range(len(x))) if all(x[i] >= x[j] for i, j in pairwise(o))]


def tau_ap(truth: Sequence[int], estimate: Sequence[int]) -> float:
    """τ_AP of two rankings (places, best first) without ties."""
    place = {item: i for i, item in enumerate(truth)}
    n = len(estimate)
    total = sum(
        sum(place[above] < place[estimate[i]] for above in estimate[:i]) / i for i in range(1, n)
    )  # fmt: skip
    return 2 / (n - 1) * total - 1


def tau_ap_a(x: Sequence[float], y: Sequence[float]) -> float:
    """The mean of τ_AP over all ways to break the ties of both."""
    values = [tau_ap(t, e) for t in orders(x) for e in orders(y)]
    return sum(values) / len(values)


def weighted_tau(x: Sequence[float], y: Sequence[float], weight: Callable[[int, int], float]) -> float:
    """τ_w of scores without ties, ranks from y."""
    order = sorted(range(len(y)), key=lambda i: -y[i])
    top = bottom = 0.0
    for upper, lower in combinations(range(len(order)), 2):
        w = weight(upper + 1, lower + 1)
        top += w if x[order[upper]] > x[order[lower]] else -w
        bottom += w
    return top / bottom


def kendall_top_k(a: Sequence[object], b: Sequence[object], penalty: float) -> tuple[float, int, int]:
    """K^(p), concordant and discordant pairs, case by case (Fagin, Kumar & Sivakumar 2003)."""
    rank_a, rank_b = ({x: i for i, x in enumerate(items)} for items in (a, b))
    cost, concordant, discordant = 0.0, 0, 0
    for x, y in combinations(sorted(set(a) | set(b), key=str), 2):
        known = [(x in r or y in r) for r in (rank_a, rank_b)]
        if not all(known):
            cost += penalty
            continue
        ahead = [r.get(x, len(r)) < r.get(y, len(r)) for r in (rank_a, rank_b)]
        concordant += ahead[0] == ahead[1]
        discordant += ahead[0] != ahead[1]
        cost += ahead[0] != ahead[1]
    return cost, concordant, discordant


def preferences(scores: dict[str, float]) -> set[tuple[str, str]]:
    """All (better, worse) pairs of docs of different score."""
    return {(x, y) for x in scores for y in scores if scores[x] > scores[y]}


def preferences_over_missing(scores: dict[str, float], pool: set[str]) -> set[tuple[str, str]]:
    """The same, and every doc of the run before every doc of the pool that it lacks."""
    return preferences(scores) | {(x, y) for x in scores for y in pool if y not in scores}
