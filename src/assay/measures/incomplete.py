"""Measures for incomplete judgments: preferences among judged docs only, and estimates from sampled judgments.

A negative grade means pooled but not judged; a doc without any grade was not pooled. Induced AP is AP' (AP on the
condensed list), and every other measure has that form too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from assay.core.arrays import Bools, Ints, places_within, true_cells
from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.core.registry import Within
from assay.data.grades import Grades
from assay.measures.base import Scores, in_order, measure, ratio
from assay.measures.gain import top_gain

if TYPE_CHECKING:
    import numpy.typing as npt

EPSILON = 1e-5
"""Smooths estimated shares, as in trec_eval and in the script of Yilmaz, Kanoulas and Aslam."""


@measure("bpref", paper="Buckley & Voorhees 2004; trec_eval")
def bpref(g: Grades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """Share of judged nonrelevant docs that each relevant doc is ranked above; unjudged docs are passed over.

    bpref = 1/R · Σ_{relevant retrieved} 1 − min(n, R)/min(N, R), n the judged nonrelevant docs above and N all of them;
    1 where n = 0, so that N = 0 needs no exception. No relevant docs score 0.

    >>> from assay.data.grades import grades
    >>> bpref(grades([2, 0, 1, None, 0, 1])).tolist()
    [0.5]
    """
    r = g.relevant(rel)
    most = np.minimum(g.nonrelevant(rel), r)
    return _preferences(g, rel, lambda above, rank, of: ratio(np.minimum(above, r[of]), most[of]))


@measure("bpref_R", paper="Sakai 2007; Buckley & Voorhees 2004")
def bpref_r(g: Grades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """bpref with min(n, R)/R for each relevant doc: never 0 for a list that has fewer nonrelevant than relevant docs.

    >>> from assay.data.grades import grades
    >>> bpref_r(grades([2, 0, 1, None, 0, 1])).round(6).tolist()
    [0.666667]
    """
    r = g.relevant(rel)
    return _preferences(g, rel, lambda above, rank, of: ratio(np.minimum(above, r[of]), r[of]))


@measure("bpref_N", paper="Sakai 2007; RankEff of Ahlgren & Grönqvist 2008")
def bpref_n(g: Grades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """bpref over all judged nonrelevant docs (bpref_allnonrel, RankEff): 1/R · Σ 1 − n/N; 1 − 0 where N = 0.

    >>> from assay.data.grades import grades
    >>> bpref_n(grades([2, 0, 1, None, 0, 1])).tolist()
    [0.5]
    """
    n = g.nonrelevant(rel)
    return _preferences(g, rel, lambda above, rank, of: ratio(above, n[of]))


@measure("bpref_relative", paper="Sakai 2007")
def bpref_relative(g: Grades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """1/R · Σ 1 − n/(r′ − 1), r′ the rank among judged docs. A relevant doc at r′ = 1 adds 0: odd, and original.

    >>> from assay.data.grades import grades
    >>> bpref_relative(grades([2, 0, 1, None, 0, 1])).round(6).tolist()
    [0.333333]
    """
    return _preferences(g, rel, lambda above, rank, of: np.where(rank == 1, 1.0, ratio(above, rank - 1)))


def _preferences(g: Grades, rel: float, lost: Callable[[Ints, Ints, Ints], Scores]) -> Scores:
    """1/R · Σ over the relevant docs of 1 − lost(judged nonrelevant docs above, rank among judged docs, topic).

    Only the judged docs are looked at, list after list; the others are passed over.
    """
    lists = len(g.ranked)
    topics, columns = true_cells(g.judged())
    is_hit = g.ranked[topics, columns] >= rel
    topic_of_hit = topics[is_hit]
    judged_above = places_within(np.bincount(topics, minlength=lists))[is_hit]
    hits_above = places_within(np.bincount(topic_of_hit, minlength=lists))
    kept = 1 - lost(judged_above - hits_above, judged_above + 1, topic_of_hit)
    total = np.bincount(topic_of_hit, weights=kept, minlength=lists)
    return ratio(total, g.relevant(rel))


@measure("rpref_N", uses_top=True, paper="Sakai 2007; De Beer & Moens 2006")
def rpref_n(g: Grades, *, gain: str = "grade", top: Annotated[float, Within(0, open=True)] | None = None) -> Scores:
    """Graded bpref_N: Σ gain(r′)·(1 − pen(r′)/P) / Σ ideal gains, P the largest penalty there could be.

    pen(r′) = Σ over judged docs above with less gain of (gain(r′) − their gain)/gain(r′), and
    P = R + N − Σ ideal gains/gain(top).

    >>> from assay.data.grades import grades
    >>> rpref_n(grades([2, 0, 1, None, 0, 1])).round(6).tolist()
    [0.75]
    """
    highest = top_gain(g, gain, top)
    total = in_order(np.minimum(g.ideal_gains(gain), highest))
    judged = (g.ideal >= 0).sum(axis=1)
    worst = judged - ratio(total, highest)
    return _graded_preferences(g, gain, lambda penalty, rank: ratio(penalty, worst[:, None]), highest)


@measure("rpref_relative", paper="Sakai 2007")
def rpref_relative(g: Grades, *, gain: str = "grade") -> Scores:
    """Graded bpref_relative: Σ gain(r′)·(1 − pen(r′)/(r′ − 1)) / Σ ideal gains; a doc at r′ = 1 adds 0.

    >>> from assay.data.grades import grades
    >>> rpref_relative(grades([2, 0, 1, None, 0, 1])).tolist()
    [0.25]
    """
    return _graded_preferences(g, gain, lambda pen, rank: np.where(rank == 1, 1.0, ratio(pen, rank - 1)))


@measure("rpref_relative2", paper="Sakai 2007")
def rpref_relative2(g: Grades, *, gain: str = "grade") -> Scores:
    """rpref_relative with pen(r′)/r′, which does not forget the doc at r′ = 1.

    >>> from assay.data.grades import grades
    >>> rpref_relative2(grades([2, 0, 1, None, 0, 1])).round(6).tolist()
    [0.816667]
    """
    return _graded_preferences(g, gain, lambda penalty, rank: ratio(penalty, rank))


def _graded_preferences(
    g: Grades, gain: str, lost: Callable[[Scores, Scores], Scores], highest: float = math.inf
) -> Scores:
    """Σ gain·(1 − lost(penalty, rank among judged docs)) / Σ ideal gains; a gain above the highest counts as it."""
    gains = np.minimum(g.gains(gain), highest)
    ideal = np.minimum(g.ideal_gains(gain), highest)
    known = g.judged()
    rank = known.cumsum(axis=1).astype(np.float64)
    kept = gains * (1 - lost(_penalty(gains, known), rank))
    return ratio(in_order(kept), in_order(ideal))


def _penalty(gains: Scores, known: Bools) -> Scores:
    """Σ over judged docs above with less gain of (gain − theirs)/gain; a loop over the few distinct gains."""
    penalty = np.zeros(gains.shape)
    for lower in np.unique(gains[known]):
        there = known & (gains == lower)
        how_many_above = there.cumsum(axis=1) - there
        # A doc of more gain costs nothing, and its distance over a tiny gain would be beyond all numbers.
        lead = np.maximum(gains - lower, 0.0)
        penalty += ratio(how_many_above * lead, gains)
    return penalty


NEARER = "xinfAP of a pool whose top is judged whole came within .02 of AP"
"""What the other estimates are compared with; tests/pooling/test_estimation_bias.py measures all of these numbers."""


@measure(
    "infAP",
    paper="Yilmaz & Aslam 2006; trec_eval",
    breaks=("moving up",),
    caution="where few docs are judged it lies below AP: for runs with an AP of .80 to .92 by .10 to .14 on average "
    f"with 15 docs of a pool of 77, by .02 with 40; {NEARER}",
)
def inferred_ap(g: Grades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """AP estimated from a uniform sample of the pool: negative grades are pooled but not judged.

    At a relevant doc of rank j: 1/j + (pooled above)/j · (relevant above + ε)/(judged above + 2ε), ε = 1e-5; 1 at rank
    1. Summed and divided by R. With all of the pool judged it is AP up to ε. No relevant docs score 0.

    >>> from assay.data.grades import grades
    >>> inferred_ap(grades([1, -1, 0, 1, -1, None, 1, None])).round(6).tolist()
    [0.748016]
    """
    hit = g.ranked >= rel
    share = (_above(hit) + EPSILON) / (_above(g.judged()) + 2 * EPSILON)
    expected = (1 + _above(g.pooled()) * share) / g.ranks()
    return ratio(in_order(hit * expected), g.relevant(rel))


@measure("xinfAP", paper="Yilmaz, Kanoulas & Aslam 2008", breaks=("moving up", "perfect is best"))
def stratified_inferred_ap(g: Grades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """AP estimated from judgments sampled at a different rate in each stratum of the pool.

    At a sampled relevant doc of rank j, P_j = 1/j · (1 + Σ_s D_s·(rel_s + ε)/(judged_s + 3ε)), D_s the docs of stratum
    s above it; xinfAP = Σ P_j/π / Σ 1/π, π = sampled/all docs of its stratum. The docs of a topic that have one π are
    one stratum; docs not sampled have a negative grade and the π of theirs. Without π the pool is one stratum.
    Of the estimates of AP it is the nearest where the top of the pool is a stratum that is judged whole; where one rate
    is that of the whole pool, it lies as far below AP as infAP.

    >>> from dataclasses import replace
    >>> from assay.data.grades import grades
    >>> g, pi = grades([1, 0, 1, 1, -1, -1, 0, None]), np.array([[1, 1, 1, 0.5, 0.5, 0.5, 0.5, 1]])
    >>> both = replace(g, inclusion=pi, judged_inclusion=np.array([[1, 1, 0.5, 1, 0.5, 0.5, 0.5]]))
    >>> stratified_inferred_ap(both).round(6).tolist()
    [0.791665]
    """
    pi, judged_pi = _probabilities(g)
    hit = g.ranked >= rel
    known = g.judged()
    pooled = g.pooled()
    stratum = _strata(pi)
    expected = np.zeros(g.ranked.shape)
    for s in range(int(stratum.max(initial=-1)) + 1):
        here = stratum == s
        share = (_above(hit & here) + EPSILON) / (_above(known & here) + 3 * EPSILON)
        expected += _above(pooled & here) * share
    precision = (1 + expected) / g.ranks()
    relevant = in_order((g.ideal >= rel) / judged_pi)
    return ratio(in_order(hit / pi * precision), relevant)


@measure(
    "statAP",
    range="nonneg",
    needs="inclusion",
    paper="Aslam, Pavlu & Yilmaz 2006; Pavlu & Aslam 2007",
    breaks=("moving up", "perfect is best"),
    caution="after few draws it lies above AP, since what a doc adds to the precision at its own rank is divided by π "
    f"twice: for a run with an AP of .80, 15 draws gave 1.08 on average and 40 gave .95; {NEARER}",
)
def stat_ap(g: Grades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """AP estimated from judgments sampled with unequal probabilities π, as in the Million Query tracks.

    statAP = 1/Rs · Σ_{sampled relevant, retrieved} Ps(r)/π, where Ps(r) = 1/r · Σ_{sampled relevant down to r} 1/π and
    Rs = Σ 1/π estimate precision and R. Rs has no bias, but statAP has and may exceed 1. Rs = 0 scores 0. Without
    probabilities it is an error.

    >>> from dataclasses import replace
    >>> from assay.data.grades import grades
    >>> g = grades([1, 0, None, 1, None, None, 1, None])
    >>> pi = np.array([[1, 1, 1, 0.5, 1, 1, 0.25, 1]])
    >>> stat_ap(replace(g, inclusion=pi, judged_inclusion=np.array([[1, 0.5, 0.25, 1]]))).round(6).tolist()
    [0.928571]
    """
    weight, r = _weights(g, rel)
    total = in_order(weight * _estimated_precision(g, weight))
    return ratio(total, r)


@measure(
    "statAPVariance",
    range="nonneg",
    needs="inclusion",
    paper="Pavlu & Aslam 2007",
    lower_is_better=True,
    breaks=("moving up", "perfect is best"),
    caution="after few draws it is too small: 10 draws gave .58 to .77 of the true variance, 40 gave .84 to .97",
)
def stat_ap_variance(
    g: Grades,
    *,
    rel: Annotated[float, Within(0)] = 1,
    draws: Annotated[int, Within(0)] = 0,
    precision: str = "estimated",
) -> Scores:
    """Variance of statAP as a ratio of two sampled totals, to the first order.

    1/Rs² · Σ_d Σ_e (π_de − π_d·π_e)/π_de · (u_d/π_d)(u_e/π_e) over the sampled relevant docs, where u is Ps(rank) plus
    Σ 1/(π·rank) of those below minus statAP: a doc also raises the precision at all below it. precision=known leaves
    that out, as if Ps were not sampled, and is far too small. A doc that was not retrieved has u = −statAP.
    draws=0: docs were sampled independently, only d = e counts. draws=m: m draws of buckets with replacement, docs of
    different buckets have π_de = (m − 1)/m · π_d·π_e; one π in a topic is one bucket.

    >>> from dataclasses import replace
    >>> from assay.data.grades import grades
    >>> g = replace(grades([1, 1]), inclusion=np.array([[1, 0.5]]), judged_inclusion=np.array([[1, 0.5]]))
    >>> stat_ap(g).round(6).tolist(), stat_ap_variance(g).round(6).tolist()
    ([1.333333], [0.006173])
    """
    if precision not in ("estimated", "known"):
        raise UsageError(f"statAPVariance: no precision {precision!r}; known: estimated, known")
    weight, r = _weights(g, rel)
    estimate = stat_ap(g, rel=rel)[:, None]
    worth = _estimated_precision(g, weight)
    if precision == "estimated":
        worth = worth + _below(weight / g.ranks())
    judged = (g.ideal >= rel) / _probabilities(g)[1]
    # Sums over all sampled relevant docs: as if none was retrieved, then corrected for those that were.
    unfound = in_order(judged * (judged - 1) * estimate**2)
    found = in_order(weight * (weight - 1) * ((worth - estimate) ** 2 - estimate**2))
    total = unfound + found
    if draws > 1:
        total = total - _between_buckets(g, weight * worth, judged * estimate) / (draws - 1)
    return np.maximum(ratio(total, r**2), 0.0)


def _between_buckets(g: Grades, found: Scores, judged: Scores) -> Scores:
    """Σ of products of u/π over pairs of docs from different buckets; sure docs (π = 1) are in none."""
    pi, judged_pi = _probabilities(g)
    values = np.concatenate([found, -judged], axis=1)
    every = np.concatenate([pi, judged_pi], axis=1)
    sampled, bucket = every < 1, _strata(every)
    total = (values * sampled).sum(axis=1) ** 2
    for b in range(int(bucket.max(initial=-1)) + 1):
        total = total - (values * (sampled & (bucket == b))).sum(axis=1) ** 2
    return total


def _weights(g: Grades, rel: float) -> tuple[Scores, Scores]:
    """1/π of each sampled relevant ranked doc, 0 for the others; and Rs."""
    if g.inclusion is None:
        raise UsageError("statAP needs inclusion probabilities; give qrels that have them as a fifth column")
    pi, judged_pi = _probabilities(g)
    return (g.ranked >= rel) / pi, in_order((g.ideal >= rel) / judged_pi)


def _estimated_precision(g: Grades, weight: Scores) -> Scores:
    return weight.cumsum(axis=1) / g.ranks()


def _below(values: Scores) -> Scores:
    """Sum of the values below each rank."""
    return in_order(values)[:, None] - values.cumsum(axis=1)


def _probabilities(g: Grades) -> tuple[Scores, Scores]:
    """Inclusion probabilities of the ranked and of all judged docs; 1 where nothing is known."""
    ranked = np.ones(g.ranked.shape) if g.inclusion is None else g.inclusion
    judged = np.ones(g.ideal.shape) if g.judged_inclusion is None else g.judged_inclusion
    every = np.concatenate([ranked, judged], axis=1)
    if (every <= 0).any() or (every > 1).any():
        raise UsageError(
            "an inclusion probability is not above 0 and at most 1; a judged doc had some chance to be drawn"
        )
    return ranked, judged


def _above(mask: Bools) -> Ints:
    """How many of the docs above each rank are marked."""
    return np.cumsum(mask, axis=1) - mask


def _strata(pi: Scores) -> npt.NDArray[np.int64]:
    """The number of each doc's stratum within its topic: docs of one inclusion probability are one stratum."""
    order = np.argsort(pi, axis=1, kind="stable")
    ordered = np.take_along_axis(pi, order, axis=1)
    new = np.zeros(pi.shape, dtype=np.int64)
    new[:, 1:] = ordered[:, 1:] > ordered[:, :-1]
    strata = np.zeros(pi.shape, dtype=np.int64)
    np.put_along_axis(strata, order, np.cumsum(new, axis=1), axis=1)
    return strata
