"""Swap search: from many starts, exchange one topic (or a block of topics) while that helps.

All cardinalities and both sides descend together, as one batch of arrays. The slope of the criterion says which few
exchanges are worth valuing; each of those is valued exactly: for Pearson in O(1) from sums of products, for the others
from the signs of all pairs of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.topics.archive import Archive
from assay.topics.criteria import Numbers
from assay.topics.problem import Masks, Problem, times

Steps = Iterator[tuple[int, int]]
SMALL = 60  # up to this number of topics a last round looks at every swap
FEW = 12  # of the swaps of a set that are valued at once, the best twelve may enter the archive


def swap(
    archive: Archive,
    rng: np.random.Generator,
    *,
    starts: int | None = None,
    rounds: int | None = None,
    width: int | None = None,
) -> Steps:
    """Local search by swaps with restarts.

    Every fourth round starts from `starts` random subsets per cardinality and side; the rounds between from half as
    many of the best sets found, disturbed or taken over from the neighbouring cardinalities. At each step `width`
    topics to drop are combined with as many to add. With up to 60 topics a last round values every swap of the best
    sets. Left open, the three follow the size: 12 rounds up to 60 topics, fewer beyond.

    Guiver, Mizzaro and Robertson 2009 pose the problem; the batch form is ours.
    """
    problem = archive.problem
    usual_starts, usual_rounds, usual_width = _effort(problem)
    starts = starts or usual_starts
    rounds = rounds or usual_rounds
    width = width or usual_width
    total = rounds + 1 if problem.n <= SMALL else rounds
    for done in range(total):
        if done == rounds:
            starting, width = _best_sets(archive), problem.n
        elif done % 4 == 0:
            starting = _random_starts(archive, rng, starts)
        else:
            starting = _next_starts(archive, rng, max(1, starts // 2))
        for part in starting.parts():
            descend(archive, part, width=width)
            yield done, total
    yield total, total


def _effort(problem: Problem) -> tuple[int, int, int]:
    """Starts, rounds and width that take seconds, or minutes beyond a thousand topics."""
    if problem.n <= SMALL:
        return (12, 12, 16) if problem.quadratic else (6, 12, 8)
    return (4, 4, 12) if problem.n <= 300 else (2, 3, 8)


@dataclass(frozen=True)
class States:
    """Subsets on their way: the side each is for, its topics."""

    sides: Numbers
    masks: Masks

    def parts(self, size: int = 1024) -> Iterator[States]:
        """The states a portion at a time, so that memory stays bounded and a search can stop in between."""
        for a in range(0, len(self.sides), size):
            yield States(self.sides[a : a + size], self.masks[a : a + size])


def descend(archive: Archive, states: States, *, width: int) -> None:
    """Exchange topics of every state while that helps, and offer what is seen to the archive."""
    problem = archive.problem
    order = np.argsort(states.masks.sum(axis=1), kind="stable")  # like sizes together: fewer void swaps
    sides, masks = states.sides[order], states.masks[order]
    sums = problem.sums(masks)
    values = problem.of_sums(sums, masks.sum(axis=1))
    archive.offer(sides, masks, values)
    active = np.arange(len(sides))
    while len(active):
        swaps_at_once = min(width, problem.n) ** 2
        parts = np.array_split(active, max(1, len(active) * swaps_at_once // 8192))
        moves = [_moves(archive, States(sides[part], masks[part]), sums[part], width) for part in parts]
        moved = np.concatenate([part_masks for part_masks, _ in moves])
        moved_values = np.concatenate([part_values for _, part_values in moves])
        merit = sides[active] * problem.goodness(moved_values)
        better = merit > sides[active] * problem.goodness(values[active]) + 1e-12
        active = active[better]
        masks[active] = moved[better]
        values[active] = moved_values[better]
        sums[active] = problem.sums(masks[active])


def _moves(archive: Archive, states: States, sums: Numbers, width: int) -> tuple[Masks, Floats]:
    """For each state the set that its best move leads to, and the value of that."""
    problem = archive.problem
    slope = states.sides[:, None] * topic_slopes(problem, sums)
    swapped, swap_value = _swapped(archive, states, sums, slope, min(width, problem.n))
    blocks, block_values = _blocks(problem, states.masks, slope)
    archive.evaluations += block_values.size
    every = np.concatenate([swapped[:, None], blocks], axis=1)
    values = np.column_stack([swap_value, block_values])
    merit = states.sides[:, None] * problem.goodness(values)
    row = np.arange(len(sums))
    best = merit.argmax(axis=1)
    return every[row, best], values[row, best]


def _swapped(archive: Archive, states: States, sums: Numbers, slope: Floats, width: int) -> tuple[Masks, Floats]:
    """The best set one swap away from each state, and its value; the archive is offered the good ones seen."""
    problem = archive.problem
    masks, sides = states.masks, states.sides
    sizes = masks.sum(axis=1)
    drop = _lowest(np.where(masks, slope, np.inf), min(width, int(sizes.max())))
    add = _lowest(np.where(masks, np.inf, -slope), min(width, problem.n - int(sizes.min())))
    can_drop = np.take_along_axis(masks, drop, 1)
    can_add = ~np.take_along_axis(masks, add, 1)
    valid = can_drop[:, :, None] & can_add[:, None, :]
    archive.evaluations += int(valid.sum())
    values = swap_values(problem, masks, sums, drop, add)
    every_merit = np.where(valid, sides[:, None, None] * problem.goodness(values), -np.inf)
    merit = every_merit.reshape(len(masks), -1)

    def taken(rows: Numbers, places: Numbers) -> tuple[Masks, Floats]:
        """The sets that these swaps of these states make, and their values."""
        out, into = np.divmod(places, add.shape[1])
        made = masks[rows]
        each = np.arange(len(rows))
        made[each, drop[rows, out]] = False
        made[each, add[rows, into]] = True
        return made, values[rows, out, into]

    few = _lowest(-merit, FEW)
    seen = np.take_along_axis(merit, few, 1)
    worthy = archive.worthy(sides[:, None], sizes[:, None], seen)
    rows, which = np.nonzero(np.isfinite(seen) & worthy)
    offered, their_values = taken(rows, few[rows, which])
    archive.offer(sides[rows], offered, their_values)
    return taken(np.arange(len(masks)), merit.argmax(axis=1))


def topic_slopes(problem: Problem, sums: Numbers) -> Floats:
    """By how much, to first order, a little more of each topic would raise the goodness; subsets × topics.

    For Pearson the derivative; for rank criteria the derivative of a smoothed count of ordered pairs, in which pairs of
    runs count the more the nearer their sums are.
    """
    if problem.quadratic:
        centred = sums - sums.mean(axis=1, keepdims=True)
        target = problem.full - problem.full.mean()
        square = np.maximum(np.einsum("ij,ij->i", centred, centred), 1e-12)[:, None]
        pull = target - (centred @ target)[:, None] * centred / square
        return times(pull / np.sqrt(square), problem.floats.T)
    return times(_pair_pull(problem, sums), problem.floats.T)


def _pair_pull(problem: Problem, sums: Numbers) -> Floats:
    """How much each run's sum should rise or fall for the runs to stand as on all topics; subsets × runs."""
    order = np.argsort(-problem.full, kind="stable")
    reach = np.float32(problem.units.std() or 1.0)
    columns = (np.ascontiguousarray(sums.T)[order] / reach).astype(np.float32)
    pull = np.zeros_like(columns)
    for k in range(1, len(columns)):
        near = columns[:-k] - columns[k:]
        near *= near
        near += 1
        np.reciprocal(near, out=near)
        pull[:-k] += near
        pull[k:] -= near
    by_run = np.empty(sums.shape)
    by_run[:, order] = pull.T
    return by_run


def swap_values(problem: Problem, masks: Masks, sums: Numbers, drop: Numbers, add: Numbers) -> Floats:
    """The criterion's value of each subset after each exchange (drop[i], add[j]): subsets × drops × adds.

    Pearson: corr = N/√Q with N = Σ g_t, Q = Σ C_tu over the subset, so that a swap (b out, a in) gives
    N + g_a - g_b and Q + 2(r_a - r_b) + C_aa + C_bb - 2·C_ab with r = C·subset: constant time per swap.
    """
    if not problem.quadratic:
        rows = sums[:, None, None, :] - problem.units[drop][:, :, None, :] + problem.units[add][:, None, :, :]
        sizes = np.repeat(masks.sum(axis=1), drop.shape[1] * add.shape[1])
        return problem.of_sums(rows.reshape(-1, rows.shape[-1]), sizes).reshape(rows.shape[:3])
    gain, product = problem.moments.gain, problem.moments.product
    centred = sums - sums.mean(axis=1, keepdims=True)
    own = np.diag(product)
    with_subset = times(centred, problem.moments.centred.T)
    numerator = (masks @ gain)[:, None, None] + gain[add][:, None, :] - gain[drop][:, :, None]
    of_added = own[add] + 2 * np.take_along_axis(with_subset, add, 1)
    of_dropped = own[drop] - 2 * np.take_along_axis(with_subset, drop, 1)
    square = np.einsum("ij,ij->i", centred, centred)[:, None, None] + of_added[:, None, :] + of_dropped[:, :, None]
    square -= 2 * product[drop[:, :, None], add[:, None, :]]
    root = np.sqrt(np.maximum(square, 1e-9))
    return np.asarray(np.where(square > 1e-9, numerator / root, 0.0))


def _blocks(problem: Problem, masks: Masks, slope: Floats) -> tuple[Masks, Floats]:
    """Exchanges of 2, 4, 8 … topics at once, the steepest ones: what makes long ways short."""
    sizes = masks.sum(axis=1)
    room = np.minimum(sizes, problem.n - sizes)
    lengths = [2**i for i in range(1, problem.n.bit_length()) if 2**i <= room.max(initial=0)]
    if not lengths:
        return np.zeros((len(masks), 0, problem.n), bool), np.zeros((len(masks), 0))
    turn_to_leave = _places(np.where(masks, slope, np.inf))[:, None, :]
    turn_to_enter = _places(np.where(masks, np.inf, -slope))[:, None, :]
    length = np.minimum(np.array(lengths)[None, :], room[:, None])[:, :, None]
    inside = masks[:, None, :]
    staying = inside & (turn_to_leave >= length)
    entering = ~inside & (turn_to_enter < length)
    made = staying | entering
    return made, problem.of_masks(made.reshape(-1, problem.n)).reshape(made.shape[:2])


def _random_starts(archive: Archive, rng: np.random.Generator, starts: int) -> States:
    sides, sizes = _grid(archive, starts)
    random_places = _places(rng.random((len(sides), archive.problem.n)))
    return States(sides, random_places < sizes[:, None])


def _next_starts(archive: Archive, rng: np.random.Generator, starts: int) -> States:
    """Per cell: the best sets with a few topics exchanged, and those of a neighbour with one topic more or less."""
    sides, sizes = _grid(archive, starts)
    n = archive.problem.n
    masks = np.zeros((len(sides), n), bool)
    for i, (side, size) in enumerate(zip(sides, sizes, strict=True)):
        neighbour = int(size) + i % 3 - 1
        sets, _ = archive.sets(int(side), neighbour if neighbour in archive.cardinalities else int(size))
        if len(sets):
            masks[i] = sets[int(rng.integers(min(len(sets), 3)))]
        else:
            masks[i] = rng.random(n) < size / n
    leaving = rng.integers(1, 4, len(sides))
    noise = rng.random(masks.shape)
    # all but a few random topics of each set stay, then random ones fill it up to its size
    staying = _places(np.where(masks, noise, 2.0)) < (masks.sum(axis=1) - leaving)[:, None]
    places = _places(np.where(staying, -1.0, noise))
    return States(sides, places < sizes[:, None])


def _best_sets(archive: Archive) -> States:
    """The best set of every cell that has one."""
    cells = [cell for cell in archive.cells() if archive.value(*cell) is not None]
    sides = np.array([side for side, _ in cells])
    masks = np.array([archive.sets(side, c)[0][0] for side, c in cells])
    return States(sides, masks)


def _grid(archive: Archive, starts: int) -> tuple[Numbers, Numbers]:
    """Side and cardinality of `starts` states for every cell that is not proved yet."""
    cells = [cell for cell in archive.cells() if cell not in archive.proved] * starts
    sides = np.array([side for side, _ in cells], int)
    sizes = np.array([c for _, c in cells], int)
    return sides, sizes


def _places(values: Floats) -> Numbers:
    """The place of each value among those of its row, 0 for the lowest."""
    return np.argsort(np.argsort(values, axis=1), axis=1)


def _lowest(values: Floats, width: int) -> Numbers:
    """Places of the `width` lowest values of each row."""
    if width >= values.shape[1]:
        return np.broadcast_to(np.arange(values.shape[1]), values.shape)
    return np.argpartition(values, width - 1, axis=1)[:, :width]
