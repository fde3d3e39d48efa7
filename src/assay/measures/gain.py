"""Measures of graded gain that are not discounted sums: Sakai's blended-ratio family, ERR and its kin, graded AP.

A doc is relevant here where its gain is positive. The blended ratio at rank r mixes precision with cumulated gain,
BR(r) = (rel(r) + β·cg(r)) / (r + β·cg*(r)), where cg* cumulates the gains of the best list that the judgments allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from assay.core.arrays import Bools
from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.core.registry import Within
from assay.data.grades import Grades, gain_mapping, gain_of
from assay.measures.base import Scores, in_order, measure, ratio

if TYPE_CHECKING:
    import numpy.typing as npt


@measure("Q", paper="Sakai 2004; Sakai & Kando 2008")
def q_measure(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    beta: Annotated[float, Within(0)] = 1.0,
) -> Scores:
    """Mean of the blended ratio at the rank of each relevant doc.

    Q = 1/R · Σ_{relevant r} BR(r); with a cutoff the sum stops at k and is divided by min(k, R). β = 0 gives AP without
    a cutoff, and with one the AP@k of NTCIREVAL. No relevant docs score 0; unjudged docs gain nothing.

    >>> from assay.data.grades import grades
    >>> q_measure(grades([2, 0, 1, None, 0, 1])).round(6).tolist()
    [0.804762]
    """
    r = _relevant(g, gain)
    hit = g.gains(gain, k) > 0
    at_relevant = blended_ratio(g, gain=gain, beta=beta, k=k) * hit
    counted = r if k is None else np.minimum(r, k)
    return ratio(in_order(at_relevant), counted)


@measure("O", paper="Sakai 2004")
def o_measure(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    beta: Annotated[float, Within(0)] = 1.0,
) -> Scores:
    """Blended ratio at the first relevant doc; 0 if none is retrieved.

    >>> from assay.data.grades import grades
    >>> o_measure(grades([0, 3], judged=[3, 2])).round(6).tolist()
    [0.571429]
    """
    hit = g.gains(gain, k) > 0
    first = hit & (hit.cumsum(axis=1) == 1)
    at_first = blended_ratio(g, gain=gain, beta=beta, k=k) * first
    return in_order(at_first)


@measure("P-measure", paper="Sakai 2006", breaks=("moving up",))
def p_measure(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    beta: Annotated[float, Within(0)] = 1.0,
) -> Scores:
    """Blended ratio at the preferred rank, the first rank with the highest gain of the (cut) list; 0 if none gains.

    Moving the preferred doc past another relevant doc can lower it: the doc it passed no longer counts.

    >>> from assay.data.grades import grades
    >>> p_measure(grades([0, 1, 3], judged=[3, 1])).round(6).tolist()
    [0.857143]
    """
    preferred, _ = _preferred(g.gains(gain, k))
    at_preferred = blended_ratio(g, gain=gain, beta=beta, k=k) * preferred
    return in_order(at_preferred)


@measure("P+", paper="Sakai 2006", breaks=("moving up",))
def p_plus(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    beta: Annotated[float, Within(0)] = 1.0,
) -> Scores:
    """Mean of the blended ratio over the relevant ranks down to the preferred rank.

    The preferred rank is the first with the highest gain of the (cut) list. 0 if nothing relevant is retrieved.

    >>> from assay.data.grades import grades
    >>> p_plus(grades([0, 1, 3], judged=[3, 1])).round(6).tolist()
    [0.595238]
    """
    gains = g.gains(gain, k)
    _, reached = _preferred(gains)
    counted = reached & (gains > 0)
    at_counted = blended_ratio(g, gain=gain, beta=beta, k=k) * counted
    return ratio(in_order(at_counted), in_order(counted))


@measure("NCU", paper="Sakai & Robertson 2008", breaks=("moving up",))
def normalised_cumulative_utility(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    stop: str = "graded",
    utility: str = "br",
    gamma: Annotated[float, Within(0, 1)] = 0.95,
    beta: Annotated[float, Within(0)] = 1.0,
) -> Scores:
    """Σ_r Pr(r)·NU(r): the utility of stopping at each relevant doc, weighted by the chance to stop there.

    stop: uniform 1/R; graded gain(r) / Σ gains of all judged docs; ranked γ^(rel(r)−1) / Σ_{j≤R} γ^(j−1).
    utility: precision, or br. NCU(stop=uniform) is Q. No relevant docs score 0.

    >>> from assay.data.grades import grades
    >>> g = grades([0, 3, None, 2], judged=[3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 0])
    >>> normalised_cumulative_utility(g, utility="precision").round(4).tolist()
    [0.1316]
    """
    gains = g.gains(gain, k)
    if utility not in ("precision", "br"):
        raise UsageError(f"NCU: no utility {utility!r}; known: precision, br")
    # Without gains, at β = 0, the blended ratio is precision.
    blend = beta if utility == "br" else 0.0
    value = blended_ratio(g, gain=gain, beta=blend, k=k)
    weighted = _stop_weights(g, gains, gain, stop, gamma) * value
    return in_order(weighted)


def _stop_weights(g: Grades, gains: Scores, gain: str, stop: str, gamma: float) -> Scores:
    """Chance to stop at each rank: 0 where the doc is not relevant."""
    hit = gains > 0
    r = _relevant(g, gain)
    if stop == "uniform":
        return ratio(hit, r[:, None])
    if stop == "graded":
        all_gains = in_order(g.ideal_gains(gain))
        return ratio(gains, all_gains[:, None])
    if stop == "ranked":
        total = r if gamma == 1 else (1 - gamma**r) / (1 - gamma)
        relevant_above = np.maximum(hit.cumsum(axis=1), 1) - 1.0
        chance = hit * gamma**relevant_above
        return ratio(chance, total[:, None])
    raise UsageError(f"NCU: no stop {stop!r}; known: uniform, graded, ranked")


@measure("ERR", bounded=True, uses_top=True, paper="Chapelle, Metzler, Zhang & Grinspan 2009")
def expected_reciprocal_rank(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """Expected 1/rank at which a user stops who is satisfied by each doc with probability (2^grade − 1) / 2^top.

    ERR = Σ_r 1/r · p(r) · Π_{j<r} (1 − p(j)). top is the highest grade of the collection's scale unless given (gdeval
    always took 4); it is never guessed per topic. A grade above top counts as top.

    >>> from assay.data.grades import grades
    >>> expected_reciprocal_rank(grades([1, 2], top=2)).tolist()
    [0.53125]
    """
    highest = g.top if top is None else top
    satisfied = _satisfied(g.ranked[:, :k], highest)
    return _cascade(satisfied)


@measure("nERR", uses_top=True, paper="Chapelle et al. 2009, normalised")
def normalised_err(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """ERR over the ERR of all judged docs sorted by grade, both to rank k; 0 without relevant docs.

    >>> from assay.data.grades import grades
    >>> normalised_err(grades([1, 2], top=2)).round(6).tolist()
    [0.68]
    """
    highest = g.top if top is None else top
    best = _cascade(_satisfied(g.ideal[:, :k], highest))
    return ratio(expected_reciprocal_rank(g, k=k, top=top), best)


@measure("ERRlin", bounded=True, uses_top=True, paper="Sakai, NTCIREVAL; after Chapelle et al. 2009")
def linear_err(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """ERR with stop probability gain / (highest gain + 1), as in NTCIREVAL: grades 1, 2, 3 of 3 give 1/4, 2/4, 3/4.

    The highest gain is that of the scale's top grade. With gain=exp it is ERR. It does not become RR for binary grades:
    one relevant doc at rank 1 gives 1/2.

    >>> from assay.data.grades import grades
    >>> linear_err(grades([0, 3, None, 2])).tolist()
    [0.40625]
    """
    highest = top_gain(g, gain, top)
    stops = _linear_stops(g.gains(gain, k), highest)
    return _cascade(stops)


@measure("nERRlin", uses_top=True, paper="Sakai, NTCIREVAL; after Chapelle et al. 2009")
def normalised_linear_err(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """ERRlin over the ERRlin of all judged docs sorted by gain, both to rank k; the nERR of NTCIREVAL.

    >>> from assay.data.grades import grades
    >>> normalised_linear_err(grades([0, 3, None, 2], judged=[3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 0])).round(4).tolist()
    [0.471]
    """
    highest = top_gain(g, gain, top)
    stops = _linear_stops(g.ideal_gains(gain, k), highest)
    best = _cascade(stops)
    return ratio(linear_err(g, k=k, gain=gain, top=top), best)


@measure("EBR", uses_top=True, paper="Sakai 2018", breaks=("moving up",))
def expected_blended_ratio(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    beta: Annotated[float, Within(0)] = 1.0,
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """ERRlin with 1/r replaced by the blended ratio: Σ_r p(r)·BR(r)·Π_{j<r} (1 − p(j)).

    >>> from assay.data.grades import grades
    >>> expected_blended_ratio(grades([1, 0], judged=[1])).tolist()
    [0.5]
    """
    value = blended_ratio(g, gain=gain, beta=beta, k=k)
    highest = top_gain(g, gain, top)
    stops = _linear_stops(g.gains(gain, k), highest)
    return _cascade(stops, value)


@measure("GAP", uses_top=True, paper="Robertson, Kanoulas & Yilmaz 2010")
def graded_average_precision(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    thresholds: str = "uniform",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """AP for a user whose threshold of relevance is grade j with probability g_j, j = 1 … the scale's top.

    GAP = Σ_j g_j·Σ_{r: grade ≥ j} P_j@r / Σ_j g_j·R_j, P_j and R_j with docs of grade ≥ j as the relevant ones.
    thresholds: uniform, linear (g_j ∝ j, as in NTCIREVAL), or a mapping such as 1:0.5/2:0.5. Binary grades give AP.
    With a cutoff the sum stops at k and the denominator counts the best k judged docs. Between whole grades the chance
    that a threshold is at most x is taken from the same formula: x/top if uniform, x(x + 1)/(top(top + 1)) if linear.

    >>> from assay.data.grades import grades
    >>> graded_average_precision(grades([2, 0, 1, 3], judged=[3, 2, 1, 1])).round(6).tolist()
    [0.595238]
    """
    total = np.zeros(len(g.topics))
    best = np.zeros(len(g.topics))
    highest = g.top if top is None else top
    for grade, probability in _thresholds(g, thresholds, highest).items():
        hit = g.ranked[:, :k] >= grade
        precision = hit.cumsum(axis=1) / g.ranks(k)
        precision_at_hits = hit * precision
        total += probability * in_order(precision_at_hits)
        in_best_list = g.ideal[:, :k] >= grade
        best += probability * in_best_list.sum(axis=1)
    return ratio(total, best)


def _thresholds(g: Grades, text: str, top: float) -> dict[float, float]:
    """Probability that the user's threshold lies at each grade, or between it and the next lower one that occurs."""
    if text not in ("uniform", "linear"):
        return gain_mapping(text)
    # The whole grades up to the top, as in the paper, or those that occur where they are many or not whole.
    occurring = np.unique(np.concatenate([g.ideal.ravel(), g.ranked.ravel()]))
    occurring = occurring[occurring > 0]
    all_whole = bool((occurring == np.floor(occurring)).all())
    whole = float(top).is_integer() and all_whole
    if whole and top <= len(occurring) + 10:
        grades = np.arange(1.0, top + 1)
    else:
        grades = occurring.astype(np.float64)
    counted = np.minimum(grades, top)
    reached = counted / top
    if text == "linear":
        reached = reached * (counted + 1) / (top + 1)
    shares = np.diff(reached, prepend=0.0)
    return dict(zip(grades.tolist(), shares.tolist(), strict=True))


def blended_ratio(
    g: Grades,
    *,
    gain: str = "grade",
    beta: Annotated[float, Within(0)] = 1.0,
    k: Annotated[int, Within(1)] | None = None,
) -> Scores:
    """BR(r) = (rel(r) + β·cg(r)) / (r + β·cg*(r)) at every rank down to k.

    >>> from assay.data.grades import grades
    >>> blended_ratio(grades([0, 3], judged=[3, 2])).round(6).tolist()
    [[0.0, 0.571429]]
    """
    gains = g.gains(gain, k)
    best = np.zeros(gains.shape)
    ideal = g.ideal_gains(gain, gains.shape[1])
    best[:, : ideal.shape[1]] = ideal
    relevant = (gains > 0).cumsum(axis=1)
    reached = relevant + beta * gains.cumsum(axis=1)
    reachable = g.ranks(k) + beta * best.cumsum(axis=1)
    return reached / reachable


def top_gain(g: Grades, gain: str = "grade", top: float | None = None) -> float:
    """The highest gain of the scale: that of its top grade, or of a mapping's best grade.

    top: the top grade, that of the collection unless given.

    >>> from assay.data.grades import grades
    >>> top_gain(grades([1, 0], top=2), "exp"), top_gain(grades([1]), "1:3/2:9"), top_gain(grades([1]), top=4)
    (3.0, 9.0, 4.0)
    """
    grade = g.top if top is None else top
    highest = float(gain_of(np.array([grade], dtype=np.float64), gain)[0])
    if gain in ("grade", "exp", "binary"):
        return highest
    return max(highest, *gain_mapping(gain).values())


def unit_gains(g: Grades, gain: str, k: int | None = None, top: float | None = None) -> Scores:
    """Gains over the highest gain of the scale, so that they lie in [0, 1]; a grade above the top counts as the top."""
    highest = top_gain(g, gain, top)
    share = ratio(g.gains(gain, k), highest)
    return np.minimum(share, 1.0)


def _relevant(g: Grades, gain: str) -> Scores:
    """Judged docs with a positive gain."""
    gains_something = g.ideal_gains(gain) > 0
    return gains_something.sum(axis=1).astype(np.float64)


def _preferred(gains: Scores) -> tuple[Bools, Bools]:
    """Where the preferred rank is, and the ranks down to it; nowhere in a list without gain."""
    best = gains.max(axis=1, initial=0.0)[:, None]
    has_gain = best > 0
    is_best = (gains == best) & has_gain
    best_so_far = is_best.cumsum(axis=1)
    preferred = is_best & (best_so_far == 1)
    above = (best_so_far == 0) & has_gain
    return preferred, above | preferred


def _satisfied(grades: npt.ArrayLike, top: float) -> Scores:
    """(2^grade − 1) / 2^top, as 2^(grade − top) − 2^(−top): 2^top itself may be more than a number can hold."""
    counted = np.clip(np.asarray(grades, dtype=np.float64), 0.0, top)
    return np.exp2(counted - top) - np.exp2(-top)


def _linear_stops(gains: Scores, highest: float) -> Scores:
    """gain / (highest gain + 1); a gain above the highest counts as the highest."""
    return np.minimum(gains, highest) / (highest + 1)


def _cascade(p: Scores, value: Scores | None = None) -> Scores:
    """Σ_r value(r)·p(r)·Π_{j<r} (1 − p(j)); value is 1/r unless given."""
    unsatisfied = np.ones(p.shape)
    unsatisfied[:, 1:] = np.cumprod(1 - p[:, :-1], axis=1)
    stops = p * unsatisfied
    if value is None:
        return in_order(stops / np.arange(1, p.shape[1] + 1))
    return in_order(stops * value)
