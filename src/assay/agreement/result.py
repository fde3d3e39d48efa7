"""Agreement of a whole set of labels: any measures, with intervals over topics or docs, per topic and in all.

Where the flow stands: Labels, or several Qrels → ratings → **result**. A user picks measures by name from AGREEMENTS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from assay.agreement.across_scales import means_and_grades, pairwise_agreements
from assay.agreement.alpha import alphas
from assay.agreement.beta_phi import BIASED, phis
from assay.agreement.kappa import MOST_WORKERS, Weights, cohen_kappas, fleiss_kappas, overlaps
from assay.agreement.ratings import Ratings, everything
from assay.agreement.scales import Level, Scale, default_level, given_scale, scale_seen
from assay.agreement.unit_intervals import ROWS, Ends, Unit, Units, interval_over
from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.groups import name_of_all
from assay.core.registry import Registry
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Labels, Qrels
from assay.io.brought import labels_of, plain_qrels_of
from assay.io.column_names import Named, refuse_unused, shared_columns

AGREEMENTS: Registry[Callable[..., Any]] = Registry("agreement measure")


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


@AGREEMENTS.register("overlap", limits=(0.0, 1.0))
def _overlap(ratings: Ratings, weights: Floats, *, rel: float = 1.0) -> Floats:
    """|A ∩ B| / |A ∪ B| of what two assessors call relevant (≥ rel), mean over pairs of assessors."""
    return overlaps(ratings, weights, rel=rel)


@AGREEMENTS.register("phi", rows=4096)
def _phi(ratings: Ratings, weights: Floats) -> Floats:
    """Φ of Checco et al.: labels between the two ends of a scale; biased upwards with few labels per doc."""
    return phis(ratings, weights, scale=(ratings.scale.low, ratings.scale.high))


@dataclass(frozen=True)
class AgreementRow:
    """One measure on one topic, or on all; `units` were sampled for the interval, and `why` says why there is none."""

    measure: str
    topic: str
    value: float | None
    low: float | None
    high: float | None
    items: int
    labels: int
    unit: Unit
    units: int
    why: str = ""


@dataclass(frozen=True)
class AgreementResult(Result):
    """Every measure in all and per topic; None where it is undefined."""

    rows: tuple[AgreementRow, ...]
    notes: tuple[str, ...]
    level: float
    whole: str = "all"
    """What stands for the topic in the rows of all topics."""

    @property
    def unit(self) -> str:
        """What was sampled: topics, or docs if there is one topic alone."""
        return "topic" if any(row.unit == "topic" for row in self.rows) else "doc"

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
        notes = [*_claims(rows, self.level), *self.notes]
        for row in rows:
            cells.append((row.measure, row.topic, row.value, row.low, row.high, row.items, row.labels))
        if any(row.value is None for row in rows):
            notes.append("–: undefined, all labels are equal or no two assessors share an item")
        return Table.of(formats, cells, caption=caption, notes=notes)


def _claims(rows: Sequence[AgreementRow], level: float) -> list[str]:
    """What the intervals of a table are over, and of how many rows there is none, and why."""
    notes = []
    for unit in ("topic", "doc"):
        units = [row.units for row in rows if row.unit == unit and row.low is not None]
        if units:
            among = f"{min(units)} to {max(units)}" if min(units) < max(units) else f"{units[0]}"
            notes.append(f"{100 * level:g} % t intervals, delete-one-{unit} jackknife over {among} {unit}s")
    defined = [row for row in rows if row.value is not None]
    for why in dict.fromkeys(row.why for row in defined if row.why):
        lacking = sum(row.why == why for row in defined)
        where = "" if lacking == len(defined) else f" in {lacking} of {len(defined)} rows"
        notes.append(f"no interval{where}: {why}")
    return notes


def agreement(
    source: Any,
    *,
    measures: str | Sequence[str] | None = None,
    scale: Scale | str | None = None,
    per_topic: bool = True,
    level: float = 0.95,
    columns: Named = None,
    progress: Progress = silent,
) -> AgreementResult:
    """How far assessors agree, with intervals that take topics as units, or the docs of one topic alone.

    source: labels as {topic: {doc: {worker: label}}}, a path, a data frame, rows (topic, doc, worker, label) or Labels;
    Ratings; or a list of judgments, one for each assessor, each as `assay.evaluate` takes them.
    Measures are names from AGREEMENTS; by default those of `usual_measures`. scale: that of the labels, by name ('S4',
    '0-100', 'no<maybe<yes') or as a Scale, which decides the level of measurement of α (see `default_level`); without
    it the one that they look like. Undefined (all labels equal, nobody shares an item): None. Φ needs the scale.
    Intervals are by jackknife (see `interval_over`) and need 5 topics, or 50 docs of one topic; else None.
    columns: our column → that of the tables which have it.

    >>> labels = Labels.from_rows([("1", "a", "w1", 1), ("1", "a", "w2", 1), ("1", "b", "w1", 0), ("1", "b", "w2", 0)])
    >>> agreement(labels, measures="kappa").value("kappa")
    1.0
    """
    ratings = rated(source, scale=given_scale(scale), columns=columns)
    asked = [measures] if isinstance(measures, str) else measures
    if scale is None:
        _refuse_phi(asked or ())
    parts = []
    if per_topic:
        parts = [(topic, ratings.of_topic(i)) for i, topic in enumerate(ratings.topics)]
    return agreement_of_parts(ratings, parts, asked, level=level, progress=progress)


def agreement_of_parts(
    ratings: Ratings,
    parts: Sequence[tuple[str, Ratings]],
    measures: Sequence[str] | None = None,
    *,
    level: float = 0.95,
    by_docs: bool = True,
    progress: Progress = silent,
) -> AgreementResult:
    """Agreement in all and on named parts of the ratings; by_docs: whether docs of one topic are independent."""
    if not (ratings.sizes > 1).any():
        raise DataError("no item has labels of two assessors; there is nothing to agree on")
    names = [_full_name(name, ratings) for name in measures or usual_measures(ratings)]
    whole = name_of_all([name for name, _ in parts] or ratings.topics)
    rows: list[AgreementRow] = []
    every = [(whole, ratings), *parts]
    for i, (name, part) in enumerate(every):
        rows += _rows(names, name, part, level, by_docs)
        progress(i + 1, len(every))
    return AgreementResult(tuple(rows), _notes(names, ratings), level, whole)


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


def _rows(names: Sequence[str], topic: str, ratings: Ratings, level: float, by_docs: bool) -> list[AgreementRow]:
    """Every measure with its interval over the topics, or the docs of one."""
    shared = int((ratings.sizes > 1).sum())
    units = Units.of(ratings)
    rows = []
    for name in names:
        found = float(_values(name, ratings, everything(ratings))[0])
        value = None if np.isnan(found) else found
        ends = Ends() if value is None else _interval(name, ratings, units, value, level, by_docs)
        size = (shared, len(ratings), units.name, units.count)
        rows.append(AgreementRow(name, topic, value, ends.low, ends.high, *size, ends.why))
    return rows


def _interval(name: str, ratings: Ratings, units: Units, value: float, level: float, by_docs: bool) -> Ends:
    if units.name == "doc" and not by_docs:
        return Ends(why="the items of one topic are not independent")
    facts = AGREEMENTS.entry(name).facts

    def left_out() -> Floats:
        return units.left_out(lambda rows: _values(name, ratings, rows), facts.get("rows", ROWS))

    return interval_over(units.name, units.count, value, left_out, level, facts.get("limits", (-1.0, 1.0)))


def _values(name: str, ratings: Ratings, weights: Floats) -> Floats:
    """A measure for each row of item weights; NaN where it is undefined."""
    try:
        values: Floats = AGREEMENTS.call(name, ratings, weights)
    except DataError:
        return np.full(len(weights), np.nan)
    return values


def _notes(names: Iterable[str], ratings: Ratings) -> tuple[str, ...]:
    notes = ["items: those with two labels or more"]
    scale = ratings.scale
    notes.append(f"scale {scale.name} ({scale.described()}): α is {default_level(scale)} by default")
    if any(AGREEMENTS.entry(name).name == "phi" for name in names):
        notes.append(f"phi: {BIASED}")
    if ratings.left_out:
        notes.append(f"{ratings.left_out} second labels of a worker for one item left out")
    return tuple(notes)


def reference_agreement(
    labels: Labels, reference: Qrels, *, per_topic: bool = True, level: float = 0.95
) -> AgreementResult:
    """Pairwise agreement of the mean label of each doc with the grades of a reference, per topic and in all.

    Two rows each: over all pairs of docs, and over those that the reference orders. In all: docs of all topics pooled.
    Intervals as those of `agreement`: over topics, or over the docs of one topic alone.

    >>> labels = Labels.from_rows([("1", "a", "w", 20), ("1", "b", "w", 70), ("1", "c", "w", 60)])
    >>> found = reference_agreement(labels, Qrels.from_dict({"1": {"a": 0, "b": 1, "c": 1}}))
    >>> found.value("ordered pairs")
    1.0
    """
    by_topic = means_and_grades(labels, reference)
    whole = name_of_all(by_topic)
    rows = _pair_rows(whole, list(by_topic.values()), level)
    for topic, docs in by_topic.items() if per_topic else ():
        rows += _pair_rows(topic, [docs], level)
    note = f"share of pairs of docs that {reference.name} orders and the mean labels order alike, strictly"
    return AgreementResult(tuple(rows), (note,), level, whole)


def _pair_rows(name: str, topics: Sequence[tuple[Floats, Floats, Ints]], level: float) -> list[AgreementRow]:
    """Both shares of pairs of the docs of some topics together."""
    grade, mean, count = (np.concatenate(column) for column in zip(*topics, strict=True))
    unit: Unit = "topic" if len(topics) > 1 else "doc"
    of_doc = np.repeat(np.arange(len(topics)), [len(docs[0]) for docs in topics])
    of_doc = of_doc if unit == "topic" else np.arange(len(grade))
    units = int(of_doc[-1]) + 1
    rows = []
    for measure, untied in (("pairs", False), ("ordered pairs", True)):
        found = float(pairwise_agreements(grade, mean, untied=untied))
        value = None if np.isnan(found) else found
        ends = Ends()
        if value is not None:
            without = partial(_pairs_without, grade, mean, of_doc, untied)
            ends = interval_over(unit, units, value, without, level, (0.0, 1.0))
        size = (len(grade), int(count.sum()), unit, units)
        rows.append(AgreementRow(measure, name, value, ends.low, ends.high, *size, ends.why))
    return rows


def _pairs_without(grade: Floats, mean: Floats, unit: Ints, untied: bool) -> Floats:
    """The share of pairs without each unit in turn."""
    kept = (unit != left for left in range(int(unit[-1]) + 1))
    return np.array([float(pairwise_agreements(grade[k], mean[k], untied=untied)) for k in kept])
