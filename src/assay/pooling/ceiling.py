"""What is the most that a run can score, whatever the grades of some docs? An upper bound that is one.

Where it stands: lists with some docs hidden → **ceiling** → the column "at most" of leave-one-out. Giving every hidden
doc the top grade is not enough: measures that divide by what an ideal list would score (AP, nDCG) may fall by it.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np

from assay.core.arrays import Bools, Codes, Floats, Ints
from assay.data.grades import UNJUDGED, Grades
from assay.data.lists import Lists
from assay.measures import Measure, parse
from assay.pooling.rescoring import rescored

MOST_CASES = 20_000
"""A topic with more ways to grade its hidden docs than this has no known ceiling."""

RAISED_BY_MISSED = ("NumRel", "IdealDCG", "Rndcg")
"""Measures that a relevant doc can raise although the run lacks it."""


def ceiling(lists: Lists, measure: str | Measure, run: int, hidden: Bools) -> Floats | None:
    """The highest score of a run on each topic over all grades that the hidden items could have; None if not known.

    Grades are those of the scale: the grades that occur. A better doc higher in the list never lowers the score of a
    measure that keeps the law of moving up, so only grades that fall along the list have to be tried, and for measures
    that no doc's relevance can lower only the top grade. Measures that break the law have no known ceiling.

    >>> from assay.data import Qrels, Run
    >>> from assay.data.lists import collected
    >>> run = Run.from_lists("a", {"1": ["x", "y", "z"]})
    >>> seen = collected([run], Qrels.from_dict({"1": {"x": 1, "z": 0}}))
    >>> ceiling(seen, "AP", 0, np.array([False, False, True])).tolist()
    [1.0]
    """
    how = parse(measure) if isinstance(measure, str) else measure
    if not _has_ceiling(how):
        return None
    # Hidden docs that this run lacks, or has too deep to score, can only raise what the score is divided by.
    as_zero = np.where(hidden, 0, lists.grades)
    highest = rescored(lists, how, grades=as_zero, runs=[run])[0]
    scale = _scale(lists, how)
    for t in range(len(lists.topics)):
        ranked = lists.codes[run, t, : lists.sizes[run, t]]
        is_hidden = hidden[ranked]
        places = np.flatnonzero(is_hidden[: how.k])
        if not len(places):
            continue
        cases = _cases(how, scale, len(places))
        if cases is None:
            return None
        graded = _graded(lists, t, ranked, as_zero, places, cases)
        highest[t] = how(graded).max()
    return highest


def _has_ceiling(how: Measure) -> bool:
    """Whether the measure keeps the laws that the bound rests on."""
    facts = how.entry.facts
    if facts.get("lower_is_better"):
        return False
    if "moving up" in facts.get("breaks", ()):
        return False
    return how.entry.name not in RAISED_BY_MISSED


def _cases(how: Measure, scale: list[float], hidden: int) -> Floats | None:
    """The grades to try for the hidden docs of a list, one row per case; None where there are too many cases."""
    if how.entry.facts.get("bounded"):
        top_only = [scale[0]] * hidden
        return np.array([top_only])
    count = comb(hidden + len(scale) - 1, hidden)
    if count > MOST_CASES:
        return None
    falling = combinations_with_replacement(scale, hidden)
    return np.array(list(falling))


def _scale(lists: Lists, how: Measure) -> list[float]:
    """The grades that a hidden doc may have, best first; a measure that only counts relevant docs sees two."""
    occurring = np.unique(lists.grades[lists.grades >= 0]).tolist()
    top = max([lists.top, *occurring])
    parameters = how.entry.parameters
    counts_only = "rel" in parameters and "gain" not in parameters
    if counts_only:
        return [top, 0]
    return sorted({0, top, *occurring}, reverse=True)


def _graded(lists: Lists, t: int, ranked: Codes, base: Codes, places: Ints, cases: Floats) -> Grades:
    """One row for each case: the list of the run with the grades of the case at these places."""
    count = len(cases)
    rows = np.tile(base[ranked], (count, 1))
    rows[:, places] = cases

    # The ideal list is made of all judged docs of the topic, the hidden ones with the grades of the case.
    of_topic = np.arange(lists.item_bounds[t], lists.item_bounds[t + 1])
    others = base[np.setdiff1d(of_topic, ranked[places])]
    others = others[others != UNJUDGED]
    grades_of_others = np.tile(others, (count, 1))
    judged = np.concatenate([grades_of_others, cases], axis=1)
    ideal = -np.sort(-judged, axis=1)
    return Grades(
        (lists.topics[t],) * count,
        rows,
        np.full(count, len(ranked)),
        ideal,
        top=lists.top,
    )
