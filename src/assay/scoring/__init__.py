"""Scores of runs under declared policies."""

from assay.scoring.evaluation import Aligned, evaluate
from assay.scoring.policy import Policy
from assay.scoring.score_bounds import ScoreBounds, bounds

__all__ = ["Aligned", "Policy", "ScoreBounds", "bounds", "evaluate"]
