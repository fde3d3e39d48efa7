"""What is one thing of a store? A collection, a campaign, an experiment or a run by its name, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.pooling.collection_facts import describe
from assay.store import store_tables
from assay.store.crowd_experiment import CrowdExperiment
from assay.store.experiment_standing import checkup_of, standing_of

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
    """The collection, campaign or experiment of that name, or the run of that hash; of several the first of these."""
    if name in store.collections:
        return Shown("collection", name, tuple(_collection(store, name)))
    campaigns = {campaign.name: campaign for campaign in store.campaigns.listed()}
    if name in campaigns:
        own = campaigns[name]
        agreed = own.agreement()
        tables = [*own.progress().tables(), *([] if agreed is None else agreed.tables())]
        return Shown("campaign", name, tuple(tables))
    experiments = {experiment.name: experiment for experiment in store.experiments.listed()}
    if name in experiments:
        return Shown("experiment", name, tuple(_experiment(experiments[name])))
    is_hash = len(name) >= 6 and set(name) <= set("0123456789abcdef")
    if is_hash and any(run.hash.startswith(name) for run in store.runs.listed()):
        return Shown("run", name, (store_tables.run_table(store, name),))
    known = [one.name for one in store.collections.listed()] + list(campaigns) + list(experiments)
    what = f"no collection, campaign, experiment or run {name!r}"
    raise UsageError(what + (did_you_mean(name, known) if known else "; the store is empty"))


def _experiment(experiment: CrowdExperiment) -> list[Table]:
    standing = standing_of(experiment)
    checkup = checkup_of(experiment, standing)
    return [*standing.tables(), *([] if checkup is None else checkup.tables())]


def _collection(store: Store, name: str) -> list[Table]:
    tables = [store_tables.collections_table(store, name)]
    if store.qrels.listed(name):
        tables += [describe(store.qrels.read(name)).table(), store_tables.qrels_table(store, name)]
    tables.append(store_tables.runs_table(store, name))
    return tables
