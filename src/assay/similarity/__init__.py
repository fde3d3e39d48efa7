"""How alike are two rankings, two runs, many runs?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import callable_module, loader

if TYPE_CHECKING:
    from assay.rankings import rbo
    from assay.similarity.by_topic import compare_runs, p_sweep
    from assay.similarity.drank import d_rank_test
    from assay.similarity.likeness import similarity
    from assay.similarity.matrix import similarity_matrix
    from assay.similarity.over_time import series
    from assay.similarity.overlap import LIST_SIMILARITIES
    from assay.similarity.shared_preferences import preference_similarity
    from assay.similarity.systems import compare_rankings

_HOMES = {
    "LIST_SIMILARITIES": "overlap",
    "compare_rankings": "systems",
    "compare_runs": "by_topic",
    "d_rank_test": "drank",
    "p_sweep": "by_topic",
    "preference_similarity": "shared_preferences",
    "rbo": "by_topic",
    "series": "over_time",
    "similarity": "likeness",
    "similarity_matrix": "matrix",
}
__all__ = [
    "LIST_SIMILARITIES", "compare_rankings", "compare_runs", "d_rank_test", "p_sweep", "preference_similarity", "rbo",
    "series", "similarity", "similarity_matrix",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)

callable_module(__name__)
