"""Does it replicate, does it last? An improvement tried again, on the same topics or others; systems over the years.

Where the flow stands: scores (and runs) of an original and a replicated experiment → **result**. Every number comes
with an interval, and the verdict rests on intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.replication.doc_order import tau_union
    from assay.replication.lasting import ScoreSeries, score_series
    from assay.replication.ratios import ratio_of_means
    from assay.replication.replicated import Replication, replicate, replicate_runs
    from assay.replication.simulated_ratios import ratio_coverage

_HOMES = {
    "Replication": "replicated",
    "ScoreSeries": "lasting",
    "ratio_coverage": "simulated_ratios",
    "ratio_of_means": "ratios",
    "replicate": "replicated",
    "replicate_runs": "replicated",
    "score_series": "lasting",
    "tau_union": "doc_order",
}
__all__ = [
    "Replication", "ScoreSeries", "ratio_coverage", "ratio_of_means", "replicate", "replicate_runs", "score_series",
    "tau_union",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
