"""Scores over topics in one number: mean, median, geometric or harmonic mean, or sum. Which of them a measure means."""

from __future__ import annotations

import re

from assay.core.arrays import Floats
from assay.core.lazy import np

AGGREGATES = ("mean", "median", "geometric", "harmonic", "sum")
"""How the scores of a run on its topics become one number."""
FLOOR = 1e-5
"""The least score that a geometric or harmonic mean sees, as in trec_eval."""
IN_WORDS = {
    "mean": "mean",
    "median": "median",
    "geometric": "geometric mean",
    "harmonic": "harmonic mean",
    "sum": "sum",
}
"""What the number over the topics is called."""
SUMMED = frozenset(
    {
        "NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelJudgedRet",
        "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret",
    }
)  # fmt: skip
"""Counts, by our names and those of trec_eval: they are summed over the topics unless the name says otherwise."""
GEOMETRIC_PREFIX = "gm_"
"""How trec_eval begins the names of geometric means."""
PART = "aggregate:"
"""The part of a signature that says how topics become one number, where the name of the measure does not."""
WRAPPED = re.compile(rf"({'|'.join(AGGREGATES)})\((.*)\)")
"""A name that says it: geometric(AP)."""


def aggregate_of(measure: str, signature: str = "") -> str:
    """How the topics of a measure become one number, by its name and the signature of its scores.

    >>> aggregate_of("geometric(AP)"), aggregate_of("NumRelRet(rel=2)"), aggregate_of("Clicks", "Clicks|aggregate:sum")
    ('geometric', 'sum', 'sum')
    >>> aggregate_of("mean(NumRelRet)"), aggregate_of("AP")
    ('mean', 'mean')
    """
    wrapped = WRAPPED.fullmatch(measure.strip())
    if wrapped:
        return wrapped[1]
    for part in signature.split("|")[1:]:
        if part.startswith(PART) and part.removeprefix(PART) in AGGREGATES:
            return part.removeprefix(PART)
    plain_name = re.split(r"[(@']", measure.strip())[0]
    if plain_name in SUMMED:
        return "sum"
    return "geometric" if plain_name.startswith(GEOMETRIC_PREFIX) else "mean"


def as_mean(measure: str) -> str:
    """The name of the same scores with the mean over topics.

    >>> as_mean("geometric(AP)"), as_mean("NumRelRet")
    ('AP', 'mean(NumRelRet)')
    """
    wrapped = WRAPPED.fullmatch(measure.strip())
    inner = wrapped[2] if wrapped else measure
    return inner if aggregate_of(inner) == "mean" and wrapped else f"mean({inner})"


def signature_of_name(measure: str, aggregate: str) -> str:
    """A signature of the measure alone, and of how its topics become one number where its name does not say.

    >>> signature_of_name("AP", "mean"), signature_of_name("Clicks", "sum")
    ('AP', 'Clicks|aggregate:sum')
    """
    return measure if aggregate_of(measure) == aggregate else f"{measure}|{PART}{aggregate}"


def average_title(measure: str, aggregate: str) -> str:
    """What the score of a run over all topics is called.

    >>> average_title("AP", "mean"), average_title("geometric(AP)", "geometric"), average_title("NumRelRet", "sum")
    ('mean AP', 'geometric(AP)', 'sum of NumRelRet')
    """
    if WRAPPED.fullmatch(measure.strip()):
        return measure
    return f"sum of {measure}" if aggregate == "sum" else f"{IN_WORDS[aggregate]} {measure}"


def averaged(scores: Floats, how: str = "mean") -> float:
    """The scores of one run over the topics in one number, by one of AGGREGATES; 0 without topics."""
    return float(averages_of(scores[None, :], how)[0])


def averages_of(rows: Floats, how: str = "mean") -> Floats:
    """For each row its scores over the topics in one number, by one of AGGREGATES; 0 without topics.

    >>> averages_of(np.array([[0.1, 0.4]]), "geometric").round(6).tolist()
    [0.2]
    >>> averages_of(np.array([[0.5, 0.25]]), "harmonic").round(6).tolist()
    [0.333333]
    """
    if not rows.shape[1]:
        return np.zeros(len(rows))
    if how == "median":
        return np.asarray(np.median(rows, axis=1))
    if how == "sum":
        return np.asarray(rows.sum(axis=1))
    return from_means(on_scale_of_means(rows, how).mean(axis=1), how)


def on_scale_of_means(scores: Floats, how: str) -> Floats:
    """Scores on the scale on which their average is a mean: of max(score, FLOOR) the log or the inverse.

    A sum is the mean times the number of topics, and its scores stay as they are; a median is a mean on no scale.
    """
    if how == "geometric":
        return np.asarray(np.log(np.maximum(scores, FLOOR)))
    return np.asarray(1 / np.maximum(scores, FLOOR)) if how == "harmonic" else scores


def from_means(means: Floats, how: str, topics: int = 1) -> Floats:
    """Averages, or differences of them, from means on that scale: a difference of logs becomes a ratio.

    >>> from_means(np.array([0.5]), "sum", topics=10), from_means(np.array([0.0]), "geometric")
    (array([5.]), array([1.]))
    """
    if how == "geometric":
        return np.asarray(np.exp(means))
    if how == "harmonic":
        return np.asarray(1 / means)
    return np.asarray(means * topics) if how == "sum" else np.asarray(means)
