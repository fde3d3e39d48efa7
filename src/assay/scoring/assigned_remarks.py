"""What must be said of scores of answers: topics that are not answered, or have nothing to find; and which grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Bools
from assay.measures import TEXT_MEASURES
from assay.measures.assigned_answers import NuggetCounts, ReportCounts, SupportCounts
from assay.scoring.assigned_counts import Counted

OF_VITAL = ("V_strict", "V_lenient")
GRADES = ("full", "partial", "none")
"""Grades of support, from best to worst; none is also that of a sentence that cites nothing."""
LISTED = 5
"""Topics that a remark names at most."""


@dataclass(frozen=True)
class GradeCount:
    """How many nuggets, citations or sentences of a run have one grade of support."""

    run: str
    part: str
    grade: str
    count: int
    share: float


def remarks_on(counted: Counted, measures: Sequence[str], kept: Bools, missing: str) -> tuple[str, ...]:
    """What the scores rest on and does not show in them."""
    remarks = list(counted.remarks)
    names = [TEXT_MEASURES.entry(measure).name for measure in measures]
    remarks += _on_missing(counted, missing)
    nuggets, support = _parts(counted.counts)
    if nuggets is not None:
        vital = np.asarray(nuggets.vital)[0]
        every = vital + np.asarray(nuggets.okay)[0]
        recalls = [name for name in names if TEXT_MEASURES[name].facts["takes"] != "support"]
        of_vital = [name for name in recalls if name in OF_VITAL]
        remarks += _on_topics_without(counted, kept & (every == 0), "nuggets", recalls)
        remarks += _on_topics_without(counted, kept & (every > 0) & (vital == 0), "vital nuggets", of_vital)
    if support is not None and "SupportP" in names:
        uncited = (~counted.absent & (np.asarray(support.citations) == 0))[:, kept]
        if uncited.any():
            remarks.append(f"{uncited.sum()} of {uncited.size} answers cite nothing: SupportP is 0 there")
    return tuple(remarks)


def _parts(counts: Any) -> tuple[NuggetCounts | None, SupportCounts | None]:
    """The counts of nuggets and those of support, where there are such."""
    if isinstance(counts, ReportCounts):
        return counts.nuggets, counts.support
    return (counts, None) if isinstance(counts, NuggetCounts) else (None, counts)


def _on_missing(counted: Counted, missing: str) -> list[str]:
    """Which runs do not answer which topics, and what became of these."""
    if missing == "drop":
        dropped = np.asarray(counted.absent.any(axis=0))
        if not dropped.any():
            return []
        what = f"{dropped.sum()} of {len(dropped)} topics are not answered by every run"
        return [f"{what} ({_named(counted.topics, dropped)}) and left out"]
    remarks = []
    is_both = isinstance(counted.counts, ReportCounts)
    for run, absent in zip(counted.runs, counted.absent, strict=True):
        if absent.any():
            lacks = "has no nuggets or no support for" if is_both else "does not answer"
            what = f"run {run!r} {lacks} {absent.sum()} of {len(absent)} topics"
            then = "what is missing counts as 0" if is_both else "they score 0"
            remarks.append(f"{what} ({_named(counted.topics, absent)}): {then}")
    return remarks


def _on_topics_without(counted: Counted, topics: Bools, what: str, names: Sequence[str]) -> list[str]:
    if not topics.any() or not names:
        return []
    said = f"{topics.sum()} of {len(topics)} topics have no {what} ({_named(counted.topics, topics)})"
    return [f"{said}: 0 there by {', '.join(dict.fromkeys(names))}"]


def _named(topics: Sequence[str], chosen: Bools) -> str:
    """The first of the chosen topics."""
    names = [topics[i] for i in np.flatnonzero(chosen).tolist()]
    more = " …" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def graded(counted: Counted, kept: Bools) -> tuple[GradeCount, ...]:
    """How many nuggets, citations and sentences of each run have each grade, over the answers that are there."""
    found: list[GradeCount] = []
    nuggets, support = _parts(counted.counts)
    answered = ~counted.absent[:, kept]
    if nuggets is not None:
        for kind in ("vital", "okay"):
            total, full, partial = _sums(nuggets, (kind, f"{kind}_full", f"{kind}_partial"), kept, answered)
            found += _grades(counted.runs, f"{kind} nuggets", full, partial, total - full - partial)
    if support is not None:
        total, full, partial = _sums(support, ("citations", "full", "partial"), kept, answered)
        found += _grades(counted.runs, "citations", full, partial, total - full - partial)
        total, full, partial = _sums(support, ("sentences", "best_full", "best_partial"), kept, answered)
        found += _grades(counted.runs, "sentences", full, partial, total - full - partial)
    return tuple(found)


def _sums(counts: Any, names: Sequence[str], kept: Bools, answered: Bools) -> list[Any]:
    """Sums over the topics of each run."""
    return [(np.asarray(getattr(counts, name))[:, kept] * answered).sum(axis=1) for name in names]


def _grades(runs: Sequence[str], part: str, *counts: Any) -> list[GradeCount]:
    rows = []
    for i, run in enumerate(runs):
        total = sum(int(count[i]) for count in counts)
        for grade, count in zip(GRADES, counts, strict=True):
            share = int(count[i]) / total if total else 0.0
            rows.append(GradeCount(run, part, grade, int(count[i]), share))
    return rows
