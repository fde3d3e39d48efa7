"""How many docs are relevant, if only a machine looked at most of them? Rogan–Gladen's correction, with its interval.

A binary judge calls a share q relevant. With its sensitivity and specificity, known from docs that people judged too,
the true share is (q + specificity − 1)/(sensitivity + specificity − 1). The interval carries the uncertainty of all
three shares: Rogan & Gladen 1978; Lang & Reiczigel 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.io.column_names import Named
from assay.judges.label_audit import cut_of
from assay.judges.labelled_pairs import Scales, labelled


@dataclass(frozen=True)
class PrevalenceRow:
    """One judge: its error rates, and the share of relevant docs before and after the correction."""

    judge: str
    docs: int
    called: float
    sensitivity: float
    relevant: int
    specificity: float
    nonrelevant: int
    corrected: float
    low: float
    high: float


@dataclass(frozen=True)
class Prevalence(Result):
    """The share of relevant docs among those that a machine judged and people did not."""

    unit = "topic"

    rows: tuple[PrevalenceRow, ...]
    rel: float
    level: float
    notes: tuple[str, ...]

    def table(self) -> Table:
        """One row for each judge."""
        columns = {
            "judge": "", "docs": "d", "called relevant": ".4f", "sensitivity": ".4f", "of": "d", "specificity": ".4f",
            "of nonrelevant": "d", "corrected": ".4f", "low": ".4f", "high": ".4f",
        }  # fmt: skip
        rows = [
            (row.judge, row.docs, row.called, row.sensitivity, row.relevant, row.specificity, row.nonrelevant,
             row.corrected, row.low, row.high)
            for row in self.rows
        ]  # fmt: skip
        notes = [
            f"share of docs of human grade {self.rel:g} or more among the docs that people did not judge, "
            f"{100 * self.level:g} % intervals (Lang & Reiczigel 2014)",
            "assumes that the judge errs as often on these docs as on those that people judged, and docs independent",
            *self.notes,
        ]
        return Table.of(columns, rows, caption="Share of relevant docs", notes=notes)


def prevalence(
    human: Any, machine: Any, *, rel: float = 1, level: float = 0.95, scale: Scales = None, columns: Named = None
) -> Prevalence:
    """The share of relevant docs among those that only a machine judged, for every judge.

    Error rates come from docs that both judged. Where people judged all docs it is the share among these.

    >>> human = {"1": {f"d{i}": int(i < 5) for i in range(10)}}
    >>> machine = {"1": {f"d{i}": {"gpt": int(i % 10 < 5)} for i in range(40)}}
    >>> row = prevalence(human, machine).rows[0]
    >>> row.docs, row.sensitivity, row.specificity, round(row.corrected, 2)
    (30, 1.0, 1.0, 0.5)
    """
    pairs = labelled(human, machine, scale=scale, columns=columns)
    rows = []
    notes: list[str] = []
    for j, judge in enumerate(pairs.judges):
        labels = pairs.machine[j]
        known = ~np.isnan(labels)
        positive = labels >= cut_of(pairs, j, rel)
        relevant = pairs.human >= rel
        both = known & pairs.by_people
        hits = int((positive & relevant & both).sum())
        total = int((relevant & both).sum())
        rejected = int((~positive & ~relevant & both).sum())
        others = int((~relevant & both).sum())
        if not total or not others:
            raise DataError(f"{judge}: people called {total} docs relevant and {others} not; both kinds are needed")
        unknown = known & ~pairs.by_people
        target = unknown if unknown.any() else both
        if not unknown.any():
            notes.append(f"{judge}: people judged all its docs; this is the share among them")
        called = int((positive & target).sum())
        docs = int(target.sum())
        value, low, high = rogan_gladen(called, docs, hits, total, rejected, others, level=level)
        rows.append(
            PrevalenceRow(judge, docs, called / docs, hits / total, total, rejected / others, others, value, low, high)
        )
    return Prevalence(tuple(rows), rel, level, tuple(notes))


def rogan_gladen(
    called: int, docs: int, hits: int, relevant: int, rejected: int, nonrelevant: int, *, level: float = 0.95
) -> tuple[float, float, float]:
    """The corrected share and its interval, all within 0 and 1.

    called of docs: what the judge calls relevant; hits of relevant, rejected of nonrelevant: where people know.
    A judge that calls relevant docs relevant no more often than others says nothing: an error.

    >>> [round(x, 3) for x in rogan_gladen(259, 1000, 60, 80, 94, 100)]
    [0.288, 0.208, 0.362]
    """
    from scipy.special import ndtri

    for part, whole in ((called, docs), (hits, relevant), (rejected, nonrelevant)):
        if not 0 <= part <= whole or whole < 1:
            raise DataError(f"{part} of {whole} docs is no share; counts lie between 0 and a number of at least 1")
    z = float(ndtri((1 + level) / 2))
    sensitivity = hits / relevant
    specificity = rejected / nonrelevant
    power = sensitivity + specificity - 1
    if power <= 0:
        raise DataError(
            f"the judge finds {sensitivity:.3f} of relevant docs and wrongly calls {1 - specificity:.3f} of the others "
            "relevant: it says nothing about the share of relevant docs"
        )
    value = min(1.0, max(0.0, (called / docs + specificity - 1) / power))

    # Shares moved towards the middle, so that none of them is exactly 0 or 1.
    n = docs + z**2
    share = (called + z**2 / 2) / n
    n_relevant = relevant + 2
    n_others = nonrelevant + 2
    sensitive = (hits + 1) / n_relevant
    specific = (rejected + 1) / n_others
    moved_power = sensitive + specific - 1
    if moved_power <= 0:
        return value, 0.0, 1.0
    moved = (share + specific - 1) / moved_power
    of_sensitivity = sensitive * (1 - sensitive) / n_relevant
    of_specificity = specific * (1 - specific) / n_others
    shift = 2 * z**2 * (moved * of_sensitivity - (1 - moved) * of_specificity)
    variance = share * (1 - share) / n + moved**2 * of_sensitivity + (1 - moved) ** 2 * of_specificity
    half = z * float(np.sqrt(variance)) / moved_power
    low = min(1.0, max(0.0, moved + shift - half))
    high = min(1.0, max(0.0, moved + shift + half))
    return value, min(low, value), max(high, value)
