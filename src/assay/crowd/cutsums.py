"""Krippendorff's α of all cuts of a scale at once, from sums over the labels that are made only one time.

A label cut at a_1 < … < a_J becomes t = Σ_j [x > a_j]. So Σt and Σt² = Σ_j (2j−1)·#[x > a_j] are sums of one lookup per
cut point, and disagreements are sums of one lookup per point or per pair of points: no pass over the labels per cut.
All values are places on the source scale; a cut at place v leaves v and all below it.

The formula is that of `agreement.alpha`, which has no form for this: thousands of cuts × groups at interval level,
where a cut costs a lookup per point and not a table of coincidences. A test holds the two against each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.agreement.alpha import alpha_of_coincidences
from assay.agreement.scales import Level
from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks

CELLS = 200_000
"""Cuts × groups that are worked on at a time: a few megabytes, which stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class CutSums:
    """Sums of one set of groups (tasks; or one group for all docs), by place on the scale.

    values: how many values a group has; above (V × G): how many that are cut lie above a place; fixed_sum and
    fixed_square: of the values on the target scale. The disagreement of a cut is fixed_square plus, at each v = a_j,
    single[v] + (2j−1)·weighted[v], plus pair[a_j, a_l] for j < l.
    """

    values: Floats
    above: Floats
    fixed_sum: Floats
    fixed_square: Floats
    single: Floats
    weighted: Floats
    pair: Floats | None = None

    def alpha_sums(self, cuts: Ints, *, undefined: str = "skip") -> tuple[Floats, Floats]:
        """For each row of `cuts`: Σ α over the groups, and over how many. undefined: groups without variation are
        left out (`skip`) or count as α = 1 (`one`)."""
        total = np.zeros(len(cuts))
        count = np.zeros(len(cuts))
        at_a_time = CELLS // max(1, len(self.values))
        for rows in chunks(len(cuts), max(1, at_a_time)):
            alpha, defined = self._alpha(cuts[rows])
            if undefined == "one":
                total[rows] = np.where(defined, alpha, 1.0).sum(axis=1)
                count[rows] = defined.shape[1]
            else:
                total[rows] = np.where(defined, alpha, 0.0).sum(axis=1)
                count[rows] = defined.sum(axis=1)
        return total, count

    def _alpha(self, cuts: Ints) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Cuts × groups: α = 1 − (n−1)·Σ(t−t')² / (n·Σt² − (Σt)²), and where it is defined."""
        cut_sum, cut_square, cut_disagreement = self._sums(cuts)
        total = cut_sum + self.fixed_sum
        square = cut_square + self.fixed_square
        disagreement = cut_disagreement + self.fixed_square
        expected = self.values * square - total**2
        defined = expected > 1e-9
        alpha = 1 - (self.values - 1) * disagreement / np.where(defined, expected, 1.0)
        return alpha, defined

    def _sums(self, cuts: Ints) -> tuple[Floats, Floats, Floats]:
        """Of the cut values, cuts × groups: Σt, Σt² and the disagreement."""
        shape = (len(cuts), len(self.values))
        plain = np.zeros(shape)
        square = np.zeros(shape)
        disagreement = np.zeros(shape)
        for j in range(cuts.shape[1]):
            at = cuts[:, j]
            above = self.above[at]
            plain += above
            square += (2 * j + 1) * above
            disagreement += self.single[at] + (2 * j + 1) * self.weighted[at]
            if self.pair is not None:
                for i in range(j):
                    disagreement += self.pair[cuts[:, i], at]
        return plain, square, disagreement


def against_source(group: Ints, x: Ints, other: Ints, places: int, *, pairs: bool) -> CutSums:
    """Sums for labels x against values `other` of the same source scale: both are cut.

    pairs: also what cuts of two or more points need.
    """
    groups = int(group.max(initial=-1)) + 1
    low = np.minimum(x, other)
    high = np.maximum(x, other)
    begun = _histogram(low, group, places, groups)
    ended = _histogram(high, group, places, groups)
    above = _above(x, group, places, groups) + _above(other, group, places, groups)
    nothing = np.zeros(groups)
    return CutSums(
        values=_sizes(group, groups),
        above=above,
        fixed_sum=nothing,
        fixed_square=nothing,
        single=np.cumsum(begun - ended, axis=0),
        weighted=np.zeros_like(above),
        pair=2 * _enclosing(low, high, group, places, groups) if pairs else None,
    )


def against_target(group: Ints, x: Ints, target: Floats, places: int) -> CutSums:
    """Sums for labels x, which are cut, against values of the target scale, which are not."""
    groups = int(group.max(initial=-1)) + 1
    above = _above(x, group, places, groups)
    return CutSums(
        values=_sizes(group, groups),
        above=above,
        fixed_sum=np.bincount(group, target, minlength=groups).astype(np.float64),
        fixed_square=np.bincount(group, target**2, minlength=groups).astype(np.float64),
        single=-2 * _above(x, group, places, groups, weight=target),
        weighted=above,
    )


def among_workers(item: Ints, x: Ints, places: int, *, pairs: bool) -> CutSums:
    """Sums for the whole worker × doc matrix as one group: every label of a doc against every other."""
    items = int(item.max(initial=-1)) + 1
    sizes = np.bincount(item, minlength=items)
    kept = sizes[item] > 1
    x = x[kept]
    per_item = _above(x, item[kept], places, items)
    share = 1 / np.maximum(1, sizes - 1)
    crossed = (per_item * share) @ per_item.T
    nothing = np.zeros(1)
    return CutSums(
        values=np.array([float(len(x))]),
        above=per_item.sum(axis=1, keepdims=True),
        fixed_sum=nothing,
        fixed_square=nothing,
        single=-np.diag(crossed)[:, None],
        weighted=(per_item * (sizes * share)).sum(axis=1, keepdims=True),
        pair=-2 * crossed[:, :, None] if pairs else None,
    )


def _sizes(group: Ints, groups: int) -> Floats:
    """Two values, one of each side, for each row of a group."""
    return 2.0 * np.bincount(group, minlength=groups).astype(np.float64)


def _histogram(place: Ints, group: Ints, places: int, groups: int, weight: Floats | None = None) -> Floats:
    """Places × groups: how many rows (or how much weight) each place has in each group."""
    cell = place * groups + group
    counts = np.bincount(cell, weight, minlength=places * groups)
    return counts.reshape(places, groups).astype(np.float64)


def _above(x: Ints, group: Ints, places: int, groups: int, weight: Floats | None = None) -> Floats:
    """Places × groups: how many (or how much weight) lie above each place."""
    counts = _histogram(x, group, places, groups, weight)
    return counts.sum(axis=0) - np.cumsum(counts, axis=0)


def _enclosing(low: Ints, high: Ints, group: Ints, places: int, groups: int) -> Floats:
    """Places × places × groups: rows with low ≤ v and high > w."""
    cell = (low * places + high) * groups + group
    flat = np.bincount(cell, minlength=places * places * groups)
    counts = flat.reshape(places, places, groups)
    low_up_to = np.cumsum(counts, axis=0, dtype=np.float64)
    high_up_to = np.cumsum(low_up_to, axis=1)
    return low_up_to.sum(axis=1, keepdims=True) - high_up_to


def table_alpha(joint: Floats, cuts: Ints, *, level: Level) -> Floats:
    """α of cut values against a target, from counts (places × target levels), at any level of measurement.

    Slower than CutSums but general: level is nominal, ordinal or interval. Not-a-number where nothing varies.
    """
    places, k = joint.shape
    levels = np.arange(k, dtype=np.float64)
    alpha = np.full(len(cuts), np.nan)
    below = np.vstack([np.zeros(k), np.cumsum(joint, axis=0)])
    at_a_time = CELLS // (k * k)
    for rows in chunks(len(cuts), max(1, at_a_time)):
        ends = ((0, 0), (0, places))
        edges = np.pad(cuts[rows] + 1, ((0, 0), (1, 1)), constant_values=ends)
        table = np.diff(below[edges], axis=1)
        # Levels that no cut makes are rows without counts.
        missing = k - table.shape[1]
        table = np.pad(table, ((0, 0), (0, missing), (0, 0)))
        coincidences = table + table.transpose(0, 2, 1)
        alpha[rows] = alpha_of_coincidences(coincidences, levels, level=level)
    return alpha
