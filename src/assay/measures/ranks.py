"""Measures of where the relevant docs stand: average precision and its transforms, reciprocal rank, recall levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from assay.core.arrays import Ints, places_within, true_cells
from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.core.registry import Within
from assay.data.grades import Grades
from assay.measures.base import Scores, in_order, measure, ratio

if TYPE_CHECKING:
    import numpy.typing as npt

ELEVEN = tuple(i / 10 for i in range(11))
"""The recall levels 0, .1, … 1."""


def average_precisions(hits: npt.ArrayLike, relevant: npt.ArrayLike) -> Scores:
    """AP of many lists at once, for whoever has arrays instead of Grades: 1/R · Σ_r I(r)·P@r, 0 where R is 0.

    hits: lists × ranks, whether the doc at each rank is relevant. relevant: R of each list, or one number for all.

    >>> average_precisions([[True, False, True], [False, True, False]], [3, 1]).round(6).tolist()
    [0.555556, 0.5]
    """
    return ratio(precision_sums(hits), relevant)


def precision_sums(hits: npt.ArrayLike) -> Scores:
    """Σ_r I(r)·P@r of many lists at once: AP without its normaliser.

    >>> precision_sums([[True, False, True]]).round(6).tolist()
    [1.666667]
    """
    marked = np.asarray(hits, dtype=bool)
    lists, rank = true_cells(marked)
    return precision_sums_at(lists, rank + 1, len(marked))


def running_precision_sums(hits: npt.ArrayLike) -> Scores:
    """The same at every depth: Σ over the ranks so far, in the last axis.

    >>> running_precision_sums([[True, False, True]]).round(6).tolist()
    [[1.0, 1.0, 1.666667]]
    """
    relevant = np.asarray(hits, dtype=bool)
    ranks = np.arange(1, relevant.shape[-1] + 1)
    found_so_far = relevant.cumsum(axis=-1)
    precision_at_hits = relevant * found_so_far / ranks
    return np.asarray(precision_at_hits.cumsum(axis=-1))


def precision_sums_at(lists: Ints, ranks: Ints, size: int) -> Scores:
    """The same from the relevant retrieved docs alone, sorted by list and rank: their lists, from 0, and their ranks.

    size: how many lists there are. Nothing else of a list is looked at, so that it costs no more than they are many.

    >>> precision_sums_at(np.array([0, 0, 2]), np.array([1, 3, 2]), 3).round(6).tolist()
    [1.666667, 0.0, 0.5]
    """
    found_before = places_within(np.bincount(lists, minlength=size))
    precision = (found_before + 1) / ranks
    return np.asarray(np.bincount(lists, weights=precision, minlength=size), dtype=np.float64)


@measure("AP", paper="Harman 1993; Buckley & Voorhees 2000")
def average_precision(
    g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1
) -> Scores:
    """Mean of the precision at the rank of each relevant doc.

    AP = 1/R · Σ_r I(r)·P@r; R counts every judged relevant doc, retrieved or not. R = 0 scores 0, as in trec_eval.
    Unjudged docs count as not relevant. With a cutoff the sum stops at k and R stays (trec_eval's map_cut).

    >>> from assay.data.grades import grades
    >>> average_precision(grades([1, 0, 1], judged=[1, 1, 1])).round(6).tolist()
    [0.555556]
    """
    return average_precisions(g.hits(rel, k), g.relevant(rel))


@measure("SP", range="nonneg", paper="Webber 2010, §3.2", bounded=True)
def sum_of_precisions(
    g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1
) -> Scores:
    """Sum of the precisions at the ranks of the relevant docs: AP without its normaliser R.

    >>> from assay.data.grades import grades
    >>> sum_of_precisions(grades([1, 0, 1])).round(6).tolist()
    [1.666667]
    """
    return precision_sums(g.hits(rel, k))


@measure("logAP", range="any", breaks=("no relevant",), paper="Robertson 2006")
def log_average_precision(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    rel: Annotated[float, Within(0)] = 1,
    floor: Annotated[float, Within(0, 0.5, open=True)] = 1e-5,
) -> Scores:
    """ln max(AP, floor): its mean is the logarithm of GMAP.

    >>> from assay.data.grades import grades
    >>> log_average_precision(grades([1])).tolist()
    [0.0]
    """
    ap = average_precision(g, k=k, rel=rel)
    return np.log(np.maximum(ap, floor))


@measure("logitAP", range="any", breaks=("no relevant",), paper="Cormack & Lynam 2006; Robertson 2006")
def logit_average_precision(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    rel: Annotated[float, Within(0)] = 1,
    floor: Annotated[float, Within(0, 0.5, open=True)] = 1e-5,
) -> Scores:
    """ln(AP / (1 − AP)), AP first clipped to [floor, 1 − floor].

    >>> from assay.data.grades import grades
    >>> logit_average_precision(grades([0, 1])).tolist()
    [0.0]
    """
    ap = average_precision(g, k=k, rel=rel)
    clipped = np.clip(ap, floor, 1 - floor)
    return np.log(clipped / (1 - clipped))


@measure("yaap", range="any", paper="trec_eval (Robertson)")
def yet_another_average_precision(g: Grades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """trec_eval's yaap: ln((1 + S) / (1 + R − S)), S the sum of precisions at relevant docs, R the relevant docs.

    >>> from assay.data.grades import grades
    >>> yet_another_average_precision(grades([1])).round(6).tolist()
    [0.693147]
    """
    r = g.relevant(rel)
    total = sum_of_precisions(g, rel=rel)
    return np.log((1 + total) / (1 + r - total))


@measure("RR", bounded=True, paper="Kantor & Voorhees 2000")
def reciprocal_rank(
    g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1
) -> Scores:
    """1 / rank of the first relevant doc; 0 if there is none (among the first k).

    >>> from assay.data.grades import grades
    >>> reciprocal_rank(grades([0, 1])).tolist(), reciprocal_rank(grades([0, 1]), k=1).tolist()
    ([0.5], [0.0])
    """
    hit = g.hits(rel, k)
    if not hit.shape[1]:
        return np.zeros(len(hit))
    first = 1 + hit.argmax(axis=1)
    return np.where(hit.any(axis=1), 1.0 / first, 0.0)


@measure("Rprec", paper="Buckley & Voorhees 2000")
def r_precision(
    g: Grades, *, rel: Annotated[float, Within(0)] = 1, times: Annotated[float, Within(0, open=True)] = 1.0
) -> Scores:
    """Precision at rank R, or at rank ⌊times·R + .9⌋ (trec_eval's Rprec_mult).

    >>> from assay.data.grades import grades
    >>> r_precision(grades([1, 0, 1], judged=[1, 1])).tolist()
    [0.5]
    """
    r = g.relevant(rel)
    cutoff = r if times == 1.0 else np.floor(times * r + 0.9)
    counted = g.ranks()[None, :] <= cutoff[:, None]
    found = in_order(g.hits(rel) * counted)
    return ratio(found, cutoff)


@measure(
    "Accuracy",
    paper="ir_measures",
    breaks=("moving up", "unjudged at the end"),
    unsure="a relevant doc low in the list lowers it, and one at the top raises it",
)
def accuracy(g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """Chance that a relevant doc of the list stands above one that is not relevant, both drawn from the first k.

    1 − Σ over the relevant docs of (other docs above it) / (relevant · other docs among the first k). Unjudged docs
    count as not relevant, and relevant docs that were not retrieved do not count: it says how well the list is sorted,
    not what it lacks, and a relevant doc that moves up into the first k can lower it. Without a relevant doc it is 0;
    with relevant docs alone it is 1.

    >>> from assay.data.grades import grades
    >>> accuracy(grades([1, 0, 1])).tolist(), accuracy(grades([0, 1])).tolist(), accuracy(grades([1])).tolist()
    ([0.5], [0.0], [1.0])
    """
    hit = g.hits(rel, k)
    other = g.inside(k) & ~hit
    relevant_docs = hit.sum(axis=1)
    pairs = relevant_docs * other.sum(axis=1)
    wrong_pairs = (hit * other.cumsum(axis=1)).sum(axis=1)
    return np.where(relevant_docs > 0, 1 - ratio(wrong_pairs, pairs), 0.0)


@measure("IPrec", paper="Salton & McGill 1983; trec_eval")
def interpolated_precision(
    g: Grades,
    *,
    recall: Annotated[float, Within(0, 1)] = 0.5,
    rel: Annotated[float, Within(0)] = 1,
    rounding: str = "up",
) -> Scores:
    """Interpolated precision at a recall level: the highest precision at any rank that reaches it.

    The level is reached at the relevant doc number c: c = ⌊recall·R + .9⌋ with rounding=up (trec_eval 9), and the
    nearest integer with rounding=nearest (trec_eval 10). Level 0 is the highest precision of all.

    >>> from assay.data.grades import grades
    >>> interpolated_precision(grades([0, 1, 1]), recall=0.5).round(6).tolist()
    [0.666667]
    """
    if rounding not in ("up", "nearest"):
        raise UsageError(f"IPrec: no rounding {rounding!r}; known: up, nearest")
    needed = np.floor(recall * g.relevant(rel) + (0.9 if rounding == "up" else 0.5))
    found = g.hits(rel).cumsum(axis=1)
    reached = (found >= needed[:, None]) & g.inside()
    precision = np.where(reached, found / g.ranks(), 0.0)
    return precision.max(axis=1, initial=0.0)


@measure("IPrecAvg", paper="trec_eval 11pt_avg")
def interpolated_average(
    g: Grades, *, levels: str = "eleven", rel: Annotated[float, Within(0)] = 1, rounding: str = "up"
) -> Scores:
    """Mean of the interpolated precision over recall levels: 0, .1, … 1, or a list such as `.25/.5/.75`.

    >>> from assay.data.grades import grades
    >>> interpolated_average(grades([1, 1])).tolist()
    [1.0]
    """
    scores = [interpolated_precision(g, recall=level, rel=rel, rounding=rounding) for level in _levels(levels)]
    return in_order(np.array(scores).T) / len(scores)


def _levels(text: str) -> tuple[float, ...]:
    """The recall levels that a text names."""
    if text == "eleven":
        return ELEVEN
    try:
        return tuple(float(level) for level in text.split("/"))
    except ValueError:
        raise UsageError(f"IPrecAvg: no levels {text!r}; write eleven, or a list such as .25/.5/.75") from None
