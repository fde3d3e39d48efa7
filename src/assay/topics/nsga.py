"""The published evolutionary search: NSGA-II on (cardinality, correlation), with an archive per cardinality.

Roitero 2020, Section 3.2, in the form of the released program where text and program differ: mutation flips one topic.
Kept as the reference that other searches must reach.
"""

from __future__ import annotations

from bisect import bisect_right
from math import ceil
from typing import Annotated

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.registry import Within
from assay.topics.archive import Archive
from assay.topics.criteria import Numbers
from assay.topics.problem import Masks
from assay.topics.swap import Steps, row_places


def nsga(
    archive: Archive,
    rng: np.random.Generator,
    *,
    population: Annotated[int, Within(1)] = 2000,
    evaluations: Annotated[int, Within(1)] = 1_000_000,
    crossover: Annotated[float, Within(0, 1)] = 0.7,
    mutation: Annotated[float, Within(0, 1)] = 0.3,
) -> Steps:
    """NSGA-II as published: AND/OR crossover, one-bit mutation, binary tournaments, elitist replacement.

    `evaluations` is per side. Best: few topics, high correlation; worst: many topics, low correlation. Every subset
    that is valued is offered to the archive.
    """
    topics = archive.problem.n
    if population < topics:
        raise UsageError(f"nsga(population={population}): needs at least one subset per topic ({topics})")
    generations = max(1, ceil(evaluations / population) - 1)
    living = {side: first_population(topics, population, rng) for side in archive.sides}
    merits = {side: _valued(archive, side, masks) for side, masks in living.items()}
    for generation in range(generations):
        for side, parents in living.items():
            rank, crowding = fronts(_costs(parents, merits[side], side))
            children = offspring(parents, rank, crowding, rng, crossover=crossover, mutation=mutation)
            everyone = np.concatenate([parents, children])
            merit = np.append(merits[side], _valued(archive, side, children))
            rank, crowding = fronts(_costs(everyone, merit, side))
            fittest_first = np.lexsort((-crowding, rank))
            survivors = fittest_first[:population]
            living[side] = everyone[survivors]
            merits[side] = merit[survivors]
        yield generation + 1, generations


def first_population(n: int, population: int, rng: np.random.Generator) -> Masks:
    """Subsets of 1, 2, … n-1 topics in turn, then subsets in which each topic is kept with a random probability."""
    random_places = row_places(rng.random((population, n)))
    size = np.arange(1, population + 1)[:, None]
    masks = random_places < size
    others = masks[n - 1 :]
    noise = rng.random(others.shape)
    probability = rng.random((len(others), 1))
    others[:] = noise < probability
    return _repaired(masks, rng)


def offspring(
    masks: Masks, rank: Numbers, crowding: Floats, rng: np.random.Generator, *, crossover: float, mutation: float
) -> Masks:
    """As many children as parents: the AND and OR of two tournament winners, or copies; then perhaps one flip."""
    half = ceil(len(masks) / 2)
    one = masks[_tournament(rank, crowding, half, rng)]
    two = masks[_tournament(rank, crowding, half, rng)]
    crossed = rng.random((half, 1)) < crossover
    first_children = np.where(crossed, one & two, one)
    second_children = np.where(crossed, one | two, two)
    both = np.concatenate([first_children, second_children])
    children = both[: len(masks)]
    mutants = np.flatnonzero(rng.random(len(children)) < mutation)
    flipped = rng.integers(masks.shape[1], size=len(mutants))
    children[mutants, flipped] ^= True
    return _repaired(children, rng)


def fronts(costs: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """Non-domination rank (0 is the front) and crowding distance of points with two costs, both to be kept low.

    >>> rank, _ = fronts(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [3.0, 3.0]]))
    >>> rank.tolist()
    [0, 0, 1, 2]
    """
    order = np.lexsort((costs[:, 1], costs[:, 0]))
    rank = np.empty(len(costs), np.int64)
    lowest: list[float] = []  # of each front, the lowest second cost so far: it dominates whatever comes with more
    before = [np.nan, np.nan]
    front = 0
    for place, point in zip(order.tolist(), costs[order].tolist(), strict=True):
        if point != before:  # equal points share a front
            second = point[1]
            front = bisect_right(lowest, second)
            lowest[front : front + 1] = [second]
        rank[place] = front
        before = point
    return rank, _crowding(costs, rank)


def _crowding(costs: Floats, rank: Numbers) -> Floats:
    """How far apart the neighbours of each point on its front are, over both costs; infinite at the ends of a front."""
    distance = np.zeros(len(costs))
    for axis in range(2):
        order = np.lexsort((costs[:, axis], rank))
        value = costs[order, axis]
        front = rank[order]
        new_front = front[1:] != front[:-1]
        first_of_front = np.r_[True, new_front]
        last_of_front = np.r_[new_front, True]
        gap = np.zeros(len(costs))
        gap[1:-1] = value[2:] - value[:-2]
        spread = np.ptp(costs[:, axis]) or 1.0
        distance[order] += np.where(first_of_front | last_of_front, np.inf, gap / spread)
    return distance


def _tournament(rank: Numbers, crowding: Floats, count: int, rng: np.random.Generator) -> Numbers:
    """The winners of tournaments of two: the lower rank, and of one rank the less crowded."""
    one, two = rng.integers(len(rank), size=(2, count))
    lower_rank = rank[one] < rank[two]
    same_rank = rank[one] == rank[two]
    less_crowded = crowding[one] >= crowding[two]
    first_wins = lower_rank | (same_rank & less_crowded)
    return np.where(first_wins, one, two)


def _costs(masks: Masks, merit: Floats, side: int) -> Floats:
    sizes = masks.sum(axis=1)
    return np.column_stack([side * sizes, -merit]).astype(np.float64)


def _valued(archive: Archive, side: int, masks: Masks) -> Floats:
    values = archive.problem.of_masks(masks)
    archive.evaluations += len(masks)
    archive.offer(np.full(len(masks), side), masks, values)
    return np.asarray(side * archive.problem.goodness(values))


def _repaired(masks: Masks, rng: np.random.Generator) -> Masks:
    """Empty subsets get one topic."""
    empty = np.flatnonzero(~masks.any(axis=1))
    random_topic = rng.integers(masks.shape[1], size=len(empty))
    masks[empty, random_topic] = True
    return masks
