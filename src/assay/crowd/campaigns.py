"""Which of two campaigns, or scales, gave the better labels of the same docs? All of what one can ask, side by side.

How labels spread over the scale, how far workers agree with each other and with a reference (task by task, as a
complementary distribution, and by reference grade), what fewer docs or labels would have given, how long it took, and
which differences are more than chance. Roitero 2020, ch. 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.agreement.across_scales import grades_of, ordered_pairs, reference_of
from assay.agreement.left_out import alpha_by_topic
from assay.agreement.ratings import Ratings, single
from assay.agreement.scales import Scale, default_level, given_scale, scale_in
from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.campaign_tests import Difference, Untested, differences
from assay.crowd.effort import Fewer, fewer_docs, fewer_judgments, time_by_position
from assay.crowd.magnitudes import comparable_magnitudes
from assay.crowd.units import summable, task_of
from assay.data import Labels, Qrels

STEPS = np.linspace(0, 1, 51)
"""Agreements at which the complementary distribution over tasks is taken."""
PERCENTS = np.linspace(0, 100, 51)
FEW_LEVELS = 20
"""A scale with at most this many levels is shown level by level."""

PARTS = ("campaigns", "differences", "grades", "labels", "tasks", "fewer-docs", "fewer-labels", "time")
"""The tables of a comparison, by name."""


@dataclass(frozen=True, eq=False)
class Campaign:
    """The labels of one campaign and their scale; magnitudes are made comparable between workers.

    >>> Campaign.of("pilot", Labels.from_rows([("1", "a", "w", 2), ("1", "b", "w", 0)]), "S4").scale.name
    'S4'
    """

    name: str
    labels: Labels
    scale: Scale

    @classmethod
    def of(cls, name: str, labels: Labels, scale: Scale | str | None = None) -> Campaign:
        """A campaign; without a scale the one that the labels look like. A worker counts once per doc."""
        chosen = given_scale(scale) or scale_in(labels)
        checked = single(summable(chosen.checked(labels)), "first")
        if chosen.kind == "ratio":
            checked = comparable_magnitudes(checked)
        return cls(name, checked, chosen)

    def additive(self) -> Labels:
        """Labels whose means order docs: logs of magnitudes, so that means are geometric; else the labels."""
        if self.scale.kind == "ratio":
            return replace(self.labels, label=np.log(self.labels.label))
        return self.labels

    def ratings(self) -> Ratings:
        """The labels as agreement takes them."""
        return Ratings.of_labels(self.labels, scale=self.scale)


@dataclass(frozen=True, eq=False)
class CampaignCurves(Result):
    """One curve per campaign: a table in long form, and a picture."""

    name: str
    caption: str
    x: str
    y: str
    curves: Mapping[str, tuple[Floats, Floats]]

    def table(self) -> Table:
        """One row per campaign and point."""
        rows = []
        for campaign, (x, y) in self.curves.items():
            for at, value in zip(x.tolist(), y.tolist(), strict=True):
                rows.append((campaign, at, None if np.isnan(value) else value))
        formats = {"campaign": "", self.x: "g", self.y: ".4f"}
        return Table.of(formats, rows, caption=self.caption)


@dataclass(frozen=True, eq=False)
class CampaignComparison(Result):
    """Campaigns on the docs that all of them judged."""

    unit = "doc"

    overview: tuple[tuple[object, ...], ...]
    by_grade: tuple[tuple[object, ...], ...]
    tested: tuple[Difference, ...]
    untested: tuple[Untested, ...]
    curves: tuple[CampaignCurves, ...]
    notes: tuple[str, ...]

    def table(self) -> Table:
        """One row per campaign."""
        formats = {
            "campaign": "", "scale": "", "labels": "d", "docs": "d", "workers": "d", "tasks": "d",
            "at the ends": ".3f", "different labels": "d", "α": ".4f", "mean α of topics": ".4f",
            "agreement of a task": ".4f", "agreement of the means": ".4f", "AUC": ".4f", "median seconds": ".1f",
        }  # fmt: skip
        keys = {"AUC": "auc"}
        return Table.of(formats, self.overview, caption="Campaigns on the same docs", notes=self.notes, keys=keys)

    def parts(self) -> dict[str, Table]:
        """The tables by name."""
        parts = {"campaigns": self.table(), "differences": self.difference_table()}
        if self.by_grade:
            formats = {"campaign": "", "reference grade": "g", "docs": "d", "labels": "d", "mean": ".3f", "α": ".4f"}
            parts["grades"] = Table.of(formats, self.by_grade, caption="Labels of the docs of each reference grade")
        for curve in self.curves:
            parts[curve.name] = curve.table()
        return parts

    def difference_table(self) -> Table:
        """One row per pair of campaigns and question that can be tested; a note names the others."""
        formats = {
            "first": "", "second": "", "what": "", "n": "d", "of the first": ".4f", "of the second": ".4f",
            "Δ": "+.4f", "low": "+.4f", "high": "+.4f", "p": "p", "p corrected": "p", "test": "",
        }  # fmt: skip
        rows = [difference.row() for difference in self.tested]
        notes = ["Δ: first minus second. p corrected by Holm over all rows of this table."]
        if self.untested:
            notes.append(f"Not tested, and not counted: {'; '.join(map(str, self.untested))}.")
        return Table.of(formats, rows, caption="Differences between the campaigns", notes=notes)

    def tables(self) -> list[Table]:
        """All of them."""
        return list(self.parts().values())


def compare_campaigns(
    campaigns: Sequence[Campaign],
    *,
    reference: Qrels | None = None,
    untied: bool = False,
    most: int = 10,
    repeats: int = 100,
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> CampaignComparison:
    """Two campaigns or more on the docs that all judged.

    reference: judgments that order the docs, on any scale. most, repeats, untied, seed: of the agreement with it when
    fewer labels are drawn. resamples: of the docs, for the intervals of differences.

    >>> rows = [("1", d, w, y) for d, y in (("a", 0), ("b", 1), ("c", 3)) for w in "uvw"]
    >>> fine = [(t, d, w, 30 * y + 2.0) for t, d, w, y in rows]
    >>> pair = [Campaign.of("S4", Labels.from_rows(rows), "S4"), Campaign.of("S100", Labels.from_rows(fine), "S100")]
    >>> compare_campaigns(pair, resamples=20).table().column("α")
    [1.0, 1.0]
    """
    names = [campaign.name for campaign in campaigns]
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError(f"two campaigns or more with different names are needed, not {', '.join(names) or 'none'}")
    shared, notes = on_shared_docs(campaigns)
    curves = [label_distributions(shared)]
    by_grade: list[tuple[object, ...]] = []
    if reference is not None:
        by_grade = _by_grade(shared, reference)
        curves += _against_reference(shared, reference, untied, most, repeats, seed, progress)
    curves += _times(shared)
    overview = [_overview(campaign, reference, untied) for campaign in shared]
    tested, untested = differences(
        {c.name: (c.ratings(), c.additive(), default_level(c.scale)) for c in shared},
        reference=reference,
        resamples=resamples,
        seed=seed,
    )
    return CampaignComparison(
        tuple(overview), tuple(by_grade), tuple(tested), tuple(untested), tuple(curves), tuple(notes)
    )


def on_shared_docs(campaigns: Sequence[Campaign]) -> tuple[list[Campaign], list[str]]:
    """The campaigns on the docs that all of them judged, and how many docs each of them loses by that."""
    docs_of = []
    for campaign in campaigns:
        _, pairs = campaign.labels.items()
        docs_of.append(pairs)
    shared = set(docs_of[0]).intersection(*docs_of[1:])
    if not shared:
        names = ", ".join(campaign.name for campaign in campaigns)
        raise DataError(f"{names}: no doc was judged in all of them; check topics and doc ids")
    kept = []
    lost = []
    for campaign, pairs in zip(campaigns, docs_of, strict=True):
        item, _ = campaign.labels.items()
        is_shared = np.array([pair in shared for pair in pairs])
        kept.append(replace(campaign, labels=_compact(campaign.labels, item, is_shared)))
        lost.append(f"{len(pairs) - len(shared)} of {campaign.name}")
    note = f"{len(shared)} docs were judged in all campaigns; left out: {', '.join(lost)}."
    return kept, [note, "Intervals and tests are over docs and topics; the workers are taken as they are."]


def _compact(labels: Labels, item: Ints, is_shared: Bools) -> Labels:
    """The labels of the shared docs; workers without any are not counted."""
    chosen = labels.select(is_shared[item])
    used, worker = np.unique(chosen.worker, return_inverse=True)
    workers = tuple(labels.workers[i] for i in used.tolist())
    return replace(chosen, workers=workers, worker=worker)


def label_distributions(campaigns: Sequence[Campaign]) -> CampaignCurves:
    """The share of labels up to each place of the scale, from 0 (its low end) to 100 %: the same for any levels."""
    curves = {}
    for campaign in campaigns:
        label = campaign.additive().label
        low = campaign.scale.low
        high = campaign.scale.high
        if campaign.scale.kind == "ratio":
            low = float(label.min())
            high = float(label.max())
        place = 100 * (label - low) / max(high - low, 1e-12)
        levels = np.array(campaign.scale.levels)
        at = PERCENTS
        if 0 < len(levels) <= FEW_LEVELS:
            at = 100 * (levels - low) / (high - low)
        up_to = np.searchsorted(np.sort(place), at + 1e-9, side="right")
        curves[campaign.name] = (at, up_to / len(place))
    return CampaignCurves(
        "labels",
        "How labels spread over the scale (of magnitudes their logs)",
        "place on the scale, %",
        "share of labels up to here",
        curves,
    )


def task_agreements(campaign: Campaign, reference: Qrels, *, untied: bool = False) -> Floats:
    """Pairwise agreement of each task with the reference, where it is defined."""
    grade = reference_of(campaign.labels, reference)
    known = np.flatnonzero(~np.isnan(grade))
    task = task_of(campaign.labels)[known]
    counts = ordered_pairs(task, grade[known], campaign.labels.label[known])
    by_task = counts.agreement(untied=untied)
    return by_task[np.isfinite(by_task)]


def _against_reference(
    campaigns: Sequence[Campaign],
    reference: Qrels,
    untied: bool,
    most: int,
    repeats: int,
    seed: int,
    progress: Progress,
) -> list[CampaignCurves]:
    """Complementary distribution of the agreement of tasks, and the agreement with fewer docs or labels."""
    above = {}
    docs = {}
    labels = {}
    for done, campaign in enumerate(campaigns, 1):
        of_tasks = task_agreements(campaign, reference, untied=untied)
        above[campaign.name] = (STEPS, (of_tasks[None, :] >= STEPS[:, None]).mean(axis=1))
        docs[campaign.name] = _means(fewer_docs(campaign.labels, reference, untied=untied))
        drawn = fewer_judgments(campaign.additive(), reference, most=most, repeats=repeats, untied=untied, seed=seed)
        labels[campaign.name] = _means(drawn)
        progress(done, len(campaigns))
    y = "mean agreement with the reference"
    return [
        CampaignCurves(
            "tasks",
            "Share of tasks that agree with the reference at least this much",
            "pairwise agreement with the reference",
            "share of tasks",
            above,
        ),
        CampaignCurves("fewer-docs", "Agreement by docs per task", "docs per task", y, docs),
        CampaignCurves("fewer-labels", "Agreement by labels per doc", "labels per doc", y, labels),
    ]


def _means(fewer: Fewer) -> tuple[Floats, Floats]:
    """Amounts and the mean agreement at each."""
    amounts = []
    means = []
    for amount, values in zip(fewer.amounts, fewer.agreement, strict=True):
        if len(values):
            amounts.append(float(amount))
            means.append(float(values.mean()))
    return np.array(amounts), np.array(means)


def _times(campaigns: Sequence[Campaign]) -> list[CampaignCurves]:
    """Cumulated mean seconds by position in the task; nothing unless every campaign has seconds."""
    if any(campaign.labels.seconds is None for campaign in campaigns):
        return []
    cumulated = {}
    for campaign in campaigns:
        table = time_by_position(campaign.labels).table()
        position = np.array(table.column("position"), dtype=np.float64)
        seconds = np.array(table.column("cumulated mean"), dtype=np.float64)
        cumulated[campaign.name] = (position, seconds)
    return [
        CampaignCurves(
            "time", "Seconds from the start of a task", "position in the task", "cumulated seconds", cumulated
        )
    ]


def _by_grade(campaigns: Sequence[Campaign], reference: Qrels) -> list[tuple[object, ...]]:
    """α, and the mean label, of the docs of each grade of the reference."""
    rows: list[tuple[object, ...]] = []
    for campaign in campaigns:
        grade = reference_of(campaign.labels, reference)
        for level in np.unique(grade[~np.isnan(grade)]).tolist():
            part = campaign.labels.select(grade == level)
            ratings = Ratings.of_labels(part, scale=campaign.scale)
            _, alpha = alpha_by_topic(ratings)
            mean = float(part.label.mean())
            shown = None if np.isnan(alpha) else alpha
            rows.append((campaign.name, level, int((ratings.sizes > 0).sum()), len(part), mean, shown))
    return rows


def _overview(campaign: Campaign, reference: Qrels | None, untied: bool) -> tuple[object, ...]:
    labels = campaign.labels
    ratings = campaign.ratings()
    by_topic, alpha = alpha_by_topic(ratings)
    at_ends = np.isin(labels.label, (campaign.scale.low, campaign.scale.high)).mean()
    seconds = None
    if labels.seconds is not None and np.isfinite(labels.seconds).any():
        seconds = float(np.nanmedian(labels.seconds))
    agreement: tuple[float | None, ...] = (None, None, None)
    if reference is not None:
        agreement = _agreement_of(campaign, reference, untied)
    defined = by_topic[np.isfinite(by_topic)]
    return (
        campaign.name,
        campaign.scale.name,
        len(labels),
        len(ratings.doc),
        len(labels.workers),
        len(np.unique(task_of(labels))),
        float(at_ends),
        len(np.unique(labels.label)),
        None if np.isnan(alpha) else alpha,
        float(defined.mean()) if len(defined) else None,
        *agreement,
        seconds,
    )


def _agreement_of(campaign: Campaign, reference: Qrels, untied: bool) -> tuple[float | None, ...]:
    """Mean agreement of tasks with the reference, of the docs' means by topic, and the area under the ROC curve."""
    of_tasks = task_agreements(campaign, reference, untied=untied)
    labels = campaign.additive()
    item, pairs = labels.items()
    mean = np.round(np.bincount(item, labels.label) / np.bincount(item), 9)
    grade = grades_of(pairs, reference, labels.name)
    topic = np.unique([name for name, _ in pairs], return_inverse=True)[1]
    known = np.flatnonzero(~np.isnan(grade))
    counts = ordered_pairs(topic[known], grade[known], mean[known])
    of_means = counts.agreement(untied=untied)
    task_mean = float(of_tasks.mean()) if len(of_tasks) else None
    return task_mean, float(np.nanmean(of_means)), float(np.nanmean(counts.auc()))
