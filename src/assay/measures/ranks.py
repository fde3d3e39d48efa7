"""Measures of where the relevant docs stand: average precision and its transforms, reciprocal rank, recall levels."""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Ints
from assay.data.grades import Grades
from assay.measures.base import Scores, measure, ratio


@measure("AP", paper="Harman 1993; Buckley & Voorhees 2000")
def average_precision(g: Grades, *, k: int | None = None, rel: float = 1) -> Scores:
    """Mean of the precision at the rank of each relevant doc.

    AP = 1/R · Σ_r I(r)·P@r; R counts every judged relevant doc, retrieved or not. R = 0 scores 0, as in trec_eval.
    Unjudged docs count as not relevant. With a cutoff the sum stops at k and R stays (trec_eval's map_cut).

    >>> from assay.data.grades import grades
    >>> average_precision(grades([1, 0, 1], judged=[1, 1, 1])).round(6).tolist()
    [0.555556]
    """
    return ratio(sum_of_precisions(g, k=k, rel=rel), g.relevant(rel))


@measure("SP", range="nonneg", paper="Webber 2010, §3.2")
def sum_of_precisions(g: Grades, *, k: int | None = None, rel: float = 1) -> Scores:
    """Sum of the precisions at the ranks of the relevant docs: AP without its normaliser R.

    >>> from assay.data.grades import grades
    >>> sum_of_precisions(grades([1, 0, 1])).round(6).tolist()
    [1.666667]
    """
    topic, rank = np.nonzero(g.hits(rel, k))
    return _per_topic(g, topic, _found_before(g, topic) / (rank + 1))


@measure("logAP", range="any", breaks=("no relevant",), paper="Robertson 2006")
def log_average_precision(g: Grades, *, k: int | None = None, rel: float = 1, floor: float = 1e-5) -> Scores:
    """ln max(AP, floor): its mean is the logarithm of GMAP.

    >>> from assay.data.grades import grades
    >>> log_average_precision(grades([1])).tolist()
    [0.0]
    """
    return np.log(np.maximum(average_precision(g, k=k, rel=rel), floor))


@measure("logitAP", range="any", breaks=("no relevant",), paper="Cormack & Lynam 2006; Robertson 2006")
def logit_average_precision(g: Grades, *, k: int | None = None, rel: float = 1, floor: float = 1e-5) -> Scores:
    """ln(AP / (1 − AP)), AP first clipped to [floor, 1 − floor].

    >>> from assay.data.grades import grades
    >>> logit_average_precision(grades([0, 1])).tolist()
    [0.0]
    """
    ap = np.clip(average_precision(g, k=k, rel=rel), floor, 1 - floor)
    return np.log(ap / (1 - ap))


@measure("yaap", range="any", paper="trec_eval (Robertson)")
def yet_another_average_precision(g: Grades, *, rel: float = 1) -> Scores:
    """trec_eval's yaap: ln((1 + S) / (1 + R − S)), S the sum of precisions at relevant docs, R the relevant docs.

    >>> from assay.data.grades import grades
    >>> yet_another_average_precision(grades([1])).round(6).tolist()
    [0.693147]
    """
    r, total = g.relevant(rel), sum_of_precisions(g, rel=rel)
    return np.log((1 + total) / (1 + r - total))


@measure("RR", bounded=True, paper="Kantor & Voorhees 2000")
def reciprocal_rank(g: Grades, *, k: int | None = None, rel: float = 1) -> Scores:
    """1 / rank of the first relevant doc; 0 if there is none (among the first k).

    >>> from assay.data.grades import grades
    >>> reciprocal_rank(grades([0, 1])).tolist(), reciprocal_rank(grades([0, 1]), k=1).tolist()
    ([0.5], [0.0])
    """
    hit = g.hits(rel, k)
    if not hit.shape[1]:
        return np.zeros(len(hit))
    return np.where(hit.any(axis=1), 1.0 / (1 + hit.argmax(axis=1)), 0.0)


@measure("Rprec", paper="Buckley & Voorhees 2000")
def r_precision(g: Grades, *, rel: float = 1, times: float = 1.0) -> Scores:
    """Precision at rank R, or at rank ⌊times·R + .9⌋ (trec_eval's Rprec_mult).

    >>> from assay.data.grades import grades
    >>> r_precision(grades([1, 0, 1], judged=[1, 1])).tolist()
    [0.5]
    """
    cutoff = np.floor(times * g.relevant(rel) + (0.0 if times == 1.0 else 0.9))
    return ratio(_hits_within(g, cutoff, rel), cutoff)


@measure("IPrec", paper="Salton & McGill 1983; trec_eval")
def interpolated_precision(g: Grades, *, recall: float = 0.5, rel: float = 1, rounding: str = "up") -> Scores:
    """Interpolated precision at a recall level: the highest precision at any rank that reaches it.

    The level is reached at the relevant doc number c: c = ⌊recall·R + .9⌋ with rounding=up (trec_eval 9), and the
    nearest integer with rounding=nearest (trec_eval 10). Level 0 is the highest precision of all.

    >>> from assay.data.grades import grades
    >>> interpolated_precision(grades([0, 1, 1]), recall=0.5).round(6).tolist()
    [0.666667]
    """
    r = g.relevant(rel)
    needed = np.floor(recall * r + 0.9) if rounding == "up" else np.floor(recall * r + 0.5)
    hit = g.hits(rel)
    found = hit.cumsum(axis=1)
    reached = (found >= needed[:, None]) & g.inside()
    return np.where(reached, found / g.ranks(), 0.0).max(axis=1, initial=0.0)


@measure("IPrecAvg", paper="trec_eval 11pt_avg")
def interpolated_average(g: Grades, *, levels: str = "eleven", rel: float = 1, rounding: str = "up") -> Scores:
    """Mean of the interpolated precision over recall levels: 0, .1, … 1, or a list such as `.25/.5/.75`.

    >>> from assay.data.grades import grades
    >>> interpolated_average(grades([1, 1])).tolist()
    [1.0]
    """
    at = [i / 10 for i in range(11)] if levels == "eleven" else [float(x) for x in levels.split("/")]
    scores = [interpolated_precision(g, recall=level, rel=rel, rounding=rounding) for level in at]
    return np.mean(scores, axis=0)


def _hits_within(g: Grades, cutoff: Scores, rel: float) -> Scores:
    """Relevant docs down to each topic's own cutoff."""
    return (g.hits(rel) * (g.ranks()[None, :] <= cutoff[:, None])).sum(axis=1).astype(np.float64)


def _found_before(g: Grades, topic: Ints) -> Scores:
    """For relevant docs listed by topic and rank: how many of its topic were found up to each."""
    count = np.bincount(topic, minlength=len(g.topics))
    return (np.arange(len(topic)) - (np.cumsum(count) - count)[topic] + 1).astype(np.float64)


def _per_topic(g: Grades, topic: Ints, values: Scores) -> Scores:
    return np.asarray(np.bincount(topic, weights=values, minlength=len(g.topics)), dtype=np.float64)
