"""C/W/L measures of a user who adapts: whether she goes on after a doc depends on what the list offers.

It is what she has found so far, except in average precision, where it is what is still to come.

C(i), `value`, `cost` and `top` are as in `cwl`.
"""

from __future__ import annotations

from typing import Annotated

from assay.core.arrays import Bools
from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.core.registry import Within
from assay.data.grades import Grades
from assay.measures.base import Scores, in_order, measure, ratio
from assay.measures.browsing import BrowsingUser, squared_step

SATISFIED = "more gain can end the search earlier, and the gain of all that would have been seen after is lost"
AHEAD = "a doc that gains something takes weight from the docs above it"


@measure("CWLRR", uses_top=True, unsure=SATISFIED, paper="Azzopardi, Thomas & Moffat 2019")
def cwl_reciprocal_rank(
    g: Grades,
    *,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """Reciprocal rank as a C/W/L measure: C(i) = 1 until the first gain, then 0. Its EU for binary grades is RR.

    >>> from assay.data.grades import grades
    >>> cwl_reciprocal_rank(grades([0, 1, 1])).tolist(), cwl_reciprocal_rank(grades([0, 1]), value="items").tolist()
    ([0.5], [2.0])
    """
    user = BrowsingUser.of(g, gain, top, cost)
    nothing_yet = user.found == 0
    return user.expected(nothing_yet.astype(np.float64), value)


@measure("CWLAP", uses_top=True, unsure=AHEAD, paper="Moffat, Bailey, Scholer & Thomas 2017")
def cwl_average_precision(
    g: Grades,
    *,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """Average precision as a C/W/L measure: C(i) = Σ_{j>i} gain(j)/j / Σ_{j≥i} gain(j)/j, 0 after the last gain.

    Its EU for binary grades is the mean of the precision at the relevant docs that were retrieved: those that were not
    do not lower it, as they do AP and TrAP.

    >>> from assay.data.grades import grades
    >>> cwl_average_precision(grades([1, 0, 1], judged=[1, 1, 1])).round(6).tolist()
    [0.833333]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    offered = user.gains / user.ranks
    from_here_on = offered[:, ::-1].cumsum(axis=1)[:, ::-1]
    to_come = np.zeros(offered.shape)
    to_come[:, :-1] = from_here_on[:, 1:]
    return user.expected(ratio(to_come, from_here_on), value)


@measure("TrAP", uses_top=True, paper="Harman 1992; Azzopardi, Thomas & Moffat 2019")
def average_precision_of_gains(
    g: Grades,
    *,
    gain: str = "grade",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """cwl_eval's TrAP: 1/R · Σ_i gain(i)·cg(i)/cost(i), R all docs that were judged to have a gain. EU only.

    cg(i) and cost(i) are the gain and the cost of the first i docs. For binary grades and docs that cost 1 it is the AP
    of the first 1,000 docs. Its weights do not sum to 1, so that it has no total utility and no expected items.

    >>> from assay.data.grades import grades
    >>> average_precision_of_gains(grades([1, 0, 1], judged=[1, 1, 1])).round(6).tolist()
    [0.555556]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    rate_so_far = ratio(user.found, user.spent)
    relevant = (g.ideal_gains(gain) > 0).sum(axis=1)
    return ratio(in_order(user.gains * rate_so_far), relevant)


@measure("INST", uses_top=True, unsure=SATISFIED, paper="Moffat, Bailey, Scholer & Thomas 2015")
def inst(
    g: Grades,
    *,
    T: Annotated[float, Within(0.5)] = 1.0,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """A user who wants T docs' worth of gain and adapts to what she has found.

    C(i) = ((i + T + T_i − 1)/(i + T + T_i))², T_i = T − gain found so far.

    >>> from assay.data.grades import grades
    >>> inst(grades([1, 0, 1]), T=2.0).round(6).tolist()
    [0.426123]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    wanted = T - user.found
    return user.expected(squared_step(user.ranks + T + wanted), value)


@measure("BPM", uses_top=True, unsure=SATISFIED, paper="Zhang, Liu, Li, Zhang, Xu & Ma 2017", breaks=("moving up",))
def bejeweled(
    g: Grades,
    *,
    k: Annotated[int, Within(1)],
    T: Annotated[float, Within(0, open=True)] = 1.0,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """Static Bejeweled player: goes on while she has found less than T and spent less than k.

    A doc costs 1 unless costs are given, so that k is a number of docs.

    >>> from assay.data.grades import grades
    >>> bejeweled(grades([1, 0, 1]), T=2.0, k=10).round(6).tolist()
    [0.666667]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    goes_on = (user.found < T) & (user.spent < k)
    return user.expected(_until_stopped(goes_on), value)


@measure(
    "BPMdynamic",
    uses_top=True,
    unsure=SATISFIED,
    paper="Zhang, Liu, Li, Zhang, Xu & Ma 2017",
    breaks=("moving up", "perfect is best"),
)
def dynamic_bejeweled(
    g: Grades,
    *,
    k: Annotated[int, Within(1)],
    T: Annotated[float, Within(0, open=True)] = 1.0,
    hb: Annotated[float, Within(0)] = 1.0,
    hc: Annotated[float, Within(0)] = 1.0,
    median: Annotated[float, Within(0, 1)] = 0.5,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """Dynamic Bejeweled player: after each doc the aims move, T by hb and k by hc times (gain − median gain).

    She goes on while the gain so far is below the moved T and the cost so far (docs, unless costs are given) is below
    the moved k. As in the paper; cwl_eval 1.0 moves T where k is meant, so that its hc has no effect.

    >>> from assay.data.grades import grades
    >>> dynamic_bejeweled(grades([1, 0, 1]), T=1.0, k=3, hb=0.0, hc=0.0).tolist()
    [1.0]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    surprise = user.gains - median
    surprise_above = surprise.cumsum(axis=1) - surprise
    wants = user.found < T + hb * surprise_above
    affords = user.spent < k + hc * surprise_above
    return user.expected(_until_stopped(wants) * _until_stopped(affords), value)


@measure("NERR8", uses_top=True, unsure=SATISFIED, paper="Azzopardi, Mackenzie & Moffat 2021, eq. 8")
def nerr8(
    g: Grades,
    *,
    k: Annotated[int, Within(1)],
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """A cascade cut at rank k: C(i) = 1 − gain(i) for i < k, else 0.

    >>> from assay.data.grades import grades
    >>> nerr8(grades([0, 1]), k=10).tolist()
    [0.5]
    """
    user = BrowsingUser.of(g, gain, top, cost, k)
    return user.expected(1 - user.gains, value)


@measure("NERR9", uses_top=True, unsure=SATISFIED, paper="Azzopardi, Mackenzie & Moffat 2021, eq. 9")
def nerr9(
    g: Grades,
    *,
    k: Annotated[int, Within(1)],
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """A cascade that tires, cut at rank k: C(i) = i/(i + 1)·(1 − gain(i)) for i < k, else 0.

    >>> from assay.data.grades import grades
    >>> nerr9(grades([0, 1]), k=10).round(6).tolist()
    [0.333333]
    """
    user = BrowsingUser.of(g, gain, top, cost, k)
    i = user.ranks
    return user.expected(i / (i + 1) * (1 - user.gains), value, lambda rank: 1 / rank)


@measure("NERR10", uses_top=True, unsure=SATISFIED, paper="Azzopardi, Mackenzie & Moffat 2021, eq. 10")
def nerr10(
    g: Grades,
    *,
    p: Annotated[float, Within(0, 1, open=True)] = 0.9,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """A cascade with the persistence of RBP: C(i) = p·(1 − gain(i)).

    >>> from assay.data.grades import grades
    >>> nerr10(grades([0, 1]), p=0.5).round(6).tolist()
    [0.333333]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    return user.expected(p * (1 - user.gains), value)


@measure("NERR11", uses_top=True, unsure=SATISFIED, paper="Azzopardi, Mackenzie & Moffat 2021, eq. 11")
def nerr11(
    g: Grades,
    *,
    T: Annotated[float, Within(0)] = 1.0,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """A cascade with the persistence of INSQ: C(i) = ((i + 2T − 1)/(i + 2T))²·(1 − gain(i)).

    >>> from assay.data.grades import grades
    >>> nerr11(grades([0, 1]), T=1.0).round(6).tolist()
    [0.307692]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    return user.expected(squared_step(user.ranks + 2 * T) * (1 - user.gains), value)


@measure("IFT", uses_top=True, unsure=SATISFIED, paper="Azzopardi, Thomas & Craswell 2018")
def information_foraging(
    g: Grades,
    *,
    model: str = "both",
    T: Annotated[float, Within(0, open=True)] = 2.0,
    b1: Annotated[float, Within(0)] = 0.9,
    R1: Annotated[float, Within(0)] = 1.0,
    A: Annotated[float, Within(0)] = 0.2,
    b2: Annotated[float, Within(0)] = 0.9,
    R2: Annotated[float, Within(0)] = 1.0,
    gain: str = "grade",
    value: str = "EU",
    cost: str = "lengths",
    top: Annotated[float, Within(0, open=True)] | None = None,
) -> Scores:
    """A forager: goes on while the gain falls short of the goal T, and while the rate of gain is above A.

    goal: C1(i) = 1 − 1/(1 + b1·e^((T − cg(i))·R1)); rate: C2(i) = 1/(1 + b2·e^((A − cg(i)/cost(i))·R2)); both: C1·C2.
    cg(i) and cost(i) are the gain and the cost of the first i docs.

    >>> from assay.data.grades import grades
    >>> information_foraging(grades([1]), model="rate", R2=0.0, b2=1.0).round(6).tolist()
    [0.5]
    """
    user = BrowsingUser.of(g, gain, top, cost)
    # Docs that cost nothing: whoever found something in no time goes on.
    rate_so_far = user.found / np.maximum(user.spent, 1e-9)
    goal = 1 - 1 / (1 + b1 * _exp((T - user.found) * R1))
    rate = 1 / (1 + b2 * _exp((A - rate_so_far) * R2))
    models = {"goal": goal, "rate": rate, "both": goal * rate}
    if model not in models:
        raise UsageError(f"IFT: no model {model!r}; known: goal, rate, both")
    return user.expected(models[model], value)


def _exp(x: Scores) -> Scores:
    """e^x, short of what a float cannot hold."""
    return np.exp(np.minimum(x, 700.0))


def _until_stopped(goes_on: Bools) -> Scores:
    """1 down to the first rank where the user stops, then 0."""
    return np.logical_and.accumulate(goes_on, axis=1).astype(np.float64)
