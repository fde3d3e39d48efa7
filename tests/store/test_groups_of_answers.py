"""Answers that wait are recorded in one group: a few statements however many, k places, one refusal refuses one."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import UsageError
from assay.store import Store
from assay.store.judging_campaign import JudgingCampaign
from assay.store.judgment_log import Answer
from assay.store.next_items import Asked
from assay.store.schema import reservations, sa
from tests.store.two_programs import stopped_after, wait_for_a_lock

PEOPLE = 12


@pytest.fixture
def pets(store: Store) -> Store:
    store.collections.add("pets")
    for number in range(PEOPLE):
        store.people.add(f"p{number}")
    return store


def together(campaign: JudgingCampaign, works: Sequence[Callable[[], Any]]) -> list[Any]:
    """What comes of each, its error where it fails; all of them wait while nobody can write, in this order."""
    results: list[Any] = [None] * len(works)

    def one(place: int) -> None:
        try:
            results[place] = works[place]()
        except UsageError as error:
            results[place] = error

    threads = [threading.Thread(target=one, args=(place,)) for place in range(len(works))]
    with campaign.database._one_writer:
        for number, thread in enumerate(threads, 1):
            thread.start()
            deadline = time.monotonic() + 20
            while len(campaign.database.commits._waiting) < number:
                assert time.monotonic() < deadline
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    return results


def test_a_group_takes_as_many_statements_as_one_answer(pets: Store) -> None:
    """Locks, items, holders, ids, own answers, log, answers, counts, places, tallies; SQLite: a BEGIN and no locks."""
    campaign = pets.campaigns.add("c", "pets", docs=[("1", f"d{n}") for n in range(4 * PEOPLE)], labels=1)
    held = {f"p{number}": campaign.next(f"p{number}", 3) for number in range(PEOPLE)}
    campaign.counts("p0")  # how many docs there are is looked up once
    statements: list[str] = []
    commits: list[int] = []
    engine = campaign.database.engine
    sa.event.listen(engine, "before_cursor_execute", lambda c, cursor, text, *rest: statements.append(text))
    sa.event.listen(engine, "commit", lambda connection: commits.append(1))

    def counted(people: list[str], n: int) -> tuple[int, int]:
        who = {name: pets.people[name] for name in people}
        statements.clear()
        commits.clear()
        works = []
        for name in people:
            answer = Answer(f"{name}-{n}-{len(people)}", "label", held[name].pop(0).item, 1)
            works.append(partial(campaign.answer, who[name], answer, n=n))
        said = together(campaign, works)
        assert all(one.recorded.counted for one in said)
        return len(statements), len(commits)

    everybody = list(held)
    assert counted(["p0"], 0) == counted(everybody[1:], 0) == (10, 1)
    of_one = counted(["p0"], 3)
    of_all = counted(everybody[1:], 3)
    assert of_one == of_all
    assert of_all[0] <= 21
    assert of_all[1] == 1


def test_the_last_place_goes_to_one_of_a_group(pets: Store) -> None:
    campaign = pets.campaigns.add("c", "pets", docs=[("1", "d")], labels=3)
    item = campaign.item("1", "d").item
    works = [partial(campaign.judge, f"p{n}", item, 1) for n in range(PEOPLE)]
    said = together(campaign, works)
    assert [one.counted for one in said] == [True] * 3 + [False] * (PEOPLE - 3)
    assert len(campaign.labels()) == 3
    assert (campaign.counts("p0").mine, campaign.counts("p5").mine, campaign.counts("p5").left) == (1, 0, 0)
    assert pets.check().errors == 0


def test_a_place_that_is_kept_counts_whoever_is_first(pets: Store) -> None:
    campaign = pets.campaigns.add("c", "pets", docs=[("1", "d")], labels=2)
    (asked,) = campaign.next("p11")
    works = [partial(campaign.judge, f"p{n}", asked.item, 1) for n in range(PEOPLE)]
    said = together(campaign, works)
    assert [n for n, one in enumerate(said) if one.counted] == [0, 11]


def test_one_that_is_refused_takes_nobody_with_it(pets: Store) -> None:
    campaign = pets.campaigns.add("c", "pets", docs=[("1", f"d{n}") for n in range(PEOPLE)], labels=1)
    other = pets.campaigns.add("other", "pets", docs=[("1", "x")])
    items = {n: campaign.item("1", f"d{n}").item for n in range(PEOPLE)}
    items[3] = other.item("1", "x").item
    items[5] = 2**70
    items[7] = -1
    works = [partial(campaign.judge, f"p{n}", items[n], 1, id=f"answer-{n}") for n in range(PEOPLE)]
    said = together(campaign, works)
    refused = {n: str(one) for n, one in enumerate(said) if isinstance(one, UsageError)}
    assert refused == {n: f"campaign 'c' has no item {items[n]}" for n in (3, 5, 7)}
    assert len(campaign.history()) == PEOPLE - 3
    assert other.history() == []
    taken = together(campaign, [lambda: campaign.judge("p1", items[3 - 1], 1, id="answer-0")])
    assert "stands for another judgment" in str(taken[0])


def test_an_answer_that_is_sent_twice_at_once_counts_once(pets: Store) -> None:
    campaign = pets.campaigns.add("c", "pets", docs=[("1", f"d{n}") for n in range(3)], labels=2)
    item = campaign.item("1", "d0").item
    works = [lambda: campaign.judge("p0", item, 1, id="the same")] * 4
    works += [lambda: campaign.judge("p1", item, 2, id="another")] * 2
    said = together(campaign, works)
    assert Counter(one.again for one in said) == {False: 2, True: 4}
    assert len(campaign.history()) == 2
    clash = [partial(campaign.judge, name, item, 1, id="of two people") for name in ("p2", "p3")]
    said = together(campaign, clash)
    assert [isinstance(one, UsageError) for one in said] == [False, True]
    assert "stands for another judgment" in str(said[1])


def test_what_one_person_sends_stays_in_its_order(pets: Store) -> None:
    campaign = pets.campaigns.add("c", "pets", docs=[("1", "d0"), ("1", "d1")], labels=PEOPLE, scale="S4")
    first, second = (campaign.item("1", doc).item for doc in ("d0", "d1"))
    works: list[Callable[[], Any]] = [
        lambda: campaign.judge("p1", second, 3),
        lambda: campaign.judge("p0", first, 1, id="one"),
        lambda: campaign.judge("p0", first, 2, id="two"),
        lambda: campaign.undo("p0", id="three"),
        lambda: campaign.judge("p2", second, 3),
        lambda: campaign.skip("p0", second, id="four"),
        lambda: campaign.judge("p0", first, 0, id="five"),
    ]
    together(campaign, works)
    own = [one for one in campaign.history() if one.person == "p0"]
    assert [one.id for one in own] == ["one", "two", "three", "four", "five"]
    assert [one.takes_back for one in own] == [None, "one", "two", None, "one"]
    stands = campaign.given_of("p0", first)
    assert stands is not None
    assert (stands.id, stands.label) == ("five", 0)
    assert pets.check().errors == 0


@pytest.mark.parametrize("choices", [{"pool": "depth"}, {"order": "hedge"}, {"pool": "depth", "budget": 150}], ids=str)
def test_several_programs_on_one_database_keep_to_k(
    store: Store, address: tuple[str, Path], choices: dict[str, Any]
) -> None:
    """Each has a writer of its own, so that what they do meets in the database only."""
    from tests.store.test_concurrency import DOCS, TOPICS, filled, work

    filled(store, 24, labels=3, **choices)
    where, files = address
    errors: list[BaseException] = []
    with ExitStack() as opened:
        programs = [opened.enter_context(Store(where, files=files)).campaigns["c"] for _ in range(4)]
        threads = []
        for number in range(24):
            threads.append(threading.Thread(target=work, args=(programs[number % 4], f"p{number}", errors)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []
    labels = store.campaigns["c"].labels()
    per_doc = Counter(zip(labels.topic.tolist(), labels.doc.tolist(), strict=True))
    per_person = Counter(zip(labels.topic.tolist(), labels.doc.tolist(), labels.worker.tolist(), strict=True))
    assert set(per_person.values()) == {1}
    if "budget" in choices:
        assert sum(per_doc.values()) == 150
        assert max(per_doc.values()) <= 3
    else:
        assert len(per_doc) == TOPICS * DOCS
        assert set(per_doc.values()) == {3}
    assert store.check().errors == 0


def test_several_programs_count_k_answers_of_people_who_were_not_asked(store: Store, address: tuple[str, Path]) -> None:
    docs = [("1", f"d{number}") for number in range(15)]
    store.collections.add("pets")
    for number in range(16):
        store.people.add(f"p{number}")
    store.campaigns.add("c", "pets", docs=docs, labels=3)
    where, files = address
    counted: list[int] = []
    start = threading.Barrier(16)

    def judge_all(campaign: JudgingCampaign, name: str) -> None:
        own = [campaign.item(*doc).item for doc in docs]
        person = campaign.person(name)
        start.wait(20)
        for item in own:
            if campaign.judge(person, item, 1).counted:
                counted.append(item)

    with ExitStack() as opened:
        programs = [opened.enter_context(Store(where, files=files)).campaigns["c"] for _ in range(4)]
        threads = []
        for number in range(16):
            threads.append(threading.Thread(target=judge_all, args=(programs[number % 4], f"p{number}")))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(Counter(counted).values()) == {3}
    assert len(counted) == len(store.campaigns["c"].labels()) == 3 * len(docs)
    assert len(store.campaigns["c"].history()) == 16 * len(docs)
    assert store.check().errors == 0


RESERVATIONS_CHANGE = ("DELETE FROM reservations", "INSERT INTO reservations", "UPDATE reservations")


@pytest.mark.parametrize("what", ["label", "skip", "undo"])
def test_a_tally_is_locked_before_what_a_person_holds(what: str, pets: Store) -> None:
    """Everybody locks in this order: items, tallies, then what people hold."""
    campaign = pets.campaigns.add("c", "pets", docs=[("1", "d0"), ("1", "d1")])
    first, second = (one.item for one in campaign.next("p0", 2))
    campaign.judge("p0", first, 1)
    statements: list[str] = []
    sa.event.listen(
        campaign.database.engine, "before_cursor_execute", lambda c, cursor, text, *rest: statements.append(text)
    )
    answer = Answer("0123456789", what, second, 1 if what == "label" else None)
    campaign.answer("p0", answer)
    counts = [place for place, text in enumerate(statements) if text.startswith("INSERT INTO tallies")]
    held = [place for place, text in enumerate(statements) if text.startswith(RESERVATIONS_CHANGE)]
    assert len(counts) == 1
    assert held
    assert counts[0] < held[0]


def test_two_programs_with_answers_of_one_person_do_not_wait_for_each_other(
    new_database: Callable[[str], tuple[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One answer asks for the next docs and so renews what the person holds; the other one only lets a doc go."""
    monkeypatch.setattr("assay.store.next_items.LEAST_LONGER", 0)
    where, files = new_database("postgresql")
    errors: list[Any] = []
    with Store(where, files=files) as one, Store(where, files=files) as other:
        one.collections.add("pets")
        one.people.add("ann")
        campaign = one.campaigns.add("c", "pets", docs=[("1", f"d{number}") for number in range(4)])
        first, second, *_ = (asked.item for asked in campaign.next("ann", 4))
        for store in (one, other):
            sa.event.listen(store.database.engine, "handle_error", lambda c: errors.append(str(c.original_exception)))
        asks = partial(other.campaigns["c"].answer, "ann", Answer("asks for more", "label", second, 1), n=3)
        lets_go = partial(campaign.answer, "ann", Answer("lets it go", "label", first, 1))
        asking, letting_go = threading.Thread(target=asks), threading.Thread(target=lets_go)
        has_tally, may_go_on = stopped_after(other.database.engine, "INSERT INTO tallies")
        asking.start()
        assert has_tally.wait(20)
        letting_go.start()
        wait_for_a_lock(one.database.engine)
        may_go_on.set()
        for thread in (asking, letting_go):
            thread.join()
        assert errors == []
        assert len(campaign.history()) == 2
        assert one.check().errors == 0


@pytest.mark.parametrize(
    ("stops_at", "whose"), [("SELECT items.id, items.topic", "ben"), ("UPDATE reservations", "ann")], ids=["ben", "ann"]
)
def test_a_place_that_ends_while_its_holder_asks_goes_to_one_person(
    stops_at: str, whose: str, new_database: Callable[[str], tuple[str, Path]]
) -> None:
    """Ben may have it before it is kept for longer, and may not once it is, though he cannot see that yet."""
    where, files = new_database("postgresql")
    with Store(where, files=files) as one, Store(where, files=files) as other:
        one.collections.add("pets")
        for name in ("ann", "ben"):
            one.people.add(name)
        campaign = one.campaigns.add("c", "pets", docs=[("1", "d")], away=60)
        (asked,) = campaign.next("ann")
        ends = time.time() + 0.5
        with one.database.writing() as connection:
            connection.execute(sa.update(reservations).values(until=ends))
        found: dict[str, list[Asked]] = {}
        asking = threading.Thread(target=lambda: found.update(ann=campaign.next("ann")))
        is_there, may_go_on = stopped_after(one.database.engine, stops_at)
        asking.start()
        assert is_there.wait(20)
        time.sleep(max(0, ends + 0.05 - time.time()))
        found["ben"] = other.campaigns["c"].next("ben")
        may_go_on.set()
        asking.join()
        assert {name for name, items in found.items() if items} == {whose}
        counted = {name: campaign.judge(name, asked.item, 1).counted for name in ("ann", "ben")}
        assert counted == {name: name == whose for name in ("ann", "ben")}
        assert one.check().errors == 0
