"""Expected scores over all orders of tied docs: ties="average".

Exact where a measure is linear in the gains of its ranks, where it has a closed form (AP, RR; McSherry & Najork 2008),
or where the orders that differ are few enough to list; else the mean over orders drawn from a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from math import factorial, prod

import numpy as np

from assay.core.arrays import Bools, Ints
from assay.core.engine import generator
from assay.data.grades import Grades
from assay.measures.base import Measure, Scores, ratio

LISTED = 720
"""A topic with more orders than this is sampled."""
SAMPLES = 200

EXACT = "average(exact)"


def expected(measure: Measure, g: Grades, *, seed: int = 0) -> tuple[Scores, str]:
    """Expected score per topic, and how it was found, for the signature."""
    seen = g.condensed() if measure.condensed else g
    plain = replace(measure, condensed=False)
    if measure.entry.facts.get("linear"):
        return plain(replace(seen, mixed=True)), EXACT
    closed = CLOSED_FORMS.get(measure.name)
    if closed is not None:
        return closed(seen, **dict(measure.parameters)), EXACT
    return _over_orders(plain, seen, seed)


def expected_average_precision(g: Grades, *, k: int | None = None, rel: float = 1) -> Scores:
    """E[AP]: a doc at place i of a tied block of n docs, m of them relevant, is relevant with m/n, and then has
    (i − 1)(m − 1)/(n − 1) relevant docs of its block above it."""
    size, place, relevant, before = _blocks(g, rel)
    above = before + ratio((place - 1) * (relevant - 1), size - 1)
    precision = (above + 1) / g.ranks()
    terms = ratio(relevant, size) * precision * g.inside()
    return ratio(terms[:, :k].sum(axis=1), g.relevant(rel))


def expected_reciprocal_rank(g: Grades, *, k: int | None = None, rel: float = 1) -> Scores:
    """E[RR]: the first relevant doc stands in the first block that has any, at place i with C(n − i, m − 1)/C(n, m)."""
    size, place, relevant, before = _blocks(g, rel)
    first = (before == 0) & (relevant > 0) & (place <= size - relevant + 1)
    none_above = np.where(first & (place > 1), ratio(size - relevant - place + 2, size - place + 2), 1.0)
    start = place == 1
    # log of the probability that no doc above in the block is relevant, cumulated within the block
    log = np.log(np.maximum(none_above, 1e-300)).cumsum(axis=1)
    base = np.maximum.accumulate(np.where(start, np.arange(g.depth), 0), axis=1)
    inside = np.exp(log - np.take_along_axis(log, base, axis=1)) if g.depth else log
    chance = np.where(first, inside * ratio(relevant, size - place + 1), 0.0)
    return (chance / g.ranks())[:, :k].sum(axis=1)


CLOSED_FORMS: dict[str, Callable[..., Scores]] = {
    "AP": expected_average_precision,
    "RR": expected_reciprocal_rank,
}


def _blocks(g: Grades, rel: float) -> tuple[Scores, Scores, Scores, Scores]:
    """Of the tied block at each rank: its size, the place in it, its relevant docs, and those of all blocks above."""
    tied = np.zeros(g.ranked.shape, bool) if g.tied is None else g.tied
    inside = g.inside()
    number = np.cumsum(~tied | ~inside, axis=1) + np.arange(len(g.topics))[:, None] * (g.depth + 1)
    hit = g.ranked >= rel
    total = len(g.topics) * (g.depth + 1) + g.depth + 2
    size = np.bincount(number[inside], minlength=total)[number].astype(np.float64)
    relevant = np.bincount(number[inside], weights=hit[inside], minlength=total)[number].astype(np.float64)
    start = np.maximum.accumulate(np.where(~tied, np.arange(g.depth), 0), axis=1)
    place = (np.arange(g.depth) - start + 1).astype(np.float64)
    found = np.concatenate([np.zeros((len(hit), 1)), hit.cumsum(axis=1)], axis=1)
    before = np.take_along_axis(found, start, axis=1)
    return size, place, relevant, before


def _over_orders(measure: Measure, g: Grades, seed: int) -> tuple[Scores, str]:
    """Mean over the orders of tied docs: of all of them, or of a sample."""
    scores, how = measure(g), EXACT
    rng = generator(seed)
    for t in np.flatnonzero(_matters(g)).tolist():
        orders, sampled = _orders(g, t, rng)
        scores[t] = measure(_repeated(g, t, orders)).mean()
        how = f"average(sampled:{SAMPLES},seed:{seed})" if sampled else how
    return scores, how


def _matters(g: Grades) -> Bools:
    """Topics in which docs of different grades are tied."""
    if g.tied is None or not g.depth:
        return np.zeros(len(g.topics), dtype=bool)
    differs = np.zeros(g.ranked.shape, dtype=bool)
    differs[:, 1:] = g.tied[:, 1:] & (g.ranked[:, 1:] != g.ranked[:, :-1])
    return np.asarray(differs.any(axis=1))


def _orders(g: Grades, t: int, rng: np.random.Generator) -> tuple[Ints, bool]:
    """Orders of topic t: every arrangement of the grades once, or a sample of orders of the docs."""
    n = int(g.retrieved[t])
    starts = np.flatnonzero(~_tied_row(g, t, n))
    blocks = [np.arange(a, b) for a, b in zip(starts, [*starts[1:], n], strict=True)]
    ways = prod(_arrangement_count(g.ranked[t, b]) for b in blocks)
    rest = np.arange(n, g.depth)
    if ways <= LISTED and g.lengths is None and g.inclusion is None:
        listed = product(*(list(_arrangements(g.ranked[t], b)) for b in blocks))
        return np.array([np.concatenate([*parts, rest]) for parts in listed]), False
    drawn = [np.concatenate([*(rng.permutation(b) for b in blocks), rest]) for _ in range(SAMPLES)]
    return np.array(drawn), True


def _tied_row(g: Grades, t: int, n: int) -> Bools:
    return np.zeros(n, bool) if g.tied is None else g.tied[t, :n]


def _arrangement_count(values: Ints) -> int:
    counts = np.unique(values, return_counts=True)[1].tolist()
    return factorial(len(values)) // prod(factorial(c) for c in counts)


def _arrangements(grades: Ints, block: Ints) -> Iterator[Ints]:
    """Orders of a block that differ in their grades."""
    if len(block) <= 1:
        yield block
        return
    for grade in np.unique(grades[block]):
        first = block[grades[block] == grade][0]
        for rest in _arrangements(grades, block[block != first]):
            yield np.concatenate([[first], rest])


def _repeated(g: Grades, t: int, orders: Ints) -> Grades:
    """Topic t once per order."""
    rows = np.full(len(orders), t)
    take = None if g.lengths is None else g.lengths[t][orders]
    kept = None if g.inclusion is None else g.inclusion[t][orders]
    return replace(
        g, topics=(g.topics[t],) * len(orders), ranked=g.ranked[t][orders], retrieved=g.retrieved[rows],
        ideal=g.ideal[rows], tied=None, lengths=take, inclusion=kept,
        judged_inclusion=None if g.judged_inclusion is None else g.judged_inclusion[rows],
    )  # fmt: skip
