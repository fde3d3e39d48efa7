"""Nobody gets in without a token once it leaves the loopback, and no other site can act for who is in."""

from __future__ import annotations

import logging

import pytest
from fastapi.testclient import TestClient

from assay.core.errors import UsageError
from assay.store import Store
from assay.web import serve
from assay.web.access import ATTEMPTS, is_loopback

JSON = {"accept": "application/json"}


def token_of(store: Store, role: str) -> str:
    return store.people.add(role, role)[1]


def test_without_a_token_nothing_is_shown(outside: TestClient) -> None:
    for where in ("/", "/collection/pets", "/across", "/people", "/openapi.json"):
        assert outside.get(where, headers=JSON).status_code == 401
        page = outside.get(where, headers={"accept": "text/html"})
        assert page.status_code == 303
        assert page.headers["location"].startswith("/login?next=")
    assert outside.get("/login").status_code == 200
    assert outside.get("/static/style.css").status_code == 200


def test_a_token_logs_in_and_out(outside: TestClient, pets: Store) -> None:
    token = token_of(pets, "reader")
    answer = outside.post("/login", data={"token": token, "next": "/collection/pets"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/collection/pets"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" in cookie
    assert outside.get("/collection/pets").status_code == 200
    outside.post("/logout")
    outside.cookies.clear()
    assert outside.get("/collection/pets", headers=JSON).status_code == 401


def test_a_program_sends_its_token_in_a_header(outside: TestClient, pets: Store) -> None:
    token = token_of(pets, "reader")
    assert outside.get("/", headers={**JSON, "authorization": f"Bearer {token}"}).status_code == 200
    assert outside.get("/", headers={**JSON, "authorization": "Bearer wrong"}).status_code == 401


def test_login_leads_nowhere_else(outside: TestClient, pets: Store) -> None:
    token = token_of(pets, "reader")
    for elsewhere in ("https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "javascript:x"):
        answer = outside.post("/login", data={"token": token, "next": elsewhere})
        assert answer.headers["location"] == "/"


def test_wrong_tokens_are_limited(outside: TestClient, pets: Store) -> None:
    for _ in range(ATTEMPTS):
        assert outside.post("/login", data={"token": "wrong"}).status_code == 401
    token = token_of(pets, "reader")
    assert outside.post("/login", data={"token": token}).status_code == 429


def test_roles(outside: TestClient, pets: Store) -> None:
    reader = {"authorization": f"Bearer {token_of(pets, 'reader')}", **JSON}
    assessor = {"authorization": f"Bearer {token_of(pets, 'assessor')}", **JSON}
    organiser = {"authorization": f"Bearer {token_of(pets, 'organiser')}", **JSON}
    assert outside.get("/people", headers=reader).status_code == 403
    assert outside.get("/people", headers=assessor).status_code == 403
    answer = outside.post("/people", headers=organiser, data={"name": "eve", "role": "reader"})
    assert answer.status_code == 200
    new = {"authorization": f"Bearer {answer.json()['token']}", **JSON}
    assert outside.get("/", headers=new).status_code == 200
    assert answer.json()["token"] not in outside.get("/people", headers=organiser).text
    assert outside.post("/people/eve", headers=organiser, data={"what": "end"}).status_code == 200
    assert outside.get("/", headers=new).status_code == 401
    run = pets.runs.listed("pets")[0]
    assert outside.post(f"/run/{run.short}", headers=reader, data={"team": "x"}).status_code == 403
    assert outside.post(f"/run/{run.short}", headers=assessor, data={"team": "x"}).status_code == 400
    assert outside.post(f"/run/{run.short}", headers=organiser, data={"team": "x"}).status_code == 303
    assert pets.runs[run.hash].team == "x"


def test_a_private_run_is_nowhere_for_others(outside: TestClient, pets: Store) -> None:
    reader = {"authorization": f"Bearer {token_of(pets, 'reader')}", **JSON}
    secret = next(run for run in pets.runs.listed("pets") if run.tag == "secret")
    address = pets.scores.certify(secret.hash).address
    other = next(run for run in pets.runs.listed("pets") if run.tag == "bm25")
    for where in (
        f"/run/{secret.short}",
        f"/run/{secret.short}/file",
        f"/score/{address}",
        f"/compare?run={other.short}&run={secret.short}",
        f"/topic/pets?topic=1&run={secret.short}",
        f"/run/{other.short}?baseline={secret.short}",
    ):
        assert outside.get(where, headers=reader).status_code == 404, where
    for where in ("/collection/pets", f"/run/{other.short}", "/across", "/topic/pets?topic=1"):
        assert "secret" not in outside.get(where, headers={**reader, "accept": "text/html"}).text, where


def test_a_form_of_another_site_changes_nothing(local: TestClient, pets: Store) -> None:
    foreign = {"origin": "https://elsewhere.example"}
    assert local.post("/people", headers=foreign, data={"name": "eve"}).status_code == 403
    assert local.post("/people", headers={"sec-fetch-site": "cross-site"}, data={"name": "eve"}).status_code == 403
    assert local.post("/people", headers={"origin": "null"}, data={"name": "eve"}).status_code == 403
    assert "eve" not in [person.name for person in pets.people.listed()]
    assert local.post("/people", headers={"origin": "http://127.0.0.1"}, data={"name": "eve"}).status_code == 200


def test_without_tokens_only_this_machine_is_answered(local: TestClient) -> None:
    assert local.get("/", headers={"host": "elsewhere.example"}).status_code == 421
    assert local.get("/", headers={"host": "127.0.0.1:8765"}).status_code == 200


def test_another_host_does_not_start_without_tokens(pets: Store) -> None:
    with pytest.raises(UsageError, match="no organiser has one"):
        serve(pets, host="0.0.0.0", port=0)
    assert not is_loopback("192.168.1.5")
    assert not is_loopback("example.org")
    assert is_loopback("::1")


def test_no_token_is_logged(outside: TestClient, pets: Store, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    token = token_of(pets, "reader")
    outside.post("/login", data={"token": token})
    outside.get("/", headers={"authorization": f"Bearer {token}"})
    assert token not in caplog.text


def test_large_requests_are_refused(local: TestClient) -> None:
    answer = local.post("/login", headers={"content-length": str(1 << 40)}, content=b"x")
    assert answer.status_code == 413
