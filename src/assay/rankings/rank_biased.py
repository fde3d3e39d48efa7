"""How alike are two result lists, when the top matters most and the lists go on? Rank-biased overlap (RBO).

Lists may hold different items, differ in length and have ties. What is not seen bounds the score: a result reads
EXT [MIN – MAX]. Webber, Moffat & Zobel 2010 (Webber 2010, ch. 7); ties after Corsi & Urbano 2024.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.rankings.correlation import CORRELATIONS, Heavy, aligned, choice
from assay.rankings.counts import tie_groups

Items = Sequence[Any] | npt.NDArray[Any]
TIE_FORMS = ("w", "a", "b")


@dataclass(frozen=True, eq=False)
class Ranking:
    """Items best first; `top` is the first rank of an item's tie group, `size` how many share it."""

    items: tuple[Hashable, ...]
    top: Ints
    size: Ints

    def __len__(self) -> int:
        return len(self.items)

    @classmethod
    def of(cls, items: Items | Ranking) -> Ranking:
        """A ranking from items best first; tied items stand together in a set.

        >>> Ranking.of(["red", {"blue", "green"}, "pink"]).top.tolist()
        [1, 2, 2, 4]
        """
        if isinstance(items, Ranking):
            return items
        if isinstance(items, str | bytes):
            raise UsageError(f"a ranking is a list of items, not a text ({items!r:.40}); parse_ranking reads a text")
        plain = items.tolist() if isinstance(items, np.ndarray) else items
        groups = [sorted(g, key=str) if isinstance(g, Set) else [g] for g in plain]
        size = np.array([len(g) for g in groups], dtype=np.int64)
        flat = tuple(item for g in groups for item in g)
        _check(flat)
        return cls(flat, np.repeat(np.cumsum(size) - size + 1, size), np.repeat(size, size))

    @classmethod
    def of_scores(cls, scores: npt.ArrayLike, items: Items | None = None) -> Ranking:
        """Items by falling score (0, 1, … by default); equal scores are tied.

        >>> Ranking.of_scores([0.1, 0.7, 0.7]).top.tolist()
        [1, 1, 3]
        """
        values = np.asarray(scores, dtype=np.float64)
        if np.isnan(values).any():
            raise DataError("a score is not a number; every item needs one")
        order = np.argsort(-values, kind="stable")
        above, size = tie_groups(-values)
        names = np.arange(len(values)).tolist() if items is None else list(items)
        flat = tuple(names[i] for i in order.tolist())
        _check(flat)
        return cls(flat, above[order] + 1, size[order])


def _check(items: tuple[Hashable, ...]) -> None:
    if not items:
        raise DataError("a ranking is empty; it needs at least one item")
    if len(set(items)) < len(items):
        seen: set[Hashable] = set()
        twice = next(i for i in items if i in seen or seen.add(i))  # type: ignore[func-returns-value]
        raise DataError(f"a ranking holds {twice!r} twice; an item has one rank")


def parse_ranking(text: str) -> Ranking:
    """A ranking from items separated by blanks, tied items in brackets.

    >>> parse_ranking("red (blue green) pink").size.tolist()
    [1, 2, 2, 1]
    """
    groups = re.findall(r"\(([^()]*)\)|([^\s()]+)", text)
    return Ranking.of([set(tied.split()) if tied else one for tied, one in groups if tied or one])


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
        return {"rbo": self.ext, "rbo_min": self.min, "rbo_max": self.max, "residual": self.res, "p": self.p}

    def table(self) -> Table:
        """One row."""
        columns = {"RBO EXT": ".4f", "MIN": ".4f", "MAX": ".4f", "residual": ".4f"}
        row = (self.ext, self.min, self.max, self.res)
        keys = {"RBO EXT": "rbo", "MIN": "rbo_min", "MAX": "rbo_max"}
        notes = [f"p = {self.p:g}; EXT [MIN – MAX]: what any continuation of the lists must respect"]
        return Table.of(columns, [row], caption="Rank-biased overlap", notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The score with its bounds, and the table."""
        return {**super().record(), **self.scalars()}


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
    if ties not in TIE_FORMS:
        raise UsageError(f"RBO: no tie form {ties!r}; known: {', '.join(TIE_FORMS)}")
    first, second = Ranking.of(a), Ranking.of(b)
    short, long = _by_length(first, second)
    seen, end = _agreements(short, long, ties)
    s, k = len(short), len(long)
    # Beyond the longer list, at its worst: no further item is shared.
    worst = end.shared * _log_tail(p, k)
    # At its best: each rank brings two shared items, until at depth `full` both lists hold the same.
    full = k + s - end.shared
    going = np.arange(k + 1, full + 1)
    growing = (2 * going - k - s + end.shared) / going * p**going
    best = float(growing.sum()) + p ** (full + 1) / (1 - p)
    # As at the end: the agreement goes on as it is.
    going_on = end.extrapolated / k * (p ** (k + 1) / (1 - p))
    return RBO(
        ext=_weighted(seen["ext"], going_on, p),
        min=_weighted(seen["min"], worst, p),
        max=_weighted(seen["max"], best, p),
        p=p,
        lengths=(len(first), len(second)),
    )


def _by_length(first: Ranking, second: Ranking) -> tuple[Ranking, Ranking]:
    """The shorter and the longer of two rankings."""
    return (first, second) if len(first) <= len(second) else (second, first)


def _weighted(agreements: Floats, tail: float, p: float) -> float:
    """(1−p)/p · (Σ_d A_d p^d + what comes after the last depth)."""
    weight = p ** np.arange(1, len(agreements) + 1)
    return float((1 - p) / p * ((agreements * weight).sum() + tail))


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
    first, second = Ranking.of(a), Ranking.of(b)
    short, long = _by_length(first, second)
    if not 1 <= k <= len(short):
        raise UsageError(f"RBO cut off at {k}: the shorter list has {len(short)} items; k must lie within both lists")
    seen, _ = _agreements(short, long, ties)
    return float((1 - p) * (seen["min"][:k] * p ** np.arange(k)).sum())


@CORRELATIONS.register("rbo", symmetric=True, distance=False)
def rbo_of_scores(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    p: float | None = None,
    top: float = 0.1,
    weight: float = 0.75,
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
    persistence = p if p is not None else persistence_for(max(1, round(top * len(a))), weight)
    turn = 1 if choice("heavy", heavy, ("top", "bottom")) == "top" else -1
    return rbo_ext(Ranking.of_scores(turn * a), Ranking.of_scores(turn * b), persistence, ties=ties)


def prefix_weight(p: float, depth: int) -> float:
    """W(1:d): the share of the whole RBO score that the first d ranks decide (Webber 2010, Eq. 7.21).

    >>> round(prefix_weight(0.9, 10), 4)
    0.8556
    """
    check_p(p)
    if depth < 1:
        raise UsageError(f"depth {depth}: a prefix has at least one rank")
    return float(1 - p ** (depth - 1) + (1 - p) / p * depth * _log_tail(p, depth - 1))


def rank_weight(p: float, rank: int) -> float:
    """W(d): the share of the RBO score that one rank decides, (1−p)/p Σ_{i≥d} p^i/i (Webber 2010, Eq. 7.19).

    >>> round(rank_weight(0.9, 1), 4)
    0.2558
    """
    return prefix_weight(p, rank) - (prefix_weight(p, rank - 1) if rank > 1 else 0.0)


def persistence_for(depth: int, weight: float) -> float:
    """The p for which the first `depth` ranks carry `weight` of the score; W(1:d) falls with p, so by bisection.

    >>> round(persistence_for(13, 0.75), 4)
    0.9493
    """
    if not 0 < weight < 1:
        raise UsageError(f"weight {weight:g}: a prefix carries a share between 0 and 1")
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if prefix_weight(middle, depth) > weight else (low, middle)
    return (low + high) / 2


def residual_range(p: float, depth: int) -> tuple[float, float]:
    """The smallest and the largest residual that two lists of this depth can have: identical and disjoint lists.

    Webber 2010, Eq. 7.16 and 7.18.

    >>> [round(r, 3) for r in residual_range(0.9, 10)]
    [0.144, 0.254]
    """
    check_p(p)
    beyond = np.arange(depth + 1, 2 * depth + 1)
    largest = 2 * p**depth - p ** (2 * depth) - 2 * depth * (1 - p) / p * (p**beyond / beyond).sum()
    return 1 - prefix_weight(p, depth), float(largest)


@dataclass(frozen=True)
class _End:
    """At the end of the longer list: items in common, and how many there would be if agreement went on."""

    shared: int
    extrapolated: float


def _agreements(short: Ranking, long: Ranking, ties: str) -> tuple[dict[str, Floats], _End]:
    """A_d for d = 1 … len(long), in three readings of the unseen rest of the shorter list; and the state at the end."""
    s, k = len(short), len(long)
    depth = np.arange(1, k + 1)
    in_short, in_long = _shared_places(short, long)
    # In the form w tied items all stand at the top rank of their group, as if each were alone there.
    s_size = np.ones_like(short.size) if ties == "w" else short.size
    l_size = np.ones_like(long.size) if ties == "w" else long.size
    shared = _summed(short.top[in_short], s_size[in_short], long.top[in_long], l_size[in_long], k)
    norm_s = np.where(depth <= s, _summed(short.top, s_size, short.top, s_size, k), depth)
    norm_l = _summed(long.top, l_size, long.top, l_size, k)
    norm = {"w": (norm_s + norm_l) / 2, "a": depth.astype(np.float64), "b": np.sqrt(norm_s * norm_l)}[ties]
    agreement_at_s = shared[s - 1] / norm[s - 1]
    # What the shorter list would hold beyond its end: at best the items that only the longer one has, in its order;
    # typically the share of them that it has held so far.
    alone = np.setdiff1d(np.arange(k), in_long)
    top, size = long.top[alone], l_size[alone]
    single = np.ones(len(alone), dtype=np.int64)
    after_s = s + 1 + np.arange(len(alone))
    best = _summed(top, size, after_s, single, k)
    begun = np.maximum(_summed(top, single, single, single, k), 1)
    typical = np.maximum(depth - s, 0) * agreement_at_s * _summed(top, size, single, single, k) / begun
    readings = {"min": shared / norm, "max": (shared + best) / norm, "ext": (shared + typical) / norm}
    end = _End(round(shared[-1]), float(shared[-1] + (k - s) * agreement_at_s))
    return readings, end


def _shared_places(short: Ranking, long: Ranking) -> tuple[Ints, Ints]:
    """The places of the shared items in the shorter and in the longer ranking, in the order of the shorter."""
    place = {item: i for i, item in enumerate(long.items)}
    in_long = np.array([place.get(item, -1) for item in short.items], dtype=np.int64)
    in_short = np.flatnonzero(in_long >= 0)
    return in_short, in_long[in_short]


def _summed(top_a: Ints, size_a: Ints, top_b: Ints, size_b: Ints, k: int) -> Floats:
    """Σ over items of c_a(d)·c_b(d) for d = 1 … k, c(d) = the chance that a tied item is among the first d.

    c rises in equal steps from the first to the last rank of the item's group. Untied items are counted; the others
    are summed a block of items × k at a time.
    """
    strict = (size_a == 1) & (size_b == 1)
    from_rank = np.maximum(top_a, top_b)[strict]
    total = np.bincount(from_rank[from_rank <= k], minlength=k + 1)[1:].cumsum().astype(np.float64)
    tied = np.flatnonzero(~strict)
    depth = np.arange(1, k + 1)
    for block in chunks(len(tied), 2**20 // k):
        at = tied[block]
        a = np.clip((depth - top_a[at, None] + 1) / size_a[at, None], 0, 1)
        b = np.clip((depth - top_b[at, None] + 1) / size_b[at, None], 0, 1)
        total += (a * b).sum(axis=0)
    return total


def _log_tail(p: float, k: int) -> float:
    """Σ_{i>k} p^i / i = ln(1/(1−p)) − Σ_{i≤k} p^i / i."""
    i = np.arange(1, k + 1)
    return float(max(0.0, -np.log1p(-p) - (p**i / i).sum()))


def check_p(p: float) -> None:
    """Refuses a persistence outside (0, 1)."""
    if not 0 < p < 1:
        raise UsageError(f"p = {p:g}: the persistence of RBO lies strictly between 0 and 1")
