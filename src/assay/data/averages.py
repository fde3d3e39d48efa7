"""Scores over topics in one number: mean, median, geometric mean or sum."""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Floats

AGGREGATES = ("mean", "median", "geometric", "sum")
"""How the scores of a run on its topics become one number."""
FLOOR = 1e-5
"""The least score that a geometric mean sees, as in trec_eval."""


def averaged(scores: Floats, how: str = "mean") -> float:
    """Scores over the topics in one number, by one of AGGREGATES; 0 without topics."""
    if not len(scores):
        return 0.0
    if how == "median":
        return float(np.median(scores))
    if how == "geometric":
        return float(np.exp(np.log(np.maximum(scores, FLOOR)).mean()))
    return float(scores.sum() if how == "sum" else scores.mean())
