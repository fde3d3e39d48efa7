"""What is a person asked next? Items with a free place, reserved for that person before anybody else gets them.

A person keeps what was asked and not answered, and never gets an item twice. Gold docs come at places that cannot be
foreseen; items that were skipped come back when nothing else is left.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.core.errors import UsageError
from assay.store.database import Database
from assay.store.judging_plan import JudgingPlan
from assay.store.judgment_log import JudgmentLog
from assay.store.live_order import LiveOrder
from assay.store.people import Person
from assay.store.schema import answers, campaigns, items, judgments, people, reservations, sa

MOST_ASKED = 50
"""Items that a person can have at a time."""
PAUSES = (0.005, 0.01, 0.02, 0.04, 0.08, 0.0)
"""Seconds after which items that others were at are looked at again."""
LEAST_LONGER = 0.01
"""What a person holds is kept longer when that makes at least this share of the time it is kept."""
AHEAD = 20
"""More candidates than are needed are looked at, because others may hold some of them."""


_CAMPAIGN: sa.BindParameter[int] = sa.bindparam("campaign")
_PERSON: sa.BindParameter[int] = sa.bindparam("person")
_NOW: sa.BindParameter[float] = sa.bindparam("now")
_OF_TOPIC = sa.or_(sa.bindparam("every_topic"), items.c.topic == sa.bindparam("topic"))
_ANSWERED = sa.select(answers.c.item_id).where(answers.c.campaign_id == _CAMPAIGN, answers.c.person_id == _PERSON)
_BY_OTHERS = (
    sa.select(sa.func.count())
    .select_from(reservations)
    .where(reservations.c.item_id == items.c.id, reservations.c.until > _NOW, reservations.c.person_id != _PERSON)
    .scalar_subquery()
)
HELD = (
    sa.select(items.c.id, items.c.topic, items.c.doc, items.c.other, reservations.c.until)
    .join(reservations, reservations.c.item_id == items.c.id)
    .where(reservations.c.campaign_id == _CAMPAIGN, reservations.c.person_id == _PERSON, reservations.c.until > _NOW)
    .where(items.c.id.not_in(_ANSWERED), _OF_TOPIC)
    .order_by(reservations.c.until, items.c.id)
)
OPEN_ITEMS = (
    sa.select(items.c.id, items.c.place)
    .where(items.c.campaign_id == _CAMPAIGN, items.c.gold.is_(None), items.c.place > sa.bindparam("at"))
    .where(items.c.answers >= sa.bindparam("least"), items.c.answers < sa.bindparam("labels"))
    .where(items.c.answers + _BY_OTHERS < sa.bindparam("labels"), items.c.id.not_in(_ANSWERED), _OF_TOPIC)
    .order_by(items.c.place)
    .limit(sa.bindparam("most"))
)
UNSEEN_GOLD = sa.select(items.c.id).where(
    items.c.campaign_id == _CAMPAIGN, items.c.gold.is_not(None), items.c.id.not_in(_ANSWERED), _OF_TOPIC
)
HAS_GOLD = sa.select(items.c.id).where(items.c.campaign_id == _CAMPAIGN, items.c.gold.is_not(None)).limit(1)
DONE = sa.select(sa.func.count()).select_from(_ANSWERED.subquery())
SKIPPED = (
    sa.select(judgments.c.item_id)
    .where(judgments.c.campaign_id == _CAMPAIGN, judgments.c.person_id == _PERSON, judgments.c.kind == "skip")
    .group_by(judgments.c.item_id)
    .order_by(sa.func.max(judgments.c.number))
)
LONGER = (
    sa.update(reservations)
    .where(reservations.c.campaign_id == _CAMPAIGN, reservations.c.person_id == _PERSON, reservations.c.until > _NOW)
    .values(until=reservations.c.until + sa.bindparam("more"))
)
LOCKED_IF_FREE = (
    sa.select(items.c.id).where(items.c.id == sa.bindparam("item")).with_for_update(key_share=True, skip_locked=True)
)
CANDIDATE = sa.select(
    items.c.id,
    items.c.topic,
    items.c.doc,
    items.c.other,
    items.c.gold,
    items.c.answers,
    _BY_OTHERS.label("held"),
    sa.exists().where(answers.c.item_id == items.c.id, answers.c.person_id == _PERSON).label("answered"),
).where(items.c.id == sa.bindparam("item"))
"""An item, who else holds it and whether a person has answered it; on a server asked once the item is locked."""
IS_OPEN = sa.select(campaigns.c.is_open).where(campaigns.c.id == _CAMPAIGN)
TURN = sa.select(campaigns.c.id).where(campaigns.c.id == _CAMPAIGN).with_for_update(key_share=True)
"""Whose turn it is to count the budget."""
ONE_PAGE = sa.select(people.c.id).where(people.c.id == _PERSON).with_for_update(key_share=True)
"""Two pages of one person ask one after the other, or each could wait for what the other has renewed."""
GIVEN = sa.select(sa.func.count()).select_from(answers).where(answers.c.campaign_id == _CAMPAIGN)
LIVE = (
    sa.select(sa.func.count())
    .select_from(reservations)
    .where(reservations.c.campaign_id == _CAMPAIGN, reservations.c.until > _NOW)
)


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
        self._has_gold: bool | None = None

    def ask(self, person: Person, n: int, topic: str | None) -> list[Asked]:
        """The items that a person is asked, kept for the person from now on."""
        if not 1 <= n <= MOST_ASKED:
            raise UsageError(f"{n} docs to judge; ask for 1 to {MOST_ASKED}")
        if self._order is not None:
            self._order.prepare()
        for pause in PAUSES:
            asked, was_busy = self._db.commits.written(lambda connection: self.asked_in(connection, person, n, topic))
            if asked or not was_busy:
                break
            time.sleep(pause)  # an item that somebody is at right now may have a place in a moment
        return asked

    def asked_in(
        self, connection: sa.Connection, person: Person, n: int, topic: str | None
    ) -> tuple[list[Asked], bool]:
        """The items, within a transaction, and whether others were at some that might have had a place."""
        was_busy = False
        given: dict[str, Any] = {"campaign": self._id, "person": person.id, "now": time.time()}
        given |= {"every_topic": topic is None, "topic": topic or ""}
        self.take_turn(connection, person)
        if self._plan.budget is not None:
            connection.execute(TURN, given)
        held = connection.execute(HELD, given).all()
        asked = [_asked(row) for row in held[:n]]
        if held:
            self._keep_longer(connection, max(row.until for row in held), given)
        room = self._room(connection, n - len(asked), given)
        if room > 0:
            own = {row.id for row in held}
            more, was_busy = self._reserved(connection, person, room, topic, given, own)
            self._log.hold(connection, person, [one.item for one in more])
            asked += more
        return asked, was_busy

    def take_turn(self, connection: sa.Connection, person: Person) -> None:
        """Let the pages of one person ask one after the other; before anything of a transaction that asks."""
        if not self._db.is_sqlite:  # whoever writes to SQLite is alone
            connection.execute(ONE_PAGE, {"person": person.id})

    def _keep_longer(self, connection: sa.Connection, latest: float, given: Mapping[str, Any]) -> None:
        """What a person holds is kept for as long as if it were asked now, all of it in the same order."""
        more = given["now"] + self._plan.away - latest
        if more > LEAST_LONGER * self._plan.away:
            connection.execute(LONGER, {**given, "more": more})

    def _room(self, connection: sa.Connection, n: int, given: Mapping[str, Any]) -> int:
        """How many of n more items may be asked: none of a closed campaign, and no more than the budget has."""
        if n < 1 or not connection.execute(IS_OPEN, given).scalar_one():
            return 0
        if self._plan.budget is None:
            return n
        spent = connection.execute(GIVEN, given).scalar_one() + connection.execute(LIVE, given).scalar_one()
        return max(0, min(n, self._plan.budget - spent))

    def _reserved(
        self,
        connection: sa.Connection,
        person: Person,
        room: int,
        topic: str | None,
        given: Mapping[str, Any],
        own: set[int],
    ) -> tuple[list[Asked], bool]:
        """Items with a place that are not the person's own yet.

        Nobody waits for an item, or two could wait for each other.
        """
        taken: list[Asked] = []
        was_busy = False
        for candidate in self._candidates(connection, person, room, topic, given):
            if len(taken) == room:
                break
            if candidate in own:
                continue
            own.add(candidate)
            wanted = {**given, "item": candidate}
            # Whoever writes to SQLite is alone; on a server others may be at the item.
            if not self._db.is_sqlite and connection.execute(LOCKED_IF_FREE, wanted).first() is None:
                was_busy = True
                continue
            row = connection.execute(CANDIDATE, wanted).one()
            if self._has_place(row):
                taken.append(_asked(row))
        return taken, was_busy

    def _candidates(
        self, connection: sa.Connection, person: Person, room: int, topic: str | None, given: Mapping[str, Any]
    ) -> Iterator[int]:
        """Items that may have a place, in the order in which they are to be judged."""
        yield from self._gold(connection, person, room, given)
        skipped = list(connection.execute(SKIPPED, given).scalars())
        if self._order is None:
            yield from self._open_items(connection, room, given, least=0, without=skipped)
        else:
            # Docs that somebody has begun come first, so that labels of one doc can be compared soon.
            if self._plan.labels > 1:
                yield from self._open_items(connection, room, given, least=1, without=skipped)
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
        self, connection: sa.Connection, room: int, given: Mapping[str, Any], *, least: int, without: Iterable[int]
    ) -> Iterator[int]:
        """Items with at least that many answers and a place left, by their place in the pool."""
        aside = set(without)
        at = -1
        while True:
            limits = {"least": least, "labels": self._plan.labels, "at": at, "most": room + AHEAD}
            rows = connection.execute(OPEN_ITEMS, {**given, **limits}).all()
            if not rows:
                return
            at = rows[-1].place
            yield from (row.id for row in rows if row.id not in aside)

    def _gold(self, connection: sa.Connection, person: Person, room: int, given: Mapping[str, Any]) -> list[int]:
        """The gold docs whose turn it is among the next items of a person."""
        if self._has_gold is None:  # gold docs are there from the beginning or never
            self._has_gold = connection.execute(HAS_GOLD, given).first() is not None
        if not self._has_gold:
            return []
        done = connection.execute(DONE, given).scalar_one()
        turns = sum(self._is_gold_turn(person, place) for place in range(done, done + room))
        unseen = connection.execute(UNSEEN_GOLD, given).scalars().all() if turns else []
        return sorted(unseen, key=lambda item: _shuffled(self._id, person.id, item))[:turns]

    def _is_gold_turn(self, person: Person, place: int) -> bool:
        """Whether the person's item of that number is a gold doc: one of each `gold_every`, at a shuffled place."""
        block, within = divmod(place, self._plan.gold_every)
        return _shuffled(self._id, person.id, block) % self._plan.gold_every == within

    def _has_place(self, row: Any) -> bool:
        """Whether a candidate can be given to this person."""
        is_free = row.gold is not None or row.answers + row.held < self._plan.labels
        return is_free and not row.answered


def _asked(row: Any) -> Asked:
    return Asked(row.id, row.topic, row.doc, row.other)


def _shuffled(*numbers: int) -> int:
    """A number that depends on others and looks random."""
    text = " ".join(map(str, numbers))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
