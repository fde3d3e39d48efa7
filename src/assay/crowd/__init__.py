"""From many workers to judgments one can trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.crowd.aggregation import aggregate
    from assay.crowd.campaigns import Campaign, compare_campaigns
    from assay.crowd.cuts import best_cuts, transformed
    from assay.crowd.cutsets import honest_cuts
    from assay.crowd.preference_pairs import Preferences
    from assay.crowd.probability_checks import calibrated, reliability
    from assay.crowd.quality import worker_quality
    from assay.crowd.rectified_scores import gold_scores
    from assay.crowd.uncertain import Uncertain
    from assay.crowd.uncertain_files import read_uncertain, write_uncertain
    from assay.crowd.uncertain_scores import score_uncertainty

_HOMES = {
    "Campaign": "campaigns",
    "Preferences": "preference_pairs",
    "Uncertain": "uncertain",
    "aggregate": "aggregation",
    "best_cuts": "cuts",
    "calibrated": "probability_checks",
    "compare_campaigns": "campaigns",
    "gold_scores": "rectified_scores",
    "honest_cuts": "cutsets",
    "read_uncertain": "uncertain_files",
    "reliability": "probability_checks",
    "score_uncertainty": "uncertain_scores",
    "transformed": "cuts",
    "worker_quality": "quality",
    "write_uncertain": "uncertain_files",
}
__all__ = [
    "Campaign",
    "Preferences",
    "Uncertain",
    "aggregate",
    "best_cuts",
    "calibrated",
    "compare_campaigns",
    "gold_scores",
    "honest_cuts",
    "read_uncertain",
    "reliability",
    "score_uncertainty",
    "transformed",
    "worker_quality",
    "write_uncertain",
]
__getattr__ = loader(__name__, _HOMES)
