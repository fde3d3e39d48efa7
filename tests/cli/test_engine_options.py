"""--engine and --scheduler: the same files; one line and exit code 2 when the cluster is not there or goes away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import assay
from assay.studies import simulate
from tests.engines.clusters import START, running

distributed = pytest.importorskip("distributed")

ASSAY = [sys.executable, "-m", "assay.cli.main"]
SLOW = """
import time
import assay

@assay.measure("Slow")
def slow(grades, *, seconds: float = 0.2):
    time.sleep(seconds)
    return grades.hits(1, 5).sum(axis=1) / 5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve runs, judgments, and a slow measure of one's own."""
    made = tmp_path_factory.mktemp("files")
    (made / "runs").mkdir()
    small = simulate(topics=4, docs=60, depth=20, runs_per_group=3, manual_runs=0)
    for run in small.runs[:12]:
        assay.write(made / "runs" / f"{run.name}.run", run)
    assay.write(made / "qrels.txt", small.qrels)
    (made / "slow.py").write_text(SLOW)
    return made


def score(folder: Path, *more: object, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [*ASSAY, "score", "runs", "--qrels", "qrels.txt", *map(str, more)]
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


def said(folder: Path, *more: object, **environment: str) -> str:
    """The one line that a call which fails says."""
    failed = score(folder, *more, **environment)
    assert (failed.returncode, failed.stdout) == (2, ""), failed.stderr
    assert failed.stderr.startswith("assay: ")
    assert failed.stderr.count("\n") == 1
    return failed.stderr.removeprefix("assay: ").rstrip()


def test_the_engine_changes_no_byte(folder: Path, tmp_path: Path) -> None:
    own = ("--plugin", "slow.py", "-m", "AP nDCG@10 Slow(seconds=0)")
    alone = score(folder, *own, "--jobs", 1, "--save", tmp_path / "alone.csv", "--quiet")
    by_dask = score(folder, *own, "--engine", "dask", "--jobs", 2, "--save", tmp_path / "dask.csv", "--quiet")
    assert (by_dask.returncode, by_dask.stderr) == (0, "")
    assert by_dask.stdout == alone.stdout
    assert (tmp_path / "dask.csv").read_bytes() == (tmp_path / "alone.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--engine dask --scheduler tcp://127.0.0.1:1", "scheduler tcp://127.0.0.1:1 cannot be reached (Connection"),
        ("--engine dask --scheduler nonsense", "no address of a scheduler: 'nonsense'; give one such as tcp://"),
        ("--engine dask --scheduler tcp://127.0.0.1:1 --jobs 2", "--jobs are workers of this machine"),
        ("--scheduler tcp://127.0.0.1:1", "a scheduler (tcp://127.0.0.1:1) has no effect with the engine local"),
        ("--engine dusk", "'dusk' is not one of 'local', 'dask', 'spark'"),
    ],
)
def test_what_cannot_be_had_is_one_line(folder: Path, words: str, message: str) -> None:
    assert message in said(folder, *words.split())


def test_the_environment_chooses_and_the_option_goes_first(folder: Path) -> None:
    elsewhere = {"ASSAY_ENGINE": "dask", "ASSAY_SCHEDULER": "tcp://127.0.0.1:1"}
    assert "tcp://127.0.0.1:1 cannot be reached" in said(folder, **elsewhere)
    assert score(folder, "--engine", "local", **elsewhere).returncode == 0
    assert said(folder, ASSAY_ENGINE="dusk").startswith("ASSAY_ENGINE: no engine 'dusk'")


def test_an_engine_that_has_nothing_to_do_is_told(folder: Path) -> None:
    one_run = min((folder / "runs").iterdir())
    words = [*ASSAY, "score", str(one_run), "--qrels", "qrels.txt", "--engine", "dask"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr == "nothing was long enough for the engine dask; all was done here\n"


def test_a_scheduler_that_goes_away_is_one_line_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    with running(tmp_path, workers=1) as cluster:
        words = [*ASSAY, "score", "runs", "--qrels", "qrels.txt", "--plugin", "slow.py", "-m", "Slow(seconds=1)"]
        words += ["--engine", "dask", "--scheduler", cluster.address, "--save", str(tmp_path / "scores.csv")]
        command = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            _until_busy(cluster.address)
            cluster.scheduler.send_signal(signal.SIGKILL)
            out, err = command.communicate(timeout=60)
        finally:
            command.kill()
    assert (command.returncode, out) == (2, "")
    assert err.startswith(f"assay: the Dask scheduler {cluster.address} went away in the middle of the work")
    assert err.count("\n") == 1
    assert not (tmp_path / "scores.csv").exists()


def test_an_interrupt_ends_the_command_and_its_workers(folder: Path) -> None:
    words = [*ASSAY, "score", "runs", "--qrels", "qrels.txt", "--plugin", "slow.py", "-m", "Slow(seconds=1)"]
    command = subprocess.Popen(
        [*words, "--engine", "dask", "--jobs", "2"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    try:
        until = time.monotonic() + START
        while len(_processes_of(command.pid)) < 3:  # the command and its workers
            assert time.monotonic() < until
            time.sleep(0.1)
        time.sleep(1)
        os.killpg(command.pid, signal.SIGINT)  # as a terminal does
        _, err = command.communicate(timeout=30)
        assert command.returncode == 130
        assert "assay: interrupted" in err.splitlines()
        assert "Traceback" not in err
        until = time.monotonic() + 10
        while _processes_of(command.pid):
            assert time.monotonic() < until
            time.sleep(0.1)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(command.pid, signal.SIGKILL)


def _processes_of(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def _until_busy(address: str) -> None:
    """Wait until a worker of the cluster is at work."""
    until = time.monotonic() + START
    with distributed.Client(address, timeout=START, set_as_default=False) as client:
        while not any(client.processing().values()):
            assert time.monotonic() < until
            time.sleep(0.1)
