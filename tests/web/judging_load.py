"""A real server, and people who judge over HTTP: an answer is sent again under the same id until it is acknowledged."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from assay.store import Store

ASSAY = [sys.executable, "-m", "assay.cli.main"]


class Served:
    """A server in a process of its own, on a port that stays the same however often it is started."""

    def __init__(self, where: str, port: int) -> None:
        self.place = ["--database", where] if "://" in where else ["--store", where]
        self.port = port
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [*ASSAY, "serve", *self.place, "--port", str(self.port), "--tokens"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not re.search(r"http://\S+/", line):
            self.process.kill()
            raise AssertionError(line + (self.process.stderr.read() if self.process.stderr else ""))

    def end(self, *, kill: bool = False) -> None:
        """Stop it in an orderly way, or as a power cut would."""
        if self.process is None:
            return
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.communicate(timeout=60)
        self.process = None


class Assessor(threading.Thread):
    """Somebody who judges until told to stop; `acknowledged` are the ids of answers that the server said it has."""

    def __init__(self, port: int, campaign: str, name: str, token: str) -> None:
        super().__init__(daemon=True)
        self.port, self.campaign, self.person = port, campaign, name
        self.headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self.headers["Content-Type"] = "application/json"
        self.enough = threading.Event()
        self.acknowledged: list[str] = []
        self.refused: list[tuple[int, str]] = []
        self.unsent: dict[str, Any] | None = None
        self.items: list[int] = []
        self.done: set[int] = set()
        """Items whose answer was acknowledged."""
        self.twice: list[int] = []
        """Items that were given again after their answer was acknowledged."""
        self.connection: http.client.HTTPConnection | None = None

    def run(self) -> None:
        """Judge; a server that is away is asked again after a moment."""
        while not self.enough.is_set():
            try:
                if not self.step():
                    time.sleep(0.05)
            except (OSError, http.client.HTTPException, ValueError):  # cut off, or half an answer
                self._hang_up()
                time.sleep(0.05)
        self._hang_up()

    def _hang_up(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def step(self) -> bool:
        """Send one answer, and take the next docs in; False if there is nothing to do."""
        if self.unsent is None and not self.items:
            self._take(self._ask("GET")[1]["items"])
            if not self.items:
                return False
        if self.unsent is None:
            item = self.items.pop(0)
            self.unsent = {"id": f"{self.person}-{item:06d}-judged", "kind": "label", "item": item, "label": item % 4}
        status, said = self._ask("POST", json.dumps(self.unsent))
        if status != 200:
            self.refused.append((status, said["error"]))
            return False
        self.acknowledged.append(self.unsent["id"])
        self.done.add(self.unsent["item"])
        self.unsent = None
        if said["items"]:
            self._take(said["items"])
        return True

    def _take(self, given: list[dict[str, Any]]) -> None:
        self.items = [one["item"] for one in given]
        self.twice += [item for item in self.items if item in self.done]

    def _ask(self, method: str, body: str | None = None) -> tuple[int, dict[str, Any]]:
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.connection.request(method, f"/judge/{self.campaign}" + ("?next=5" if body else ""), body, self.headers)
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())


def campaign_of(store: Store, docs: int, people: int, *, labels: int = 2, away: float = 2.0) -> dict[str, str]:
    """A campaign `load` over this number of docs; a token for each of the people."""
    store.collections.add("pets")
    names = [("1", f"d{number}") for number in range(docs)]
    store.campaigns.add("load", "pets", docs=names, labels=labels, away=away)
    store.people.add("olga", "organiser")
    return {f"p{number}": store.people.add(f"p{number}")[1] for number in range(people)}


@contextmanager
def judging(port: int, tokens: dict[str, str]) -> Iterator[list[Assessor]]:
    """People who judge while the block runs."""
    people = [Assessor(port, "load", name, token) for name, token in tokens.items()]
    for one in people:
        one.start()
    try:
        yield people
    finally:
        for one in people:
            one.enough.set()
        for one in people:
            one.join(60)


def wait_for(people: list[Assessor], more: int, seconds: float = 60) -> None:
    """Wait until this number of further answers is acknowledged."""
    deadline = time.monotonic() + seconds
    wanted = acknowledged(people) + more
    while acknowledged(people) < wanted:
        assert time.monotonic() < deadline, f"{acknowledged(people)} answers, and no more come"
        time.sleep(0.01)


def acknowledged(people: list[Assessor]) -> int:
    """Answers that the server has acknowledged, in all."""
    return sum(len(one.acknowledged) for one in people)


def store_check(place: list[str]) -> subprocess.CompletedProcess[str]:
    """`assay store check` as a person runs it."""
    return subprocess.run([*ASSAY, "store", "check", *place], capture_output=True, text=True, timeout=120)
