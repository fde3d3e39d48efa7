"""From labels to qrels: one call for every aggregation in the registry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from assay.agreement.ratings import Ratings
from assay.agreement.scales import Scale, scale_for
from assay.core.errors import DataError, UsageError

# Imported for what they register.
from assay.crowd import eases, graded, hidden_line, latent, preference_pairs, spammers  # noqa: F401
from assay.crowd.magnitudes import comparable_magnitudes, short_units
from assay.crowd.preference_pairs import Preferences
from assay.crowd.uncertain import Uncertain
from assay.crowd.units import summable
from assay.crowd.vote import AGGREGATIONS
from assay.data import Labels
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
