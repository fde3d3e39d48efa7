"""Which crowd experiments are in the store? New ones from runs or from given docs, and those that are there by name."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.crowd.task_costs import CostEstimate, estimated_cost
from assay.crowd.task_forms import refuse_topics_without
from assay.crowd.tasks import Tasks
from assay.pooling.pools import pool as pool_of
from assay.store.crowd_experiment import CrowdExperiment
from assay.store.database import Database, plain
from assay.store.experiment_plan import ExperimentPlan
from assay.store.experiment_schema import experiments, tasks
from assay.store.schema import collections, sa
from assay.store.stored_collections import Collections, batches
from assay.store.stored_runs import StoredRuns

KEY_BYTES = 24
"""Random bytes of the key of a link."""
DEPTH = 10
"""First docs of each run that are judged, where no docs are given."""
Pool = Mapping[str, Sequence[str]]
Gold = Mapping[str, Mapping[str, float]]


class CrowdExperiments:
    """The crowd experiments of a store."""

    def __init__(self, database: Database, known: Collections, stored: StoredRuns) -> None:
        self._db = database
        self._collections = known
        self._runs = stored

    def add(
        self,
        name: str,
        collection: str,
        *,
        pool: Pool | None = None,
        depth: int | None = None,
        gold: Gold | None = None,
        plan: ExperimentPlan | None = None,
        **choices: Any,
    ) -> CrowdExperiment:
        """A new experiment on given docs, {topic: docs}, or on the first docs of all runs of the collection.

        pool: the docs to judge; depth: instead of them, how many first docs of each run are judged.
        gold: {topic: {doc: grade}}, docs whose grade is known, by which workers are checked. choices: those of an
        ExperimentPlan by name. Every topic and every doc needs a text in the store.
        """
        if not name.strip():
            raise UsageError("the name of the experiment is empty; give one")
        chosen = (plan or ExperimentPlan.of(choices)).with_seed()
        dealt = self.planned(collection, pool=pool, depth=depth, gold=gold, plan=chosen)
        values = {"name": plain(name, "name"), "collection_id": self._collections[collection].id}
        values |= {"key": secrets.token_urlsafe(KEY_BYTES), "plan": chosen.record(), "is_open": True}
        with self._db.writing() as connection:
            statement = self._db.new(experiments).values(**values, made=time.time()).on_conflict_do_nothing()
            added = connection.execute(statement.returning(experiments.c.id)).scalar()
            if added is None:
                raise UsageError(f"there is an experiment {name!r} already; choose another name")
            keep_tasks(connection, added, dealt)
        return self[name]

    def planned(
        self,
        collection: str,
        *,
        pool: Pool | None = None,
        depth: int | None = None,
        gold: Gold | None = None,
        plan: ExperimentPlan | None = None,
    ) -> Tasks:
        """The tasks of an experiment as `add` would make it; nothing is stored."""
        chosen = plan or ExperimentPlan()
        if pool is not None and depth is not None:
            raise UsageError(f"docs and a depth of {depth} are given; an experiment has one of the two")
        _ = self._collections[collection]  # says which there are where it is not one of them
        pooled = pool
        if pooled is None:
            pooled = self._pooled(collection, DEPTH if depth is None else depth)
        dealt = chosen.tasks(pooled, gold or None)
        if not dealt.rows:
            raise DataError("the experiment has nothing to judge; give runs with docs, or docs")
        self._refuse_without_text(collection, dealt)
        chosen.refuse_topics_without_question(list(dict.fromkeys(row.topic for row in dealt.rows)))
        return dealt

    def _pooled(self, collection: str, depth: int) -> Pool:
        """The first docs of all runs."""
        runs = [self._runs.read_stored(run) for run in self._runs.listed(collection)]
        if not runs:
            raise UsageError(f"collection {collection!r} has no runs to judge; add runs, or give docs")
        pooled = pool_of(runs, f"depth(k={depth})", depth=depth, budget=None)
        docs: dict[str, list[str]] = {}
        for topic, doc in zip(pooled.topic.tolist(), pooled.docs.tolist(), strict=True):
            docs.setdefault(pooled.topics[topic], []).append(doc)
        return docs

    def _refuse_without_text(self, collection: str, dealt: Tasks) -> None:
        """An error where a topic or a doc of the tasks has no text in the store: workers could not read it."""
        topics = list(dict.fromkeys(row.topic for row in dealt.rows))
        where = f"collection {collection!r}"
        refuse_topics_without("text", self._collections.topics(collection).to_dict(), topics, where)
        wanted = {row.doc for row in dealt.rows} | {row.other for row in dealt.rows if row.other}
        known = self._collections.docs(collection, sorted(wanted))
        absent = sorted(wanted - known.keys())
        if absent:
            shown = ", ".join(absent[:5])
            raise DataError(f"{where}: no text for {len(absent)} of {len(wanted)} docs ({shown}); add them")

    def estimate(self, collection: str, *, plan: ExperimentPlan | None = None, **given: Any) -> CostEstimate:
        """What an experiment will cost, before anything is stored; pool, depth and gold as in `add`."""
        chosen = plan or ExperimentPlan()
        return estimated_cost(self.planned(collection, plan=chosen, **given), chosen.prices)

    def __getitem__(self, name: str) -> CrowdExperiment:
        found = self._chosen(experiments.c.name == name)
        if not found:
            names = [one.name for one in self.listed()]
            known = did_you_mean(name, names) if names else "; the store has none yet"
            raise UsageError(f"no experiment {name!r}{known}")
        return found[0]

    def listed(self, collection: str | None = None) -> list[CrowdExperiment]:
        """The experiments of a collection, or all, by name."""
        return self._chosen(sa.true() if collection is None else collections.c.name == collection)

    def _chosen(self, condition: Any) -> list[CrowdExperiment]:
        joined = sa.select(experiments, collections.c.name.label("collection")).join_from(experiments, collections)
        with self._db.reading() as connection:
            rows = connection.execute(joined.where(condition).order_by(experiments.c.name)).mappings().all()
        return [CrowdExperiment(self._db, dict(row), self._collections) for row in rows]


def keep_tasks(connection: sa.Connection, experiment: int, dealt: Tasks, *, first: int = 0) -> None:
    """Store tasks; first: the place of the first of them."""
    rows = []
    for place, (task, own) in enumerate(dealt.by_task().items(), first):
        docs = [[plain(row.doc, "doc"), plain(row.other, "doc"), row.gold] for row in own]
        values = {"experiment_id": experiment, "place": place, "task": plain(task, "task")}
        values |= {"topic": plain(own[0].topic, "topic"), "rows": docs, "is_done": False}
        rows.append(values)
    for some in batches(rows, 2000):
        connection.execute(sa.insert(tasks), some)
