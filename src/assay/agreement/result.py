"""Agreement of a whole set of labels: any measures, with bootstrap intervals over items, per topic and in all.

Where the flow stands: Labels, or several Qrels → ratings → **result**. A user picks measures by name from AGREEMENTS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.agreement.alpha import Level, alphas
from assay.agreement.kappa import MOST_RATERS, Weights, cohen_kappas, fleiss_kappas, overlaps
from assay.agreement.ratings import Ratings, everything
from assay.agreement.scales import means_and_grades, pairwise_agreements
from assay.core.arrays import Floats
from assay.core.engine import Progress, chunks, generators, silent
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry
from assay.core.tables import Table
from assay.data import Labels, Qrels

AGREEMENTS: Registry[Callable[..., Floats]] = Registry("agreement measure")
ALL = "all"
SAMPLES = 64
"""Bootstrap samples computed at once: memory is SAMPLES × items."""


@AGREEMENTS.register("alpha")
def _alpha(ratings: Ratings, weights: Floats, *, level: Level = "interval") -> Floats:
    """Krippendorff's α: any number of assessors, labels may be missing; level nominal, ordinal, interval or ratio."""
    return alphas(ratings, weights, level=level)


@AGREEMENTS.register("fleiss")
def _fleiss(ratings: Ratings, weights: Floats) -> Floats:
    """Fleiss' κ: unordered values, any number of assessors."""
    return fleiss_kappas(ratings, weights)


@AGREEMENTS.register("kappa")
def _kappa(ratings: Ratings, weights: Floats, *, weighting: Weights | None = None) -> Floats:
    """Cohen's κ, mean over pairs of assessors; weighting none, linear or quadratic."""
    # Written `weighting=none` it comes as None: that is how a text says none.
    return cohen_kappas(ratings, weights, scale=weighting or "none")


@AGREEMENTS.register("overlap")
def _overlap(ratings: Ratings, weights: Floats, *, rel: float = 1.0) -> Floats:
    """|A ∩ B| / |A ∪ B| of what two assessors call relevant (≥ rel), mean over pairs of assessors."""
    return overlaps(ratings, weights, rel=rel)


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
class AgreementResult:
    """Every measure in all and per topic; None where it is undefined."""

    rows: tuple[AgreementRow, ...]
    notes: tuple[str, ...]

    def value(self, measure: str, topic: str = ALL) -> float | None:
        """One value."""
        for row in self.rows:
            if (row.measure, row.topic) == (measure, topic):
                return row.value
        raise UsageError(f"no agreement {measure!r} on topic {topic!r}")

    def table(self) -> Table:
        """One row per measure, in all."""
        return self._table([r for r in self.rows if r.topic == ALL], "Agreement")

    def topic_table(self) -> Table:
        """One row per measure and topic."""
        return self._table([r for r in self.rows if r.topic != ALL], "Agreement per topic")

    def _table(self, rows: Sequence[AgreementRow], caption: str) -> Table:
        columns = {"measure": "", "topic": "", "value": ".4f", "low": ".4f", "high": ".4f", "items": "d", "labels": "d"}
        plain = [(r.measure, r.topic, r.value, r.low, r.high, r.items, r.labels) for r in rows]
        dash = "–: undefined, all labels are equal or no two assessors share an item"
        notes = [*self.notes, dash] if any(r.value is None for r in rows) else self.notes
        return Table.of(columns, plain, caption=caption, notes=notes)


def agreement(
    source: Labels | Ratings | Sequence[Qrels],
    *,
    measures: Sequence[str] | None = None,
    per_topic: bool = True,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress = silent,
) -> AgreementResult:
    """How far assessors agree, with percentile intervals from items drawn with replacement.

    Measures are names from AGREEMENTS; by default those of `usual_measures`. Undefined (all labels equal, nobody shares
    an item): None. resamples=0: no intervals.

    >>> labels = Labels.from_rows([("1", "a", "w1", 1), ("1", "a", "w2", 1), ("1", "b", "w1", 0), ("1", "b", "w2", 0)])
    >>> agreement(labels, measures=["kappa"], resamples=0).value("kappa")
    1.0
    """
    ratings = _ratings(source)
    names = tuple(measures) if measures else usual_measures(ratings)
    parts = [(ALL, ratings)]
    if per_topic:
        parts += [(topic, ratings.of_topic(i)) for i, topic in enumerate(ratings.topics)]
    rows: list[AgreementRow] = []
    for done, ((topic, part), rng) in enumerate(zip(parts, generators(seed, len(parts)), strict=True), start=1):
        rows += _rows(names, topic, part, rng, resamples, level)
        progress(done, len(parts))
    return AgreementResult(tuple(rows), _notes(ratings, resamples, level, seed))


def usual_measures(ratings: Ratings) -> tuple[str, ...]:
    """What to show when nobody asks for anything else: α (ordinal, interval) and Fleiss' κ, and for up to 50 assessors
    Cohen's κ unweighted and quadratic. Of two values all levels and weights are the same: α nominal, both κ once.
    """
    few, binary = len(np.unique(ratings.rater)) <= MOST_RATERS, len(ratings.values) <= 2
    levels = ("nominal",) if binary else ("ordinal", "interval")
    kappas = ("kappa",) if binary else ("kappa", "kappa(weighting=quadratic)")
    return (*(f"alpha(level={level})" for level in levels), "fleiss", *(kappas if few else ()))


def _ratings(source: Labels | Ratings | Sequence[Qrels]) -> Ratings:
    if isinstance(source, Ratings):
        ratings = source
    else:
        ratings = Ratings.of_labels(source) if isinstance(source, Labels) else Ratings.of_qrels(source)
    if not (ratings.sizes > 1).any():
        raise DataError("no item has labels of two assessors; there is nothing to agree on")
    return ratings


def _rows(
    names: Sequence[str], topic: str, ratings: Ratings, rng: np.random.Generator, resamples: int, level: float
) -> list[AgreementRow]:
    """Every measure on the same bootstrap samples of the items; one item alone has no interval."""
    shared = int((ratings.sizes > 1).sum())
    drawn: list[list[Floats]] = [[np.zeros(0)] for _ in names]
    for part in chunks(resamples if shared > 1 else 0, SAMPLES):
        weights = _resampled(ratings.items, part.stop - part.start, rng)
        for found, name in zip(drawn, names, strict=True):
            found.append(_values(name, ratings, weights))
    rows = []
    for name, samples in zip(names, drawn, strict=True):
        value = float(_values(name, ratings, everything(ratings))[0])
        known = None if np.isnan(value) else value
        bounds = (None, None) if known is None else _interval(np.concatenate(samples), level)
        rows.append(AgreementRow(name, topic, known, *bounds, shared, len(ratings)))
    return rows


def _resampled(items: int, samples: int, rng: np.random.Generator) -> Floats:
    """samples × items: how often each item was drawn."""
    return rng.multinomial(items, np.full(items, 1 / items), size=samples).astype(np.float64)


def _values(name: str, ratings: Ratings, weights: Floats) -> Floats:
    """A measure for each row of item weights; NaN where it is undefined."""
    entry, given = AGREEMENTS.parse(name)
    try:
        return entry.function(ratings, weights, **given)
    except DataError:
        return np.full(len(weights), np.nan)


def _interval(drawn: Floats, level: float) -> tuple[float | None, float | None]:
    defined = drawn[~np.isnan(drawn)]
    if not len(defined):
        return None, None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _notes(ratings: Ratings, resamples: int, level: float, seed: int) -> tuple[str, ...]:
    interval = f"{100 * level:.0f} % percentile intervals, {resamples} bootstrap samples of items, seed {seed}"
    notes = [interval if resamples else "no intervals", "items: those with two labels or more"]
    if ratings.repeats:
        notes.append(f"{ratings.repeats} second labels of a worker for one item left out")
    return tuple(notes)


def reference_agreement(
    labels: Labels, reference: Qrels, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> AgreementResult:
    """Pairwise agreement of the mean label of each doc with the grades of a reference, per topic and in all.

    Two rows each: over all pairs of docs, and over those that the reference orders. In all: docs of all topics pooled.
    Intervals from docs drawn with replacement.
    """
    found = means_and_grades(labels, reference)
    pooled = tuple(np.concatenate(columns) for columns in zip(*found.values(), strict=True))
    parts = {ALL: (pooled[0], pooled[1], pooled[2]), **found}
    rows = []
    for (topic, (grade, mean, count)), rng in zip(parts.items(), generators(seed, len(parts)), strict=True):
        for name, untied in (("pairs", False), ("ordered pairs", True)):
            value = float(pairwise_agreements(grade, mean, untied=untied))
            drawn = _drawn_agreements(grade, mean, untied, resamples, rng)
            known = None if np.isnan(value) else value
            low, high = _interval(drawn, level) if known is not None else (None, None)
            rows.append(AgreementRow(name, topic, known, low, high, len(grade), int(count.sum())))
    notes = (
        f"share of pairs of docs that {reference.name} orders and the mean labels order alike, strictly",
        f"{100 * level:.0f} % percentile intervals, {resamples} bootstrap samples of docs, seed {seed}",
    )
    return AgreementResult(tuple(rows), notes)


def _drawn_agreements(grade: Floats, mean: Floats, untied: bool, resamples: int, rng: np.random.Generator) -> Floats:
    n = len(grade)
    drawn = [np.zeros(0)]
    for rows in chunks(resamples, 2**20 // n):
        at = rng.integers(n, size=(rows.stop - rows.start, n))
        drawn.append(pairwise_agreements(grade[at], mean[at], untied=untied))
    return np.concatenate(drawn)
