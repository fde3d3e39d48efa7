"""Work on several processes: in order, with errors as they were, and nobody waits for a worker that is dead."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time

import pytest

from assay.core.engine import ordered_map
from assay.core.engines.local import FORKS_FROM, WorkerDied
from assay.core.errors import DataError

linux = pytest.mark.skipif(sys.platform != "linux", reason="copies of the process are made on Linux only")


def square(x: int) -> int:
    return x * x


def dies(x: int) -> int:
    if x == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


@linux
def test_results_come_in_order_from_copies_of_the_process() -> None:
    here = os.getpid()
    seen: list[int] = []
    found = ordered_map(
        lambda x: (x * x, os.getpid() != here),
        range(20),
        jobs=2,
        forks=True,
        progress=lambda done, _: seen.append(done),
    )
    assert found == [(x * x, True) for x in range(20)]
    assert seen == list(range(1, 21))


@linux
@pytest.mark.parametrize("forks", [True, False], ids=["copies", "workers"])
def test_a_worker_that_is_killed_is_an_error_and_nobody_waits(forks: bool) -> None:
    start = time.monotonic()
    with pytest.raises(WorkerDied, match="a worker process died"):
        ordered_map(dies, range(max(FORKS_FROM, 12)), jobs=2, forks=forks)
    assert time.monotonic() - start < 30


@linux
def test_an_error_is_raised_as_it_was_there() -> None:
    def refuse(x: int) -> int:
        if x == 5:
            raise DataError("five")
        return x

    with pytest.raises(DataError, match="five"):
        ordered_map(refuse, range(12), jobs=2, forks=True)
    assert ordered_map(square, range(12), jobs=2, forks=True) == [x * x for x in range(12)]


@linux
def test_copies_end_with_the_work() -> None:
    before = set(multiprocessing.active_children())

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ordered_map(lambda x: time.sleep(0.05 if x < 4 else 60), range(12), jobs=2, forks=True, progress=stop)
    deadline = time.monotonic() + 10
    while set(multiprocessing.active_children()) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not set(multiprocessing.active_children()) - before
