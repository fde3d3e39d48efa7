"""An answer costs the same at the beginning and at the end of a campaign: nothing is counted or read again."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from assay.data import Run
from assay.store import Person, Store
from assay.store.judging_campaign import JudgingCampaign
from assay.store.judgment_log import Answer
from assay.store.schema import sa, tallies
from assay.store.tallies import Tally, counted_again
from tests.store.two_programs import stopped_after, wait_for_a_lock

TOPICS, DOCS = 10, 200
PEOPLE = 4
ASKED = 3
STEP = 10
"""Instructions of SQLite that are counted at a time."""


class Instructions:
    """The instructions that SQLite carries out, which say what a statement costs on any machine."""

    def __init__(self, store: Store) -> None:
        self.counted = 0
        sa.event.listen(store.database.engine, "checkout", self._watch)

    def _watch(self, connection: Any, *rest: Any) -> None:
        connection.set_progress_handler(self._count, STEP)

    def _count(self) -> int:
        self.counted += STEP
        return 0


def filled(store: Store, **choices: Any) -> tuple[JudgingCampaign, list[Person]]:
    """A campaign, and those who judge in it."""
    store.collections.add("c")
    ids = {str(t): [f"d{t}-{i}" for i in range(DOCS)] for t in range(TOPICS)}
    if "order" in choices:
        for tag, step in (("a", 1), ("b", -1)):
            store.runs.add("c", Run.from_lists(tag, {topic: docs[::step] for topic, docs in ids.items()}))
        choices |= {"depth": DOCS}
    else:
        choices["docs"] = [(topic, doc) for topic, docs in ids.items() for doc in docs]
    people = [store.people.add(f"p{number}")[0] for number in range(PEOPLE)]
    return store.campaigns.add("c", "c", **choices), people


def judge(campaign: JudgingCampaign, people: Sequence[Person], answers: int) -> None:
    """Give this number of answers, many at a time."""
    while answers > 0:
        for person in people:
            asked = campaign.next(person, min(50, max(1, answers)))
            sent = [
                campaign.log.checked(person, Answer(f"{person.name}-{one.item}", "label", one.item, 1)) for one in asked
            ]
            with campaign.database.writing() as connection:
                campaign.log.record(connection, sent)
            answers -= len(asked)


def cost(campaign: JudgingCampaign, people: Sequence[Person], counter: Instructions) -> float:
    """Instructions of an answer with the next docs, of a look back and of an undo."""
    held = {person.id: campaign.next(person, ASKED) for person in people}
    counter.counted = 0
    for _ in range(ASKED):
        for person in people:
            id = f"{person.name}-{held[person.id][0].item}"
            answer = Answer(id, "label", held[person.id][0].item, 1)
            held[person.id] = list(campaign.answer(person, answer, n=ASKED).items)
            campaign.counts(person)
            campaign.given(person, 5)
            campaign.state()
    return counter.counted / ASKED / PEOPLE


CAMPAIGNS: dict[str, dict[str, Any]] = {
    "a list of docs": {},
    "two labels of each doc": {"labels": 2},
    "an order": {"order": "depth"},
    "an order, two labels of each doc": {"order": "depth", "labels": 2},
    "a budget": {"budget": 10_000},
    "gold docs": {"gold": {("0", f"g{number}"): 1.0 for number in range(20)}, "gold_every": 2},
}


@pytest.mark.parametrize("kind", CAMPAIGNS)
def test_an_answer_costs_the_same_at_the_end_of_a_campaign(kind: str, new_database: Any) -> None:
    where, files = new_database("sqlite")
    with Store(where, files=files) as store:
        campaign, people = filled(store, **CAMPAIGNS[kind])
        every = TOPICS * DOCS * campaign.plan.labels
        judge(campaign, people, every // 3)  # an order reads the latest 500 answers again
        counter = Instructions(store)
        cost(campaign, people, counter)  # what is looked up once
        at_first = cost(campaign, people, counter)
        judge(campaign, people, int(0.6 * every))
        at_last = cost(campaign, people, counter)
        assert at_first > 100
        assert at_last < 1.5 * at_first
        assert store.check().errors == 0


def test_tallies_are_those_of_the_log(store: Store) -> None:
    campaign, (ann, ben, *_) = filled(store, labels=2, gold={("0", "g"): 1.0}, gold_every=2)
    gold = campaign.item("0", "g").item
    items = [campaign.item("1", f"d1-{number}").item for number in range(4)]
    for person in (ann, ben):
        campaign.judge(person, gold, 1)
        campaign.judge(person, items[0], 2)
        campaign.judge(person, items[0], 1)
        campaign.cannot_judge(person, items[1], "no text")
    campaign.skip(ann, items[2])
    campaign.judge(ann, items[3], 1)
    campaign.undo(ann)
    campaign.undo(ben)
    campaign.judge("p2", items[0], 1)  # both places are taken
    with store.database.reading() as connection:
        kept = {row.person_id: Tally(*row[2:]) for row in connection.execute(sa.select(tallies))}
        assert kept == counted_again(connection, campaign.id, 2)
    assert kept[ann.id] == Tally(judgments=7, answers=3, counted=3, places=2, done=0)
    assert kept[ben.id] == Tally(judgments=5, answers=2, counted=2, places=1, done=1)
    counts = campaign.counts("p2")
    assert (counts.docs, counts.done, counts.mine) == (TOPICS * DOCS, 1, 0)
    assert counts.left == campaign.progress().left == 2 * TOPICS * DOCS - 3
    assert store.check().errors == 0


def test_a_tally_that_is_wrong_is_found(store: Store) -> None:
    campaign, (ann, *_) = filled(store)
    for asked in campaign.next(ann, 2):
        campaign.judge(ann, asked.item, 1)
    with store.database.writing() as connection:
        connection.execute(sa.update(tallies).values(answers=5, done=3))
    found = [f"{where}: {what}" for level, where, what in store.check().found if level == "error"]
    assert len(found) == 2
    assert "person 'p0'" in found[0]
    assert "docs written down as done: 3; counted again: 2" in found[1]


def test_tallies_that_are_wrong_are_counted_anew(store: Store) -> None:
    """As after a server of an older version, which writes answers and knows of no tallies."""
    campaign, (ann, ben, *_) = filled(store, labels=2)
    other = store.campaigns.add("other", "c", docs=[("1", "x")])
    other.judge(ann, other.item("1", "x").item, 1)
    asked = campaign.next(ann, 3)
    for person in (ann, ben):
        for one in asked:
            campaign.judge(person, one.item, 1)
    with store.database.writing() as connection:
        of_ann = tallies.c.person_id == ann.id
        connection.execute(sa.delete(tallies).where(tallies.c.campaign_id == campaign.id, of_ann))
        connection.execute(sa.update(tallies).where(~of_ann).values(done=0))
        before = connection.execute(sa.select(tallies).where(tallies.c.campaign_id == other.id)).all()
    assert store.check().errors == 2
    found = store.check(recount=True)
    assert (found.errors, found.remarks, found.mended) == (0, 0, 2)
    assert found.record()["mended"] == 2
    assert [(level, where) for level, where, _ in found.found] == [
        ("mended", "campaign 'c', person 'p0'"), ("mended", "campaign 'c'"),
    ]  # fmt: skip
    assert "judgments=3" in found.found[0][2]
    counts = campaign.counts(ann)
    assert (counts.done, counts.left, counts.mine) == (3, 2 * TOPICS * DOCS - 6, 3)
    with store.database.reading() as connection:
        assert connection.execute(sa.select(tallies).where(tallies.c.campaign_id == other.id)).all() == before
    assert store.check(recount=True).found == ()


def test_counting_anew_waits_for_answers_and_they_for_it(new_database: Any) -> None:
    """On a server an answer that is being recorded is in the log and in the tally, or in neither."""
    where, files = new_database("postgresql")
    with Store(where, files=files) as one, Store(where, files=files) as other:
        campaign, (ann, *_) = filled(one)
        first, second = (asked.item for asked in campaign.next(ann, 2))
        campaign.judge(ann, first, 1)
        with one.database.writing() as connection:
            connection.execute(sa.update(tallies).values(answers=7))
        has_row, may_go_on = stopped_after(one.database.engine, "INSERT INTO judgments")
        answering = threading.Thread(target=partial(campaign.judge, ann, second, 1))
        recounting = threading.Thread(target=partial(other.check, recount=True))
        answering.start()
        assert has_row.wait(20)
        recounting.start()
        wait_for_a_lock(one.database.engine)
        may_go_on.set()
        for thread in (answering, recounting):
            thread.join()
        assert campaign.counts(ann).mine == 2
        assert one.check().found == ()
