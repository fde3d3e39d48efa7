"""How does the similarity of runs change: with the depth of the lists, with p, from day to day?

Where it stands: runs → **curves**, one table and one picture for all three. Webber 2010, Figs. 7.5 to 7.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Run
from assay.rankings.rank_biased import rbo_ext
from assay.similarity.by_topic import check_runs, common_topics, if_defined, ranking_of
from assay.similarity.overlap import LIST_SIMILARITIES

DEPTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Depths at which lists are cut unless others are given, as far as the lists reach."""


@dataclass(frozen=True, eq=False)
class SimilarityCurves(Result):
    """Similarities, mean over topics, at each depth, p or day."""

    caption: str
    over: str
    """What changes: depth, p or day."""
    at: tuple[Any, ...]
    curves: Mapping[str, Floats]
    recipe: str

    def table(self) -> Table:
        """One row per depth, p or day; one column per curve."""
        form = {"depth": "d", "p": "g"}.get(self.over, "")
        columns = {self.over: form, **dict.fromkeys(self.curves, ".4f")}
        rows = [(at, *(values[i] for values in self.curves.values())) for i, at in enumerate(self.at)]
        return Table.of(columns, rows, caption=self.caption, notes=[self.recipe])


def depth_curves(
    a: Run,
    b: Run,
    measures: Sequence[str] = ("rbo(p=0.9)", "kendall-top-k"),
    *,
    depths: Sequence[int] | None = None,
) -> SimilarityCurves:
    """Similarities of two runs whose lists are cut at each depth, mean over their common topics.

    RBO settles with depth; what counts pairs or items of the first k, such as Kendall's τ of top-k lists, is another
    measure at each depth (Webber 2010, §7.4.2).

    >>> a, b = (Run.from_lists(name, {"1": docs}) for name, docs in [("a", "abcd"), ("b", "abdc")])
    >>> depth_curves(a, b, ["overlap"], depths=[2, 3]).curves["overlap"].round(3).tolist()
    [1.0, 0.667]
    """
    if not measures:
        raise UsageError("no similarity is named; name at least one, e.g. kendall-top-k")
    topics = common_topics([a, b])
    longest = int(max(a.sizes.max(initial=1), b.sizes.max(initial=1)))
    chosen = sorted(set(depths)) if depths else [depth for depth in DEPTHS if depth <= longest]
    if chosen[0] < 1:
        raise UsageError(f"depths must be at least 1 (got {chosen[0]})")
    curves = {name: np.empty(len(chosen)) for name in measures}
    for i, depth in enumerate(chosen):
        first = a.cut(depth)
        second = b.cut(depth)
        lists = [(ranking_of(first, topic), ranking_of(second, topic)) for topic in topics]
        for name in measures:
            similarity = LIST_SIMILARITIES.bound(name)
            by_topic = np.array([if_defined(similarity, x, y) for x, y in lists])
            curves[name][i] = _mean_defined(by_topic)
    recipe = f"means over {len(topics)} topics; topics on which a similarity is undefined are left out"
    return SimilarityCurves(f"Similarity of {a.name} and {b.name} by depth", "depth", tuple(chosen), curves, recipe)


def persistence_curves(runs: Sequence[Run], ps: Sequence[float], *, depth: int | None = None) -> SimilarityCurves:
    """RBO of the first run with each of the others, at every p, mean over the topics that all have.

    >>> runs = [Run.from_lists(name, {"1": docs}) for name, docs in [("a", "abd"), ("b", "cbe"), ("c", "abd")]]
    >>> persistence_curves(runs, [0.5, 0.9]).curves["c"].round(4).tolist()
    [1.0, 1.0]
    """
    check_runs(runs)
    if not ps:
        raise DataError("no p is given; name at least one, between 0 and 1")
    reference, *others = runs if depth is None else [run.cut(depth) for run in runs]
    topics = common_topics([reference, *others])
    own = [ranking_of(reference, topic) for topic in topics]
    curves = {}
    for other in others:
        theirs = [ranking_of(other, topic) for topic in topics]
        means = []
        for p in ps:
            by_topic = [rbo_ext(x, y, p) for x, y in zip(own, theirs, strict=True)]
            means.append(float(np.mean(by_topic)))
        curves[other.name] = np.array(means)
    recipe = f"RBO EXT, means over {len(topics)} topics"
    return SimilarityCurves(f"Similarity of {reference.name} and other runs by p", "p", tuple(ps), curves, recipe)


def day_curves(
    first: Sequence[Run], second: Sequence[Run], *, p: float = 0.9, depth: int | None = None
) -> SimilarityCurves:
    """RBO of two engines day by day: of the first run of one with the first of the other, and so on.

    A jump is a day on which one of the engines changed, or began to show the results of the other (Webber 2010,
    Fig. 7.6). Topics are those that both have on that day; days carry the names of the first engine's runs.

    >>> mine = [Run.from_lists(day, {"1": docs}) for day, docs in [("mon", "abc"), ("tue", "xyz")]]
    >>> yours = [Run.from_lists(day, {"1": "xyz"}) for day in ("1", "2")]
    >>> day_curves(mine, yours).curves["mean"].round(6).tolist()
    [0.0, 1.0]
    """
    if len(first) != len(second):
        raise DataError(f"{len(first)} days of one engine and {len(second)} of the other; give a run of each per day")
    if not first:
        raise DataError("no day is given; give at least one run of each engine")
    means = []
    medians = []
    counts = []
    for mine, yours in zip(first, second, strict=True):
        if depth is not None:
            mine = mine.cut(depth)
            yours = yours.cut(depth)
        topics = common_topics([mine, yours])
        by_topic = [rbo_ext(ranking_of(mine, topic), ranking_of(yours, topic), p) for topic in topics]
        means.append(float(np.mean(by_topic)))
        medians.append(float(np.median(by_topic)))
        counts.append(len(topics))
    curves = {"mean": np.array(means), "median": np.array(medians)}
    days = tuple(run.name for run in first)
    topics_of_days = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    recipe = f"RBO EXT at p = {p:g} over {topics_of_days} topics; {_largest_change(days, means)}"
    return SimilarityCurves(f"Similarity of two engines on {len(days)} days", "day", days, curves, recipe)


def _largest_change(days: Sequence[str], means: Sequence[float]) -> str:
    """Where the mean changes most from one day to the next."""
    if len(means) < 2:
        return "one day"
    steps = np.diff(means)
    at = int(np.abs(steps).argmax())
    change = f"{steps[at]:+.4f}".replace("-", "−")
    return f"largest change {change} from {days[at]} to {days[at + 1]}"


def _mean_defined(values: Floats) -> float:
    """The mean of the values that are defined; NaN if none is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
