"""How is a judgment kept? One row of a log that only grows, in one transaction with how the item then stands.

Who sends a judgment makes its id: sent again after a lost answer, it counts once. An item has k places; who was asked
has one of them, and a judgment of somebody who was not asked counts while a place is free.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import UsageError
from assay.store.database import Database, plain
from assay.store.judging_plan import JudgingPlan
from assay.store.people import Person
from assay.store.schema import answers, campaigns, items, judgments, reservations, sa

# The statements of every judgment are made once: to put one together takes longer than to run it.
_ITEM: sa.BindParameter[int] = sa.bindparam("item")
_PERSON: sa.BindParameter[int] = sa.bindparam("person")
_ON_ITEM = sa.select(items).where(items.c.id == _ITEM, items.c.campaign_id == sa.bindparam("campaign"))
LOCKED_ITEM = _ON_ITEM.with_for_update(key_share=True)
OF_ID = sa.select(judgments).where(judgments.c.id == sa.bindparam("judgment"))
OWN_ANSWER = sa.select(answers).where(answers.c.item_id == _ITEM, answers.c.person_id == _PERSON)
HOLDERS = sa.select(reservations.c.person_id).where(
    reservations.c.item_id == _ITEM, reservations.c.until > sa.bindparam("now")
)
ADDED = sa.insert(judgments).returning(judgments.c.number)
ONE_MORE = sa.update(items).where(items.c.id == _ITEM).values(answers=items.c.answers + 1)
ONE_LESS = sa.update(items).where(items.c.id == _ITEM).values(answers=items.c.answers - 1)
LET_GO = sa.delete(reservations).where(reservations.c.item_id == _ITEM, reservations.c.person_id == _PERSON)
RENEWED = (
    sa.update(reservations)
    .where(reservations.c.item_id == _ITEM, reservations.c.person_id == _PERSON)
    .values(until=sa.bindparam("then"))
)
LONGEST_ID = 100
MOST_SECONDS = 1e7


@dataclass(frozen=True)
class Recorded:
    """What the store says when a judgment is on the disk."""

    id: str
    number: int
    counted: bool
    """Whether it is one of the k of its doc; one that came after all places were taken is kept and not counted."""
    again: bool
    """Whether it was there already: the same judgment was sent before."""


def new_id() -> str:
    """An id for a judgment.

    >>> len(new_id())
    32
    """
    return secrets.token_hex(16)


class JudgmentLog:
    """The judgments of one campaign."""

    def __init__(self, database: Database, campaign_id: int, name: str, plan: JudgingPlan) -> None:
        self._db = database
        self._id = campaign_id
        self._name = name
        self._plan = plan
        answer = database.new(answers)
        newer = {name: answer.excluded[name] for name in ("judgment", "label", "counted")}
        keys = ["item_id", "person_id"]
        self._answer = answer.on_conflict_do_update(index_elements=keys, set_=newer)
        place = database.new(reservations)
        self._hold = place.on_conflict_do_update(index_elements=keys, set_={"until": place.excluded["until"]})

    def add(
        self,
        person: Person,
        item: int,
        kind: str,
        *,
        id: str,
        label: float | None = None,
        reason: str = "",
        seconds: float | None = None,
    ) -> Recorded:
        """A label, `unjudgeable` with a reason, or a skip; when this returns it is on the disk."""
        sent = {
            "id": _checked_id(id),
            "kind": kind,
            "label": label,
            "reason": plain(reason, "reason"),
            "seconds": _checked_seconds(seconds),
        }
        with self._db.writing() as connection:
            row = self._locked(connection, item)
            before = self._before(connection, person, item, sent)
            if before is not None:
                return before
            if kind == "skip":
                self._let_go(connection, person, item)
                return self._logged(connection, person, item, sent, counted=False, takes_back=None)
            return self._answered(connection, person, row, sent)

    def take_back(self, person: Person, judgment: str, *, id: str) -> Recorded:
        """Undo a judgment: what the person said of the item before stands again, or nothing, and the item is kept."""
        wanted = sa.select(judgments.c.item_id, judgments.c.person_id).where(
            judgments.c.id == judgment, judgments.c.campaign_id == self._id
        )
        with self._db.reading() as connection:
            found = connection.execute(wanted).first()
        if found is None or found.person_id != person.id:
            raise UsageError(f"no judgment {judgment!r} of {person.name!r} in this campaign")
        sent = {"id": _checked_id(id), "kind": "undo", "label": None, "reason": "", "seconds": None}
        with self._db.writing() as connection:
            row = self._locked(connection, found.item_id)
            before = self._before(connection, person, row.id, sent)
            if before is not None:
                return before
            stack = self._stack(connection, person, row.id)
            if not stack or stack[-1].id != judgment:
                raise UsageError(f"judgment {judgment!r} was taken back or replaced already; undo the latest one")
            top = stack.pop()
            recorded = self._logged(connection, person, row.id, sent, counted=False, takes_back=judgment)
            if stack:
                self._set_answer(connection, person, row.id, stack[-1], top.counted)
            else:
                self._remove_answer(connection, person, row, top.counted)
            return recorded

    def _answered(self, connection: sa.Connection, person: Person, row: Any, sent: Mapping[str, Any]) -> Recorded:
        """A label or `unjudgeable`: the first of the person counts if there is a place; another one replaces it."""
        standing = connection.execute(OWN_ANSWER, {"item": row.id, "person": person.id}).first()
        if standing is None:
            counted = self._has_place(connection, person, row)
            recorded = self._logged(connection, person, row.id, sent, counted=counted, takes_back=None)
            self._set_answer(connection, person, row.id, _Given(recorded.number, sent["label"]), counted)
            if counted:
                connection.execute(ONE_MORE, {"item": row.id})
            self._let_go(connection, person, row.id)
            return recorded
        replaced = connection.execute(
            sa.select(judgments.c.id).where(judgments.c.number == standing.judgment)
        ).scalar_one()
        recorded = self._logged(connection, person, row.id, sent, counted=standing.counted, takes_back=replaced)
        self._set_answer(connection, person, row.id, _Given(recorded.number, sent["label"]), standing.counted)
        self._let_go(connection, person, row.id)
        return recorded

    def _has_place(self, connection: sa.Connection, person: Person, row: Any) -> bool:
        """Whether a first answer of the person is one of the k of the item; gold docs have a place for everybody."""
        if row.gold is not None:
            return True
        holders = set(connection.execute(HOLDERS, {"item": row.id, "now": time.time()}).scalars())
        if person.id in holders:
            return True
        is_open = connection.execute(sa.select(campaigns.c.is_open).where(campaigns.c.id == self._id)).scalar_one()
        return bool(is_open) and row.answers + len(holders) < self._plan.labels

    def _locked(self, connection: sa.Connection, item: int) -> Any:
        """The item, which nobody else changes until the end of the transaction."""
        row = connection.execute(LOCKED_ITEM, {"item": item, "campaign": self._id}).first()
        if row is None:
            raise UsageError(f"campaign {self._name!r} has no item {item!r}")
        return row

    def _before(self, connection: sa.Connection, person: Person, item: int, sent: Mapping[str, Any]) -> Recorded | None:
        """What was recorded under this id already; another judgment under the same id is an error."""
        row = connection.execute(OF_ID, {"judgment": sent["id"]}).first()
        if row is None:
            return None
        is_same = (row.item_id, row.person_id, row.kind, row.label) == (item, person.id, sent["kind"], sent["label"])
        if not is_same:
            raise UsageError(f"the id {sent['id']!r} stands for another judgment; make a new id for each")
        return Recorded(row.id, row.number, row.counted, again=True)

    def _logged(
        self,
        connection: sa.Connection,
        person: Person,
        item: int,
        sent: Mapping[str, Any],
        *,
        counted: bool,
        takes_back: str | None,
    ) -> Recorded:
        values = {
            **sent,
            "campaign_id": self._id,
            "item_id": item,
            "person_id": person.id,
            "takes_back": takes_back,
            "counted": counted,
            "made": time.time(),
        }
        number = connection.execute(ADDED, values).scalar_one()
        return Recorded(sent["id"], number, counted, again=False)

    def _set_answer(self, connection: sa.Connection, person: Person, item: int, given: Any, counted: bool) -> None:
        values = {
            "item_id": item,
            "person_id": person.id,
            "campaign_id": self._id,
            "judgment": given.number,
            "label": given.label,
            "counted": counted,
        }
        connection.execute(self._answer, values)

    def _remove_answer(self, connection: sa.Connection, person: Person, row: Any, counted: bool) -> None:
        """Nothing stands any more; the place stays with the person, who may judge the item again."""
        own = (answers.c.item_id == row.id) & (answers.c.person_id == person.id)
        connection.execute(sa.delete(answers).where(own))
        if counted:
            connection.execute(ONE_LESS, {"item": row.id})
            self.hold(connection, person, row.id)

    def hold(self, connection: sa.Connection, person: Person, item: int) -> None:
        """Keep an item for a person for a while."""
        values = {"item_id": item, "person_id": person.id, "campaign_id": self._id, "until": self._until()}
        connection.execute(self._hold, values)

    def renew(self, connection: sa.Connection, person: Person, item: int) -> bool:
        """Keep an item for longer that a person has; False if the person has just answered it."""
        given = {"item": item, "person": person.id, "then": self._until()}
        return connection.execute(RENEWED, given).rowcount == 1

    def _until(self) -> float:
        return time.time() + self._plan.away

    def _let_go(self, connection: sa.Connection, person: Person, item: int) -> None:
        connection.execute(LET_GO, {"item": item, "person": person.id})

    def _stack(self, connection: sa.Connection, person: Person, item: int) -> list[Any]:
        """The judgments of a person on an item that were not taken back, the latest last."""
        own = (judgments.c.item_id == item) & (judgments.c.person_id == person.id)
        rows = connection.execute(sa.select(judgments).where(own).order_by(judgments.c.number)).all()
        return standing(rows)


@dataclass(frozen=True)
class _Given:
    """A judgment as an answer keeps it."""

    number: int
    label: float | None


def standing(rows: Sequence[Any]) -> list[Any]:
    """Of the log of one person on one item: the judgments that stand, the latest last; an undo takes the top off.

    >>> from types import SimpleNamespace
    >>> log = [SimpleNamespace(id=i, kind=k, takes_back=t) for i, k, t in (
    ...     ("a", "label", None), ("b", "label", "a"), ("c", "undo", "b"), ("d", "skip", None))]
    >>> [row.id for row in standing(log)]
    ['a']
    """
    stack: list[Any] = []
    for row in rows:
        if row.kind == "undo":
            stack.pop()
        elif row.kind != "skip":
            stack.append(row)
    return stack


def _checked_id(id: str) -> str:
    text = plain(id, "id of a judgment")
    if not text or len(text) > LONGEST_ID:
        raise UsageError(f"the id of a judgment is {text[:40]!r}; give 1 to {LONGEST_ID} characters")
    return text


def _checked_seconds(seconds: float | None) -> float | None:
    if seconds is None:
        return None
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool) and np.isfinite(seconds)
    if not is_number or not 0 <= seconds <= MOST_SECONDS:
        raise UsageError(f"seconds is {seconds!r}; give a number of at least 0")
    return float(seconds)
