"""Servers that are killed, disks that are full, backups meanwhile: nothing that was acknowledged is lost or doubled.

ASSAY_KILLS says how often the server is killed; a few times by default.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from assay.store import Store
from tests.store.cluster import free_port
from tests.web.judging_load import ASSAY, Served, acknowledged, campaign_of, judging, store_check, wait_for

KILLS = int(os.environ.get("ASSAY_KILLS", "3"))
PEOPLE = 8
ROOM_MB = 4


def test_a_server_that_is_killed_loses_nothing_that_it_acknowledged(address: tuple[str, Path]) -> None:
    where, files = address
    with Store(where, files=files) as store:
        tokens = campaign_of(store, docs=300 * (KILLS + 2), people=PEOPLE)
    server = Served(where, free_port())
    chance = random.Random(1)
    try:
        with judging(server.port, tokens) as people:
            for _ in range(KILLS):
                server.start()
                wait_for(people, 1)
                time.sleep(chance.uniform(0, 0.5))
                server.end(kill=True)
            server.start()
            wait_for(people, 20)
    finally:
        server.end()
    with Store(where, files=files) as store:
        log = Counter(one.id for one in store.campaigns["load"].history())
        said = [id for one in people for id in one.acknowledged]
        assert len(said) == len(set(said)) == acknowledged(people)
        assert set(said) <= set(log), "an acknowledged judgment is lost"
        assert set(log.values()) == {1}, "a judgment is there twice"
        pending = {one.unsent["id"] for one in people if one.unsent is not None}
        assert set(log) <= set(said) | pending, "the store has a judgment that nobody sent"
    checked = store_check(server.place)
    assert checked.returncode == 0, checked.stdout
    print(f"{KILLS} kills, {len(said)} judgments acknowledged, none lost, none doubled")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM_MB}m", "assay-test", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here ({mounted.stderr.strip()})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_up(filler: Path) -> None:
    """Write a file until nothing more fits."""
    with open(filler, "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def test_a_full_disk_is_one_sentence_and_judging_goes_on_when_there_is_room(small_disk: Path) -> None:
    with Store(small_disk / "store") as store:
        tokens = campaign_of(store, docs=2000, people=2)
    server = Served(str(small_disk / "store"), free_port())
    filler = small_disk / "filler"
    try:
        server.start()
        with judging(server.port, tokens) as people:
            wait_for(people, 10)
            fill_up(filler)
            deadline = time.monotonic() + 60
            while not any(one.refused for one in people):  # what room the log of SQLite still has is used first
                assert time.monotonic() < deadline, "the disk is full, and nobody is told"
                time.sleep(0.02)
            refused = {sentence for one in people for sentence in one.refused}
            filler.unlink()
            wait_for(people, 20)
    finally:
        server.end()
    assert refused == {
        (507, "the disk of the server is full, so nothing was written; it will work again when there is room")
    }
    with Store(small_disk / "store") as store:
        log = Counter(one.id for one in store.campaigns["load"].history())
    said = {id for one in people for id in one.acknowledged}
    assert said <= set(log)
    assert set(log.values()) == {1}
    checked = store_check(server.place)
    assert checked.returncode == 0, checked.stdout


def test_a_backup_while_people_judge_is_a_whole_store(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        tokens = campaign_of(store, docs=3000, people=4)
    server = Served(str(tmp_path / "store"), free_port())
    try:
        server.start()
        with judging(server.port, tokens) as people:
            wait_for(people, 20)
            before = {id for one in people for id in list(one.acknowledged)}
            command = [*ASSAY, "store", "backup", str(tmp_path / "copy"), *server.place]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            wait_for(people, 5)
    finally:
        server.end()
    with Store(tmp_path / "copy") as copy:
        kept = {one.id for one in copy.campaigns["load"].history()}
    assert before <= kept
    checked = store_check(["--store", str(tmp_path / "copy")])
    assert checked.returncode == 0, checked.stdout
