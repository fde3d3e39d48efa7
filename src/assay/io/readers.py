"""read_run, read_qrels and their writers: the format is told by the file's ending, TREC's own where it says nothing.

Tables are read by `tables`, which is imported only where there is one: most runs are TREC files.
"""

from __future__ import annotations

from pathlib import Path

from assay.data import Qrels, Run
from assay.io import trec
from assay.io.files import TABULAR, kind


def read_run(path: str | Path, *, ranks: bool = False, threads: int = 1) -> Run:
    """A run from a TREC file or a table; `-` is standard input. See `trec.read_run` for the options."""
    if kind(path) not in TABULAR:
        return trec.read_run(path, ranks=ranks, threads=threads)
    from assay.io import tables

    return tables.read_run(path)


def read_qrels(path: str | Path) -> Qrels:
    """Judgments from a TREC file or a table; `-` is standard input."""
    if kind(path) not in TABULAR:
        return trec.read_qrels(path)
    from assay.io import tables

    return tables.read_qrels(path)


def write_run(path: str | Path, run: Run) -> None:
    """A run in the format of the file's ending."""
    if kind(path) not in TABULAR:
        trec.write_run(path, run)
        return
    from assay.io import tables

    tables.write_run(path, run)


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments in the format of the file's ending."""
    if kind(path) not in TABULAR:
        trec.write_qrels(path, qrels)
        return
    from assay.io import tables

    tables.write_qrels(path, qrels)
