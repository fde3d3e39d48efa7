"""Are the workers any good? Per worker, per topic, per doc; and which workers deserve a second look, with reasons.

Nothing is ever deleted: a suspect is a row in a table for a person to look at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.agreement.across_scales import ordered_pairs, reference_of
from assay.agreement.left_out import alpha_by_topic, alpha_without
from assay.agreement.ratings import Ratings, single
from assay.agreement.scales import Level, Scale, default_level, scale_for
from assay.core.arrays import Floats, Ints
from assay.core.groups import name_of_all
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.units import summable, task_of
from assay.crowd.worker_facts import against_others, gold_agreement, habits, median_seconds, scale_width
from assay.data import Labels, Qrels

FEW = 5
"""With fewer labels than this a worker is not called suspect: there is too little to go by."""
FAR = 2.5
"""Robust distance from the typical worker, in sd, beyond which something is a reason."""


_FORMATS = {"labels": "d", "tasks": "d", "α_gain": "+.5f"}
"""How a fact is printed, if not with three decimals."""


@dataclass(frozen=True, eq=False)
class WorkerQuality(Result):
    """One row per worker; not-a-number where a fact is not known. `reasons` says why a worker is suspect."""

    workers: tuple[str, ...]
    facts: dict[str, Floats]
    reasons: tuple[tuple[str, ...], ...]
    alpha: float
    notes: tuple[str, ...]

    def suspects(self) -> list[str]:
        """Workers with at least one reason, most suspect first."""
        return [self.workers[i] for i in self._most_suspect_first() if self.reasons[i]]

    def table(self, *, most: int | None = None) -> Table:
        """Workers, most suspect first."""
        known = [name for name, values in self.facts.items() if np.isfinite(values).any()]
        formats = {name: _FORMATS.get(name, ".3f") for name in known}
        rows = []
        for i in self._most_suspect_first()[:most]:
            numbers = [self._number(name, i) for name in known]
            reasons = "; ".join(self.reasons[i])
            rows.append((self.workers[i], *numbers, reasons))
        return Table.of(
            {"worker": "", **formats, "reasons": ""},
            rows,
            caption="Workers, most suspect first",
            notes=self.notes,
        )

    def _number(self, fact: str, worker: int) -> float:
        """A fact of a worker; counts as whole numbers."""
        value = self.facts[fact][worker]
        if _FORMATS.get(fact) == "d":
            return int(value)
        return float(value)

    def _most_suspect_first(self) -> list[int]:
        return np.argsort(-self.facts["suspicion"], kind="stable").tolist()


def worker_quality(labels: Labels, *, scale: Scale | str | None = None) -> WorkerQuality:
    """What each worker's labels say of the worker.

    agreement: 1 − mean distance from the mean of the others' labels, in widths of the scale. correlation: of the labels
    with those means. gold: 1 − mean distance from the gold labels. α_gain: α of all minus α without the worker (a
    positive gain helps). entropy: of the labels in bits. same: share of the most frequent label. round, boundary:
    shares of multiples of ten and of the ends of a numeric scale. seconds: median. suspicion: sum of the robust
    distances from the typical worker that count as reasons. A repeated label of a doc counts once.

    >>> rows = [("1", d, w, v) for d, v in (("a", 0), ("b", 1), ("c", 1)) for w in "uv"]
    >>> found = worker_quality(Labels.from_rows(rows))
    >>> found.facts["agreement"].tolist(), found.suspects()
    ([1.0, 1.0], [])
    """
    scale = scale_for(labels, scale)
    level = default_level(scale)
    # All labels are counted, but of a worker's repeated labels of a doc only the first is rated.
    ratings = Ratings.of_labels(summable(labels), scale=scale, repeats="first")
    alpha, without = alpha_without(ratings, level=level)
    count = np.bincount(labels.worker, minlength=len(labels.workers)).astype(np.float64)
    facts = {
        "labels": count,
        "tasks": _tasks(labels),
        **against_others(ratings, scale),
        "gold": gold_agreement(labels, scale),
        "α_gain": np.where(count > 0, alpha - without, np.nan),
        **habits(ratings, scale),
        "seconds": median_seconds(labels),
    }
    suspicion, reasons = _suspicion(facts)
    facts["suspicion"] = suspicion
    note = _worker_note(count, alpha, level)
    return WorkerQuality(ratings.workers, facts, reasons, alpha, (note,))


def _tasks(labels: Labels) -> Floats:
    """How many tasks each worker did."""
    _, first = np.unique(task_of(labels), return_index=True)
    tasks = np.bincount(labels.worker[first], minlength=len(labels.workers))
    return tasks.astype(np.float64)


def _worker_note(count: Floats, alpha: float, level: Level) -> str:
    known = f"{alpha:.4f} ({level})" if np.isfinite(alpha) else f"is not defined ({level}, and nothing varies)"
    active = int((count > 0).sum())
    with_one = int((count == 1).sum())
    return (
        f"α of all labels {known}; {int(count.sum())} labels, {active} workers, {with_one} of them with one "
        f"label; reasons need {FEW} labels and {FAR} robust sd; nobody is removed."
    )


_REASONS = (
    # fact, side that is suspicious, words
    ("agreement", -1, "far from the others"),
    ("correlation", -1, "does not order docs as the others do"),
    ("gold", -1, "far from the gold labels"),
    ("α_gain", -1, "lowers the agreement of all"),
    ("seconds", -1, "very fast"),
    ("seconds", 1, "very slow"),
    ("entropy", -1, "hardly varies"),
    ("same", 1, "one label nearly always"),
)


def _suspicion(facts: dict[str, Floats]) -> tuple[Floats, tuple[tuple[str, ...], ...]]:
    """Robust distances (median, MAD) summed over the facts that lie on their suspicious side beyond FAR."""
    enough = facts["labels"] >= FEW
    total = np.zeros(len(enough))
    reasons: list[list[str]] = [[] for _ in enough]
    for name, side, words in _REASONS:
        values = facts[name]
        known = np.isfinite(values) & enough
        if known.sum() < 3:
            continue
        # Times are compared by their ratio: twice as fast is as far as twice as slow.
        compared = values
        if name == "seconds":
            compared = np.log(np.maximum(values, 1e-3))
        distance = side * _robust_distance(compared, known)
        typical = np.median(values[known])
        for worker in np.flatnonzero(distance > FAR):
            total[worker] += distance[worker]
            reason = f"{words} ({name} {values[worker]:.3g}, typical {typical:.3g})"
            reasons[worker].append(reason)
    return total, tuple(tuple(of_worker) for of_worker in reasons)


def _robust_distance(values: Floats, known: npt.NDArray[np.bool_]) -> Floats:
    """(value − median) / (1.4826 · MAD), which estimates the sd; 0 where a value is not known or nothing varies."""
    centre = np.median(values[known])
    deviations = np.abs(values[known] - centre)
    spread = 1.4826 * np.median(deviations)
    if spread <= 1e-9:
        return np.zeros(len(values))
    return np.where(known, (values - centre) / spread, 0.0)


@dataclass(frozen=True, eq=False)
class TopicQuality(Result):
    """Per topic: labels, docs, workers, α; with a reference also pairwise agreement and AUC of the docs' means."""

    rows: tuple[tuple[object, ...], ...]
    notes: tuple[str, ...]
    compared: bool

    def table(self) -> Table:
        """One row per topic and one for all; the last three columns only where there was a reference."""
        formats = {
            "topic": "",
            "labels": "d",
            "docs": "d",
            "workers": "d",
            "α": ".4f",
            "entropy": ".3f",
        }
        if self.compared:
            formats |= {"agreement": ".4f", "untied": ".4f", "AUC": ".4f"}
        rows = [row[: len(formats)] for row in self.rows]
        return Table.of(formats, rows, caption="Quality per topic", notes=self.notes, keys={"AUC": "auc"})


def topic_quality(labels: Labels, *, scale: Scale | str | None = None, reference: Qrels | None = None) -> TopicQuality:
    """How far the labels of each topic agree with each other, and their docs' means with a reference.

    agreement: pairs of docs that the mean labels put strictly in the reference's order, over all pairs (Roitero 2020,
    §9.3.2.1), untied: over the pairs whose reference grades differ, AUC: the same with half a point for ties. A
    repeated label of a doc counts once.
    """
    scale = scale_for(labels, scale)
    level = default_level(scale)
    labels = single(labels, "first")
    ratings = Ratings.of_labels(summable(labels), scale=scale)
    alpha, alpha_of_all = alpha_by_topic(ratings, level=level)
    entropy = doc_entropy(ratings)
    agreements = _agreements(labels, ratings, reference)

    rows: list[tuple[object, ...]] = []
    topic_of_label = ratings.topic[ratings.item]
    for t, name in enumerate(ratings.topics):
        own_labels = topic_of_label == t
        own_docs = ratings.topic == t
        workers = np.unique(ratings.worker[own_labels])
        row = (
            name,
            int(own_labels.sum()),
            int(own_docs.sum()),
            len(workers),
            alpha[t],
            entropy[own_docs].mean(),
            *agreements[:, t],
        )
        rows.append(row)

    last_row = (
        name_of_all(ratings.topics),
        len(labels),
        len(ratings.items),
        len(np.unique(labels.worker)),
        alpha_of_all,
        entropy.mean(),
        *[_mean_known(values) for values in agreements],
    )
    rows.append(last_row)

    note = f"α {level}."
    if reference is not None:
        note = f"α {level}; the last row's agreements are means over the topics."
    return TopicQuality(tuple(rows), (note,), reference is not None)


def _agreements(labels: Labels, ratings: Ratings, reference: Qrels | None) -> Floats:
    """Agreement, untied agreement and AUC of the docs' means with the reference, 3 × topics."""
    agreements = np.full((3, len(ratings.topics)), np.nan)
    if reference is None:
        return agreements
    mean = np.bincount(ratings.item, ratings.value) / ratings.sizes
    _, first_label = np.unique(ratings.item, return_index=True)
    grade = reference_of(labels, reference)[first_label]
    graded = np.flatnonzero(~np.isnan(grade))
    counts = ordered_pairs(ratings.topic[graded], grade[graded], mean[graded])
    measured = np.stack(
        [
            counts.agreement(),
            counts.agreement(untied=True),
            counts.auc(),
        ]
    )
    # The counts end with the last topic that has a grade.
    agreements[:, : measured.shape[1]] = measured
    return agreements


def _mean_known(values: Floats) -> float | None:
    if not np.isfinite(values).any():
        return None
    return float(np.nanmean(values))


def doc_entropy(ratings: Ratings) -> Floats:
    """Entropy in bits of the labels of each doc."""
    levels = len(ratings.levels)
    if levels <= 20:
        share = ratings.votes() / ratings.sizes[:, None]
        bits = np.log2(np.where(share > 0, share, 1.0))
        return -(share * bits).sum(axis=1) + 0.0
    # With many levels a table docs × levels would be mostly empty: only the labels that occur are counted.
    cell = ratings.item * levels + ratings.answer
    used, times = np.unique(cell, return_counts=True)
    item = used // levels
    share = times / ratings.sizes[item]
    sums = np.bincount(item, share * np.log2(share), len(ratings.items))
    return 0.0 - sums.astype(np.float64)


@dataclass(frozen=True, eq=False)
class DocQuality(Result):
    """Per doc: labels, mean, sd, entropy and controversy, 1 = the labels are split between both ends of the scale."""

    items: tuple[tuple[str, str], ...]
    labels: Ints
    mean: Floats
    sd: Floats
    entropy: Floats
    controversy: Floats

    def table(self, *, most: int | None = None) -> Table:
        """Docs, most controversial first."""
        formats = {
            "topic": "",
            "doc": "",
            "labels": "d",
            "mean": ".2f",
            "sd": ".2f",
            "entropy": ".3f",
            "controversy": ".3f",
        }
        columns = (self.labels, self.mean, self.sd, self.entropy, self.controversy)
        most_controversial_first = np.argsort(-self.controversy, kind="stable")
        rows = []
        for i in most_controversial_first[:most].tolist():
            numbers = [column[i] for column in columns]
            rows.append((*self.items[i], *numbers))
        return Table.of(formats, rows, caption="Docs, most controversial first")


def doc_quality(labels: Labels, *, scale: Scale | str | None = None) -> DocQuality:
    """How far the workers of each doc agree; controversy = sd (divisor n) / half the width of the scale."""
    scale = scale_for(labels, scale)
    ratings = Ratings.of_labels(summable(labels), scale=scale, repeats="all")
    item = ratings.item
    n = ratings.sizes
    mean = np.bincount(item, ratings.value) / n
    squares = (ratings.value - mean[item]) ** 2
    sd = np.sqrt(np.bincount(item, squares) / n)
    controversy = 2 * sd / scale_width(ratings, scale)
    return DocQuality(ratings.items, n, mean, sd, doc_entropy(ratings), controversy)
