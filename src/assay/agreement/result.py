"""Agreement of a whole set of labels: any measures, with bootstrap intervals over items, per topic and in all.

Where the flow stands: Labels, or several Qrels → ratings → **result**. A user picks measures by name from AGREEMENTS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from assay.agreement.across_scales import means_and_grades, pairwise_agreements
from assay.agreement.alpha import alphas
from assay.agreement.beta_phi import phi
from assay.agreement.kappa import MOST_WORKERS, Weights, cohen_kappas, fleiss_kappas, overlaps
from assay.agreement.ratings import Ratings, everything
from assay.agreement.scales import Level, Scale, default_level, given_scale, scale_seen
from assay.core.arrays import Floats
from assay.core.engine import Progress, chunks, generators, silent
from assay.core.errors import DataError, UsageError
from assay.core.groups import name_of_all
from assay.core.registry import Registry, Within
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Labels, Qrels
from assay.io.brought import labels_of, plain_qrels_of
from assay.io.column_names import Named, refuse_unused, shared_columns

AGREEMENTS: Registry[Callable[..., Any]] = Registry("agreement measure")
SAMPLES = 64
"""Bootstrap samples computed at once: memory is SAMPLES × items."""

Interval = tuple[float | None, float | None]


@AGREEMENTS.register("alpha")
def _alpha(ratings: Ratings, weights: Floats, *, level: Level | None = None) -> Floats:
    """Krippendorff's α: any number of assessors, labels may be missing; level nominal, ordinal, interval or ratio.

    Without a level it is the one of the scale: see `default_level`.
    """
    return alphas(ratings, weights, level=level or default_level(ratings.scale))


@AGREEMENTS.register("fleiss")
def _fleiss(ratings: Ratings, weights: Floats) -> Floats:
    """Fleiss' κ: unordered values, any number of assessors."""
    return fleiss_kappas(ratings, weights)


@AGREEMENTS.register("kappa")
def _kappa(ratings: Ratings, weights: Floats, *, weighting: Weights | None = None) -> Floats:
    """Cohen's κ, mean over pairs of assessors; weighting none, linear or quadratic."""
    # Written `weighting=none` it comes as None: that is how a text says none.
    return cohen_kappas(ratings, weights, weighting=weighting or "none")


@AGREEMENTS.register("overlap")
def _overlap(ratings: Ratings, weights: Floats, *, rel: float = 1.0) -> Floats:
    """|A ∩ B| / |A ∪ B| of what two assessors call relevant (≥ rel), mean over pairs of assessors."""
    return overlaps(ratings, weights, rel=rel)


@AGREEMENTS.register("phi", own_interval=True)
def _phi(ratings: Ratings, *, confidence: Annotated[float, Within(0, 1, open=True)] = 0.95) -> tuple[float, Interval]:
    """Φ of Checco et al.: labels between the two ends of a scale; likelihood-ratio interval."""
    ends = (ratings.scale.low, ratings.scale.high)
    found = phi(ratings.item, ratings.value, scale=ends, level=confidence)
    return found.phi, (found.low, found.high)


@dataclass(frozen=True)
class AgreementRow:
    """One measure on one topic, or on all."""

    measure: str
    topic: str
    value: float | None
    low: float | None
    high: float | None
    items: int
    labels: int


@dataclass(frozen=True)
class AgreementResult(Result):
    """Every measure in all and per topic; None where it is undefined."""

    unit = "doc"

    rows: tuple[AgreementRow, ...]
    notes: tuple[str, ...]
    whole: str = "all"
    """What stands for the topic in the rows of all topics."""

    def value(self, measure: str, topic: str | None = None) -> float | None:
        """One value, of one topic or of all; α may be asked for without its level."""
        topic = self.whole if topic is None else topic
        for row in self.rows:
            names = (row.measure, row.measure.partition("(level=")[0])
            if measure in names and row.topic == topic:
                return row.value
        raise UsageError(f"no agreement {measure!r} on topic {topic!r}")

    def table(self) -> Table:
        """One row per measure, in all."""
        return self._table([r for r in self.rows if r.topic == self.whole], "Agreement")

    def topic_table(self) -> Table:
        """One row per measure and topic."""
        return self._table([r for r in self.rows if r.topic != self.whole], "Agreement per topic")

    def tables(self) -> list[Table]:
        """In all, and per topic where that was asked for."""
        tables = [self.table()]
        by_topic = self.topic_table()
        if by_topic.rows:
            tables.append(by_topic)
        return tables

    def _table(self, rows: Sequence[AgreementRow], caption: str) -> Table:
        formats = {"measure": "", "topic": "", "value": ".4f", "low": ".4f", "high": ".4f", "items": "d", "labels": "d"}
        cells = []
        notes = list(self.notes)
        for row in rows:
            cells.append((row.measure, row.topic, row.value, row.low, row.high, row.items, row.labels))
        if any(row.value is None for row in rows):
            notes.append("–: undefined, all labels are equal or no two assessors share an item")
        return Table.of(formats, cells, caption=caption, notes=notes)


def agreement(
    source: Any,
    *,
    measures: str | Sequence[str] | None = None,
    scale: Scale | str | None = None,
    per_topic: bool = True,
    resamples: int = 1000,
    level: float = 0.95,
    columns: Named = None,
    seed: int = 0,
    progress: Progress = silent,
) -> AgreementResult:
    """How far assessors agree, with percentile intervals from items drawn with replacement.

    source: labels as {topic: {doc: {worker: label}}}, a path, a data frame, rows (topic, doc, worker, label) or Labels;
    Ratings; or a list of judgments, one for each assessor, each as `assay.evaluate` takes them.
    Measures are names from AGREEMENTS; by default those of `usual_measures`. scale: that of the labels, by name ('S4',
    '0-100', 'no<maybe<yes') or as a Scale, which decides the level of measurement of α (see `default_level`); without
    it the one that they look like. Undefined (all labels equal, nobody shares an item): None.
    resamples=0: no intervals. Φ needs the scale, and has its own interval.
    columns: our column → that of the tables which have it.

    >>> labels = Labels.from_rows([("1", "a", "w1", 1), ("1", "a", "w2", 1), ("1", "b", "w1", 0), ("1", "b", "w2", 0)])
    >>> agreement(labels, measures="kappa", resamples=0).value("kappa")
    1.0
    """
    ratings = rated(source, scale=given_scale(scale), columns=columns)
    if not (ratings.sizes > 1).any():
        raise DataError("no item has labels of two assessors; there is nothing to agree on")
    asked = [measures] if isinstance(measures, str) else list(measures or usual_measures(ratings))
    names = [_full_name(name, ratings) for name in asked]
    if scale is None:
        _refuse_phi(names)
    whole = name_of_all(ratings.topics)
    parts = [(whole, ratings)]
    if per_topic:
        parts += [(topic, ratings.of_topic(i)) for i, topic in enumerate(ratings.topics)]
    rows: list[AgreementRow] = []
    rng_of_part = list(generators(seed, len(parts)))
    for i, (topic, part) in enumerate(parts):
        rows += _rows(names, topic, part, rng_of_part[i], resamples, level)
        progress(i + 1, len(parts))
    return AgreementResult(tuple(rows), _notes(names, ratings, resamples, level, seed), whole)


def _refuse_phi(names: Sequence[str]) -> None:
    """An error if Φ is among the measures while nobody named the scale."""
    for name in names:
        entry = AGREEMENTS.entry(name)
        if entry.name == "phi":
            raise UsageError("phi needs the two ends of the scale, which are never guessed; name the scale, e.g. 0-100")


def rated(source: Any, *, scale: Scale | None = None, columns: Named = None) -> Ratings:
    """Ratings of whatever a person has; each worker's first label of a doc counts."""
    shared = shared_columns(columns)
    if isinstance(source, Ratings):
        refuse_unused(shared, columns)
        return source if scale is None else source.on(scale)
    if not _are_qrels(source):
        labels = labels_of(source, columns=shared)
        refuse_unused(shared, columns)
        return Ratings.of_labels(labels, scale=scale or scale_seen(labels.label))
    # Files and Qrels have names of their own; dicts and frames are named by their place.
    judged = [plain_qrels_of(one, columns=shared, name=f"assessor{i}") for i, one in enumerate(source, start=1)]
    refuse_unused(shared, columns)
    ratings = Ratings.of_qrels(judged)
    return ratings if scale is None else ratings.on(scale)


def _are_qrels(source: Any) -> bool:
    """Whether these are judgments, one set for each assessor, and not labels: a list of anything but rows."""
    if not isinstance(source, list | tuple):
        return False
    return not any(isinstance(one, list | tuple) for one in source)


def usual_measures(ratings: Ratings) -> tuple[str, ...]:
    """What to show when nobody asks for anything else: α at the level of the scale and Fleiss' κ, and for up to 50
    assessors Cohen's κ, unweighted and quadratic; of two levels all weights are the same, so that it stands once.
    """
    names = ["alpha", "fleiss"]
    if len(np.unique(ratings.worker)) <= MOST_WORKERS:
        names.append("kappa")
        if default_level(ratings.scale) != "nominal":
            names.append("kappa(weighting=quadratic)")
    return tuple(_full_name(name, ratings) for name in names)


def _full_name(name: str, ratings: Ratings) -> str:
    """The name of a measure; that of α with the level at which it is taken."""
    is_alpha = AGREEMENTS.entry(name).name == "alpha"
    if is_alpha and not AGREEMENTS.given(name).get("level"):
        return f"alpha(level={default_level(ratings.scale)})"
    return name


def _rows(
    names: Sequence[str], topic: str, ratings: Ratings, rng: np.random.Generator, resamples: int, level: float
) -> list[AgreementRow]:
    """Every measure on the same bootstrap samples of the items; one item alone has no interval."""
    shared = int((ratings.sizes > 1).sum())
    sampled = [name for name in names if not _has_own_interval(name)]
    drawn: dict[str, list[Floats]] = {name: [np.zeros(0)] for name in sampled}
    samples = resamples if shared > 1 else 0
    for part in chunks(samples, SAMPLES):
        weights = _resampled(len(ratings.doc), part.stop - part.start, rng)
        for name, values in drawn.items():
            values.append(_values(name, ratings, weights))
    rows = []
    for name in names:
        if name in drawn:
            value, bounds = _with_interval(name, ratings, np.concatenate(drawn[name]), level)
        else:
            value, bounds = _own_interval(name, ratings, level)
        rows.append(AgreementRow(name, topic, value, *bounds, shared, len(ratings)))
    return rows


def _has_own_interval(name: str) -> bool:
    entry = AGREEMENTS.entry(name)
    return bool(entry.facts.get("own_interval"))


def _with_interval(name: str, ratings: Ratings, drawn: Floats, level: float) -> tuple[float | None, Interval]:
    """The value and the middle of what the bootstrap samples gave; None where it is undefined."""
    value = float(_values(name, ratings, everything(ratings))[0])
    if np.isnan(value):
        return None, (None, None)
    return value, _interval(drawn, level)


def _own_interval(name: str, ratings: Ratings, level: float) -> tuple[float | None, Interval]:
    if not (ratings.sizes > 1).any():
        return None, (None, None)
    found: tuple[float, Interval] = AGREEMENTS.call(name, ratings, confidence=level)
    return found


def _resampled(items: int, samples: int, rng: np.random.Generator) -> Floats:
    """samples × items: how often each item was drawn."""
    return rng.multinomial(items, np.full(items, 1 / items), size=samples).astype(np.float64)


def _values(name: str, ratings: Ratings, weights: Floats) -> Floats:
    """A measure for each row of item weights; NaN where it is undefined."""
    try:
        values: Floats = AGREEMENTS.call(name, ratings, weights)
    except DataError:
        return np.full(len(weights), np.nan)
    return values


def _interval(drawn: Floats, level: float) -> Interval:
    """The middle of what was drawn and is defined, of this level."""
    defined = drawn[~np.isnan(drawn)]
    if not len(defined):
        return None, None
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(defined, ends)
    return float(low), float(high)


def _notes(names: Iterable[str], ratings: Ratings, resamples: int, level: float, seed: int) -> tuple[str, ...]:
    interval = f"{100 * level:.0f} % percentile intervals, {resamples} bootstrap samples of items, seed {seed}"
    notes = [interval if resamples else "no intervals", "items: those with two labels or more"]
    scale = ratings.scale
    notes.append(f"scale {scale.name} ({scale.described()}): α is {default_level(scale)} by default")
    if any(_has_own_interval(name) for name in names):
        notes.append("phi: maximum likelihood and likelihood-ratio interval; biased upwards with few labels per item")
    if ratings.left_out:
        notes.append(f"{ratings.left_out} second labels of a worker for one item left out")
    return tuple(notes)


def reference_agreement(
    labels: Labels,
    reference: Qrels,
    *,
    per_topic: bool = True,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> AgreementResult:
    """Pairwise agreement of the mean label of each doc with the grades of a reference, per topic and in all.

    Two rows each: over all pairs of docs, and over those that the reference orders. In all: docs of all topics pooled.
    Intervals from docs drawn with replacement.

    >>> labels = Labels.from_rows([("1", "a", "w", 20), ("1", "b", "w", 70), ("1", "c", "w", 60)])
    >>> found = reference_agreement(labels, Qrels.from_dict({"1": {"a": 0, "b": 1, "c": 1}}), resamples=0)
    >>> found.value("ordered pairs")
    1.0
    """
    by_topic = means_and_grades(labels, reference)
    grades, means, counts = zip(*by_topic.values(), strict=True)
    whole = name_of_all(by_topic)
    parts = {whole: (np.concatenate(grades), np.concatenate(means), np.concatenate(counts))}
    if per_topic:
        parts.update(by_topic)
    rows = []
    seeded = generators(seed, len(parts))
    for (topic, (grade, mean, count)), rng in zip(parts.items(), seeded, strict=True):
        given = int(count.sum())
        for name, untied in (("pairs", False), ("ordered pairs", True)):
            share = float(pairwise_agreements(grade, mean, untied=untied))
            drawn = _drawn_agreements(grade, mean, untied, resamples, rng)
            if np.isnan(share):
                rows.append(AgreementRow(name, topic, None, None, None, len(grade), given))
            else:
                low, high = _interval(drawn, level)
                rows.append(AgreementRow(name, topic, share, low, high, len(grade), given))
    notes = (
        f"share of pairs of docs that {reference.name} orders and the mean labels order alike, strictly",
        f"{100 * level:.0f} % percentile intervals, {resamples} bootstrap samples of docs, seed {seed}",
    )
    return AgreementResult(tuple(rows), notes, whole)


def _drawn_agreements(grade: Floats, mean: Floats, untied: bool, resamples: int, rng: np.random.Generator) -> Floats:
    n = len(grade)
    drawn = [np.zeros(0)]
    for rows in chunks(resamples, 2**20 // n):
        samples = rows.stop - rows.start
        docs = rng.integers(n, size=(samples, n))
        drawn.append(pairwise_agreements(grade[docs], mean[docs], untied=untied))
    return np.concatenate(drawn)
