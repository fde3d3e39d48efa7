"""Where should a fine scale be cut to become a coarse one? All cuts, six ways of choosing, with a range where cuts tie.

Single set: H_t+a, H_a+t, Tw_alpha. With judgments on the target scale, by experts or from a crowd: H, D_a+t, D_t+a; so
nine ways in all. The cut with the highest Krippendorff α wins, per topic or for the whole set. Roitero 2020, ch. 10.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from assay.agreement.ratings import single
from assay.agreement.scales import Level, Scale, scale_for
from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.ids import Ids
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.cutsearch import BestCut, Keeper, SearchCost, climbed, combinations, every
from assay.crowd.cutsums import CutSums, table_alpha
from assay.crowd.cutways import WAYS, Source, doc_places, parts_of, source_of
from assay.crowd.units import task_of
from assay.data import Labels, Qrels
from assay.data.grade_scales import GradeScale

PARTS = ("cuts", "ranking")
"""The tables of a search for cuts, by name."""
SCOPES = ("topics", "mean", "pooled")
UNJUDGED_DOCS = ("zero", "drop")
"""What docs without a target grade count as."""
UNDEFINED_TASKS = ("skip", "one")
"""What tasks in which nothing varies count as."""
SEARCHES = ("auto", "exact", "climb")
MEDIAN_TIES = ("low", "high")
"""Which of two central labels is the median, after cutting."""
AGGREGATES = ("median", "mean")
"""How labels are aggregated before cutting."""
ALPHA_LEVELS = ("interval", "nominal", "ordinal")
"""The levels of α that cuts are searched by."""


@dataclass(frozen=True, eq=False)
class CutSearch(Result):
    """Best cuts, one per topic or one for all, and for two levels the α of every cut."""

    way: str
    scope: str
    source: Scale
    levels: int
    cuts: tuple[BestCut, ...]
    curves: Floats | None
    notes: tuple[str, ...]

    def points(self, topic: str) -> tuple[float, ...]:
        """The cut points for a topic."""
        for cut in self.cuts:
            if self.scope != "topics" or cut.topic == topic:
                return cut.points
        raise DataError(f"no cut was searched for topic {topic!r}")

    @property
    def scale(self) -> GradeScale:
        """The coarse scale, where it was cut, and between which cuts others do as well."""
        known = [cut for cut in self.cuts if cut.points]
        ends = (f"{shown_points(cut.points)} ({shown_points(cut.low)} to {shown_points(cut.high)})" for cut in known)
        where = next(ends, "–") if len(known) < 2 else f"{len(known)} cuts, one a topic,"
        return GradeScale(0, self.levels - 1, self.levels, f"{self.source.name} cut at {where} by {self.way}")

    def degenerate(self) -> list[str]:
        """Topics whose best cut should not be trusted."""
        return [cut.topic for cut in self.cuts if cut.trouble]

    def table(self) -> Table:
        """One row per topic: the cut, its α, and the range of cuts that do as well."""
        formats = {"topic": "", "cut": "", "α": ".4f", "tied": "d", "from": "", "to": "", "trouble": ""}
        rows = []
        for cut in self.cuts:
            alpha = cut.alpha if np.isfinite(cut.alpha) else None
            points, low, high = (shown_points(given) for given in (cut.points, cut.low, cut.high))
            rows.append((cut.topic, points, alpha, cut.tied, low, high, cut.trouble))
        caption = f"{self.source.name} → {self.levels} levels by {self.way}"
        return Table.of(formats, rows, caption=caption, notes=self.notes)

    def parts(self, *, ranking: Result | None = None) -> dict[str, Table]:
        """The tables by the names of PARTS; ranking: how the judgments that the cuts make rank the runs."""
        parts = {"cuts": self.table()}
        if ranking is not None:
            parts["ranking"] = ranking.table()
        return parts

    def warning(self) -> str | None:
        """A sentence that names the topics whose cuts should not be trusted."""
        if not self.degenerate():
            return None
        return f"look at these before you use the cuts: topics {', '.join(self.degenerate())}"


def shown_points(points: Iterable[float]) -> str:
    """The points of a cut in a table; a dash where there is none."""
    return " ".join(f"{point:g}" for point in points) or "–"


def best_cuts(
    labels: Labels,
    way: str = "H_t+a",
    *,
    levels: int = 2,
    source: Scale | str | None = None,
    target: Qrels | None = None,
    scope: str = "topics",
    unjudged: str = "zero",
    undefined: str = "skip",
    ties: str = "low",
    aggregate: str = "median",
    level: Level = "interval",
    search: str = "auto",
    progress: Progress = silent,
) -> CutSearch:
    """The cut of the source scale into `levels` levels with the highest α; labels ≤ a cut point go below it.

    scope: `topics` each on its own, `mean` one cut by the mean of the topics' α, `pooled` one cut on all labels.
    unjudged: docs without target grade count as 0 (`zero`) or are left out (`drop`). undefined: tasks without variation
    are left out (`skip`) or count as full agreement (`one`, which favours cuts that make everything equal).
    ties: which of two central labels is the median after cutting. aggregate: `median` or `mean` before cutting (a+t).
    level: of α; nominal, ordinal or interval (with two levels all the same); other than interval for D ways only.
    search: `exact` tries every cut, `climb` moves one point at a time from several starts, `auto` climbs where trying
    all would take more than minutes (`search_cost` says so beforehand).
    A worker's repeated label of a doc counts once.

    >>> rows = [("1", d, w, v) for d, v in (("a", 10), ("b", 60), ("c", 90)) for w in "uv"]
    >>> experts = Qrels.from_dict({"1": {"a": 0, "b": 1, "c": 1}})
    >>> best = best_cuts(Labels.from_rows(rows), "D_a+t", source=Scale.interval(0, 100), target=experts).cuts[0]
    >>> best.low, best.points, best.high
    ((10.0,), (34.0,), (59.0,))
    """
    entry = WAYS[way]
    needs_target = entry.facts["target"]
    checked_words(scope, unjudged, undefined, search, ties, aggregate)
    kept = single(labels, "first")
    if search == "auto" and level != "interval":
        search = "exact"
    elif search == "auto":
        search = search_cost(kept, way, levels=levels, source=source).search
    _checked_level(level, way, search, scope)
    scale = scale_for(kept, source)
    checked_levels(scale, levels)
    if needs_target and target is None:
        raise UsageError(f"{way} needs judgments on the target scale; give a target, or use H_t+a, H_a+t or Tw_alpha")

    whole = source_of(
        kept,
        scale,
        target if needs_target else None,
        levels,
        unjudged,
        ties,
        aggregate,
    )
    topics, parts = parts_of(kept, whole, scope, entry.facts["by_task"])
    if level == "interval":
        sums = [entry.function(part) for part in parts]
        searched = _searched(topics, parts, sums, levels, scope, undefined, search, progress)
    else:
        searched = []
        for topic, part in zip(topics, parts, strict=True):
            searched.append(_by_tables(topic, part, entry.name, levels, level))

    count = comb(len(scale.levels) - 1, levels - 1)
    note = f"{way}, {search} search over {count} cuts, scope {scope}, α {level}; tasks without variation: {undefined}."
    if not way.endswith("a+t"):
        note += f" Median ties: {ties}."
    if needs_target:
        note += f" Unjudged docs: {unjudged}."
    if "a+t" in way:
        note += f" Aggregate before cutting: {aggregate}."
    cuts = tuple(cut for cut, _ in searched)
    curves = None
    if levels == 2:
        curves = np.array([curve for _, curve in searched])
    return CutSearch(way, scope, scale, levels, cuts, curves, (note,))


def search_cost(labels: Labels, way: str, *, levels: int, source: Scale | str | None = None) -> SearchCost:
    """What trying all cuts of these labels would cost.

    >>> labels = Labels.from_rows([("1", d, w, 10.0) for d in "abc" for w in "uvwxyz"])
    >>> search_cost(labels, "H_t+a", levels=6, source="S100").in_words()
    '75,287,520 cuts × 6 tasks: all are tried, about 16 s'
    """
    scale = scale_for(labels, source)
    checked_levels(scale, levels)
    topics = len(np.unique(labels.topic))
    tasks = topics
    if WAYS[way].facts["by_task"]:
        tasks = len(np.unique(task_of(labels)))
    return SearchCost(comb(len(scale.levels) - 1, levels - 1), tasks, topics)


def checked_words(scope: str, unjudged: str, undefined: str, search: str, ties: str, aggregate: str) -> None:
    """Refuses a word that is none of the known ones."""
    one_of("scope", scope, SCOPES)
    one_of("unjudged", unjudged, UNJUDGED_DOCS)
    one_of("undefined", undefined, UNDEFINED_TASKS)
    one_of("search", search, SEARCHES)
    one_of("ties", ties, MEDIAN_TIES)
    one_of("aggregate", aggregate, AGGREGATES)


def _checked_level(level: str, way: str, search: str, scope: str) -> None:
    """Refuses a level of α that this way of searching has no sums for."""
    one_of("level", level, ALPHA_LEVELS)
    if level == "interval":
        return
    if not way.startswith("D_") or search != "exact" or scope == "mean":
        raise UsageError(f"α {level} is searched by D_a+t and D_t+a, exactly, per topic or pooled; use level=interval")


def checked_levels(scale: Scale, levels: int) -> None:
    """Refuses a scale that cannot be cut into that number of levels."""
    if len(scale.levels) < 3:
        raise UsageError(f"scale {scale.name} has no levels to cut between; it needs three or more")
    if not 2 <= levels < len(scale.levels):
        raise UsageError(f"scale {scale.name} has {len(scale.levels)} levels; it cannot be cut into {levels}")


def _by_tables(topic: str, source: Source, way: str, levels: int, level: Level) -> tuple[BestCut, Floats]:
    """The best cut by α of any level, from the table places × target grades of the docs; and for two levels all α."""
    how = source.aggregate if way == "D_a+t" else source.ties
    place, target = doc_places(source, how)
    _refuse_fractions(target, level)
    cell = place * levels + target.astype(np.int64)
    joint = np.bincount(cell, minlength=source.places * levels)
    table = joint.reshape(source.places, levels).astype(np.float64)
    cuts = combinations(source.places - 1, levels - 1)
    alpha = table_alpha(table, cuts, level=level)
    keeper = Keeper()
    keeper.add(cuts, np.where(np.isnan(alpha), -np.inf, alpha))
    curve = alpha if levels == 2 else np.zeros(0)
    return keeper.best(topic, [source]), curve


def _refuse_fractions(target: Floats, level: Level) -> None:
    """An error where a target has fractions, for which α of levels has no place."""
    is_fraction = target != np.floor(target)
    if is_fraction.any():
        raise DataError(f"the target has the grade {target[is_fraction][0]:g}; α {level} needs whole grades")


def _searched(
    topics: list[str],
    parts: list[Source],
    sums: list[CutSums],
    levels: int,
    scope: str,
    undefined: str,
    search: str,
    progress: Progress,
) -> list[tuple[BestCut, Floats]]:
    """The best cut of each topic on its own, or one for all of them."""
    if scope != "topics":
        best = _searched_one("all", parts, sums, levels, scope, undefined, search)
        progress(1, 1)
        return [best]
    searched = []
    for t, topic in enumerate(topics):
        best = _searched_one(topic, [parts[t]], [sums[t]], levels, scope, undefined, search)
        searched.append(best)
        progress(t + 1, len(topics))
    return searched


def _searched_one(
    topic: str,
    parts: list[Source],
    sums: list[CutSums],
    levels: int,
    scope: str,
    undefined: str,
    search: str,
) -> tuple[BestCut, Floats]:
    """The best cut of these parts together, and for two levels α of every cut (NaN where it is undefined)."""

    def score(cuts: Ints) -> Floats:
        return mean_alpha(sums, cuts, scope, undefined)

    places = parts[0].places - 1
    if search == "climb":
        tried = climbed(score, places, levels - 1)
    else:
        groups = sum(len(of_part.values) for of_part in sums)
        tried = every(places, levels - 1, groups)
    keeper = Keeper()
    for cuts in tried:
        keeper.add(cuts, score(cuts))
    best = _with_still_tasks(keeper.best(topic, parts), sums, parts[0])

    if levels > 2:
        return best, np.zeros(0)
    all_cuts = np.arange(places)[:, None]
    curve = score(all_cuts)
    return best, np.where(np.isfinite(curve), curve, np.nan)


def _with_still_tasks(best: BestCut, sums: list[CutSums], source: Source) -> BestCut:
    """The best cut, with a warning where at it most tasks show no variation, so that few decided."""
    groups = sum(len(of_part.values) for of_part in sums)
    if not best.points or groups < 2:
        return best
    places = np.searchsorted(np.array(source.scale.levels), best.points)
    varied = 0.0
    for of_part in sums:
        _, count = of_part.alpha_sums(places[None])
        varied += float(count[0])
    if varied >= groups / 2:
        return best
    trouble = f"at this cut {groups - varied:.0f} of {groups} tasks do not vary"
    if best.trouble:
        trouble = f"{best.trouble}; {trouble}"
    return replace(best, trouble=trouble)


def mean_alpha(sums: list[CutSums], cuts: Ints, scope: str, undefined: str) -> Floats:
    """α of each cut: the mean over tasks, over topics of their means (`mean`), or over all tasks (`pooled`)."""
    totals = []
    counts = []
    for of_part in sums:
        total, count = of_part.alpha_sums(cuts, undefined=undefined)
        totals.append(total)
        counts.append(count)
    if scope == "pooled":
        tasks = sum(counts)
        mean = sum(totals) / np.maximum(tasks, 1)
        return np.where(tasks > 0, mean, -np.inf)

    means = []
    for total, count in zip(totals, counts, strict=True):
        mean = total / np.maximum(count, 1)
        means.append(np.where(count > 0, mean, np.nan))
    known = np.isfinite(means).sum(axis=0)
    mean_of_known = np.nansum(means, axis=0) / np.maximum(known, 1)
    return np.where(known > 0, mean_of_known, -np.inf)


def transformed(labels: Labels, search: CutSearch, *, ties: str = "low", aggregate: str = "median") -> Qrels:
    """Qrels on the coarse scale: each doc's labels cut at its topic's points and aggregated, in the order of the way.

    Ways with t+a (and H, Tw_alpha) cut first and take the median, of two central labels the `low` or `high` one; ways
    with a+t take the `median` or `mean` first. Topics without a cut (nothing varied) get grade 0.

    >>> labels = Labels.from_rows([("1", d, w, v) for d, v in (("a", 10), ("b", 60), ("c", 90)) for w in "uv"])
    >>> found = best_cuts(labels, "Tw_alpha", source=Scale.interval(0, 100))
    >>> transformed(labels, found).grades.tolist()
    [0, 1, 1]
    """
    how = aggregate if search.way.endswith("a+t") else ties
    kept = single(labels, "first")
    whole = source_of(kept, search.source, None, search.levels, "zero", ties, aggregate)
    # Docs without a target are left out of a search; here every doc has one, so that none is.
    with_targets = replace(whole, target=np.zeros_like(whole.target), pairs=False)
    place, _ = doc_places(with_targets, how)
    value = np.array(search.source.levels)[place]

    _, pairs = kept.items()
    topic = np.array([topic for topic, _ in pairs])
    grades = np.zeros(len(pairs), dtype=np.int64)
    for name in dict.fromkeys(topic.tolist()):
        rows = np.flatnonzero(topic == name)
        points = np.array(search.points(name))
        # The grade is the number of cut points that the value lies above.
        is_above = value[rows, None] > points
        grades[rows] = is_above.sum(axis=1)

    names, first = np.unique(topic, return_index=True)
    in_order = np.argsort(first)
    bounds = np.append(first[in_order], len(pairs)).astype(np.int64)
    docs = Ids.of(doc for _, doc in pairs)
    return Qrels(
        tuple(names[in_order].tolist()),
        bounds,
        docs,
        grades,
        name=f"{search.way} cuts",
        scale=search.scale,
    )
