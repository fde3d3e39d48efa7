"""Which topics suffice? Subsets of topics that rank the runs as all topics do, what they are worth, which to judge.

`best_topics` and `search_subsets` find them, `good_subsets` counts those that are good enough, `hold_out` and
`transfer` test them on other runs, `choose_topics` picks topics before judging.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.topics.choose import choose_topics
    from assay.topics.conclusions import compare_conclusions
    from assay.topics.extremes import best_topics
    from assay.topics.good_enough import good_subsets
    from assay.topics.holdout import hold_out, transfer
    from assay.topics.one_per_cluster import cluster_series
    from assay.topics.search import search_subsets
    from assay.topics.stability import subset_stability
    from assay.topics.synthetic import growth

_HOMES = {
    "best_topics": "extremes",
    "choose_topics": "choose",
    "cluster_series": "one_per_cluster",
    "compare_conclusions": "conclusions",
    "good_subsets": "good_enough",
    "growth": "synthetic",
    "hold_out": "holdout",
    "search_subsets": "search",
    "subset_stability": "stability",
    "transfer": "holdout",
}
__all__ = [
    "best_topics", "choose_topics", "cluster_series", "compare_conclusions", "good_subsets", "growth", "hold_out",
    "search_subsets", "subset_stability", "transfer",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
