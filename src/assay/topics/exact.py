"""Exact search: the best and worst subsets of a cardinality, proved.

Any criterion: all subsets, their sums built up one topic at a time; large cardinalities by the topics left out.
Pearson: branch and bound on a quadratic form, which goes deeper. What is found here is marked as proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from assay.core.arrays import Floats
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
    subsets: int = 2_500_000,
    sums: int = 200_000_000,
    deepest: int | None = None,
) -> Steps:
    """Every subset, where there are at most `subsets` of a cardinality; Pearson as far as `sums` additions go.

    A cell that was searched to the end is proved; others are left as they are. With `deepest` only cardinalities of at
    most so many topics, in or out, are tried.
    """
    n = archive.problem.n
    wanted = [c for c in _outside_in(n) if c in archive.cardinalities and min(c, n - c) <= (deepest or n)]
    todo = [c for c in wanted if _open(archive, c)]
    beyond: set[tuple[int, bool]] = set()  # side and end of the range from which on proof takes too long
    for done, c in enumerate(todo):
        yield done, len(todo)
        if archive.problem.quadratic and min(c, n - c) >= 3 and comb(n, c) > min(subsets, EASY):
            for side in archive.sides:
                end = (side, 2 * c > n)
                if end not in beyond and not _prove(archive, side, c, sums):
                    beyond.add(end)
                yield done, len(todo)
        if _open(archive, c) and comb(n, c) <= subsets:
            for values, places in all_values(archive.problem, c):
                _offer_good(archive, c, values, places)
                yield done, len(todo)
            archive.proved |= {(side, c) for side in archive.sides}
    yield len(todo), len(todo)


def all_values(problem: Problem, c: int, size: int = 8192) -> Iterator[tuple[Floats, Subsets]]:
    """The values of all subsets of c topics, a portion at a time, and how to tell which subsets these are.

    >>> from assay.topics.problem import problem
    >>> from assay.data.scores import ScoreMatrix
    >>> p = problem(ScoreMatrix.of([[0.5, 0.1, 0.3], [0.3, 0.2, 0.2], [0.1, 0.3, 0.1]]))
    >>> [(v.round(3).tolist(), s.masks(np.arange(len(v))).astype(int).tolist()) for v, s in all_values(p, 1)]
    [([1.0], [[1, 0, 0]]), ([-1.0], [[0, 1, 0]]), ([1.0], [[0, 0, 1]])]
    """
    n, few = problem.n, min(c, problem.n - c)
    heads = colex(n, few - 1)
    total = problem.units.sum(axis=0)
    head_sums = np.zeros((len(heads), problem.units.shape[1]), problem.units.dtype)
    for column in heads.T:
        head_sums += problem.units[column]
    for last in range(few - 1, n):
        count = comb(last, few - 1)
        for a in range(0, count, size):
            part = heads[a : min(count, a + size)]
            sums = head_sums[a : min(count, a + size)] + problem.units[last]
            sums = sums if few == c else total - sums
            yield problem.of_sums(sums, c), Subsets(part, last, n, few != c)


def exact_average(problem: Problem, c: int) -> float:
    """The mean value of all subsets of c topics."""
    return float(sum(values.sum() for values, _ in all_values(problem, c)) / comb(problem.n, c))


@dataclass(frozen=True)
class Subsets:
    """Subsets told by their first topics (rows of places) and a common last one; or by the topics left out."""

    heads: Numbers
    last: int
    n: int
    left_out: bool

    def masks(self, rows: Numbers) -> Masks:
        """These rows as topics of true and false."""
        masks = np.zeros((len(rows), self.n), bool)
        np.put_along_axis(masks, self.heads[rows].astype(np.intp), True, axis=1)
        masks[:, self.last] = True
        return ~masks if self.left_out else masks


def colex(n: int, size: int) -> Numbers:
    """All subsets of `size` of the places 0 … n-1, by their greatest place: those below k come first.

    >>> colex(4, 2).tolist()
    [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]
    """
    sets = np.zeros((1, 0), np.uint16)
    for k in range(1, size + 1):
        counts = [comb(last, k - 1) for last in range(k - 1, n)]
        heads = np.concatenate([sets[:count] for count in counts])
        sets = np.column_stack([heads, np.repeat(np.arange(k - 1, n, dtype=np.uint16), counts)])
    return sets


def _outside_in(n: int) -> list[int]:
    """Cardinalities from both ends to the middle: the cheap ones first."""
    return sorted(range(1, n), key=lambda c: (min(c, n - c), c))


def _open(archive: Archive, c: int) -> bool:
    return any((side, c) not in archive.proved for side in archive.sides)


def _offer_good(archive: Archive, c: int, values: Floats, subsets: Subsets) -> None:
    archive.evaluations += len(values)
    for side in archive.sides:
        merit = side * archive.problem.goodness(values)
        good = np.flatnonzero(merit >= archive.bar(side, c))
        if len(good) > archive.keep:
            good = good[np.argsort(-merit[good], kind="stable")]
            good = good[merit[good] >= merit[good[archive.keep - 1]] - 1e-12]
        archive.offer(np.full(len(good), side), subsets.masks(good), values[good])


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
    for form in _forms(problem, side, t, left_out=few != c):
        found = _above_zero(form, few, limit)
        if found is None:
            return False
        for places in found:
            masks = np.zeros((len(places), problem.n), bool)
            np.put_along_axis(masks, places.astype(np.intp), True, axis=1)
            masks = masks if few == c else ~masks
            archive.offer(np.full(len(masks), side), masks, problem.of_masks(masks))
        archive.evaluations += sum(map(len, found))
    archive.proved.add((side, c))
    return True


def _forms(problem: Problem, side: int, t: float, *, left_out: bool) -> list[Form]:
    gain = problem.moments.gain
    sign = -1.0 if side == WORST and t >= 0 else 1.0
    square = sign * (np.outer(gain, gain) - t * t * problem.moments.product)
    slack = 1e-10 * float(np.abs(square).sum())  # what rounding may take away from a set that equals the bar
    forms = [Form(slack, np.zeros(problem.n), square)]
    if side == WORST and t >= 0:
        forms.append(Form(slack, -gain, np.zeros_like(square)))
    return [_complement(form) for form in forms] if left_out else forms


def _complement(form: Form) -> Form:
    """The form as a function of the places left out."""
    whole = form.const + form.linear.sum() + form.square.sum()
    return Form(float(whole), -form.linear - 2 * form.square.sum(axis=1), form.square)


def _above_zero(form: Form, size: int, limit: int) -> list[Numbers] | None:
    """All sets of `size` places that bring the form above zero; None where more than `limit` sums would be needed.

    Sets grow in ascending places. A head is dropped where even its best completion, each place with its best partners,
    stays below zero; the last three places are tried on all heads that are left, as one array each.
    """
    n = len(form.linear)
    if size < 3 or STEP * comb(n, 3) > limit:
        return None
    heads, value = np.zeros((1, 0), np.uint16), np.array([form.const])
    gain = (form.linear + np.diag(form.square))[:, None]
    for level in range(size - 3):
        if int(_heads_below(heads, n).sum()) * n > CELLS:
            return None
        heads, value, gain = _grow(heads, value, gain, form.square)
        keep = _bound(heads, value, gain, form.square, size - level - 1) > 0
        heads, value, gain = heads[keep], value[keep], gain[:, keep]
    below = _heads_below(heads, n)
    work = STEP * comb(n, 3) + sum(int(below[i]) * comb(n - 1 - i, 2) for i in range(n))
    return None if work > limit else _last_three(heads, value, gain, 2 * form.square, below)


def _grow(heads: Numbers, value: Floats, gain: Floats, square: Floats) -> tuple[Numbers, Floats, Floats]:
    """Every head with every greater place added, again by greatest place."""
    n, below = len(square), _heads_below(heads, len(square))
    kin = np.concatenate([np.arange(below[i]) for i in range(n)])
    place = np.repeat(np.arange(n), below)
    longer = np.column_stack([heads[kin], place.astype(np.uint16)])
    return longer, value[kin] + gain[place, kin], gain[:, kin] + 2 * square[:, place]


def _bound(heads: Numbers, value: Floats, gain: Floats, square: Floats, more: int) -> Floats:
    """No completion of a head by `more` greater places brings more than this."""
    others = square.copy()
    np.fill_diagonal(others, -np.inf)
    partners = np.sort(others, axis=1)[:, ::-1][:, : more - 1].sum(axis=1)
    last = heads[:, -1].astype(int)
    reach = np.where(np.arange(len(square))[:, None] > last, gain + partners[:, None], -np.inf)
    best = np.partition(reach, len(square) - more, axis=0)[len(square) - more :]
    return np.asarray(value + best.sum(axis=0))


def _last_three(heads: Numbers, value: Floats, gain: Floats, twice: Floats, below: Numbers) -> list[Numbers]:
    found: list[Numbers] = []
    n, room = len(twice), np.empty(len(heads))
    for k in range(2, n):
        for j in range(1, k):
            count = int(below[j - 1])  # heads that leave room for a place below j
            base = value[:count] + gain[j, :count] + (gain[k, :count] + twice[j, k])
            for i in range(j):
                part = int(below[i])
                sums = np.add(base[:part], gain[i, :part], out=room[:part])
                edge = -twice[i, j] - twice[i, k]
                if part and sums.max() > edge:
                    rows = np.flatnonzero(sums > edge)
                    tail = np.tile(np.array([i, j, k], np.uint16), (len(rows), 1))
                    found.append(np.column_stack([heads[rows], tail]))
    return found


def _heads_below(heads: Numbers, n: int) -> Numbers:
    """For each place: how many heads lie wholly below it."""
    if heads.shape[1] == 0:
        return np.ones(n, int)
    return np.searchsorted(heads[:, -1], np.arange(n), side="left")
