"""This machine as the engine: a worker that dies is replaced once, and an engine is chosen in one place."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.core.engine import ordered_map
from assay.core.engines.local import WorkerDied
from assay.core.errors import AssayError, MissingExtra, UsageError

linux = pytest.mark.skipif(sys.platform != "linux", reason="copies of the process are made on Linux only")
RUNS = {f"r{i}": {"1": {"a": 2.0, "b": 1.0 + i}} for i in range(4)}
QRELS = {"1": {"a": 1}}


def dies_once(task: tuple[int, Path]) -> int:
    """Killed at number 5, the first time."""
    number, mark = task
    if number == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


@linux
@pytest.mark.parametrize("forks", [True, False], ids=["copies", "workers"])
def test_the_part_of_a_worker_that_is_killed_is_done_again(forks: bool, tmp_path: Path) -> None:
    mark = tmp_path / "killed"
    tasks = [(number, mark) for number in range(12)]
    assert ordered_map(dies_once, tasks, jobs=2, forks=forks) == [number * number for number in range(12)]
    assert mark.exists()


@linux
@pytest.mark.parametrize("forks", [True, False], ids=["copies", "workers"])
def test_a_part_that_kills_its_worker_twice_is_an_error(forks: bool) -> None:
    def dies(number: int) -> int:
        if number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(WorkerDied, match=r"a worker process died .* and again when its part was repeated"):
        ordered_map(dies, range(12), jobs=2, forks=forks)


def interrupted(number: int) -> int:
    """As Ctrl-C in a terminal, which reaches the workers too."""
    os.kill(os.getpid(), signal.SIGINT)
    return number


@linux
@pytest.mark.parametrize("forks", [True, False], ids=["copies", "workers"])
def test_an_interrupt_is_not_for_workers(forks: bool) -> None:
    assert ordered_map(interrupted, range(12), jobs=2, forks=forks) == list(range(12))


class Backwards:
    """An engine of one's own: the last task first, the results in order."""

    def __init__(self) -> None:
        self.tasks = 0

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Generator[Any, None, None]:
        self.tasks += len(tasks)
        results = [function(task) for task in reversed(tasks)]
        yield from reversed(results)


def test_an_engine_of_ones_own_does_the_work() -> None:
    own = Backwards()
    scores = assay.evaluate(RUNS, QRELS, "RR", engine=own)
    assert own.tasks == 4
    assert scores["RR"].values.tolist() == [[1.0], [0.5], [0.5], [0.5]]
    with assay.engine(own):
        assay.evaluate(RUNS, QRELS, "RR")
    assert own.tasks == 8
    assay.evaluate(RUNS, QRELS, "RR")
    assert own.tasks == 8


def test_the_innermost_engine_holds() -> None:
    outer, inner = Backwards(), Backwards()
    with assay.engine(outer), assay.engine(inner):
        ordered_map(abs, [-1, -2])
    with assay.engine(outer), assay.engine("local"):
        ordered_map(abs, [-1, -2])
    assert (outer.tasks, inner.tasks) == (0, 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"which": "dusk"}, "no engine 'dusk'; did you mean dask"),
        (
            {"which": "local", "scheduler": "tcp://x:1"},
            "has no effect with the engine local",
        ),
        ({"which": "dask", "scheduler": "tcp://x:1", "jobs": 2}, "2 jobs and a scheduler .* leave one out"),
        ({"which": 7}, "int is no engine; give local, dask, spark, a Dask client"),
        ({"which": Backwards(), "jobs": 2}, "a scheduler or jobs go with the name of an engine"),
    ],
)
def test_an_engine_that_is_none_is_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message), assay.engine(**given):
        pass


def test_the_environment_chooses_where_nobody_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_ENGINE", "dusk")
    with pytest.raises(UsageError, match="ASSAY_ENGINE: no engine 'dusk'"):
        ordered_map(abs, [-1, -2])
    with assay.engine("local"):
        assert ordered_map(abs, [-1, -2]) == [1, 2]
    monkeypatch.setenv("ASSAY_ENGINE", "local")
    monkeypatch.setenv("ASSAY_SCHEDULER", "tcp://x:1")
    with pytest.raises(UsageError, match="ASSAY_SCHEDULER: a scheduler"):
        ordered_map(abs, [-1, -2])


@pytest.mark.parametrize(
    ("master", "message"),
    [
        ("spark://127.0.0.1:1", r"Spark \(spark://127.0.0.1:1\) cannot be reached \(Connection refused\)"),
        ("spark://nonsense", "no address of a scheduler: 'spark://nonsense'; give one such as spark://"),
    ],
)
def test_a_master_where_nobody_listens_is_one_line_at_once(master: str, message: str) -> None:
    pytest.importorskip("pyspark")
    with assay.engine("spark", scheduler=master), pytest.raises(AssayError, match=message):
        ordered_map(abs, [-1, -2])


@pytest.mark.parametrize(
    ("name", "module", "extra"), [("dask", "distributed", "dask"), ("spark", "pyspark.sql", "spark")]
)
def test_without_the_extra_an_engine_says_what_to_install(
    name: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with assay.engine(name), pytest.raises(MissingExtra, match=rf"pip install 'assay-ir\[{extra}\]'"):
        ordered_map(abs, [-1, -2])
