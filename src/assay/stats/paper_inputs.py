"""Can these scores stand in one table? What the table of a paper is given, checked and put in order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.data.quantities import policy_of
from assay.data.scores import ScoreMatrix, Scores, joined
from assay.data.tested_means import for_tests_of_means
from assay.io.brought import scores_of
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.measures import Measure, parse

Groups = tuple[tuple[str, tuple[str, ...]], ...]
"""Titles with their runs; the title is empty for runs of no group."""
ONE_POLICY = ("ties", "missing", "depth", "compat", "unjudged")
"""Parts of a signature in which the columns of a table must not differ."""


def table_scores(thing: Any, measures: str | Sequence[str] | None = None, columns: Named = None) -> Scores:
    """The scores of a table: some measures, or all, on the same runs and topics."""
    shared = shared_columns(columns)
    scores = thing if isinstance(thing, Scores) else _together(joined(scores_of(thing, columns=shared)))
    refuse_unused(shared, columns)
    if measures is not None:
        names = measures.replace(",", " ").split() if isinstance(measures, str) else list(measures)
        matrices = [scores[name] for name in names]
        scores = Scores(tuple(matrices))
    if not scores.matrices:
        raise UsageError("no measure; a table needs at least one column, e.g. 'nDCG@10'")
    return scores


def _together(matrices: Sequence[ScoreMatrix]) -> Scores:
    """Matrices of several measures with their runs and topics in one order."""
    first = matrices[0]
    alike = []
    for matrix in matrices:
        same_topics = matrix.topics == first.topics  # there may be millions
        pairs = [("run", first.runs, matrix.runs)]
        if not same_topics:
            pairs.append(("topic", first.topics, matrix.topics))
        for what, ours, theirs in pairs:
            odd = sorted(set(ours) ^ set(theirs))
            if odd:
                where = f"{first.measure} or {matrix.measure}, not in both"
                raise DataError(f"{what} {odd[0]!r} has scores of {where}; a table needs all measures of all runs")
        alike.append(matrix.select(runs=first.runs, topics=None if same_topics else first.topics))
    return Scores(tuple(alike))


def check_columns(scores: Scores, *, tested: bool) -> None:
    """An error where columns rest on different policies, or where marks would test what is not shown."""
    seen: dict[str, tuple[str, str]] = {}
    for matrix in scores:
        for choice, part in _choices(matrix).items():
            first_part, first = seen.setdefault(choice, (part, matrix.signature))
            if part != first_part:
                both = f"{first} and {matrix.signature}"
                raise UsageError(f"the measures do not rest on one policy: {both}; score all of them alike")
    if tested:
        for matrix in scores:
            for_tests_of_means(matrix)  # medians are an error


def _choices(matrix: ScoreMatrix) -> dict[str, str]:
    """The choices of the policy that all columns share; whoever removes unjudged docs says so in the measure's name."""
    known = _known(matrix.measure)
    own = "unjudged" if known is not None and known.condensed else ""
    parts = {part.partition(":")[0]: part for part in policy_of(matrix.signature)}
    return {choice: parts[choice] for choice in ONE_POLICY if choice in parts and choice != own}


def _known(measure: str) -> Measure | None:
    """The measure of a name, None where it is not ours."""
    try:
        return parse(measure)
    except UsageError:
        return None


def check_baselines(runs: Sequence[str], baselines: Sequence[str]) -> None:
    """An error for a baseline that is not there or there twice."""
    for place, name in enumerate(baselines):
        if name not in runs:
            raise UsageError(f"no run {name!r} to be the baseline{did_you_mean(str(name), runs)}")
        if name in baselines[:place]:
            raise UsageError(f"baseline {name!r} is given twice; give it once")


def checked_label(label: str) -> str:
    """A label that LaTeX can refer to."""
    if not re.fullmatch(r"[\w:.+/ -]*", label, re.ASCII):
        raise UsageError(f"label {label!r}: write letters, digits and : . _ - + /, e.g. tab:results")
    return label


def grouped(runs: Sequence[str], groups: Mapping[str, Sequence[str]]) -> Groups:
    """The runs by group; those of no group first, under an empty title.

    >>> grouped(["bm25", "ql", "dense"], {"neural": ["dense"]})
    (('', ('bm25', 'ql')), ('neural', ('dense',)))
    """
    home: dict[str, str] = {}
    blocks = []
    for title, members in groups.items():
        if isinstance(members, str):
            raise UsageError(f"group {title!r}: give its runs as a list, not as the text {members!r}")
        if not title.strip() or not members:
            raise UsageError(
                f"group {title!r} has no {'runs' if title.strip() else 'title'}; give both, or leave it out"
            )
        for run in members:
            if run not in runs:
                raise UsageError(f"group {title!r}: no run {run!r}{did_you_mean(str(run), runs)}")
            if run in home:
                raise UsageError(f"run {run!r} is in the groups {home[run]!r} and {title!r}; a row stands once")
            home[run] = title
        blocks.append((title, tuple(members)))
    others = tuple(run for run in runs if run not in home)
    return (("", others), *blocks) if others else tuple(blocks)


def best_first(scores: Scores, groups: Groups, *, lower: bool) -> Groups:
    """The runs of each group by the first measure, the best first."""
    value = dict(zip(scores.runs, scores.averages()[0], strict=True))
    sign = 1 if lower else -1
    return tuple((title, tuple(sorted(runs, key=lambda run: sign * value[run]))) for title, runs in groups)
