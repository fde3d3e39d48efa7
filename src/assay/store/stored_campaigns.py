"""Which campaigns are in the store? New ones from runs or from given docs, and those that are there by name."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.store.database import Database, plain
from assay.store.judging_campaign import JudgingCampaign
from assay.store.judging_plan import Item, JudgingPlan, checked_items
from assay.store.people import People
from assay.store.schema import campaign_runs, campaigns, collections, items, sa
from assay.store.stored_collections import Collections, batches
from assay.store.stored_runs import StoredRun, StoredRuns


class JudgingCampaigns:
    """The campaigns of a store."""

    def __init__(self, database: Database, known: Collections, stored: StoredRuns, who: People) -> None:
        self._db = database
        self._collections = known
        self._runs = stored
        self._people = who
        self._named: dict[str, JudgingCampaign] = {}
        self._opening = threading.Lock()

    def add(
        self,
        name: str,
        collection: str,
        *,
        runs: Sequence[str] | None = None,
        docs: Iterable[Sequence[str]] | None = None,
        gold: Mapping[Any, float] | None = None,
        plan: JudgingPlan | None = None,
        **choices: Any,
    ) -> JudgingCampaign:
        """A new campaign on the docs of runs (tags or hashes; by default all of the collection), or on given docs.

        docs: (topic, doc), or on preference scales (topic, doc, other), judged in this order. gold: {(topic, doc):
        label}, known labels by which people are checked. choices: those of a JudgingPlan by name.
        """
        if not name.strip():
            raise UsageError("the name of the campaign is empty; give one")
        own = self._collections[collection]
        if docs is not None and plan is None:
            choices.setdefault("order", None)
        chosen = plan or JudgingPlan.of(choices)
        if docs is not None and chosen.order is not None:
            raise UsageError("docs are judged in the order in which they are given; leave the order out")
        members = self._members(collection, runs, docs is None)
        campaign_items = self._items(chosen, members, docs)
        golden = _checked_gold(gold or {}, chosen)
        values = {"name": plain(name, "name"), "collection_id": own.id, "plan": chosen.record(), "is_open": True}
        with self._db.writing() as connection:
            statement = self._db.new(campaigns).values(**values, made=time.time()).on_conflict_do_nothing()
            added = connection.execute(statement.returning(campaigns.c.id)).scalar()
            if added is None:
                raise UsageError(f"there is a campaign {name!r} already; choose another name")
            if members:
                rows = [{"campaign_id": added, "run_id": run.id} for run in members]
                connection.execute(sa.insert(campaign_runs), rows)
            self._keep_items(connection, added, campaign_items, golden)
        return self[name]

    def _members(self, collection: str, runs: Sequence[str] | None, needed: bool) -> list[StoredRun]:
        if runs is None:
            members = self._runs.listed(collection)
        else:
            members = [self._runs.find(collection, run) for run in runs]
        if needed and not members:
            raise UsageError(f"collection {collection!r} has no runs to judge; add runs, or give docs")
        return list({run.id: run for run in members}.values())

    def _items(
        self, plan: JudgingPlan, members: Sequence[StoredRun], docs: Iterable[Sequence[str]] | None
    ) -> list[Item]:
        if docs is not None:
            chosen = checked_items(docs, plan)
        else:
            pooled = plan.docs_of([self._runs.read_stored(run) for run in members])
            chosen = plan.items_of(pooled)
        if not chosen:
            raise DataError("the campaign has nothing to judge; give runs with docs, or docs")
        return chosen

    def _keep_items(
        self, connection: sa.Connection, campaign: int, chosen: Sequence[Item], golden: Mapping[Item, float]
    ) -> None:
        rows = []
        every = list(dict.fromkeys([*chosen, *golden]))
        for place, (topic, doc, other) in enumerate(every):
            known = golden.get((topic, doc, other))
            texts = {"topic": plain(topic, "topic"), "doc": plain(doc, "doc"), "other": plain(other, "doc")}
            rows.append({"campaign_id": campaign, "place": place, **texts, "gold": known, "answers": 0})
        for some in batches(rows, 2000):
            connection.execute(sa.insert(items), some)
        if not self._db.is_sqlite:  # a server that does not know how many items there are reads all of them each time
            connection.execute(sa.text("ANALYZE items"))

    def __getitem__(self, name: str) -> JudgingCampaign:
        opened = self._named.get(name)  # a campaign keeps its name
        if opened is not None:
            return opened
        wanted = self._rows(campaigns.c.name == name)
        if not wanted:
            names = [campaign.name for campaign in self.listed()]
            known = did_you_mean(name, names) if names else "; the store has none yet"
            raise UsageError(f"no campaign {name!r}{known}")
        return self._opened(wanted[0])

    def listed(self, collection: str | None = None) -> list[JudgingCampaign]:
        """The campaigns of a collection, or all, by name."""
        condition = sa.true() if collection is None else collections.c.name == collection
        return [self._opened(row) for row in self._rows(condition)]

    def _rows(self, condition: Any) -> list[Mapping[str, Any]]:
        joined = sa.select(campaigns, collections.c.name.label("collection")).join_from(campaigns, collections)
        with self._db.reading() as connection:
            rows = connection.execute(joined.where(condition).order_by(campaigns.c.name)).mappings().all()
        return [dict(row) for row in rows]

    def _opened(self, row: Mapping[str, Any]) -> JudgingCampaign:
        """The campaign of a row; opened once, so that its order stays in memory."""
        with self._opening:
            if row["name"] not in self._named:
                self._named[row["name"]] = JudgingCampaign(self._db, row, self._runs, self._people)
            return self._named[row["name"]]


def _checked_gold(gold: Mapping[Any, float], plan: JudgingPlan) -> dict[Item, float]:
    """Gold docs with their labels, as items."""
    keys = checked_items(gold, plan)
    return {key: plan.label_of(label) for key, label in zip(keys, gold.values(), strict=True)}
