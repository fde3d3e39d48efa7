"""Pages of campaigns and their forms: every scale can be judged, and what is wrong is said beside what was typed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

from assay.store import Store

HTML = {"accept": "text/html"}
DOCS = [("1", "a"), ("1", "b"), ("1", "c"), ("2", "a")]
PAIRS = [("1", "a", "b"), ("1", "a", "c"), ("2", "a", "b")]


def problem(answer: Any) -> str:
    found = re.search('<p class="problem"[^>]*>(.*?)</p>', answer.text)
    assert found is not None, answer.text
    return found.group(1).replace("&#39;", "'")


@pytest.mark.parametrize("scale", ["S2", "S4", "S100", "0-1", "magnitude", "preference", "no<maybe<yes", "4"])
def test_every_scale_can_be_judged(scale: str, local: TestClient, pets: Store) -> None:
    campaign = pets.campaigns.add("c", "pets", docs=PAIRS if scale == "preference" else DOCS, scale=scale)
    page = local.get("/judge/c", headers=HTML)
    assert page.status_code == 200
    (item,) = re.findall('id="answer".*\n<input type="hidden" name="item" value="([0-9]+)">', page.text)
    answer = local.post("/judged/c", data={"item": item, "id": "0123456789", "label": "1"})
    assert answer.status_code == 303
    assert local.get("/second/c", headers=HTML).status_code == 200
    assert campaign.counts("local").mine == 1
    state = local.get("/judge/c?format=json").json()
    assert state["progress"]["mine"] == 1
    assert (state["scale"]["high"] is None) == (scale == "magnitude")


def test_a_campaign_of_pairs_says_pairs_and_links_to_what_there_is(local: TestClient, pets: Store) -> None:
    campaign = pets.campaigns.add("c", "pets", docs=PAIRS, scale="preference")
    campaign.judge(pets.people.without_token("local"), campaign.item(*PAIRS[0]).item, 1)
    page = local.get("/campaign/c", headers=HTML).text
    assert "1 of 3 pairs have 1 answer" in page
    assert "Nothing is judged yet" not in page
    assert "other doc" in page
    for link in re.findall('href="(/[^"]*)"', page):
        assert local.get(link.replace("&amp;", "&"), headers=HTML).status_code == 200, link
    judging = local.get("/judge/c", headers=HTML).text
    assert "1 of 3 pairs done" in judging
    assert "Document 1: a" in judging
    assert "Document 2: c" in judging
    assert "left is better" not in judging
    assert "1 of 3 pairs" in local.get("/campaigns", headers=HTML).text


def test_money_has_two_digits(local: TestClient, pets: Store) -> None:
    campaign = pets.campaigns.add("c", "pets", docs=DOCS, scale="S4", price=0.1)
    for topic, doc in DOCS[:3]:
        campaign.judge(pets.people.without_token("local"), campaign.item(topic, doc).item, 1)
    page = local.get("/campaign/c", headers=HTML).text
    assert "<dt>cost</dt><dd>0.30</dd>" in page
    assert "<dt>cost left</dt><dd>0.10</dd>" in page


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("budget", "inf", "budget: 'inf' is no whole number"),
        ("budget", "nan", "budget: 'nan' is no whole number"),
        ("budget", "1e400", "budget: '1e400' is no whole number"),
        ("gold", "1 a 2\n1 a 3", "gold, line 2: 1 a has a label already; give each doc once"),
    ],
)
def test_a_form_of_a_campaign_says_what_is_wrong(
    field: str, value: str, says: str, local: TestClient, pets: Store
) -> None:
    answer = local.post("/campaigns", data={"name": "c", "collection": "pets", field: value}, headers=HTML)
    assert answer.status_code == 400
    assert problem(answer) == says
    assert pets.campaigns.listed() == []


def test_a_judge_of_one_topic_stays_with_it_without_scripts(local: TestClient, pets: Store) -> None:
    pets.campaigns.add("c", "pets", docs=[*DOCS, ("1", "x"), ("1", "y")], scale="S4")
    page = local.get("/judge/c?topic=1", headers=HTML).text
    (item,) = re.findall('id="answer".*\n<input type="hidden" name="item" value="([0-9]+)">', page)
    targets = re.findall('<form method="post" action="(/judged/c[^"]*)"', page)
    assert targets == ["/judged/c?topic=1"] * 2
    answer = local.post(targets[0], data={"item": item, "id": "0123456789", "label": "1"})
    assert answer.headers["location"] == "/judge/c?topic=1"
    assert f'href="/judge/c?item={item}&amp;topic=1"' in local.get("/judge/c?topic=1", headers=HTML).text
