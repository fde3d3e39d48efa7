"""Swap search: from many starts, exchange one topic (or a block of topics) while that helps.

All cardinalities and both sides descend together, as one batch of arrays. The slope of the criterion says which few
exchanges are worth valuing; each of those is valued exactly: for Pearson in O(1) from sums of products, for the others
from the signs of all pairs of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from assay.core.arrays import Floats
from assay.core.registry import Within
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
    starts: Annotated[int, Within(1)] | None = None,
    rounds: Annotated[int, Within(1)] | None = None,
    width: Annotated[int, Within(1)] | None = None,
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
            starting = _best_sets(archive)
            width = problem.n
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
        for start in range(0, len(self.sides), size):
            yield self.part(slice(start, start + size))

    def part(self, places: Numbers | slice) -> States:
        """Some of the states."""
        return States(self.sides[places], self.masks[places])


def descend(archive: Archive, states: States, *, width: int) -> None:
    """Exchange topics of every state while that helps, and offer what is seen to the archive."""
    problem = archive.problem
    by_size = np.argsort(states.masks.sum(axis=1), kind="stable")  # similar sizes together: fewer void swaps
    sorted_states = states.part(by_size)
    sides = sorted_states.sides
    masks = sorted_states.masks  # rows change in place as their states move
    sums = problem.sums(masks)
    values = problem.of_sums(sums, masks.sum(axis=1))
    archive.offer(sides, masks, values)
    swaps_of_state = min(width, problem.n) ** 2
    active = np.arange(len(sides))
    while len(active):
        parts = np.array_split(active, max(1, len(active) * swaps_of_state // 8192))
        moves = [_moves(archive, sorted_states.part(part), sums[part], width) for part in parts]
        moved = np.concatenate([part_masks for part_masks, _ in moves])
        moved_values = np.concatenate([part_values for _, part_values in moves])
        merit_before = sides[active] * problem.goodness(values[active])
        merit = sides[active] * problem.goodness(moved_values)
        better = merit > merit_before + 1e-12
        active = active[better]
        masks[active] = moved[better]
        values[active] = moved_values[better]
        sums[active] = problem.sums(masks[active])


def _moves(archive: Archive, states: States, sums: Numbers, width: int) -> tuple[Masks, Floats]:
    """For each state the set that its best move leads to, and the value of that."""
    problem = archive.problem
    side = states.sides[:, None]
    slope = side * topic_slopes(problem, sums)
    swapped, swap_value = _swapped(archive, states, sums, slope, min(width, problem.n))
    blocks, block_values = _blocks(problem, states.masks, slope)
    archive.evaluations += block_values.size
    masks = np.concatenate([swapped[:, None], blocks], axis=1)
    values = np.column_stack([swap_value, block_values])
    merit = side * problem.goodness(values)
    state = np.arange(len(sums))
    best = merit.argmax(axis=1)
    return masks[state, best], values[state, best]


def _swapped(archive: Archive, states: States, sums: Numbers, slope: Floats, width: int) -> tuple[Masks, Floats]:
    """The best set one swap away from each state, and its value; the archive is offered the good ones seen."""
    problem = archive.problem
    masks = states.masks
    sides = states.sides
    sizes = masks.sum(axis=1)
    most_to_drop = min(width, int(sizes.max()))
    most_to_add = min(width, problem.n - int(sizes.min()))
    drop = _lowest(np.where(masks, slope, np.inf), most_to_drop)
    add = _lowest(np.where(masks, np.inf, -slope), most_to_add)
    can_drop = np.take_along_axis(masks, drop, 1)
    can_add = ~np.take_along_axis(masks, add, 1)
    valid = can_drop[:, :, None] & can_add[:, None, :]
    archive.evaluations += int(valid.sum())
    values = swap_values(problem, masks, sums, drop, add)
    every_merit = sides[:, None, None] * problem.goodness(values)
    merit = np.where(valid, every_merit, -np.inf).reshape(len(masks), -1)  # one column per pair of topics

    def after_swaps(rows: Numbers, columns: Numbers) -> tuple[Masks, Floats]:
        """The sets that these swaps of these states make, and their values."""
        dropped, added = np.divmod(columns, add.shape[1])
        made = masks[rows]
        each = np.arange(len(rows))
        made[each, drop[rows, dropped]] = False
        made[each, add[rows, added]] = True
        return made, values[rows, dropped, added]

    few = _lowest(-merit, FEW)
    few_merits = np.take_along_axis(merit, few, 1)
    worthy = archive.worthy(sides[:, None], sizes[:, None], few_merits)
    rows, places = np.nonzero(np.isfinite(few_merits) & worthy)
    offered, offered_values = after_swaps(rows, few[rows, places])
    archive.offer(sides[rows], offered, offered_values)
    every_state = np.arange(len(masks))
    return after_swaps(every_state, merit.argmax(axis=1))


def topic_slopes(problem: Problem, sums: Numbers) -> Floats:
    """By how much, to first order, a little more of each topic would raise the goodness; subsets × topics.

    For Pearson the derivative; for rank criteria the derivative of a smoothed count of ordered pairs, in which pairs of
    runs count the more the nearer their sums are.
    """
    pull = _pearson_pull(problem, sums) if problem.quadratic else _pair_pull(problem, sums)
    return times(pull, problem.floats.T)


def _pearson_pull(problem: Problem, sums: Numbers) -> Floats:
    """The derivative of Pearson's correlation by each run's sum; subsets × runs."""
    centred = sums - sums.mean(axis=1, keepdims=True)
    target = problem.full - problem.full.mean()
    square = np.maximum(sums_of_squares(centred), 1e-12)
    covariance = (centred @ target)[:, None]
    pull = target - covariance * centred / square
    return pull / np.sqrt(square)


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
    # Arrays of subsets × drops × adds: what belongs to a drop has its adds as an axis of length 1, and vice versa.
    drops = drop[:, :, None]
    adds = add[:, None, :]
    if not problem.quadratic:
        swapped_sums = sums[:, None, None] - problem.units[drops] + problem.units[adds]
        sizes = np.repeat(masks.sum(axis=1), drop.shape[1] * add.shape[1])
        values = problem.of_sums(swapped_sums.reshape(-1, sums.shape[1]), sizes)
        return values.reshape(swapped_sums.shape[:3])
    moments = problem.moments
    gain = moments.gain
    gain_of_subset = masks @ gain
    numerator = gain_of_subset[:, None, None] + gain[adds] - gain[drops]
    centred = sums - sums.mean(axis=1, keepdims=True)
    own = np.diag(moments.product)
    with_subset = times(centred, moments.centred.T)
    of_added = own[add] + 2 * np.take_along_axis(with_subset, add, 1)
    of_dropped = own[drop] - 2 * np.take_along_axis(with_subset, drop, 1)
    square_of_subset = sums_of_squares(centred)
    square = square_of_subset[:, :, None] + of_added[:, None, :] + of_dropped[:, :, None]
    square -= 2 * moments.product[drops, adds]
    root = np.sqrt(np.maximum(square, 1e-9))
    return np.asarray(np.where(square > 1e-9, numerator / root, 0.0))


def sums_of_squares(rows: Floats) -> Floats:
    """The sum of squares of each row, as a column."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows)[:, None])


def _blocks(problem: Problem, masks: Masks, slope: Floats) -> tuple[Masks, Floats]:
    """Exchanges of 2, 4, 8 … topics at once, the steepest ones: they shorten the way to a distant set."""
    sizes = masks.sum(axis=1)
    room = np.minimum(sizes, problem.n - sizes)  # no more topics can leave, or enter
    powers_of_two = 2 ** np.arange(1, problem.n.bit_length())
    lengths = powers_of_two[powers_of_two <= room.max(initial=0)]
    if not len(lengths):
        return np.zeros((len(masks), 0, problem.n), bool), np.zeros((len(masks), 0))
    turn_to_leave = row_places(np.where(masks, slope, np.inf))
    turn_to_enter = row_places(np.where(masks, np.inf, -slope))
    length_of_block = np.minimum(lengths, room[:, None])[:, :, None]
    leaves = turn_to_leave[:, None] < length_of_block
    enters = turn_to_enter[:, None] < length_of_block
    made = np.where(masks[:, None], ~leaves, enters)
    values = problem.of_masks(made.reshape(-1, problem.n))
    return made, values.reshape(made.shape[:2])


def _random_starts(archive: Archive, rng: np.random.Generator, starts: int) -> States:
    sides, sizes = _grid(archive, starts)
    noise = rng.random((len(sides), archive.problem.n))
    places = row_places(noise)
    return States(sides, places < sizes[:, None])


def _next_starts(archive: Archive, rng: np.random.Generator, starts: int) -> States:
    """Per cell: the best sets with a few topics exchanged, and those of a neighbour with one topic more or less."""
    sides, sizes = _grid(archive, starts)
    n = archive.problem.n
    masks = np.zeros((len(sides), n), bool)
    for i, (side, size) in enumerate(zip(sides.tolist(), sizes.tolist(), strict=True)):
        # In turn from one topic less, from the same size, and from one topic more.
        near_size = size + i % 3 - 1
        sets, _ = archive.sets(side, near_size if near_size in archive.cardinalities else size)
        if len(sets):
            among_best = rng.integers(min(len(sets), 3))
            masks[i] = sets[among_best]
        else:
            masks[i] = rng.random(n) < size / n
    leaving = rng.integers(1, 4, len(sides))
    noise = rng.random(masks.shape)
    # all but a few random topics of each set stay, then random ones fill it up to its size
    to_stay = masks.sum(axis=1) - leaving
    staying = row_places(np.where(masks, noise, 2.0)) < to_stay[:, None]
    places = row_places(np.where(staying, -1.0, noise))
    return States(sides, places < sizes[:, None])


def _best_sets(archive: Archive) -> States:
    """The best set of every cell that has one."""
    sides = []
    masks = []
    for side, size in archive.cells():
        sets, _ = archive.sets(side, size)
        if len(sets):
            sides.append(side)
            masks.append(sets[0])
    return States(np.array(sides), np.array(masks))


def _grid(archive: Archive, starts: int) -> tuple[Numbers, Numbers]:
    """Side and cardinality of `starts` states for every cell that is not proved yet."""
    open_cells = [cell for cell in archive.cells() if cell not in archive.proved]
    cells = np.array(open_cells * starts, dtype=int).reshape(-1, 2)
    sides, sizes = cells.T
    return sides, sizes


def row_places(values: Floats) -> Numbers:
    """The place of each value among those of its row, 0 for the lowest."""
    lowest_first = np.argsort(values, axis=1)
    return np.argsort(lowest_first, axis=1)


def _lowest(values: Floats, width: int) -> Numbers:
    """Places of the `width` lowest values of each row."""
    columns = values.shape[1]
    if width >= columns:
        return np.broadcast_to(np.arange(columns), values.shape)
    lowest_first = np.argpartition(values, width - 1, axis=1)
    return lowest_first[:, :width]
