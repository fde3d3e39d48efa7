"""Which items have a place left? Those of a campaign as they stand in a transaction, less what it gives out itself.

A group of people who ask together looks at the same items: they are read once for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from assay.store.many_rows import among
from assay.store.schema import answers, items, reservations, sa

_HELD = (
    sa.select(sa.func.count())
    .select_from(reservations)
    .where(reservations.c.item_id == items.c.id, reservations.c.until > sa.bindparam("now"))
    .scalar_subquery()
)
_STANDING = sa.select(
    items.c.id,
    items.c.place,
    items.c.topic,
    items.c.doc,
    items.c.other,
    items.c.gold,
    items.c.answers,
    _HELD.label("held"),
)
SOME = _STANDING.where(among(items.c.id, "items"))
ANSWERED = sa.select(answers.c.item_id, answers.c.person_id).where(
    among(answers.c.item_id, "items"), among(answers.c.person_id, "people")
)
LOCKED_IF_FREE = (
    sa.select(items.c.id).where(among(items.c.id, "items")).with_for_update(key_share=True, skip_locked=True)
)
"""Nobody waits for an item, or two could wait for each other."""
FEW = 12
"""Numbers of answers below this one are looked up by themselves."""
GROWTH = 4
"""How much larger each further page is."""
Given = tuple[int, int]
"""An item, and the person who gets it."""


@cache
def page(least: int, labels: int, of_topic: bool) -> sa.CompoundSelect[Any]:
    """The statement that reads the next items with a place, which have at least this number of answers.

    Each small number of answers is looked up by itself: so the index leads to items that wait in their order, and past
    those that are done. Larger numbers share one look-up, which sorts what it finds: a database limits the parts of a
    statement.
    """
    most: sa.BindParameter[int] = sa.bindparam("most")
    place = items.c.place
    numbers = [items.c.answers == number for number in range(least, min(FEW, labels))]
    if labels > FEW:
        numbers.append((items.c.answers >= FEW) & (items.c.answers < labels))
    parts = []
    for has_number in numbers:
        waiting = _STANDING.where(
            items.c.campaign_id == sa.bindparam("campaign"), has_number, place > sa.bindparam("at")
        )
        waiting = waiting.where(items.c.gold.is_(None), items.c.answers + _HELD < labels)
        if of_topic:
            waiting = waiting.where(items.c.topic == sa.bindparam("topic"))
        parts.append(waiting.order_by(place).limit(most).subquery().select())
    return sa.union_all(*parts).order_by("place").limit(most)


@dataclass
class _Pages:
    """Items in the order of the pool, as far as they were read."""

    items: list[int] = field(default_factory=list)
    at: int = -1
    is_whole: bool = False


class ItemsOnOffer:
    """The items that a group of people may be given, and how many places each has left.

    now: reservations that end later hold a place. step: items that are read at first.
    """

    def __init__(
        self, connection: sa.Connection, campaign: int, labels: int, people: Collection[int], *, now: float, step: int
    ) -> None:
        self._connection = connection
        self._given = {"campaign": campaign, "people": list(people), "now": now}
        self._labels = labels
        self._step = step
        self.rows: dict[int, Any] = {}
        self._left: dict[int, int] = {}
        self._answered: set[Given] = set()
        self._kept: Counter[int] = Counter()
        """People who get each item for sure; the database does not know of them yet."""
        self._pages: dict[tuple[str | None, int], _Pages] = {}

    def in_order(self, topic: str | None, *, least: int) -> Iterator[int]:
        """Items of a topic, or of any, with at least this number of answers and a place left, as the pool has them."""
        pages = self._pages.setdefault((topic, least), _Pages())
        seen = 0
        while True:
            yield from pages.items[seen:]
            seen = len(pages.items)
            if pages.is_whole:
                return
            self._read_page(pages, topic, least)

    def _read_page(self, pages: _Pages, topic: str | None, least: int) -> None:
        most = max(self._step, (GROWTH - 1) * len(pages.items))
        limits = {"at": pages.at, "most": most, "topic": topic}
        wanted = page(least, self._labels, topic is not None)
        rows = self._connection.execute(wanted, {**self._given, **limits}).all()
        pages.is_whole = len(rows) < most
        if rows:
            pages.at = rows[-1].place
            self._keep([row for row in rows if row.id not in self.rows])
        pages.items += [row.id for row in rows]

    def look_at(self, wanted: Iterable[int]) -> None:
        """Read how these items stand, where that is not known yet."""
        unknown = [item for item in dict.fromkeys(wanted) if item not in self.rows]
        if unknown:
            self._keep(self._connection.execute(SOME, {**self._given, "items": unknown}).all())

    def _keep(self, rows: Sequence[Any]) -> None:
        for row in rows:
            self.rows[row.id] = row
            self._left[row.id] = self._labels - row.answers - row.held - self._kept[row.id]
        given = {**self._given, "items": [row.id for row in rows]}
        self._answered |= {(row.item_id, row.person_id) for row in self._connection.execute(ANSWERED, given)}

    def take(self, item: int, person: int) -> bool:
        """Give an item to a person, if it has a place for this person; gold docs have one for everybody."""
        if item not in self.rows or (item, person) in self._answered:
            return False
        if self.rows[item].gold is not None:
            return True
        has_place = self._left[item] > 0
        self._left[item] -= has_place
        return has_place

    def locked(self, given: Sequence[Given]) -> tuple[set[Given], bool]:
        """What stands of that on a server: the items that nobody else is at and that still have the place.

        They are read again once they are locked. And whether others were at some of them.
        """
        wanted = list(dict.fromkeys(item for item, _ in given))
        free = list(self._connection.execute(LOCKED_IF_FREE, {"items": wanted}).scalars())
        for item in wanted:
            self.rows.pop(item)
        self.look_at(free)
        kept = {one for one in given if self.take(*one)}
        self._kept.update(item for item, _ in kept)
        return kept, len(free) < len(wanted)
