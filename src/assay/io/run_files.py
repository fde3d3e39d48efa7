"""Several run files: those of a folder, each run under a name of its own; and lists of names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.core.engine import thread_map
from assay.core.errors import DataError, UsageError
from assay.data import Run
from assay.io.addresses import address_of, files_at
from assay.io.column_names import Named
from assay.io.files import read_bytes
from assay.io.readers import read_runs


def run_files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and the files in the folders named, in order of their names.

    >>> run_files([Path("a.run"), Path("b.run")])
    [PosixPath('a.run'), PosixPath('b.run')]
    """
    files: list[Path] = []
    for path in paths:
        files += files_of(path) or [path]
    return files


def files_of(path: str | Path) -> list[Path] | None:
    """The files of a folder, here or at an address; None if the path is no folder."""
    address = address_of(path)
    if address is None:
        return files_in(Path(path)) if os.path.isdir(path) else None
    inside = files_at(address)
    if inside == []:
        raise UsageError(f"{address}: the folder has no files")
    return inside


def files_in(folder: Path) -> list[Path]:
    """The files of a folder in order of their names, without hidden ones; an error if there is none."""
    inside = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    if not inside:
        raise UsageError(f"{folder}: the folder has no files")
    return inside


def read_run_files(paths: Sequence[Path], *, columns: Named = None, jobs: int = 2) -> list[Run]:
    """The runs of files and folders, read by threads; runs of one name are called as their files.

    columns: our column → that of the tables.
    """
    files = run_files(paths)
    by_file = thread_map(lambda path: read_runs(path, columns=columns), files, threads=jobs)
    runs: list[Run] = []
    sources: list[Path] = []
    for file, found in zip(files, by_file, strict=True):
        runs += found
        sources += [file] * len(found)
    return named_apart(runs, sources)


def named_apart(runs: Sequence[Run], sources: Sequence[Run | str | Path]) -> list[Run]:
    """The runs, each under a name of its own; see `distinct_names`."""
    names = distinct_names([run.name for run in runs], sources)
    return [replace(run, name=name) for run, name in zip(runs, names, strict=True)]


def distinct_names(names: Sequence[str], sources: Sequence[Run | str | Path]) -> list[str]:
    """Names of runs; where several files carry one tag, their file names, and where these are the same, their paths.

    A source is the file that a run is read from, or a run, which knows its file if it has one. Runs of one file keep
    their tags behind its name.

    >>> distinct_names(["bm25", "bm25", "dense"], ["old/a.run", "new/b.parquet", "new/c.run"])
    ['a.run', 'b.parquet', 'dense']
    >>> distinct_names(["bm25", "dense", "bm25"], ["all.csv", "all.csv", "bm25.run"])
    ['all.csv:bm25', 'dense', 'bm25.run']
    """
    files = [source.file if isinstance(source, Run) else str(source) for source in sources]
    called = list(names)
    for at, (name, file) in enumerate(zip(names, files, strict=True)):
        if file is not None and names.count(name) > 1:
            called[at] = _in_file(name, Path(file).name, files.count(file))
    twice = next((name for name in called if called.count(name) > 1), None)
    if twice is None:
        return called
    paths = [_in_file(name, file, files.count(file)) for name, file in zip(names, files, strict=True) if file]
    if len(set(paths)) == len(sources):
        return paths
    raise DataError(f"two runs are called {twice!r}; every run needs a name of its own")


def _in_file(name: str, file: str, runs: int) -> str:
    """The file of a run; with the name of the run where the file has several."""
    return file if runs == 1 else f"{file}:{name}"


def read_names(path: str | Path) -> list[str]:
    """The names in a file, one per line."""
    from assay.io.sheet import decoded

    lines = decoded(str(path), read_bytes(path)).splitlines()
    return [line.strip() for line in lines if line.strip()]
