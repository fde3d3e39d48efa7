"""A workbench over a small store, with names that try to be markup."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from assay.data import Run
from assay.store import Store
from assay.web import workbench
from tests.store.conftest import address, new_database, postgres, store  # noqa: F401

HOSTILE = "<script>alert(1)</script>"
TOPICS = {"1": "cats and dogs", "2": "birds", "3": "fish", HOSTILE: f"{HOSTILE} & more"}


def filled(made: Store) -> Store:
    """A collection with four topics and four runs, one of them private and one called as a script."""
    made.collections.add(
        "pets", title="Pets", topics=TOPICS, docs={"a": f"cats {HOSTILE}", "b": "dogs"}, measure="nDCG@10"
    )
    made.qrels.add("pets", {topic: {"a": 2, "b": 0, "c": 1} for topic in TOPICS})
    lists = {"bm25": "bac", "dense": "acb", HOSTILE: "abx", "secret": "cxy"}
    for number, (tag, docs) in enumerate(lists.items()):
        ranked = {topic: list(docs[number % 2 :] if topic == "2" else docs) for topic in TOPICS}
        facts: dict[str, Any] = {"team": HOSTILE, "manual": number == 1}
        facts["visibility"] = "private" if tag == "secret" else "public"
        made.runs.add("pets", Run.from_lists(tag, ranked), year=2020 + number, **facts)
    return made


@pytest.fixture
def pets(tmp_path: Path) -> Iterator[Store]:
    """A filled store on SQLite."""
    with Store(tmp_path / "store") as made:
        yield filled(made)


@pytest.fixture
def local(pets: Store) -> Iterator[TestClient]:
    """Who works on the machine of the store, without a token."""
    app = workbench(pets, tokens=False, hosts=frozenset({"127.0.0.1"}))
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        yield client


@pytest.fixture
def outside(pets: Store) -> Iterator[TestClient]:
    """Somebody who comes over the network, without a token as yet."""
    app = workbench(pets, tokens=True)
    with TestClient(app, base_url="https://assay.example", follow_redirects=False) as client:
        yield client
