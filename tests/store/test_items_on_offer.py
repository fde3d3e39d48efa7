"""Items with a place are read in their order, however many labels each doc gets."""

from __future__ import annotations

import random
from typing import Any

import pytest

from assay.store import Store
from assay.store.items_on_offer import FEW, page
from assay.store.schema import items, reservations, sa

DOCS = 60
NOW = 1000.0


def given(store: Store, labels: int) -> tuple[int, list[Any], dict[int, int]]:
    """A campaign in which docs have any number of answers, its items, and how many people hold each item."""
    chance = random.Random(labels)
    campaign = store.campaigns.add(
        "c", "pets", docs=[(str(n % 2), f"d{n}") for n in range(DOCS)], labels=labels, gold={("0", "g"): 1.0}
    )
    people = [store.people.without_token(f"p{n}") for n in range(3)]
    held = {}
    with store.database.writing() as connection:
        for row in connection.execute(sa.select(items)).all():
            number = chance.choice([0, 1, FEW - 1, FEW, FEW + 1, labels - 2, labels - 1, labels])
            connection.execute(sa.update(items).where(items.c.id == row.id).values(answers=min(max(number, 0), labels)))
            held[row.id] = chance.randrange(3)
            for person in people[: held[row.id]]:
                place = {"item_id": row.id, "person_id": person.id, "campaign_id": campaign.id, "until": NOW + 1}
                connection.execute(sa.insert(reservations).values(place))
        return campaign.id, list(connection.execute(sa.select(items).order_by(items.c.place)).all()), held


@pytest.mark.parametrize("labels", [1, 2, FEW - 1, FEW, FEW + 1, FEW + 2, 600])
def test_a_page_has_the_items_with_a_place_in_their_order(labels: int, store: Store) -> None:
    store.collections.add("pets")
    campaign, rows, held = given(store, labels)
    for least in (0, 1):
        for topic in (None, "1"):
            expected = []
            for row in rows:
                has_place = least <= row.answers and row.answers + held[row.id] < labels
                if row.gold is None and has_place and topic in (None, row.topic):
                    expected.append(row.id)
            if least == 1 and labels == 1:
                assert expected == []
                continue
            wanted = page(least, labels, topic is not None)
            found: list[int] = []
            asked = {"campaign": campaign, "now": NOW, "topic": topic, "most": 7, "at": -1}
            with store.database.reading() as connection:
                while part := connection.execute(wanted, asked).all():
                    found += [row.id for row in part]
                    asked["at"] = part[-1].place
            assert found == expected


def test_a_doc_may_get_hundreds_of_labels(store: Store) -> None:
    store.collections.add("pets")
    campaign = store.campaigns.add("c", "pets", docs=[("1", "a"), ("1", "b")], labels=600)
    person = store.people.without_token("ann")
    assert [one.doc for one in campaign.next(person, 5)] == ["a", "b"]
    with store.database.writing() as connection:
        connection.execute(sa.update(items).where(items.c.doc == "a").values(answers=599))
        connection.execute(sa.update(items).where(items.c.doc == "b").values(answers=600))
    assert [one.doc for one in campaign.next(store.people.without_token("ben"), 5)] == []
    with store.database.writing() as connection:
        connection.execute(sa.delete(reservations))
    assert [one.doc for one in campaign.next(store.people.without_token("ben"), 5)] == ["a"]
