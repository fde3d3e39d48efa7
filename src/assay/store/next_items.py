"""What are people asked next? Items with a free place, reserved for a person before anybody else gets them.

A person keeps what was asked and not answered, and never gets an item twice. Gold docs come at places that cannot be
foreseen; items that were skipped come back when nothing else is left.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from assay.store.database import Database
from assay.store.items_on_offer import LOCKED_IF_FREE, Given, ItemsOnOffer
from assay.store.judging_plan import JudgingPlan
from assay.store.judgment_log import JudgmentLog
from assay.store.live_order import LiveOrder
from assay.store.many_rows import among
from assay.store.people import Person
from assay.store.schema import answers, campaigns, items, judgments, people, reservations, sa, tallies
from assay.store.tallies import ANSWERS

Ordered = Callable[[int, str | None], list[int]]
"""The first n items of an order, of one topic or of any."""
MOST_ASKED = 50
"""Items that a person can have at a time."""
LEAST_LONGER = 0.01
"""What a person holds is kept longer when that makes at least this share of the time it is kept."""
AHEAD = 20
"""More candidates than are needed are looked at, because others may hold some of them."""


_CAMPAIGN: sa.BindParameter[int] = sa.bindparam("campaign")
_PERSON: sa.BindParameter[int] = sa.bindparam("person")
_NOW: sa.BindParameter[float] = sa.bindparam("now")
_OF_TOPIC = sa.or_(sa.bindparam("every_topic"), items.c.topic == sa.bindparam("topic"))
_BY_PERSON = sa.exists().where(answers.c.item_id == items.c.id, answers.c.person_id == _PERSON)
_BY_HOLDER = sa.exists().where(
    answers.c.item_id == reservations.c.item_id, answers.c.person_id == reservations.c.person_id
)
HELD = (
    sa.select(items.c.id, items.c.topic, items.c.doc, items.c.other, reservations.c.until, reservations.c.person_id)
    .join(reservations, reservations.c.item_id == items.c.id)
    .where(
        reservations.c.campaign_id == _CAMPAIGN, among(reservations.c.person_id, "people"), reservations.c.until > _NOW
    )
    .where(~_BY_HOLDER)
    .order_by(reservations.c.until, items.c.id)
)
"""What people hold and have not answered."""
UNSEEN_GOLD = sa.select(items.c.id).where(
    items.c.campaign_id == _CAMPAIGN, items.c.gold.is_not(None), ~_BY_PERSON, _OF_TOPIC
)
HAS_GOLD = sa.select(items.c.id).where(items.c.campaign_id == _CAMPAIGN, items.c.gold.is_not(None)).limit(1)
DONE = sa.select(tallies.c.answers).where(tallies.c.campaign_id == _CAMPAIGN, tallies.c.person_id == _PERSON)
SKIPPED = (
    sa.select(judgments.c.item_id, judgments.c.person_id)
    .where(judgments.c.campaign_id == _CAMPAIGN, among(judgments.c.person_id, "people"), judgments.c.kind == "skip")
    .group_by(judgments.c.item_id, judgments.c.person_id)
    .order_by(sa.func.max(judgments.c.number))
)
LONGER = (
    sa.update(reservations)
    .where(reservations.c.campaign_id == _CAMPAIGN, reservations.c.person_id == _PERSON, reservations.c.until > _NOW)
    .where(among(reservations.c.item_id, "items"))
    .values(until=reservations.c.until + sa.bindparam("more"))
    .returning(reservations.c.item_id)
)
IS_OPEN = sa.select(campaigns.c.is_open).where(campaigns.c.id == _CAMPAIGN)
TURN = sa.select(campaigns.c.id).where(campaigns.c.id == _CAMPAIGN).with_for_update(key_share=True)
"""Whose turn it is to count the budget."""
ONE_PAGE = (
    sa.select(people.c.id).where(among(people.c.id, "people")).order_by(people.c.id).with_for_update(key_share=True)
)
"""Two pages of one person ask one after the other, or each could wait for what the other has renewed."""
_LIVE = (
    sa.select(sa.func.count())
    .select_from(reservations)
    .where(reservations.c.campaign_id == _CAMPAIGN, reservations.c.until > _NOW)
)
SPENT = sa.select(ANSWERS.scalar_subquery() + _LIVE.scalar_subquery())
"""Answers, and items that are held: by one statement, because on a server an item may be answered between two."""


@dataclass(frozen=True)
class Asked:
    """What a person is asked to judge. Whether it is a gold doc is not said."""

    item: int
    topic: str
    doc: str
    other: str = ""
    """The other doc, on preference scales."""


@dataclass(frozen=True)
class Asking:
    """A person who asks for the next n items, of one topic or of any."""

    person: Person
    n: int
    topic: str | None = None


@dataclass(frozen=True)
class Reserved:
    """What a person is asked, and whether others were at items that might have had a place."""

    items: tuple[Asked, ...]
    was_busy: bool


class _Want:
    """What a person who asks has already, and what is still wanted."""

    def __init__(self, asking: Asking, held: Sequence[Any]) -> None:
        self.asking = asking
        self.person = asking.person
        self.all_held = list(held)
        self.room = 0
        self.more: list[Asked] = []
        self.was_busy = False
        self.candidates: Iterator[int] = iter(())

    @property
    def held(self) -> list[Any]:
        """What the person holds of what is asked for."""
        return [row for row in self.all_held if self.asking.topic in (None, row.topic)]

    def proposed(self, offer: ItemsOnOffer) -> list[Given]:
        """The next candidates that have a place for the person, as many as are wanted."""
        missing = self.room - len(self.more)
        with_place = (item for item in self.candidates if offer.take(item, self.person.id))
        return [(item, self.person.id) for item in islice(with_place, missing)]

    def asked(self) -> tuple[Asked, ...]:
        """What the person is asked in all."""
        first = [_asked(row) for row in self.held[: self.asking.n]]
        return (*first, *self.more)


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

    def prepare(self) -> None:
        """Do what takes long the first time, before a transaction waits for it."""
        if self._order is not None:
            self._order.prepare()

    def take_turns(self, connection: sa.Connection, asking: Sequence[Asking]) -> None:
        """Let the pages of one person ask one after the other; before anything of a transaction that asks."""
        if asking and not self._db.is_sqlite:  # whoever writes to SQLite is alone
            connection.execute(ONE_PAGE, {"people": sorted(one.person.id for one in asking)})

    def reserve(self, connection: sa.Connection, asking: Sequence[Asking]) -> list[Reserved]:
        """The items that people are asked, kept for them from now on, within a transaction."""
        if not asking:
            return []
        given: dict[str, Any] = {"campaign": self._id, "now": time.time()}
        given["people"] = [one.person.id for one in asking]
        if self._plan.budget is not None:
            connection.execute(TURN, given)
        held = _by_person(connection.execute(HELD, given))
        wants = [_Want(one, held.get(one.person.id, [])) for one in asking]
        for want in wants:
            self._keep_longer(connection, want, given)
            want.room = max(0, want.asking.n - len(want.held))
        short = [want for want in wants if want.room]
        if short and connection.execute(IS_OPEN, given).scalar_one():
            self._keep_to_budget(connection, short, given)
            self._give_more(connection, short, given)
        return [Reserved(want.asked(), want.was_busy) for want in wants]

    def _keep_longer(self, connection: sa.Connection, want: _Want, given: Mapping[str, Any]) -> None:
        """What a person holds is kept for as long as if it were asked now, all of it in the same order.

        On a server others give a place away once it is not kept any more, which the person does not have then. Its item
        is locked first, so that nobody does while this is written; items that others are at stay as they are.
        """
        if not want.held:
            return
        more = given["now"] + self._plan.away - max(row.until for row in want.held)
        if more <= LEAST_LONGER * self._plan.away:
            return
        own = [row.id for row in want.all_held]
        now = given["now"]
        if not self._db.is_sqlite:
            own = list(connection.execute(LOCKED_IF_FREE, {"items": own}).scalars())
            now = time.time()
        chosen = {**given, "person": want.person.id, "more": more, "items": own, "now": now}
        ended = set(own) - set(connection.execute(LONGER, chosen).scalars())
        want.all_held = [row for row in want.all_held if row.id not in ended]

    def _keep_to_budget(self, connection: sa.Connection, wants: Sequence[_Want], given: Mapping[str, Any]) -> None:
        """No more items are given out than the budget has left."""
        if self._plan.budget is None:
            return
        spent = connection.execute(SPENT, given).scalar_one()
        left = max(0, self._plan.budget - spent)
        for want in wants:
            want.room = min(want.room, left)
            left -= want.room

    def _give_more(self, connection: sa.Connection, wants: Sequence[_Want], given: Mapping[str, Any]) -> None:
        """Give people items that have a place, in their order, and keep them for them."""
        skipped = _by_person(connection.execute(SKIPPED, given))
        step = sum(want.room for want in wants) + AHEAD
        by_person = {want.person.id: want for want in wants}
        offer = ItemsOnOffer(connection, self._id, self._plan.labels, by_person, now=given["now"], step=step)
        ordered = self._in_session(connection)
        for want in wants:
            aside = [row.item_id for row in skipped.get(want.person.id, [])]
            known = {row.id for row in want.all_held}
            want.candidates = _first_times(self._candidates(connection, offer, want, given, aside, ordered), known)
        while proposed := [pair for want in wants for pair in want.proposed(offer)]:
            # Whoever writes to SQLite is alone; on a server others may be at the items.
            kept, was_busy = (set(proposed), False) if self._db.is_sqlite else offer.locked(proposed)
            for want in wants:
                want.was_busy = want.was_busy or was_busy
            for item, person in proposed:
                if (item, person) in kept:
                    by_person[person].more.append(_asked(offer.rows[item]))
        self._log.hold(connection, {want.person.id: [one.item for one in want.more] for want in wants})

    def _candidates(
        self,
        connection: sa.Connection,
        offer: ItemsOnOffer,
        want: _Want,
        given: Mapping[str, Any],
        skipped: Sequence[int],
        ordered: Ordered | None,
    ) -> Iterator[int]:
        """Items that may have a place, in the order in which they are to be judged."""
        topic = want.asking.topic
        gold = self._gold(connection, want, given)
        offer.look_at(gold)
        yield from gold
        aside = set(skipped)
        if ordered is None:
            yield from (item for item in offer.in_order(topic, least=0) if item not in aside)
        else:
            # Docs that somebody has begun come first, so that labels of one doc can be compared soon.
            if self._plan.labels > 1:
                yield from (item for item in offer.in_order(topic, least=1) if item not in aside)
            yield from (item for item in _all_ordered(ordered, offer, want) if item not in aside)
        offer.look_at(skipped)
        yield from skipped

    def _in_session(self, connection: sa.Connection) -> Ordered | None:
        """The first items in the order of the session, asked once for all of a group; None where there is no order."""
        order = self._order
        if order is None:
            return None
        return cache(lambda n, topic: order.next_items(connection, n, topic))

    def _gold(self, connection: sa.Connection, want: _Want, shared: Mapping[str, Any]) -> list[int]:
        """The gold docs whose turn it is among the next items of a person."""
        person = want.person
        topic = want.asking.topic
        given = {**shared, "person": person.id, "every_topic": topic is None, "topic": topic or ""}
        if self._has_gold is None:  # gold docs are there from the beginning or never
            self._has_gold = connection.execute(HAS_GOLD, given).first() is not None
        if not self._has_gold:
            return []
        done = connection.execute(DONE, given).scalar() or 0
        turns = sum(self._is_gold_turn(person, place) for place in range(done, done + want.room))
        unseen = connection.execute(UNSEEN_GOLD, given).scalars().all() if turns else []
        return sorted(unseen, key=lambda item: _shuffled(self._id, person.id, item))[:turns]

    def _is_gold_turn(self, person: Person, place: int) -> bool:
        """Whether the person's item of that number is a gold doc: one of each `gold_every`, at a shuffled place."""
        block, within = divmod(place, self._plan.gold_every)
        return _shuffled(self._id, person.id, block) % self._plan.gold_every == within


def _asked(row: Any) -> Asked:
    return Asked(row.id, row.topic, row.doc, row.other)


def _all_ordered(ordered: Ordered, offer: ItemsOnOffer, want: _Want) -> Iterator[int]:
    """Items in the order of the session, more and more of them until there are no others."""
    seen = 0
    n = want.room + AHEAD
    while True:
        first = ordered(n, want.asking.topic)
        offer.look_at(first[seen:])
        yield from first[seen:]
        if len(first) < n:
            return
        seen = len(first)
        n *= 4


def _first_times(candidates: Iterable[int], known: set[int]) -> Iterator[int]:
    """Items that are not known yet, each once."""
    for item in candidates:
        if item not in known:
            known.add(item)
            yield item


def _by_person(rows: Iterable[Any]) -> dict[int, list[Any]]:
    """Rows by the person that they are of, in their order."""
    by_person: dict[int, list[Any]] = {}
    for row in rows:
        by_person.setdefault(row.person_id, []).append(row)
    return by_person


def _shuffled(*numbers: int) -> int:
    """A number that depends on others and looks random."""
    text = " ".join(map(str, numbers))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
