"""Real Dask clusters for the tests: a scheduler and workers, each a process of its own that is surely ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import ROOT

START = 60.0
"""Seconds that a process may take to start on a busy machine."""


@dataclass
class Cluster:
    """A scheduler with workers, in processes of their own."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    address: str = ""

    @property
    def scheduler(self) -> subprocess.Popen[bytes]:
        return self.processes[0]

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        return self.processes[1:]

    def start(self, workers: int) -> None:
        """Start the scheduler and, when it has an address, the workers."""
        file = self.folder / "scheduler.json"
        self._run("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        until = time.monotonic() + START
        while not self.address:
            assert time.monotonic() < until, "the scheduler does not start"
            time.sleep(0.05)
            if file.exists() and file.read_text().rstrip().endswith("}"):
                self.address = json.loads(file.read_text())["address"]
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> None:
        self._run("dask_worker", self.address, "--no-nanny", "--nthreads", "1", "--local-directory", str(self.folder))

    def _run(self, program: str, *options: str) -> None:
        where = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        command = [sys.executable, "-m", f"distributed.cli.{program}", *options, "--no-dashboard"]
        quiet = subprocess.DEVNULL
        environment = {**os.environ, "PYTHONPATH": where}
        self.processes.append(subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment, cwd=self.folder))

    def end(self) -> None:
        """Kill whatever is left."""
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait(10)


@contextmanager
def running(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster that ends with the block, whatever happens in it."""
    cluster = Cluster(folder)
    try:
        cluster.start(workers)
        yield cluster
    finally:
        cluster.end()
