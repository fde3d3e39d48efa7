"""How do good, middling and bad cuts differ? The best, the median and the worst cuts of each topic by α.

Where their points lie on the scale, how wide they are (last point minus first), and whether topics with more relevant
docs have wider ones. Roitero 2020, §10.3.3.2 and Figure 10.10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.agreement.across_scales import grades_of
from assay.agreement.scales import Scale
from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.cutscores import CutChoice
from assay.data import Labels, Qrels

GROUPS = ("best", "median", "worst")
PARTS = ("groups", "widths")
"""The tables of groups of cuts, by name."""
SIZE = 1000
"""Cuts in a group, where there are three times as many."""


@dataclass(frozen=True, eq=False)
class CutGroup:
    """Some cuts of a topic: members × points, and their α."""

    topic: str
    group: str
    cuts: Floats
    alpha: Floats

    @property
    def width(self) -> float:
        """Mean of the last point minus the first."""
        return float((self.cuts[:, -1] - self.cuts[:, 0]).mean())


@dataclass(frozen=True)
class WidthCorrelation:
    """Pearson's r over the topics of the width of a group's cuts with the share of relevant docs, and its p."""

    group: str
    r: float
    p: float


@dataclass(frozen=True, eq=False)
class CutGroups(Result):
    """The groups of each topic and, with a reference, the share of its docs that are relevant."""

    unit = "topic"

    way: str
    source: Scale
    levels: int
    groups: tuple[CutGroup, ...]
    relevant: dict[str, float]
    """Share of the labelled docs that are relevant, by topic; empty without a reference."""
    notes: tuple[str, ...]

    def table(self) -> Table:
        """One row per topic and group: α, width, and the mean of each cut point with its standard deviation."""
        formats = {"topic": "", "group": "", "lowest α": ".4f", "highest α": ".4f", "width": ".1f"}
        for point in range(1, self.levels):
            formats |= {f"cut {point}": ".1f", f"sd {point}": ".1f"}
        rows = []
        for found in self.groups:
            spread = np.column_stack([found.cuts.mean(axis=0), found.cuts.std(axis=0)])
            lowest = float(found.alpha.min())
            highest = float(found.alpha.max())
            rows.append((found.topic, found.group, lowest, highest, found.width, *spread.ravel().tolist()))
        caption = f"Best, median and worst cuts: {self.source.name} → {self.levels} levels by {self.way}"
        return Table.of(formats, rows, caption=caption, notes=self.notes)

    def widths(self) -> dict[str, Floats]:
        """Mean width by topic for each group, in the order of `relevant`."""
        by_group = {}
        for group in GROUPS:
            known = {found.topic: found.width for found in self.groups if found.group == group}
            by_group[group] = np.array([known[topic] for topic in self.relevant])
        return by_group

    def correlations(self) -> list[WidthCorrelation]:
        """r of width and share of relevant docs for each group; not-a-number where one of them does not vary."""
        from scipy.stats import pearsonr

        share = np.array(list(self.relevant.values()))
        found = []
        for group, width in self.widths().items():
            if len(share) < 3 or np.ptp(share) == 0 or np.ptp(width) == 0:
                found.append(WidthCorrelation(group, np.nan, np.nan))
                continue
            r, p = pearsonr(width, share)
            found.append(WidthCorrelation(group, float(r), float(p)))
        return found

    def width_table(self) -> Table:
        """One row per group: does the width of its cuts go with the share of relevant docs?"""
        rows = []
        for group, width, found in zip(GROUPS, self.widths().values(), self.correlations(), strict=True):
            r = found.r if np.isfinite(found.r) else None
            p = found.p if np.isfinite(found.p) else None
            rows.append((group, float(width.mean()), r, p))
        formats = {"group": "", "mean width": ".1f", "Pearson r": ".3f", "p": ".4f"}
        note = f"{len(self.relevant)} topics; width: last cut point minus first, mean of a topic's cuts."
        caption = "Width of cuts and share of relevant docs"
        return Table.of(formats, rows, caption=caption, notes=(note,))

    def parts(self) -> dict[str, Table]:
        """The tables by the names of PARTS; widths where there is a reference and more than one cut point."""
        parts = {"groups": self.table()}
        if self.relevant and self.levels > 2:
            parts["widths"] = self.width_table()
        return parts

    def tables(self) -> list[Table]:
        """All of them."""
        return list(self.parts().values())


def cut_groups(
    labels: Labels,
    way: str = "Tw_alpha",
    *,
    levels: int = 4,
    source: Scale | str | None = None,
    target: Qrels | None = None,
    reference: Qrels | None = None,
    size: int | None = None,
    rel: float = 1,
    unjudged: str = "zero",
    undefined: str = "skip",
    ties: str = "low",
    aggregate: str = "median",
    progress: Progress = silent,
) -> CutGroups:
    """Of each topic the `size` best, median and worst cuts by α; cuts without an α are in no group.

    size: by default 1,000, or a third of the cuts where there are fewer. reference: judgments that say which docs are
    relevant (grade ≥ rel). The other parameters are those of `best_cuts`.

    >>> rows = [("1", f"d{d}", f"w{w}", 10 * d + w % 3) for d in range(10) for w in range(8)]
    >>> found = cut_groups(Labels.from_rows(rows), levels=3, source="S100", size=20)
    >>> [group.group for group in found.groups], found.groups[0].cuts.shape
    (['best', 'median', 'worst'], (20, 2))
    """
    choice = CutChoice.of(
        labels, way, levels=levels, source=source, target=target, unjudged=unjudged, undefined=undefined, ties=ties,
        aggregate=aggregate,
    )  # fmt: skip
    wanted = min(SIZE, choice.count // 3) if size is None else size
    if not 1 <= wanted <= choice.count // 3:
        raise UsageError(f"groups of {wanted} cuts; of {choice.count} cuts a group has from 1 to {choice.count // 3}")
    groups: list[CutGroup] = []
    left_out = []
    parts = choice.parts(labels)
    for done, (topic, part) in enumerate(parts, 1):
        cuts, alpha = choice.all_cuts(part)
        if len(cuts) < 3 * wanted:
            left_out.append(topic)
        else:
            groups += _groups_of(topic, choice.points(cuts), alpha, wanted)
        progress(done, len(parts))
    topics = dict.fromkeys(found.topic for found in groups)
    relevant = {} if reference is None else _relevant(labels, reference, rel, list(topics))
    notes = [f"{wanted} of {choice.count} cuts in each group; cuts of the same α in the order of their points."]
    if left_out:
        notes.append(f"Topics with α for too few cuts are left out: {', '.join(left_out)}.")
    return CutGroups(way, choice.scale, levels, tuple(groups), relevant, tuple(notes))


def _groups_of(topic: str, points: Floats, alpha: Floats, size: int) -> list[CutGroup]:
    """The three groups of cuts that stand best first."""
    middle = (len(points) - size) // 2
    starts = {"best": 0, "median": middle, "worst": len(points) - size}
    groups = []
    for group, start in starts.items():
        rows = slice(start, start + size)
        groups.append(CutGroup(topic, group, points[rows], alpha[rows]))
    return groups


def _relevant(labels: Labels, reference: Qrels, rel: float, topics: list[str]) -> dict[str, float]:
    """The share of each topic's labelled docs that the reference calls relevant; docs without a grade are not."""
    _, pairs = labels.items()
    grades = grades_of(pairs, reference, labels.name)
    is_relevant = np.nan_to_num(grades, nan=-1.0) >= rel
    topic_of_doc: Ints = np.array([labels.topics.index(topic) for topic, _ in pairs])
    docs = np.bincount(topic_of_doc, minlength=len(labels.topics))
    relevant = np.bincount(topic_of_doc, is_relevant, len(labels.topics))
    shares = relevant / np.maximum(docs, 1)
    return {topic: float(shares[labels.topics.index(topic)]) for topic in topics}
