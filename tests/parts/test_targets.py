"""Folders that commands write are whole or not there, wherever they are to lie; an error names them."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay import DataError, UsageError
from assay.parts import score_parts, split_runs
from assay.parts.layout import UNFINISHED, made_whole
from tests.parts.drawn_runs import drawn_judgments, drawn_lines, written

PARTS = {"parts.json", "run=a"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return written(tmp_path / "a.run", drawn_lines(20, 1, tag="a"))


def listed(folder: Path) -> set[str]:
    return set(os.listdir(folder))


def test_a_folder_that_is_there_is_filled_and_stays(run: Path, tmp_path: Path) -> None:
    """It may be the start of another disk, which cannot be replaced."""
    target = tmp_path / "target"
    target.mkdir()
    before = target.stat().st_ino
    split_runs([run], 3, target)
    assert target.stat().st_ino == before
    assert listed(target) == PARTS
    assert score_parts(target, {"1": {"d1": 1}, "q1": {"d1": 1}}, "AP").runs == ("a",)


def test_the_folder_of_a_link_is_filled(run: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    split_runs([run], 3, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert listed(tmp_path / "real") == PARTS


def test_the_folder_that_one_is_in_is_filled(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    split_runs([run], 3, ".")
    assert set(os.listdir()) == PARTS
    with pytest.raises(UsageError, match="there already"):
        split_runs([run], 3, "..")


def test_what_fails_leaves_an_empty_folder_empty(run: Path, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    with run.open("a") as file:
        file.write("q1 Q0 d1\n")
    with pytest.raises(DataError, match="3 fields"):
        split_runs([run], 3, tmp_path / "target")
    assert listed(tmp_path / "target") == set()


def test_a_folder_whose_writing_was_interrupted(run: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    (target / UNFINISHED / "run=b").mkdir(parents=True)
    split_runs([run], 3, target)
    assert listed(target) == PARTS
    (target / UNFINISHED).mkdir()
    with pytest.raises(DataError, match="not written to its end"):
        score_parts(target, {"q1": {"d1": 1}}, "AP")


def test_an_interrupt_between_two_renames_leaves_nothing(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is there already, so that what was made is put into it piece by piece."""
    target = tmp_path / "target"
    target.mkdir()
    renamed = Path.rename

    def interrupted(path: Path, to: Path) -> Path:
        if path.name == "parts.json":
            raise KeyboardInterrupt
        return renamed(path, to)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        split_runs([run], 3, target)
    assert listed(target) == set()
    monkeypatch.undo()
    split_runs([run], 3, target)
    assert listed(target) == PARTS


def test_a_link_that_leads_nowhere_is_refused_before_anything_is_done(run: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="link: it is a link that leads nowhere; name a folder that is new or empty"):
        split_runs([run], 3, tmp_path / "link")


def test_an_error_of_reading_does_not_name_the_target(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Input/output") as caught, made_whole(tmp_path / "target"):
        raise OSError(errno.EIO, "Input/output error")
    assert caught.value.filename is None


def _small_files() -> None:
    """A limit for what is written, as a full disk is one."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))


def assay(folder: Path, *words: str, limit: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay.cli.main", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, preexec_fn=limit)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of other systems are others")
@pytest.mark.parametrize(
    "command",
    [
        "split a.run --parts 2 -o out",
        "score parts --qrels parts/qrels -m AP -o out",
        "score parts --qrels qrels.txt -m AP -o out",
        "standardize apply scores --save out",
        "score a.run --qrels qrels.txt -m AP -q -o out",
    ],
)
def test_a_full_disk_is_one_line_that_names_the_target(command: str, run: Path, tmp_path: Path) -> None:
    written(tmp_path / "qrels.txt", drawn_judgments(20, 1))
    split_runs([run], 2, tmp_path / "parts", qrels=tmp_path / "qrels.txt")
    score_parts(tmp_path / "parts", tmp_path / "parts" / "qrels", "AP", to=tmp_path / "scores")
    before = listed(tmp_path)
    done = assay(tmp_path, *command.split(), limit=_small_files)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "assay: out: File too large\n")
    assert listed(tmp_path) == before
