"""C/W/L measures: what a user gains who goes on after rank i with probability C(i), each measure one such function.

Here are those in which C(i) is a function of the rank or of the costs; those of a user who adapts are in `adaptive`.

From C follow the weight of each rank, W(i) ∝ Π_{j<i} C(j), and the chance to stop there, L(i) = (1 − C(i))·Π_{j<i} C(j)
(Moffat, Bailey, Scholer & Thomas 2017; Azzopardi, Thomas & Moffat 2019). `value` picks what is reported: EU expected
utility per doc, ETU total utility, EC cost per doc, ETC total cost, or items, the expected number of docs seen.

Gains are over the gain of the scale's `top` grade. `cost` says what a doc costs: `lengths`, the length of the doc where
lengths are given and else 1; or a mapping from grades such as `0:4/1:20`, in which an unjudged doc costs what a doc of
grade 0 costs. Past the end of a list there is no gain, and each doc costs 1.
"""

from __future__ import annotations

from typing import Annotated

from assay.core.lazy import np
from assay.core.registry import Within
from assay.data.grades import Grades
from assay.measures.base import Scores, measure
from assay.measures.browsing import DEPTH, BrowsingUser, squared_step
from assay.measures.users import words


@measure("CWLP", linear=True, bounded=True, uses_top=True, paper="Azzopardi, Thomas & Moffat 2019")
def cwl_precision(
    g: Grades,
    *,
    k: Annotated[int, Within(1)],
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """Graded precision at k as a C/W/L measure: C(i) = 1 for i < k, else 0. Its EU for binary grades is P@k.

    >>> from assay.data.grades import grades
    >>> cwl_precision(grades([1, 0, 1]), k=2).tolist(), cwl_precision(grades([1, 0, 1]), k=2, value="ETU").tolist()
    ([0.5], [1.0])
    """
    user = BrowsingUser.of(g, gain, top, cost, k)
    return user.expected(np.ones(len(user.ranks)), value)


@measure("CWLRBP", linear=True, bounded=True, uses_top=True, paper="Moffat & Zobel 2008")
def cwl_rbp(
    g: Grades,
    *,
    p: Annotated[float, Within(0, 1, open=True)] = 0.9,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """Rank-biased precision as a C/W/L measure: C(i) = p, with the weights of 1,000 ranks summing to 1.

    >>> from assay.data.grades import grades
    >>> cwl_rbp(grades([1]), p=0.5).tolist()
    [0.5]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    return user.expected(np.full(DEPTH, p), value)


@measure("NPV", linear=True, bounded=True, uses_top=True, paper="Azzopardi, Thomas & Moffat 2019")
def net_present_value(
    g: Grades,
    *,
    rate: Annotated[float, Within(0)] = 0.1,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """A user who discounts what comes later by a rate of interest: C(i) = 1/(1 + rate), CWLRBP with that p.

    >>> from assay.data.grades import grades
    >>> net_present_value(grades([1]), rate=1.0).tolist()
    [0.5]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    return user.expected(np.full(DEPTH, 1 / (1 + rate)), value)


@measure("SDCG", linear=True, bounded=True, uses_top=True, paper="Järvelin & Kekäläinen 2002; Moffat et al. 2013")
def scaled_dcg(
    g: Grades,
    *,
    k: Annotated[int, Within(1)],
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """DCG with its discounts scaled to sum to 1 at rank k: C(i) = log(i + 1)/log(i + 2) for i < k, else 0.

    >>> from assay.data.grades import grades
    >>> scaled_dcg(grades([1, 0]), k=2).round(6).tolist()
    [0.613147]
    """
    user = BrowsingUser.of(g, gain, top, cost, k)
    i = user.ranks
    return user.expected(np.log(i + 1) / np.log(i + 2), value, lambda rank: 1 / np.log(rank + 1))


@measure("INSQ", linear=True, bounded=True, uses_top=True, paper="Moffat, Scholer & Thomas 2012")
def insq(
    g: Grades,
    *,
    T: Annotated[float, Within(0)] = 1.0,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """A user who wants T docs' worth of gain and does not adapt: C(i) = ((i + 2T − 1)/(i + 2T))².

    >>> from assay.data.grades import grades
    >>> insq(grades([1, 0, 1]), T=2.0).round(6).tolist()
    [0.319199]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    return user.expected(squared_step(user.ranks + 2 * T), value)


@measure("SET", linear=True, bounded=True, uses_top=True, paper="Azzopardi 2014")
def search_economics(
    g: Grades,
    *,
    k: Annotated[int, Within(1)],
    beta: Annotated[float, Within(0, open=True)] = 0.5,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """Diminishing returns i^β: C(i) = w(i + 1)/w(i) for i < k, w(i) = (i + 1)^β − i^β; β = 1 is graded precision.

    >>> from assay.data.grades import grades
    >>> search_economics(grades([1, 0]), k=2, beta=1.0).tolist()
    [0.5]
    """
    user = BrowsingUser.of(g, gain, top, cost, k)
    i = user.ranks
    weight = (i + 1) ** beta - i**beta
    next_weight = (i + 2) ** beta - (i + 1) ** beta
    # Past the lists w(i) in the form that keeps its digits at large ranks.
    return user.expected(next_weight / weight, value, lambda rank: rank**beta * np.expm1(beta * np.log1p(1 / rank)))


@measure(
    "U",
    bounded=True,
    uses_top=True,
    needs="lengths",
    paper="Sakai & Dou 2013",
    breaks=("moving up", "perfect is best", "unjudged at the end"),
)
def u_measure(
    g: Grades,
    *,
    L: Annotated[float, Within(0, open=True)] = 1000.0,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """U-measure as a C/W/L measure: weight ∝ max(0, 1 − position/L), position the length of all docs above.

    Lengths and L are in one unit of reading; without lengths or costs by grade it is an error.

    >>> from dataclasses import replace
    >>> from assay.data.grades import grades
    >>> g = replace(grades([0, 1]), lengths=np.array([[500.0, 500.0]]))
    >>> u_measure(g).round(6).tolist()
    [0.333333]
    """
    _lengths_or_mapping(g, "U", cost)
    user = BrowsingUser.of(g, gain, top, cost)
    weights = np.maximum(0.0, 1 - user.spent_above / L)
    return user.expected(_steps(weights), value)


@measure(
    "CWLTBG",
    bounded=True,
    uses_top=True,
    needs="lengths",
    paper="Smucker & Clarke 2012",
    breaks=("moving up", "perfect is best", "unjudged at the end"),
)
def cwl_time_biased_gain(
    g: Grades,
    *,
    halflife: Annotated[float, Within(0, open=True)] = 224.0,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """Time-biased gain as a C/W/L measure: weight ∝ 2^(−t/halflife), t the cost of all docs above. Not TBG itself.

    The lengths are taken as the cost in seconds; without them or costs by grade it is an error.

    >>> from dataclasses import replace
    >>> from assay.data.grades import grades
    >>> g = replace(grades([0, 1]), lengths=np.array([[224.0, 1e9]]))
    >>> cwl_time_biased_gain(g).round(6).tolist()
    [0.333333]
    """
    _lengths_or_mapping(g, "CWLTBG", cost)
    user = BrowsingUser.of(g, gain, top, cost)
    weights = np.exp2(-user.spent_above / halflife)
    return user.expected(_steps(weights), value)


def _lengths_or_mapping(g: Grades, name: str, cost: str) -> None:
    """An error if a measure of cost has neither the lengths of the docs nor a mapping from grades."""
    if cost == "lengths":
        words(g, name)


def _steps(weights: Scores) -> Scores:
    """C(i) = W(i + 1)/W(i) of weights that may fall to 0; nobody goes on from the last rank."""
    onward = np.zeros(weights.shape)
    np.divide(weights[:, 1:], weights[:, :-1], out=onward[:, :-1], where=weights[:, :-1] > 0)
    return onward
