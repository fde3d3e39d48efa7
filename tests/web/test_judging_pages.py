"""Pages of campaigns and their forms: every scale can be judged, and what is wrong is said beside what was typed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

from assay.data import Run
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
        ("gold", "1 a much", "gold, line 1: 'much' is no number"),
        ("depth", "deep", "depth: 'deep' is no whole number"),
        ("labels", "1.5", "labels: '1.5' is no whole number"),
        ("labels", "0", "labels is 0; give a whole number of at least 1"),
        ("labels", str(10**30), f"labels is {10**30}; give a whole number of at most 2147483647"),
        ("price", "much", "price: 'much' is no number"),
        ("rel", "nan", "rel is nan; give a number of at least 0"),
        ("scale", "S0", "a scale needs two or more different levels, not 0"),
        ("scale", "stars", "no scale 'stars'; known: "),
    ],
)
def test_a_form_of_a_campaign_says_what_is_wrong_beside_what_was_typed(
    field: str, value: str, says: str, local: TestClient, pets: Store
) -> None:
    typed = {"name": "c <b>", "collection": "pets", "guidelines": "Be <strict>.", "gold": "1 a 2", "labels": "3"}
    typed |= {"order": "mtc", "protocol": "s100", "budget": "12", "price": "0.25", field: value}
    answer = local.post("/campaigns", data=typed, headers=HTML)
    assert answer.status_code == 400
    assert says in problem(answer)
    assert '<details class="make" open>' in answer.text
    for name in typed.keys() - {"collection", "order", "protocol", "guidelines", "gold"}:
        shown = typed[name].replace("<", "&lt;").replace(">", "&gt;")
        assert re.search(f'name="{name}"[^>]* value="{re.escape(shown)}"', answer.text), name
    assert "Be &lt;strict&gt;.</textarea>" in answer.text
    assert f"{typed['gold']}</textarea>" in answer.text
    for chosen in ("pets", "mtc", "s100"):
        assert f'<option value="{chosen}" selected>' in answer.text
    assert pets.campaigns.listed() == []
    as_json = local.post("/campaigns", data=typed, headers={"accept": "application/json"})
    assert as_json.status_code == 400
    assert says in as_json.json()["error"]


def test_a_form_of_a_campaign_with_empty_fields_takes_the_usual_choices(local: TestClient, pets: Store) -> None:
    empty = dict.fromkeys(("depth", "labels", "rel", "budget", "price", "gold", "guidelines"), "")
    assert local.post("/campaigns", data={"name": "c", "collection": "pets", **empty}).status_code == 303
    plan = pets.campaigns["c"].plan
    assert (plan.depth, plan.labels, plan.rel, plan.budget, plan.price) == (20, 1, None, None, 0)


def test_a_campaign_of_one_topic_has_a_page_without_a_leaderboard(local: TestClient, pets: Store) -> None:
    pets.collections.add("one", topics={"1": "cats"})
    for tag, docs in (("a", "xyz"), ("b", "zyx")):
        pets.runs.add("one", Run.from_lists(tag, {"1": list(docs)}))
    campaign = pets.campaigns.add("c", "one", scale="S2")
    person = pets.people.without_token("local")
    assert "Nothing is judged yet." in local.get("/campaign/c", headers=HTML).text
    campaign.judge(person, campaign.next(person)[0].item, 1)
    page = local.get("/campaign/c", headers=HTML)
    assert page.status_code == 200
    assert "No leaderboard: 1 topic; at least 2 are needed to tell chance from a difference." in page.text
    assert "1 of 3 docs have 1 answer" in page.text
    assert local.get("/campaign/c?format=json").json()["board"] is None
    assert local.get("/campaign/c?measure=nothing", headers=HTML).status_code == 400


def test_a_judge_of_one_topic_stays_with_it_without_scripts(local: TestClient, pets: Store) -> None:
    pets.campaigns.add("c", "pets", docs=[*DOCS, ("1", "x"), ("1", "y")], scale="S4")
    page = local.get("/judge/c?topic=1", headers=HTML).text
    (item,) = re.findall('id="answer".*\n<input type="hidden" name="item" value="([0-9]+)">', page)
    targets = re.findall('<form method="post" action="(/judged/c[^"]*)"', page)
    assert targets == ["/judged/c?topic=1"] * 2
    answer = local.post(targets[0], data={"item": item, "id": "0123456789", "label": "1"})
    assert answer.headers["location"] == "/judge/c?topic=1"
    assert f'href="/judge/c?item={item}&amp;topic=1"' in local.get("/judge/c?topic=1", headers=HTML).text
