"""Expected scores over all orders of tied docs: ties="average".

Exact where a measure is linear in the gains of its ranks, where it has a closed form (AP, RR; McSherry & Najork 2008),
or where the orders that differ are few enough to list; else the mean over orders drawn from a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import factorial, prod

import numpy as np

from assay.core.arrays import Bools, Ints
from assay.core.engine import generator
from assay.data.grades import Grades
from assay.measures.base import Measure, Scores, in_order, ratio

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
    closed_form = CLOSED_FORMS.get(measure.name)
    if closed_form is not None:
        return closed_form(seen, **dict(measure.parameters)), EXACT
    return _over_orders(plain, seen, seed)


def expected_average_precision(g: Grades, *, k: int | None = None, rel: float = 1) -> Scores:
    """E[AP]: a doc at place i of a tied block of n docs, m of them relevant, is relevant with m/n, and then has
    (i − 1)(m − 1)/(n − 1) relevant docs of its block above it."""
    block = _Blocks.of(g, rel)
    relevant_above_in_block = ratio((block.place - 1) * (block.relevant - 1), block.size - 1)
    found = block.relevant_before + relevant_above_in_block + 1
    chance = ratio(block.relevant, block.size)
    terms = chance * found / g.ranks() * g.inside()
    return ratio(in_order(terms[:, :k]), g.relevant(rel))


def expected_reciprocal_rank(g: Grades, *, k: int | None = None, rel: float = 1) -> Scores:
    """E[RR]: the first relevant doc stands in the first block that has any, at place i with C(n − i, m − 1)/C(n, m)."""
    block = _Blocks.of(g, rel)
    last_place = block.size - block.relevant + 1
    possible = (block.relevant_before == 0) & (block.relevant > 0) & (block.place <= last_place)
    docs_left = block.size - block.place + 1
    # The chance that the doc just above in the block is not relevant either, when none above that one is.
    miss_above = ratio(docs_left + 1 - block.relevant, docs_left + 1)
    miss_above = np.where(possible & (block.place > 1), miss_above, 1.0)
    all_missed = _product_within_blocks(miss_above, block)
    chance = np.where(possible, all_missed * ratio(block.relevant, docs_left), 0.0)
    return in_order((chance / g.ranks())[:, :k])


CLOSED_FORMS: dict[str, Callable[..., Scores]] = {
    "AP": expected_average_precision,
    "RR": expected_reciprocal_rank,
}


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The tied block at each rank, topics × ranks."""

    size: Scores
    place: Scores
    """The place of the doc in its block, from 1."""
    start: Ints
    """The rank, from 0, at which the block starts."""
    relevant: Scores
    """Relevant docs of the block."""
    relevant_before: Scores
    """Relevant docs of all blocks above."""

    @classmethod
    def of(cls, g: Grades, rel: float) -> _Blocks:
        tied = np.zeros(g.ranked.shape, bool) if g.tied is None else g.tied
        inside = g.inside()
        hit = g.ranked >= rel
        ranks = np.arange(g.depth)
        start = np.maximum.accumulate(np.where(tied, 0, ranks), axis=1)
        found = np.zeros((len(hit), g.depth + 1))
        found[:, 1:] = hit.cumsum(axis=1)
        # Blocks get numbers of their own over all topics, so that one count serves all.
        first_number = np.arange(len(g.topics))[:, None] * (g.depth + 1)
        number = first_number + np.cumsum(~tied | ~inside, axis=1)
        numbers = len(g.topics) * (g.depth + 1) + g.depth + 2
        size = np.bincount(number[inside], minlength=numbers)
        relevant = np.bincount(number[inside], weights=hit[inside], minlength=numbers)
        return cls(
            size=size[number].astype(np.float64),
            place=(ranks - start + 1).astype(np.float64),
            start=start,
            relevant=relevant[number].astype(np.float64),
            relevant_before=np.take_along_axis(found, start, axis=1),
        )


def _product_within_blocks(chances: Scores, block: _Blocks) -> Scores:
    """The product of the values from the start of each block down to each rank."""
    if not chances.shape[1]:
        return chances
    logs = np.log(np.maximum(chances, 1e-300)).cumsum(axis=1)
    at_start = np.take_along_axis(logs, block.start, axis=1)
    return np.exp(logs - at_start)


def _over_orders(measure: Measure, g: Grades, seed: int) -> tuple[Scores, str]:
    """Mean over the orders of tied docs: of all of them, or of a sample."""
    scores = measure(g)
    how = EXACT
    rng = generator(seed)
    for t in np.flatnonzero(_matters(g)).tolist():
        orders, sampled = _orders(g, t, rng)
        scores[t] = measure(_repeated(g, t, orders)).mean()
        if sampled:
            how = f"average(sampled:{SAMPLES},seed:{seed})"
    return scores, how


def _matters(g: Grades) -> Bools:
    """Topics in which docs of different grades are tied."""
    if g.tied is None or not g.depth:
        return np.zeros(len(g.topics), dtype=bool)
    differs = g.ranked[:, 1:] != g.ranked[:, :-1]
    return np.asarray((g.tied[:, 1:] & differs).any(axis=1))


def _orders(g: Grades, t: int, rng: np.random.Generator) -> tuple[Ints, bool]:
    """Orders of topic t: every arrangement of the grades once, or a sample of orders of the docs."""
    n = int(g.retrieved[t])
    blocks = _tied_blocks(g, t, n)
    rest = np.arange(n, g.depth)
    ways = prod(_arrangement_count(g.ranked[t, block]) for block in blocks)
    # Docs of one grade are alike only where nothing else is known of them.
    alike = g.lengths is None and g.inclusion is None
    if alike and ways <= LISTED:
        arrangements = [list(_arrangements(g.ranked[t], block)) for block in blocks]
        listed = [np.concatenate([*parts, rest]) for parts in product(*arrangements)]
        return np.array(listed), False
    drawn = []
    for _ in range(SAMPLES):
        parts = [rng.permutation(block) for block in blocks]
        drawn.append(np.concatenate([*parts, rest]))
    return np.array(drawn), True


def _tied_blocks(g: Grades, t: int, n: int) -> list[Ints]:
    """The ranks, from 0, of each tied block of topic t."""
    tied = np.zeros(n, bool) if g.tied is None else g.tied[t, :n]
    starts = np.flatnonzero(~tied)
    ends = [*starts[1:], n]
    return [np.arange(a, b) for a, b in zip(starts, ends, strict=True)]


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
    return replace(
        g,
        topics=(g.topics[t],) * len(orders),
        ranked=g.ranked[t][orders],
        retrieved=g.retrieved[rows],
        ideal=g.ideal[rows],
        tied=None,
        lengths=None if g.lengths is None else g.lengths[t][orders],
        inclusion=None if g.inclusion is None else g.inclusion[t][orders],
        judged_inclusion=None if g.judged_inclusion is None else g.judged_inclusion[rows],
    )
