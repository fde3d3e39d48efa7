"""Which systems lead over several collections? Systems × collections, standardized so that collections compare.

A system is what runs of one tag have in common: the same tag on two collections is one system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.standard import standardize
from assay.store.stored_runs import StoredRun

if TYPE_CHECKING:
    from assay.store.people import Person
    from assay.store.store import Store


@dataclass(frozen=True, eq=False)
class Across(Result):
    """Standardized means of systems on collections; a cell without a run is nan, is shown empty, and is never 0."""

    systems: tuple[str, ...]
    """Systems on all collections first, best standardized mean first; then the others, by how many they are on."""
    collections: tuple[str, ...]
    measures: tuple[str, ...]
    """The measure of each collection."""
    raw: Floats
    standardized: Floats
    runs: tuple[tuple[StoredRun | None, ...], ...]

    @property
    def present(self) -> list[int]:
        """On how many collections each system is."""
        return [int(count) for count in np.isfinite(self.standardized).sum(axis=1)]

    @property
    def means(self) -> Floats:
        """The standardized mean of each system over all collections; nan for a system that one of them lacks."""
        return np.asarray(self.standardized.mean(axis=1))

    @property
    def missing(self) -> int:
        """Cells without a run."""
        return int(np.isnan(self.standardized).sum())

    def ranks(self) -> list[int | None]:
        """Ranks by the standardized mean, among systems on all collections; None for the others."""
        means = self.means
        return [None if np.isnan(mean) else int((means > mean).sum()) + 1 for mean in means]

    def table(self) -> Table:
        """One row per system: rank, collections, the standardized mean over all, and that on each collection."""
        columns = {"system": "", "rank": "d", "collections": "d", "standardized mean": ".4f"}
        columns |= dict.fromkeys(self.collections, ".4f")
        keys = {name: f"collection_{number}" for number, name in enumerate(self.collections, 1)}
        rows: list[Sequence[Any]] = []
        for at, system in enumerate(self.systems):
            rows.append([system, self.ranks()[at], self.present[at], self.means[at], *self.standardized[at].tolist()])
        cells = self.standardized.size
        notes = [
            "scores are standardized by all runs of their collection, topic by topic, and then averaged",
            f"{self.missing} of {cells} cells have no run; only systems on all collections have a rank and a mean",
        ]
        caption = f"{len(self.systems)} systems on {len(self.collections)} collections"
        return Table.of(columns, rows, caption=caption, notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The table, with the measures and the missing cells."""
        named = [{"name": n, "measure": m} for n, m in zip(self.collections, self.measures, strict=True)]
        return {"collections": named, "missing_cells": self.missing, **super().record()}


def across(store: Store, *, measure: str = "", chosen: Sequence[str] = (), person: Person | None = None) -> Across:
    """The systems of collections that have judgments and at least two runs; measure: by default each collection's."""
    known = [one for one in store.collections.listed() if one.qrels and (not chosen or one.name in chosen)]
    names: list[str] = []
    measures: list[str] = []
    columns: list[dict[str, tuple[StoredRun, float, float]]] = []
    for one in known:
        runs = store.runs.listed(one.name, seen_by=person or "public")
        if len(runs) < 2:
            continue
        matrix = store.scores.matrix(one.name, measure or one.measure, runs=runs)
        means = matrix.averages().tolist()
        after = standardize(matrix).averages().tolist()
        column: dict[str, tuple[StoredRun, float, float]] = {}
        for run, raw, standardized in zip(runs, means, after, strict=True):
            if run.tag not in column or column[run.tag][2] < standardized:  # the better of two runs of one tag
                column[run.tag] = run, raw, standardized
        names.append(one.name)
        measures.append(matrix.measure)
        columns.append(column)
    if not names:
        raise UsageError("no collection has judgments and at least two runs; add some first")
    return _ordered(names, measures, columns)


def _ordered(
    names: Sequence[str], measures: Sequence[str], columns: Sequence[dict[str, tuple[StoredRun, float, float]]]
) -> Across:
    systems = list(dict.fromkeys(system for column in columns for system in column))
    empty = (None, float("nan"), float("nan"))
    cells = [[column.get(system, empty) for column in columns] for system in systems]
    raw = np.array([[cell[1] for cell in row] for row in cells])
    standardized = np.array([[cell[2] for cell in row] for row in cells])
    absent = np.isnan(standardized).sum(axis=1)
    best_first = np.lexsort((-np.nanmean(standardized, axis=1), absent)).tolist()
    return Across(
        systems=tuple(systems[i] for i in best_first),
        collections=tuple(names),
        measures=tuple(measures),
        raw=raw[best_first],
        standardized=standardized[best_first],
        runs=tuple(tuple(cell[0] for cell in cells[i]) for i in best_first),
    )
