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
from assay.agreement.scales import Scale, default_level, scale_in
from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.units import summable, task_of
from assay.data import Labels, Qrels

FEW = 5
"""With fewer labels than this a worker is not called suspect: there is too little to go by."""
FAR = 2.5
"""Robust distance from the typical worker, in sd, beyond which something is a reason."""


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
        order = np.argsort(-self.facts["suspicion"], kind="stable")
        return [self.workers[i] for i in order.tolist() if self.reasons[i]]

    def table(self, *, most: int | None = None) -> Table:
        """Workers, most suspect first."""
        order = np.argsort(-self.facts["suspicion"], kind="stable")[:most].tolist()
        shown = {n: v for n, v in self.facts.items() if np.isfinite(v).any()}
        rows = [(self.workers[i], *(v[i] for v in shown.values()), "; ".join(self.reasons[i])) for i in order]
        formats = {n: {"labels": "d", "tasks": "d", "α_gain": "+.5f"}.get(n, ".3f") for n in shown}
        whole = [tuple(int(v) if f == "d" else v for v, f in zip(r[1:-1], formats.values())) for r in rows]
        return Table.of(
            {"worker": ""} | formats | {"reasons": ""},
            [(r[0], *w, r[-1]) for r, w in zip(rows, whole)],
            caption="Workers, most suspect first",
            notes=self.notes,
        )


def worker_quality(labels: Labels, *, scale: Scale | None = None) -> WorkerQuality:
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
    scale = scale or scale_in(labels)
    ratings = Ratings.of_labels(summable(labels), scale=scale, repeats="first")
    n = np.bincount(labels.worker, minlength=len(labels.workers)).astype(np.float64)
    level = default_level(scale)
    alpha, without = alpha_without(ratings, level=level)
    tasks = task_of(labels)
    first = np.unique(tasks, return_index=True)[1]
    facts = {
        "labels": n,
        "tasks": np.bincount(labels.worker[first], minlength=len(n)).astype(np.float64),
        **_against_others(ratings, scale),
        "gold": _gold(labels, scale, len(n)),
        "α_gain": np.where(n > 0, alpha - without, np.nan),
        **_habits(ratings, scale),
        "seconds": _median_seconds(labels, len(n)),
    }
    suspicion, reasons = _suspicion(facts)
    active, silent = int((n > 0).sum()), int((n == 1).sum())
    notes = (
        f"α of all labels {_known(alpha)} ({level}); {len(labels)} labels, {active} workers, {silent} of them with one "
        f"label; reasons need {FEW} labels and {FAR} robust sd; nobody is removed.",
    )
    return WorkerQuality(ratings.workers, facts | {"suspicion": suspicion}, reasons, alpha, notes)


def _known(alpha: float) -> str:
    return f"{alpha:.4f}" if np.isfinite(alpha) else "not defined, nothing varies,"


def _against_others(ratings: Ratings, scale: Scale) -> dict[str, Floats]:
    """Agreement and correlation with the mean of the others' labels of the same docs."""
    n, total = ratings.sizes[ratings.item], np.bincount(ratings.item, ratings.value)[ratings.item]
    heard = n > 1
    worker, value = ratings.worker[heard], ratings.value[heard]
    other = ((total - ratings.value) / np.maximum(1, n - 1))[heard]
    size = len(ratings.workers)
    count = np.bincount(worker, minlength=size)
    distance = np.bincount(worker, np.abs(value - other), size) / np.maximum(count, 1) / _width(ratings, scale)
    return {
        "agreement": np.where(count > 0, 1 - distance, np.nan),
        "correlation": _correlation(worker, value, other, size),
    }


def _width(ratings: Ratings, scale: Scale) -> float:
    return scale.high - scale.low if np.isfinite(scale.high) else max(float(np.ptp(ratings.value)), 1e-12)


def _correlation(group: npt.NDArray[np.int64], x: Floats, y: Floats, size: int) -> Floats:
    """Pearson's r within each group; not-a-number below three rows or without variation."""
    n = np.maximum(1, np.bincount(group, minlength=size))
    dx, dy = (v - (np.bincount(group, v, size) / n)[group] for v in (x, y))
    xx, yy, xy = (np.bincount(group, v, size) for v in (dx * dx, dy * dy, dx * dy))
    known = (n > 2) & (xx > 1e-12) & (yy > 1e-12)
    return np.where(known, xy / np.sqrt(np.where(known, xx * yy, 1.0)), np.nan)


def _gold(labels: Labels, scale: Scale, size: int) -> Floats:
    if labels.gold is None:
        return np.full(size, np.nan)
    rows = np.flatnonzero(~np.isnan(labels.gold))
    width = scale.high - scale.low if np.isfinite(scale.high) else 1.0
    count = np.bincount(labels.worker[rows], minlength=size)
    distance = np.bincount(labels.worker[rows], np.abs(labels.label - labels.gold)[rows], size) / width
    return np.where(count > 0, 1 - distance / np.maximum(count, 1), np.nan)


def _habits(ratings: Ratings, scale: Scale) -> dict[str, Floats]:
    """Entropy, share of the most frequent label, and on numeric scales shares of round and of boundary values."""
    size, k = len(ratings.workers), len(ratings.levels)
    n = np.maximum(1, np.bincount(ratings.worker, minlength=size))
    keys, counts = np.unique(ratings.worker * k + ratings.answer, return_counts=True)
    share = counts / n[keys // k]
    habits = {
        "entropy": 0.0 - np.bincount(keys // k, share * np.log2(share), size).astype(np.float64),
        "same": _highest(keys // k, share, size),
    }
    if scale.kind == "interval":
        at_end = np.isin(ratings.value, (scale.low, scale.high))
        habits["round"] = (np.bincount(ratings.worker, ratings.value % 10 == 0, size) / n).astype(np.float64)
        habits["boundary"] = (np.bincount(ratings.worker, at_end, size) / n).astype(np.float64)
    return habits


def _highest(group: npt.NDArray[np.int64], values: Floats, size: int) -> Floats:
    top = np.zeros(size)
    np.maximum.at(top, group, values)
    return top


def _median_seconds(labels: Labels, size: int) -> Floats:
    if labels.seconds is None:
        return np.full(size, np.nan)
    rows = np.flatnonzero(~np.isnan(labels.seconds))
    order = rows[np.lexsort((labels.seconds[rows], labels.worker[rows]))]
    n = np.bincount(labels.worker[rows], minlength=size)
    begin = np.cumsum(n) - n
    sorted_seconds = np.append(labels.seconds[order], np.nan)
    low, high = (sorted_seconds[np.where(n > 0, begin + i, len(order))] for i in (np.maximum(0, n - 1) // 2, n // 2))
    return (low + high) / 2


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
        values = np.log(np.maximum(facts[name], 1e-3)) if name == "seconds" else facts[name]
        known = np.isfinite(values) & enough
        if known.sum() < 3:
            continue
        centre = np.median(values[known])
        spread = 1.4826 * np.median(np.abs(values[known] - centre))
        if spread <= 1e-9:
            continue
        far = np.where(known, side * (values - centre) / spread, 0.0)
        for i in np.flatnonzero(far > FAR):
            total[i] += far[i]
            reasons[i].append(f"{words} ({name} {facts[name][i]:.3g}, typical {np.median(facts[name][known]):.3g})")
    return total, tuple(tuple(r) for r in reasons)


@dataclass(frozen=True, eq=False)
class TopicQuality(Result):
    """Per topic: labels, docs, workers, α; with a reference also pairwise agreement and AUC of the docs' means."""

    rows: tuple[tuple[object, ...], ...]
    notes: tuple[str, ...]
    compared: bool

    def table(self) -> Table:
        """One row per topic and one for all; the last three columns only where there was a reference."""
        formats = {"topic": "", "labels": "d", "docs": "d", "workers": "d", "α": ".4f", "entropy": ".3f"}
        if self.compared:
            formats |= {"agreement": ".4f", "untied": ".4f", "AUC": ".4f"}
        rows = [row[: len(formats)] for row in self.rows]
        return Table.of(formats, rows, caption="Quality per topic", notes=self.notes)


def topic_quality(labels: Labels, *, scale: Scale | None = None, reference: Qrels | None = None) -> TopicQuality:
    """How far the labels of each topic agree with each other, and their docs' means with a reference.

    agreement: pairs of docs that the mean labels put strictly in the reference's order, over all pairs (Roitero 2020,
    §9.3.2.1), untied: over the pairs whose reference grades differ, AUC: the same with half a point for ties. A
    repeated label of a doc counts once.
    """
    scale = scale or scale_in(labels)
    labels = single(labels, "first")
    ratings = Ratings.of_labels(summable(labels), scale=scale)
    level = default_level(scale)
    alpha, whole = alpha_by_topic(ratings, level=level)
    entropy = doc_entropy(ratings)
    docs = np.bincount(ratings.topic, minlength=len(ratings.topics))
    agree = np.full((3, len(ratings.topics)), np.nan)
    if reference is not None:
        mean = np.bincount(ratings.item, ratings.value) / ratings.sizes
        grade = reference_of(labels, reference)[np.unique(ratings.item, return_index=True)[1]]
        kept = np.flatnonzero(~np.isnan(grade))
        counts = ordered_pairs(ratings.topic[kept], grade[kept], mean[kept])
        found = np.stack([counts.agreement(), counts.agreement(untied=True), counts.auc()])
        agree[:, : found.shape[1]] = found
    rows = []
    of_topic = ratings.topic[ratings.item]
    for t, name in enumerate(ratings.topics):
        mine = of_topic == t
        workers = len(np.unique(ratings.worker[mine]))
        spread = entropy[ratings.topic == t].mean()
        rows.append((name, int(mine.sum()), int(docs[t]), workers, alpha[t], spread, *agree[:, t]))
    means = [np.nanmean(a) if np.isfinite(a).any() else None for a in agree]
    rows.append(("all", len(labels), len(ratings.items), len(np.unique(labels.worker)), whole, entropy.mean(), *means))
    means_of = "" if reference is None else "; the last row's agreements are means over the topics"
    return TopicQuality(tuple(rows), (f"α {level}{means_of}.",), reference is not None)


def doc_entropy(ratings: Ratings) -> Floats:
    """Entropy in bits of the labels of each doc."""
    share = ratings.votes() / ratings.sizes[:, None] if len(ratings.levels) <= 20 else None
    if share is not None:
        return -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1) + 0.0
    k = len(ratings.levels)
    keys, counts = np.unique(ratings.item * k + ratings.answer, return_counts=True)
    p = counts / ratings.sizes[keys // k]
    return 0.0 - np.bincount(keys // k, p * np.log2(p), len(ratings.items)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class DocQuality(Result):
    """Per doc: labels, mean, sd, entropy and controversy, 1 = the labels are split between both ends of the scale."""

    items: tuple[tuple[str, str], ...]
    labels: npt.NDArray[np.int64]
    mean: Floats
    sd: Floats
    entropy: Floats
    controversy: Floats

    def table(self, *, most: int | None = None) -> Table:
        """Docs, most controversial first."""
        order = np.argsort(-self.controversy, kind="stable")[:most].tolist()
        columns = (self.labels, self.mean, self.sd, self.entropy, self.controversy)
        rows = [(*self.items[i], *(c[i] for c in columns)) for i in order]
        formats = {"topic": "", "doc": "", "labels": "d", "mean": ".2f", "sd": ".2f", "entropy": ".3f"}
        return Table.of(formats | {"controversy": ".3f"}, rows, caption="Docs, most controversial first")


def doc_quality(labels: Labels, *, scale: Scale | None = None) -> DocQuality:
    """How far the workers of each doc agree; controversy = sd (divisor n) / half the width of the scale."""
    scale = scale or scale_in(labels)
    ratings = Ratings.of_labels(summable(labels), scale=scale, repeats="all")
    n = ratings.sizes
    mean = np.bincount(ratings.item, ratings.value) / n
    sd = np.sqrt(np.bincount(ratings.item, (ratings.value - mean[ratings.item]) ** 2) / n)
    return DocQuality(ratings.items, n, mean, sd, doc_entropy(ratings), 2 * sd / _width(ratings, scale))
