"""How alike are two result lists, cut at a depth k? The measures that RBO is compared with.

Each takes two lists, best first and without ties, and gives a similarity, 1 for equal lists. A value at one k is
another measure than the value at another k: never mix them. A user picks one by name from LIST_SIMILARITIES, RBO too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, Within
from assay.core.tables import Table
from assay.rankings import CORRELATIONS
from assay.rankings.counts import concordant_pairs
from assay.rankings.rank_biased import Items, Ranking, rbo_ext

LIST_SIMILARITIES: Registry[Callable[..., float]] = Registry("list similarity")


@LIST_SIMILARITIES.register("rbo")
def rbo_similarity(
    a: Items | Ranking, b: Items | Ranking, *, p: Annotated[float, Within(0, 1, open=True)] = 0.9, ties: str = "a"
) -> float:
    """Rank-biased overlap, extrapolated: top-weighted, needs no depth.

    >>> round(rbo_similarity(["a", "b", "d"], ["c", "b", "e"]), 4)
    0.315
    """
    return rbo_ext(a, b, p, ties=ties)


@LIST_SIMILARITIES.register("overlap")
def overlap(a: Items | Ranking, b: Items | Ranking, *, k: Annotated[int, Within(1)] | None = None) -> float:
    """The share of the first k that both lists hold, |A ∩ B| / k, whatever the order.

    k defaults to the length of the shorter list; a list shorter than k still divides by k.

    >>> overlap(["a", "b", "c", "d"], ["d", "c", "x", "y"])
    0.5
    """
    both = _both(a, b, k)
    return both.shared / both.k


@LIST_SIMILARITIES.register("average-overlap")
def average_overlap(a: Items | Ranking, b: Items | Ranking, *, k: Annotated[int, Within(1)] | None = None) -> float:
    """Mean of the overlap at depths 1 … k: top-weighted, but its values at different k do not compare.

    AO = 1/k Σ_{d≤k} |A_d ∩ B_d| / d. It can rise while every new item disagrees (Webber 2010, Fig. 7.2).

    >>> round(average_overlap(list("abcdefg"), list("zcavwxy"), k=4), 3)
    0.292
    """
    from scipy.special import digamma

    both = _both(a, b, k)
    agreement = both.agreement()
    deepest = len(agreement)
    # Deeper than both lists nothing is shared that was not: Σ shared / d = shared · (H_k − H_deepest).
    past = both.shared * (digamma(both.k + 1.0) - digamma(deepest + 1.0)) if both.k > deepest else 0.0
    return float((agreement.sum() + past) / both.k)


@LIST_SIMILARITIES.register("kendall-top-k")
def kendall_top_k(
    a: Items | Ranking,
    b: Items | Ranking,
    *,
    k: Annotated[int, Within(1)] | None = None,
    penalty: Annotated[float, Within(0, 1)] = 0.0,
) -> float:
    """Kendall's distance K^(p) of top-k lists as a similarity 1 − 2K/max: 1 the same, −1 disjoint, about 0 reversed.

    An item missing from a list ranks below all that it holds; a pair of which one list holds neither costs `penalty`
    (0 … 1; K^(0) by default). max = n_a n_b + penalty·(pairs within each list), k² for two lists of k.
    Negative values mean little overlap, not a reversed order. Fagin, Kumar & Sivakumar 2003.

    >>> kendall_top_k(["a", "b"], ["a", "b"]), kendall_top_k(["a", "b"], ["x", "y"])
    (1.0, -1.0)
    """
    if not 0 <= penalty <= 1:
        raise UsageError(f"penalty {penalty:g}: a pair that one list does not order costs between 0 and 1")
    both = _both(a, b, k)
    _, discordant = both.pairs()
    # Of two docs that one list lacks, that list does not say which comes first.
    unordered = _choose_two(both.only_a) + _choose_two(both.only_b)
    distance = discordant + penalty * unordered
    within_lists = _choose_two(both.n_a) + _choose_two(both.n_b)
    largest = both.n_a * both.n_b + penalty * within_lists
    return float(1 - 2 * distance / largest)


@LIST_SIMILARITIES.register("gamma-top-k")
def gamma_top_k(a: Items | Ranking, b: Items | Ranking, *, k: Annotated[int, Within(1)] | None = None) -> float:
    """Goodman and Kruskal's γ of top-k lists: (C − D)/(C + D), pairs that one list does not order left out.

    Two lists of the same single item order no pair: an error.

    >>> gamma_top_k(["a", "b", "c"], ["a", "c", "b"])
    0.3333333333333333
    """
    both = _both(a, b, k)
    concordant, discordant = both.pairs()
    ordered = concordant + discordant
    if ordered == 0:
        raise DataError("the two lists order no pair of items in common; gamma needs at least one")
    return (concordant - discordant) / ordered


@LIST_SIMILARITIES.register("footrule-top-k")
def footrule_top_k(a: Items | Ranking, b: Items | Ranking, *, k: Annotated[int, Within(1)] | None = None) -> float:
    """Spearman's footrule of top-k lists as a similarity: 1 − Σ|rank_a − rank_b| / maximum.

    A missing item is placed at rank k + 1; disjoint lists score 0 (Fagin, Kumar & Sivakumar 2003).

    >>> footrule_top_k(["a", "b"], ["b", "a"]), footrule_top_k(["a", "b"], ["x", "y"])
    (0.6666666666666667, 0.0)
    """
    both = _both(a, b, k)
    return both.moved(lambda rank: rank)


@LIST_SIMILARITIES.register("bar-ilan")
def bar_ilan(a: Items | Ranking, b: Items | Ranking, *, k: Annotated[int, Within(1)] | None = None) -> float:
    """M of Bar-Ilan, Mat-Hassan & Levene 2006: 1 − Σ|1/rank_a − 1/rank_b| / maximum, a missing item at rank k + 1.

    Top-weighted; disjoint lists score 0. Two lists of one item differ as far as 1/1 − 1/2 allows.

    >>> round(bar_ilan(["a", "b"], ["b", "a"]), 4)
    0.4
    """
    both = _both(a, b, k)
    return both.moved(lambda rank: 1 / rank)


@LIST_SIMILARITIES.register("anchor-map", symmetric=False)
def anchor_map(
    a: Items | Ranking,
    b: Items | Ranking,
    *,
    s: Annotated[int, Within(1)] = 30,
    k: Annotated[int, Within(1)] | None = None,
) -> float:
    """Average precision of b to depth k, where the first s of a count as relevant: asymmetric (Buckley 2004).

    k defaults to the whole of b. A list a shorter than s anchors what it has.

    >>> round(anchor_map(["a", "b", "c"], ["a", "x", "b"], s=2), 4)
    0.8333
    """
    if s < 1:
        raise UsageError(f"s = {s}: at least one item must be the anchor")
    anchors = _strict(a).items[:s]
    other = _strict(b).items[:k]
    places = np.arange(len(other))
    places_in_other = _places(anchors, other)
    hit = np.isin(places, places_in_other)
    precision = hit.cumsum() / (places + 1)
    precision_at_hits = hit * precision
    return float(precision_at_hits.sum() / len(anchors))


def named_similarities() -> list[Table]:
    """What can be named: similarities of lists, and correlations of rankings of the same items."""
    return [
        _named("Of result lists", LIST_SIMILARITIES),
        _named("Of rankings of the same runs", CORRELATIONS),
    ]


def _named(title: str, registry: Registry[Callable[..., float]]) -> Table:
    rows = []
    for entry in registry:
        settings = [f"{key}={value}" for key, value in entry.parameters.items()]
        row = (entry.name, ", ".join(settings), entry.summary)
        rows.append(row)
    columns = {"name": "", "parameters": "", "what": ""}
    return Table.of(columns, rows, caption=title)


@dataclass(frozen=True, eq=False)
class _Both:
    """The first k of two lists: how many items each has, and the ranks of those they share, in the order of a."""

    k: int
    n_a: int
    n_b: int
    rank_a: Ints
    rank_b: Ints

    @property
    def shared(self) -> int:
        """Items that both lists hold."""
        return len(self.rank_a)

    @property
    def only_a(self) -> int:
        """Items that only the first list holds."""
        return self.n_a - self.shared

    @property
    def only_b(self) -> int:
        """Items that only the second list holds."""
        return self.n_b - self.shared

    def agreement(self) -> Floats:
        """|A_d ∩ B_d| / d for d = 1 … k, or to the end of the longer list if that comes first."""
        deepest = min(self.k, max(self.n_a, self.n_b))
        depth = np.arange(1, deepest + 1)
        in_both_from = np.maximum(self.rank_a, self.rank_b)
        new_at_depth = np.bincount(in_both_from, minlength=deepest + 1)[1:]
        shared = new_at_depth.cumsum()
        return np.asarray(shared / depth)

    def pairs(self) -> tuple[int, int]:
        """Pairs of items that both lists order: alike and unlike; a missing item ranks below all that are there."""
        shared = self.shared
        alike = int(concordant_pairs(self.rank_a, self.rank_b))
        unlike = _choose_two(shared) - alike
        # An item that only a holds, above a shared one in a, must be below it in b; below it, they agree.
        rank_sum = int(self.rank_a.sum()) + int(self.rank_b.sum())
        unlike_mixed = rank_sum - shared * (shared + 1)
        alike_mixed = shared * (self.only_a + self.only_b) - unlike_mixed
        # An item that only a holds and one that only b holds are ordered in opposite ways.
        opposite = self.only_a * self.only_b
        return alike + alike_mixed, unlike + unlike_mixed + opposite

    def moved(self, value: Callable[[Floats], Floats]) -> float:
        """1 − Σ|value(rank_a) − value(rank_b)| over all items / the same for disjoint lists; missing at k + 1."""
        missing = value(np.array(self.k + 1.0))
        ranks_a = np.arange(1.0, self.n_a + 1)
        ranks_b = np.arange(1.0, self.n_b + 1)
        # What each item costs if the other list lacks it.
        cost_a = np.abs(value(ranks_a) - missing)
        cost_b = np.abs(value(ranks_b) - missing)
        largest = cost_a.sum() + cost_b.sum()
        shared_a = cost_a[self.rank_a - 1].sum()
        shared_b = cost_b[self.rank_b - 1].sum()
        alone = cost_a.sum() - shared_a + cost_b.sum() - shared_b
        value_a = value(self.rank_a.astype(float))
        value_b = value(self.rank_b.astype(float))
        shared = np.abs(value_a - value_b).sum()
        return float(1 - (shared + alone) / largest)


def _both(a: Items | Ranking, b: Items | Ranking, k: int | None) -> _Both:
    first = _strict(a)
    second = _strict(b)
    depth = min(len(first), len(second)) if k is None else k
    if depth < 1:
        raise UsageError(f"k = {depth}: lists are compared at depth 1 or more")
    items_a = first.items[:depth]
    items_b = second.items[:depth]
    place_in_b = _places(items_a, items_b)
    in_both = place_in_b >= 0
    return _Both(
        k=depth,
        n_a=len(items_a),
        n_b=len(items_b),
        rank_a=np.flatnonzero(in_both) + 1,
        rank_b=place_in_b[in_both] + 1,
    )


def _strict(items: Items | Ranking) -> Ranking:
    ranking = Ranking.of(items)
    if (ranking.size > 1).any():
        raise UsageError("this measure takes lists without ties; break them first, or use rbo with ties w, a or b")
    return ranking


def _places(wanted: tuple[object, ...], among: tuple[object, ...]) -> Ints:
    """The places of the wanted items among others; −1 for a missing one."""
    place = {item: i for i, item in enumerate(among)}
    places = [place.get(item, -1) for item in wanted]
    return np.array(places, dtype=np.int64)


def _choose_two(n: int) -> int:
    return n * (n - 1) // 2
