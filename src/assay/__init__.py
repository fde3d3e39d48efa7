"""assay measures retrieval systems honestly and cheaply.

Files → tables → grades → scores → result → page; each arrow is one function. Names are loaded when they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.version import __version__

if TYPE_CHECKING:
    from assay.agreement.alpha import krippendorff_alpha
    from assay.agreement.kappa import cohen_kappa
    from assay.core.errors import AssayError, DataError, UsageError
    from assay.core.tables import Table
    from assay.crowd.aggregation import aggregate
    from assay.crowd.quality import worker_quality
    from assay.data import Labels, Qrels, Run, RunInfo, Topics
    from assay.data.aligned import align
    from assay.data.grades import Grades
    from assay.data.intents import IntentQrels
    from assay.data.scores import ScoreMatrix
    from assay.io import read_labels, read_qrels, read_run, read_topics, write_labels, write_qrels, write_run
    from assay.io.diversity import read_intent_qrels
    from assay.io.scores import read_scores, write_scores
    from assay.measures import Measure, measure, parse
    from assay.nojudgments.predictors import predicted
    from assay.nojudgments.ranking import ranked
    from assay.plan.power import power_plan
    from assay.pooling import Judging, left_out
    from assay.rankings.correlation import kendall_tau_b, tau_ap
    from assay.rankings.rank_biased import rbo
    from assay.report import figure, report, save_figure
    from assay.scoring import Policy, evaluate
    from assay.similarity.matrix import similarity_matrix
    from assay.similarity.systems import compare_rankings
    from assay.standard.factors import standardized
    from assay.standard.variance import variance_components
    from assay.stats.all_pairs import all_pairs
    from assay.stats.leaderboard import leaderboard
    from assay.stats.two_runs import compare_two
    from assay.studies.simulate import simulate

_HOMES = {
    "AssayError": "core.errors", "DataError": "core.errors", "Grades": "data", "IntentQrels": "data",
    "Judging": "pooling", "Labels": "data", "Measure": "measures", "Policy": "scoring", "Qrels": "data",
    "Run": "data", "RunInfo": "data", "ScoreMatrix": "data", "Table": "core.tables", "Topics": "data",
    "UsageError": "core.errors", "aggregate": "crowd.aggregation", "align": "data", "all_pairs": "stats.all_pairs",
    "cohen_kappa": "agreement.kappa", "compare_rankings": "similarity.systems", "compare_two": "stats.two_runs",
    "evaluate": "scoring", "figure": "report", "kendall_tau_b": "rankings",
    "krippendorff_alpha": "agreement.alpha", "leaderboard": "stats.leaderboard", "left_out": "pooling",
    "measure": "measures", "parse": "measures", "power_plan": "plan.power", "predicted": "nojudgments.predictors",
    "ranked": "nojudgments.ranking", "rbo": "rankings", "read_intent_qrels": "io.diversity",
    "read_labels": "io", "read_qrels": "io", "read_run": "io", "read_scores": "io.scores", "read_topics": "io",
    "save_figure": "report", "similarity_matrix": "similarity.matrix", "simulate": "studies.simulate",
    "standardized": "standard.factors", "tau_ap": "rankings",
    "variance_components": "standard.variance", "worker_quality": "crowd.quality", "write_labels": "io",
    "write_qrels": "io", "report": "report", "write_run": "io", "write_scores": "io.scores",
}  # fmt: skip

__all__ = [
    "AssayError",
    "DataError",
    "Grades",
    "IntentQrels",
    "Judging",
    "Labels",
    "Measure",
    "Policy",
    "Qrels",
    "Run",
    "RunInfo",
    "ScoreMatrix",
    "Table",
    "Topics",
    "UsageError",
    "__version__",
    "aggregate",
    "align",
    "all_pairs",
    "cohen_kappa",
    "compare_rankings",
    "compare_two",
    "evaluate",
    "figure",
    "kendall_tau_b",
    "krippendorff_alpha",
    "leaderboard",
    "left_out",
    "measure",
    "parse",
    "power_plan",
    "predicted",
    "ranked",
    "rbo",
    "read_intent_qrels",
    "read_labels",
    "read_qrels",
    "read_run",
    "read_scores",
    "read_topics",
    "report",
    "save_figure",
    "similarity_matrix",
    "simulate",
    "standardized",
    "tau_ap",
    "variance_components",
    "worker_quality",
    "write_labels",
    "write_qrels",
    "write_run",
    "write_scores",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"assay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
