"""How fast is the workbench? The leaderboard against scoring the files, judgments against bare inserts, in one run.

Rows of (what, ratio asked, ratio seen, note). The 143 runs of TREC-COVID round 1 where ASSAY_DATA has them, else those
of the simulated collection. Judgments are sent over HTTP by threads, a real server answers them, and each is on the
disk before it is acknowledged; the bare inserts, a transaction each, go into one table of a database with the same
settings, from as many threads.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi.testclient import TestClient
from tests.store.cluster import postgres_cluster, postgres_programs

from assay import Store, compare, evaluate
from assay.store.database import Database
from assay.store.filling import add_simulated
from assay.store.schema import sa
from assay.studies import simulate, write_collection
from assay.web import workbench

Row = tuple[str, float, float, str]
PEOPLE, EACH, ROUNDS = 50, 10, 4
BARE = sa.Table("bare", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("label", sa.Float))
HERE = Path(__file__).resolve().parent.parent


def rows() -> list[Row]:
    """All comparisons; those on PostgreSQL where it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        compared = [_leaderboard(Path(folder)), _judgments(Path(folder))]
    if postgres_programs() is None:
        return compared
    with tempfile.TemporaryDirectory() as folder, postgres_cluster() as cluster:
        return [*compared, _judgments(Path(folder), f"{cluster}/postgres")]


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


def _judgments(folder: Path, url: str = "") -> Row:
    """Judgments over HTTP against bare inserts, on SQLite or on the PostgreSQL database of the URL, in turns.

    The ratio is that of the rates by the clock, in rounds that take turns. The note has the seconds of CPU that the
    server and the program that inserts took, without those of the people who judge, who run on the same cores.
    """
    where = url or folder / "judged"
    with Store(where, files=folder / "files" if url else None) as store:
        add_simulated(store)
        docs = [(str(topic), f"d{number}") for topic in range(50) for number in range(2 * ROUNDS * EACH)]
        store.campaigns.add("speed", "demo", docs=docs, scale="S4")
        tokens = [store.people.add(f"p{number}", "assessor")[1] for number in range(PEOPLE)]
        store.people.add("olga", "organiser")
    bare = Database(url or f"sqlite:///{folder / 'bare.db'}")
    with bare.writing() as connection:
        BARE.create(connection)
    server, address = _served(where, url)
    judging = Spent()
    inserting = Spent()
    try:
        people = [_Assessor(address, token) for token in tokens]
        _together([one.judge for one in people])  # everything is loaded and compiled
        _insert(bare)
        for _ in range(ROUNDS):
            judging.add(lambda: _together([one.judge for one in people]), lambda: _cpu_of(server.pid))
            inserting.add(lambda: _together([lambda: _insert(bare)] * PEOPLE), time.process_time)
    finally:
        server.terminate()
        server.wait(20)
        bare.close()
    name = "PostgreSQL" if url else "SQLite"
    note = f"{judging} over HTTP by {PEOPLE} people, {inserting} of bare inserts; by CPU a ratio of"
    by_cpu = inserting.cpu / judging.cpu
    return (
        f"judgments a second against bare inserts, {name}",
        1 / 3,
        inserting.clock / judging.clock,
        f"{note} {by_cpu:.2f}",
    )


@dataclass
class Spent:
    """What rounds of work took, by the clock and of CPU."""

    clock: float = 0.0
    cpu: float = 0.0

    def add(self, work: Callable[[], object], cpu: Callable[[], float]) -> None:
        """Another round."""
        clock_before = time.perf_counter()
        cpu_before = cpu()
        work()
        self.cpu += cpu() - cpu_before
        self.clock += time.perf_counter() - clock_before

    def __str__(self) -> str:
        made = ROUNDS * PEOPLE * EACH
        return f"{made / self.clock:.0f} a second ({1e6 * self.cpu / made:.0f} µs of CPU each)"


def _cpu_of(process: int) -> float:
    """Seconds of CPU that another process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _insert(database: Database) -> None:
    for label in range(EACH):
        with database.writing() as connection:
            connection.execute(sa.insert(BARE).values(label=label))


def _served(where: str | Path, url: str) -> tuple[subprocess.Popen[str], str]:
    place = ["--database", url] if url else ["--store", str(where)]
    command = [sys.executable, "-m", "assay.cli.main", "serve", *place, "--port", "0", "--tokens"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    found = re.search(r"http://\S+/", server.stdout.readline() if server.stdout else "")
    assert found is not None
    return server, found.group(0)


class _Assessor:
    """Somebody who judges, with the next docs at hand as the page in the browser has them."""

    def __init__(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._headers["Content-Type"] = "application/json"
        self._items: list[int] = []

    def judge(self) -> None:
        """Judge some docs; each is on the disk before the next is sent."""
        if not self._items:
            self._take(self._ask("GET", "/judge/speed"))
        for _ in range(EACH):
            item = self._items.pop(0)
            answer = {"id": secrets.token_hex(16), "kind": "label", "item": item, "label": 1}
            more = "?next=10" if len(self._items) <= 5 else ""
            reply = self._ask("POST", f"/judge/speed{more}", json.dumps(answer))
            assert reply["counted"]
            if more:
                self._take(reply)

    def _ask(self, method: str, path: str, body: str | None = None) -> dict[str, Any]:
        self._connection.request(method, path, body, self._headers)
        reply = self._connection.getresponse()
        said: dict[str, Any] = json.loads(reply.read())
        assert reply.status == 200, said
        return said

    def _take(self, said: dict[str, Any]) -> None:
        fresh = [one["item"] for one in said["items"]]
        self._items += [item for item in fresh if item not in self._items]


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
