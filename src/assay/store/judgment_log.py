"""How is a judgment kept? One row of a log that only grows, in one transaction with how the item then stands.

Who sends a judgment makes its id: sent again after a lost answer, it counts once. An item has k places; who was asked
has one of them, and a judgment of somebody who was not asked counts while a place is free. The answers of several
people are decided one after the other in memory and written by the same few statements.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import UsageError
from assay.core.registry import one_of
from assay.store.answer_states import AnswerStates, ItemState, answer_states
from assay.store.database import Database, plain
from assay.store.judging_plan import JudgingPlan
from assay.store.many_rows import among, many_rows
from assay.store.people import Person
from assay.store.schema import answers, items, judgments, reservations, sa
from assay.store.tallies import Tallies, Tally

_CAMPAIGN: sa.BindParameter[int] = sa.bindparam("campaign")
_PERSON: sa.BindParameter[int] = sa.bindparam("person")
ITEM_OF = sa.select(judgments.c.item_id, judgments.c.person_id).where(
    judgments.c.id == sa.bindparam("judgment"), judgments.c.campaign_id == _CAMPAIGN
)
TAKEN_BACK_BY = sa.select(judgments.c.takes_back).where(
    judgments.c.id == sa.bindparam("undo"), judgments.c.campaign_id == _CAMPAIGN, judgments.c.person_id == _PERSON
)
LATEST_OWN = (
    sa.select(judgments.c.id)
    .join_from(answers, judgments, judgments.c.number == answers.c.judgment)
    .where(answers.c.campaign_id == _CAMPAIGN, answers.c.person_id == _PERSON)
    .order_by(answers.c.judgment.desc())
    .limit(1)
)
COUNTED = sa.update(items).where(among(items.c.id, "items")).values(answers=items.c.answers + sa.bindparam("more"))
LET_GO = sa.delete(reservations).where(
    sa.tuple_(reservations.c.item_id, reservations.c.person_id).in_(sa.bindparam("places", expanding=True))
)
LOGGED = tuple(column.name for column in judgments.c if column.name != "number")
STANDING = ("judgment", "label", "counted")
"""What another answer of the same person to the same item changes."""
ANSWERED = ("item_id", "person_id", "campaign_id", *STANDING)
HELD = ("item_id", "person_id", "campaign_id", "until")
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


@dataclass(frozen=True)
class Sent:
    """An answer that was checked: who sends it, for which item, and what the log keeps of it."""

    person: Person
    item: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class _New:
    """An answer that was decided: its row of the log, and what changes with it."""

    row: dict[str, Any]
    tally: Tally
    """What is counted for the person."""
    lets_go: bool
    """Whether the item was kept for the person."""

    @property
    def stands(self) -> bool:
        """Whether it is what the person now says of the item."""
        return self.row["kind"] != "skip"


class JudgmentLog:
    """The judgments of one campaign."""

    def __init__(self, database: Database, campaign_id: int, name: str, plan: JudgingPlan, tallies: Tallies) -> None:
        self._db = database
        self._id = campaign_id
        self._name = name
        self._plan = plan
        self._tallies = tallies
        dialect = database.engine.dialect.name
        self._add = many_rows(dialect, judgments, LOGGED, returning=("id", "number"))
        self._answer = many_rows(dialect, answers, ANSWERED, returning=("item_id",), newer=STANDING)
        self._hold = many_rows(dialect, reservations, HELD, returning=("item_id",), newer=("until",))

    def checked(self, person: Person, answer: Answer) -> Sent:
        """A label, `unjudgeable` or a skip as it is recorded; one that cannot be is an error at once."""
        values = _checked_values(answer)
        if answer.item is None:
            raise UsageError(f"a {answer.kind} needs the item that it is for")
        return Sent(person, answer.item, values)

    def record(self, connection: sa.Connection, sent: Sequence[Sent]) -> list[Recorded | UsageError]:
        """Record answers, at most one of each person; an answer that is refused changes nothing."""
        states = self._states(connection, sent)
        decided = [self._decided(states, one) for one in sent]
        new = [one for one in decided if isinstance(one, _New)]
        numbers = self._logged(connection, [one.row for one in new])
        standing = [one for one in new if one.stands]
        self._set_answers(connection, [(one.row, numbers[one.row["id"]]) for one in standing])
        self._count(connection, Counter(one.row["item_id"] for one in new if one.tally.counted))
        # Another process that has the tally of a person may next renew what the person holds: whoever changed that
        # first and then waited for the tally would wait for a transaction that waits for it.
        self._tallies.add(connection, [(one.row["person_id"], one.tally) for one in new])
        places = [(one.row["item_id"], one.row["person_id"]) for one in new if one.lets_go]
        if places:
            connection.execute(LET_GO, {"places": places})
        said: list[Recorded | UsageError] = []
        for one in decided:
            said.append(_recorded(one, numbers) if isinstance(one, _New) else one)
        return said

    def _decided(self, states: AnswerStates, sent: Sent) -> _New | Recorded | UsageError:
        """What becomes of an answer: a new row, the one that was recorded under its id before, or nothing."""
        state = states.items.get(sent.item)
        if state is None:
            return UsageError(f"campaign {self._name!r} has no item {sent.item!r}")
        if sent.values["id"] in states.earlier:
            return _before(states.earlier[sent.values["id"]], sent)
        own = states.own.get((sent.item, sent.person.id))
        is_skip = sent.values["kind"] == "skip"
        is_first = own is None and not is_skip
        if is_skip:
            counted = False
        elif own is None:
            counted = self._has_place(states, state, sent.person)
        else:
            counted = own.counted
        takes_back = None if is_skip or own is None else own.id
        takes_place = is_first and counted
        state.answers += takes_place
        tally = Tally(judgments=1, answers=is_first) + (self._place(state) if takes_place else Tally())
        lets_go = sent.person.id in state.holders
        state.holders.discard(sent.person.id)
        return _New(self._row(states, sent, counted, takes_back), tally, lets_go)

    def _place(self, state: ItemState) -> Tally:
        """What a place of an item counts, as the item stands when it is filled."""
        if state.gold is not None:
            return Tally(counted=1)
        return Tally(counted=1, places=1, done=int(state.answers == self._plan.labels))

    def _has_place(self, states: AnswerStates, state: ItemState, person: Person) -> bool:
        """Whether a first answer of the person is one of the k of the item; gold docs have a place for everybody."""
        if state.gold is not None or person.id in state.holders:
            return True
        return states.is_open and state.answers + len(state.holders) < self._plan.labels

    def take_back(self, connection: sa.Connection, person: Person, answer: Answer) -> Recorded:
        """Undo a judgment: what the person said of the item before stands again, or nothing, and the item is kept."""
        values = _checked_values(answer)
        chosen = answer.takes_back or self._latest(connection, person, values["id"])
        if chosen is None:
            raise UsageError(f"{person.name!r} has no judgment to take back in this campaign")
        found = connection.execute(ITEM_OF, {"judgment": chosen, "campaign": self._id}).first()
        if found is None or found.person_id != person.id:
            raise UsageError(f"no judgment {chosen!r} of {person.name!r} in this campaign")
        sent = Sent(person, found.item_id, values)
        states = self._states(connection, [sent])
        if sent.values["id"] in states.earlier:
            before = _before(states.earlier[sent.values["id"]], sent)
            if isinstance(before, UsageError):
                raise before
            return before
        stack = self._stack(connection, person, sent.item)
        if not stack or stack[-1].id != chosen:
            raise UsageError(f"judgment {chosen!r} was taken back or replaced already; undo the latest one")
        top = stack.pop()
        undo = self._row(states, sent, counted=False, takes_back=chosen)
        numbers = self._logged(connection, [undo])
        filled = self._place(states.items[sent.item]) if top.counted else Tally()
        tally = Tally(judgments=1) if stack else Tally(judgments=1) - Tally(answers=1) - filled
        self._tallies.add(connection, [(person.id, tally)])  # before the item is kept, as in `record`
        if stack:
            stands_again = undo | {"label": stack[-1].label, "counted": top.counted}
            self._set_answers(connection, [(stands_again, stack[-1].number)])
        else:
            self._remove_answer(connection, person, sent.item, top.counted)
        return Recorded(undo["id"], numbers[undo["id"]], counted=False, again=False)

    def _latest(self, connection: sa.Connection, person: Person, undo: str) -> str | None:
        """The judgment that an undo takes back which names none: the latest, or what the same undo took back before."""
        given = {"campaign": self._id, "person": person.id, "undo": undo}
        before: str | None = connection.execute(TAKEN_BACK_BY, given).scalar()
        return before or connection.execute(LATEST_OWN, given).scalar()

    def _states(self, connection: sa.Connection, sent: Sequence[Sent]) -> AnswerStates:
        return answer_states(
            connection,
            self._id,
            [one.item for one in sent],
            [one.person.id for one in sent],
            [one.values["id"] for one in sent],
            locks=not self._db.is_sqlite,
        )

    def _row(self, states: AnswerStates, sent: Sent, counted: bool, takes_back: str | None) -> dict[str, Any]:
        """The row of the log."""
        return {
            **sent.values,
            "campaign_id": self._id,
            "item_id": sent.item,
            "person_id": sent.person.id,
            "takes_back": takes_back,
            "counted": counted,
            "made": time.time(),
            "second_look": (sent.item, sent.person.id) in states.seen,
        }

    def _logged(self, connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> dict[str, int]:
        """Add rows to the log; their numbers by id."""
        if not rows:
            return {}
        return {row.id: row.number for row in self._add.insert(connection, rows)}

    def _set_answers(self, connection: sa.Connection, stand: Sequence[tuple[Mapping[str, Any], int]]) -> None:
        """What people now say of items: rows of the log, and their numbers."""
        keys = ("item_id", "person_id", "campaign_id", "label", "counted")
        rows = []
        for row, number in stand:
            rows.append({key: row[key] for key in keys} | {"judgment": number})
        if rows:
            self._answer.insert(connection, rows)

    def _count(self, connection: sa.Connection, more: Mapping[int, int]) -> None:
        """Count more answers of items, or with a negative number fewer."""
        by_number: dict[int, list[int]] = {}
        for item, number in more.items():
            by_number.setdefault(number, []).append(item)
        for number, some in by_number.items():
            connection.execute(COUNTED, {"items": some, "more": number})

    def _remove_answer(self, connection: sa.Connection, person: Person, item: int, counted: bool) -> None:
        """Nothing stands any more; the place stays with the person, who may judge the item again."""
        own = (answers.c.item_id == item) & (answers.c.person_id == person.id)
        connection.execute(sa.delete(answers).where(own))
        if counted:
            self._count(connection, {item: -1})
            self.hold(connection, {person.id: [item]})

    def hold(self, connection: sa.Connection, held: Mapping[int, Sequence[int]]) -> None:
        """Keep items for people for a while, the first of each person first."""
        until = time.time() + self._plan.away
        places = []
        for person, some in held.items():
            for number, item in enumerate(some):
                place = {"item_id": item, "person_id": person, "campaign_id": self._id}
                places.append(place | {"until": until + number * APART})
        if places:
            self._hold.insert(connection, places)

    def _stack(self, connection: sa.Connection, person: Person, item: int) -> list[Any]:
        """The judgments of a person on an item that were not taken back, the latest last."""
        own = (judgments.c.item_id == item) & (judgments.c.person_id == person.id)
        rows = connection.execute(sa.select(judgments).where(own).order_by(judgments.c.number)).all()
        return standing(rows)


def _before(earlier: Any, sent: Sent) -> Recorded | UsageError:
    """What was recorded under this id already; another judgment under the same id is an error."""
    before = (earlier.item_id, earlier.person_id, earlier.kind, earlier.label)
    if before != (sent.item, sent.person.id, sent.values["kind"], sent.values["label"]):
        return UsageError(f"the id {earlier.id!r} stands for another judgment; make a new id for each")
    return Recorded(earlier.id, earlier.number, earlier.counted, again=True)


def _recorded(new: _New, numbers: Mapping[str, int]) -> Recorded:
    id = new.row["id"]
    return Recorded(id, numbers[id], new.row["counted"], again=False)


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


def _checked_values(answer: Answer) -> dict[str, Any]:
    """What the log keeps of an answer itself."""
    return {
        "id": _checked_id(answer.id),
        "kind": one_of("kind of answer", answer.kind, KINDS),
        "label": answer.label,
        "reason": plain(answer.reason, "reason"),
        "seconds": _checked_seconds(answer.seconds),
    }


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
