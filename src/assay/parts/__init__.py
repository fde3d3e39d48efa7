"""Runs larger than memory: parts of whole topics, scored one by one anywhere, and merged without rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.parts.layout import part_of
    from assay.parts.merging import ExactSum
    from assay.parts.scored_parts import ScoredParts, score_parts
    from assay.parts.splitting import SplitRuns, split_runs

_HOMES = {
    "ExactSum": "merging",
    "ScoredParts": "scored_parts",
    "SplitRuns": "splitting",
    "part_of": "layout",
    "score_parts": "scored_parts",
    "split_runs": "splitting",
}
__all__ = ["ExactSum", "ScoredParts", "SplitRuns", "part_of", "score_parts", "split_runs"]
__getattr__ = loader(__name__, _HOMES)
