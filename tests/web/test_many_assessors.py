"""Fifty people judge over HTTP at once: every doc ends with exactly k labels, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from pathlib import Path

import pytest

from assay.store import Store
from assay.web.serving import _listening
from tests.store.cluster import free_port
from tests.web.judging_load import Served, acknowledged, campaign_of, judging

PEOPLE = 50
DOCS = 150
SECONDS = 60
"""When the test gives up; it takes a few seconds."""


@pytest.mark.parametrize("labels", [2, 3])
def test_fifty_people_over_http_give_every_doc_exactly_k_labels(address: tuple[str, Path], labels: int) -> None:
    where, files = address
    with Store(where, files=files) as store:
        tokens = campaign_of(store, DOCS, PEOPLE, labels=labels, away=SECONDS)  # nobody is, on a busy machine either
    server = Served(where, free_port())
    server.start()
    try:
        with judging(server.port, tokens) as people:
            deadline = time.monotonic() + SECONDS
            while acknowledged(people) < labels * DOCS and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.3)  # whoever still asks must get nothing
    finally:
        server.end()
    said = [id for one in people for id in one.acknowledged]
    assert len(said) == len(set(said)) == labels * DOCS
    assert [one.refused for one in people if one.refused] == []
    assert [one.twice for one in people if one.twice] == [], "somebody got a doc again"
    with Store(where, files=files) as store:
        campaign = store.campaigns["load"]
        given = campaign.labels()
        per_doc = Counter(given.doc.tolist())
        assert len(per_doc) == DOCS
        assert set(per_doc.values()) == {labels}
        per_person = Counter(zip(given.doc.tolist(), given.worker.tolist(), strict=True))
        assert set(per_person.values()) == {1}
        assert {one.id for one in campaign.history()} == set(said), "the log has what was acknowledged, and no more"
        assert store.check().errors == 0


def test_an_answer_leaves_the_server_at_once() -> None:
    """asyncio does not hold back the end of an answer on sockets that say they are TCP, and on no others."""

    async def sends_at_once() -> int:
        accepted: asyncio.Queue[int] = asyncio.Queue()

        def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted.put_nowait(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = _listening("127.0.0.1", 0)
        async with await asyncio.start_server(connected, sock=listening):
            _, client = await asyncio.open_connection(*listening.getsockname())
            is_set = await asyncio.wait_for(accepted.get(), 20)
            client.close()
        return is_set

    assert asyncio.run(sends_at_once()) != 0
