"""Exact search: the best and worst subsets of a cardinality, proved.

Any criterion: all subsets, their sums built up one topic at a time; large cardinalities by the topics left out.
Pearson: branch and bound on a quadratic form, which goes deeper. What is found here is marked as proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Annotated

import numpy as np

from assay.core.arrays import Floats
from assay.core.registry import Within
from assay.topics.archive import WORST, Archive
from assay.topics.criteria import Numbers
from assay.topics.problem import Masks, Problem
from assay.topics.swap import Steps

EASY = 20_000  # subsets that are listed sooner than a proof is begun
CELLS = 12_000_000  # numbers held per level of the branch and bound: 96 MB
STEP = 500  # additions that take as long as one turn of the innermost loop takes anyway


def exact(
    archive: Archive,
    rng: np.random.Generator,
    *,
    subsets: Annotated[int, Within(0)] = 2_500_000,
    sums: Annotated[int, Within(0)] = 200_000_000,
    deepest: Annotated[int, Within(0)] | None = None,
) -> Steps:
    """Every subset, where there are at most `subsets` of a cardinality; Pearson as far as `sums` additions go.

    A cell that was searched to the end is proved; others are left as they are. With `deepest` only cardinalities that
    take or leave out at most that many topics are tried.
    """
    problem = archive.problem
    n = problem.n
    todo = _unproved(archive, deepest or n)
    beyond: set[tuple[int, bool]] = set()  # side and end of the range from which on proof takes too long
    for done, c in enumerate(todo):
        yield done, len(todo)
        count = comb(n, c)
        few = min(c, n - c)
        if problem.quadratic and few >= 3 and count > min(subsets, EASY):
            for side in archive.sides:
                end = (side, 2 * c > n)
                if end not in beyond:
                    proved = _prove(archive, side, c, sums)
                    if not proved:
                        beyond.add(end)
                yield done, len(todo)
        if _open(archive, c) and count <= subsets:
            for values, listed in all_values(problem, c):
                _offer_good(archive, c, values, listed)
                yield done, len(todo)
            for side in archive.sides:
                archive.proved.add((side, c))
    yield len(todo), len(todo)


def _unproved(archive: Archive, deepest: int) -> list[int]:
    """Cardinalities still to prove, of at most `deepest` topics in or out: the cheap ones, at both ends, first."""
    n = archive.problem.n

    def depth(c: int) -> int:
        return min(c, n - c)

    todo = []
    for c in sorted(archive.cardinalities, key=depth):
        if depth(c) > deepest:
            break
        if _open(archive, c):
            todo.append(c)
    return todo


def _open(archive: Archive, c: int) -> bool:
    """Whether a side of this cardinality is not proved yet."""
    cells = {(side, c) for side in archive.sides}
    return not cells <= archive.proved


def all_values(problem: Problem, c: int, size: int = 8192) -> Iterator[tuple[Floats, Subsets]]:
    """The values of all subsets of c topics, `size` of them at a time, and which subsets these are.

    Subsets of more than half the topics are listed by the topics that they leave out.

    >>> from assay.topics.problem import problem
    >>> from assay.data.scores import ScoreMatrix
    >>> p = problem(ScoreMatrix.of([[0.5, 0.1, 0.3], [0.3, 0.2, 0.2], [0.1, 0.3, 0.1]]))
    >>> [(v.round(3).tolist(), s.masks(np.arange(len(v))).astype(int).tolist()) for v, s in all_values(p, 1)]
    [([1.0], [[1, 0, 0]]), ([-1.0], [[0, 1, 0]]), ([1.0], [[0, 0, 1]])]
    """
    n = problem.n
    units = problem.units
    few = min(c, n - c)
    left_out = few != c
    heads = colex(n, few - 1)
    runs = units.shape[1]
    head_sums = np.zeros((len(heads), runs), units.dtype)
    for column in heads.T:
        head_sums += units[column]
    total = units.sum(axis=0)
    for last in range(few - 1, n):
        count = comb(last, few - 1)  # the first `count` heads lie below the last topic
        for start in range(0, count, size):
            stop = min(count, start + size)
            sums = head_sums[start:stop] + units[last]
            if left_out:
                sums = total - sums
            values = problem.of_sums(sums, c)
            subsets = Subsets(heads[start:stop], last, n, left_out)
            yield values, subsets


@dataclass(frozen=True)
class Subsets:
    """Subsets given by their first topics (rows of places) and a common last one; or by the topics left out."""

    heads: Numbers
    last: int
    n: int
    left_out: bool

    def masks(self, rows: Numbers) -> Masks:
        """These rows as topics of true and false."""
        masks = _masks(self.heads[rows], self.n)
        masks[:, self.last] = True
        if self.left_out:
            return ~masks
        return masks


def _masks(places: Numbers, n: int) -> Masks:
    """Rows of places as rows of true and false over n topics."""
    masks = np.zeros((len(places), n), bool)
    columns = places.astype(np.intp)
    np.put_along_axis(masks, columns, True, axis=1)
    return masks


def colex(n: int, size: int) -> Numbers:
    """All subsets of `size` of the places 0 … n-1, by their greatest place: those below k come first.

    >>> colex(4, 2).tolist()
    [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]
    """
    sets = np.zeros((1, 0), np.uint16)
    for length in range(size):
        # Every set so far whose places all lie below a last place is followed by it.
        lasts = range(length, n)
        counts = [comb(last, length) for last in lasts]
        heads = [sets[:count] for count in counts]
        last_of_each = np.repeat(np.array(lasts, np.uint16), counts)
        sets = np.column_stack([np.concatenate(heads), last_of_each])
    return sets


def _offer_good(archive: Archive, c: int, values: Floats, subsets: Subsets) -> None:
    """Offer the subsets that reach the archive's bar, and of many only those that can stay."""
    archive.evaluations += len(values)
    goodness = archive.problem.goodness(values)
    for side in archive.sides:
        merit = side * goodness
        bar = archive.bar(side, c)
        good = np.flatnonzero(merit >= bar)
        if len(good) > archive.keep:
            best_first = np.argsort(-merit[good], kind="stable")
            good = good[best_first]
            last_kept = good[archive.keep - 1]
            # Those that equal the last one kept are ordered by the archive.
            least = merit[last_kept] - 1e-12
            stays = merit[good] >= least
            good = good[stays]
        sides = np.full(len(good), side)
        masks = subsets.masks(good)
        archive.offer(sides, masks, values[good])


@dataclass(frozen=True)
class Form:
    """const + Σ_{i∈U} linear_i + Σ_{i,j∈U} square_ij: what a set U of places must bring above zero."""

    const: float
    linear: Floats
    square: Floats


def _prove(archive: Archive, side: int, c: int, limit: int) -> bool:
    """Find every subset better than the archive's last one of this cell, or give up where that is too much work.

    With N = Σ g_i and Q = Σ C_ij over a subset, corr = N/√Q beats t where N² - t²·Q = Σ (g_i·g_j - t²·C_ij) is above
    zero: one quadratic form. For the worst side and t ≥ 0 it is the other sign, or N below zero.
    """
    t = side * archive.bar(side, c)
    if not np.isfinite(t):
        return False
    problem = archive.problem
    few = min(c, problem.n - c)
    left_out = few != c
    forms = _forms(problem, side, t)
    if left_out:
        forms = [_complement(form) for form in forms]
    for form in forms:
        better = _above_zero(form, few, limit)
        if better is None:
            return False
        for places in better:
            masks = _masks(places, problem.n)
            if left_out:
                masks = ~masks
            sides = np.full(len(masks), side)
            archive.offer(sides, masks, problem.of_masks(masks))
            archive.evaluations += len(masks)
    archive.proved.add((side, c))
    return True


def _forms(problem: Problem, side: int, t: float) -> list[Form]:
    """The forms of which a better subset brings one above zero: N² - t²·Q, its negative, or -N."""
    gain = problem.moments.gain
    product = problem.moments.product
    square = np.outer(gain, gain) - t * t * product
    worse_than_positive = side == WORST and t >= 0
    if worse_than_positive:
        square = -square
    slack = 1e-10 * float(np.abs(square).sum())  # what rounding may take away from a set that equals the bar
    no_gain = np.zeros(problem.n)
    forms = [Form(slack, no_gain, square)]
    if worse_than_positive:
        no_square = np.zeros_like(square)
        forms.append(Form(slack, -gain, no_square))
    return forms


def _complement(form: Form) -> Form:
    """The form as a function of the places left out."""
    linear = form.linear
    square = form.square
    whole = form.const + linear.sum() + square.sum()
    of_place = linear + 2 * square.sum(axis=1)
    return Form(float(whole), -of_place, square)


def _above_zero(form: Form, size: int, limit: int) -> list[Numbers] | None:
    """All sets of `size` places that bring the form above zero; None where more than `limit` sums would be needed.

    Sets grow in ascending places. A head is dropped where even its best completion, each place with its best partners,
    stays below zero; the last three places are tried on all heads that are left, as one array each.
    """
    square = form.square
    n = len(square)
    turns = STEP * comb(n, 3)
    if size < 3 or turns > limit:
        return None
    heads = _Heads.none(form)
    for length in range(1, size - 2):
        if int(heads.below().sum()) * n > CELLS:
            return None
        heads = heads.grown(square)
        bound = heads.bound(square, size - length)
        heads = heads.only(bound > 0)
    below = heads.below()
    work = turns
    for i in range(n):
        work += int(below[i]) * comb(n - 1 - i, 2)
    if work > limit:
        return None
    return _last_three(heads, 2 * square)


@dataclass(frozen=True, eq=False)
class _Heads:
    """The first places of sets that may bring a form above zero, ascending, by their greatest place.

    `value` is what each head brings, `gain` (places × heads) what a place would add to it.
    """

    places: Numbers
    value: Floats
    gain: Floats

    @classmethod
    def none(cls, form: Form) -> _Heads:
        """One head without any place."""
        alone = form.linear + np.diag(form.square)
        return cls(
            places=np.zeros((1, 0), np.uint16),
            value=np.array([form.const]),
            gain=alone[:, None],
        )

    def only(self, keep: Masks) -> _Heads:
        """Some of the heads."""
        return _Heads(
            places=self.places[keep],
            value=self.value[keep],
            gain=self.gain[:, keep],
        )

    def below(self) -> Numbers:
        """For each place: how many heads lie wholly below it."""
        n = len(self.gain)
        if self.places.shape[1] == 0:
            return np.ones(n, int)
        greatest = self.places[:, -1]
        return np.searchsorted(greatest, np.arange(n), side="left")

    def grown(self, square: Floats) -> _Heads:
        """Every head with every greater place added, again by greatest place."""
        below = self.below()
        places = np.arange(len(square))
        added = np.repeat(places, below)
        parents = [np.arange(count) for count in below]
        parent = np.concatenate(parents)
        last = added.astype(np.uint16)
        # A place gains its square once, and what it brings with every other place twice.
        gain_with_added = 2 * square[:, added]
        return _Heads(
            places=np.column_stack([self.places[parent], last]),
            value=self.value[parent] + self.gain[added, parent],
            gain=self.gain[:, parent] + gain_with_added,
        )

    def bound(self, square: Floats, more: int) -> Floats:
        """No completion of a head by `more` greater places brings more than this."""
        n = len(square)
        partners = _best_partners(square, more - 1)
        reach = self.gain + partners[:, None]
        # Only places greater than those of the head may follow.
        greatest = self.places[:, -1].astype(int)
        places = np.arange(n)
        free = places[:, None] > greatest
        reach = np.where(free, reach, -np.inf)
        first_of_best = n - more
        ordered = np.partition(reach, first_of_best, axis=0)
        best = ordered[first_of_best:]
        return np.asarray(self.value + best.sum(axis=0))


def _best_partners(square: Floats, count: int) -> Floats:
    """For each place: what its `count` best partners bring with it."""
    others = square.copy()
    np.fill_diagonal(others, -np.inf)
    ascending = np.sort(others, axis=1)
    best_first = ascending[:, ::-1]
    return np.asarray(best_first[:, :count].sum(axis=1))


def _last_three(heads: _Heads, twice: Floats) -> list[Numbers]:
    """Every head with every three greater places i < j < k that bring the form above zero."""
    value = heads.value
    gain = heads.gain
    below = heads.below().tolist()
    n = len(twice)
    room = np.empty(len(value))  # one array for all sums: this loop is where the time goes
    above: list[Numbers] = []
    for k in range(2, n):
        for j in range(1, k):
            count = below[j - 1]  # heads that leave room for a place below j
            of_j = gain[j, :count]
            of_k = gain[k, :count] + twice[j, k]
            base = value[:count] + of_j + of_k
            edges = -twice[:j, j] - twice[:j, k]
            for i, edge in enumerate(edges.tolist()):
                part = below[i]
                if not part:
                    continue
                sums = room[:part]
                np.add(base[:part], gain[i, :part], out=sums)
                if sums.max() > edge:
                    rows = np.flatnonzero(sums > edge)
                    above.append(_completed(heads.places[rows], (i, j, k)))
    return above


def _completed(heads: Numbers, last_places: tuple[int, int, int]) -> Numbers:
    """Each of the heads with the same last three places."""
    columns = [heads]
    for place in last_places:
        columns.append(np.full((len(heads), 1), place, np.uint16))
    return np.hstack(columns)
