"""Is a machine judge any good, and how is it used without fooling oneself?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.judges.audit import judge
    from assay.judges.calibration import calibrated
    from assay.judges.doc_estimates import estimate_docs
    from assay.judges.filled_scores import filled
    from assay.judges.interval_coverage import coverage
    from assay.judges.label_plans import plan_labels
    from assay.judges.labelled_pairs import labelled
    from assay.judges.relevant_share import prevalence, rogan_gladen
    from assay.judges.score_estimates import estimate_scores
    from assay.judges.topic_estimates import estimate
    from assay.judges.topic_estimators import ESTIMATORS, estimated

_HOMES = {
    "ESTIMATORS": "topic_estimators",
    "calibrated": "calibration",
    "coverage": "interval_coverage",
    "estimate": "topic_estimates",
    "estimate_docs": "doc_estimates",
    "estimate_scores": "score_estimates",
    "estimated": "topic_estimators",
    "filled": "filled_scores",
    "judge": "audit",
    "labelled": "labelled_pairs",
    "plan_labels": "label_plans",
    "prevalence": "relevant_share",
    "rogan_gladen": "relevant_share",
}
__all__ = [
    "ESTIMATORS", "calibrated", "coverage", "estimate", "estimate_docs", "estimate_scores", "estimated", "filled",
    "judge", "labelled", "plan_labels", "prevalence", "rogan_gladen",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
