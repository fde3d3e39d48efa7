"""Runs scored against pseudo-relevant docs chosen by fusing the runs: Nuray & Can 2006, and Sakai & Lin 2010.

The best share of the fused pool is taken as relevant and every run is scored by AP on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import UsageError
from assay.core.ids import coded
from assay.core.registry import Within
from assay.data.lists import Lists
from assay.nojudgments.basis import average_precision, best_share, without_judgments
from assay.nojudgments.predictors import METHODS
from assay.pooling.pools import majorities

NURAY_CAN = "Nuray & Can 2006"

Fusion = Callable[[Lists], Sequence[npt.NDArray[Any]]]
"""Keys of the items of a pool, the best ascending first."""


@METHODS.register("nuray-can-rank", short="NC-NRP", higher=True, paper=NURAY_CAN)
def nuray_can_rank(
    lists: Lists, *, depth: Annotated[int, Within(1)] = 100, share: Annotated[float, Within(0, 1)] = 0.3
) -> Floats:
    """All runs fused by rank position: 1 / Σ 1/rank, the lowest first."""
    return _scored(lists, _all(lists), rank_position, depth, share)


@METHODS.register("nuray-can-borda", short="NC-NB", higher=True, paper=NURAY_CAN)
def nuray_can_borda(
    lists: Lists, *, depth: Annotated[int, Within(1)] = 100, share: Annotated[float, Within(0, 1)] = 0.3
) -> Floats:
    """All runs fused by Borda count: n points for rank 1, n − 1 for rank 2, the docs a run lacks share the rest."""
    return _scored(lists, _all(lists), borda, depth, share)


@METHODS.register("nuray-can-condorcet", short="NC-NC", higher=True, paper=NURAY_CAN)
def nuray_can_condorcet(
    lists: Lists, *, depth: Annotated[int, Within(1)] = 100, share: Annotated[float, Within(0, 1)] = 0.3
) -> Floats:
    """All runs fused by pairwise majorities: most wins first, then fewest losses."""
    return _scored(lists, _all(lists), condorcet, depth, share)


@METHODS.register("nuray-can-bias-rank", short="NC-BRP", higher=True, paper=NURAY_CAN)
def nuray_can_bias_rank(
    lists: Lists,
    *,
    depth: Annotated[int, Within(1)] = 100,
    share: Annotated[float, Within(0, 1)] = 0.3,
    chosen: Annotated[float, Within(0, 1)] = 0.5,
) -> Floats:
    """As nuray-can-rank, fusing only the `chosen` share of runs that differ most from the norm."""
    runs = most_biased(lists, chosen, depth=depth)
    return _scored(lists, runs, rank_position, depth, share)


@METHODS.register("nuray-can-bias-borda", short="NC-BB", higher=True, paper=NURAY_CAN)
def nuray_can_bias_borda(
    lists: Lists,
    *,
    depth: Annotated[int, Within(1)] = 100,
    share: Annotated[float, Within(0, 1)] = 0.3,
    chosen: Annotated[float, Within(0, 1)] = 0.5,
) -> Floats:
    """As nuray-can-borda, fusing only the `chosen` share of runs that differ most from the norm."""
    runs = most_biased(lists, chosen, depth=depth)
    return _scored(lists, runs, borda, depth, share)


@METHODS.register("nuray-can-bias-condorcet", short="NC-BC", higher=True, paper=NURAY_CAN)
def nuray_can_bias_condorcet(
    lists: Lists,
    *,
    depth: Annotated[int, Within(1)] = 100,
    share: Annotated[float, Within(0, 1)] = 0.3,
    chosen: Annotated[float, Within(0, 1)] = 0.5,
) -> Floats:
    """As nuray-can-condorcet, fusing only the `chosen` share of runs that differ most from the norm."""
    runs = most_biased(lists, chosen, depth=depth)
    return _scored(lists, runs, condorcet, depth, share)


@METHODS.register("sakai-lin", short="SL", higher=True, paper="Sakai & Lin 2010")
def sakai_lin(
    lists: Lists, *, depth: Annotated[int, Within(1)] = 100, share: Annotated[float, Within(0, 1)] = 0.3
) -> Floats:
    """Pseudo-relevant docs are those in the top `depth` of most runs, ties by the smaller sum of ranks."""
    rows = lists.rank <= depth
    held = lists.holders(rows)
    ranks = np.bincount(
        lists.item[rows],
        lists.rank[rows],
        minlength=lists.items,
    )
    relevant = best_share(
        lists,
        [-held, ranks],
        held > 0,
        share,
    )
    return average_precision(lists, relevant)


def bias(lists: Lists, *, depth: int = 1000, weighted: bool = False, by_topic: bool = True) -> Floats:
    """How far each run is from the norm: 1 − cos(v, e), v the docs it returned, e the sum of v over all runs.

    A doc counts for each topic by itself, or else docs of different topics would count as agreement; by_topic=False
    counts as Mowshowitz & Kawaguchi 2002 do. weighted: a doc at rank i of m counts m/i instead of 1. An empty run has
    bias 1.
    """
    run, doc, count = _returned(lists, depth, weighted, by_topic)
    norm = np.bincount(doc, count, minlength=lists.items)

    # cos(v, e) = v·e / (|v| |e|), of each run
    runs = len(lists.runs)
    dot = np.bincount(run, count * norm[doc], minlength=runs)
    own_squares = np.bincount(run, count**2, minlength=runs)
    norm_squares = (norm**2).sum()
    lengths = np.sqrt(own_squares * norm_squares)
    cosine = np.divide(
        dot,
        lengths,
        out=np.zeros_like(dot),
        where=lengths > 0,
    )
    return np.asarray(1 - cosine)


def _returned(lists: Lists, depth: int, weighted: bool, by_topic: bool) -> tuple[Ints, Ints, Floats]:
    """The docs that the runs returned, each pair of a run and a doc once: the run, the doc, and how much it counts."""
    rows = np.flatnonzero(lists.rank <= depth)
    doc = lists.item[rows]
    if not by_topic:
        doc_of_item = coded([lists.docs])[0][0]
        doc = doc_of_item[doc]

    count = np.ones(len(rows))
    if weighted:
        list_length = np.minimum(np.diff(lists.bounds), depth)
        count = list_length[lists.segment[rows]] / lists.rank[rows]

    # A doc that a run returned for several topics adds up where all topics count together.
    key = lists.run[rows] * lists.items + doc
    pairs, place = np.unique(key, return_inverse=True)
    total = np.bincount(place, count)
    run = pairs // lists.items
    doc = pairs % lists.items
    return run, doc, total.astype(np.float64)


def most_biased(lists: Lists, chosen: float = 0.5, *, depth: int = 1000) -> Bools:
    """The `chosen` share (rounded up) of runs with the greatest bias; ties go to the earlier run."""
    if not 0 < chosen <= 1:
        raise UsageError(f"chosen: must lie in (0, 1], not {chosen}; 0.5 takes half of the runs")
    rounded_bias = bias(lists, depth=depth).round(12)
    most_biased_first = np.argsort(-rounded_bias, kind="stable")
    # 0.3 · 10 is 3.0000000000000004 in floats: round first, so that ceil does not take a fourth.
    wanted = round(chosen * len(lists.runs), 9)
    taken = most_biased_first[: int(np.ceil(wanted))]
    mask = np.zeros(len(lists.runs), dtype=bool)
    mask[taken] = True
    return mask


def _all(lists: Lists) -> Bools:
    return np.ones(len(lists.runs), dtype=bool)


def _scored(lists: Lists, runs: Bools, fusion: Fusion, depth: int, share: float) -> Floats:
    """AP of all runs, the best share of the fused top `depth` of the chosen runs being relevant."""
    lists = without_judgments(lists)  # a doc that only the qrels hold is in nobody's top
    chosen_names = [lists.runs[run] for run in np.flatnonzero(runs)]
    pool = lists.select(chosen_names).cut(depth)

    # The items of the pool are numbered anew; these are their numbers in all lists.
    is_top = lists.rank <= depth
    chosen_rows = is_top & runs[lists.run]
    items_of_pool = np.flatnonzero(lists.holders(chosen_rows))

    everything = np.ones(pool.items, dtype=bool)
    best = best_share(pool, fusion(pool), everything, share)
    relevant = np.zeros(lists.items, dtype=bool)
    relevant[items_of_pool[best]] = True
    return average_precision(lists, relevant)


def rank_position(pool: Lists) -> list[Floats]:
    """1 / Σ 1/rank over the runs that hold the item, ascending."""
    inverse_ranks = np.bincount(pool.item, 1 / pool.rank, minlength=pool.items)
    # Rounded, so that docs with the same ranks tie whatever the order of adding.
    return [np.round(1 / inverse_ranks, 12)]


def borda(pool: Lists) -> list[Floats]:
    """Minus the points: n − rank + 1 from a run that holds the item, (n − m + 1)/2 from one that ranks m others."""
    n = np.diff(pool.item_bounds)
    mean_of_rest = (n - pool.sizes + 1) / 2
    for_lacked = np.where(pool.sizes < n, mean_of_rest, 0.0)
    n_of_item = n[pool.topic_of_item]
    for_ranked = n_of_item[pool.item] - pool.rank + 1

    # Adding up over the docs that a run lacks would take a table of all runs and docs. So:
    # every run gives every doc what it gives a doc that it lacks; the docs that it has get the difference on top.
    difference = for_ranked - for_lacked.ravel()[pool.segment]
    on_top = np.bincount(pool.item, difference, minlength=pool.items)
    for_all = for_lacked.sum(axis=0)
    points = on_top + for_all[pool.topic_of_item]
    return [-points]


def condorcet(pool: Lists) -> list[Ints]:
    """Minus the wins, then the losses, of each item in pairwise majorities; a held doc beats one that is not held."""
    wins = []
    losses = []
    for t in range(len(pool.topics)):
        won, lost = majorities(pool.topic(t))
        wins.append(won)
        losses.append(lost)
    return [-np.concatenate(wins), np.concatenate(losses)]
