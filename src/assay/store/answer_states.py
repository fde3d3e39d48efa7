"""What do answers depend on? How their items stand, read by a few statements, however many answers there are."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from assay.store.many_rows import among
from assay.store.schema import answers, campaigns, items, judgments, machine_seen, reservations, sa

# Statements of every judgment are made once: to put one together takes longer than to run it.
LOCKED = sa.select(items.c.id).where(among(items.c.id, "items")).order_by(items.c.id).with_for_update(key_share=True)
"""Items are locked in the order of their ids, so that two processes never wait for each other."""
ITEMS = (
    sa.select(
        items.c.id,
        items.c.campaign_id,
        items.c.gold,
        items.c.answers,
        campaigns.c.is_open,
        sa.exists().where(machine_seen.c.item_id == items.c.id).label("is_seen"),
    )
    .join(campaigns, campaigns.c.id == items.c.campaign_id)
    .where(among(items.c.id, "items"))
)
EARLIER = sa.select(
    judgments.c.id,
    judgments.c.number,
    judgments.c.counted,
    judgments.c.item_id,
    judgments.c.person_id,
    judgments.c.kind,
    judgments.c.label,
).where(among(judgments.c.id, "judgments"))
OWN = (
    sa.select(answers.c.item_id, answers.c.person_id, answers.c.counted, judgments.c.id)
    .join(judgments, judgments.c.number == answers.c.judgment)
    .where(among(answers.c.item_id, "items"), among(answers.c.person_id, "people"))
)
HOLDERS = sa.select(reservations.c.item_id, reservations.c.person_id).where(
    among(reservations.c.item_id, "items"), reservations.c.until > sa.bindparam("now")
)
SEEN = sa.select(machine_seen.c.item_id, machine_seen.c.person_id).where(
    among(machine_seen.c.item_id, "items"), among(machine_seen.c.person_id, "people")
)
LARGEST_ID = 2**31 - 1


@dataclass
class ItemState:
    """An item, as the answers of the transaction so far have left it."""

    gold: float | None
    answers: int
    holders: set[int]
    """The people that it is kept for."""


@dataclass(frozen=True)
class AnswerStates:
    """How the items of some answers stand, which nobody else changes until the end of the transaction."""

    is_open: bool
    """Whether the campaign gives out docs."""
    items: dict[int, ItemState]
    earlier: dict[str, Any]
    """Judgments that are in the log already, by id."""
    own: dict[tuple[int, int], Any]
    """What stands, by item and person."""
    seen: set[tuple[int, int]]
    """Items and the people who have seen what machine judges say of them."""


def answer_states(
    connection: sa.Connection,
    campaign: int,
    asked: Iterable[int],
    people: Collection[int],
    ids: Collection[str],
    *,
    locks: bool,
) -> AnswerStates:
    """The states of the items that are asked for and of this campaign, for answers of these people under these ids.

    locks: whether the items are locked first, as on a server; whoever writes to SQLite is alone. On a server the states
    are read after the lock and not with it, because what others wrote is seen by the next statement only.
    """
    known = {item for item in asked if 0 < item <= LARGEST_ID}
    given: dict[str, Any] = {"items": sorted(known), "people": list(people)}
    given |= {"judgments": list(ids), "now": time.time()}
    if locks:
        connection.execute(LOCKED, given)
    rows = [row for row in connection.execute(ITEMS, given) if row.campaign_id == campaign]
    states = {row.id: ItemState(row.gold, row.answers, set()) for row in rows}
    for holder in connection.execute(HOLDERS, given):
        if holder.item_id in states:
            states[holder.item_id].holders.add(holder.person_id)
    seen = connection.execute(SEEN, given).all() if any(row.is_seen for row in rows) else []
    return AnswerStates(
        is_open=any(row.is_open for row in rows),
        items=states,
        earlier={row.id: row for row in connection.execute(EARLIER, given)},
        own={(row.item_id, row.person_id): row for row in connection.execute(OWN, given)},
        seen={(row.item_id, row.person_id) for row in seen},
    )
