"""Where should the next labels of a running experiment go? More tasks, on the docs that still move a comparison."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.allocation import Allocation, next_labels
from assay.crowd.task_costs import CostEstimate, estimated_cost
from assay.crowd.tasks import Tasks, make_tasks
from assay.store.crowd_experiment import CrowdExperiment
from assay.store.experiment_schema import experiments, tasks
from assay.store.experiment_standing import standing_of
from assay.store.schema import sa
from assay.store.stored_experiments import keep_tasks

if TYPE_CHECKING:
    from assay.store.store import Store

MEASURE = "DCG@10"
LABELS = 20
"""Labels that are asked for at a time."""
MOST_DOCS = 10**6


@dataclass(frozen=True, eq=False)
class MoreTasks(Result):
    """The tasks that were added, the docs that they are for, and what they will cost."""

    tasks: Tasks
    allocation: Allocation
    cost: CostEstimate

    def table(self) -> Table:
        """The docs, the one where a label matters most first."""
        return self.allocation.table()

    def tables(self) -> list[Table]:
        """The docs, the pairs of runs that they decide, and the cost."""
        return [*self.allocation.tables(), self.cost.table()]


def add_tasks(store: Store, name: str, *, labels: int = LABELS, measure: str = MEASURE) -> MoreTasks:
    """Tasks for about this many more labels, where they lower the chance of a wrong order of the stored runs most.

    The labels of accepted tasks say what is known; each task gets gold docs as the others have. Docs of the runs that
    have no label yet are among them where the store has their texts. The last task of a topic may be shorter.
    """
    if labels < 1:
        raise UsageError(f"{labels} more labels; give at least 1")
    own = store.experiments[name]
    planned = own.tasks()
    gold = _gold(planned)
    chosen = _allocated(store, own, gold, labels, measure)
    docs: dict[str, list[str]] = {}
    for i in chosen.order.tolist():
        topic, doc = chosen.items[i]
        docs.setdefault(topic, []).append(doc)
    plan = own.plan
    seed = (plan.seed or 0) + len(planned.rows)  # another one than that of the tasks before
    how = {"docs": plan.docs, "gold_docs": plan.gold_docs, "workers": 1, "seed": seed}
    dealt = make_tasks(docs, gold=gold or None, **how)
    added = _kept(own, dealt)
    return MoreTasks(added, chosen, estimated_cost(added, plan.prices))


def _gold(planned: Tasks) -> dict[str, dict[str, float]]:
    """The gold docs of each topic, as the tasks have them."""
    gold: dict[str, dict[str, float]] = {}
    for row in planned.rows:
        if row.gold is not None:
            gold.setdefault(row.topic, {})[row.doc] = row.gold
    return gold


def _allocated(
    store: Store, own: CrowdExperiment, gold: dict[str, dict[str, float]], labels: int, measure: str
) -> Allocation:
    """The docs that need a label most, gold docs and docs without a text left out."""
    if own.plan.compares:
        raise UsageError(f"experiment {own.name!r} compares docs in pairs; where labels matter is known of single docs")
    accepted = standing_of(own).accepted()
    if not accepted.answers:
        raise DataError(f"experiment {own.name!r} has no accepted answers yet; they say where the next labels matter")
    runs = [store.runs.read_stored(run) for run in store.runs.listed(own.collection)]
    scale = own.plan.scale_of_labels
    found = next_labels(accepted.labels(), runs, measure, scale=scale, most=MOST_DOCS)
    in_order = [(i, *found.items[i]) for i in found.order.tolist()]
    texts = store.collections.docs(own.collection, sorted({doc for _, _, doc in in_order}))
    fit = [i for i, topic, doc in in_order if doc in texts and doc not in gold.get(topic, {})]
    if not fit:
        raise DataError("no doc with a text is left whose label could change a comparison of the runs")
    return replace(found, order=np.array(fit[:labels], dtype=np.int64))


def _kept(own: CrowdExperiment, dealt: Tasks) -> Tasks:
    """The tasks behind those that are there, named on from them."""
    with own.database.writing() as connection:
        connection.execute(sa.select(experiments.c.id).where(experiments.c.id == own.id).with_for_update())
        wanted = sa.select(tasks.c.topic).where(tasks.c.experiment_id == own.id)
        topics = list(connection.execute(wanted).scalars())
        named = {}
        counts = Counter(topics)
        for task, rows in dealt.by_task().items():
            counts[rows[0].topic] += 1
            named[task] = f"{rows[0].topic}-{counts[rows[0].topic]:04d}"
        added = replace(dealt, rows=tuple(replace(row, task=named[row.task]) for row in dealt.rows))
        keep_tasks(connection, own.id, added, first=len(topics))
    return added
