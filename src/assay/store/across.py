"""Which systems lead over several collections? Systems × collections, standardized so that collections compare.

A system is what runs of one tag have in common: the same tag on two collections is one system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.board import Board, board
from assay.board.meta_analysis import RandomEffects, leader_effects
from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.standard import standardize
from assay.store.stored_runs import StoredRun

if TYPE_CHECKING:
    from assay.report.figure import Figure
    from assay.store.people import Person
    from assay.store.store import Store

SHOWN = 40
"""Systems that tables and pictures of all collections show."""
NO_COLLECTION = "no collection has judgments and at least two runs; add some first"


@dataclass(frozen=True, eq=False)
class Across(Result):
    """Standardized means of systems on collections; a cell without a run is nan, is shown empty, and is never 0."""

    unit = "collection"

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

    def ranked_means(self) -> list[float | None]:
        """The standardized mean of each system over all collections; None where there is none."""
        return [None if np.isnan(mean) else float(mean) for mean in self.means]

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
    names: list[str] = []
    measures: list[str] = []
    columns: list[dict[str, tuple[StoredRun, float, float]]] = []
    for name, runs, matrix in _judged(store, measure, chosen, person or "public"):
        means = matrix.averages().tolist()
        after = standardize(matrix).averages().tolist()
        column = {tag: (runs[at], means[at], after[at]) for tag, at in _best_of_tag(runs, after).items()}
        names.append(name)
        measures.append(matrix.measure)
        columns.append(column)
    if not names:
        raise UsageError(NO_COLLECTION)
    return _ordered(names, measures, columns)


def scores_by_collection(
    store: Store, *, measure: str = "", chosen: Sequence[str] = (), seen_by: Person | str | None = "public"
) -> dict[str, ScoreMatrix]:
    """{collection: scores per topic} of a store, for `assay.board`: a row per tag, of two runs the better one.

    Collections without judgments or with fewer than two runs are left out, unless they are chosen by name. seen_by: as
    in `Store.runs.listed`; None for all runs.
    """
    found = {}
    for name, runs, matrix in _judged(store, measure, chosen, seen_by):
        after = standardize(matrix).averages().tolist()
        best = _best_of_tag(runs, after)
        found[name] = replace(matrix, runs=tuple(best), values=matrix.values[list(best.values())])
    if not found:
        raise UsageError(NO_COLLECTION)
    measures = list(dict.fromkeys(matrix.measure for matrix in found.values()))
    if len(measures) > 1:
        raise UsageError(f"the collections have different measures ({', '.join(measures)}); choose one of them for all")
    return found


@dataclass(frozen=True, eq=False)
class SystemsOverCollections(Result):
    """The board of a store's collections, and the leader minus the second on each; None where only means are known."""

    unit = "collection"

    board: Board
    lead: RandomEffects | None

    def table(self) -> Table:
        """The systems by every aggregate."""
        return self.board.best(SHOWN).table()

    def tables(self) -> list[Table]:
        """The systems, what survives all aggregates, and the lead on every collection."""
        lead = [] if self.lead is None else [self.lead.table()]
        return [self.table(), self.board.conclusions(), *lead]

    def figures(self) -> list[Figure]:
        """Ranks that each system may have, the map of systems and collections, and the lead as a forest plot."""
        from assay.report.figures.board import collection_map

        shown = self.board.best(SHOWN)
        lead = [] if self.lead is None else [self.lead.figure()]
        return [shown.figure(), collection_map(shown), *lead]

    def record(self) -> dict[str, Any]:
        """The board and the lead."""
        return {"board": self.board.record(), "lead": None if self.lead is None else self.lead.record()}


def systems_over_collections(
    store: Store, *, measure: str = "", chosen: Sequence[str] = (), person: Person | None = None
) -> SystemsOverCollections:
    """Who leads over the collections of a store, and by how much: `assay.board` on its scores."""
    collections = scores_by_collection(store, measure=measure, chosen=chosen, seen_by=person or "public")
    made = board(collections)
    has_topics = min(made.data.topics) > 1
    return SystemsOverCollections(made, leader_effects(collections, made) if has_topics else None)


def _judged(
    store: Store, measure: str, chosen: Sequence[str], seen_by: Person | str | None
) -> Iterator[tuple[str, list[StoredRun], ScoreMatrix]]:
    """Name, runs and scores of the collections that have judgments and at least two runs."""
    collections = [store.collections[name] for name in chosen] or store.collections.listed()
    for one in collections:
        runs = store.runs.listed(one.name, seen_by=seen_by) if one.qrels else []
        if len(runs) >= 2:
            yield one.name, runs, store.scores.matrix(one.name, measure or one.measure, runs=runs)
        elif chosen:
            what = f"{len(runs)} runs" if one.qrels else "no judgments"
            raise UsageError(f"collection {one.name!r} has {what}; it needs judgments and at least two runs")


def _best_of_tag(runs: Sequence[StoredRun], standardized: Sequence[float]) -> dict[str, int]:
    """{tag: place of the run}: of two runs of one tag the one with the better standardized mean."""
    best: dict[str, int] = {}
    for at, run in enumerate(runs):
        if run.tag not in best or standardized[best[run.tag]] < standardized[at]:
            best[run.tag] = at
    return best


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
