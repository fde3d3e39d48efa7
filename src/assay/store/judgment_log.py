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
from assay.core.registry import one_of
from assay.store.database import Database, plain
from assay.store.judging_plan import JudgingPlan
from assay.store.people import Person
from assay.store.schema import answers, campaigns, items, judgments, machine_seen, reservations, sa
from assay.store.shared_commits import Work

# The statements of every judgment are made once: to put one together takes longer than to run it.
_CAMPAIGN: sa.BindParameter[int] = sa.bindparam("campaign")
_ITEM: sa.BindParameter[int] = sa.bindparam("item")
_PERSON: sa.BindParameter[int] = sa.bindparam("person")
_SAME = judgments.alias("same")
_STANDING = judgments.alias("standing")
_OWN = (answers.c.item_id == items.c.id) & (answers.c.person_id == _PERSON)
_HOLDERS = (
    sa.select(sa.func.count())
    .select_from(reservations)
    .where(reservations.c.item_id == items.c.id, reservations.c.until > sa.bindparam("now"))
)
LOCKED = sa.select(items.c.id).where(items.c.id == _ITEM).with_for_update(key_share=True)
STATE = (
    sa.select(
        items.c.id,
        items.c.gold,
        items.c.answers,
        campaigns.c.is_open,
        _SAME.c.number.label("same_number"),
        _SAME.c.counted.label("same_counted"),
        _SAME.c.item_id.label("same_item"),
        _SAME.c.person_id.label("same_person"),
        _SAME.c.kind.label("same_kind"),
        _SAME.c.label.label("same_label"),
        answers.c.counted.label("own_counted"),
        _STANDING.c.id.label("own_judgment"),
        _HOLDERS.scalar_subquery().label("holders"),
        _HOLDERS.where(reservations.c.person_id == _PERSON).scalar_subquery().label("holds"),
        sa.exists().where(machine_seen.c.item_id == items.c.id, machine_seen.c.person_id == _PERSON).label("has_seen"),
    )
    .select_from(items)
    .join(campaigns, campaigns.c.id == items.c.campaign_id)
    .outerjoin(_SAME, _SAME.c.id == sa.bindparam("judgment"))
    .outerjoin(answers, _OWN)
    .outerjoin(_STANDING, _STANDING.c.number == answers.c.judgment)
    .where(items.c.id == _ITEM, items.c.campaign_id == _CAMPAIGN)
)
"""All that a judgment of an item depends on; on a server it is asked once the item is locked, not with the lock."""
ITEM_OF = sa.select(judgments.c.item_id, judgments.c.person_id).where(
    judgments.c.id == sa.bindparam("judgment"), judgments.c.campaign_id == _CAMPAIGN
)
LATEST_OWN = (
    sa.select(judgments.c.id)
    .join_from(answers, judgments, judgments.c.number == answers.c.judgment)
    .where(answers.c.campaign_id == _CAMPAIGN, answers.c.person_id == _PERSON)
    .order_by(answers.c.judgment.desc())
    .limit(1)
)
ADDED = sa.insert(judgments).returning(judgments.c.number)
ONE_MORE = sa.update(items).where(items.c.id == _ITEM).values(answers=items.c.answers + 1)
ONE_LESS = sa.update(items).where(items.c.id == _ITEM).values(answers=items.c.answers - 1)
LET_GO = sa.delete(reservations).where(reservations.c.item_id == _ITEM, reservations.c.person_id == _PERSON)
KINDS = ("label", "unjudgeable", "skip", "undo")
LONGEST_ID = 100
APART = 1e-5
"""Seconds between the ends of places that are kept at the same time, which keeps their order."""
MOST_SECONDS = 1e7


@dataclass(frozen=True)
class Answer:
    """What a person says: a label of an item, `unjudgeable` with a reason, a `skip`, or an `undo` of a judgment.

    id: made by who sends it, so that an answer that is sent again counts once. takes_back: the judgment that an undo
    takes back, by default the latest one of the person that stands.
    """

    id: str
    kind: str
    item: int | None = None
    label: Any = None
    reason: str = ""
    seconds: float | None = None
    takes_back: str | None = None


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

    def work(self, person: Person, answer: Answer) -> Work[Recorded]:
        """What records an answer within a transaction; an answer that cannot be is an error at once."""
        one_of("kind of answer", answer.kind, KINDS)
        sent = {
            "id": _checked_id(answer.id),
            "kind": answer.kind,
            "label": answer.label,
            "reason": plain(answer.reason, "reason"),
            "seconds": _checked_seconds(answer.seconds),
        }
        if answer.kind == "undo":
            return lambda connection: self._take_back(connection, person, answer.takes_back, sent)
        if answer.item is None:
            raise UsageError(f"a {answer.kind} needs the item that it is for")
        item = answer.item
        return lambda connection: self._add(connection, person, item, sent)

    def _add(self, connection: sa.Connection, person: Person, item: int, sent: Mapping[str, Any]) -> Recorded:
        state = self._state(connection, person, item, sent)
        if state.same_number is not None:
            return _before(state, person, sent)
        if sent["kind"] == "skip":
            recorded = self._logged(connection, person, state, sent, counted=False, takes_back=None)
        else:
            recorded = self._answered(connection, person, state, sent)
        if state.holds:
            connection.execute(LET_GO, {"item": state.id, "person": person.id})
        return recorded

    def _take_back(
        self, connection: sa.Connection, person: Person, judgment: str | None, sent: Mapping[str, Any]
    ) -> Recorded:
        """Undo a judgment: what the person said of the item before stands again, or nothing, and the item is kept."""
        own = {"campaign": self._id, "person": person.id}
        chosen = judgment or connection.execute(LATEST_OWN, own).scalar()
        if chosen is None:
            raise UsageError(f"{person.name!r} has no judgment to take back in this campaign")
        found = connection.execute(ITEM_OF, {"judgment": chosen, "campaign": self._id}).first()
        if found is None or found.person_id != person.id:
            raise UsageError(f"no judgment {chosen!r} of {person.name!r} in this campaign")
        state = self._state(connection, person, found.item_id, sent)
        if state.same_number is not None:
            return _before(state, person, sent)
        stack = self._stack(connection, person, state.id)
        if not stack or stack[-1].id != chosen:
            raise UsageError(f"judgment {chosen!r} was taken back or replaced already; undo the latest one")
        top = stack.pop()
        recorded = self._logged(connection, person, state, sent, counted=False, takes_back=chosen)
        if stack:
            self._set_answer(connection, person, state.id, stack[-1], top.counted)
        else:
            self._remove_answer(connection, person, state.id, top.counted)
        return recorded

    def _answered(self, connection: sa.Connection, person: Person, state: Any, sent: Mapping[str, Any]) -> Recorded:
        """A label or `unjudgeable`: the first of the person counts if there is a place; another one replaces it."""
        is_first = state.own_judgment is None
        counted = self._has_place(state) if is_first else state.own_counted
        recorded = self._logged(connection, person, state, sent, counted=counted, takes_back=state.own_judgment)
        self._set_answer(connection, person, state.id, _Given(recorded.number, sent["label"]), counted)
        if is_first and counted:
            connection.execute(ONE_MORE, {"item": state.id})
        return recorded

    def _has_place(self, state: Any) -> bool:
        """Whether a first answer of the person is one of the k of the item; gold docs have a place for everybody."""
        if state.gold is not None or state.holds:
            return True
        return bool(state.is_open) and state.answers + state.holders < self._plan.labels

    def _state(self, connection: sa.Connection, person: Person, item: int, sent: Mapping[str, Any]) -> Any:
        """The item as it stands, which nobody else changes until the end of the transaction."""
        if not self._db.is_sqlite:  # whoever writes to SQLite is alone
            connection.execute(LOCKED, {"item": item})
        given = {"item": item, "campaign": self._id, "person": person.id, "judgment": sent["id"], "now": time.time()}
        row = connection.execute(STATE, given).first()
        if row is None:
            raise UsageError(f"campaign {self._name!r} has no item {item!r}")
        return row

    def _logged(
        self,
        connection: sa.Connection,
        person: Person,
        state: Any,
        sent: Mapping[str, Any],
        *,
        counted: bool,
        takes_back: str | None,
    ) -> Recorded:
        values = {
            **sent,
            "campaign_id": self._id,
            "item_id": state.id,
            "person_id": person.id,
            "takes_back": takes_back,
            "counted": counted,
            "made": time.time(),
            "second_look": bool(state.has_seen),
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

    def _remove_answer(self, connection: sa.Connection, person: Person, item: int, counted: bool) -> None:
        """Nothing stands any more; the place stays with the person, who may judge the item again."""
        own = (answers.c.item_id == item) & (answers.c.person_id == person.id)
        connection.execute(sa.delete(answers).where(own))
        if counted:
            connection.execute(ONE_LESS, {"item": item})
            self.hold(connection, person, [item])

    def hold(self, connection: sa.Connection, person: Person, held: Sequence[int]) -> None:
        """Keep items for a person for a while, the first of them first."""
        until = time.time() + self._plan.away
        places = []
        for number, item in enumerate(held):
            place = {"item_id": item, "person_id": person.id, "campaign_id": self._id}
            places.append(place | {"until": until + number * APART})
        if places:
            connection.execute(self._hold, places)

    def _stack(self, connection: sa.Connection, person: Person, item: int) -> list[Any]:
        """The judgments of a person on an item that were not taken back, the latest last."""
        own = (judgments.c.item_id == item) & (judgments.c.person_id == person.id)
        rows = connection.execute(sa.select(judgments).where(own).order_by(judgments.c.number)).all()
        return standing(rows)


def _before(state: Any, person: Person, sent: Mapping[str, Any]) -> Recorded:
    """What was recorded under this id already; another judgment under the same id is an error."""
    before = (state.same_item, state.same_person, state.same_kind, state.same_label)
    if before != (state.id, person.id, sent["kind"], sent["label"]):
        raise UsageError(f"the id {sent['id']!r} stands for another judgment; make a new id for each")
    return Recorded(sent["id"], state.same_number, state.same_counted, again=True)


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
