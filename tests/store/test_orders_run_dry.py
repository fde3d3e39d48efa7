"""A campaign has something for everybody until all of it is judged: orders, gold docs, labels per doc, budgets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.data import Run
from assay.store import Store
from assay.store.judging_campaign import JudgingCampaign

PEOPLE = tuple(f"p{number}" for number in range(8))
TOPICS = ("1", "2", "3")
DOCS = 60
GOLD = {(topic, f"d{number}"): float(number % 2) for topic in TOPICS for number in range(0, 12, 3)}
"""Docs that runs have at the top, so that an order offers them first."""
HELD = 10


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    rng = np.random.default_rng(1)
    order = {topic: rng.permutation(12).tolist() + list(range(12, DOCS)) for topic in TOPICS}
    other = {topic: rng.permutation(DOCS).tolist() for topic in TOPICS}
    return [
        Run.from_lists(tag, {topic: [f"d{number}" for number in ranked[topic]] for topic in TOPICS})
        for tag, ranked in (("a", order), ("b", other))
    ]


@pytest.fixture
def store(tmp_path: Path, runs: list[Run]) -> Any:
    with Store(tmp_path / "store") as made:
        made.collections.add("pets", topics=dict.fromkeys(TOPICS, "cats"))
        for run in runs:
            made.runs.add("pets", run)
        for name in PEOPLE:
            made.people.add(name)
        yield made


def all_asked(campaign: JudgingCampaign, n: int) -> list[int]:
    """How many items each of the people has who ask for n, one after the other, before anybody answers."""
    return [len(campaign.next(name, n)) for name in PEOPLE]


@pytest.mark.parametrize("spread", ["local", "global"])
@pytest.mark.parametrize("order", ["hedge", "mtc", "move-to-front", "depth", "thompson", "residual"])
@pytest.mark.parametrize("gold", [GOLD, {}], ids=["gold", "no gold"])
def test_eight_people_who_ask_together_all_get_what_they_ask_for(
    store: Store, order: str, spread: str, gold: dict[Any, float]
) -> None:
    campaign = store.campaigns.add("c", "pets", order=order, spread=spread, scale="S2", gold=gold)
    assert all_asked(campaign, HELD) == [HELD] * len(PEOPLE)


@pytest.mark.parametrize(
    "choices",
    [
        {"labels": 2},
        {"labels": 1, "budget": 500},
        {"labels": 3, "budget": 1000, "gold_every": 2},
        {"order": None, "pool": "depth(k=60)"},
        {"scale": "preference", "rel": 0.6, "order": "hedge", "gold": {("1", "d0", "d1"): 1.0}},
    ],
    ids=str,
)
def test_all_of_a_campaign_is_judged_in_the_end(store: Store, choices: dict[str, Any]) -> None:
    given = {"order": "hedge", "scale": "S2", "gold": GOLD, **choices}
    campaign = store.campaigns.add("c", "pets", **given)
    assert all_asked(campaign, HELD) == [HELD] * len(PEOPLE)
    while asked := [(name, one) for name in PEOPLE for one in campaign.next(name, HELD)]:
        for name, one in asked:
            campaign.judge(name, one.item, len(one.doc) % 2)
    progress = campaign.progress()
    assert (progress.left, progress.done) == (0, progress.items)


def test_a_person_who_keeps_to_one_topic_gets_all_of_it(store: Store) -> None:
    campaign = store.campaigns.add("c", "pets", order="hedge", scale="S2", gold=GOLD)
    counts = [len(campaign.next(name, HELD, topic="2")) for name in PEOPLE]
    gold_docs = len(GOLD) // len(TOPICS)
    fresh = DOCS - gold_docs
    assert counts[:5] == [HELD] * 5
    assert fresh <= sum(counts) <= fresh + gold_docs * len(PEOPLE)


def test_the_list_of_what_comes_next_is_as_long_as_asked_for(store: Store) -> None:
    from assay.store.campaign_board import upcoming

    campaign = store.campaigns.add("c", "pets", order="hedge", scale="S2", gold=GOLD)
    assert len(upcoming(campaign, 12).docs) == 12
