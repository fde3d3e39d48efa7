"""How alike are two result lists, when the top matters most and the lists go on? Rank-biased overlap (RBO).

Lists may hold different items, differ in length and have ties. What is not seen bounds the score: a result reads
EXT [MIN – MAX]. Webber, Moffat & Zobel 2010 (Webber 2010, ch. 7); ties after Corsi & Urbano 2024.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import UsageError
from assay.core.registry import Within, one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.rankings.correlation import CORRELATIONS, HEAVY, Heavy, aligned
from assay.rankings.ranked_items import Items as Items
from assay.rankings.ranked_items import Ranking as Ranking
from assay.rankings.ranked_items import parse_ranking as parse_ranking

TIE_FORMS = ("w", "a", "b")


@dataclass(frozen=True)
class RBO(Result):
    """Rank-biased overlap of two lists: the point estimate and the bounds that any continuation must respect."""

    ext: float
    min: float
    max: float
    p: float
    lengths: tuple[int, int]

    @property
    def res(self) -> float:
        """The residual: how far the unseen part can move the score."""
        return self.max - self.min

    def __str__(self) -> str:
        return f"{self.ext:.4f} [{self.min:.4f} – {self.max:.4f}]"

    def scalars(self) -> dict[str, float]:
        """The score with its bounds by the keys that records use."""
        return {
            "rbo": self.ext,
            "rbo_min": self.min,
            "rbo_max": self.max,
            "residual": self.res,
            "p": self.p,
        }

    def table(self) -> Table:
        """One row."""
        columns = {"RBO EXT": ".4f", "MIN": ".4f", "MAX": ".4f", "residual": ".4f"}
        row = (self.ext, self.min, self.max, self.res)
        keys = {"RBO EXT": "rbo", "MIN": "rbo_min", "MAX": "rbo_max"}
        notes = [f"p = {self.p:g}; EXT [MIN – MAX]: what any continuation of the lists must respect"]
        return Table.of(columns, [row], caption="Rank-biased overlap", notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The score with its bounds, and the table."""
        record = super().record()
        record.update(self.scalars())
        return record


def rbo(a: Items | Ranking, b: Items | Ranking, p: float = 0.9, *, ties: str = "a") -> RBO:
    """Rank-biased overlap: the expected agreement of two lists for a reader who goes on with probability p.

    RBO = (1−p) Σ_d p^(d−1) A_d, A_d the share of items that the first d of both have in common. MIN assumes that
    nothing unseen agrees, MAX that everything does, EXT that agreement goes on as at the end. Lengths may differ.
    Ties: `w` tied items are equal, all at the first rank of their group; `a` the mean over all orders of the ties;
    `b` as `a`, corrected for the information that ties lose. Without ties the three are the same.
    An empty list and a list with an item twice are errors. Webber 2010, Eq. 7.11, 7.30, 7.32; Corsi & Urbano 2024.

    >>> print(rbo(["a", "b", "d"], ["c", "b", "e"], 0.9))
    0.3150 [0.1558 – 0.7828]
    """
    check_p(p)
    _check_ties(ties)
    first = Ranking.of(a)
    second = Ranking.of(b)
    short, long = _by_length(first, second)
    seen, end = _agreements(short, long, ties)
    s = len(short)
    k = len(long)
    # Beyond the longer list, at its worst: no further item is shared.
    worst = end.shared * _log_tail(p, k)
    # At its best: each rank brings two shared items, until at depth `full` both lists hold the same.
    full = k + s - end.shared
    depth = np.arange(k + 1, full + 1)
    growing_agreement = (2 * depth - k - s + end.shared) / depth
    growing = growing_agreement * p**depth
    best = float(growing.sum()) + p ** (full + 1) / (1 - p)
    # As at the end: the agreement goes on as it is.
    weight_beyond = p ** (k + 1) / (1 - p)
    going_on = end.extrapolated / k * weight_beyond
    return RBO(
        ext=_weighted(seen["ext"], going_on, p),
        min=_weighted(seen["min"], worst, p),
        max=_weighted(seen["max"], best, p),
        p=p,
        lengths=(len(first), len(second)),
    )


def _by_length(first: Ranking, second: Ranking) -> tuple[Ranking, Ranking]:
    """The shorter and the longer of two rankings."""
    if len(first) <= len(second):
        return first, second
    return second, first


def _weighted(agreements: Floats, tail: float, p: float) -> float:
    """(1−p)/p · (Σ_d A_d p^d + what comes after the last depth)."""
    depth = np.arange(1, len(agreements) + 1)
    seen = (agreements * p**depth).sum()
    return float((1 - p) / p * (seen + tail))


def rbo_ext(a: Items | Ranking, b: Items | Ranking, p: float = 0.9, *, ties: str = "a") -> float:
    """RBO extrapolated: the point estimate alone; see `rbo`.

    >>> round(rbo_ext(["a", "b", "d"], ["c", "b", "e"], 0.9), 4)
    0.315
    """
    return rbo(a, b, p, ties=ties).ext


def rbd(a: Items | Ranking, b: Items | Ranking, p: float = 0.9, *, ties: str = "a") -> float:
    """Rank-biased distance 1 − EXT, a metric among lists of one length, and not across lengths.

    Counterexample: of ⟨c⟩, ⟨c, a, e⟩ and ⟨e, b⟩ at p = .9 the first two are at distance 0, the first and the last at 1,
    but the second and the last at .73.

    >>> c, cae, eb = ["c"], ["c", "a", "e"], ["e", "b"]
    >>> round(rbd(c, cae), 2), round(rbd(cae, eb), 2), round(rbd(c, eb), 2)
    (0.0, 0.73, 1.0)
    """
    return 1 - rbo_ext(a, b, p, ties=ties)


def rbo_cut_off(a: Items | Ranking, b: Items | Ranking, p: float = 0.9, *, k: int, ties: str = "a") -> float:
    """The sum of RBO cut off at depth k, sometimes written RBO@k: **not RBO**, and not even its tightest lower bound.

    Two identical lists score 1 − p^k, not 1. Use `rbo` unless you must match a figure that was made this way.

    >>> round(rbo_cut_off(["a", "b", "d"], ["c", "b", "e"], 0.9, k=3), 4)
    0.072
    """
    check_p(p)
    _check_ties(ties)
    short, long = _by_length(Ranking.of(a), Ranking.of(b))
    if not 1 <= k <= len(short):
        raise UsageError(f"RBO cut off at {k}: the shorter list has {len(short)} items; k must lie within both lists")
    seen, _ = _agreements(short, long, ties)
    agreement = seen["min"][:k]
    weight = p ** np.arange(k)
    return float((1 - p) * (agreement * weight).sum())


@CORRELATIONS.register("rbo", symmetric=True, distance=False)
def rbo_of_scores(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    p: Annotated[float, Within(0, 1, open=True)] | None = None,
    top: Annotated[float, Within(0, 1)] = 0.1,
    weight: Annotated[float, Within(0, 1, open=True)] = 0.75,
    ties: str = "a",
    heavy: Heavy = "top",
) -> float:
    """RBO (EXT) of two rankings of the same items by their scores.

    Without p, the p for which the best `top` share of the items carries `weight` of the score (Roitero 2020: the top
    10 % of runs carry 75 %). heavy="bottom" compares the rankings from their bottom up.

    >>> round(rbo_of_scores([3, 2, 1], [3, 1, 2], p=0.9), 4)
    0.955
    """
    a, b = aligned(x, y)
    if p is None:
        items_at_top = max(1, round(top * len(a)))
        p = persistence_for(items_at_top, weight)
    if one_of("heavy", heavy, HEAVY) == "bottom":
        a = -a
        b = -b
    first = Ranking.of_scores(a)
    second = Ranking.of_scores(b)
    return rbo_ext(first, second, p, ties=ties)


def prefix_weight(p: float, depth: int) -> float:
    """W(1:d): the share of the whole RBO score that the first d ranks decide (Webber 2010, Eq. 7.21).

    >>> round(prefix_weight(0.9, 10), 4)
    0.8556
    """
    check_p(p)
    if depth < 1:
        raise UsageError(f"depth {depth}: a prefix has at least one rank")
    seen_before = 1 - p ** (depth - 1)
    at_depth = (1 - p) / p * depth * _log_tail(p, depth - 1)
    return float(seen_before + at_depth)


def rank_weight(p: float, rank: int) -> float:
    """W(d): the share of the RBO score that one rank decides, (1−p)/p Σ_{i≥d} p^i/i (Webber 2010, Eq. 7.19).

    >>> round(rank_weight(0.9, 1), 4)
    0.2558
    """
    ranks_above = 0.0
    if rank > 1:
        ranks_above = prefix_weight(p, rank - 1)
    return prefix_weight(p, rank) - ranks_above


def persistence_for(depth: int, weight: float) -> float:
    """The p for which the first `depth` ranks carry `weight` of the score; W(1:d) falls with p, so by bisection.

    >>> round(persistence_for(13, 0.75), 4)
    0.9493
    """
    if not 0 < weight < 1:
        raise UsageError(f"weight {weight:g}: a prefix carries a share between 0 and 1")
    low = 0.0
    high = 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if prefix_weight(middle, depth) > weight:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def residual_range(p: float, depth: int) -> tuple[float, float]:
    """The smallest and the largest residual that two lists of this depth can have: identical and disjoint lists.

    Webber 2010, Eq. 7.16 and 7.18.

    >>> [round(r, 3) for r in residual_range(0.9, 10)]
    [0.144, 0.254]
    """
    check_p(p)
    smallest = 1 - prefix_weight(p, depth)
    # Two disjoint lists become the same at twice their depth.
    beyond = np.arange(depth + 1, 2 * depth + 1)
    logs = (p**beyond / beyond).sum()
    largest = 2 * p**depth - p ** (2 * depth) - 2 * depth * (1 - p) / p * logs
    return smallest, float(largest)


@dataclass(frozen=True)
class _End:
    """At the end of the longer list: items in common, and how many there would be if agreement went on."""

    shared: int
    extrapolated: float


def _agreements(short: Ranking, long: Ranking, ties: str) -> tuple[dict[str, Floats], _End]:
    """A_d for d = 1 … len(long), in three readings of the unseen rest of the shorter list; and the state at the end."""
    s = len(short)
    k = len(long)
    depth = np.arange(1, k + 1)
    in_short, in_long = _shared_places(short, long)
    if ties == "w":
        # Tied items all stand at the top rank of their group, as if each were alone there.
        short = replace(short, size=np.ones_like(short.size))
        long = replace(long, size=np.ones_like(long.size))
    shared = _summed(
        short.top[in_short],
        short.size[in_short],
        long.top[in_long],
        long.size[in_long],
        k,
    )
    norm = _norm(short, long, ties)
    agreement_at_s = shared[s - 1] / norm[s - 1]
    # What the shorter list would hold beyond its end: at best the items that only the longer one has, in its order;
    # typically the share of them that it has held so far.
    alone = np.setdiff1d(np.arange(k), in_long)
    top = long.top[alone]
    size = long.size[alone]
    single = np.ones(len(alone), dtype=np.int64)
    after_s = s + 1 + np.arange(len(alone))
    best = _summed(top, size, after_s, single, k)
    begun = np.maximum(_summed(top, single, single, single, k), 1)
    passed = _summed(top, size, single, single, k)
    typical = np.maximum(depth - s, 0) * agreement_at_s * passed / begun
    readings = {
        "min": shared / norm,
        "max": (shared + best) / norm,
        "ext": (shared + typical) / norm,
    }
    end = _End(
        shared=round(shared[-1]),
        extrapolated=float(shared[-1] + (k - s) * agreement_at_s),
    )
    return readings, end


def _norm(short: Ranking, long: Ranking, ties: str) -> Floats:
    """What the shared items are divided by at each depth: how far each list agrees with itself, or the depth."""
    k = len(long)
    depth = np.arange(1, k + 1)
    if ties == "a":
        return depth.astype(np.float64)
    of_long = _summed(long.top, long.size, long.top, long.size, k)
    of_short = _summed(short.top, short.size, short.top, short.size, k)
    of_short = np.where(depth <= len(short), of_short, depth)
    if ties == "w":
        return np.asarray((of_short + of_long) / 2)
    return np.asarray(np.sqrt(of_short * of_long))


def _shared_places(short: Ranking, long: Ranking) -> tuple[Ints, Ints]:
    """The places of the shared items in the shorter and in the longer ranking, in the order of the shorter."""
    place = {item: i for i, item in enumerate(long.items)}
    places = [place.get(item, -1) for item in short.items]
    in_long = np.array(places, dtype=np.int64)
    in_short = np.flatnonzero(in_long >= 0)
    return in_short, in_long[in_short]


def _summed(top_a: Ints, size_a: Ints, top_b: Ints, size_b: Ints, k: int) -> Floats:
    """Σ over items of c_a(d)·c_b(d) for d = 1 … k, c(d) = the chance that a tied item is among the first d.

    c rises in equal steps from the first to the last rank of the item's group. Untied items are counted; the others
    are summed a block of items × k at a time.
    """
    strict = (size_a == 1) & (size_b == 1)
    in_both_from = np.maximum(top_a, top_b)[strict]
    within_k = in_both_from[in_both_from <= k]
    new_at_depth = np.bincount(within_k, minlength=k + 1)[1:]
    total = new_at_depth.cumsum().astype(np.float64)
    tied = np.flatnonzero(~strict)
    depth = np.arange(1, k + 1)
    for block in chunks(len(tied), 2**20 // k):
        items = tied[block]
        chance_a = _chance(depth, top_a[items], size_a[items])
        chance_b = _chance(depth, top_b[items], size_b[items])
        total += (chance_a * chance_b).sum(axis=0)
    return total


def _chance(depth: Ints, top: Ints, size: Ints) -> Floats:
    """items × depths: the chance that a tied item is among the first d."""
    ranks_of_group = depth - top[:, None] + 1
    return np.clip(ranks_of_group / size[:, None], 0, 1)


def _log_tail(p: float, k: int) -> float:
    """Σ_{i>k} p^i / i = ln(1/(1−p)) − Σ_{i≤k} p^i / i."""
    i = np.arange(1, k + 1)
    whole = -np.log1p(-p)
    head = (p**i / i).sum()
    return float(max(0.0, whole - head))


def check_p(p: float) -> None:
    """Refuses a persistence outside (0, 1)."""
    if not isinstance(p, Real) or not 0 < p < 1:
        raise UsageError(f"p = {p}: the persistence of RBO lies strictly between 0 and 1")


def _check_ties(ties: str) -> None:
    if ties not in TIE_FORMS:
        raise UsageError(f"RBO: no tie form {ties!r}; known: {', '.join(TIE_FORMS)}")
