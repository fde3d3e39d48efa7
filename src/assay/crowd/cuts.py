"""Where should a fine scale be cut to become a coarse one? All cuts, six ways of choosing, with a range where cuts tie.

Single set: H_t+a, H_a+t, Tw_alpha. With judgments on the target scale, by experts or from a crowd: H, D_a+t, D_t+a; so
nine ways in all. The cut with the highest Krippendorff α wins, per topic or for the whole set. Roitero 2020, ch. 10.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb

import numpy as np

from assay.agreement.ratings import single
from assay.agreement.scales import Level, Scale, scale_in
from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.ids import Ids
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.cutsearch import BestCut, Keeper, climbed, combinations, every
from assay.crowd.cutsums import CutSums, table_alpha
from assay.crowd.cutways import WAYS, Source, doc_places, parts_of, source_of
from assay.data import Labels, Qrels

SCOPES = ("topics", "mean", "pooled")


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
        found = next((c for c in self.cuts if c.topic in (topic, "all")), None)
        if found is None:
            raise DataError(f"no cut was searched for topic {topic!r}")
        return found.points

    def degenerate(self) -> list[str]:
        """Topics whose best cut should not be trusted."""
        return [c.topic for c in self.cuts if c.trouble]

    def table(self) -> Table:
        """One row per topic: the cut, its α, and the range of cuts that do as well."""
        rows = [
            (c.topic, _shown(c.points), c.alpha if np.isfinite(c.alpha) else None, c.tied, _shown(c.low),
             _shown(c.high), c.trouble)
            for c in self.cuts
        ]  # fmt: skip
        formats = {"topic": "", "cut": "", "α": ".4f", "tied": "d", "from": "", "to": "", "trouble": ""}
        caption = f"{self.source.name} → {self.levels} levels by {self.way}"
        return Table.of(formats, rows, caption=caption, notes=self.notes)


def _shown(points: tuple[float, ...]) -> str:
    return " ".join(f"{p:g}" for p in points) or "–"


def best_cuts(
    labels: Labels,
    way: str = "H_t+a",
    *,
    levels: int = 2,
    source: Scale | None = None,
    target: Qrels | None = None,
    scope: str = "topics",
    unjudged: str = "zero",
    undefined: str = "skip",
    ties: str = "low",
    aggregate: str = "median",
    level: Level = "interval",
    search: str = "exact",
    progress: Progress = silent,
) -> CutSearch:
    """The cut of the source scale into `levels` levels with the highest α; labels ≤ a cut point go below it.

    scope: `topics` each on its own, `mean` one cut by the mean of the topics' α, `pooled` one cut on all labels.
    unjudged: docs without target grade count as 0 (`zero`) or are left out (`drop`). undefined: tasks without variation
    are left out (`skip`) or count as full agreement (`one`, which favours cuts that make everything equal).
    ties: which of two central labels is the median after cutting. aggregate: `median` or `mean` before cutting (a+t).
    level: of α; nominal, ordinal or interval (with two levels all the same); other than interval for D ways only.
    search: `exact` tries every cut, `climb` moves one point at a time from several starts.
    A worker's repeated label of a doc counts once.

    >>> rows = [("1", d, w, v) for d, v in (("a", 10), ("b", 60), ("c", 90)) for w in "uv"]
    >>> experts = Qrels.from_dict({"1": {"a": 0, "b": 1, "c": 1}})
    >>> best = best_cuts(Labels.from_rows(rows), "D_a+t", source=Scale.interval(0, 100), target=experts).cuts[0]
    >>> best.low, best.points, best.high
    ((10.0,), (34.0,), (59.0,))
    """
    entry = WAYS[way]
    _checked(scope, unjudged, undefined, search, level, way)
    kept = single(labels, "first")
    scale = source or scale_in(kept)
    if len(scale.levels) < 3:
        raise UsageError(f"scale {scale.name} has no levels to cut between; it needs three or more")
    if not 2 <= levels < len(scale.levels):
        raise UsageError(f"scale {scale.name} has {len(scale.levels)} levels; it cannot be cut into {levels}")
    if entry.facts["target"] and target is None:
        raise UsageError(f"{way} needs judgments on the target scale; give a target, or use H_t+a, H_a+t or Tw_alpha")
    whole = source_of(kept, scale, target if entry.facts["target"] else None, levels, unjudged, ties, aggregate)
    topics, parts = parts_of(kept, whole, scope, entry.facts["by_task"])
    if level != "interval":
        found = [_by_tables(topics[i], s, entry.name, levels, level) for i, s in enumerate(parts)]
    else:
        sums = [entry.function(s) for s in parts]
        found = _searched(topics, parts, sums, levels, scope, undefined, search, progress)
    cuts, curves = [c for c, _ in found], [v for _, v in found]
    count = comb(len(scale.levels) - 1, levels - 1)
    notes = (
        f"{way}, {search} search over {count} cuts, scope {scope}, α {level}; median ties {ties}; "
        f"tasks without variation: {undefined}."
        + (f" Unjudged docs: {unjudged}." if entry.facts["target"] else "")
        + (f" Aggregate before cutting: {aggregate}." if "a+t" in way else ""),
    )
    kept_curves = np.array(curves) if levels == 2 else None
    return CutSearch(way, scope, scale, levels, tuple(cuts), kept_curves, notes)


def _checked(scope: str, unjudged: str, undefined: str, search: str, level: str, way: str) -> None:
    known = {
        "scope": (scope, SCOPES), "unjudged": (unjudged, ("zero", "drop")), "undefined": (undefined, ("skip", "one")),
        "search": (search, ("exact", "climb")), "level": (level, ("interval", "nominal", "ordinal")),
    }  # fmt: skip
    for name, (given, choices) in known.items():
        if given not in choices:
            raise UsageError(f"no {name} {given!r}; known: {', '.join(choices)}")
    if level != "interval" and (not way.startswith("D_") or search != "exact" or scope == "mean"):
        raise UsageError(f"α {level} is searched by D_a+t and D_t+a, exactly, per topic or pooled; use level=interval")


def _by_tables(topic: str, s: Source, way: str, levels: int, level: Level) -> tuple[BestCut, Floats]:
    place, target = doc_places(s, s.aggregate if way == "D_a+t" else s.ties)
    joint = np.bincount(place * levels + target, minlength=s.places * levels).reshape(s.places, levels)
    cuts = combinations(s.places - 1, levels - 1)
    alpha = table_alpha(joint.astype(np.float64), cuts, level=level)
    keeper = Keeper()
    keeper.add(cuts, np.where(np.isnan(alpha), -np.inf, alpha))
    return keeper.best(topic, [s]), alpha if levels == 2 else np.zeros(0)


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
    apart = scope == "topics"
    jobs = [([i], t) for i, t in enumerate(topics)] if apart else [(list(range(len(topics))), "all")]
    found = []
    for done, (members, name) in enumerate(jobs, 1):
        chosen, own = [sums[i] for i in members], [parts[i] for i in members]

        def score(cuts: Ints, chosen: list[CutSums] = chosen) -> Floats:
            return _mean_alpha(chosen, cuts, scope, undefined)

        keeper = Keeper()
        places, groups = own[0].places - 1, sum(len(s.values) for s in chosen)
        tried = climbed(score, places, levels - 1) if search == "climb" else every(places, levels - 1, groups)
        for cuts in tried:
            keeper.add(cuts, score(cuts))
        curve = score(np.arange(places)[:, None]) if levels == 2 else np.zeros(0)
        best = _with_still_tasks(keeper.best(name, own), chosen, own[0])
        found.append((best, np.where(np.isfinite(curve), curve, np.nan)))
        progress(done, len(jobs))
    return found


def _with_still_tasks(best: BestCut, sums: list[CutSums], source: Source) -> BestCut:
    """The best cut, with a warning where at it most tasks show no variation, so that few decided."""
    groups = sum(len(s.values) for s in sums)
    if not best.points or groups < 2:
        return best
    cut = np.searchsorted(np.array(source.scale.levels), best.points)[None]
    varied = sum(float(s.alpha_sums(cut)[1][0]) for s in sums)
    if varied >= groups / 2:
        return best
    still = f"at this cut {groups - varied:.0f} of {groups} tasks do not vary"
    return replace(best, trouble="; ".join(filter(None, (best.trouble, still))))


def _mean_alpha(sums: list[CutSums], cuts: Ints, scope: str, undefined: str) -> Floats:
    """α of each cut: the mean over tasks, over topics of their means (`mean`), or over all tasks (`pooled`)."""
    parts = [s.alpha_sums(cuts, undefined=undefined) for s in sums]
    if scope == "pooled":
        total, count = sum(t for t, _ in parts), sum(c for _, c in parts)
        return np.where(count > 0, total / np.maximum(count, 1), -np.inf)
    means = [np.where(c > 0, t / np.maximum(c, 1), np.nan) for t, c in parts]
    known = np.isfinite(means).sum(axis=0)
    return np.where(known > 0, np.nansum(means, axis=0) / np.maximum(known, 1), -np.inf)


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
    free = Source(search.source, whole.x, whole.item, whole.group, np.zeros_like(whole.target), ties, aggregate, False)
    place, _ = doc_places(free, how)
    _, pairs = kept.items()
    values = np.array(search.source.levels)[place]
    topic = np.array([t for t, _ in pairs])
    grades = np.zeros(len(pairs), dtype=np.int64)
    for name in dict.fromkeys(topic.tolist()):
        rows = np.flatnonzero(topic == name)
        grades[rows] = (values[rows, None] > np.array(search.points(name))).sum(axis=1)
    names, first = np.unique(topic, return_index=True)
    order = np.argsort(first)
    bounds = np.concatenate([np.sort(first), [len(pairs)]]).astype(np.int64)
    return Qrels(tuple(names[order].tolist()), bounds, Ids.of(d for _, d in pairs), grades, name=f"{search.way} cuts")
