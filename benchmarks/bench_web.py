"""How fast is the workbench? The leaderboard against scoring the files, judgments against bare inserts, in one run.

Rows of (what, ratio asked, ratio seen, note). The 143 runs of TREC-COVID round 1 where ASSAY_DATA has them, else those
of the simulated collection. Judgments are sent over HTTP by threads, a real server answers them, and each is on the
disk before it is acknowledged; the bare inserts go into one table of a database with the same settings, from as many
threads.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import secrets
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from fastapi.testclient import TestClient

from assay import Store, compare, evaluate
from assay.store.database import Database
from assay.store.filling import add_simulated
from assay.store.schema import sa
from assay.studies import simulate, write_collection
from assay.web import workbench

Row = tuple[str, float, float, str]
PEOPLE, EACH = 50, 20
HERE = Path(__file__).resolve().parent.parent


def rows() -> list[Row]:
    """All comparisons."""
    with tempfile.TemporaryDirectory() as folder:
        return [_leaderboard(Path(folder)), _judgments(Path(folder))]


def _leaderboard(folder: Path) -> Row:
    qrels, runs = _track(folder)
    with Store(folder / "board") as store:
        store.collections.add("track", measure="nDCG@10")
        store.qrels.add("track", qrels)
        for run in runs:
            store.runs.add("track", run)
        app = workbench(store, tokens=False, hosts=frozenset({"127.0.0.1"}))
        with TestClient(app, base_url="http://127.0.0.1") as client:
            first = _cpu(lambda: client.get("/collection/track").raise_for_status())
            page = min(_cpu(lambda: client.get("/collection/track").raise_for_status()) for _ in range(5))
    files = min(_cpu(lambda: compare(evaluate(runs, qrels, "nDCG@10")[0])) for _ in range(2))
    note = f"{files:.2f} s of CPU from the files, {1000 * page:.0f} ms from the store ({first:.2f} s the first time)"
    return f"leaderboard page of {len(runs)} runs", 20.0, files / page, note


def _track(folder: Path) -> tuple[Path, list[Path]]:
    source = Path(os.environ.get("ASSAY_DATA", HERE.parent / "shared" / "data")) / "trec-covid-round1"
    if not source.exists():
        write_collection(simulate(0), folder / "demo")
        return folder / "demo" / "qrels.txt", sorted((folder / "demo" / "runs").iterdir())
    with tarfile.open(source / "runs.tar.xz") as archive:
        archive.extractall(folder / "track", filter="data")
    return source / "qrels.txt", sorted(path for path in (folder / "track").rglob("*") if path.is_file())


def _judgments(folder: Path) -> Row:
    with Store(folder / "judged") as store:
        add_simulated(store)
        docs = [(str(topic), f"d{number}") for topic in range(50) for number in range(PEOPLE * EACH // 50)]
        store.campaigns.add("speed", "demo", docs=docs, scale="S4")
        tokens = [store.people.add(f"p{number}", "assessor")[1] for number in range(PEOPLE)]
        store.people.add("olga", "organiser")
    server, address = _served(folder / "judged")
    try:
        judged = PEOPLE * EACH / _together([lambda token=token: _judge(address, token) for token in tokens])
    finally:
        server.terminate()
        server.wait(20)
    database = Database(f"sqlite:///{folder / 'bare.db'}")
    table = sa.Table("bare", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("label", sa.Float))
    with database.writing() as connection:
        table.create(connection)

    def insert() -> None:
        for label in range(EACH):
            with database.writing() as connection:
                connection.execute(sa.insert(table).values(label=label))

    bare = PEOPLE * EACH / _together([insert] * PEOPLE)
    note = f"{judged:.0f} judgments a second over HTTP by {PEOPLE} people, {bare:.0f} bare inserts"
    return "judgments a second against bare inserts", 1 / 3, judged / bare, note


def _served(folder: Path) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "assay.cli.main", "serve", "--store", str(folder), "--port", "0", "--tokens"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    found = re.search(r"http://\S+/", server.stdout.readline() if server.stdout else "")
    assert found is not None
    return server, found.group(0)


def _judge(address: str, token: str) -> None:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "Content-Type": "application/json"}
    given = 0
    while given < EACH:
        connection.request("GET", "/judge/speed", headers=headers)
        items = json.loads(connection.getresponse().read())["items"]
        for item in items[: EACH - given]:
            answer = {"id": secrets.token_hex(16), "kind": "label", "item": item["item"], "label": 1}
            connection.request("POST", "/judge/speed", json.dumps(answer), headers)
            reply = connection.getresponse()
            assert reply.status == 200, reply.read()
            reply.read()
            given += 1
        if not items:
            return


def _together(works: list[Callable[[], None]]) -> float:
    """Seconds until all of them are done, each in a thread of its own."""
    threads = [threading.Thread(target=work) for work in works]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begun


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
