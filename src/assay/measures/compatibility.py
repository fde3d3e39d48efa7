"""Compatibility: how similar a list is to the best list that the judgments allow, by the docs that both have so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from assay.core.arrays import Floats, Ints, true_cells
from assay.core.lazy import np
from assay.core.registry import Within
from assay.data.grades import Grades
from assay.measures.base import Scores, measure, ratio
from assay.measures.long_tails import sums_past

if TYPE_CHECKING:
    import numpy.typing as npt

CELLS = 1000
"""Ranks that are summed one by one, however short a list: those of the authors' program."""


@measure("Compat", breaks=("unjudged at the end",), paper="Clarke, Vtyurina & Smucker 2020, 2021")
def compatibility(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    p: Annotated[float, Within(0, 1, open=True)] = 0.95,
    normalize: bool = True,
) -> Scores:
    """Rank-biased overlap of a list with the ideal list that is most similar to it.

    RBO = Σ_{i≤n} p^(i−1)·A(i) / Σ_{i≤n} p^(i−1), A(i) the share of docs that the first i of both lists have in common.
    The ideal list has all docs of a grade above 0, best grade first; docs of one grade stand in the order of the run,
    and those that it lacks after them. Only the order of the grades matters. With normalize (Clarke et al. 2021) it is
    divided by the RBO of the ideal list with itself, so that a short ideal list can be matched. n is k, or the length
    of the longer list; Compat@1000 is what the program of the authors computes. Without relevant docs it is 0.

    >>> from assay.data.grades import grades
    >>> compatibility(grades([0, 1], judged=[2, 1])).round(6).tolist()
    [0.24359]
    >>> compatibility(grades([2, 1], judged=[2, 1])).tolist()
    [1.0]
    """
    ideal_size = (g.ideal > 0).sum(axis=1)
    longest = np.maximum(g.retrieved, ideal_size)
    # Of a cutoff that lies deeper than a list, the sums over the ranks past its end need no cell for each.
    depth = longest if k is None else np.minimum(k, np.maximum(longest, CELLS))
    ranks = np.arange(1, int(depth.max(initial=0)) + 1, dtype=np.float64)
    weights = p ** (ranks - 1)
    # A doc that both lists have down to rank r adds p^(i−1)/i at every rank i from r to n.
    added_to = _sums(weights / ranks)
    added_in_all = added_to[depth]
    if k is not None:
        added_in_all += sums_past(lambda i: p ** (i - 1) / i, depth, k)
    topic, rank = _common(g)
    within = rank <= depth[topic]
    topic, rank = topic[within], rank[within]
    added = added_in_all[topic] - added_to[rank - 1]
    overlap = np.bincount(topic, weights=added, minlength=len(depth))
    if normalize:
        return ratio(overlap, _best_overlap(np.minimum(ideal_size, depth), added_in_all, added_to))
    all_weights = _sums(weights)[depth]
    if k is not None:
        all_weights += sums_past(lambda i: p ** (i - 1), depth, k)
    return ratio(overlap, all_weights)


def _common(g: Grades) -> tuple[Ints, Ints]:
    """For each relevant retrieved doc its topic, and the rank from which the list and the ideal list both have it."""
    topic, place = true_cells(g.ranked > 0)
    ideal_topic, ideal_place = true_cells(g.ideal > 0)
    known, ideal_code = np.unique(g.ideal[ideal_topic, ideal_place], return_inverse=True)
    # One number per topic and grade, in the order of the ideal list: by topic, then from the best grade down.
    ideal_key = (ideal_topic + 1) * len(known) - ideal_code
    key = (topic + 1) * len(known) - np.searchsorted(known, g.ranked[topic, place])
    better = np.searchsorted(ideal_key, key) - np.searchsorted(ideal_topic, topic)
    ideal_rank = better + _number_in_group(key)
    return topic, np.maximum(place + 1, ideal_rank)


def _number_in_group(key: Ints) -> Ints:
    """1, 2, 3, … among the entries of one key, in the order in which they stand."""
    order = np.argsort(key, kind="stable")
    sorted_key = key[order]
    first = np.searchsorted(sorted_key, sorted_key)
    number = np.zeros(len(key), dtype=np.int64)
    number[order] = np.arange(1, len(key) + 1) - first
    return number


def _best_overlap(counted: npt.NDArray[np.int64], added_in_all: Floats, added_to: Floats) -> Scores:
    """The same sum for the ideal list with itself: its doc at rank q counts at every rank from q to n."""
    before = _sums(added_to[:-1])
    return counted * added_in_all - before[counted]


def _sums(values: Floats) -> Floats:
    """Sums of the first 0, 1, 2, … values."""
    return np.concatenate([[0.0], np.cumsum(values)])
