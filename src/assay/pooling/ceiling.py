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
    facts = how.entry.facts
    if facts.get("lower_is_better") or "moving up" in facts.get("breaks", ()) or how.entry.name in RAISED_BY_MISSED:
        return None
    # Hidden docs that this run lacks, or has too deep to score, can only raise what the score is divided by.
    as_zero = np.where(hidden, 0, lists.grades)
    highest = rescored(lists, how, grades=as_zero, runs=[run])[0]
    scale = _scale(lists, how)
    for t in range(len(lists.topics)):
        ranked = lists.codes[run, t, : lists.sizes[run, t]]
        places = np.flatnonzero(hidden[ranked][: how.k])
        if not len(places):
            continue
        if not facts.get("bounded") and comb(len(places) + len(scale) - 1, len(places)) > MOST_CASES:
            return None
        cases = (
            [[scale[0]] * len(places)] if facts.get("bounded") else combinations_with_replacement(scale, len(places))
        )
        highest[t] = how(_graded(lists, t, ranked, as_zero, places, np.array(list(cases)))).max()
    return highest


def _scale(lists: Lists, how: Measure) -> list[float]:
    """The grades that a hidden doc may have, best first; a measure that only counts relevant docs sees two."""
    occurring = np.unique(lists.grades[lists.grades >= 0]).tolist()
    top = max([lists.top, *occurring])
    parameters = how.entry.parameters
    counts_only = "rel" in parameters and "gain" not in parameters
    return [top, 0] if counts_only else sorted({0, top, *occurring}, reverse=True)


def _graded(lists: Lists, t: int, ranked: Codes, base: Codes, places: Ints, cases: Floats) -> Grades:
    """One row for each case: the list of the run with the grades of the case at these places."""
    rows = np.tile(base[ranked], (len(cases), 1))
    rows[:, places] = cases
    inside = np.arange(lists.item_bounds[t], lists.item_bounds[t + 1])
    others = base[np.setdiff1d(inside, ranked[places])]
    others = others[others != UNJUDGED]
    judged = np.concatenate([np.tile(others, (len(cases), 1)), cases], axis=1)
    ideal = -np.sort(-judged, axis=1)
    return Grades((lists.topics[t],) * len(cases), rows, np.full(len(cases), len(ranked)), ideal, top=lists.top)
