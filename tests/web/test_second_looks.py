"""Machine labels on the pages: an organiser adds them, an assessor sees them after judging and on demand only."""

from __future__ import annotations

from fastapi.testclient import TestClient

from assay.store import Store

JSON = {"accept": "application/json"}
FILE = "topic,doc,worker,label\n1,a,gpt-secret,3\n1,b,gpt-secret,0\n"


def test_machine_labels_come_after_the_human_ones(pets: Store, local: TestClient) -> None:
    campaign = pets.campaigns.add("first", "pets", docs=[("1", "a"), ("1", "b")])
    sent = local.post("/machine/first", files={"labels": ("judges.csv", FILE)})
    assert sent.status_code == 303
    assert "gpt-secret" in local.get("/campaign/first").text, "the organiser sees which judges there are"
    asked = local.get("/judge/first", headers=JSON)
    item = asked.json()["items"][0]["item"]
    for answer in (
        asked,
        local.get("/judge/first"),
        local.get("/second/first"),
        local.get("/second/first", headers=JSON),
    ):
        assert "gpt-secret" not in answer.text
    early = local.post("/second/first", data={"item": item}, headers=JSON)
    assert (early.status_code, early.json()["error"][:19]) == (400, "judge the doc first")
    assert local.get(f"/second/first?item={item}", headers=JSON).status_code == 400
    given = {"id": "0123456789", "kind": "label", "item": item, "label": 0}
    said = local.post("/judge/first?next=5", json=given, headers=JSON)
    assert said.json()["counted"]
    assert [len(said.json()["items"]), said.json()["progress"]["mine"]] == [1, 1]
    assert "gpt-secret" not in said.text
    waiting = local.get("/second/first", headers=JSON)
    assert [one["doc"] for one in waiting.json()["docs"]] == ["a"]
    assert "gpt-secret" not in waiting.text + local.get(f"/second/first?item={item}").text
    shown = local.post("/second/first", data={"item": item})
    assert shown.headers["location"] == f"/second/first?item={item}"
    page = local.get(shown.headers["location"])
    assert "gpt-secret" in page.text
    assert local.get(f"/second/first?item={item}", headers=JSON).json()["doc"]["machine"] == {"gpt-secret": 3.0}
    form = {"item": item, "id": "abcdefghij", "label": "2", "back": "second"}
    assert local.post("/judged/first", data=form).headers["location"] == "/second/first"
    assert [(one.label, one.second_look) for one in campaign.history()] == [(0.0, False), (2.0, True)]
    assert "1\ta\tlocal\t0" in local.get("/labels/first?what=first").text
    assert "1\ta\tlocal\t2" in local.get("/labels/first").text


def test_a_doc_of_another_campaign_is_not_shown(pets: Store, local: TestClient) -> None:
    first = pets.campaigns.add("first", "pets", docs=[("1", "a")])
    other = pets.campaigns.add("other", "pets", docs=[("1", "b")], scale="S100")
    person = pets.people.without_token("local")
    item = other.item("1", "b").item
    other.judge(person, item, 77)
    for answer in (
        local.get(f"/second/first?item={item}", headers=JSON),
        local.post("/second/first", data={"item": item}, headers=JSON),
    ):
        assert (answer.status_code, answer.json()["error"][:19]) == (400, "judge the doc first")
    assert local.get(f"/second/other?item={item}", headers=JSON).json()["doc"]["given"]["label"] == 77
    assert first.given_of(person, item) is None


def test_a_bad_file_of_machine_labels_is_one_sentence(pets: Store, local: TestClient) -> None:
    pets.campaigns.add("first", "pets", docs=[("1", "a")])
    for content in ("", "topic,doc,worker,label\n1,a,gpt,many\n", "topic,doc,worker,label\n1,a,gpt,9\n", "x\n"):
        answer = local.post("/machine/first", files={"labels": ("judges.csv", content)}, headers=JSON)
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]
    assert pets.campaigns["first"].machine.judges() == {}


def test_only_organisers_add_machine_labels(pets: Store, outside: TestClient) -> None:
    pets.campaigns.add("first", "pets", docs=[("1", "a")])
    _, token = pets.people.add("ann")
    asked = {"authorization": f"Bearer {token}", **JSON}
    assert outside.post("/machine/first", files={"labels": ("j.csv", FILE)}, headers=asked).status_code == 403
