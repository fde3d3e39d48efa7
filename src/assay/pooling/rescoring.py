"""What would the runs score with other judgments? The same lists against any set of grades, at once for all runs.

Where it stands: lists → **rescoring** → curves, bias, adjustment. Every measure of the registry works; a row of
Grades is one run on one topic, so that a measure is called once for many runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.arrays import Codes, Floats, Ints, places_within
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.data.grades import UNJUDGED, Grades
from assay.data.lists import Lists
from assay.measures import Measure, parse

TREATMENTS = ("nonrelevant", "condensed", "relevant")
"""Docs without judgment: count as not relevant, are taken out of the list, or count as of the top grade."""

RANKS_AT_ONCE = 2_000_000


def rescored(
    lists: Lists,
    measure: str | Measure,
    *,
    grades: Codes | None = None,
    runs: Sequence[int] | None = None,
    unjudged: str = "nonrelevant",
) -> Floats:
    """Scores, runs × topics, under these grades of the items (by default those of the lists).

    unjudged: "nonrelevant", "condensed" (taken out, the list closed up) or "relevant" (all at the top grade; for
    measures that divide by the number of relevant docs that number grows too). Memory: two million ranks at a time.

    >>> from assay.data import Qrels, Run
    >>> from assay.data.lists import collected
    >>> run = Run.from_lists("a", {"1": ["x", "y", "z"]})
    >>> judged = collected([run], Qrels.from_dict({"1": {"x": 1, "z": 1}}))
    >>> [round(float(rescored(judged, "P@2", unjudged=how)[0, 0]), 4) for how in TREATMENTS]
    [0.5, 1.0, 1.0]
    """
    one_of("treatment of unjudged docs", unjudged, TREATMENTS)
    if isinstance(measure, str):
        measure = parse(measure)
    if grades is None:
        grades = lists.grades
    wanted = np.arange(len(lists.runs)) if runs is None else np.asarray(runs, dtype=np.int64)
    # A linear measure never looks below its cutoff, unless docs are taken out above it or added to the ideal list.
    needs_cutoff_only = unjudged == "nonrelevant" and not measure.condensed and measure.entry.facts.get("linear")
    depth = measure.k if needs_cutoff_only else None
    ideal = _ideal(lists, grades)
    ranks_of_run = len(lists.topics) * lists.depth
    runs_at_once = max(1, RANKS_AT_ONCE // max(1, ranks_of_run))
    scores = np.zeros((len(wanted), len(lists.topics)))
    for part in chunks(len(wanted), runs_at_once):
        judged_lists = _graded(lists, wanted[part], grades, ideal, depth)
        if unjudged == "condensed":
            judged_lists = judged_lists.condensed()
        elif unjudged == "relevant":
            judged_lists = judged_lists.supposing(lists.top)
        scores[part] = measure(judged_lists).reshape(-1, len(lists.topics))
    return scores


def _graded(lists: Lists, runs: Ints, grades: Codes, ideal: Codes, depth: int | None) -> Grades:
    """The grades along the lists of these runs: one row per run and topic."""
    codes = lists.codes[runs, :, :depth].reshape(len(runs) * len(lists.topics), -1)
    padded = np.append(grades, grades.dtype.type(UNJUDGED))  # code −1, past the end of a list, is the last place
    return Grades(
        lists.topics * len(runs),
        padded[codes],
        (codes >= 0).sum(axis=1),
        np.tile(ideal, (len(runs), 1)),
        top=lists.top,
    )


def _ideal(lists: Lists, grades: Codes) -> Codes:
    """All grades of each topic, best first, topics × most graded docs."""
    graded_items = np.flatnonzero(grades != UNJUDGED)  # pooled docs too: sampling measures count them
    topic = lists.topic_of_item[graded_items]
    grade = grades[graded_items]
    best_first = np.lexsort((-grade, topic))
    sizes = np.bincount(topic, minlength=len(lists.topics))
    place = places_within(sizes)
    ideal = np.full((len(lists.topics), sizes.max(initial=0)), UNJUDGED, dtype=grades.dtype)
    ideal[topic[best_first], place] = grade[best_first]
    return ideal


def check_judged(lists: Lists) -> None:
    """Refuse lists of which no doc is judged: the judgments are of something else."""
    if not (lists.grades[lists.item] >= 0).any():
        raise DataError("no doc of the runs is judged; the judgments are of other topics or docs than the runs")


def without(grades: Codes, items: np.ndarray) -> Codes:
    """The grades as if these items (a mask or numbers) had not been judged."""
    out = grades.copy()
    out[items] = UNJUDGED
    return out


def with_relevance(measure: str, rel: float | None) -> tuple[str, float]:
    """A measure that counts docs as relevant from grade rel, and that grade; its own where none is given.

    >>> with_relevance("AP", 2), with_relevance("AP(rel=2)", None), with_relevance("nDCG@10", 2)
    (('AP(rel=2)', 2), ('AP(rel=2)', 2), ('nDCG@10', 2))
    """
    own = parse(measure)
    if rel is None:
        return measure, own.rel
    asked = own.with_rel(rel)
    if "rel" in asked.entry.parameters and asked.rel != rel:
        raise UsageError(
            f"{measure} counts grades from {asked.rel:g} as relevant, and rel={rel:g} is given; leave one out"
        )
    return str(asked), rel
