"""Measures that model a user by what she does at each rank: rank-biased precision in its forms, and time-biased gain.

The measures that are made from a probability of going on after each doc (C/W/L) are in `cwl`.
"""

from __future__ import annotations

from typing import Annotated

from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.core.registry import Within
from assay.data.grades import Grades
from assay.measures.base import Scores, in_order, measure, ratio
from assay.measures.gain import unit_gains


@measure("RBP", linear=True, bounded=True, uses_top=True, paper="Moffat & Zobel 2008")
def rank_biased_precision(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    p: Annotated[float, Within(0, 1, open=True)] = 0.8,
    gain: str = "grade",
    rel: Annotated[float, Within(0)] | None = None,
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """Gain per doc of a user who goes on to the next doc with probability p.

    RBP = (1 − p)·Σ_r p^(r−1)·gain(r)/gain(top), top the highest grade of the scale, that of the collection unless
    given; a grade above it counts as top. With rel, gain is 1 from that grade on. It is the least that the judgments
    allow: RBPResidual says how much more it may be.

    >>> from assay.data.grades import grades
    >>> rank_biased_precision(grades([1, 0, 0, 1, 1, 0, 0, 0, 1, 0])).round(6).tolist()
    [0.417874]
    >>> rank_biased_precision(grades([1]), p=0.5, top=2).tolist()
    [0.25]
    """
    if rel is None:
        gains = unit_gains(g, gain, k, top)
    else:
        gains = g.hits(rel, k).astype(np.float64)
    discounted = gains * _powers(g, p, k)
    return (1 - p) * in_order(discounted)


@measure(
    "RBPResidual",
    paper="Moffat & Zobel 2008",
    lower_is_better=True,
    breaks=("no relevant",),
    unsure="every doc that is judged leaves the residual, whatever its grade",
)
def rbp_residual(g: Grades, *, p: Annotated[float, Within(0, 1, open=True)] = 0.8) -> Scores:
    """How much RBP could still grow: the weight of all unjudged docs and of every rank past the end of the list.

    (1 − p)·Σ_{unjudged r} p^(r−1) + p^n for a list of n docs; 1 for an empty list. Negative grades are not judged.

    >>> from assay.data.grades import grades
    >>> rbp_residual(grades([1, None], judged=[1]), p=0.5).tolist()
    [0.5]
    """
    unknown = g.inside() & ~g.judged()
    tail = p ** g.retrieved.astype(np.float64)
    weight_of_unknown = unknown * _powers(g, p)
    return (1 - p) * in_order(weight_of_unknown) + tail


@measure("RBPTrec", paper="trec_eval 10.0", linear=True)
def rbp_of_trec_eval(g: Grades, *, p: Annotated[float, Within(0, 1, open=True)] = 0.9, gain: str = "grade") -> Scores:
    """rbp of trec_eval 10: gains over the highest gain of the topic where that exceeds 1, p = .9.

    That is what its source means; the program itself starts from uninitialised numbers and may print others.

    >>> from assay.data.grades import grades
    >>> rbp_of_trec_eval(grades([1], judged=[2, 1])).round(6).tolist()
    [0.05]
    """
    highest = g.ideal_gains(gain).max(axis=1, initial=0.0)
    best = np.maximum(highest, 1.0)
    discounted = g.gains(gain) * _powers(g, p)
    return (1 - p) * in_order(discounted) / best


@measure(
    "RBPTrecResidual",
    paper="trec_eval 10.0",
    lower_is_better=True,
    breaks=("no relevant",),
    unsure="every doc that is judged leaves the residual, whatever its grade",
)
def rbp_residual_of_trec_eval(g: Grades, *, p: Annotated[float, Within(0, 1, open=True)] = 0.9) -> Scores:
    """rbp_resid of trec_eval 10: as RBPResidual where a retrieved doc is unjudged, and 0 (not p^n) where none is.

    >>> from assay.data.grades import grades
    >>> rbp_residual_of_trec_eval(grades([1, None], [1, 1])).round(6).tolist()
    [0.9, 0.0]
    """
    unknown = g.inside() & ~g.judged()
    return np.where(unknown.any(axis=1), rbp_residual(g, p=p), 0.0)


@measure("tRBP", linear=True, bounded=True, uses_top=True, paper="Webber 2010, ch. 6")
def truncated_rbp(
    g: Grades,
    *,
    k: Annotated[int, Within(1)],
    p: Annotated[float, Within(0, 1, open=True)] = 0.8,
    gain: str = "grade",
    rel: Annotated[float, Within(0)] | None = None,
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """RBP with its weights cut at rank k and rescaled to sum to 1: a top-weighted P@k.

    tRBP@k = Σ_{r≤k} w(r)·gain(r)/gain(top), w(r) = (1 − p)·p^(r−1) / (1 − p^k).

    >>> from assay.data.grades import grades
    >>> truncated_rbp(grades([1, 0, 0, 1, 1, 0, 0, 0, 1, 0]), k=10).round(6).tolist()
    [0.468141]
    """
    cut = rank_biased_precision(g, k=k, p=p, gain=gain, rel=rel, top=top)
    return cut / (1 - p**k)


@measure("nRBP", paper="Webber 2010, after Moffat & Zobel 2008")
def normalised_rbp(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    p: Annotated[float, Within(0, 1, open=True)] = 0.8,
    gain: str = "grade",
    rel: Annotated[float, Within(0)] | None = None,
) -> Scores:
    """RBP over the RBP of all judged docs sorted by grade, both to rank k; 0 without relevant docs.

    The one of the normalised measures that RBP was made to do without: it needs all relevant docs. Standardizing RBP
    and nRBP gives the same scores (Webber 2010, Proposition 4.1). With rel, gain is 1 from that grade on.

    >>> from assay.data.grades import grades
    >>> normalised_rbp(grades([1, 0, 0, 1, 1, 0, 0, 0, 1, 0])).round(6).tolist()
    [0.707782]
    """
    if rel is None:
        gains = g.gains(gain, k)
        best = g.ideal_gains(gain)[:, :k]
    else:
        gains = g.hits(rel, k).astype(np.float64)
        best = (g.ideal[:, :k] >= rel).astype(np.float64)
    ranks = np.arange(best.shape[1])
    ideal = in_order(best * p**ranks)
    return ratio(in_order(gains * _powers(g, p, k)), ideal)


@measure(
    "TBG",
    range="nonneg",
    needs="lengths",
    paper="Smucker & Clarke 2012",
    breaks=("moving up", "perfect is best"),
    unsure="a relevant doc takes longer to read, which delays all docs below it",
)
def time_biased_gain(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    rel: Annotated[float, Within(0)] = 1,
    halflife: Annotated[float, Within(0, open=True)] = 224.0,
) -> Scores:
    """Σ_r gain(r)·exp(−T(r)·ln 2 / halflife), T(r) the seconds that it takes to reach rank r.

    gain = .4928 (= .64 clicks × .77 saves) for relevant docs; each doc passed takes 4.4 s for its summary plus
    (0.018·words + 7.8) s times the chance of a click, .64 if relevant and .39 if not. Not normalised. The words of
    every doc must be known: without them it is an error. Repeats of a doc under another id are not known to it.

    >>> from dataclasses import replace
    >>> from assay.data.grades import grades
    >>> g = replace(grades([1, 0, 1]), lengths=np.array([[500.0, 1000.0, 200.0]]))
    >>> time_biased_gain(g).round(6).tolist()
    [0.942448]
    """
    hit = g.ranked[:, :k] >= rel
    clicks = np.where(hit, 0.64, 0.39)
    length = words(g, "TBG")[:, :k]
    reading = 0.018 * length + 7.8
    seconds = 4.4 + reading * clicks
    reached = np.cumsum(seconds, axis=1) - seconds
    discount = np.exp2(-reached / halflife)
    gained = 0.4928 * hit * discount
    return in_order(gained)


def words(g: Grades, name: str) -> Scores:
    """The lengths of the ranked docs, or an error that says which measure needs them."""
    if g.lengths is None:
        raise UsageError(f"{name} needs the length of every retrieved doc; give doc lengths in words")
    return g.lengths


def _powers(g: Grades, p: float, k: int | None = None) -> Scores:
    """p^(r−1) for r = 1, 2, …"""
    return p ** (g.ranks(k) - 1)
