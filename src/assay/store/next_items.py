"""What is a person asked next? Items with a free place, reserved for that person before anybody else gets them.

A person keeps what was asked and not answered, and never gets an item twice. Gold docs come at places that cannot be
foreseen; items that were skipped come back when nothing else is left.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from assay.core.errors import UsageError
from assay.store.database import Database
from assay.store.judging_plan import JudgingPlan
from assay.store.judgment_log import JudgmentLog
from assay.store.live_order import LiveOrder
from assay.store.people import Person
from assay.store.schema import answers, campaigns, items, judgments, reservations, sa

MOST_ASKED = 50
"""Items that a person can have at a time."""
PAUSES = (0.005, 0.01, 0.02, 0.04, 0.08, 0.0)
"""Seconds after which items that others were at are looked at again."""
AHEAD = 20
"""More candidates than are needed are looked at, because others may hold some of them."""


@dataclass(frozen=True)
class Asked:
    """What a person is asked to judge. Whether it is a gold doc is not said."""

    item: int
    topic: str
    doc: str
    other: str = ""
    """The other doc, on preference scales."""


class NextItems:
    """The items of one campaign that wait to be judged."""

    def __init__(
        self, database: Database, campaign_id: int, plan: JudgingPlan, log: JudgmentLog, order: LiveOrder | None
    ) -> None:
        self._db = database
        self._id = campaign_id
        self._plan = plan
        self._log = log
        self._order = order

    def ask(self, person: Person, n: int, topic: str | None) -> list[Asked]:
        """The items that a person is asked, kept for the person from now on."""
        if not 1 <= n <= MOST_ASKED:
            raise UsageError(f"{n} docs to judge; ask for 1 to {MOST_ASKED}")
        for pause in PAUSES:
            asked, was_busy = self._asked_once(person, n, topic)
            if asked or not was_busy:
                break
            time.sleep(pause)  # an item that somebody is at right now may have a place in a moment
        return asked

    def _asked_once(self, person: Person, n: int, topic: str | None) -> tuple[list[Asked], bool]:
        """The items, and whether others were at some that might have had a place."""
        was_busy = False
        with self._db.writing() as connection:
            if self._plan.budget is not None:  # it is counted by one at a time
                own = sa.select(campaigns.c.id).where(campaigns.c.id == self._id)
                connection.execute(own.with_for_update(key_share=True))
            asked = self._held(connection, person, topic)[:n]
            for one in asked:
                self._log.hold(connection, person, one.item)
            room = self._room(connection, n - len(asked))
            if room > 0:
                more, was_busy = self._reserved(connection, person, room, topic)
                asked += more
        return asked, was_busy

    def _held(self, connection: sa.Connection, person: Person, topic: str | None) -> list[Asked]:
        """What the person was asked and has not answered, the longest held first."""
        own = (reservations.c.campaign_id == self._id) & (reservations.c.person_id == person.id)
        wanted = (
            sa.select(items)
            .join(reservations, reservations.c.item_id == items.c.id)
            .where(own, reservations.c.until > time.time(), self._of_topic(topic))
            .order_by(reservations.c.until, items.c.id)
        )
        return [_asked(row) for row in connection.execute(wanted)]

    def _room(self, connection: sa.Connection, n: int) -> int:
        """How many of n more items may be asked: none of a closed campaign, and no more than the budget has."""
        if n < 1:
            return 0
        own = sa.select(campaigns.c.is_open).where(campaigns.c.id == self._id)
        if not connection.execute(own).scalar_one():
            return 0
        if self._plan.budget is None:
            return n
        given = sa.select(sa.func.count()).select_from(answers).where(answers.c.campaign_id == self._id)
        live = sa.select(sa.func.count()).select_from(reservations)
        live = live.where(reservations.c.campaign_id == self._id, reservations.c.until > time.time())
        spent = connection.execute(given).scalar_one() + connection.execute(live).scalar_one()
        return max(0, min(n, self._plan.budget - spent))

    def _reserved(
        self, connection: sa.Connection, person: Person, room: int, topic: str | None
    ) -> tuple[list[Asked], bool]:
        """Items with a place, kept for the person. Nobody waits for an item, or two could wait for each other."""
        taken: list[Asked] = []
        own = (answers.c.campaign_id == self._id) & (answers.c.person_id == person.id)
        done = connection.execute(sa.select(sa.func.count()).select_from(answers).where(own)).scalar_one()
        was_busy = False
        for candidate in self._candidates(connection, person, room, topic, done):
            if len(taken) == room:
                break
            if any(one.item == candidate for one in taken):
                continue
            row = self._locked(connection, candidate)
            if row is None:
                was_busy = True
            elif self._has_place(connection, person, row):
                self._log.hold(connection, person, row.id)
                taken.append(_asked(row))
        return taken, was_busy

    def _candidates(
        self, connection: sa.Connection, person: Person, room: int, topic: str | None, done: int
    ) -> Iterator[int]:
        """Items that may have a place, in the order in which they are to be judged."""
        golden = [place for place in range(done, done + room) if self._is_gold_turn(person, place)]
        if golden:
            yield from self._gold(connection, person, topic, len(golden))
        skipped = self._skipped(connection, person)
        if self._order is None:
            yield from self._open_items(connection, person, topic, room, least=0, without=skipped)
        else:
            # Docs that somebody has begun come first, so that labels of one doc can be compared soon.
            if self._plan.labels > 1:
                yield from self._open_items(connection, person, topic, room, least=1, without=skipped)
            yield from self._ordered(connection, room, topic, skipped)
        yield from skipped

    def _ordered(
        self, connection: sa.Connection, room: int, topic: str | None, skipped: Iterable[int]
    ) -> Iterator[int]:
        """Items in the order of the session, more and more of them until there are no others."""
        assert self._order is not None
        aside = set(skipped)
        seen = 0
        n = room + AHEAD
        while True:
            ordered = self._order.next_items(connection, n, topic)
            yield from (item for item in ordered[seen:] if item not in aside)
            if len(ordered) < n:
                return
            seen = len(ordered)
            n *= 4

    def _open_items(
        self,
        connection: sa.Connection,
        person: Person,
        topic: str | None,
        room: int,
        *,
        least: int,
        without: Iterable[int],
    ) -> Iterator[int]:
        """Items with at least that many answers and a place left, by their place in the pool."""
        aside = set(without)
        at = -1
        while True:
            wanted = (
                sa.select(items.c.id, items.c.place)
                .where(
                    items.c.campaign_id == self._id,
                    items.c.gold.is_(None),
                    items.c.place > at,
                    items.c.answers >= least,
                    items.c.answers + self._held_by_others(person) < self._plan.labels,
                    items.c.id.not_in(self._answered_by(person)),
                    self._of_topic(topic),
                )
                .order_by(items.c.place)
                .limit(room + AHEAD)
            )
            rows = connection.execute(wanted).all()
            if not rows:
                return
            at = rows[-1].place
            yield from (row.id for row in rows if row.id not in aside)

    def _gold(self, connection: sa.Connection, person: Person, topic: str | None, n: int) -> list[int]:
        wanted = sa.select(items.c.id).where(
            items.c.campaign_id == self._id,
            items.c.gold.is_not(None),
            items.c.id.not_in(self._answered_by(person)),
            self._of_topic(topic),
        )
        unseen = connection.execute(wanted).scalars().all()
        return sorted(unseen, key=lambda item: _shuffled(self._id, person.id, item))[:n]

    def _is_gold_turn(self, person: Person, place: int) -> bool:
        """Whether the person's item of that number is a gold doc: one of each `gold_every`, at a shuffled place."""
        block, within = divmod(place, self._plan.gold_every)
        return _shuffled(self._id, person.id, block) % self._plan.gold_every == within

    def _skipped(self, connection: sa.Connection, person: Person) -> list[int]:
        """Items that the person skipped, those skipped longest ago first."""
        latest = sa.func.max(judgments.c.number)
        wanted = (
            sa.select(judgments.c.item_id)
            .where(
                judgments.c.campaign_id == self._id,
                judgments.c.person_id == person.id,
                judgments.c.kind == "skip",
            )
            .group_by(judgments.c.item_id)
            .order_by(latest)
        )
        return list(connection.execute(wanted).scalars())

    def _locked(self, connection: sa.Connection, item: int) -> Any | None:
        """The item, which nobody else changes until the end of the transaction; None if somebody is at it right now."""
        wanted = sa.select(items).where(items.c.id == item)
        return connection.execute(wanted.with_for_update(key_share=True, skip_locked=True)).first()

    def _has_place(self, connection: sa.Connection, person: Person, row: Any) -> bool:
        """Whether a locked item can be given to this person."""
        answered = sa.select(answers.c.judgment).where(answers.c.item_id == row.id, answers.c.person_id == person.id)
        if connection.execute(answered).first() is not None:
            return False
        if row.gold is not None:
            return True
        live = sa.select(sa.func.count()).select_from(reservations)
        live = live.where(
            reservations.c.item_id == row.id, reservations.c.until > time.time(), reservations.c.person_id != person.id
        )
        return bool(row.answers + connection.execute(live).scalar_one() < self._plan.labels)

    def _held_by_others(self, person: Person) -> Any:
        count = sa.select(sa.func.count()).select_from(reservations)
        return count.where(
            reservations.c.item_id == items.c.id,
            reservations.c.until > time.time(),
            reservations.c.person_id != person.id,
        ).scalar_subquery()

    def _answered_by(self, person: Person) -> Any:
        return sa.select(answers.c.item_id).where(answers.c.campaign_id == self._id, answers.c.person_id == person.id)

    def _of_topic(self, topic: str | None) -> Any:
        return sa.true() if topic is None else items.c.topic == topic


def _asked(row: Any) -> Asked:
    return Asked(row.id, row.topic, row.doc, row.other)


def _shuffled(*numbers: int) -> int:
    """A number that depends on others and looks random."""
    text = " ".join(map(str, numbers))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
