"""How similarly do a subset of the topics and all topics rank the runs? One number per subset, for many at once.

A criterion takes the runs' sums over each subset (subsets × runs, whole numbers where the scores are decimals, so
that ties are ties) and the sums over all topics (runs). Searches and series know criteria only through CRITERIA.
A subset on which every run has the same sum orders nothing: its correlation counts as 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.registry import Registry, Within
from assay.rankings.batch import kendall_rows, listed_ties, pair_counts, pearson_rows, spearman_rows, tau_ap_rows
from assay.rankings.counts import tie_groups
from assay.rankings.rank_biased import persistence_for

Numbers = npt.NDArray[Any]
CriterionFunction = Callable[..., Floats]
CRITERIA: Registry[CriterionFunction] = Registry("criterion")
"""Facts: title; higher, whether the best subset has the highest value; quick, whether millions of subsets may be
valued."""


@CRITERIA.register("pearson", title="Pearson's ρ", higher=True, quick=True)
def pearson(sums: Numbers, full: Numbers) -> Floats:
    """Linear correlation of the subset's means with the means over all topics.

    >>> pearson(np.array([[1, 2, 3], [3, 2, 1], [5, 5, 5]]), np.array([10, 20, 30])).round(6).tolist()
    [1.0, -1.0, 0.0]
    """
    return pearson_rows(sums, full, undefined=0.0)


@CRITERIA.register("tau", title="Kendall's τ-b", higher=True, quick=True)
def tau(sums: Numbers, full: Numbers) -> Floats:
    """Kendall's τ-b: (concordant - discordant) / √(pairs untied here · pairs untied on all topics).

    >>> tau(np.array([[1, 2, 3], [3, 2, 1], [5, 5, 6]]), np.array([10, 20, 30])).round(6).tolist()
    [1.0, -1.0, 0.816497]
    """
    return kendall_rows(sums, full, undefined=0.0)


@CRITERIA.register("tau-ap", title="τ_AP", higher=True, quick=False)
def tau_ap(sums: Numbers, full: Numbers) -> Floats:
    """Yilmaz, Aslam and Robertson's τ_AP of the subset's ranking: mistakes near its top weigh more.

    τ_AP = 2/(m-1) · Σ_{i≥2} C(i)/(i-1) - 1, where C(i) counts the runs above rank i of the subset's ranking that are
    better on all topics too; it is not symmetric. Runs that tie on the subset count as in either order equally often;
    a pair that ties on all topics counts half. Without ties this is the definition of 2008.

    >>> tau_ap(np.array([[1, 2, 3], [3, 2, 1], [2, 1, 3]]), np.array([10, 20, 30])).round(6).tolist()
    [1.0, -1.0, 0.5]
    """
    return tau_ap_rows(sums, full)


@CRITERIA.register("spearman", title="Spearman's ρ", higher=True, quick=False)
def spearman(sums: Numbers, full: Numbers) -> Floats:
    """Correlation of the ranks, ties at their mean rank.

    >>> spearman(np.array([[1, 2, 3], [2, 1, 3]]), np.array([10, 20, 30])).round(6).tolist()
    [1.0, 0.5]
    """
    return spearman_rows(sums, full, undefined=0.0)


@CRITERIA.register("rbo", title="RBO", higher=True, quick=False)
def rbo(sums: Numbers, full: Numbers, *, p: Annotated[float, Within(0, 1, open=True)] | None = None) -> Floats:
    """Rank-biased overlap of the two rankings of runs, extrapolated; by default the top tenth has 75 % of the weight.

    RBO = (1-p)/p · Σ_d p^d · A_d + p^m, A_d the overlap of the top d over d; tied runs are in the top d to the part
    that all orders of them would put them there (Webber, Moffat and Zobel 2010; variant a of Corsi and Urbano 2024).
    Batched here, since one ranking of a million subsets is the same in all of them; `rankings.rbo` is of two lists.

    >>> rbo(np.array([[1, 2, 3], [2, 1, 3]]), np.array([10, 20, 30]), p=0.5).round(6).tolist()
    [1.0, 0.875]
    """
    runs = sums.shape[1]
    if p is None:
        p = persistence_for(max(1, round(0.1 * runs)), 0.75)
    depth = np.arange(1, runs + 1)
    weight = (1 - p) / p * p**depth / depth
    # what a run adds at each of its ranks: its share in the top d of all topics, for every depth from that rank on
    by_depth = _share_in_top(full, depth) * weight
    by_rank = np.cumsum(by_depth[:, ::-1], axis=1)[:, ::-1]
    up_to_rank = np.column_stack([np.zeros(runs), np.cumsum(by_rank, axis=1)])
    # tied runs share their ranks: each adds the mean over them
    smaller, size = tie_groups(sums)
    last_rank = runs - smaller
    rank_before = last_rank - size
    run = np.arange(runs)
    over_ties = up_to_rank[run, last_rank] - up_to_rank[run, rank_before]
    mean_over_ties = over_ties / size
    return np.asarray(mean_over_ties.sum(axis=1) + p**runs)


@CRITERIA.register("error-rate", title="error rate", higher=False, quick=True)
def error_rate(sums: Numbers, full: Numbers) -> Floats:
    """Share of the pairs of runs, untied on all topics, that the subset orders otherwise; a tie is half an error.

    Buckley and Voorhees 2000. 0 is perfect, so here the best subset has the lowest value.

    >>> error_rate(np.array([[1, 2, 3], [3, 2, 1], [2, 1, 3]]), np.array([10, 20, 30])).round(6).tolist()
    [0.0, 1.0, 0.333333]
    """
    agree, against = pair_counts(sums, full)
    runs = len(full)
    pairs = runs * (runs - 1) / 2
    untied = pairs - len(listed_ties(full))
    tied_on_subset = untied - agree - against
    errors = against + tied_on_subset / 2
    return np.asarray(errors / untied)


def _share_in_top(full: Numbers, depth: Numbers) -> Floats:
    """For each run and depth d: in what share of all orders of tied runs it is among the top d."""
    smaller, size = tie_groups(full)
    higher = len(full) - smaller - size
    share = (depth - higher[:, None]) / size[:, None]
    return np.asarray(np.clip(share, 0.0, 1.0))
