"""C/W/L measures: what a user gains who goes on after rank i with probability C(i), each measure one such function.

From C follow the weight of each rank, W(i) ∝ Π_{j<i} C(j), and the chance to stop there, L(i) = (1 − C(i))·Π_{j<i} C(j)
(Moffat, Bailey, Scholer & Thomas 2017; Azzopardi, Thomas & Moffat 2019). `value` picks what is reported: EU expected
utility per doc, ETU total utility, EC cost per doc, ETC total cost, or items, the expected number of docs seen.
"""

from __future__ import annotations

import numpy as np

from assay.core.errors import UsageError
from assay.data.grades import Grades
from assay.measures.base import Scores, measure
from assay.measures.users import unit_gains, words

DEPTH = 1000
"""Ranks that a user may see at most: cwl_eval's. Past the end of a list there is no gain, and each doc costs 1."""

PAPER = "Azzopardi, Thomas & Moffat 2019"


@measure("CWLP", linear=True, bounded=True, paper=PAPER)
def cwl_precision(g: Grades, *, k: int, gain: str = "grade", value: str = "EU") -> Scores:
    """Graded precision at k as a C/W/L measure: C(i) = 1 for i < k, else 0. Its EU for binary grades is P@k.

    >>> from assay.data.grades import grades
    >>> cwl_precision(grades([1, 0, 1]), k=2).tolist(), cwl_precision(grades([1, 0, 1]), k=2, value="ETU").tolist()
    ([0.5], [1.0])
    """
    gains = _gains(g, gain, k)
    return _expected(gains, np.ones(gains.shape), value, k)


@measure("CWLRR", paper=PAPER)
def cwl_reciprocal_rank(g: Grades, *, gain: str = "grade", value: str = "EU") -> Scores:
    """Reciprocal rank as a C/W/L measure: C(i) = 1 until the first gain, then 0. Its EU for binary grades is RR.

    >>> from assay.data.grades import grades
    >>> cwl_reciprocal_rank(grades([0, 1, 1])).tolist(), cwl_reciprocal_rank(grades([0, 1]), value="items").tolist()
    ([0.5], [2.0])
    """
    gains = _gains(g, gain)
    return _expected(gains, (gains.cumsum(axis=1) == 0).astype(np.float64), value)


@measure("CWLRBP", linear=True, bounded=True, paper="Moffat & Zobel 2008")
def cwl_rbp(g: Grades, *, p: float = 0.9, gain: str = "grade", value: str = "EU") -> Scores:
    """Rank-biased precision as a C/W/L measure: C(i) = p, with the weights of 1,000 ranks summing to 1.

    >>> from assay.data.grades import grades
    >>> cwl_rbp(grades([1]), p=0.5).tolist()
    [0.5]
    """
    gains = _gains(g, gain)
    return _expected(gains, np.full(gains.shape, p), value)


@measure("SDCG", linear=True, bounded=True, paper="Järvelin & Kekäläinen 2002; Moffat et al. 2013")
def scaled_dcg(g: Grades, *, k: int, gain: str = "grade", value: str = "EU") -> Scores:
    """DCG with its discounts scaled to sum to 1 at rank k: C(i) = log(i + 1)/log(i + 2) for i < k, else 0.

    >>> from assay.data.grades import grades
    >>> scaled_dcg(grades([1, 0]), k=2).round(6).tolist()
    [0.613147]
    """
    gains, i = _gains(g, gain, k), _ranks(k)
    return _expected(gains, np.log(i + 1) / np.log(i + 2), value, k)


@measure("INSQ", linear=True, bounded=True, paper="Moffat, Scholer & Thomas 2012")
def insq(g: Grades, *, T: float = 1.0, gain: str = "grade", value: str = "EU") -> Scores:
    """A user who wants T docs' worth of gain and does not adapt: C(i) = ((i + 2T − 1)/(i + 2T))².

    >>> from assay.data.grades import grades
    >>> insq(grades([1, 0, 1]), T=2.0).round(6).tolist()
    [0.319199]
    """
    gains, i = _gains(g, gain), _ranks(DEPTH)
    return _expected(gains, _squared(i + 2 * _wanted("INSQ", T)), value)


@measure("INST", paper="Moffat, Bailey, Scholer & Thomas 2015")
def inst(g: Grades, *, T: float = 1.0, gain: str = "grade", value: str = "EU") -> Scores:
    """A user who wants T docs' worth of gain and adapts to what she has found.

    C(i) = ((i + T + T_i − 1)/(i + T + T_i))², T_i = T − gain found so far.

    >>> from assay.data.grades import grades
    >>> inst(grades([1, 0, 1]), T=2.0).round(6).tolist()
    [0.426123]
    """
    gains, i = _gains(g, gain), _ranks(DEPTH)
    left = _wanted("INST", T, 0.5) - gains.cumsum(axis=1)
    return _expected(gains, _squared(i + T + left), value)


@measure("BPM", paper="Zhang, Liu, Li, Zhang, Xu & Ma 2017", breaks=("moving up",))
def bejeweled(g: Grades, *, k: int, T: float = 1.0, gain: str = "grade", value: str = "EU") -> Scores:
    """Static Bejeweled player: goes on while she has found less than T and seen fewer than k docs.

    >>> from assay.data.grades import grades
    >>> bejeweled(grades([1, 0, 1]), T=2.0, k=10).round(6).tolist()
    [0.666667]
    """
    gains = _gains(g, gain)
    goes_on = (gains.cumsum(axis=1) < T) & (_ranks(DEPTH) < k)
    return _expected(gains, _until_stopped(goes_on), value)


@measure("BPMdynamic", paper="Zhang, Liu, Li, Zhang, Xu & Ma 2017", breaks=("moving up", "perfect is best"))
def dynamic_bejeweled(
    g: Grades,
    *,
    k: int,
    T: float = 1.0,
    hb: float = 1.0,
    hc: float = 1.0,
    median: float = 0.5,
    gain: str = "grade",
    value: str = "EU",
) -> Scores:
    """Dynamic Bejeweled player: after each doc the aims move, T by hb and k by hc times (gain − median gain).

    She goes on while the gain so far is below the moved T and the docs so far are fewer than the moved k. As in the
    paper; cwl_eval 1.0 moves T where k is meant, so that its hc has no effect.

    >>> from assay.data.grades import grades
    >>> dynamic_bejeweled(grades([1, 0, 1]), T=1.0, k=3, hb=0.0, hc=0.0).tolist()
    [1.0]
    """
    gains = _gains(g, gain)
    surprise = (gains - median).cumsum(axis=1) - (gains - median)
    wants = gains.cumsum(axis=1) < T + hb * surprise
    affords = _ranks(DEPTH) < k + hc * surprise
    return _expected(gains, _until_stopped(wants) * _until_stopped(affords), value)


@measure("NERR8", paper="Azzopardi, Mackenzie & Moffat 2021, eq. 8")
def nerr8(g: Grades, *, k: int, gain: str = "grade", value: str = "EU") -> Scores:
    """A cascade cut at rank k: C(i) = 1 − gain(i) for i < k, else 0.

    >>> from assay.data.grades import grades
    >>> nerr8(grades([0, 1]), k=10).tolist()
    [0.5]
    """
    gains = _gains(g, gain, k)
    return _expected(gains, 1 - gains, value, k)


@measure("NERR9", paper="Azzopardi, Mackenzie & Moffat 2021, eq. 9")
def nerr9(g: Grades, *, k: int, gain: str = "grade", value: str = "EU") -> Scores:
    """A cascade that tires, cut at rank k: C(i) = i/(i + 1)·(1 − gain(i)) for i < k, else 0.

    >>> from assay.data.grades import grades
    >>> nerr9(grades([0, 1]), k=10).round(6).tolist()
    [0.333333]
    """
    gains, i = _gains(g, gain, k), _ranks(k)
    return _expected(gains, i / (i + 1) * (1 - gains), value, k)


@measure("NERR10", paper="Azzopardi, Mackenzie & Moffat 2021, eq. 10")
def nerr10(g: Grades, *, p: float = 0.9, gain: str = "grade", value: str = "EU") -> Scores:
    """A cascade with the persistence of RBP: C(i) = p·(1 − gain(i)).

    >>> from assay.data.grades import grades
    >>> nerr10(grades([0, 1]), p=0.5).round(6).tolist()
    [0.333333]
    """
    gains = _gains(g, gain)
    return _expected(gains, p * (1 - gains), value)


@measure("NERR11", paper="Azzopardi, Mackenzie & Moffat 2021, eq. 11")
def nerr11(g: Grades, *, T: float = 1.0, gain: str = "grade", value: str = "EU") -> Scores:
    """A cascade with the persistence of INSQ: C(i) = ((i + 2T − 1)/(i + 2T))²·(1 − gain(i)).

    >>> from assay.data.grades import grades
    >>> nerr11(grades([0, 1]), T=1.0).round(6).tolist()
    [0.307692]
    """
    gains, i = _gains(g, gain), _ranks(DEPTH)
    return _expected(gains, _squared(i + 2 * _wanted("NERR11", T)) * (1 - gains), value)


@measure("IFT", paper="Azzopardi, Thomas & Craswell 2018")
def information_foraging(
    g: Grades,
    *,
    model: str = "both",
    T: float = 2.0,
    b1: float = 0.9,
    R1: float = 1.0,
    A: float = 0.2,
    b2: float = 0.9,
    R2: float = 1.0,
    gain: str = "grade",
    value: str = "EU",
) -> Scores:
    """A forager: goes on while the gain falls short of the goal T, and while the rate of gain is above A.

    goal: C1(i) = 1 − 1/(1 + b1·e^((T − cg(i))·R1)); rate: C2(i) = 1/(1 + b2·e^((A − cg(i)/i)·R2)); both: C1·C2.

    >>> from assay.data.grades import grades
    >>> information_foraging(grades([1]), model="rate", R2=0.0, b2=1.0).round(6).tolist()
    [0.5]
    """
    gains, i = _gains(g, gain), _ranks(DEPTH)
    found = gains.cumsum(axis=1)
    goal = 1 - 1 / (1 + b1 * _exp((T - found) * R1))
    rate = 1 / (1 + b2 * _exp((A - found / i) * R2))
    models = {"goal": goal, "rate": rate, "both": goal * rate}
    if model not in models:
        raise UsageError(f"IFT: no model {model!r}; known: goal, rate, both")
    return _expected(gains, models[model], value)


@measure("SET", linear=True, bounded=True, paper="Azzopardi 2014")
def search_economics(g: Grades, *, k: int, beta: float = 0.5, gain: str = "grade", value: str = "EU") -> Scores:
    """Diminishing returns i^β: C(i) = w(i + 1)/w(i) for i < k, w(i) = (i + 1)^β − i^β; β = 1 is graded precision.

    >>> from assay.data.grades import grades
    >>> search_economics(grades([1, 0]), k=2, beta=1.0).tolist()
    [0.5]
    """
    gains, i = _gains(g, gain, k), _ranks(k)
    if beta <= 0:
        raise UsageError(f"SET: beta must be above 0, not {beta}")
    return _expected(gains, ((i + 2) ** beta - (i + 1) ** beta) / ((i + 1) ** beta - i**beta), value, k)


@measure(
    "U",
    bounded=True,
    needs="lengths",
    paper="Sakai & Dou 2013",
    breaks=("moving up", "perfect is best", "unjudged at the end"),
)
def u_measure(g: Grades, *, L: float = 1000.0, gain: str = "grade", value: str = "EU") -> Scores:
    """U-measure as a C/W/L measure: weight ∝ max(0, 1 − position/L), position the length of all docs above.

    Lengths and L are in one unit of reading; without lengths it is an error.

    >>> from dataclasses import replace
    >>> from assay.data.grades import grades
    >>> g = replace(grades([0, 1]), lengths=np.array([[500.0, 500.0]]))
    >>> u_measure(g).round(6).tolist()
    [0.333333]
    """
    position, costs = _positions(g, "U")
    return _expected(_gains(g, gain), _steps(np.maximum(0.0, 1 - position / L)), value, costs=costs)


@measure(
    "CWLTBG",
    bounded=True,
    needs="lengths",
    paper="Smucker & Clarke 2012",
    breaks=("moving up", "perfect is best", "unjudged at the end"),
)
def cwl_time_biased_gain(g: Grades, *, halflife: float = 224.0, gain: str = "grade", value: str = "EU") -> Scores:
    """Time-biased gain as a C/W/L measure: weight ∝ 2^(−t/halflife), t the cost of all docs above. Not TBG itself.

    The lengths are taken as the cost in seconds; without them it is an error.

    >>> from dataclasses import replace
    >>> from assay.data.grades import grades
    >>> g = replace(grades([0, 1]), lengths=np.array([[224.0, 1e9]]))
    >>> cwl_time_biased_gain(g).round(6).tolist()
    [0.333333]
    """
    position, costs = _positions(g, "CWLTBG")
    return _expected(_gains(g, gain), _steps(np.exp2(-position / halflife)), value, costs=costs)


def _expected(
    gains: Scores, goes_on: Scores, value: str, k: int | None = None, *, costs: Scores | None = None
) -> Scores:
    """What C(i) makes of the gains; with k nobody goes on after rank k."""
    onward = np.broadcast_to(goes_on, gains.shape).copy()
    if k is not None:
        onward[:, -1] = 0.0
    reached = np.ones(gains.shape)
    reached[:, 1:] = np.cumprod(onward[:, :-1], axis=1)
    items = reached.sum(axis=1)
    stops = (1 - onward) * reached
    cost = np.ones(gains.shape) if costs is None else costs
    if value == "items":
        return items
    if value in ("EU", "EC"):
        return (reached * (gains if value == "EU" else cost)).sum(axis=1) / items
    if value in ("ETU", "ETC"):
        return (stops * (gains if value == "ETU" else cost).cumsum(axis=1)).sum(axis=1)
    raise UsageError(f"no value {value!r} of a C/W/L measure; known: EU, ETU, EC, ETC, items")


def _gains(g: Grades, gain: str, depth: int = DEPTH) -> Scores:
    """Gains in [0, 1] to a fixed depth, 0 past the end of a list."""
    gains = unit_gains(g, gain, depth)
    padded = np.zeros((len(gains), depth))
    padded[:, : gains.shape[1]] = gains
    return padded


def _ranks(depth: int) -> Scores:
    return np.arange(1, depth + 1, dtype=np.float64)


def _exp(x: Scores) -> Scores:
    """e^x, short of what a float cannot hold."""
    return np.exp(np.minimum(x, 700.0))


def _squared(x: Scores) -> Scores:
    return ((x - 1) / x) ** 2


def _until_stopped(goes_on: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Scores:
    """1 down to the first rank where the user stops, then 0."""
    return np.logical_and.accumulate(goes_on, axis=1).astype(np.float64)


def _positions(g: Grades, name: str) -> tuple[Scores, Scores]:
    """The length of all docs above each rank, and the cost of each; a doc past the end of a list costs 1."""
    lengths = words(g, name)[:, :DEPTH]
    costs = np.ones((len(lengths), DEPTH))
    costs[:, : lengths.shape[1]] = np.where(g.inside(DEPTH), lengths, 1.0)
    return costs.cumsum(axis=1) - costs, costs


def _steps(weights: Scores) -> Scores:
    """C(i) = W(i + 1)/W(i) of weights that may fall to 0; nobody goes on from the last rank."""
    onward = np.zeros(weights.shape)
    np.divide(weights[:, 1:], weights[:, :-1], out=onward[:, :-1], where=weights[:, :-1] > 0)
    return onward


def _wanted(name: str, T: float, least: float = 0.0) -> float:
    """T, if it is large enough for C(i) to stay within [0, 1]."""
    if least > T:
        raise UsageError(f"{name}: T must be at least {least}, not {T}")
    return T
