"""From labels to qrels: one call for every aggregation in the registry, and how well each agrees with a reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.agreement.across_scales import grades_of, reference_of
from assay.agreement.kappa import cohen_kappa
from assay.agreement.ratings import Ratings
from assay.agreement.scales import Scale, scale_for
from assay.core.arrays import Bools
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table

# Imported for what they register.
from assay.crowd import eases, graded, hidden_line, latent, preference_pairs, spammers  # noqa: F401
from assay.crowd.magnitudes import comparable_magnitudes, short_units
from assay.crowd.preference_pairs import Preferences
from assay.crowd.uncertain import Uncertain
from assay.crowd.units import summable
from assay.crowd.vote import AGGREGATIONS, RATIO_STEPS
from assay.data import Labels, Qrels
from assay.io.brought import labels_of
from assay.io.column_names import Named, refuse_unused, shared_columns


def aggregate(
    labels: Any,
    method: str = "majority",
    *,
    scale: Scale | str | None = None,
    repeats: str = "all",
    columns: Named = None,
    **parameters: Any,
) -> Uncertain:
    """Judgments from labels by a registered aggregation, written `name` or `name(key=value, …)`.

    labels: {topic: {doc: {worker: label}}}, a path, a data frame, rows (topic, doc, worker, label), Labels, or
    Preferences. scale: that of the labels, by name ('S4', '0-100') or as a Scale; else the one that they look like.
    columns: our column → that of a table, e.g. {"worker": "person"}.
    Magnitudes are first made comparable by geometric averaging. repeats: what to do where a worker labelled a doc more
    than once: take `all`, the `first` or the `last` of them. Grades of means and of other numbers keep their fractions.

    >>> rows = [("1", "a", "v", 1), ("1", "a", "w", 1), ("1", "a", "x", 0)]
    >>> aggregate(Labels.from_rows(rows), "majority").qrels().to_dict()
    {'1': {'a': 1}}
    """
    entry = AGGREGATIONS.entry(method)
    entry.checked(parameters)
    needs = entry.facts["kind"]
    shared = shared_columns(columns)
    given = labels if isinstance(labels, Preferences) else labels_of(labels, columns=shared)
    refuse_unused(shared, columns)
    # Magnitudes and their logs may still overflow on the way; what comes out is then refused as a whole.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if isinstance(given, Preferences) or needs == "preferences":
            return _of_preferences(given, method, needs, parameters)
        return _of_labels(summable(given), method, needs, scale_for(given, scale), repeats, parameters)


def _of_preferences(labels: Labels | Preferences, method: str, kind: str, parameters: dict[str, Any]) -> Uncertain:
    if not isinstance(labels, Preferences) or kind != "preferences":
        needed = "preference pairs" if kind == "preferences" else "a label for each doc"
        raise UsageError(f"{method} needs {needed}; preference pairs and bradley-terry go together")
    judgments: Uncertain = AGGREGATIONS.call(method, labels, **parameters)
    return judgments


def _of_labels(
    labels: Labels, method: str, kind: str, scale: Scale, repeats: str, parameters: dict[str, Any]
) -> Uncertain:
    notes: tuple[str, ...] = ()
    if scale.kind == "ratio":
        notes = ("Magnitudes made comparable by geometric averaging within each topic.",)
        short = short_units(labels)
        if short:
            notes += (f"{short} units have fewer than 4 docs: their mean takes true differences away.",)
        labels = comparable_magnitudes(labels)
    if kind == "categories" and scale.kind != "categories":
        raise DataError(
            f"labels on the scale {scale.name} are numbers; {method} needs levels: cut the scale first, "
            "or aggregate by mean, median, weighted or interval"
        )
    ratings = Ratings.of_labels(labels, scale=scale, repeats=repeats)
    judgments: Uncertain = AGGREGATIONS.call(method, ratings, **parameters)
    return replace(judgments, notes=judgments.notes + notes)


@dataclass(frozen=True, eq=False)
class AgreementWithReference(Result):
    """One row per aggregation: docs compared, share relevant, share of equal judgments (accuracy) and κ."""

    rows: tuple[tuple[object, ...], ...]
    cut: float
    rel: float
    same_scale: bool = False
    """Whether the reference was taken to be on the scale of the labels, and cut at the same place."""

    def table(self) -> Table:
        """Single labels first, then each aggregation; every row says from where on docs count as relevant."""
        formats = {
            "judgments": "", "n": "d", "share relevant": ".4f", "accuracy": ".4f", "κ": ".4f", "relevant from": "g",
            "reference from": "g",
        }  # fmt: skip
        rows = [(*row, self.cut, self.rel) for row in self.rows]
        note = f"relevant: labels and grades of at least {self.cut:g}, reference grades of at least {self.rel:g}"
        if self.same_scale:
            note += "; the reference reaches the middle of the scale of the labels, so both are cut at the same place"
        caption = "Agreement with the reference (relevant or not)"
        return Table.of(formats, rows, caption=caption, notes=[note])


def agreement_with_reference(
    labels: Labels,
    reference: Qrels,
    methods: Iterable[str | Uncertain],
    *,
    scale: Scale | str | None = None,
    cut: float | None = None,
    rel: float | None = None,
) -> AgreementWithReference:
    """How often single labels, and each aggregation of them, say as the reference whether a doc is relevant.

    A label or grade is relevant from `cut` on (1 for categories, the middle of a numeric scale, half of the topic's
    highest magnitude), a reference grade from `rel` on: without one from `cut` on where the reference reaches it, since
    it is then on the scale of the labels, else from 1 on. Docs that the reference has not judged are left out; κ is
    Cohen's on relevant or not. Methods are names, or judgments that were made already.
    """
    chosen = scale_for(labels, scale)
    least = _middle(chosen) if cut is None else cut
    same_scale = rel is None and 1 < least <= reference.top_grade()
    least_of_reference = 1.0 if rel is None else rel
    if same_scale:
        least_of_reference = least
    rows: list[tuple[object, ...]] = []
    if chosen.kind != "ratio":  # magnitudes of one worker say nothing without that worker's other magnitudes
        grade = reference_of(labels, reference)
        known = ~np.isnan(grade)
        rows.append(("single labels", *_compared(labels.label[known] >= least, grade[known] >= least_of_reference)))
    for method in methods:
        if isinstance(method, str):
            judgments = aggregate(labels, method, scale=chosen)
            name = method
        else:
            judgments = method
            name = method.method
        grade = grades_of(judgments.items, reference, labels.name)
        known = ~np.isnan(grade)
        rows.append((name, *_compared(judgments.grade[known] >= least, grade[known] >= least_of_reference)))
    return AgreementWithReference(tuple(rows), least, least_of_reference, same_scale)


def _middle(scale: Scale) -> float:
    """The label from which on a doc is relevant where nobody says."""
    return RATIO_STEPS / 2 if scale.kind == "ratio" else scale.relevant_from


def _compared(ours: Bools, theirs: Bools) -> tuple[int, float, float, float | None]:
    """n, share relevant of ours, accuracy, κ (None where both say one and the same throughout)."""
    try:
        kappa = cohen_kappa(ours, theirs)
    except DataError:
        kappa = None
    share_relevant = float(ours.mean())
    accuracy = float((ours == theirs).mean())
    return len(ours), share_relevant, accuracy, kappa
