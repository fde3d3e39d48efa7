"""Campaigns: what people are asked, what becomes of what they say, on SQLite and PostgreSQL."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from assay.core.errors import DataError, UsageError
from assay.data import Run
from assay.pooling import Judging, Judgment
from assay.store import Store
from assay.store.judging_campaign import JudgingCampaign
from assay.store.judging_plan import JudgingPlan
from assay.store.judgment_log import Answer, new_id
from assay.store.schema import sa

RUNS = {
    "a": {"1": ["d1", "d2", "d3", "d4"], "2": ["e1", "e2", "e3"]},
    "b": {"1": ["d3", "d1", "d5", "d6"], "2": ["e3", "e4"]},
}


@pytest.fixture
def ready(store: Store) -> Store:
    """Two runs, and three people who may judge."""
    store.collections.add("pets", topics={"1": "cats", "2": "dogs"})
    for tag, lists in RUNS.items():
        store.runs.add("pets", Run.from_lists(tag, lists))
    for name in ("ann", "bob", "eve"):
        store.people.add(name)
    return store


def answers_per_doc(campaign: JudgingCampaign) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for given in campaign.history():
        counts[given.topic, given.doc] += (given.kind in ("label", "unjudgeable")) and given.counted
    return counts


def judge_all(campaign: JudgingCampaign, *names: str) -> int:
    """Everybody judges in turn until nobody is asked any more."""
    made = 0
    while True:
        asked = [(name, one) for name in names for one in campaign.next(name)]
        if not asked:
            return made
        for name, one in asked:
            campaign.judge(name, one.item, 1)
            made += 1


def test_every_doc_gets_k_labels_of_different_people(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets", labels=2)
    assert judge_all(campaign, "ann", "bob", "eve") == 2 * 10
    assert set(answers_per_doc(campaign).values()) == {2}
    who = Counter((given.topic, given.doc, given.person) for given in campaign.history())
    assert set(who.values()) == {1}


@pytest.mark.parametrize("order", ["hedge", "move-to-front", "mtc", "thompson"])
def test_the_order_is_that_of_judging(ready: Store, order: str) -> None:
    campaign = ready.campaigns.add("c", "pets", order=order, scale="S2")
    session = Judging([Run.from_lists(tag, lists) for tag, lists in RUNS.items()], order)
    relevant = {"d1", "d3", "e3"}
    for _ in range(10):
        (asked,) = campaign.next("ann")
        assert [(asked.topic, asked.doc)] == session.next()
        grade = int(asked.doc in relevant)
        campaign.judge("ann", asked.item, grade)
        session.tell([Judgment(asked.topic, asked.doc, grade)])
    assert campaign.next("ann") == []


def test_an_order_forgets_what_was_taken_back_and_follows_corrections(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets", order="hedge", scale="S2")
    fresh = Judging([Run.from_lists(tag, lists) for tag, lists in RUNS.items()], "hedge")
    first = campaign.next("ann")
    campaign.judge("ann", first[0].item, 1)
    second = campaign.next("ann")
    campaign.judge("ann", second[0].item, 1)
    campaign.undo("ann")
    assert campaign.next("ann") == second, "what was taken back is kept for the person"
    campaign.judge("ann", second[0].item, 0)
    campaign.judge("ann", first[0].item, 0)
    fresh.tell([Judgment(first[0].topic, first[0].doc, 0), Judgment(second[0].topic, second[0].doc, 0)])
    (third,) = campaign.next("ann")
    assert [(third.topic, third.doc)] == fresh.next()


def test_a_pool_is_judged_in_its_order(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets", pool="depth(k=2)", scale="S2")
    seen = []
    while asked := campaign.next("ann"):
        seen.append((asked[0].topic, asked[0].doc))
        campaign.judge("ann", asked[0].item, 1)
    assert seen == [("1", "d1"), ("1", "d3"), ("1", "d2"), ("2", "e1"), ("2", "e3"), ("2", "e2"), ("2", "e4")]


def test_a_person_may_stay_with_a_topic(ready: Store) -> None:
    plans: dict[str, dict[str, Any]] = {"live": {"order": "hedge"}, "fixed": {"pool": "depth"}}
    for name, choices in plans.items():
        campaign = ready.campaigns.add(name, "pets", **choices)
        docs = []
        while asked := campaign.next("ann", topic="2"):
            docs.append(asked[0].doc)
            campaign.judge("ann", asked[0].item, 2)
        assert sorted(docs) == ["e1", "e2", "e3", "e4"]
        assert campaign.next("ann", topic="none") == []


def test_a_judgment_that_is_sent_again_counts_once(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets")
    (asked,) = campaign.next("ann")
    first = campaign.judge("ann", asked.item, 2, id="abc", seconds=4.5)
    again = campaign.judge("ann", asked.item, 2, id="abc", seconds=4.5)
    assert (first.counted, first.again, again.again) == (True, False, True)
    assert again.number == first.number
    assert len(campaign.history()) == 1
    with pytest.raises(UsageError, match="stands for another judgment"):
        campaign.judge("ann", asked.item, 3, id="abc")
    undone = campaign.undo("ann", "abc", id="u")
    assert campaign.undo("ann", "abc", id="u").number == undone.number


def test_undo_is_a_record_that_takes_back(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets")
    (asked,) = campaign.next("ann")
    campaign.judge("ann", asked.item, 1, id="one")
    campaign.judge("ann", asked.item, 3, id="two")
    assert [given.label for given in campaign.given("ann")] == [3.0]
    campaign.undo("ann")
    assert [given.label for given in campaign.given("ann")] == [1.0], "what was said before stands again"
    with pytest.raises(UsageError, match="taken back or replaced already"):
        campaign.undo("ann", "two")
    campaign.undo("ann", "one")
    assert campaign.given("ann") == []
    assert [(given.kind, given.takes_back) for given in campaign.history()] == [
        ("label", None), ("label", "one"), ("undo", "two"), ("undo", "one"),
    ]  # fmt: skip
    assert campaign.next("bob") != [asked], "the place stays with who took back"
    with pytest.raises(UsageError, match="no judgment to take back"):
        campaign.undo("bob")
    with pytest.raises(UsageError, match="no judgment 'one' of 'bob'"):
        campaign.undo("bob", "one")


def test_an_undo_that_is_sent_again_takes_nothing_else_back(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets")
    first, second = campaign.next("ann", 2)
    for asked in (first, second):
        campaign.judge("ann", asked.item, 1)
    for again in (False, True):
        assert campaign.undo("ann", id="the undo").again == again
    assert [given.item for given in campaign.given("ann")] == [first.item]
    campaign.undo("ann", id="another")
    assert campaign.undo("ann", id="another").again, "although nothing is left to take back"
    assert campaign.given("ann") == []
    with pytest.raises(UsageError, match="no judgment to take back"):
        campaign.undo("ann", id="a third")
    campaign.judge("ann", first.item, 1, id="a label")
    with pytest.raises(UsageError, match="stands for another judgment"):
        campaign.undo("ann", id="a label")
    assert ready.check().errors == 0


def test_what_a_person_says_is_of_one_campaign(ready: Store) -> None:
    one = ready.campaigns.add("one", "pets")
    other = ready.campaigns.add("other", "pets", scale="S100")
    (asked,) = other.next("ann")
    other.judge("ann", asked.item, 77)
    given = other.given_of("ann", asked.item)
    assert given is not None
    assert given.label == 77
    assert one.given_of("ann", asked.item) is None


def test_skip_comes_back_and_unjudgeable_is_never_a_grade(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets", scale="S2")
    (skipped,) = campaign.next("ann")
    campaign.skip("ann", skipped.item)
    (broken,) = campaign.next("ann")
    assert broken != skipped
    with pytest.raises(UsageError, match="say why"):
        campaign.cannot_judge("ann", broken.item, " ")
    campaign.cannot_judge("ann", broken.item, "only a login page")
    asked = []
    while one := campaign.next("ann"):
        asked.append(one[0])
        campaign.judge("ann", one[0].item, 1)
    assert asked[-1] == skipped
    assert broken not in asked
    (kept,) = [given for given in campaign.history() if given.kind == "unjudgeable"]
    assert (kept.label, kept.reason) == (None, "only a login page")


def test_what_is_skipped_goes_to_others_at_once(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets")
    (asked,) = campaign.next("ann")
    assert campaign.next("bob") != [asked]
    other = campaign.next("bob")[0]
    campaign.judge("bob", other.item, 0)
    campaign.skip("ann", asked.item)
    assert campaign.next("bob") == [asked]


def test_who_leaves_gives_the_doc_back_after_a_while(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets", pool="depth(k=1)", away=0.0)
    (asked,) = campaign.next("ann")
    assert campaign.next("bob") == [asked]
    assert campaign.judge("bob", asked.item, 1).counted
    late = campaign.judge("ann", asked.item, 2)
    assert not late.counted, "the place is taken; the judgment is kept and not counted"
    assert answers_per_doc(campaign)[asked.topic, asked.doc] == 1


def test_asking_again_gives_the_same_docs(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets")
    three = campaign.next("ann", 3)
    assert len(set(three)) == 3
    assert campaign.next("ann", 3) == three
    assert campaign.next("ann") == three[:1]
    with pytest.raises(UsageError, match="ask for 1 to"):
        campaign.next("ann", 0)


@pytest.mark.parametrize("choices", [{"pool": "depth"}, {"order": "hedge"}], ids=str)
def test_who_asks_for_more_gets_more_besides_what_was_asked_before(ready: Store, choices: dict[str, Any]) -> None:
    campaign = ready.campaigns.add("c", "pets", **choices)
    three = campaign.next("ann", 3)
    five = campaign.next("ann", 5)
    assert five[:3] == three
    assert len(set(five)) == 5


def test_an_answer_brings_the_next_docs_with_it(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets", order="hedge", scale="S2")
    fresh = Judging([Run.from_lists(tag, lists) for tag, lists in RUNS.items()], "hedge")
    (asked,) = campaign.next("ann")
    for _ in range(9):
        said = campaign.answer("ann", Answer(new_id(), "label", asked.item, 1), n=1)
        assert said.recorded.counted
        fresh.tell([Judgment(asked.topic, asked.doc, 1)])
        (asked,) = said.items
        assert [(asked.topic, asked.doc)] == fresh.next(), "the order knows the judgment that came with the question"
    assert campaign.answer("ann", Answer(new_id(), "label", asked.item, 1), n=1).items == ()


def test_an_order_forgets_what_was_not_kept(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets", order="hedge", scale="S2")
    (asked,) = campaign.next("ann")
    database = campaign.database
    judge = campaign._work(ready.people["ann"], Answer("kept-not", "label", asked.item, 1), 1, None)

    def fails(connection: sa.Connection) -> None:
        judge(connection)
        raise UsageError("too late")

    with pytest.raises(UsageError, match="too late"):
        database.commits.written(fails)
    assert campaign.history() == []
    campaign.judge("ann", asked.item, 0)
    fresh = Judging([Run.from_lists(tag, lists) for tag, lists in RUNS.items()], "hedge")
    fresh.tell([Judgment(asked.topic, asked.doc, 0)])
    (following,) = campaign.next("ann")
    assert [(following.topic, following.doc)] == fresh.next()


def test_gold_docs_come_to_everybody_and_do_not_look_like_gold(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets", labels=2, gold_every=3, gold={("1", "d1"): 3, ("2", "new"): 0})
    for name in ("ann", "bob"):
        docs = []
        while asked := campaign.next(name):
            assert set(vars(asked[0])) == {"item", "topic", "doc", "other"}
            docs.append(asked[0].doc)
            campaign.judge(name, asked[0].item, 1)
        assert {"d1", "new"} <= set(docs)
        assert len(docs) == len(set(docs))


def test_the_budget_is_not_exceeded(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets", budget=4)
    assert len(campaign.next("ann", 3)) == 3
    assert len(campaign.next("bob", 3)) == 1
    assert campaign.next("eve") == []


def test_a_closed_campaign_gives_nothing_out_and_takes_what_was_given_out(ready: Store) -> None:
    campaign = ready.campaigns.add("c", "pets")
    (asked,) = campaign.next("ann")
    campaign.close()
    assert not campaign.is_open
    assert campaign.next("bob") == []
    assert campaign.judge("ann", asked.item, 1).counted
    campaign.reopen()
    assert campaign.next("bob")


def test_scales_and_who_may_judge(ready: Store) -> None:
    ready.people.add("guest", "reader")
    words = ready.campaigns.add("w", "pets", scale="no<maybe<yes", judges=["ann"])
    (asked,) = words.next("ann")
    assert words.judge("ann", asked.item, "maybe").counted
    assert words.given("ann")[0].label == 1.0
    for bad in ("never", 7, -1, float("nan"), None):
        with pytest.raises(UsageError, match="not on the scale no < maybe < yes"):
            words.judge("ann", asked.item, bad)
    with pytest.raises(UsageError, match="is not among those who judge"):
        words.next("bob")
    with pytest.raises(UsageError, match="may not judge"):
        words.next("guest")
    slider = ready.campaigns.add("s", "pets", scale="S100")
    (asked,) = slider.next("ann")
    slider.judge("ann", asked.item, 50)
    with pytest.raises(UsageError, match="not on the scale 0 to 100"):
        slider.judge("ann", asked.item, 101)


def test_preferences_are_pairs(ready: Store) -> None:
    campaign = ready.campaigns.add("p", "pets", scale="preference", pool="depth(k=2)", partners=1)
    seen = []
    while asked := campaign.next("ann"):
        seen.append((asked[0].topic, asked[0].doc, asked[0].other))
        campaign.judge("ann", asked[0].item, 0.5)
    assert seen == [("1", "d1", "d3"), ("1", "d3", "d2"), ("2", "e1", "e3"), ("2", "e3", "e2"), ("2", "e2", "e4")]


def test_given_docs_are_judged_in_their_order(ready: Store) -> None:
    campaign = ready.campaigns.add("second look", "pets", docs=[("2", "e4"), ("1", "zz")])
    assert [(one.topic, one.doc) for one in campaign.next("ann", 5)] == [("2", "e4"), ("1", "zz")]
    with pytest.raises(DataError, match="is there twice"):
        ready.campaigns.add("x", "pets", docs=[("2", "e4"), ("2", "e4")])
    with pytest.raises(UsageError, match="leave the order out"):
        ready.campaigns.add("x", "pets", docs=[("2", "e4")], order="hedge")


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"order": "hedge", "pool": "depth"}, "a campaign has one of the two"),
        ({"order": "hegde"}, "did you mean hedge"),
        ({"labels": 0}, "at least 1"),
        ({"scale": "magnitude"}, "give rel, or a pool"),
        ({"colour": 1}, "no choice 'colour'"),
        ({"protocol": "x"}, "no protocol 'x'"),
        ({"away": -1}, "away is -1"),
        ({"aggregation": "bradley-terry"}, "does not go with the scale"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(choices: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        JudgingPlan.of(choices)


def test_names_of_campaigns(ready: Store) -> None:
    ready.campaigns.add("c", "pets")
    with pytest.raises(UsageError, match="there is a campaign 'c' already"):
        ready.campaigns.add("c", "pets")
    with pytest.raises(UsageError, match="no campaign 'd'"):
        _ = ready.campaigns["d"]
    assert [campaign.name for campaign in ready.campaigns.listed("pets")] == ["c"]
    with pytest.raises(UsageError, match="has no item 99"):
        ready.campaigns["c"].judge("ann", 99, 1)
