"""Every address with odd values in every place: an answer or one sentence, never a fault of the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from assay.store import Store
from assay.web import workbench

ODD = (
    "",
    "x",
    "-1",
    "1e999",
    "nan",
    "\x00",
    "é" * 300,
    "../..",
    "<script>",
    "'; DROP TABLE runs; --",
    "9" * 40,
    "a\nb",
)
JSON = {"accept": "application/json"}


def calls(
    schema: dict[str, Any], known: dict[str, str]
) -> Iterator[tuple[str, str, dict[str, str], dict[str, str] | None]]:
    """Method, path, query and form: each parameter in turn with every odd value, the others with good ones."""
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parameters = operation.get("parameters", [])
            fields = _fields(schema, operation)
            for name in [p["name"] for p in parameters] + list(fields):
                for value in ODD:
                    given = {**known, name: value}
                    query = {p["name"]: given.get(p["name"], "1") for p in parameters if p["in"] == "query"}
                    form = {field: given.get(field, "1") for field in fields} if fields else None
                    yield method, _filled(path, given), query, form


def _fields(schema: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {})
    for kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        if kind in content:
            name = content[kind]["schema"]["$ref"].rpartition("/")[2]
            return list(schema["components"]["schemas"][name]["properties"])
    return []


def _filled(path: str, given: dict[str, str]) -> str:
    from urllib.parse import quote

    for part in ("name", "hash", "where"):
        path = path.replace(f"{{{part}}}", quote(given.get(part, "x"), safe=""))
    return path


@pytest.mark.parametrize("which", ["pets", "first"])
def test_no_request_is_a_fault(which: str, pets: Store) -> None:
    pets.campaigns.add("first", "pets", order="hedge", depth=3)
    experiment = pets.experiments.add("first", "pets", pool={"1": ["a", "b"]}, workers=1)
    run = pets.runs.listed("pets")[0]
    known = {"name": which, "hash": run.short, "topic": "1", "run": run.short, "collection": "pets"}
    known["key"] = experiment.key
    known["where"] = pets.scores.certify(run.hash).address
    app = workbench(pets, tokens=False, hosts=frozenset({"127.0.0.1"}))
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False, raise_server_exceptions=False) as client:
        schema = app.openapi()
        made = 0
        for method, path, query, form in calls(schema, known):
            answer = client.request(method, path, params=query, data=form, headers=JSON)
            assert answer.status_code < 500, (method, path, query, form, answer.text)
            made += 1
        assert made > 500
        bodies: tuple[Any, ...] = (
            {}, [], "x", {"id": "a", "kind": "label"}, {"id": "", "kind": "skip", "item": 1}, {"kind": 7},
        )  # fmt: skip
        for body in bodies:
            answer = client.post("/judge/first", json=body, headers=JSON)
            assert answer.status_code in (400, 422), (body, answer.text)


def test_an_answer_must_be_json_of_the_right_shape(pets: Store) -> None:
    campaign = pets.campaigns.add("first", "pets", order="hedge", depth=3)
    (asked,) = campaign.next(pets.people.without_token("local"))
    fine = json.dumps({"id": "an-answer", "kind": "skip", "item": asked.item})
    as_json = {**JSON, "content-type": "application/json"}
    wrong: dict[str, tuple[str, dict[str, str], str]] = {
        "content type 'text/plain'": (fine, {**JSON, "content-type": "text/plain"}, ""),
        "content type ''": (fine, JSON, ""),
        "Invalid JSON": ("{", as_json, ""),
        "kind: Input should be 'label'": (fine.replace("skip", "skips"), as_json, ""),
        "id: String should have at least 8": (fine.replace("an-answer", "short"), as_json, ""),
        "next: Input should be less than": (fine, as_json, "?next=51"),
        "next: Input should be a valid integer": (fine, as_json, "?next=x"),
    }
    app = workbench(pets, tokens=False, hosts=frozenset({"127.0.0.1"}))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        for sentence, (body, headers, query) in wrong.items():
            answer = client.post(f"/judge/first{query}", content=body, headers=headers)
            assert answer.status_code == 422
            assert sentence in answer.json()["error"]
        foreign = client.post("/judge/first", content=fine, headers={**as_json, "origin": "https://elsewhere.example"})
        assert foreign.status_code == 403
        assert campaign.history() == []
        assert client.post("/judge/first?next=2", content=fine, headers=as_json).status_code == 200
        assert len(campaign.history()) == 1
        assert client.delete("/judge/first", headers=JSON).status_code == 405
        assert client.get("/judge/first", headers=JSON).status_code == 200
        described = app.openapi()["paths"]["/judge/{name}"]["post"]
        assert [one["name"] for one in described["parameters"]] == ["name", "next", "topic"]
