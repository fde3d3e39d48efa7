"""Many people at once, and processes that are killed: every doc ends with k labels, and nothing said is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assay.data import Run
from assay.store import Store
from assay.store.judging_campaign import JudgingCampaign

TOPICS = 4
DOCS = 30


def filled(store: Store, people: int, **choices: Any) -> JudgingCampaign:
    """A campaign over two runs of some topics."""
    store.collections.add("c")
    for tag, step in (("a", 1), ("b", -1)):
        lists = {str(t): [f"d{t}-{i}" for i in range(DOCS)][::step] for t in range(TOPICS)}
        store.runs.add("c", Run.from_lists(tag, lists))
    for number in range(people):
        store.people.add(f"p{number}")
    return store.campaigns.add("c", "c", **choices)


def work(campaign: JudgingCampaign, name: str, errors: list[BaseException]) -> None:
    """Judge until nothing is left: fresh docs, some skips, some taken back, some sent twice."""
    chance = random.Random(name)
    idle = 0
    try:
        while idle < 20:
            asked = campaign.next(name)
            if not asked:  # others may still hold docs that they will skip
                idle += 1
                time.sleep(0.01)
                continue
            idle = 0
            item = asked[0].item
            if chance.random() < 0.1:
                campaign.skip(name, item)
                continue
            id = f"{name}-{item}-{chance.random()}"
            campaign.judge(name, item, chance.randrange(4), id=id)
            if chance.random() < 0.1:
                campaign.judge(name, item, campaign.given(name, 1)[0].label, id=id)
            if chance.random() < 0.1:
                campaign.undo(name, id)
                campaign.judge(name, item, chance.randrange(4))
    except BaseException as error:
        errors.append(error)
        raise


@pytest.mark.parametrize("choices", [{"pool": "depth"}, {"order": "hedge"}], ids=str)
def test_fifty_people_at_once_give_every_doc_exactly_k_labels(store: Store, choices: dict[str, Any]) -> None:
    campaign = filled(store, 50, labels=3, **choices)
    errors: list[BaseException] = []
    threads = [threading.Thread(target=work, args=(campaign, f"p{number}", errors)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    labels = campaign.labels()
    per_doc = Counter(zip(labels.topic.tolist(), labels.doc.tolist(), strict=True))
    assert len(per_doc) == TOPICS * DOCS
    assert set(per_doc.values()) == {3}
    per_person = Counter(zip(labels.topic.tolist(), labels.doc.tolist(), labels.worker.tolist(), strict=True))
    assert set(per_person.values()) == {1}
    assert store.check().errors == 0


def test_who_asks_while_judging_does_not_get_a_doc_again(store: Store) -> None:
    """The page of an assessor asks for more docs while its last answers are on their way."""
    campaign = filled(store, 1, labels=1, pool="depth")
    asked = campaign.next("p0", 10)
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            campaign.next("p0", 10)

    asking = [threading.Thread(target=ask) for _ in range(3)]
    for thread in asking:
        thread.start()
    seen: set[int] = set()
    try:
        while asked:
            for one in asked:
                assert one.item not in seen, "a doc that was judged came again"
                campaign.judge("p0", one.item, 1)
                seen.add(one.item)
            asked = campaign.next("p0", 10)
    finally:
        stop.set()
        for thread in asking:
            thread.join()
    assert len(seen) == TOPICS * DOCS
    assert all(not one.takes_back for one in campaign.history())


PROGRAM = """
import sys, json
from assay.store import Store
where, files, name = sys.argv[1:]
campaign = Store(where, files=files).campaigns["c"]
while asked := campaign.next(name):
    for one in asked:
        id = f"{name}-{one.item}"
        print(json.dumps(["sent", id, one.item]), flush=True)
        campaign.judge(name, one.item, 1, id=id)
        print(json.dumps(["kept", id, one.item]), flush=True)
"""


def test_judging_processes_that_are_killed_lose_nothing_that_was_acknowledged(
    store: Store, address: tuple[str, Path], tmp_path: Path
) -> None:
    campaign = filled(store, 3, labels=2, pool="depth", away=0.3)
    kept: set[str] = set()
    where, files = address
    chance = random.Random(4)
    for repetition in range(3):
        processes = []
        for number in range(3):
            log = tmp_path / f"{repetition}-{number}"
            with open(log, "wb") as output:
                command = [sys.executable, "-c", PROGRAM, where, str(files), f"p{number}"]
                processes.append((subprocess.Popen(command, stdout=output, env=os.environ), log))
        started = time.time()
        while not any(b"kept" in log.read_bytes() for _, log in processes) and time.time() < started + 30:
            time.sleep(0.02)
        time.sleep(chance.uniform(0, 0.3))
        for process, _ in processes:
            process.send_signal(signal.SIGKILL)
        for process, log in processes:
            process.wait()
            whole = log.read_text().splitlines()
            kept |= {json.loads(line)[1] for line in whole if line.startswith('["kept"') and line.endswith("]")}
    history = campaign.history()
    ids = Counter(given.id for given in history)
    assert kept <= set(ids), "an acknowledged judgment is lost"
    assert set(ids.values()) == {1}
    assert kept
    assert store.check().errors == 0
    deadline = time.time() + 30
    while time.time() < deadline:  # the docs that the dead held come back
        asked = [(name, one) for name in ("p0", "p1", "p2") for one in campaign.next(name, 10)]
        for name, one in asked:
            campaign.judge(name, one.item, 1)
        labels = campaign.labels()
        per_doc = Counter(zip(labels.topic.tolist(), labels.doc.tolist(), strict=True))
        if not asked and len(per_doc) == TOPICS * DOCS and set(per_doc.values()) == {2}:
            break
        time.sleep(0.05)
    assert set(per_doc.values()) == {2}
    assert store.check().errors == 0
