"""Crowd experiments over HTTP: an organiser makes one, workers come by its link, and odd requests change nothing."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from fastapi.testclient import TestClient

from assay.store import Store
from assay.store.crowd_experiment import CrowdExperiment
from assay.store.experiment_schema import submissions
from assay.store.schema import sa
from assay.web.rendering import POLICY
from assay.web.routes.crowd_pages import ANSWER_BYTES
from tests.store.crowd_workers import answer_rows, experiment
from tests.web.conftest import HOSTILE

JSON = {"accept": "application/json"}
HTML = {"accept": "text/html"}


@pytest.fixture
def own(pets: Store) -> CrowdExperiment:
    """An experiment whose name and texts try to be markup."""
    for doc in "abcdefgh":
        pets.collections.add_docs("pets", {doc: {"title": HOSTILE, "text": f"{doc} {HOSTILE}"}})
    return experiment(pets, f"x {HOSTILE}", title=HOSTILE, consent=HOSTILE, guidelines=HOSTILE)


def answers(store: Store) -> int:
    with store.database.reading() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(submissions)).scalar_one())


def plan_of(client: TestClient, own: CrowdExperiment, worker: str) -> dict[str, Any]:
    got = client.get(f"{own.link}&worker={quote(worker)}", headers=JSON)
    assert got.status_code == 200, got.text
    plan: dict[str, Any] = got.json()
    return plan


def right(own: CrowdExperiment, worker: str, *, turned: bool = False) -> list[float]:
    given = own.given(worker)
    assert given is not None
    labels = [60 if row.gold is None else 20 + 30 * row.gold for row in given.rows]
    return [100 - label for label in labels] if turned else labels


def test_workers_need_the_link_and_no_account(outside: TestClient, own: CrowdExperiment) -> None:
    for page in (
        "/experiments",
        f"/experiment/{quote(own.name, safe='')}",
        f"/experiment-file/{quote(own.name, safe='')}",
    ):
        assert outside.get(page, headers=JSON).status_code == 401
    got = outside.get(f"{own.link}&worker=w1", headers=HTML)
    assert got.status_code == 200
    assert got.headers["content-security-policy"] == POLICY
    assert HOSTILE not in got.text
    assert "<style" not in got.text
    assert got.text.count("<script") == 2, "the data of the task, and a script of this server"
    assert "gold" not in got.text
    path, query = urlsplit(own.link).path, parse_qs(urlsplit(own.link).query)
    assert len(query["key"][0]) >= 32
    for wrong in ("", "?key=", "?key=wrong&worker=w1", f"?key={query['key'][0][:-1]}&worker=w1"):
        refused = outside.get(path + wrong, headers=HTML)
        assert refused.status_code == 404
        assert "This link is not valid" in refused.text
        assert outside.post(path + wrong, json={"id": "12345678", "rows": []}, headers=JSON).status_code == 404
    other = outside.get(f"/crowd/nothing?key={query['key'][0]}&worker=w1")
    assert other.status_code == 404
    for name in ("task.js", "task.css"):
        assert outside.get(f"/static/{name}").status_code == 200


def test_a_worker_without_an_id_is_asked_for_it(outside: TestClient, own: CrowdExperiment) -> None:
    got = outside.get(own.link, headers=HTML)
    assert 'name="worker"' in got.text
    assert own.given("somebody else") is not None
    assert outside.get(f"{own.link}&worker={'w' * 300}", headers=JSON).status_code == 400
    assert outside.get(f"{own.link}&worker=%00", headers=JSON).status_code == 400
    assert outside.get(f"{own.link}&worker=a%07b", headers=JSON).status_code == 400


def test_a_task_from_the_first_attempt_to_the_code(outside: TestClient, own: CrowdExperiment, pets: Store) -> None:
    plan = plan_of(outside, own, "w1")
    where = plan["server"]["address"]
    sent = {"id": "first-attempt", "rows": answer_rows(plan, right(own, "w1", turned=True))}
    first = outside.post(where, json=sent, headers=JSON)
    assert (first.status_code, first.json()["state"], first.json()["attempt"]) == (200, "again", 2)
    assert outside.post(where, json=sent, headers=JSON).json() == {**first.json(), "again": True}
    plan = plan_of(outside, own, "w1")
    assert plan["server"]["attempt"] == 2
    sent = {"id": "second-attempt", "rows": answer_rows(plan, right(own, "w1"))}
    second = outside.post(where, json=sent, headers=JSON).json()
    assert second["state"] == "accepted"
    assert answers(pets) == 2
    # The code is shown again with the next task, and where there is none.
    assert plan_of(outside, own, "w1")["server"]["codes"] == [second["code"]]
    own.close()
    closed = outside.get(f"{own.link}&worker=w2", headers=HTML)
    assert "The experiment is closed" in closed.text


def test_odd_answers_are_refused_and_nothing_is_stored(outside: TestClient, own: CrowdExperiment, pets: Store) -> None:
    plan = plan_of(outside, own, "w1")
    where = plan["server"]["address"]
    good = answer_rows(plan, right(own, "w1"))
    other = plan_of(outside, own, "w2")
    bodies: list[Any] = [
        b"", b"{", b"\xff\xfe", b"[" * 5000, b'{"id": 1e999}', json.dumps({"rows": good}).encode(),
        {}, [], "x", None, 7, {"id": 5, "rows": good}, {"id": "short", "rows": good}, {"id": "x" * 200, "rows": good},
        {"id": "\x00\x00\x00\x00\x00\x00\x00\x00", "rows": good}, {"id": "12345678"}, {"id": "12345678", "rows": {}},
        {"id": "12345678", "rows": good[:-1]}, {"id": "12345678", "rows": [*good, good[0]]},
        {"id": "12345678", "rows": [{**good[0], "label": None}, *good[1:]]},
        {"id": "12345678", "rows": answer_rows(other, right(own, "w1"), worker="w1")},
        {"id": "12345678", "rows": answer_rows(plan, [10**20] * 4)},
        {"id": "12345678", "rows": answer_rows(plan, right(own, "w1"), task="\x00")},
        {"id": "12345678", "rows": answer_rows(plan, right(own, "w1"), answer={"a": 1}, code="x")},
    ]  # fmt: skip
    for body in bodies:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        got = outside.post(where, content=content, headers=JSON)
        assert got.status_code in (400, 422), (body, got.text)
        assert got.json()["error"]
    huge = json.dumps({"id": "12345678", "rows": good, "more": "x" * ANSWER_BYTES}).encode()
    assert outside.post(where, content=huge, headers=JSON).status_code == 413
    assert outside.post(where, content=iter([huge]), headers=JSON).status_code == 413, "also without a length"
    foreign = {**JSON, "origin": "https://elsewhere.example"}
    assert outside.post(where, json={"id": "12345678", "rows": good}, headers=foreign).status_code == 403
    assert answers(pets) == 0
    assert outside.post(where, json={"id": "12345678", "rows": good}, headers=JSON).json()["state"] == "accepted"
    again = outside.post(where, json={"id": "87654321", "rows": good}, headers=JSON)
    assert (again.status_code, answers(pets)) == (400, 1)


FORM = {
    "collection": "pets", "pool": "1 a\n1 b\n1 c\n1 d\n", "gold": "1 g 0\n1 h 2\n", "docs": "4", "workers": "2",
    "questions": "topic,question,options,answer\n1,What?,cats|cars,cats\n", "seconds": "", "moved": "0",
}  # fmt: skip


def test_an_organiser_estimates_starts_follows_and_exports(local: TestClient, pets: Store) -> None:
    for doc in "abcdefgh":
        pets.collections.add_docs("pets", {doc: f"text of {doc}"})
    estimate = local.post("/experiments", data={**FORM, "what": "estimate"}, headers=HTML)
    assert estimate.status_code == 200
    assert "What the tasks will cost" in estimate.text
    assert "1 a\n1 b" in estimate.text, "the form keeps what was written"
    assert pets.experiments.listed() == []
    started = local.post("/experiments", data={**FORM, "what": "start", "name": f"s {HOSTILE}"}, headers=HTML)
    assert started.status_code == 303
    where = started.headers["location"]
    page = local.get(where, headers=HTML)
    own = pets.experiments[f"s {HOSTILE}"]
    assert HOSTILE not in page.text
    assert own.key in page.text
    plan = plan_of(local, own, "w1")
    sent = {"id": "the-only-one", "rows": answer_rows(plan, right(own, "w1"), answer="cats")}
    assert local.post(plan["server"]["address"], json=sent).json()["state"] == "accepted"
    record = local.get(where, headers=JSON).json()
    assert (record["standing"]["done"], record["standing"]["tasks"]) == (1, 4)
    assert record["standing"]["cost"] == pytest.approx(0.24)
    assert "workers" in record["checks"]
    base = f"/experiment-file/{quote(own.name, safe='')}"
    header = "topic,doc,worker,label,task,position,seconds,attempt,gold,back,tested"
    assert local.get(f"{base}?what=labels").text.splitlines()[0] == header
    for what in ("accepted", "rejected", "bonus", "workers", "tasks"):
        assert local.get(f"{base}?what={what}").status_code == 200
    assert local.get(f"{base}?what=secrets", headers=JSON).status_code == 400
    local.post(where, data={"what": "close"})
    assert not own.is_open
    assert HOSTILE not in local.get("/experiments", headers=HTML).text


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": ""}, "name of the experiment is empty"),
        ({"collection": "nowhere"}, "no collection"),
        ({"pool": "1\n"}, "docs:1"),
        ({"gold": "1 g much\n1 h 2"}, "gold:1"),
        ({"questions": "topic,question\n1,x"}, "test questions"),
        ({"docs": "many"}, "docs: 'many' is no whole number"),
        ({"seconds": "some"}, "seconds: 'some' is no number"),
        ({"docs": "0"}, "docs is 0"),
        ({"form": "shouting"}, "form"),
        ({"pay": "inf"}, "pay is inf"),
        ({"failing": "1"}, "of the tasks fail"),
        ({"scale": "x"}, "scale"),
    ],
)
def test_a_form_that_does_not_work_says_why(local: TestClient, pets: Store, changes: dict[str, str], says: str) -> None:
    for doc in "abcdefgh":
        pets.collections.add_docs("pets", {doc: f"text of {doc}"})
    got = local.post("/experiments", data={**FORM, "what": "start", "name": "x", **changes}, headers=JSON)
    assert got.status_code == 400, got.text
    assert says in got.json()["error"]
    assert pets.experiments.listed() == []


def test_what_was_typed_stays_in_the_form_of_an_experiment_that_is_refused(local: TestClient, pets: Store) -> None:
    said = {"name": "mine", "collection": "pets", "title": "A title", "gold": "1 a 2", "gold_docs": "1", "pay": "0.35"}
    for what in ("estimate", "start"):
        answer = local.post("/experiments", data={**said, "what": what}, headers=HTML)
        assert answer.status_code == 400
        assert "give more gold docs of the topic, or have fewer in a task" in answer.text
        assert 'value="A title"' in answer.text
        assert 'value="0.35"' in answer.text
        assert "1 a 2</textarea>" in answer.text
    assert pets.experiments.listed() == []


def test_what_is_no_number_stays_in_the_form_of_an_experiment(local: TestClient, pets: Store) -> None:
    said = {"name": "mine", "collection": "pets", "title": "A title", "gold": "1 a 2", "pay": "abc", "moved": "one"}
    for what in ("estimate", "start"):
        answer = local.post("/experiments", data={**said, "what": what}, headers=HTML)
        assert answer.status_code == 400
        assert "moved: &#39;one&#39; is no whole number" in answer.text
        for typed in ("A title", "abc", "one"):
            assert f'value="{typed}"' in answer.text
        assert "1 a 2</textarea>" in answer.text
    assert pets.experiments.listed() == []
