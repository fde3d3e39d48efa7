"""Grades: all that a measure may see. Ranked grades (topics × depth), what was judged, and no ids.

Where the flow stands: tables → **grades** → scores. `aligned` makes them of a run and judgments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.core.arrays import Bools, Floats, Ints, true_cells
from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.core.registry import LARGEST

if TYPE_CHECKING:
    import numpy.typing as npt

UNJUDGED = -(2**31)
"""Stands in `ranked` for a doc that is not in the pool and past the end of a list, in `ideal` past its end."""


LARGEST_EXPONENT = 1000
"""Of gains 2^grade − 1: sums of a few million of them are still numbers."""


@dataclass(frozen=True, eq=False)
class Grades:
    """The grades of one run: a row per topic.

    ranked[t, r] is the grade of the doc at rank r + 1; ideal[t] are all judged grades of the topic, best first.
    top is the highest grade of the collection. tied[t, r] says that the doc has the score of the one above it.

    >>> from assay.data import Qrels, Run, align
    >>> g = align(Run.from_lists("r", {"1": ["a", "x", "b"]}), Qrels.from_dict({"1": {"a": 2, "b": 0, "c": 1}}))
    >>> g.gains().tolist(), g.judged().tolist(), g.relevant().tolist()
    ([[2.0, 0.0, 0.0]], [[True, False, True]], [2.0])
    """

    topics: tuple[str, ...]
    ranked: npt.NDArray[Any]
    retrieved: Ints
    ideal: npt.NDArray[Any]
    top: float = 1
    tied: Bools | None = None
    lengths: Floats | None = None
    """Words of each ranked doc, for measures of time."""
    inclusion: Floats | None = None
    """Probability with which each ranked judged doc was sampled for judging."""
    judged_inclusion: Floats | None = None
    """The same for the docs of `ideal`."""
    mixed: bool = False
    """Whether hits and gains are means over tied docs: set by ties="average" for measures linear in them."""

    @property
    def depth(self) -> int:
        """Length of the longest list."""
        return int(self.ranked.shape[1])

    def ranks(self, k: int | None = None) -> Floats:
        """1, 2, 3, … down to k or the depth."""
        return np.arange(1, self.ranked[:, :k].shape[1] + 1, dtype=np.float64)

    def hits(self, rel: float = 1, k: int | None = None) -> npt.NDArray[Any]:
        """Whether the doc at each rank is relevant; under ties="average" the share of its tied docs that are."""
        if self.mixed:
            return self._over_ties(self.ranked >= rel)[:, :k]
        return self.ranked[:, :k] >= rel

    def gains(self, gain: str = "grade", k: int | None = None) -> Floats:
        """Gain of the doc at each rank; unjudged docs and negative grades gain 0."""
        if self.mixed:
            return self._over_ties(gain_of(self.ranked, gain))[:, :k]
        return gain_of(self.ranked[:, :k], gain)

    def ideal_gains(self, gain: str = "grade", k: int | None = None) -> Floats:
        """Gains of all judged docs, best first; 0 for those that a mapping gives a negative gain."""
        gains = gain_of(self.ideal, gain)
        if gain != "grade":
            # By another gain than the grade the docs may come in another order; the best list leaves out what costs.
            gains = -np.sort(-np.maximum(gains, 0.0), axis=1)
        return gains[:, :k]

    def relevant(self, rel: float = 1) -> Floats:
        """R: judged docs of at least that grade, retrieved or not."""
        return (self.ideal >= rel).sum(axis=1).astype(np.float64)

    def nonrelevant(self, rel: float = 1) -> Floats:
        """N: judged docs below that grade; negative grades mean pooled but not judged and do not count."""
        return ((self.ideal >= 0) & (self.ideal < rel)).sum(axis=1).astype(np.float64)

    def judged(self, k: int | None = None) -> Bools:
        """Whether the doc at each rank is judged: its grade is at least 0."""
        return self.ranked[:, :k] >= 0

    def pooled(self, k: int | None = None) -> Bools:
        """Whether the doc at each rank is in the pool: it is judged, or has a negative grade."""
        return self.ranked[:, :k] != UNJUDGED

    def inside(self, k: int | None = None) -> Bools:
        """Whether there is a doc at each rank."""
        return self.ranks(k)[None, :] <= self.retrieved[:, None]

    def condensed(self) -> Grades:
        """The lists without their unjudged docs, closed up."""
        known = self.judged()
        kept = known.sum(axis=1)
        inside = np.arange(kept.max(initial=0)) < kept[:, None]
        # Row by row, as many places are inside as docs are known; places past the end of a list take any doc.
        closed = np.zeros(inside.shape, dtype=np.int64)
        _, closed[inside] = true_cells(known)
        ranked = np.take_along_axis(self.ranked, closed, axis=1)
        return replace(
            self,
            ranked=np.where(inside, ranked, UNJUDGED),
            retrieved=kept,
            tied=self._tied_condensed(closed, inside),
            lengths=_rearranged(self.lengths, closed),
            inclusion=_rearranged(self.inclusion, closed),
        )

    def cut(self, depth: int) -> Grades:
        """Only the first `depth` ranks, as if the run had no more."""
        return replace(
            self,
            ranked=self.ranked[:, :depth],
            retrieved=np.minimum(self.retrieved, depth),
            tied=None if self.tied is None else self.tied[:, :depth],
            lengths=None if self.lengths is None else self.lengths[:, :depth],
            inclusion=None if self.inclusion is None else self.inclusion[:, :depth],
        )

    def supposing(self, grade: float) -> Grades:
        """As if every retrieved unjudged doc had been judged with that grade; the judged set grows by them."""
        unknown = self.inside() & ~self.judged()
        added = np.where(unknown, grade, UNJUDGED)
        judged = np.concatenate([self.ideal, added], axis=1)
        order = np.argsort(-judged, axis=1, kind="stable")
        inclusion = self.judged_inclusion
        if inclusion is not None:
            certain = np.ones(added.shape)
            inclusion = np.concatenate([inclusion, certain], axis=1)
        return replace(
            self,
            ranked=np.where(unknown, grade, self.ranked),
            ideal=np.take_along_axis(judged, order, axis=1),
            judged_inclusion=_rearranged(inclusion, order),
        )

    def with_order(self, order: Ints) -> Grades:
        """The lists rearranged: rank r of topic t takes the doc of rank order[t, r]."""
        return replace(
            self,
            ranked=np.take_along_axis(self.ranked, order, axis=1),
            tied=None,
            lengths=_rearranged(self.lengths, order),
            inclusion=_rearranged(self.inclusion, order),
        )

    def blocks(self) -> Ints:
        """The number of the tied block of each rank, counted within the topic."""
        if self.tied is None:
            raise UsageError("this alignment does not know which docs are tied")
        return np.cumsum(~self.tied, axis=1)

    def _over_ties(self, values: npt.NDArray[Any]) -> Floats:
        """Each value replaced by the mean over its tied block."""
        if self.tied is None or not self.tied.any():
            return values.astype(np.float64)
        inside = self.inside()
        starts_block = ~self.tied
        block = np.cumsum(starts_block.ravel())
        counted = values * inside
        total = np.bincount(block, weights=counted.ravel())
        size = np.bincount(block, weights=inside.ravel())
        mean = total / np.maximum(size, 1)
        spread = mean[block].reshape(values.shape)
        return np.where(inside, spread, 0.0)

    def _tied_condensed(self, order: Ints, inside: Bools) -> Bools | None:
        if self.tied is None:
            return None
        block = np.take_along_axis(self.blocks(), order, axis=1)
        tied = np.zeros(inside.shape, dtype=bool)
        tied[:, 1:] = (block[:, 1:] == block[:, :-1]) & inside[:, 1:]
        return tied


def gain_of(grades: npt.NDArray[Any], gain: str) -> Floats:
    """Gains of grades: `grade`, `exp` (2^grade − 1), `binary`, or a mapping such as `1:3/2:9`.

    Unjudged docs and negative grades gain 0; a grade that a mapping does not name gains itself.

    >>> gain_of(np.array([0, 1, 2, -1]), "exp")
    array([0., 1., 3., 0.])
    >>> gain_of(np.array([0, 1, 2]), "1:0.5/2:0.9")
    array([0. , 0.5, 0.9])
    """
    positive = np.maximum(grades, 0).astype(np.float64)
    if gain == "grade":
        return positive
    if gain == "exp":
        largest = positive.max(initial=0.0)
        if largest > LARGEST_EXPONENT:
            raise UsageError(f"gain=exp: 2^{largest:g} is more than a number can hold; use gain=grade or a mapping")
        return np.exp2(positive) - 1
    if gain == "binary":
        return (positive > 0).astype(np.float64)
    out = positive.copy()
    for grade, value in gain_mapping(gain).items():
        out[grades == grade] = value
    return out


def gain_mapping(text: str) -> dict[float, float]:
    """The grades and gains of a text such as `1:3/2:9`."""
    try:
        pairs = (part.split(":") for part in text.split("/"))
        gains = {float(grade): float(value) for grade, value in pairs}
    except ValueError:
        raise UsageError(f"no gain {text!r}; known: grade, exp, binary, or a mapping such as 1:3/2:9") from None
    for grade, value in gains.items():
        if not (abs(grade) <= LARGEST and abs(value) <= LARGEST):  # nor nan
            raise UsageError(f"gain {text!r}: {grade:g}:{value:g} is no gain; give numbers of at most {LARGEST:g}")
    return gains


def grades(
    *ranked: Sequence[int | None],
    judged: Sequence[Sequence[int]] | Sequence[int] | None = None,
    top: float | None = None,
) -> Grades:
    """Grades by hand, for examples and tests: a list per topic, None for an unjudged doc.

    judged are all judged grades of the topic (or of each topic); by default those in the list.

    >>> g = grades([1, None, 1], judged=[1, 1, 1])
    >>> g.relevant().tolist(), g.hits().tolist()
    ([3.0], [[True, False, True]])
    """
    lists = [[UNJUDGED if grade is None else grade for grade in row] for row in ranked]
    pools: list[list[int]]
    if judged is None:
        pools = [[grade for grade in row if grade != UNJUDGED] for row in lists]
    elif len(judged) and isinstance(judged[0], Sequence):
        pools = [list(pool) for pool in judged if isinstance(pool, Sequence)]
    else:
        one_pool = [int(grade) for grade in judged if not isinstance(grade, Sequence)]
        pools = [one_pool] * len(lists)
    if top is None:
        top = max(max(pool, default=1) for pool in [[1], *pools])
    return Grades(
        topics=tuple(str(number) for number in range(1, len(lists) + 1)),
        ranked=_padded(lists),
        retrieved=np.array([len(row) for row in lists], dtype=np.int64),
        ideal=_padded([sorted(pool, reverse=True) for pool in pools]),
        top=top,
    )


def _padded(rows: Sequence[Sequence[int]]) -> npt.NDArray[np.int32]:
    longest = max(map(len, rows), default=0)
    table = np.full((len(rows), longest), UNJUDGED, dtype=np.int32)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def _rearranged(table: Floats | None, order: Ints) -> Floats | None:
    """Each row in another order, or nothing of nothing."""
    if table is None:
        return None
    return np.take_along_axis(table, order, axis=1)
