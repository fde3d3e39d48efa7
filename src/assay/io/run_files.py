"""Several run files: those of a folder, each under a name of its own; and lists of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.core.engine import ordered_map
from assay.core.errors import UsageError
from assay.data import Run
from assay.io.files import read_bytes
from assay.io.readers import read_run
from assay.io.sheet import decoded


def run_files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and the files in the folders named, in order of their names.

    >>> run_files([Path("a.run"), Path("b.run")])
    [PosixPath('a.run'), PosixPath('b.run')]
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        if not inside:
            raise UsageError(f"{path}: the folder has no files")
        files += inside
    return files


def read_run_files(paths: Sequence[Path], *, jobs: int = 2) -> list[Run]:
    """The runs of files and folders, read by threads; runs of one name are called as their files."""
    files = run_files(paths)
    runs = ordered_map(lambda path: read_run(path), files, jobs=jobs, threads=True)
    tags = [run.name for run in runs]
    named = []
    for run, file in zip(runs, files, strict=True):
        is_shared = tags.count(run.name) > 1
        named.append(replace(run, name=file.name) if is_shared else run)
    return named


def read_names(path: str | Path) -> list[str]:
    """The names in a file, one per line."""
    lines = decoded(str(path), read_bytes(path)).splitlines()
    return [line.strip() for line in lines if line.strip()]
