"""Dask as the engine: the same results, also when a worker is killed; one line when nobody is there; never a hang."""

from __future__ import annotations

import _thread
import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import polars
import pytest

import assay
from assay.core.engine import ordered_map
from assay.core.engines import Dask, dask_cluster, engine
from assay.core.engines.sent import answers, located, packed
from assay.core.errors import DataError, EngineError, UsageError
from assay.io import large_files, row_cuts
from assay.parts import score_parts, split_runs
from tests.engines.clusters import START, Cluster, running
from tests.parts.drawn_runs import drawn_judgments, drawn_lines, written

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("default")  # those of Dask are not ours


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture(scope="module")
def dask(cluster: Cluster) -> Iterator[Dask]:
    made = Dask(cluster.address, patience=START)
    yield made
    made.close()


def slow_square(x: int) -> tuple[int, int]:
    time.sleep(0.05)
    return x * x, os.getpid()


def test_results_come_in_order_from_all_workers(dask: Dask, cluster: Cluster) -> None:
    with distributed.Client(cluster.address, timeout=START, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=START)
    offset = 7
    told: list[tuple[int, int]] = []
    with engine(dask):
        found = ordered_map(
            lambda x: (slow_square(x)[0] + offset, os.getpid()),
            range(40),
            progress=lambda done, total: told.append((done, total)),
        )
    assert [value for value, _ in found] == [x * x + 7 for x in range(40)]
    assert {pid for _, pid in found} == {worker.pid for worker in cluster.workers}
    assert told == [(done, 40) for done in range(1, 41)]


def test_one_item_is_done_here(dask: Dask) -> None:
    with engine(dask):
        assert ordered_map(slow_square, [3]) == [(9, os.getpid())]


def test_what_is_long_in_a_task_is_done_by_its_worker(dask: Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    def nested(x: int) -> bool:
        os.environ["ASSAY_ENGINE"] = "dask"
        try:
            return ordered_map(lambda _: os.getpid(), range(2)) == [os.getpid()] * 2
        finally:
            del os.environ["ASSAY_ENGINE"]

    with engine(dask):
        assert ordered_map(nested, range(4)) == [True] * 4


def test_the_error_of_a_task_is_raised_as_it_was_there(dask: Dask) -> None:
    def refuse(x: int) -> int:
        if x == 5:
            raise DataError("run.txt:5: five")
        return x

    with engine(dask):
        with pytest.raises(DataError, match=r"^run.txt:5: five$"):
            ordered_map(refuse, range(12))
        assert ordered_map(lambda x: x + 1, range(3)) == [1, 2, 3]  # the cluster is as good as before


def test_a_file_that_the_workers_do_not_see(dask: Dask) -> None:
    with engine(dask), pytest.raises(EngineError, match=r"^gone/nowhere.run: a worker of .* does not see this file"):
        ordered_map(lambda name: Path(name).read_text(), ["gone/nowhere.run"] * 3)


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs and judgments in the current folder, which is not that of the workers; every table is a large one."""
    for seed, name in enumerate("ab"):
        lines = drawn_lines(30, seed, tag=name)
        written(tmp_path / f"{name}.run", lines)
        rows = [line.split() for line in lines]
        table = polars.DataFrame({"topic": [row[0] for row in rows], "doc": [row[2] for row in rows]})
        table = table.with_columns(score=polars.Series([float(row[4]) for row in rows]))
        table.write_parquet(tmp_path / f"{name}.parquet")
    written(tmp_path / "qrels.txt", drawn_judgments(30, 0))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(large_files, "LARGE_TABLE", 1)
    monkeypatch.setattr(row_cuts, "PIECE_ROWS", 50)
    monkeypatch.setattr(row_cuts, "WINDOW_ROWS", 8)
    return tmp_path


@pytest.mark.parametrize("runs", [["a.run", "b.run"], ["a.parquet", "b.parquet"], "a.parquet"], ids=str)
def test_workers_in_another_folder_find_the_files(runs: Any, collection: Path, dask: Dask) -> None:
    here = assay.evaluate(runs, "qrels.txt", "AP")["AP"]
    there = assay.evaluate(runs, "qrels.txt", "AP", engine=dask)["AP"]
    assert there.to_dict() == here.to_dict()


@pytest.mark.parametrize("qrels", ["qrels.txt", "parts/qrels"])
def test_workers_in_another_folder_score_parts(qrels: str, collection: Path, dask: Dask) -> None:
    split_runs(["a.run", "b.run"], 3, "parts", qrels="qrels.txt")
    score_parts("parts", qrels, "AP", to="here")
    with engine(dask):
        score_parts("parts", qrels, "AP", to="there")
    files = sorted(path.relative_to("here") for path in Path("here").rglob("*"))
    assert files == sorted(path.relative_to("there") for path in Path("there").rglob("*"))
    for file in files:
        if (Path("here") / file).is_file():
            assert (Path("here") / file).read_bytes() == (Path("there") / file).read_bytes()


def test_an_interrupt_cancels_what_is_queued(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    def tasks_left(dask_scheduler: Any) -> int:
        return len(dask_scheduler.tasks)

    with running(tmp_path, workers=1) as cluster:
        with engine(Dask(cluster.address, patience=START)), pytest.raises(KeyboardInterrupt):
            ordered_map(lambda x: time.sleep(0.1 if x < 2 else 600), range(40), progress=stop)
        until = time.monotonic() + 10
        with distributed.Client(cluster.address, timeout=START, set_as_default=False) as client:
            while client.run_on_scheduler(tasks_left):
                assert time.monotonic() < until
                time.sleep(0.1)


@pytest.fixture
def interrupts_heard() -> Iterator[None]:
    """Python as a terminal starts it: what a shell starts in the background ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts_heard")
def test_an_interrupt_while_workers_start_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    class Started:
        def close(self, timeout: float) -> None:
            ended.append(timeout)

    def slowly(*_: object) -> Started:
        time.sleep(0.3)  # until somebody waits for them
        _thread.interrupt_main()
        time.sleep(0.3)
        return Started()

    monkeypatch.setattr(dask_cluster, "_new_cluster", slowly)
    with engine("dask", jobs=1), pytest.raises(KeyboardInterrupt):
        ordered_map(slow_square, range(4))
    assert ended == [dask_cluster.CLOSING]


def test_tasks_are_done_in_order(tmp_path: Path) -> None:
    """The first result comes first, however long the later ones take."""
    with running(tmp_path, workers=1) as cluster, engine(Dask(cluster.address, patience=START)):
        for _ in range(6):
            began = ordered_map(lambda x: time.monotonic_ns(), range(12))
            assert began == sorted(began)


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as cluster:
        with distributed.Client(cluster.address, timeout=START, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=START)

        def kill(done: int, total: int) -> None:
            if done == 4:
                cluster.workers[0].send_signal(signal.SIGKILL)

        with engine("dask", scheduler=cluster.address):
            found = ordered_map(slow_square, range(40), progress=kill)
        assert [value for value, _ in found] == [x * x for x in range(40)]
        assert cluster.workers[0].wait(10) == -signal.SIGKILL
        assert found[-1][1] == cluster.workers[1].pid


def test_workers_that_are_all_killed_are_one_line(tmp_path: Path) -> None:
    with running(tmp_path, workers=1) as cluster:

        def kill(done: int, total: int) -> None:
            cluster.workers[0].send_signal(signal.SIGKILL)

        with engine(Dask(cluster.address, patience=START)) as made:
            ordered_map(slow_square, range(2))
            assert isinstance(made, Dask)
            made.patience = 2.0
            with pytest.raises(EngineError, match="has no workers any more, and there is no result"):
                ordered_map(slow_square, range(40), progress=kill)


def test_a_scheduler_that_goes_away_is_one_line(tmp_path: Path) -> None:
    with running(tmp_path, workers=1) as cluster:

        def kill(done: int, total: int) -> None:
            cluster.scheduler.send_signal(signal.SIGKILL)

        made = Dask(cluster.address)
        with engine(made):
            with pytest.raises(EngineError, match="went away in the middle of the work, and there is no result"):
                ordered_map(slow_square, range(40), progress=kill)
            with pytest.raises(EngineError, match="is not connected"):
                ordered_map(slow_square, range(40))
        made.close()


def test_a_scheduler_without_workers_is_one_line(tmp_path: Path) -> None:
    no_workers = pytest.raises(EngineError, match=r"the Dask scheduler tcp://.* has no workers; start some")
    with running(tmp_path, workers=0) as cluster, engine(Dask(cluster.address, patience=1.0)), no_workers:
        ordered_map(slow_square, range(4))


def test_a_part_that_kills_its_workers_is_one_line() -> None:
    """Workers on this machine are started again by Dask, which gives up a part that kills them."""
    import dask as library

    once_more = library.config.set({"distributed.scheduler.allowed-failures": 1})
    given_up = pytest.raises(EngineError, match="several workers died at the same part")
    with once_more, engine("dask", jobs=1), given_up:
        ordered_map(lambda x: os.kill(os.getpid(), signal.SIGKILL) if x == 1 else x, range(3))


@pytest.mark.parametrize(
    ("address", "kind", "message"),
    [
        ("tcp://127.0.0.1:1", EngineError, r"scheduler tcp://127.0.0.1:1 cannot be reached \(Connection refused\)"),
        ("nonsense", UsageError, "no address of a scheduler: 'nonsense'"),
        ("carrier-pigeon://x:1", EngineError, "cannot be reached .unknown address scheme"),
    ],
)
def test_an_address_where_nobody_listens_is_one_line_at_once(address: str, kind: type[Exception], message: str) -> None:
    start = time.monotonic()
    with engine("dask", scheduler=address), pytest.raises(kind, match=message):
        ordered_map(slow_square, range(4))
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("greeting", [b"", b"HTTP/1.0 400 Bad Request\r\n\r\n"], ids=["silence", "HTTP"])
def test_an_address_where_somebody_else_listens_is_one_line(greeting: bytes) -> None:
    """As at the address of a dashboard; Dask by itself would wait for ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            with suppress(OSError):  # the server is closed in the end
                while True:
                    held.append(server.accept()[0])
                    held[-1].sendall(greeting)

        held: list[socket.socket] = []
        threading.Thread(target=greet, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        no_scheduler = pytest.raises(EngineError, match=f"scheduler {address} does not answer as a scheduler does")
        with engine(Dask(address, patience=2.0)), no_scheduler:
            ordered_map(slow_square, range(4))


def test_a_client_of_ones_own_stays_open(cluster: Cluster) -> None:
    with distributed.Client(cluster.address, timeout=START, set_as_default=False) as client:
        runs = {f"r{i}": {"1": {"a": 2.0, "b": 1.0 + i}} for i in range(4)}
        scores = assay.evaluate(runs, {"1": {"a": 1}}, "RR", engine=client)
        assert scores["RR"].values.tolist() == [[1.0], [0.5], [0.5], [0.5]]
        assert client.status == "running"


def test_a_worker_of_another_version_is_refused() -> None:
    with pytest.raises(EngineError, match=r"a worker has assay .*, and this is 0.0; install the same everywhere"):
        answers(packed(abs), packed([1]), "0.0")


def test_what_cannot_be_sent_is_one_line(dask: Dask) -> None:
    lock = threading.Lock()
    with engine(dask), pytest.raises(EngineError, match=r"cannot be sent to other processes .*; take the engine local"):
        ordered_map(lambda _: lock.locked(), range(4))


class Named(NamedTuple):
    name: str
    file: Path
    sizes: Counter[str]


def test_tasks_keep_their_kinds_where_their_paths_are_made_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run").write_text("1 Q0 a 1 2.5 bm25\n")
    plain = Named("a", Path("elsewhere"), Counter("abc"))
    with_path = Named("b", Path("run"), Counter("abc"))
    assert located([plain])[0] is plain
    [found] = located([with_path])
    assert type(found) is Named
    assert found == ("b", tmp_path / "run", Counter("abc"))
    assert located([{"run": (Path("run"), 1)}]) == [{"run": (tmp_path / "run", 1)}]
