"""How alike are two rankings?

Of the same items: `correlation`; of result lists: `rbo`, `overlap`, `preferences`; of many runs: `matrix`, `series`.
"""

from assay.rankings.correlation import CORRELATIONS
from assay.rankings.rank_biased import rbo_of_scores

__all__ = ["CORRELATIONS", "rbo_of_scores"]
