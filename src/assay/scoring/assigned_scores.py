"""How good are answers by what was assigned to them? Scores of runs from nuggets, from citations, or from both.

Where the flow stands: assignments → counts of every answer → **scores**, with what had to be assumed said beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.assignments import Assignments, Bank, CitationSupport
from assay.data.policy_names import MISSING
from assay.data.scores import ScoreMatrix, Scores
from assay.io.assignments import Paths, read_assignments, read_bank, read_support
from assay.measures import TEXT_MEASURES
from assay.measures.assigned_answers import ReportCounts
from assay.scoring.assigned_counts import Counted, counted_nuggets, counted_reports, counted_support
from assay.scoring.assigned_remarks import GradeCount, graded, remarks_on

OF_NUGGETS = ("V_strict", "V_lenient", "A_strict", "A_lenient", "W_strict", "W_lenient")
OF_SUPPORT = ("SupportP", "SupportR", "SupportF1")
OF_REPORTS = ("ArgueF1", "SentenceP", "A_strict")
"""Measures where none is named, by what they need."""


@dataclass(frozen=True, eq=False)
class AnswerScores(Result):
    """Scores of runs of answers, what was assumed, and how many nuggets, citations or sentences have which support."""

    scores: Scores
    remarks: tuple[str, ...]
    grades: tuple[GradeCount, ...]

    def __getitem__(self, measure: str) -> ScoreMatrix:
        return self.scores[measure]

    def table(self) -> Table:
        """One row per run, best first on the first measure; the remarks are its notes."""
        table = self.scores.table()
        return replace(table, notes=(*table.notes, *self.remarks))

    def per_topic(self) -> Table:
        """One row per run and topic, one column per measure."""
        return self.scores.per_topic()

    def record(self) -> dict[str, Any]:
        """The scores of the runs as plain data, with signatures, remarks and the counts of the grades."""
        counts = [asdict(grade) for grade in self.grades]
        known = {**self.scores.record(), **super().record()}
        return {**known, "remarks": list(self.remarks), "grades": counts}


def evaluate_nuggets(
    assignments: Assignments | Paths,
    measures: str | Sequence[str] = OF_NUGGETS,
    *,
    bank: Bank | Paths | None = None,
    missing: str = "zero",
    assessor: str | None = None,
) -> AnswerScores:
    """Nugget recall of runs: strict or lenient, over vital or all nuggets, or weighted.

    assignments: files, or Assignments. bank: all nuggets of the topics, as files or {topic: {nugget: whether vital}},
    where not all stand with every answer; a nugget without an assignment then counts as not supported. missing: a topic
    that a run does not answer scores 0 and counts (zero), is left out for all runs (drop), or is an error (error).
    assessor: whose assignments, where they are of several. A topic without nuggets of the wanted kind scores 0, which
    the remarks say.

    >>> rows = [("1", "mine", "in Peru", "vital", "support"), ("1", "mine", "high", "vital", "partial_support")]
    >>> found = evaluate_nuggets(Assignments.from_rows(rows), ["V_strict", "V_lenient"])
    >>> [matrix.values.tolist() for matrix in found.scores]
    [[[0.5]], [[0.75]]]
    """
    chosen = _given(assignments, Assignments, read_assignments).by(assessor)
    counted = counted_nuggets(chosen, _bank(bank))
    return _scored(counted, measures, "nuggets", missing)


def evaluate_support(
    support: CitationSupport | Paths,
    measures: str | Sequence[str] = OF_SUPPORT,
    *,
    missing: str = "zero",
    assessor: str | None = None,
) -> AnswerScores:
    """Support of runs: weighted precision over citations and recall over sentences, or sentence precision.

    support: files, or CitationSupport. missing and assessor: as in `evaluate_nuggets`. An answer without citations has
    precision 0, which the remarks say.

    >>> rows = [("1", "mine", "s1", "d1", "full"), ("1", "mine", "s1", "d2", "none"), ("1", "mine", "s2", "", "")]
    >>> found = evaluate_support(CitationSupport.from_rows(rows), ["SupportP", "SupportR"])
    >>> [matrix.values.tolist() for matrix in found.scores]
    [[[0.5]], [[0.5]]]
    """
    chosen = _given(support, CitationSupport, read_support).by(assessor)
    return _scored(counted_support(chosen), measures, "support", missing)


def evaluate_reports(
    assignments: Assignments | Paths,
    support: CitationSupport | Paths,
    measures: str | Sequence[str] = OF_REPORTS,
    *,
    bank: Bank | Paths | None = None,
    missing: str = "zero",
    assessor: str | None = None,
) -> AnswerScores:
    """Scores of runs by nuggets and citations together: the F1 of ARGUE, and any measure of the two.

    assignments, support, bank, missing, assessor: as in `evaluate_nuggets` and `evaluate_support`. Both have the same
    runs.

    >>> nuggets = Assignments.from_rows([("1", "mine", "in Peru", "okay", "support")])
    >>> cited = CitationSupport.from_rows([("1", "mine", "s1", "d1", "full"), ("1", "mine", "s2", "", "")])
    >>> evaluate_reports(nuggets, cited, ["ArgueF1"])["ArgueF1"].values.round(4).tolist()
    [[0.6667]]
    """
    by_nuggets = counted_nuggets(_given(assignments, Assignments, read_assignments).by(assessor), _bank(bank))
    by_support = counted_support(_given(support, CitationSupport, read_support).by(assessor))
    return _scored(counted_reports(by_nuggets, by_support), measures, "reports", missing)


def _given(thing: Any, kind: Any, read: Any) -> Any:
    return thing if isinstance(thing, kind) else read(thing)


def _bank(bank: Bank | Paths | None) -> Bank | None:
    return bank if bank is None or isinstance(bank, Mapping) else read_bank(bank)


def _scored(counted: Counted, measures: str | Sequence[str], takes: str, missing: str) -> AnswerScores:
    """The scores of all measures under a policy for missing topics, and what has to be said of them."""
    one_of("policy for missing topics", missing, MISSING)
    usable = ("nuggets", "support", "reports") if takes == "reports" else (takes,)
    known = [entry.name for entry in TEXT_MEASURES if entry.facts["takes"] in usable]
    named = measures.split() if isinstance(measures, str) else measures
    wanted = list(dict.fromkeys(named))
    if not wanted:
        raise UsageError(f"no measure; give at least one of {', '.join(known)}")
    kept = _kept(counted, missing)
    matrices = []
    for measure in wanted:
        entry = TEXT_MEASURES.entry(measure)
        if entry.name not in known:
            raise UsageError(f"{measure} cannot be computed from {takes}; take one of {', '.join(known)}")
        values: Floats = TEXT_MEASURES.call(measure, _record_for(counted.counts, entry.facts["takes"]))
        # Nothing was counted of an answer that is not there, so that it scores 0 by every measure.
        signature = f"{measure}|answers:{takes}|missing:{missing}"
        topics = [topic for topic, stays in zip(counted.topics, kept, strict=True) if stays]
        scored = values[:, kept]
        matrices.append(ScoreMatrix.of(scored, runs=counted.runs, topics=topics, measure=measure, signature=signature))
    scores = Scores(tuple(matrices))
    return AnswerScores(scores, remarks_on(counted, wanted, kept, missing), graded(counted, kept))


def _record_for(counts: Any, takes: str) -> Any:
    """The counts that a measure takes: those of a report hold those of nuggets and of support."""
    if isinstance(counts, ReportCounts) and takes != "reports":
        return counts.nuggets if takes == "nuggets" else counts.support
    return counts


def _kept(counted: Counted, missing: str) -> Bools:
    """Which topics count: all, or with missing="drop" those that every run answers."""
    if missing == "error" and counted.absent.any():
        run, topic = np.argwhere(counted.absent)[0]
        what = f"run {counted.runs[run]!r} has no answer to topic {counted.topics[topic]!r}"
        raise DataError(f"{what}; missing='zero' (--missing zero) counts it as 0")
    if missing != "drop":
        return np.ones(len(counted.topics), dtype=bool)
    kept = np.asarray(~counted.absent.any(axis=0))
    if not kept.any():
        raise DataError("no topic is answered by every run; missing='zero' (--missing zero) counts the others as 0")
    return kept
