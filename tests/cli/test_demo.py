"""assay demo: the collection is there, and the commands it suggests run as they are printed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ASSAY = Path(sys.executable).with_name("assay")


def environment(path: str) -> dict[str, str]:
    return {**os.environ, "PATH": path}


def suggested(printed: str) -> list[str]:
    _, _, commands = printed.partition("Try next:\n")
    commands, _, in_browser = commands.partition("And in the browser:\n")
    assert " serve --qrels " in in_browser
    return [line.strip() for line in commands.splitlines() if line.strip()]


@pytest.mark.parametrize("on_path", [True, False])
def test_the_suggested_commands_run_as_they_are_printed(tmp_path: Path, on_path: bool) -> None:
    if not ASSAY.exists():
        pytest.skip("assay is not installed beside this Python")
    folder = tmp_path / "a folder"
    path = f"{ASSAY.parent}{os.pathsep}{os.defpath}" if on_path else os.defpath
    done = subprocess.run(
        [ASSAY, "demo", "--no-report", "--folder", folder],
        capture_output=True, text=True, check=True, env=environment(path),
    )  # fmt: skip
    commands = suggested(done.stderr)
    assert len(commands) == 3
    for command in commands:
        assert (shlex.split(command)[0] == "assay") == on_path
        again = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, check=False, env=environment(path)
        )
        assert again.returncode == 0, again.stderr
        assert again.stdout
