"""A file that is cut, written to or replaced while it is read gives an error or the old answer, never anything else."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.io import files, read_qrels, read_run

LINES = 40_000
SCORING = """
import sys
from pathlib import Path
import assay
from assay.core.errors import AssayError

qrels = assay.Qrels.from_dict({"001": {"a01": 1}})
print("started", flush=True)
for _ in range(10):
    try:
        assay.evaluate([Path(sys.argv[1])], qrels, ["AP"])
    except AssayError:
        pass
print("alive")
"""


def text(tag: str) -> str:
    """A run whose every line names its version, so that a mixture of two can be told."""
    return "".join(f"{i // 100:03d} Q0 {tag}{i % 100:02d} 1 {100 - i % 100}.5 {tag}\n" for i in range(LINES))


def versions(path: Path, *, reads: int) -> set[str]:
    """The versions that many readings of the file give; an error counts as one."""
    found = set()
    for _ in range(reads):
        try:
            docs = read_run(path).docs
        except DataError:
            found.add("error")
            continue
        assert len(docs) == LINES
        (version,) = {doc[:1] for doc in docs.tolist()}
        found.add(version)
    return found


def while_running(change: Callable[[], None], look: Callable[[], set[str]]) -> set[str]:
    """What is seen while a thread makes the change again and again."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            change()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        return look()
    finally:
        stop.set()
        thread.join()


def test_a_file_that_is_replaced_is_read_as_one_or_the_other(tmp_path: Path) -> None:
    path, turn = tmp_path / "a.run", [0]
    path.write_text(text("a"))
    both = [text("a"), text("b")]

    def replace() -> None:
        turn[0] += 1
        (tmp_path / "new").write_text(both[turn[0] % 2])
        os.replace(tmp_path / "new", path)

    assert while_running(replace, lambda: versions(path, reads=20)) <= {"a", "b"}


def test_a_file_that_is_cut_and_written_again_is_an_error_or_whole(tmp_path: Path) -> None:
    path, whole = tmp_path / "a.run", text("a").encode()
    path.write_bytes(whole)

    def cut() -> None:
        os.truncate(path, len(whole) // 2)
        path.write_bytes(whole)
        time.sleep(0.02)

    def look() -> set[str]:
        found = set()
        for _ in range(20):
            try:
                assert set(read_run(path).docs.tolist()) <= {f"a{i:02d}" for i in range(100)}
            except DataError as error:
                found.add(str(error))
        return found

    for message in while_running(cut, look):
        # What was whole when it was read, though cut, is read or refused as any cut file is.
        assert "changed while it was read" in message or "fields" in message or "no line" in message, message


@pytest.mark.parametrize("change", ["cut", "written to"])
def test_a_change_between_two_reads_of_a_file_is_seen(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.run"
    path.write_text(text("a"))
    real, times = files._filled, [0]

    def meanwhile(file: object, view: memoryview, threads: int) -> int:
        if change == "cut":
            os.truncate(path, 1000)
        else:
            with path.open("r+b") as other:
                other.write(b"001")
            times.append(len(times))
            os.utime(path, ns=(0, times[-1]))
        return real(file, view, threads)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "_filled", meanwhile)
    for read in (read_run, read_qrels):
        with pytest.raises(DataError, match="changed while it was read"):
            read(path)


def test_a_process_that_reads_a_file_that_shrinks_lives(tmp_path: Path) -> None:
    path, whole = tmp_path / "a.run", text("a").encode()
    path.write_bytes(whole)
    process = subprocess.Popen([sys.executable, "-c", SCORING, path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    while process.poll() is None:
        os.truncate(path, 100)
        path.write_bytes(whole)
    assert process.stdout.read() == "alive\n"
    process.stdout.close()
    assert process.returncode == 0
