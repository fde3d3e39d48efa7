"""Uploads: told the line first, stored only when the checks pass, bounded, and nothing left behind."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from assay.store import Store

JSON = {"accept": "application/json"}
GOOD = b"1 Q0 a 1 2.5 mine\n1 Q0 b 2 1.5 mine\n2 Q0 c 1 9 mine\n"
BAD = b"1 Q0 a 1 2.5 mine\n1 Q0 b 2 many mine\n"


def sent(client: TestClient, *files: tuple[str, bytes], **data: str) -> Any:
    listed = [("file", (name, io.BytesIO(content))) for name, content in files]
    return client.post("/upload", files=listed, data={"collection": "pets", **data}, headers=JSON)


def test_a_bad_run_is_told_its_line_and_not_stored(local: TestClient, pets: Store) -> None:
    before = {run.hash for run in pets.runs.listed("pets")}
    files = sorted(path for path in pets.files.folder.rglob("*") if path.is_file())
    answer = sent(local, ("bad.run", BAD), ("good.run", GOOD))
    assert answer.status_code == 400
    assert any(finding.startswith("bad.run:2: ") and "many" in finding for finding in answer.json()["findings"])
    assert {run.hash for run in pets.runs.listed("pets")} == before
    assert sorted(path for path in pets.files.folder.rglob("*") if path.is_file()) == files


def test_a_good_run_gets_its_page_at_once(local: TestClient, pets: Store) -> None:
    answer = sent(
        local, ("good.run.gz", gzip.compress(GOOD)), team="lab", year="2026", type="manual", visibility="link"
    )
    assert answer.status_code == 303
    page = local.get(answer.headers["location"], headers=JSON).json()
    assert (page["tag"], page["team"], page["year"], page["type"], page["visibility"]) == (
        "mine",
        "lab",
        2026,
        "manual",
        "link",
    )
    assert page["facts"]["mean"] > 0
    again = sent(local, ("other-name.run", GOOD))
    assert again.headers["location"] == answer.headers["location"]


def test_who_insists_stores_what_can_be_read(local: TestClient, pets: Store) -> None:
    assert sent(local, ("bad.run", BAD), anyway="yes").status_code == 303
    stored = next(run for run in pets.runs.listed("pets") if run.tag == "mine")
    assert pets.runs.read(stored.hash).to_dict() == {"1": {"a": 2.5}}


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.run", b"", "empty"),
        ("../../etc/passwd", b"1 0 a 1\n", "passwd"),
        ("cut.run.gz", gzip.compress(GOOD)[:-9], "ends in the middle"),
        ("<script>.run", b"\x00\x01\x02", "script"),
    ],
    ids=["empty", "path", "cut", "binary"],
)
def test_odd_files_are_one_sentence(name: str, content: bytes, says: str, local: TestClient, pets: Store) -> None:
    runs = len(pets.runs.listed("pets"))
    answer = sent(local, (name, content))
    assert answer.status_code == 400
    said = " ".join(answer.json()["problems"] + answer.json()["findings"])
    assert says in said
    assert len(pets.runs.listed("pets")) == runs


def test_a_bomb_is_stopped(local: TestClient, pets: Store) -> None:
    line = b"1 Q0 a 1 2.5 mine\n" * 1000
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as file:
        for _ in range(700):
            file.write(line)
    assert len(packed.getvalue()) < 100_000
    answer = sent(local, ("bomb.run.gz", packed.getvalue()))
    assert answer.status_code == 400


def test_a_collection_is_made_of_what_is_sent(local: TestClient, pets: Store) -> None:
    files = {
        "qrels": ("q.txt", io.BytesIO(b"1 0 a 1\n1 0 b 0\n")),
        "topics": ("t.tsv", io.BytesIO(b"1\tsmall birds\n")),
        "docs": ("d.tsv", io.BytesIO(b"a\tthe wren\nb\tthe whale\n")),
    }
    answer = local.post("/collections", files=files, data={"name": "a/b <i>", "measure": "AP"}, headers=JSON)
    assert answer.status_code == 303
    page = local.get(answer.headers["location"], headers=JSON)
    assert page.status_code == 200
    assert page.json()["collection"]["name"] == "a/b <i>"
    assert pets.collections.topics("a/b <i>").queries() == {"1": "small birds"}
    assert pets.collections.docs("a/b <i>", ["a"])["a"]["text"] == "the wren"
    assert local.post("/collections", data={"name": "a/b <i>"}, headers=JSON).status_code == 400


def test_a_reader_cannot_upload(outside: TestClient, pets: Store) -> None:
    token = pets.people.add("ann", "reader")[1]
    answer = outside.post(
        "/upload",
        files=[("file", ("good.run", io.BytesIO(GOOD)))],
        data={"collection": "pets"},
        headers={**JSON, "authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 403
    assert not any(run.tag == "mine" for run in pets.runs.listed("pets"))


def test_an_archive_is_named(local: TestClient, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "runs.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("x"))
    assert sent(local, ("runs.tar", (tmp_path / "runs.tar").read_bytes())).status_code == 400


def test_what_was_typed_stays_in_the_form_of_an_upload_that_is_refused(local: TestClient, pets: Store) -> None:
    said = {"team": "lab <b>", "year": "1999", "type": "manual", "paper": "A paper", "visibility": "private"}
    files = [("file", ("bad.run", io.BytesIO(BAD)))]
    answer = local.post("/upload", files=files, data={"collection": "pets", **said}, headers={"accept": "text/html"})
    assert answer.status_code == 400
    assert "nothing was stored" in answer.text
    for name in ("team", "year", "paper"):
        typed = said[name].replace("<", "&lt;").replace(">", "&gt;")
        assert re.search(f'name="{name}"[^>]* value="{typed}"', answer.text)
    for name in ("manual", "private"):
        assert f'<option value="{name}" selected>' in answer.text


@pytest.mark.parametrize(("year", "says"), [("abc", "not a whole number"), ("99999", "is not between 1900 and 2200")])
def test_what_was_typed_stays_beside_a_year_that_is_refused(
    year: str, says: str, local: TestClient, pets: Store
) -> None:
    said = {"collection": "pets", "team": "my lab", "year": year, "visibility": "private", "paper": "A paper"}
    files = [("file", ("good.run", io.BytesIO(GOOD)))]
    answer = local.post("/upload", files=files, data=said, headers={"accept": "text/html"})
    assert answer.status_code == 400
    assert re.search(f'<p class="problem"[^>]*>[^<]*{says}', answer.text)
    for name in ("team", "year", "paper"):
        assert re.search(f'name="{name}"[^>]* value="{said[name]}"', answer.text)
    assert '<option value="private" selected>' in answer.text
    assert not any(run.tag == "mine" for run in pets.runs.listed("pets"))
