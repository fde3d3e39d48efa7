"""Tables and what is made of them: runs, judgments, labels, topics, grades, scores. All are frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.data.aligned import align
    from assay.data.assignments import Assignments, CitationSupport
    from assay.data.doc_groups import DocGroups
    from assay.data.grades import Grades
    from assay.data.impressions import Impressions
    from assay.data.info import RunsInfo
    from assay.data.intents import IntentQrels
    from assay.data.labels import Labels
    from assay.data.qrels import Qrels
    from assay.data.runs import Run, RunInfo
    from assay.data.scores import ScoreMatrix, Scores
    from assay.data.topics import Topics

_HOMES = {
    "Assignments": "assignments",
    "CitationSupport": "assignments",
    "DocGroups": "doc_groups",
    "Grades": "grades",
    "Impressions": "impressions",
    "IntentQrels": "intents",
    "Labels": "labels",
    "Qrels": "qrels",
    "Run": "runs",
    "RunInfo": "runs",
    "RunsInfo": "info",
    "ScoreMatrix": "scores",
    "Scores": "scores",
    "Topics": "topics",
    "align": "aligned",
}
__all__ = [
    "Assignments",
    "CitationSupport",
    "DocGroups",
    "Grades",
    "Impressions",
    "IntentQrels",
    "Labels",
    "Qrels",
    "Run",
    "RunInfo",
    "RunsInfo",
    "ScoreMatrix",
    "Scores",
    "Topics",
    "align",
]
__getattr__ = loader(__name__, _HOMES)
