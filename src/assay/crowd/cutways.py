"""What is compared with what when a cut is chosen: the registered ways, from labels to sums that α needs.

A way names the two sides: a worker against the others (H_t+a, H_a+t), everybody against everybody (Tw_alpha), a worker
against a target (H), the docs' aggregates against a target (D_a+t, D_t+a). t+a cuts, then aggregates; a+t aggregates
first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from assay.agreement.across_scales import grades_of
from assay.agreement.scales import Scale
from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry
from assay.crowd.cutsums import CutSums, against_source, against_target, among_workers
from assay.crowd.units import task_of
from assay.data import Labels, Qrels

WAYS: Registry[Callable[..., CutSums]] = Registry("way of choosing a cut")


@dataclass(frozen=True, eq=False)
class Source:
    """The labels to be cut, coded for the search: places on the source scale, items, tasks, and a target if any."""

    scale: Scale
    x: Ints
    item: Ints
    group: Ints
    target: Floats
    """The target grade of each item, from 0 up, fractions included; −1 where there is none."""
    ties: str
    aggregate: str
    pairs: bool

    @property
    def places(self) -> int:
        return len(self.scale.levels)


def source_of(
    labels: Labels, scale: Scale, target: Qrels | None, levels: int, unjudged: str, ties: str, aggregate: str
) -> Source:
    """Labels and target coded for the search; a grade beyond the levels is an error, one below 0 is unjudged.

    A target may count its levels from 0 or from 1, as `aggregate --scale 1-6` does; fractions stay fractions.
    """
    scale.checked(labels)
    item, docs = labels.items()
    levels_of_scale = np.array(scale.levels)
    place = np.searchsorted(levels_of_scale, labels.label).astype(np.int64)
    if target is None:
        grades = np.full(len(docs), -1.0)
    else:
        without_grade = 0 if unjudged == "zero" else -1
        known = grades_of(docs, target, labels.name)
        from_zero = known - lowest_level(known, levels, target.name)
        grades = np.nan_to_num(from_zero, nan=without_grade)
    return Source(
        scale=scale,
        x=place,
        item=item,
        group=task_of(labels),
        target=grades,
        ties=ties,
        aggregate=aggregate,
        pairs=levels > 2,
    )


def lowest_level(grades: Floats, levels: int, name: str) -> int:
    """0 or 1: the grade that stands for the lowest level. An error where the grades fit neither 0–(K−1) nor 1–K.

    Grades that fit both count from 0.
    """
    known = grades[~np.isnan(grades)]
    if known.max() <= levels - 1:
        return 0
    if known.min() >= 1 and known.max() <= levels:
        return 1
    raise DataError(
        f"{name}: grades from {known.min():g} to {known.max():g} do not fit {levels} levels (0–{levels - 1} or "
        f"1–{levels})"
    )


def parts_of(labels: Labels, whole: Source, scope: str, by_task: bool) -> tuple[list[str], list[Source]]:
    """The labels of each topic; or all as one, except that task by task they stay apart to bound the memory."""
    if scope == "pooled" and not by_task:
        return ["all"], [whole]
    names = []
    parts = []
    for topic in np.unique(labels.topic):
        names.append(labels.topics[topic])
        parts.append(_rows(whole, np.flatnonzero(labels.topic == topic)))
    return names, parts


def _rows(source: Source, rows: Ints) -> Source:
    """Only these labels; items and groups are numbered anew."""
    items, item = np.unique(source.item[rows], return_inverse=True)
    _, group = np.unique(source.group[rows], return_inverse=True)
    return replace(source, x=source.x[rows], item=item, group=group, target=source.target[items])


@WAYS.register("H_t+a", target=False, by_task=True)
def worker_cut_then_aggregated(s: Source) -> CutSums:
    """A worker's cut labels of a task against the median (two levels: majority) of the others' cut labels."""
    kept, other = _others(s, "low" if s.ties == "low" else "high")
    return against_source(s.group[kept], s.x[kept], other, s.places, pairs=s.pairs)


@WAYS.register("H_a+t", target=False, by_task=True)
def worker_aggregated_then_cut(s: Source) -> CutSums:
    """A worker's labels of a task against the aggregate of the others' labels; both are cut."""
    kept, other = _others(s, s.aggregate)
    return against_source(s.group[kept], s.x[kept], other, s.places, pairs=s.pairs)


@WAYS.register("Tw_alpha", target=False, by_task=False)
def topic_wide(s: Source) -> CutSums:
    """All cut labels of a topic against each other."""
    return among_workers(s.item, s.x, s.places, pairs=s.pairs)


@WAYS.register("H", target=True, by_task=True)
def worker_against_target(s: Source) -> CutSums:
    """A worker's cut labels of a task against the target."""
    target = s.target[s.item]
    kept = np.flatnonzero(target >= 0)
    return against_target(s.group[kept], s.x[kept], target[kept], s.places)


@WAYS.register("D_a+t", target=True, by_task=False)
def docs_aggregated_then_cut(s: Source) -> CutSums:
    """The aggregate of each doc's labels, cut, against the target."""
    return _docs_against_target(s, s.aggregate)


@WAYS.register("D_t+a", target=True, by_task=False)
def docs_cut_then_aggregated(s: Source) -> CutSums:
    """Each label cut, then the median (two levels: majority) of each doc, against the target."""
    return _docs_against_target(s, s.ties)


def _docs_against_target(s: Source, how: str) -> CutSums:
    """All docs as one group: their aggregates, which are cut, against the target."""
    place, target = doc_places(s, how)
    one_group = np.zeros(len(place), dtype=np.int64)
    return against_target(one_group, place, target, s.places)


def doc_places(s: Source, how: str) -> tuple[Ints, Floats]:
    """The aggregate of each doc that has a target, as a place on the scale, and the target.

    how: `low` or `high` median (a cut of it is the median of the cut labels), `median` the middle of both, `mean`.
    """
    labels = _Sorted.of(s)
    last = labels.count - 1
    low = labels.value[labels.begin + last // 2]
    high = labels.value[labels.begin + labels.count // 2]
    mean = labels.total / labels.count
    place = _place(s, low, high, mean, how)
    has_target = s.target >= 0
    return place[has_target], s.target[has_target]


def _others(s: Source, how: str) -> tuple[Ints, Ints]:
    """Rows whose doc has other labels, and the aggregate of those others as a place on the scale."""
    labels = _Sorted.of(s)
    kept = np.flatnonzero(labels.count[s.item] > 1)
    item = s.item[kept]
    begin = labels.begin[item]
    others = labels.count[item] - 1
    own_place = labels.rank[kept] - begin

    def other(i: Ints) -> Floats:
        # The i-th of the others is the i-th of all, or the next one from the worker's own place on.
        place = i + (i >= own_place)
        return labels.value[begin + place]

    low = other((others - 1) // 2)
    high = other(others // 2)
    own_value = np.array(s.scale.levels)[s.x[kept]]
    mean = (labels.total[item] - own_value) / others
    return kept, _place(s, low, high, mean, how)


@dataclass(frozen=True, eq=False)
class _Sorted:
    """The labels item by item, ascending within each."""

    value: Floats
    rank: Ints
    """Where each row stands among all of them."""
    begin: Ints
    count: Ints
    total: Floats
    """Where each item begins, how many labels it has, and their sum."""

    @classmethod
    def of(cls, s: Source) -> _Sorted:
        value = np.array(s.scale.levels)[s.x]
        order = np.lexsort((s.x, s.item))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        count = np.bincount(s.item)
        total = np.bincount(s.item, value).astype(np.float64)
        begin = np.cumsum(count) - count
        return cls(value[order], rank, begin, count, total)


def _place(s: Source, low: Floats, high: Floats, mean: Floats, how: str) -> Ints:
    """The lowest place whose level is not below the aggregate: it is above a cut just when its place is."""
    ways = {"low": low, "high": high, "median": (low + high) / 2, "mean": mean}
    if how not in ways:
        known = ", ".join(ways)
        raise UsageError(f"no aggregate {how!r}; known: {known}")
    # Rounded, so that a mean of 50 that comes out as 50.00000000000001 stays at or below a cut at 50.
    value = np.round(ways[how], 9)
    levels = np.array(s.scale.levels)
    return np.searchsorted(levels, value).astype(np.int64)
