"""assay measures retrieval systems honestly and cheaply.

Files → tables → grades → scores → result → page; each arrow is one function. Names are loaded when they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.version import __version__

if TYPE_CHECKING:
    from assay.data import Labels, Qrels, Run, RunInfo, Topics
    from assay.errors import AssayError, DataError, UsageError
    from assay.grades import Grades, align
    from assay.io import read_qrels, read_run, write_qrels, write_run
    from assay.measures import Measure, measure, parse
    from assay.scorefiles import read_scores, write_scores
    from assay.scores import ScoreMatrix
    from assay.scoring import Policy, evaluate
    from assay.tables import Table

_HOMES = {
    "AssayError": "errors", "DataError": "errors", "Grades": "grades", "Labels": "data", "Measure": "measures",
    "Policy": "scoring", "Qrels": "data", "Run": "data", "RunInfo": "data", "ScoreMatrix": "scores",
    "Table": "tables", "Topics": "data", "UsageError": "errors", "align": "grades", "evaluate": "scoring",
    "measure": "measures", "parse": "measures", "read_qrels": "io", "read_run": "io", "read_scores": "scorefiles",
    "write_qrels": "io", "write_run": "io", "write_scores": "scorefiles",
}  # fmt: skip

__all__ = [
    "AssayError", "DataError", "Grades", "Labels", "Measure", "Policy", "Qrels", "Run", "RunInfo", "ScoreMatrix",
    "Table", "Topics", "UsageError", "__version__", "align", "evaluate", "measure", "parse", "read_qrels", "read_run",
    "read_scores", "write_qrels", "write_run", "write_scores",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"assay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
