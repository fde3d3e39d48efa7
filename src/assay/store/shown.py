"""What is one thing of a store? A collection, a campaign or a run by its name, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.pooling.collection_facts import describe
from assay.store import store_tables

if TYPE_CHECKING:
    from assay.store.store import Store


@dataclass(frozen=True, eq=False)
class Shown(Result):
    """What the store says of one thing."""

    kind: str
    name: str
    parts: tuple[Table, ...]

    def tables(self) -> list[Table]:
        """The main table first."""
        return list(self.parts)


def shown(store: Store, name: str) -> Shown:
    """The collection or campaign of that name, or the run of that hash; a name of several of these is the first."""
    if name in store.collections:
        return Shown("collection", name, tuple(_collection(store, name)))
    campaigns = {campaign.name: campaign for campaign in store.campaigns.listed()}
    if name in campaigns:
        own = campaigns[name]
        agreed = own.agreement()
        tables = [*own.progress().tables(), *([] if agreed is None else agreed.tables())]
        return Shown("campaign", name, tuple(tables))
    is_hash = len(name) >= 6 and set(name) <= set("0123456789abcdef")
    if is_hash and any(run.hash.startswith(name) for run in store.runs.listed()):
        return Shown("run", name, (store_tables.run_table(store, name),))
    known = [one.name for one in store.collections.listed()] + list(campaigns)
    what = f"no collection, campaign or run {name!r}"
    raise UsageError(what + (did_you_mean(name, known) if known else "; the store is empty"))


def _collection(store: Store, name: str) -> list[Table]:
    tables = [store_tables.collections_table(store, name)]
    if store.qrels.listed(name):
        tables += [describe(store.qrels.read(name)).table(), store_tables.qrels_table(store, name)]
    tables.append(store_tables.runs_table(store, name))
    return tables
