"""Sweep search: the best few sets of each size give those of the next, one topic more or less, up and down all sizes.

Each pass values every set that is one topic away from those kept, so that the ways of both directions meet. Later
rounds choose with some noise and so take other ways. It finds in seconds what restarts of swaps find in minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from assay.core.arrays import Floats
from assay.core.registry import Within
from assay.topics.archive import Archive
from assay.topics.criteria import CRITERIA, Numbers
from assay.topics.problem import Masks, Problem, times
from assay.topics.swap import SMALL, Steps, sums_of_squares

QUIET = (0.0, 0.0, 0.0)
NOISY = (2.0, 1.0, 0.0)  # noise of the three passes, in standard deviations of the sets kept
MARGIN = 2  # sizes beyond those asked for before a pass turns back
OFFERED = 12  # sets of each step that are shown to the archive


def sweep(
    archive: Archive,
    rng: np.random.Generator,
    *,
    width: Annotated[int, Within(1)] | None = None,
    rounds: Annotated[int, Within(1)] | None = None,
) -> Steps:
    """The `width` best sets of each size, grown by every topic, then shrunk by every topic, in three passes a round.

    Two rounds per side go with the sets that the archive holds at first, one from no topic upwards, one from all topics
    downwards. `rounds` more start afresh, keep sets by their value and noise, ever more of them, and are spent on the
    side that still gains. Left open, both follow the size: 100 sets and 6 rounds up to 60 topics, less beyond.

    A beam search over the sizes. Guiver, Mizzaro and Robertson 2009 pose the problem; the method is ours.
    """
    usual_width, usual_rounds = _effort(archive.problem)
    if width is None or width == 0:
        width = usual_width
    if rounds is None:
        rounds = usual_rounds
    total = 2 + rounds
    held = {side: _held(archive, side) for side in archive.sides}
    # of each side with sizes not proved: how many of its last rounds found nothing better
    in_vain = {side: 0 for side in archive.sides if _open(archive, side)}
    for number in range(total if in_vain else 0):
        upwards = number % 2 == 0
        if number < 2:
            tours = [Tour(side, held[side], _legs(archive, side, upwards=upwards), width, QUIET) for side in in_vain]
        else:
            side = _livelier(in_vain, rng)
            wider = width * (number + 4) // 6
            tours = [Tour(side, {}, _legs(archive, side, upwards=upwards), wider, NOISY)]
        for tour in tours:
            before = _values(archive, tour.side)
            for _ in _passes(archive, tour, rng):
                yield number, total
            gained = _values(archive, tour.side) != before
            in_vain[tour.side] = 0 if gained else in_vain[tour.side] + 1
    yield total, total


def _effort(problem: Problem) -> tuple[int, int]:
    """Width and rounds that take seconds, or minutes beyond a thousand topics."""
    if problem.n > SMALL:
        return (10, 0) if problem.n <= 300 else (4, 0)
    return (100, 6) if CRITERIA[problem.criterion].facts["quick"] else (25, 2)


@dataclass(frozen=True)
class Beam:
    """Distinct sets of one size: their topics, their merit, and a number by which each is recognised."""

    masks: Masks
    merit: Floats
    keys: Numbers

    def joined(self, other: Beam) -> Beam:
        """These sets and those."""
        return Beam(
            masks=np.concatenate([self.masks, other.masks]),
            merit=np.concatenate([self.merit, other.merit]),
            keys=np.concatenate([self.keys, other.keys]),
        )

    def part(self, places: Numbers) -> Beam:
        """Some of the sets."""
        return Beam(self.masks[places], self.merit[places], self.keys[places])


@dataclass(frozen=True)
class Tour:
    """One round: the side, the sets that are there at first, first and last size of each pass, how to keep sets."""

    side: int
    held: dict[int, Beam]
    legs: tuple[tuple[int, int], ...]
    width: int
    noise: tuple[float, ...]


def _legs(archive: Archive, side: int, *, upwards: bool) -> tuple[tuple[int, int], ...]:
    """First and last size of each pass: over the sizes not proved, from no topic upwards or from all downwards.

    >>> from assay.data.scores import ScoreMatrix
    >>> from assay.topics.problem import problem
    >>> ready = problem(ScoreMatrix.of(np.arange(60).reshape(3, 20)))
    >>> _legs(Archive(ready, cardinalities=(5,)), 1, upwards=True), _legs(Archive(ready), 1, upwards=False)
    (((0, 7), (7, 3), (3, 7)), ((20, 1), (1, 19), (19, 1)))
    """
    n = archive.problem.n
    not_proved = _open(archive, side)
    low = max(1, not_proved[0] - MARGIN)
    high = min(n - 1, not_proved[-1] + MARGIN)
    if upwards:
        return (0, high), (high, low), (low, high)
    return (n, low), (low, high), (high, low)


def _passes(archive: Archive, tour: Tour, rng: np.random.Generator) -> Iterator[None]:
    """One round: from size to size along its legs; the sets that each step makes are offered to the archive."""
    n = archive.problem.n
    worst_of_all = np.full(1, -np.inf)
    beams = dict(tour.held)
    beams[0] = _beam(np.zeros((1, n), bool), worst_of_all)
    beams[n] = _beam(np.ones((1, n), bool), worst_of_all)
    for (start, end), noise in zip(tour.legs, tour.noise, strict=True):
        grow = end > start
        step = 1 if grow else -1
        for size in range(start, end, step):
            next_size = size + step
            made = _made(archive, tour.side, beams[size], beams.get(next_size), grow=grow)
            beams[next_size] = _kept(made, tour.width, noise, rng)
            yield


def _made(archive: Archive, side: int, beam: Beam, there: Beam | None, *, grow: bool) -> Beam:
    """The sets of the next size: those that are there, and all that are one topic from the beam, valued and offered."""
    problem = archive.problem
    rows, topics = np.nonzero(beam.masks != grow)
    topic_keys = _names(problem.n)[topics]
    made_keys = beam.keys[rows] + topic_keys if grow else beam.keys[rows] - topic_keys
    keys, first = np.unique(made_keys, return_index=True)  # two ways to the same set are one
    if there is not None:
        is_new = ~np.isin(keys, there.keys)
        keys = keys[is_new]
        first = first[is_new]
    rows = rows[first]
    topics = topics[first]
    masks = beam.masks[rows]
    masks[np.arange(len(rows)), topics] = grow
    values = step_values(problem, beam.masks, rows, topics, grow=grow)
    archive.evaluations += len(values)
    merit = side * problem.goodness(values)
    top = np.argsort(-merit, kind="stable")[:OFFERED]
    archive.offer(np.full(len(top), side), masks[top], values[top])
    made = Beam(masks, merit, keys)
    if there is None:
        return made
    return there.joined(made)


def _kept(made: Beam, width: int, noise: float, rng: np.random.Generator) -> Beam:
    """The `width` best, by merit, or by merit and noise."""
    if len(made.merit) <= width:
        return made
    cost = -made.merit
    if noise:
        spread_of_best = np.partition(cost, width - 1)[:width].std()
        cost = cost + noise * spread_of_best * rng.normal(size=len(cost))
    return made.part(np.argsort(cost, kind="stable")[:width])


def step_values(problem: Problem, masks: Masks, rows: Numbers, topics: Numbers, *, grow: bool) -> Floats:
    """The criterion's value of masks[rows[i]] with topic topics[i] more, or less; all masks are of one size.

    Pearson, as for swaps: a topic a in gives N + g_a and Q + 2·r_a + C_aa with r = C·subset; out, N and r change sign.
    """
    sums = problem.sums(masks)
    sign = 1 if grow else -1
    if not problem.quadratic:
        new_sums = sums[rows] + sign * problem.units[topics]
        new_size = int(masks[0].sum()) + sign
        return problem.of_sums(new_sums, new_size)
    moments = problem.moments
    centred = sums - sums.mean(axis=1, keepdims=True)
    with_subset = times(centred, moments.centred.T)
    every_numerator = (masks @ moments.gain)[:, None] + sign * moments.gain
    every_square = sums_of_squares(centred) + np.diag(moments.product) + 2 * sign * with_subset
    numerator = every_numerator[rows, topics]
    square = every_square[rows, topics]
    root = np.sqrt(np.maximum(square, 1e-9))
    return np.asarray(np.where(square > 1e-9, numerator / root, 0.0))


def _held(archive: Archive, side: int) -> dict[int, Beam]:
    """The sets that the archive holds, by size."""
    beams = {}
    for c in archive.cardinalities:
        masks, values = archive.sets(side, c)
        if len(masks):
            beams[c] = _beam(masks, side * archive.problem.goodness(values))
    return beams


def _beam(masks: Masks, merit: Floats) -> Beam:
    return Beam(masks, merit, masks @ _names(masks.shape[1]))


def _names(n: int) -> Numbers:
    """A large number for each topic: sums over two sets are as good as certainly equal only where the sets are."""
    return np.random.default_rng(n).integers(2**62, size=n)


def _livelier(in_vain: dict[int, int], rng: np.random.Generator) -> int:
    """A side by chance, the more likely the fewer of its last rounds were in vain."""
    sides = list(in_vain)
    weight = np.array([1 / (1 + rounds) for rounds in in_vain.values()])
    place = rng.choice(len(sides), p=weight / weight.sum())
    return sides[place]


def _open(archive: Archive, side: int) -> list[int]:
    """Sizes that are not proved yet."""
    return [c for c in archive.cardinalities if (side, c) not in archive.proved]


def _values(archive: Archive, side: int) -> list[float | None]:
    return [archive.value(side, c) for c in archive.cardinalities]
