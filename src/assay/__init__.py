"""assay measures retrieval systems honestly and cheaply.

Files → tables → grades → scores → result → page; each arrow is one function. Names are loaded when they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.version import __version__

if TYPE_CHECKING:
    from assay.agreement import agreement
    from assay.board import board
    from assay.check import check
    from assay.core.engines import engine
    from assay.core.errors import AssayError, DataError, MissingExtra, UsageError
    from assay.core.tables import Table
    from assay.crowd import aggregate
    from assay.data import Labels, Qrels, Run, ScoreMatrix, Scores, Topics
    from assay.gate import gate
    from assay.io import read_labels, read_qrels, read_run, read_scores, read_topics, write
    from assay.judges import judge
    from assay.measures import Measure, measure
    from assay.nojudgments import predict
    from assay.plan import audit, power
    from assay.pooling import Judging, pool
    from assay.replication import replicate
    from assay.report import Figure, report
    from assay.scoring import Policy, evaluate, score_part
    from assay.similarity import similarity
    from assay.standard import standardize
    from assay.stats import compare, paper_table
    from assay.store import Store
    from assay.studies import simulate
    from assay.topics import best_topics

_HOMES = {
    "AssayError": "core.errors",
    "DataError": "core.errors",
    "Figure": "report",
    "Judging": "pooling",
    "Labels": "data",
    "Measure": "measures",
    "MissingExtra": "core.errors",
    "Policy": "scoring",
    "Qrels": "data",
    "Run": "data",
    "ScoreMatrix": "data",
    "Scores": "data",
    "Store": "store",
    "Table": "core.tables",
    "Topics": "data",
    "UsageError": "core.errors",
    "aggregate": "crowd",
    "audit": "plan",
    "best_topics": "topics",
    "compare": "stats",
    "engine": "core.engines",
    "evaluate": "scoring",
    "judge": "judges",
    "measure": "measures",
    "paper_table": "stats",
    "pool": "pooling",
    "power": "plan",
    "predict": "nojudgments",
    "read_labels": "io",
    "read_qrels": "io",
    "read_run": "io",
    "read_scores": "io",
    "read_topics": "io",
    "replicate": "replication",
    "score_part": "scoring",
    "simulate": "studies",
    "standardize": "standard",
    "write": "io",
}
_CALLABLE = ("agreement", "board", "check", "gate", "report", "similarity")
"""Functions that have the name of their package or module: calling the module calls the function."""

__all__ = [
    "AssayError", "DataError", "Figure", "Judging", "Labels", "Measure", "MissingExtra", "Policy", "Qrels", "Run",
    "ScoreMatrix", "Scores", "Store", "Table", "Topics", "UsageError", "__version__", "aggregate", "agreement", "audit",
    "best_topics", "board", "check", "compare", "engine", "evaluate", "gate", "judge", "measure", "paper_table", "pool",
    "power", "predict", "read_labels", "read_qrels", "read_run", "read_scores", "read_topics", "replicate", "report",
    "score_part", "similarity", "simulate", "standardize", "write",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _CALLABLE:
        return import_module(f"assay.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(import_module(f"assay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
