"""From labels to qrels: one call for every aggregation in the registry, and how well each agrees with a reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.agreement.ratings import Ratings
from assay.agreement.scales import Scale, scale_in
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table

# Imported for what they register.
from assay.crowd import bradley_terry, graded, latent, spammers  # noqa: F401
from assay.crowd.bradley_terry import Preferences
from assay.crowd.magnitudes import comparable_magnitudes, short_units
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS
from assay.data import Labels, Qrels


def aggregate(
    labels: Labels | Preferences,
    method: str = "majority",
    *,
    scale: Scale | None = None,
    repeats: str = "all",
    **parameters: Any,
) -> Uncertain:
    """Judgments from labels by a registered aggregation, written `name` or `name(key=value, …)`.

    Magnitudes are first made comparable by geometric averaging. repeats: what to do where a worker labelled a doc more
    than once: take `all`, the `first` or the `last` of them.

    >>> rows = [("1", "a", "v", 1), ("1", "a", "w", 1), ("1", "a", "x", 0)]
    >>> aggregate(Labels.from_rows(rows), "majority").qrels().to_dict()
    {'1': {'a': 1}}
    """
    entry, told = AGGREGATIONS.parse(method)
    given = told | entry.checked(parameters)
    kind = entry.facts["kind"]
    if isinstance(labels, Preferences) or kind == "preferences":
        if not isinstance(labels, Preferences) or kind != "preferences":
            needed = "preference pairs" if kind == "preferences" else "a label for each doc"
            raise UsageError(f"{entry.name} needs {needed}; preference pairs and bradley-terry go together")
        return entry.function(labels, **given)
    scale = scale or scale_in(labels)
    notes: tuple[str, ...] = ()
    if scale.kind == "ratio":
        short = short_units(labels)
        labels = comparable_magnitudes(labels)
        notes = ("Magnitudes made comparable by geometric averaging within each topic.",)
        notes += (f"{short} units have fewer than 4 docs: their mean takes true differences away.",) if short else ()
    if kind == "categories" and scale.kind != "categories":
        raise DataError(
            f"labels on the scale {scale.name} are numbers; {entry.name} needs levels: cut the scale first, "
            "or aggregate by mean, median, weighted or interval"
        )
    judgments = entry.function(Ratings.of_labels(labels, scale=scale, repeats=repeats), **given)
    return replace(judgments, notes=judgments.notes + notes) if notes else judgments


@dataclass(frozen=True, eq=False)
class AgreementWithReference:
    """One row per aggregation: share relevant, share of equal grades, κ and the docs that were compared."""

    rows: tuple[tuple[object, ...], ...]

    def table(self) -> Table:
        """Single labels first, then each aggregation."""
        formats = {"judgments": "", "n": "d", "share relevant": ".4f", "accuracy": ".4f", "κ": ".4f"}
        return Table.of(formats, self.rows, caption="Agreement with the reference (relevant or not)")


def agreement_with_reference(
    labels: Labels,
    reference: Qrels,
    methods: Iterable[str],
    *,
    scale: Scale | None = None,
    cut: float | None = None,
    rel: int = 1,
) -> AgreementWithReference:
    """How often single labels, and each aggregation of them, say as the reference whether a doc is relevant.

    A label or grade is relevant from `cut` on (1 for categories, the middle of a numeric scale), a reference grade from
    `rel` on. Docs without a reference grade are left out; κ is Cohen's on relevant or not.
    """
    from assay.agreement.across_scales import reference_of

    scale = scale or scale_in(labels)
    least = cut if cut is not None else (scale.low + scale.high) / 2 if scale.kind == "interval" else 1.0
    grade = reference_of(labels, reference)
    known = np.flatnonzero(~np.isnan(grade))
    rows = [("single labels", *_compared(labels.label[known] >= least, grade[known] >= rel))]
    of_item = reference.to_dict()
    for method in methods:
        judged = aggregate(labels, method, scale=scale)
        pairs = [(g, of_item.get(t, {}).get(d)) for (t, d), g in zip(judged.items, judged.grade.tolist(), strict=True)]
        ours, theirs = np.array([(a, b) for a, b in pairs if b is not None]).T
        rows.append((method, *_compared(ours >= least, theirs >= rel)))
    return AgreementWithReference(tuple(rows))


def _compared(ours: Any, theirs: Any) -> tuple[int, float, float, float | None]:
    """n, share relevant of ours, accuracy, κ (None where chance agreement is 1)."""
    accuracy = float((ours == theirs).mean())
    a, b = float(ours.mean()), float(theirs.mean())
    chance = a * b + (1 - a) * (1 - b)
    return len(ours), a, accuracy, (accuracy - chance) / (1 - chance) if chance < 1 else None
