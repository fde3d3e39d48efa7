"""Is the store whole? Files against their hashes, counts against the log, and what nobody refers to."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.store.experiment_integrity import check_experiments
from assay.store.judging_plan import JudgingPlan
from assay.store.judgment_log import standing
from assay.store.schema import (
    answers,
    campaigns,
    items,
    judgments,
    machine_seen,
    matches,
    people,
    qrels,
    runs,
    sa,
    scores,
    tallies,
)
from assay.store.tallies import COLUMNS, Tallies, Tally, counted_again

if TYPE_CHECKING:
    from assay.store.database import Database
    from assay.store.store import Store

EVERY_ITEM = (
    sa.select(items.c.id)
    .where(items.c.campaign_id == sa.bindparam("campaign"))
    .order_by(items.c.id)
    .with_for_update(key_share=True)
)
"""Whoever records an answer locks its item first, so that nobody answers in a campaign whose items are all locked."""
YOUNG_SECONDS = 3600
"""A file that nobody refers to may belong to a run that is being added; after this time it does not."""


@dataclass(frozen=True)
class StoreCheck(Result):
    """What is wrong in a store, and what was looked at."""

    found: tuple[tuple[str, str, str], ...]
    """(error, remark or mended, where, what)."""
    looked_at: tuple[str, ...]

    @property
    def errors(self) -> int:
        """How many of them are errors."""
        return self._of_level("error")

    @property
    def remarks(self) -> int:
        """How many of them are remarks."""
        return self._of_level("remark")

    @property
    def mended(self) -> int:
        """How many of them were wrong before and are not any more."""
        return self._of_level("mended")

    def _of_level(self, wanted: str) -> int:
        return sum(level == wanted for level, _, _ in self.found)

    def table(self) -> Table:
        """One row per finding."""
        in_all = f"{self.errors} errors, {self.remarks} remarks"
        notes = [", ".join(self.looked_at), f"{in_all}, {self.mended} mended" if self.mended else in_all]
        return Table.of({"level": "", "where": "", "what": ""}, self.found, caption="Check of the store", notes=notes)

    def record(self) -> dict[str, Any]:
        """The table, and the numbers of errors, remarks and counts that were mended."""
        return {**super().record(), "errors": self.errors, "remarks": self.remarks, "mended": self.mended}


def check_store(store: Store, *, recount: bool = False) -> StoreCheck:
    """Read every file, compare every count with the log, and list files that nobody refers to.

    recount: first mend the tallies that are wrong, see `recount_tallies`.
    """
    found: list[tuple[str, str, str]] = []
    if recount:
        found += [("mended", where, what) for where, what in recount_tallies(store.database)]
    looked_at: list[str] = []
    with store.database.snapshot() as connection:
        if store.database.is_sqlite:
            said = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
            if said != "ok":
                found.append(("error", store.database.where, f"the database is damaged: {said}"))
        known = _known_files(connection)
        found += _files(store, known, looked_at)
        found += _lengths(connection)
        found += _judgments(connection, looked_at)
        for campaign in connection.execute(sa.select(campaigns)).all():
            found += [("error", where, what) for where, what in _wrong_tallies(connection, campaign)]
        found += check_experiments(connection, looked_at)
    return StoreCheck(tuple(found), tuple(looked_at))


def _known_files(connection: sa.Connection) -> dict[str, str]:
    """{hash: what it is} of all files that the database refers to."""
    known = {}
    for row in connection.execute(sa.select(runs.c.hash, runs.c.tag)):
        known[row.hash] = f"run {row.tag!r}"
    for row in connection.execute(sa.select(qrels.c.hash, qrels.c.version)):
        known[row.hash] = f"judgments, version {row.version}"
    return known


def _files(store: Store, known: dict[str, str], looked_at: list[str]) -> list[tuple[str, str, str]]:
    found = []
    for hash, what in known.items():
        try:
            store.files.read(hash)
        except DataError as error:
            found.append(("error", what, str(error)))
    orphans = [hash for hash in store.files.hashes() if hash not in known]
    for path in [*map(store.files.path, orphans), *store.files.unfinished()]:
        if _age(path) > YOUNG_SECONDS:
            found.append(("remark", str(path), "nobody refers to this file; it may be deleted"))
    looked_at.append(f"{len(known)} files")
    return found


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _lengths(connection: sa.Connection) -> list[tuple[str, str, str]]:
    """Kept scores have a value for each topic of their judgments."""
    found = []
    for table, column, size in ((scores, scores.c.per_topic, 8), (matches, matches.c.missing, 1)):
        wrong = sa.select(sa.func.count()).select_from(table).join(qrels, qrels.c.id == table.c.qrels_id)
        wrong = wrong.where(sa.func.length(column) != size * qrels.c.topics)
        count = connection.execute(wrong).scalar_one()
        if count:
            found.append(("error", table.name, f"{count} rows have another number of topics than their judgments"))
    return found


def _judgments(connection: sa.Connection, looked_at: list[str]) -> list[tuple[str, str, str]]:
    """The log played again gives the answers that are stored, and the counts of the items."""
    log = connection.execute(
        sa.select(judgments).order_by(judgments.c.item_id, judgments.c.person_id, judgments.c.number)
    ).all()
    expected = {}
    for key, rows in groupby(log, key=lambda row: (row.item_id, row.person_id)):
        stack = standing(list(rows))
        if stack:
            expected[key] = (stack[-1].number, stack[-1].label, stack[0].counted)
    stored = {}
    for row in connection.execute(sa.select(answers)):
        stored[row.item_id, row.person_id] = (row.judgment, row.label, row.counted)
    found = []
    for key in sorted(expected.keys() | stored.keys()):
        if expected.get(key) != stored.get(key):
            what = f"the log says {expected.get(key)}, the answer is {stored.get(key)}"
            found.append(("error", f"item {key[0]}, person {key[1]}", what))
    counted = Counter(item for (item, _), (_, _, is_counted) in stored.items() if is_counted)
    joined = sa.select(items.c.id, items.c.answers, items.c.gold, campaigns.c.plan).join_from(items, campaigns)
    places = connection.execute(joined).all()
    for row in places:
        if row.answers != counted[row.id]:
            what = f"{row.answers} answers are written down, and there are {counted[row.id]}"
            found.append(("error", f"item {row.id}", what))
        if row.gold is None and counted[row.id] > row.plan["labels"]:
            what = f"{counted[row.id]} answers count where {row.plan['labels']} are wanted"
            found.append(("error", f"item {row.id}", what))
    seen = {(row.item_id, row.person_id) for row in connection.execute(sa.select(machine_seen))}
    for row in log:
        if row.second_look and (row.item_id, row.person_id) not in seen:
            what = f"judgment {row.id} is a second look, and nobody wrote down that machine labels were shown"
            found.append(("error", f"item {row.item_id}, person {row.person_id}", what))
    looked_at.append(f"{len(log)} judgments of {len(places)} items")
    return found


def _wrong_tallies(connection: sa.Connection, campaign: Any) -> list[tuple[str, str]]:
    """Where what was counted with every answer is not what there is, and what; docs that are done, over all people."""
    names = {row.id: row.name for row in connection.execute(sa.select(people.c.id, people.c.name))}
    kept = {}
    for row in connection.execute(sa.select(tallies).where(tallies.c.campaign_id == campaign.id)):
        kept[row.person_id] = Tally(*(getattr(row, name) for name in COLUMNS))
    expected = counted_again(connection, campaign.id, campaign.plan["labels"])
    found = []
    for person in sorted(kept.keys() | expected.keys()):
        own = kept.get(person, Tally())
        there_is = expected.get(person, Tally())
        if replace(own, done=0) != replace(there_is, done=0):
            where = f"campaign {campaign.name!r}, person {names[person]!r}"
            found.append((where, f"written down: {own}; counted again: {there_is}"))
    done = sum(one.done for one in kept.values())
    there_are = sum(one.done for one in expected.values())
    if done != there_are:
        found.append((f"campaign {campaign.name!r}", f"docs written down as done: {done}; counted again: {there_are}"))
    return found


def recount_tallies(database: Database) -> list[tuple[str, str]]:
    """Count anew what people have done, in every campaign where it is written down wrong; where it was, and what.

    All of it is one transaction, in which nobody else answers. Done again, it changes nothing.
    """
    return database.commits.written(partial(_recounted, database))


def _recounted(database: Database, connection: sa.Connection) -> list[tuple[str, str]]:
    changed = []
    for campaign in connection.execute(sa.select(campaigns).order_by(campaigns.c.id)).all():
        if not database.is_sqlite:  # whoever writes to SQLite is alone
            connection.execute(EVERY_ITEM, {"campaign": campaign.id})
        wrong = _wrong_tallies(connection, campaign)
        if wrong:
            plan = JudgingPlan.of(campaign.plan)
            counted = counted_again(connection, campaign.id, plan.labels)
            connection.execute(sa.delete(tallies).where(tallies.c.campaign_id == campaign.id))
            Tallies(database, campaign.id, plan).add(connection, counted.items())
        changed += wrong
    return changed
