"""Discounted cumulated gain in all its forms: by rank as in trec_eval and Burges, and by Järvelin and Kekäläinen."""

from __future__ import annotations

from typing import Annotated

from assay.core.lazy import np
from assay.core.registry import Within
from assay.data.grades import Grades
from assay.measures.base import Scores, in_order, measure, ratio


@measure("DCG", linear=True, bounded=True, range="nonneg", paper="Burges et al. 2005")
def dcg(g: Grades, *, k: Annotated[int, Within(1)] | None = None, gain: str = "grade") -> Scores:
    """Σ_r gain(r) / log2(r + 1).

    >>> from assay.data.grades import grades
    >>> dcg(grades([3, 0, 1])).tolist()
    [3.5]
    """
    return _discounted(g.gains(gain, k))


@measure("IdealDCG", range="nonneg", paper="Burges et al. 2005")
def ideal_dcg(g: Grades, *, k: Annotated[int, Within(1)] | None = None, gain: str = "grade") -> Scores:
    """DCG of the best list that the judgments allow.

    >>> from assay.data.grades import grades
    >>> ideal_dcg(grades([0, 0, 1], judged=[3, 1])).round(6).tolist()
    [3.63093]
    """
    return _discounted(g.ideal_gains(gain, k))


@measure("nDCG", linear=True, paper="Järvelin & Kekäläinen 2002; Burges et al. 2005")
def ndcg(g: Grades, *, k: Annotated[int, Within(1)] | None = None, gain: str = "grade") -> Scores:
    """DCG over the DCG of the best list that the judgments allow, both to rank k. No gain to be had scores 0.

    gain: grade (trec_eval), exp (2^grade − 1), or a mapping such as 1:3/2:9; fractions are fine.

    >>> from assay.data.grades import grades
    >>> ndcg(grades([0, 3, 0, 1], judged=[3, 1, 1])).round(4).tolist()
    [0.5625]
    """
    return ratio(dcg(g, k=k, gain=gain), ideal_dcg(g, k=k, gain=gain))


@measure("DCGjk", linear=True, bounded=True, range="nonneg", paper="Järvelin & Kekäläinen 2002")
def dcg_jk(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    b: Annotated[float, Within(1, open=True)] = 2.0,
) -> Scores:
    """Σ_r gain(r) · (1 for r ≤ b, 1/log_b(r) after).

    >>> from assay.data.grades import grades
    >>> dcg_jk(grades([1, 1, 0, 1])).tolist()
    [2.5]
    """
    return _discounted_jk(g.gains(gain, k), b)


@measure("nDCGjk", linear=True, paper="Järvelin & Kekäläinen 2002")
def ndcg_jk(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    b: Annotated[float, Within(1, open=True)] = 2.0,
) -> Scores:
    """DCG of Järvelin and Kekäläinen over its ideal; docs down to rank b are not discounted.

    >>> from assay.data.grades import grades
    >>> ndcg_jk(grades([0, 1, 1])).round(6).tolist()
    [0.815465]
    """
    return ratio(dcg_jk(g, k=k, gain=gain, b=b), _discounted_jk(g.ideal_gains(gain, k), b))


@measure("Rndcg", paper="trec_eval", breaks=("unjudged at the end",))
def r_level_ndcg(g: Grades, *, rel: Annotated[float, Within(0)] = 1, gain: str = "grade") -> Scores:
    """Mean nDCG at the ranks where the gain of the ideal list falls, and at the end of a list that goes on past them.

    With 5 docs of grade 2 and 3 of grade 1 these are ranks 5, 8 and the end. No relevant doc scores 0.

    >>> from assay.data.grades import grades
    >>> r_level_ndcg(grades([1, 0], judged=[1, 1])).round(6).tolist()
    [0.613147]
    """
    gain_at = _cumulated(g.gains(gain), g)
    best_at = _cumulated(g.ideal_gains(gain), g)
    ndcg_at = ratio(gain_at, best_at)
    ideal = _widened(g.ideal_gains(gain), g)
    falls = np.zeros(ideal.shape, dtype=bool)
    falls[:, :-1] = (ideal[:, :-1] > ideal[:, 1:]) & (ideal[:, :-1] > 0)
    goes_on = g.retrieved > (ideal > 0).sum(axis=1) + 1
    end = ndcg_at[:, -1] * goes_on
    total = in_order(ndcg_at * falls) + end
    scores = ratio(total, falls.sum(axis=1) + goes_on)
    return np.where(g.relevant(rel) > 0, scores, 0.0)


@measure("nDCGrel", paper="trec_eval")
def ndcg_at_relevant(g: Grades, *, gain: str = "grade") -> Scores:
    """Mean over the docs with a gain of nDCG at their rank; one that was not retrieved counts with nDCG at the end.

    Where negative gains, which a mapping may set, make it negative, it is 0, as in trec_eval.

    >>> from assay.data.grades import grades
    >>> ndcg_at_relevant(grades([1, 0], judged=[1, 1])).round(6).tolist()
    [0.806574]
    """
    gain_at = _cumulated(g.gains(gain), g)
    best_at = _cumulated(g.ideal_gains(gain), g)
    ndcg_at = ratio(gain_at, best_at)
    found = _widened(g.gains(gain), g) > 0
    r = (g.ideal_gains(gain) > 0).sum(axis=1)
    missed = r - found.sum(axis=1)
    total = in_order(ndcg_at * found) + missed * ndcg_at[:, -1]
    return ratio(np.maximum(total, 0.0), r)


@measure("G", paper="trec_eval (Buckley)", breaks=("moving up",))
def gain_over_cost(g: Grades, *, gain: str = "grade") -> Scores:
    """Σ gain(r) / log2(2 + cost(r) − gains so far), over the sum of all gains.

    cost(r) = Σ_{j ≤ r} max(ideal gain(j), 1).

    >>> from assay.data.grades import grades
    >>> gain_over_cost(grades([0, 1])).round(6).tolist()
    [0.63093]
    """
    gains = _widened(g.gains(gain), g)
    ideal = _widened(g.ideal_gains(gain), g)
    cost = np.maximum(ideal, 1.0).cumsum(axis=1)
    unused = np.maximum(cost - gains.cumsum(axis=1), 0.0)
    discounted = gains / np.log2(2 + unused)
    return ratio(in_order(discounted), in_order(ideal))


@measure("binG", paper="trec_eval (Buckley)")
def binary_gain_over_cost(g: Grades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """Σ over relevant docs of 1 / log2(2 + docs above it that are not relevant), over R.

    >>> from assay.data.grades import grades
    >>> binary_gain_over_cost(grades([0, 1])).round(6).tolist()
    [0.63093]
    """
    hit = g.hits(rel)
    nonrelevant_above = g.ranks() - hit.cumsum(axis=1)
    discounted = hit / np.log2(2 + nonrelevant_above)
    return ratio(in_order(discounted), g.relevant(rel))


def _widened(gains: Scores, g: Grades) -> Scores:
    """Gains padded with zeros past the end of both the list and the ideal list."""
    width = max(g.depth, g.ideal.shape[1]) + 1
    out = np.zeros((len(g.topics), width))
    out[:, : gains.shape[1]] = gains
    return out


def _cumulated(gains: Scores, g: Grades) -> Scores:
    """DCG at every rank."""
    wide = _widened(gains, g)
    return (wide / _logarithms(wide)).cumsum(axis=1)


def _discounted(gains: Scores) -> Scores:
    """DCG."""
    return in_order(gains / _logarithms(gains))


def _logarithms(gains: Scores) -> Scores:
    """log2(r + 1) for r = 1, 2, …"""
    return np.log2(np.arange(2, gains.shape[1] + 2))


def _discounted_jk(gains: Scores, b: float) -> Scores:
    """DCG of Järvelin and Kekäläinen."""
    ranks = np.arange(1, gains.shape[1] + 1)
    discount = np.maximum(1.0, np.log(ranks) / np.log(b))
    return in_order(gains / discount)
