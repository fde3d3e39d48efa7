"""The same work by every engine: the same bytes, and what sending it away costs."""

from __future__ import annotations

import os
import signal
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
Row = tuple[str, float, float, str]
MEASURES = "AP nDCG@10 P@10 RR bpref"
TIMES = 3
KILL_AT = 30
"""Runs that are scored when a worker is killed."""


def rows() -> list[Row]:
    """The 143 runs of TREC-COVID, five measures, under each engine."""
    data = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data")) / "trec-covid-round1"
    if not data.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        with tarfile.open(data / "runs.tar.xz") as archive:
            archive.extractall(base, filter="data")
        return _rows(base, data / "qrels.txt")


def _rows(base: Path, qrels: Path) -> list[Row]:
    import assay
    from assay.core.memory import keep_freed_memory

    keep_freed_memory()  # as `assay score` does
    files = sorted((base / "runs").iterdir())

    def saved(name: str, how: AbstractContextManager[Any], jobs: int = 1, progress: Any = None) -> tuple[float, bytes]:
        """Seconds (the median) and the file of scores of one engine."""
        from assay.core.engine import silent
        from assay.io.scores import write_scores

        seconds = []
        with how:
            # What is warmed up by the first time is not what is measured.
            for _ in range(TIMES + 1 if progress is None else 1):
                start = time.perf_counter()
                scores = assay.evaluate(files, qrels, MEASURES, jobs=jobs, progress=progress or silent)
                seconds.append(time.perf_counter() - start)
        target = base / f"{name}.csv"
        write_scores(target, scores)
        return statistics.median(seconds[1:] or seconds), target.read_bytes()

    alone, expected = saved("local1", nullcontext())
    by_two, of_two = saved("local2", nullcontext(), jobs=2)
    by_dask, of_dask = saved("dask", assay.engine("dask", jobs=2))
    of_killed = _with_a_worker_killed(saved)
    found = [
        ("143 runs, 5 measures: local, 2 jobs against 1", 1, alone / by_two, f"{alone:.2f} s and {by_two:.2f} s"),
        (
            "… Dask, 2 workers that are there, against local, 2 jobs",
            0.5,
            by_two / by_dask,
            f"{by_dask:.2f} s: {1000 * (by_dask - by_two) / len(files):+.1f} ms a run",
        ),
        ("… the same bytes: local 2, Dask", 1, float(of_two == of_dask == expected), f"{len(expected)} bytes"),
        ("… the same bytes: Dask with a worker killed", 1, float(of_killed == expected), f"killed at run {KILL_AT}"),
    ]
    return [*found, *_spark(saved, by_two, expected)]


def _with_a_worker_killed(saved: Callable[..., tuple[float, bytes]]) -> bytes:
    """The file of scores where one of two workers is killed in the middle."""
    import distributed

    import assay

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    ) as cluster:
        with distributed.Client(cluster) as client:
            first, *_ = client.run(os.getpid).values()

        def kill(done: int, total: int) -> None:
            if done == KILL_AT:
                os.kill(first, signal.SIGKILL)

        _, of_killed = saved("killed", assay.engine(cluster), progress=kill)
    return of_killed


def _spark(saved: Callable[..., tuple[float, bytes]], by_two: float, expected: bytes) -> list[Row]:
    """Spark, where it is installed."""
    try:
        import pyspark
    except ImportError:
        return []
    import assay

    by_spark, of_spark = saved("spark", assay.engine("spark", jobs=2))
    note = f"{by_spark:.2f} s, pyspark {pyspark.__version__}"
    return [
        ("… Spark local[2] against local, 2 jobs", 0.1, by_two / by_spark, note),
        ("… the same bytes: Spark local[2]", 1, float(of_spark == expected), f"{len(of_spark)} bytes"),
    ]


if __name__ == "__main__":
    sys.exit("run it by benchmarks/run.py engines")
