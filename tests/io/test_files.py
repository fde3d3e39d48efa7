"""Writing whole or not at all, and to what is no plain file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import UsageError
from assay.io import read_labels, read_qrels, read_run, read_scores, read_topics
from assay.io.files import write_whole


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_what_is_no_plain_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, seen = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: seen.append(pipe.read_text()), daemon=True)
    reader.start()
    write_whole(pipe, "text")
    reader.join(timeout=10)
    assert seen == ["text"]
    assert pipe.is_fifo()


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        write_whole(tmp_path / "no" / "out.txt", "text")
    assert error.value.filename == str(tmp_path / "no" / "out.txt")


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)
    write_whole(path, "text")
    assert path.read_text() == "text"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("path", [None, 2, -1, True, b"bm25.run", 1.5])
@pytest.mark.parametrize("read", [read_run, read_qrels, read_labels, read_scores, read_topics])
def test_what_names_no_file_is_refused(read: Callable[[Any], Any], path: Any) -> None:
    with pytest.raises(UsageError, match="a file is named by a text or a Path, not by"):
        read(path)
    os.fstat(2)  # is still open: a number is not taken for a descriptor of this process
