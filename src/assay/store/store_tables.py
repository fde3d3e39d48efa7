"""What is in a store? Its parts as tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from assay.core.registry import one_of
from assay.core.tables import Table

if TYPE_CHECKING:
    from assay.store.store import Store


def _moment(seconds: float | None) -> str | None:
    """A moment as people write it, in UTC."""
    return None if seconds is None else time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def _names(store: Store, collection: str | None) -> list[str]:
    """One collection, or all."""
    if collection is not None:
        return [store.collections[collection].name]
    return [one.name for one in store.collections.listed()]


def collections_table(store: Store, collection: str | None = None) -> Table:
    """One row per collection."""
    columns = {"collection": "", "title": "", "year": "d", "measure": "", "topics": "d", "docs": "d", "qrels": "d"}
    columns["runs"] = "d"
    rows = []
    for one in store.collections.listed():
        if collection in (None, one.name):
            rows.append((one.name, one.title, one.year, one.measure, one.topics, one.docs, one.qrels, one.runs))
    notes = ["topics, docs: those with a text in the store; qrels: versions of judgments"]
    return Table.of(columns, rows, caption="Collections", notes=notes)


def qrels_table(store: Store, collection: str | None = None) -> Table:
    """One row per version of judgments."""
    columns = {"collection": "", "version": "d", "label": "", "topics": "d", "pooled": "d", "judged": "d"}
    columns |= {"relevant": "d", "made": "", "hash": ""}
    rows = []
    for name in _names(store, collection):
        for one in store.qrels.listed(name):
            counts = (one.topics, one.pooled, one.judged, one.relevant)
            rows.append((name, one.version, one.label, *counts, _moment(one.made), one.hash))
    return Table.of(columns, rows, caption="Versions of judgments", notes=["relevant: grade 1 or more"])


def runs_table(store: Store, collection: str | None = None) -> Table:
    """One row per run."""
    columns = {"collection": "", "run": "", "team": "", "year": "d", "type": "", "query type": "", "visibility": ""}
    columns |= {"topics": "d", "docs": "d", "hash": ""}
    rows = []
    for run in store.runs.listed(collection):
        said = (run.team, run.year, run.kind, run.query_type, run.visibility)
        rows.append((run.collection, run.tag, *said, run.topics, run.docs, run.hash))
    return Table.of(columns, rows, caption="Runs")


def references_table(store: Store, collection: str | None = None) -> Table:
    """One row per reference set."""
    rows = []
    for name in _names(store, collection):
        for one in store.references.listed(name):
            rows.append((name, one.name, len(one.runs), " ".join(run.tag for run in one.runs), one.note))
    columns = {"collection": "", "reference set": "", "runs": "d", "tags": "", "note": ""}
    return Table.of(columns, rows, caption="Reference sets")


def published_table(store: Store, collection: str | None = None) -> Table:
    """One row per published score."""
    columns = {"paper": "", "venue": "", "year": "g", "collection": "", "query type": "", "measure": "", "kind": ""}
    columns |= {"score": ".4f", "significant": "", "excluded": ""}
    rows = []
    for one in store.published.listed(collection):
        claim = {None: None, True: "yes", False: "no"}[one.significant]
        where = (one.paper, one.venue, one.year, one.collection, one.query_type, one.measure)
        rows.append((*where, one.kind, one.score, claim, one.excluded))
    return Table.of(columns, rows, caption="Published scores")


def campaigns_table(store: Store, collection: str | None = None) -> Table:
    """One row per campaign."""
    columns = {"campaign": "", "collection": "", "judged by": "", "scale": "", "labels per doc": "d", "docs": "d"}
    columns |= {"done": "d", "answers": "d", "open": ""}
    rows = []
    for one in store.campaigns.listed(collection):
        progress = one.progress()
        how = one.plan.order or one.plan.pool or "as given"
        counts = (progress.items, progress.done, progress.answers)
        is_open = "yes" if one.is_open else "no"
        rows.append((one.name, one.collection, how, one.plan.scale, one.plan.labels, *counts, is_open))
    return Table.of(columns, rows, caption="Campaigns")


def experiments_table(store: Store, collection: str | None = None) -> Table:
    """One row per crowd experiment."""
    from assay.store.experiment_standing import standing_of

    columns = {"experiment": "", "collection": "", "form": "", "labels per doc": "d", "tasks": "d", "accepted": "d"}
    columns |= {"under way": "d", "workers": "d", "cost": ".2f", "open": "", "link": ""}
    rows = []
    for one in store.experiments.listed(collection):
        standing = standing_of(one)
        counts = (standing.tasks, standing.done, standing.under_way, standing.workers, standing.cost)
        is_open = "yes" if one.is_open else "no"
        rows.append((one.name, one.collection, one.plan.form, one.plan.workers, *counts, is_open, one.link))
    notes = ["link: for workers, behind the address of the server; a platform adds &worker=ID"] if rows else []
    return Table.of(columns, rows, caption="Crowd experiments", notes=notes)


def people_table(store: Store, collection: str | None = None) -> Table:
    """One row per person."""
    rows = [(one.name, one.role, _moment(one.made), _moment(one.ended)) for one in store.people.listed()]
    columns = {"person": "", "role": "", "since": "", "shut out": ""}
    return Table.of(columns, rows, caption="People")


PARTS: dict[str, Callable[..., Table]] = {
    "collections": collections_table,
    "qrels": qrels_table,
    "runs": runs_table,
    "references": references_table,
    "published": published_table,
    "campaigns": campaigns_table,
    "experiments": experiments_table,
    "people": people_table,
}
"""What a store holds, and the table of it."""


def table_of(store: Store, part: str = "collections", collection: str | None = None) -> Table:
    """The table of one part of a store, of one collection or of all."""
    one_of("part of a store", part, PARTS)
    if collection is not None:
        _ = store.collections[collection]  # says which there are where it is not one of them
    return PARTS[part](store, collection)


def run_table(store: Store, hash: str) -> Table:
    """What is known of one run, one row per fact."""
    run = store.runs[hash]
    facts: dict[str, Any] = {
        "run": run.tag,
        "collection": run.collection,
        "hash": run.hash,
        "team": run.team,
        "year": run.year,
        "date": run.date,
        "type": run.kind,
        "query type": run.query_type,
        "paper": run.paper,
        "code": run.code,
        "note": run.note,
        "visibility": run.visibility,
        "owner": run.owner,
        "topics": run.topics,
        "docs": run.docs,
        "made": _moment(run.made),
    }
    for key, value in run.metadata.items():
        if key != "ir_metadata":
            facts.setdefault(key, value)
    rows = []
    for name, value in facts.items():
        is_known = value not in (None, "")
        rows.append((name, str(value) if is_known else None))
    return Table.of({"fact": "", "value": ""}, rows, caption=f"Run {run.tag}")
