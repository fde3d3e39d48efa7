"""Counts, and measures of the retrieved docs as a set: precision, recall, F and their kin, with or without a cutoff."""

from __future__ import annotations

from typing import Annotated

from assay.core.lazy import np
from assay.core.registry import Within
from assay.data.grades import Grades
from assay.measures.base import Scores, in_order, measure, ratio

JUDGED_MORE = "every doc that is judged leaves the unjudged ones, whatever its grade"


@measure("NumQ", range="count", aggregate="sum", unsure="it does not depend on judgments")
def topics(g: Grades) -> Scores:
    """Topics that count: 1 for each.

    With missing="zero" these are all topics of the judgments, as with trec_eval's -c.

    >>> from assay.data.grades import grades
    >>> topics(grades([1, 0], [0])).tolist()
    [1.0, 1.0]
    """
    return np.ones(len(g.topics))


@measure("NumRet", range="count", aggregate="sum", unsure="it does not depend on judgments")
def retrieved(g: Grades, *, k: Annotated[int, Within(1)] | None = None) -> Scores:
    """Docs retrieved."""
    return _size(g, k)


@measure("NumRel", range="count", aggregate="sum")
def relevant(g: Grades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """R: judged relevant docs, retrieved or not."""
    return g.relevant(rel)


@measure("NumRelRet", bounded=True, range="count", aggregate="sum")
def relevant_retrieved(
    g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1
) -> Scores:
    """Relevant docs retrieved."""
    return _found(g, rel, k)


@measure(
    "NumNonrelJudgedRet",
    range="count",
    aggregate="sum",
    unsure="a doc that is judged counts only where it is not relevant",
)
def nonrelevant_retrieved(
    g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1
) -> Scores:
    """Docs retrieved that were judged not relevant; negative grades mean pooled but not judged."""
    seen = g.ranked[:, :k]
    below = g.judged(k) & (seen < rel)
    return below.sum(axis=1).astype(np.float64)


@measure("P", linear=True, bounded=True, paper="Cleverdon, Mills & Keen 1966")
def precision(g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """Share of the first k docs that are relevant.

    P@k = |relevant in the top k| / k, also when fewer than k were retrieved. Without k: of all
    retrieved docs, 0 if none.

    >>> from assay.data.grades import grades
    >>> precision(grades([1, 0, 1]), k=5).tolist()
    [0.4]
    """
    return ratio(_found(g, rel, k), _counted(g, k))


@measure("Recall", linear=True, paper="Cleverdon, Mills & Keen 1966")
def recall(g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """Share of the relevant docs that are in the first k. R = 0 scores 0.

    >>> from assay.data.grades import grades
    >>> recall(grades([1, 0, 1], judged=[1, 1, 1, 1]), k=1).tolist()
    [0.25]
    """
    return ratio(_found(g, rel, k), g.relevant(rel))


@measure("RelativeP", linear=True, paper="trec_eval")
def relative_precision(
    g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1
) -> Scores:
    """Precision over the best precision that could be had: found / min(k, R); without k, k is the docs retrieved.

    >>> from assay.data.grades import grades
    >>> relative_precision(grades([1, 0, 1], judged=[1, 1]), k=3).tolist()
    [1.0]
    """
    best = np.minimum(_counted(g, k), g.relevant(rel))
    return ratio(_found(g, rel, k), best)


@measure("SetAP", paper="trec_eval")
def set_average_precision(
    g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1
) -> Scores:
    """Precision times recall of the set: found² / (retrieved · R).

    >>> from assay.data.grades import grades
    >>> set_average_precision(grades([1, 0], judged=[1, 1])).tolist()
    [0.25]
    """
    found = _found(g, rel, k)
    # One division, as in trec_eval: the product of two rounded quotients can round to another last digit.
    return ratio(found * found, _counted(g, k) * g.relevant(rel))


@measure("F", linear=True, paper="van Rijsbergen 1979")
def f_measure(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    rel: Annotated[float, Within(0)] = 1,
    beta: Annotated[float, Within(0)] = 1.0,
) -> Scores:
    """F_β = (β² + 1)PR / (β²P + R) of the retrieved set; 1 − E. trec_eval's set_F weights x instead: SetF.

    >>> from assay.data.grades import grades
    >>> f_measure(grades([1, 0], judged=[1, 1])).tolist()
    [0.5]
    """
    p = precision(g, k=k, rel=rel)
    r = recall(g, k=k, rel=rel)
    weight = beta**2
    return ratio((weight + 1) * p * r, weight * p + r)


@measure("E", paper="van Rijsbergen 1979", lower_is_better=True, breaks=("no relevant",))
def e_measure(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    rel: Annotated[float, Within(0)] = 1,
    alpha: Annotated[float, Within(0, 1)] = 0.5,
) -> Scores:
    """E = 1 − 1 / (α/P + (1 − α)/R): lower is better. α = 1/(β² + 1).

    With α = ½ it is the symmetric difference over the sum of both sizes. 1 where nothing relevant was retrieved.

    >>> from assay.data.grades import grades
    >>> e_measure(grades([1, 0], judged=[1, 1])).tolist()
    [0.5]
    """
    p = precision(g, k=k, rel=rel)
    r = recall(g, k=k, rel=rel)
    return 1 - ratio(p * r, alpha * r + (1 - alpha) * p)


@measure("SetF", linear=True, paper="trec_eval")
def set_f(
    g: Grades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    rel: Annotated[float, Within(0)] = 1,
    x: Annotated[float, Within(0)] = 1.0,
) -> Scores:
    """trec_eval's set_F: (x + 1)PR / (R + xP); x weights recall linearly, not as β².

    >>> from assay.data.grades import grades
    >>> set_f(grades([1, 0], judged=[1, 1]), x=3.0).tolist()
    [0.5]
    """
    p = precision(g, k=k, rel=rel)
    r = recall(g, k=k, rel=rel)
    return ratio((x + 1) * p * r, r + x * p)


@measure("Success", bounded=True, paper="trec_eval")
def success(g: Grades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """1 if a relevant doc is in the first k, else 0.

    >>> from assay.data.grades import grades
    >>> success(grades([0, 1]), k=1).tolist(), success(grades([0, 1]), k=2).tolist()
    ([0.0], [1.0])
    """
    hit = g.hits(rel, k) > 0
    return np.asarray(hit.any(axis=1), dtype=np.float64)


@measure("Utility", range="any", breaks=("no relevant",), paper="trec_eval")
def utility(
    g: Grades,
    *,
    a: float = 1.0,
    b: float = -1.0,
    c: float = 0.0,
    d: float = 0.0,
    rel: Annotated[float, Within(0)] = 1,
    docs: Annotated[float, Within(0)] | None = None,
) -> Scores:
    """a·(relevant retrieved) + b·(not relevant retrieved) + c·(relevant missed) + d·(rest of the docs).

    docs: how many the collection has; by default those that are judged.

    >>> from assay.data.grades import grades
    >>> utility(grades([1, 0, 0], judged=[1, 1, 0, 0])).tolist()
    [-1.0]
    """
    found = _found(g, rel, None)
    size = _size(g, None)
    r = g.relevant(rel)
    in_all = r + g.nonrelevant(rel) if docs is None else docs
    rest = in_all - size - r + found
    return a * found + b * (size - found) + c * (r - found) + d * rest


@measure("Judged", breaks=("no relevant",), paper="Sakai 2007", unsure=JUDGED_MORE)
def judged(g: Grades, *, k: Annotated[int, Within(1)] | None = None) -> Scores:
    """Share of the first k docs that have a judgment; of fewer when fewer were retrieved, 0 if none.

    >>> from assay.data.grades import grades
    >>> judged(grades([1, None, 0]), k=2).tolist()
    [0.5]
    """
    return ratio(g.judged(k).sum(axis=1), _size(g, k))


@measure("Unjudged", paper="trec_eval 10.0", breaks=("no relevant",), lower_is_better=True, unsure=JUDGED_MORE)
def unjudged(g: Grades, *, k: Annotated[int, Within(1)] | None = None) -> Scores:
    """trec_eval 10's unj: unjudged docs among the first k, over k; missing docs count as judged.

    >>> from assay.data.grades import grades
    >>> unjudged(grades([1, None]), k=4).tolist()
    [0.25]
    """
    unknown = g.inside(k) & ~g.judged(k)
    return ratio(unknown.sum(axis=1), _counted(g, k))


def _found(g: Grades, rel: float, k: int | None) -> Scores:
    """Relevant docs among the first k."""
    return in_order(g.hits(rel, k))


def _size(g: Grades, k: int | None) -> Scores:
    """Docs retrieved among the first k."""
    size = g.retrieved if k is None else np.minimum(g.retrieved, k)
    return size.astype(np.float64)


def _counted(g: Grades, k: int | None) -> Scores:
    """Docs over which a share is taken: k, whether or not there are as many, or without k those retrieved."""
    return _size(g, None) if k is None else np.full(len(g.topics), float(k))
