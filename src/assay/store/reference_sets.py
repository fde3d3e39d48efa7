"""By which runs are the scores of a collection standardized? Named sets of reference runs, and their factors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.standard.factors import FORM, Factors, fit
from assay.standard.reference_choice import RESAMPLES, ReferenceIntervals, reference_intervals
from assay.store.database import Database, plain
from assay.store.schema import reference_runs, reference_sets, sa
from assay.store.stored_collections import Collections
from assay.store.stored_runs import StoredRun, StoredRuns
from assay.store.stored_scores import StoredScores


@dataclass(frozen=True)
class ReferenceSet:
    """Runs of one collection by which scores are standardized."""

    id: int
    collection: str
    name: str
    note: str
    made: float
    runs: tuple[StoredRun, ...]


class ReferenceSets:
    """The reference sets of a store; a set is never changed."""

    def __init__(self, database: Database, known: Collections, stored: StoredRuns, scores: StoredScores) -> None:
        self._db = database
        self._collections = known
        self._runs = stored
        self._scores = scores

    def add(self, collection: str, name: str, runs: Sequence[str], *, note: str = "") -> ReferenceSet:
        """A new set of runs, given by tag or hash; at least two."""
        own = self._collections[collection]
        if not name.strip():
            raise UsageError("the name of the reference set is empty; give one")
        members = {run.id for run in (self._runs.find(collection, one) for one in runs)}
        if len(members) < 2:
            raise UsageError(f"reference set {name!r}: {len(members)} run; give at least two different ones")
        facts = {"collection_id": own.id, "name": plain(name, "name"), "note": plain(note, "note")}
        with self._db.writing() as connection:
            statement = self._db.new(reference_sets).values(**facts, made=time.time())
            added = connection.execute(statement.on_conflict_do_nothing().returning(reference_sets.c.id)).scalar()
            if added is None:
                raise UsageError(f"{collection!r} has a reference set {name!r} already; choose another name")
            rows = [{"set_id": added, "run_id": member} for member in sorted(members)]
            connection.execute(sa.insert(reference_runs), rows)
        return self.of(collection, name)

    def listed(self, collection: str) -> list[ReferenceSet]:
        """The sets of a collection, the oldest first."""
        own = self._collections[collection]
        by_id = {run.id: run for run in self._runs.listed(collection)}
        sets = []
        with self._db.reading() as connection:
            wanted = sa.select(reference_sets).where(reference_sets.c.collection_id == own.id)
            for row in connection.execute(wanted.order_by(reference_sets.c.id)).all():
                ids = sa.select(reference_runs.c.run_id).where(reference_runs.c.set_id == row.id)
                chosen = connection.execute(ids.order_by(reference_runs.c.run_id)).scalars().all()
                members = tuple(by_id[run_id] for run_id in chosen)
                sets.append(ReferenceSet(row.id, collection, row.name, row.note, row.made, members))
        return sets

    def names(self, collection: str) -> list[str]:
        """What the sets of a collection are called, without their runs."""
        own = reference_sets.c.collection_id == self._collections[collection].id
        with self._db.reading() as connection:
            named = sa.select(reference_sets.c.name).where(own).order_by(reference_sets.c.id)
            return list(connection.execute(named).scalars())

    def of(self, collection: str, name: str) -> ReferenceSet:
        """The set of that name."""
        sets = self.listed(collection)
        for one in sets:
            if one.name == name:
                return one
        known = did_you_mean(name, [one.name for one in sets]) if sets else "; it has none yet"
        raise UsageError(f"{collection!r} has no reference set {name!r}{known}")

    def factors(self, collection: str, name: str, measure: str | None = None, **how: Any) -> Factors:
        """Mean and spread of the reference runs on every topic; `how` as in `scores.of`."""
        members = self.of(collection, name).runs
        return fit(self._scores.matrix(collection, measure, runs=members, **how), keep_scores=True)

    def standardized(
        self,
        collection: str,
        name: str,
        measure: str | None = None,
        *,
        runs: Sequence[StoredRun] | None = None,
        form: str = FORM,
        smoothing: str | None = None,
        level: float = 0.95,
        resamples: int = RESAMPLES,
        seed: int = 0,
        **how: Any,
    ) -> ReferenceIntervals:
        """The standardized score of every run, with the interval that the choice of reference runs leaves."""
        members = self.of(collection, name).runs
        scored = self._scores.matrix(collection, measure, runs=runs, **how)
        reference = self._scores.matrix(collection, measure, runs=members, **how)
        return reference_intervals(
            scored, reference, form=form, smoothing=smoothing, level=level, resamples=resamples, seed=seed
        )
