"""Scores of runs under declared policies, and what happened on one topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.scoring.assigned_scores import evaluate_nuggets, evaluate_reports, evaluate_support
    from assay.scoring.evaluation import Aligned, evaluate
    from assay.scoring.fairness_scores import evaluate_fairness
    from assay.scoring.part_scores import PartScores, score_part
    from assay.scoring.policy import Policy
    from assay.scoring.score_bounds import ScoreBounds, bounds
    from assay.scoring.topic_views import topic_view

_HOMES = {
    "Aligned": "evaluation",
    "PartScores": "part_scores",
    "Policy": "policy",
    "ScoreBounds": "score_bounds",
    "bounds": "score_bounds",
    "evaluate": "evaluation",
    "evaluate_fairness": "fairness_scores",
    "evaluate_nuggets": "assigned_scores",
    "evaluate_reports": "assigned_scores",
    "evaluate_support": "assigned_scores",
    "score_part": "part_scores",
    "topic_view": "topic_views",
}
__all__ = [
    "Aligned", "PartScores", "Policy", "ScoreBounds", "bounds", "evaluate", "evaluate_fairness", "evaluate_nuggets",
    "evaluate_reports", "evaluate_support", "score_part", "topic_view",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
