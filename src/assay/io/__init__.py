"""Files in and out: every reader says file, line, value and what was expected; nothing is repaired silently.

Names are loaded when they are used: who scores a run does not wait for the readers of tables and labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.io.brought import labels_of, qrels_of, runs_of, scores_of
    from assay.io.conversion import convert
    from assay.io.docs import read_docs
    from assay.io.info import read_info as read_info
    from assay.io.intents import read_intent_qrels
    from assay.io.labels import read_labels
    from assay.io.labels import write_labels as write_labels
    from assay.io.readers import read_qrels, read_run
    from assay.io.readers import read_runs as read_runs
    from assay.io.recognition import recognise
    from assay.io.scores import read_scores
    from assay.io.topics import read_topics
    from assay.io.topics import topics_of as topics_of
    from assay.io.writers import write
    from assay.io.writers import write_qrels as write_qrels
    from assay.io.writers import write_run as write_run

_HOMES = {
    "convert": "conversion",
    "labels_of": "brought",
    "qrels_of": "brought",
    "read_docs": "docs",
    "read_info": "info",
    "read_intent_qrels": "intents",
    "read_labels": "labels",
    "read_qrels": "readers",
    "read_run": "readers",
    "read_runs": "readers",
    "read_scores": "scores",
    "read_topics": "topics",
    "recognise": "recognition",
    "runs_of": "brought",
    "scores_of": "brought",
    "topics_of": "topics",
    "write": "writers",
    # What `write` calls, by the type of what is written.
    "write_labels": "labels",
    "write_qrels": "writers",
    "write_run": "writers",
}
__all__ = [
    "convert", "labels_of", "qrels_of", "read_docs", "read_intent_qrels", "read_labels", "read_qrels", "read_run",
    "read_scores", "read_topics", "recognise", "runs_of", "scores_of", "write",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
