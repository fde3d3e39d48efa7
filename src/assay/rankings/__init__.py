"""How alike do two orders of the same items stand? Ranks, τ, ρ, τ_AP, RBO, Borda, Condorcet: one rule for all.

* Ties: equal scores are tied. Means and sums go through `settled` first, so that rounding makes no order.
* τ without a further word is τ-b, as in scipy; τ-a is called τ-a wherever it is used.
* Undefined (all scores equal, fewer than two items): a function of two vectors raises DataError, a function of many
  rows gives NaN unless its caller says `undefined=0.0`, and a table shows a dash with the reason.
"""

# Loaded at once, so that the registry CORRELATIONS is complete wherever it comes from.
from assay.rankings.batch import kendall_matrix, kendall_rows
from assay.rankings.correlation import CORRELATIONS, kendall_tau_a, kendall_tau_b, spearman, tau_ap
from assay.rankings.counts import midranks, settled
from assay.rankings.fusion import borda, condorcet
from assay.rankings.rank_biased import persistence_for, prefix_weight, rbo

__all__ = [
    "CORRELATIONS", "borda", "condorcet", "kendall_matrix", "kendall_rows", "kendall_tau_a", "kendall_tau_b",
    "midranks", "persistence_for", "prefix_weight", "rbo", "settled", "spearman", "tau_ap",
]  # fmt: skip
